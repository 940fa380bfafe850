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
  ) throws -> (text: String, reread: HapticComposition, losses: [String]) {
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

  private func hum(
    _ time: Double, _ duration: Double, _ otherParameters: [EventParameterID: Float] = [:]
  )
    -> HapticEvent
  {
    var parameters: EventParameters = [.hapticIntensity: 0.5, .hapticSharpness: 0.4]
    for (id, value) in otherParameters {
      parameters[id] = value
    }
    return HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
  }

  /// A gap of more than a second begins a new pattern.
  @Test func patternsEndAtGapsOfMoreThanASecond() throws {
    for (start, count) in [(1.1, 1), (1.101, 2)] {
      let text = try write(
        HapticComposition(HapticPattern(events: [hum(0, 0.1), tap(start)])), HapticFormat.richTapHE
      ).text
      #expect(text.split(separator: "AbsoluteTime").count == 1 + count)
    }
  }

  @Test func writesTextThatReadsBack() throws {
    let pattern = HapticPattern(events: [tap(0.25), hum(0.3, 0.1)])
    let (text, reread, losses) = try write(
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
    #expect(reread.layers[0].pattern == pattern && reread.notes == "two events" && losses == [])
    let canonicalText = try HapticFormat.richTapHE.canonicalText(
      of: SourceFile(Array(text.utf8), name: "c"))
    #expect(canonicalText == Array(text.utf8))
    let harmonyOSFile = try write(HapticComposition(pattern), HapticFormat.harmonyOS)
    #expect(harmonyOSFile.reread == HapticComposition(pattern) && harmonyOSFile.losses == [])
    #expect(
      !harmonyOSFile.text.contains("Curve") && harmonyOSFile.text.contains("\"ChannelNumber\": 1"))
  }

  @Test func eventsAreGroupedBySixteenAndByGaps() throws {
    let pattern = HapticPattern(
      events: (0..<20).map { tap(Double($0) / 100) } + [tap(1.2), tap(2.3)])
    let (text, reread, losses) = try write(HapticComposition(pattern), HapticFormat.richTapHE)
    let startLines = text.split(separator: "\n").filter { $0.contains("AbsoluteTime") }
    #expect(startLines.map { $0.filter(\.isNumber) } == ["0", "160", "2300"])
    #expect(reread == HapticComposition(pattern) && losses == [])
    let firstVersionFile = try #require(
      try HapticFormat.richTapHE.write(
        HapticComposition(pattern), options: WritingOptions(dialect: "1")))
    #expect(firstVersionFile.losses.map(\.lossMagnitude) == [22])
  }

  @Test func simultaneousEventsAreSpread() throws {
    let pattern = HapticPattern(events: (0..<40).map { _ in tap(0.5) })
    let (_, reread, losses) = try write(HapticComposition(pattern), HapticFormat.richTapHE)
    #expect(reread.layers[0].pattern.events.map(\.time).max() == 0.502)
    #expect(
      losses == ["approximated: more than 16 events at the same time are spread by up to 2 ms"])
  }

  @Test func longEventsAreSplitAndEnvelopesSampled() throws {
    let pattern = HapticPattern(events: [hum(0, 12.4, [.attackTime: 0.2, .releaseTime: 0.3])])
    for format in [HapticFormat.richTapHE, HapticFormat.harmonyOS] {
      let writing = try #require(try format.write(HapticComposition(pattern)))
      let reread = try format.examine(
        SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions()
      ).get()
      let events = reread.layers.flatMap(\.pattern.events).sorted { $0.time < $1.time }
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
    for (format, maximumCount) in [(HapticFormat.richTapHE, 16), (HapticFormat.harmonyOS, 16)] {
      let writing = try #require(try format.write(HapticComposition(pattern)))
      let reread = try format.examine(
        SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions()
      ).get()
      let counts = reread.layers.flatMap(\.pattern.curves).map(\.controlPoints.count)
      #expect(counts.allSatisfy { $0 <= maximumCount } && !counts.isEmpty)
      let loss = writing.losses.first { $0.message.hasPrefix("a curve with more than 16") }
      #expect((loss?.lossMagnitude ?? 0) > 0.4)
    }
  }

  @Test func trailingControlsAreALoss() throws {
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
    let richTapFile = try write(HapticComposition(layers: layers), HapticFormat.richTapHE)
    #expect(richTapFile.reread == HapticComposition(layers: layers) && richTapFile.losses == [])
    let harmonyOSFile = try write(HapticComposition(layers: layers), HapticFormat.harmonyOS)
    #expect(harmonyOSFile.reread.layers.map(\.name) == ["left", "right"])
    #expect(
      harmonyOSFile.reread.layers.map { $0.pattern.events.map(\.time) } == [[0, 0.1], [0, 0.2]])
    var threeLocations = layers
    for index in threeLocations.indices {
      threeLocations[index].bodyLocation = .init(index + 1, of: 3)
    }
    let mergedFile = try write(HapticComposition(layers: threeLocations), HapticFormat.richTapHE)
    #expect(mergedFile.reread.layers.map(\.bodyLocation) == [nil])
    #expect(
      mergedFile.losses
        == (1...3).map {
          "approximated: the body location \($0) cannot be written; the haptics play everywhere"
        })
  }

  @Test func lossesAreReported() throws {
    var pattern = HapticPattern(events: [
      tap(0.0004, 0.8049), HapticEvent(kind: .audioContinuous, time: 0, duration: 1),
    ])
    let written = try write(
      HapticComposition(layers: [.init(pattern)], title: "t", notes: "n"), HapticFormat.richTapHE)
    #expect(
      written.losses == [
        "dropped: audio events cannot be written",
        "approximated: times are rounded to milliseconds, by up to 0.4 ms",
        "approximated: levels are rounded to percent, by up to 0.0049 of full scale",
        "dropped: only the notes are written, because the title and the notes share one field",
      ])
    pattern.events = (0..<130).map { tap(Double($0) * 20) }
    let lateFile = try #require(try HapticFormat.harmonyOS.write(HapticComposition(pattern)))
    #expect(lateFile.losses.map(\.lossMagnitude) == [39])
    let loopedComposition = HapticComposition(
      layers: [.init(HapticPattern(events: [tap(0), tap(0.2)]))],
      loop: .init(startSeconds: 0.2, endSeconds: 0.4))
    let unrolledFile = try write(
      loopedComposition, HapticFormat.richTapHE, options: WritingOptions(loopPassCount: 3))
    #expect(unrolledFile.reread.layers[0].pattern.events.map(\.time) == [0, 0.2, 0.4, 0.6])
    #expect(
      unrolledFile.losses == ["approximated: the loop from 0.2 s to 0.4 s is unrolled 3 times"])
    var invalidPattern = pattern
    invalidPattern.events[0].time = .infinity
    #expect(throws: InputError.self) {
      try HapticFormat.richTapHE.write(HapticComposition(invalidPattern))
    }
  }

  /// The decoder must accept every written file.
  @Test func writtenFilesAreAccepted() throws {
    var generator = SplitMixGenerator(state: 11)
    func randomFraction() -> Double { Double(generator.next() % 1001) / 1000 }
    for _ in 0..<60 {
      var pattern = HapticPattern()
      for _ in 0...Int(generator.next() % 6) {
        let time = randomFraction() * 3
        var event =
          generator.next() % 3 == 0
          ? tap(time, Float(randomFraction())) : hum(time, randomFraction() * 0.02)
        if event.kind == .hapticContinuous, generator.next() % 2 == 0 {
          event.duration = randomFraction() * 9
          event.parameters[.attackTime] = Float(randomFraction())
          event.parameters[.sustained] = Float(generator.next() % 2)
        }
        pattern.events.append(event)
      }
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl]
      where generator.next() % 2 == 0 {
        pattern.curves.append(
          ParameterCurve(
            id: id, time: randomFraction(),
            controlPoints: (0...Int(generator.next() % 30)).map { _ in
              .init(time: randomFraction() * 2, value: Float(randomFraction()))
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
