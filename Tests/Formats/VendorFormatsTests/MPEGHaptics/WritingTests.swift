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

  @Test func steadyEventsReturn() throws {
    let read = try rereadComposition(HapticComposition(Self.pattern))
    let events = read.layers.flatMap(\.pattern.events).sorted { $0.time < $1.time }
    let given = Self.pattern.events.sorted { $0.time < $1.time }
    let scale = try #require(read.layers[0].sharpnessScale)
    #expect(read.layers.count == 1 && read.layers[0].pattern.curves.isEmpty)
    #expect(events.map(\.kind) == given.map(\.kind))
    for (one, other) in zip(events, given) {
      #expect(one.time == other.time && one.duration == other.duration)
      #expect(abs(one.value(of: .hapticIntensity) - other.value(of: .hapticIntensity)) < 1e-5)
      // The file holds whole hertz.
      let hertz = scale.hertz(ofSharpness: one.unclampedSharpness)
      let given = SharpnessScale.phone.hertz(ofSharpness: other.unclampedSharpness)
      #expect(abs(hertz - given) <= 0.5)
    }
  }

  @Test func placesAreChannels() throws {
    let taps = [0.1, 0.2, 0.3].map {
      HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: $0)])
    }
    let read = try rereadComposition(
      HapticComposition(layers: [
        .init(taps[0], name: "thumb", bodyLocation: .init(1, of: 2)),
        .init(taps[1], bodyLocation: .init(2, of: 2)), .init(taps[2]),
      ]))
    // What is felt everywhere is in both.
    #expect(read.layers.map { $0.pattern.events.map(\.time) } == [[0.1, 0.3], [0.2, 0.3]])
    #expect(read.layers.map(\.bodyLocation) == [.init(1, of: 2, name: "thumb"), .init(2, of: 2)])
  }

  @Test func envelopesAndControlsAreHeldAsKeys() throws {
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
    let given = sampler.envelopes(of: composition).filter { $0.kind == .hapticContinuous }
    let read = sampler.envelopes(of: try rereadComposition(composition)).filter {
      $0.kind == .hapticContinuous
    }
    #expect(given.count == read.count)
    for (one, other) in zip(given, read) {
      #expect(
        abs(one.startSeconds - other.startSeconds) < 1e-3
          && abs(one.endSeconds - other.endSeconds) < 1e-3)
      for share in stride(from: 0.005, to: 1, by: 0.01) {
        let time = one.startSeconds + (one.endSeconds - one.startSeconds) * share
        let a = point(of: one, at: time)
        let b = point(of: other, at: time)
        #expect(abs(a.level - b.level) < 0.012, "\(time)")
        #expect(abs(a.sharpness - b.sharpness) < 0.012, "\(time)")
      }
    }
  }

  private func point(of envelope: EventEnvelope, at time: Double) -> EnvelopePoint {
    let index = envelope.points.lastIndex { $0.timeSeconds <= time } ?? 0
    guard index + 1 < envelope.points.count else { return envelope.points[index] }
    return .interpolated(from: envelope.points[index], to: envelope.points[index + 1], at: time)
  }

  @Test func overlappingEventsHaveBandsOfTheirOwn() throws {
    var pattern = Self.pattern
    pattern.events[1].time = 0.2
    let read = try rereadComposition(HapticComposition(pattern))
    #expect(read.layers.flatMap(\.pattern.events).count == 3)
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
    let read = try rereadComposition(composition)
    let signal = try #require(read.layers.first?.signals.first)
    #expect(signal.startSeconds == 0.25 && signal.sampleRate == 48_000)
    for (index, sample) in samples.enumerated() {
      #expect(abs(signal.samples[index * 6] - sample) < 1.0 / 4_000, "\(index)")
    }
  }

  @Test func whatCannotBeHeldIsALoss() throws {
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

  @Test func eventsThatKeysCannotCountAreDropped() throws {
    func writing(_ duration: Double) throws -> (events: [HapticEvent], losses: [String]) {
      let composition = HapticComposition(
        HapticPattern(events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: duration)]))
      let losses = try #require(try HapticFormat.hjif.write(composition)).losses.map(\.message)
      return (try rereadComposition(composition).layers[0].pattern.events, losses)
    }
    #expect(try writing(40_000).events.map(\.duration) == [40_000])
    let long = try writing(50_000)
    #expect(long.events.isEmpty && long.losses.contains("the event lasts more than 44739 s"))
  }

  @Test func anEmptyCompositionIsAFile() throws {
    #expect(try rereadComposition(HapticComposition(layers: [])).layers.map(\.isEmpty) == [true])
  }
}
