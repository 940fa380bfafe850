import Reading
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

@Suite struct RichTapWritingTests {
  private func write(
    _ composition: HapticComposition, _ format: HapticFormat,
    options: WritingOptions = WritingOptions()
  ) throws -> (text: String, back: HapticComposition, losses: [String]) {
    let writing = try #require(try format.write(composition, options: options))
    let examination = format.examine(
      SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions())
    let findings = examination.findings.filter { $0.severity > .note }.map(\.description)
    #expect(findings == [], "what is written is refused")
    return (
      String(decoding: writing.files[0].bytes, as: UTF8.self), try examination.get(),
      writing.losses.map { "\($0.kind): \($0.message)" }
    )
  }

  private func tap(_ time: Double, _ intensity: Float = 0.8) -> HapticEvent {
    HapticEvent(
      kind: .hapticTransient, time: time,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: 0.6])
  }

  private func hum(_ time: Double, _ duration: Double, _ more: [EventParameterID: Float] = [:])
    -> HapticEvent
  {
    var parameters: EventParameters = [.hapticIntensity: 0.5, .hapticSharpness: 0.4]
    for (id, value) in more {
      parameters[id] = value
    }
    return HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
  }

  /// A second that is longer by a millisecond is one.
  @Test func aPatternEndsBeforeASecondWithoutAnEvent() throws {
    for (start, count) in [(1.1, 1), (1.101, 2)] {
      let text = try write(
        HapticComposition(HapticPattern(events: [hum(0, 0.1), tap(start)])), HapticFormat.richTapHE
      ).text
      #expect(text.split(separator: "AbsoluteTime").count == 1 + count)
    }
  }

  @Test func writesTextThatReadsBack() throws {
    let pattern = HapticPattern(events: [tap(0.25), hum(0.3, 0.1)])
    let (text, back, losses) = try write(
      HapticComposition(layers: [.init(pattern)], notes: "two events"), HapticFormat.richTapHE)
    #expect(
      text == """
        {
          "Metadata": {
            "Version": 2,
            "Description": "two events"
          },
          "PatternList": [
            {
              "AbsoluteTime": 250,
              "Pattern": [
                {
                  "Event": {
                    "Type": "transient",
                    "RelativeTime": 0,
                    "Index": 0,
                    "Parameters": {
                      "Intensity": 80,
                      "Frequency": 60
                    }
                  }
                },
                {
                  "Event": {
                    "Type": "continuous",
                    "RelativeTime": 50,
                    "Duration": 100,
                    "Index": 0,
                    "Parameters": {
                      "Intensity": 50,
                      "Frequency": 40,
                      "Curve": [
                        { "Time": 0, "Intensity": 0, "Frequency": 0 },
                        { "Time": 1, "Intensity": 1, "Frequency": 0 },
                        { "Time": 99, "Intensity": 1, "Frequency": 0 },
                        { "Time": 100, "Intensity": 0, "Frequency": 0 }
                      ]
                    }
                  }
                }
              ]
            }
          ]
        }

        """)
    #expect(back.layers[0].pattern == pattern && back.notes == "two events" && losses == [])
    let canonical = try HapticFormat.richTapHE.canonicalText(
      of: SourceFile(Array(text.utf8), name: "c"))
    #expect(canonical == Array(text.utf8))
    let oh = try write(HapticComposition(pattern), HapticFormat.harmonyOS)
    #expect(oh.back == HapticComposition(pattern) && oh.losses == [])
    #expect(!oh.text.contains("Curve") && oh.text.contains("\"ChannelNumber\": 1"))
  }

  @Test func eventsAreGroupedBySixteenAndByGaps() throws {
    let pattern = HapticPattern(
      events: (0..<20).map { tap(Double($0) / 100) } + [tap(1.2), tap(2.3)])
    let (text, back, losses) = try write(HapticComposition(pattern), HapticFormat.richTapHE)
    let starts = text.split(separator: "\n").filter { $0.contains("AbsoluteTime") }
    #expect(starts.map { $0.filter(\.isNumber) } == ["0", "160", "2300"])
    #expect(back == HapticComposition(pattern) && losses == [])
    let one = try #require(
      try HapticFormat.richTapHE.write(
        HapticComposition(pattern), options: WritingOptions(dialect: "1")))
    #expect(one.losses.map(\.lossMagnitude) == [22])
  }

  @Test func manyEventsOfOneTimeAreMovedApart() throws {
    let pattern = HapticPattern(events: (0..<40).map { _ in tap(0.5) })
    let (_, back, losses) = try write(HapticComposition(pattern), HapticFormat.richTapHE)
    #expect(back.layers[0].pattern.events.map(\.time).max() == 0.502)
    #expect(
      losses == ["approximated: more than 16 events at the same time are spread by up to 2 ms"])
  }

  @Test func longEventsAreCutAndEnvelopesSampled() throws {
    let pattern = HapticPattern(events: [hum(0, 12.4, [.attackTime: 0.2, .releaseTime: 0.3])])
    for format in [HapticFormat.richTapHE, HapticFormat.harmonyOS] {
      let writing = try #require(try format.write(HapticComposition(pattern)))
      let back = try format.examine(
        SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions()
      ).get()
      let events = back.layers.flatMap(\.pattern.events).sorted { $0.time < $1.time }
      #expect(events.count == 3)
      for (event, next) in zip(events, events.dropFirst()) {
        #expect(abs(event.time + (event.duration ?? 0) - next.time) < 1e-9)
      }
      #expect(events.allSatisfy { ($0.duration ?? 0) <= 5 })
      #expect(
        writing.losses.contains {
          $0.message == "an event longer than 5000 ms is split into 3 adjacent events"
            && $0.lossMagnitude == 3
        })
    }
  }

  @Test func curvesOfManyPointsAreReducedToSixteen() throws {
    var pattern = HapticPattern(events: [hum(0, 2)])
    pattern.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: (0...100).map { .init(time: Double($0) / 50, value: $0 % 2 == 0 ? 0 : 1) })
    ]
    for (format, most) in [(HapticFormat.richTapHE, 16), (HapticFormat.harmonyOS, 16)] {
      let writing = try #require(try format.write(HapticComposition(pattern)))
      let back = try format.examine(
        SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions()
      ).get()
      let counts = back.layers.flatMap(\.pattern.curves).map(\.controlPoints.count)
      #expect(counts.allSatisfy { $0 <= most } && !counts.isEmpty)
      let loss = writing.losses.first { $0.message.hasPrefix("a curve with more than 16") }
      #expect((loss?.lossMagnitude ?? 0) > 0.4)
    }
  }

  @Test func aLengthOfControlsAloneIsALoss() throws {
    let pattern = HapticPattern(
      events: [tap(0)],
      parameters: [DynamicParameter(id: .hapticIntensityControl, value: 1, time: 10)])
    for format in [HapticFormat.richTapHE, .hapticClip, .androidXML, .androidArrays, .hjif, .haps] {
      let losses = try #require(try format.write(HapticComposition(pattern))).losses
      #expect(
        losses.contains { $0.message == "10 s of trailing controls without events are omitted" }
      )
    }
  }

  @Test func vibratorsAreChannels() throws {
    let layers: [HapticComposition.Layer] = [
      .init(HapticPattern(events: [tap(0)])),
      .init(
        HapticPattern(events: [tap(0.1)]), name: "left", bodyLocation: .init(1, of: 2, name: "left")
      ),
      .init(
        HapticPattern(events: [tap(0.2)]), name: "right",
        bodyLocation: .init(2, of: 2, name: "right")),
    ]
    let he = try write(HapticComposition(layers: layers), HapticFormat.richTapHE)
    #expect(he.back == HapticComposition(layers: layers) && he.losses == [])
    let oh = try write(HapticComposition(layers: layers), HapticFormat.harmonyOS)
    #expect(oh.back.layers.map(\.name) == ["left", "right"])
    #expect(oh.back.layers.map { $0.pattern.events.map(\.time) } == [[0, 0.1], [0, 0.2]])
    var three = layers
    for index in three.indices {
      three[index].bodyLocation = .init(index + 1, of: 3)
    }
    let merged = try write(HapticComposition(layers: three), HapticFormat.richTapHE)
    #expect(merged.back.layers.map(\.bodyLocation) == [nil])
    #expect(
      merged.losses
        == (1...3).map {
          "approximated: the body location \($0) cannot be written; the haptics play everywhere"
        })
  }

  @Test func whatCannotBeWrittenIsReported() throws {
    var pattern = HapticPattern(events: [
      tap(0.0004, 0.8049), HapticEvent(kind: .audioContinuous, time: 0, duration: 1),
    ])
    let both = try write(
      HapticComposition(layers: [.init(pattern)], title: "t", notes: "n"), HapticFormat.richTapHE)
    #expect(
      both.losses == [
        "dropped: audio events cannot be written",
        "approximated: times are rounded to milliseconds, by up to 0.4 ms",
        "approximated: levels are rounded to percent, by up to 0.0049 of full scale",
        "dropped: only the notes are written, because the title and the notes share one field",
      ])
    pattern.events = (0..<130).map { tap(Double($0) * 20) }
    let late = try #require(try HapticFormat.harmonyOS.write(HapticComposition(pattern)))
    #expect(late.losses.map(\.lossMagnitude) == [39])
    let loop = HapticComposition(
      layers: [.init(HapticPattern(events: [tap(0), tap(0.2)]))],
      loop: .init(startSeconds: 0.2, endSeconds: 0.4))
    let unrolled = try write(
      loop, HapticFormat.richTapHE, options: WritingOptions(loopPassCount: 3))
    #expect(unrolled.back.layers[0].pattern.events.map(\.time) == [0, 0.2, 0.4, 0.6])
    #expect(unrolled.losses == ["approximated: the loop from 0.2 s to 0.4 s is unrolled 3 times"])
    var bad = pattern
    bad.events[0].time = .infinity
    #expect(throws: InputError.self) { try HapticFormat.richTapHE.write(HapticComposition(bad)) }
  }

  /// Anything that is written must be what the decoder accepts.
  @Test func whateverIsWrittenIsAccepted() throws {
    var chance = SplitMixGenerator(state: 11)
    func unit() -> Double { Double(chance.next() % 1001) / 1000 }
    for _ in 0..<60 {
      var pattern = HapticPattern()
      for _ in 0...Int(chance.next() % 6) {
        let time = unit() * 3
        var event = chance.next() % 3 == 0 ? tap(time, Float(unit())) : hum(time, unit() * 0.02)
        if event.kind == .hapticContinuous, chance.next() % 2 == 0 {
          event.duration = unit() * 9
          event.parameters[.attackTime] = Float(unit())
          event.parameters[.sustained] = Float(chance.next() % 2)
        }
        pattern.events.append(event)
      }
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl]
      where chance.next() % 2 == 0 {
        pattern.curves.append(
          ParameterCurve(
            id: id, time: unit(),
            controlPoints: (0...Int(chance.next() % 30)).map { _ in
              .init(time: unit() * 2, value: Float(unit()))
            }))
      }
      let composition = HapticComposition(pattern)
      for format in [HapticFormat.richTapHE, HapticFormat.harmonyOS] {
        let writing = try #require(try format.write(composition))
        let examination = format.examine(
          SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions())
        let errors = examination.findings.filter { $0.severity > .note }.map(\.description)
        #expect(errors == [], "\(format.id)")
      }
    }
  }
}
