import HapticModel
import Reading
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Compositions written as texts and read back.
@Suite struct MPEGWritingTests {
  private static let pattern = HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0.1, duration: 0.5,
      parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.4]),
    HapticEvent(
      kind: .hapticContinuous, time: 1, duration: 0.25,
      parameters: [.hapticIntensity: 0.6, .hapticSharpness: 0.2]),
    HapticEvent(
      kind: .hapticTransient, time: 0.3, parameters: [.hapticIntensity: 0.7, .hapticSharpness: 0.8]),
  ])

  private func rereadComposition(_ composition: HapticComposition) throws -> HapticComposition {
    let writing = try #require(try HapticFormat.hjif.write(composition))
    let examination = HapticFormat.hjif.examine(
      SourceFile(writing.files[0].bytes, name: "t"), options: ReadingOptions())
    #expect(examination.findings.isEmpty, "\(examination.findings.map(\.description))")
    return try #require(examination.composition)
  }

  @Test func constantEventsArePreserved() throws {
    let reread = try rereadComposition(HapticComposition(Self.pattern))
    let events = reread.layers.flatMap(\.pattern.events).sorted { $0.time < $1.time }
    let expectedEvents = Self.pattern.events.sorted { $0.time < $1.time }
    let scale = try #require(reread.layers[0].sharpnessScale)
    #expect(reread.layers.count == 1 && reread.layers[0].pattern.curves.isEmpty)
    #expect(events.map(\.kind) == expectedEvents.map(\.kind))
    for (event, expectedEvent) in zip(events, expectedEvents) {
      #expect(event.time == expectedEvent.time && event.duration == expectedEvent.duration)
      #expect(
        abs(event.value(of: .hapticIntensity) - expectedEvent.value(of: .hapticIntensity)) < 1e-5)
      // The file holds whole hertz.
      let hertz = scale.hertz(ofSharpness: event.unclampedSharpness)
      let expectedHertz = SharpnessScale.phone.hertz(ofSharpness: expectedEvent.unclampedSharpness)
      #expect(abs(hertz - expectedHertz) <= 0.5)
    }
  }

  @Test func bodyLocationsAreChannels() throws {
    let taps = [0.1, 0.2, 0.3].map {
      HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: $0)])
    }
    let reread = try rereadComposition(
      HapticComposition(layers: [
        .init(taps[0], name: "thumb", bodyLocation: .init(1, of: 2)),
        .init(taps[1], bodyLocation: .init(2, of: 2)), .init(taps[2]),
      ]))
    // The layer without a location plays on both channels.
    #expect(reread.layers.map { $0.pattern.events.map(\.time) } == [[0.1, 0.3], [0.2, 0.3]])
    #expect(reread.layers.map(\.bodyLocation) == [.init(1, of: 2, name: "thumb"), .init(2, of: 2)])
  }

  @Test func envelopesAndControlsAreWrittenAsKeyframes() throws {
    var pattern = Self.pattern
    pattern.events[0].parameters[.attackTime] = 0.3
    pattern.events[0].parameters[.releaseTime] = 0.3
    pattern.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 1.1)]
    pattern.curves = [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 0,
        controlPoints: [.init(time: 0, value: -0.2), .init(time: 1, value: 0.4)])
    ]
    let composition = HapticComposition(pattern)
    let sampler = EnvelopeSampler(.amplitude, mapping: .linear, frequencies: .phone)
    let expectedEnvelopes = sampler.envelopes(of: composition).filter {
      $0.kind == .hapticContinuous
    }
    let rereadEnvelopes = sampler.envelopes(of: try rereadComposition(composition)).filter {
      $0.kind == .hapticContinuous
    }
    #expect(expectedEnvelopes.count == rereadEnvelopes.count)
    for (expected, reread) in zip(expectedEnvelopes, rereadEnvelopes) {
      #expect(
        abs(expected.startSeconds - reread.startSeconds) < 1e-3
          && abs(expected.endSeconds - reread.endSeconds) < 1e-3)
      for fraction in stride(from: 0.005, to: 1, by: 0.01) {
        let time = expected.startSeconds + (expected.endSeconds - expected.startSeconds) * fraction
        let expectedPoint = point(of: expected, at: time)
        let rereadPoint = point(of: reread, at: time)
        #expect(abs(expectedPoint.level - rereadPoint.level) < 0.012, "\(time)")
        #expect(abs(expectedPoint.sharpness - rereadPoint.sharpness) < 0.012, "\(time)")
      }
    }
  }

  private func point(of envelope: EventEnvelope, at time: Double) -> EnvelopePoint {
    let index = envelope.points.lastIndex { $0.timeSeconds <= time } ?? 0
    guard index + 1 < envelope.points.count else { return envelope.points[index] }
    return .interpolated(from: envelope.points[index], to: envelope.points[index + 1], at: time)
  }

  @Test func overlappingEventsHaveSeparateBands() throws {
    var pattern = Self.pattern
    pattern.events[1].time = 0.2
    let reread = try rereadComposition(HapticComposition(pattern))
    #expect(reread.layers.flatMap(\.pattern.events).count == 3)
    let writing = try #require(try HapticFormat.hjif.write(HapticComposition(pattern)))
    let text = String(decoding: writing.files[0].bytes, as: UTF8.self)
    #expect(text.ranges(of: "VectorialWave").count == 2)
  }

  @Test func signalsReturnAsCurves() throws {
    let samples = (0..<800).map { Float($0 % 100 - 50) / 60 }
    let composition = HapticComposition(layers: [
      .init(
        HapticPattern(),
        signals: [SampledSignal(startSeconds: 0.25, sampleRate: 8_000, samples: samples)])
    ])
    let reread = try rereadComposition(composition)
    let signal = try #require(reread.layers.first?.signals.first)
    #expect(signal.startSeconds == 0.25 && signal.sampleRate == 48_000)
    for (index, sample) in samples.enumerated() {
      #expect(abs(signal.samples[index * 6] - sample) < 1.0 / 4_000, "\(index)")
    }
  }

  @Test func unsupportedPropertiesAreLosses() throws {
    var pattern = Self.pattern
    pattern.events.append(HapticEvent(kind: .audioContinuous, time: 0, duration: 1))
    var composition = HapticComposition(pattern)
    composition.title = "a title"
    composition.notes = "notes"
    let writing = try #require(try HapticFormat.hjif.write(composition))
    #expect(
      writing.losses.contains {
        $0.kind == .dropped && $0.compositionElement == .event(.init(eventIndex: 3))
      })
    #expect(try rereadComposition(composition).notes == "a title: notes")
    pattern.events[0].time = .nan
    #expect(throws: InputError.self) { try HapticFormat.hjif.write(HapticComposition(pattern)) }
  }

  @Test func eventsTooLongForKeyframesAreDropped() throws {
    func writing(_ duration: Double) throws -> (events: [HapticEvent], losses: [String]) {
      let composition = HapticComposition(
        HapticPattern(events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: duration)]))
      let losses = try #require(try HapticFormat.hjif.write(composition)).losses.map(\.message)
      return (try rereadComposition(composition).layers[0].pattern.events, losses)
    }
    #expect(try writing(40_000).events.map(\.duration) == [40_000])
    let longEvent = try writing(50_000)
    #expect(
      longEvent.events.isEmpty && longEvent.losses.contains("the event lasts more than 44739 s"))
  }

  @Test func emptyCompositionIsWritten() throws {
    #expect(try rereadComposition(HapticComposition(layers: [])).layers.map(\.isEmpty) == [true])
  }
}
