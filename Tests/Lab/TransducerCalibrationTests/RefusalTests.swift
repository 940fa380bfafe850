import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerCalibration

@Suite struct RefusalTests {
  /// Why a recording says nothing.
  private func calibrationError(
    _ recording: CalibrationRecording, of signal: SweepSignal, acceptsPoor: Bool = false
  )
    -> CalibrationError?
  {
    do {
      _ = try Calibration(measuring: recording, of: signal, acceptsPoorFit: acceptsPoor)
      return nil
    } catch {
      return error
    }
  }

  private func recording(_ samples: [Float], rate: Double = 8_000) -> CalibrationRecording {
    CalibrationRecording(samples: samples, sampleRate: rate)
  }

  @Test func whatHoldsNoSignalIsRefusedBeforeAnyWork() throws {
    let signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: 2)
    func told(_ samples: [Float], rate: Double = 8_000) -> String? {
      calibrationError(recording(samples, rate: rate), of: signal)?.description
    }
    let long = [Float](repeating: 0, count: 60_000)
    #expect(told([]) == "is empty")
    #expect(told(long) == "contains only silence")
    #expect(told(Array(long.prefix(20_000))) == "lasts 2.5 s, but the two sweeps last 5.5 s")
    #expect(told(long, rate: 100) == "has a sample rate of 100 Hz; supported: 4000 to 384000 Hz")
    #expect(told(long, rate: .nan) == "has a sample rate of nan Hz; supported: 4000 to 384000 Hz")
    let fast = try SweepSignal(bandHertz: 10...2_000, sweepSeconds: 2)
    #expect(
      calibrationError(recording(long, rate: 4_000), of: fast)?.description
        == "has a sample rate of 4000 Hz; a sweep up to 2000 Hz requires 5000 Hz")
    #expect(
      told([Float](repeating: 0, count: 4_000 * 181), rate: 4_000)
        == "lasts 181 s; trim it to the signal, at most 180 s"
    )
    for bad in [Float.nan, .infinity, -.infinity, 1e30] {
      var broken = long
      broken[12_340] = bad
      #expect(told(broken) == "contains NaN or infinity at 1.54 s")
    }
  }

  /// A recording that says nothing, made of that of a transducer.
  struct Case: Sendable, CustomTestStringConvertible {
    var kind: CalibrationError.Kind
    /// The sentence, in which a star stands for what was measured.
    var sentence: String
    var acceptsPoor = false
    var record: @Sendable (inout RecordingStudio) throws -> CalibrationRecording

    var testDescription: String { sentence }
  }

  private static let singleResonance = [(40.0, 5.0, 1.0)]

  /// The usual recording with other samples.
  private static func changed(
    rate: Double = 8_000, _ change: @escaping @Sendable ([Float]) -> [Float]
  )
    -> @Sendable (inout RecordingStudio) throws -> CalibrationRecording
  {
    {
      CalibrationRecording(
        samples: change(try $0.record(singleResonance).samples), sampleRate: rate)
    }
  }

  private static func clipped(at part: Float)
    -> @Sendable (inout RecordingStudio) throws -> CalibrationRecording
  {
    changed { samples in
      let limit = part * samples.reduce(0) { max($0, abs($1)) }
      return samples.map { min(max($0, -limit), limit) }
    }
  }

  static let cases = [
    Case(
      kind: .unsuitableRecording,
      sentence: "contains no 2 s sweep from 10 to 800 Hz above the noise"
    ) { _ in
      var chance = SplitMixGenerator(state: 5)
      return CalibrationRecording(
        samples: (0..<60_000).map { _ in Float(0.1 * chance.normalValue()) }, sampleRate: 8_000)
    },
    Case(
      kind: .clipped, sentence: "is clipped at 4.* s; lower the recorder's gain",
      record: clipped(at: 0.5)),
    Case(
      kind: .clipped, sentence: "is clipped at 4.* s; lower the recorder's gain",
      record: clipped(at: 0.9)),
    Case(
      kind: .tooQuiet,
      sentence: "is too quiet: the sweeps are * dB above the noise; at least 6 dB is required"
    ) {
      studio in
      studio.gain = 0.05
      studio.signalToNoiseDecibels = -6
      return try studio.record(singleResonance)
    },
    Case(
      kind: .unsuitableRecording,
      sentence:
        """
        contains only one sweep, at 0.51 s; start recording before the first sweep, and stop after \
        the second
        """,
      record: changed { $0.prefix(24_000) + [Float](repeating: 0, count: 40_000) }),
    Case(
      kind: .unsuitableRecording,
      sentence:
        """
        contains only one sweep, at 2.01 s; start recording before the first sweep, and stop after \
        the second
        """,
      record: changed { $0.dropFirst(16_000) + [Float](repeating: 0, count: 40_000) }),
    Case(
      kind: .clockMismatch,
      sentence:
        """
        contains sweeps that are 3.81 s apart instead of 3.5 s; check the sample rate and the \
        signal options
        """,
      record: changed(rate: 7_350) { $0 }),
    Case(
      kind: .clockMismatch,
      sentence:
        "has a sample clock that is 500 ppm too fast; record on the device that plays the signal"
    ) { studio in
      studio.clockError = 500
      return try studio.record(singleResonance)
    },
    Case(
      kind: .clockMismatch,
      sentence:
        "has a sample clock that is 500 ppm too slow; record on the device that plays the signal"
    ) { studio in
      studio.clockError = -500
      return try studio.record(singleResonance)
    },
    Case(
      kind: .unsuitableRecording,
      sentence:
        """
        contains a second sweep that is -0.1 dB louder than the first instead of 6 dB; turn off \
        automatic gain control, and record the signal of this version of Temblor
        """,
      record: changed { $0.enumerated().map { $0 > 30_000 ? $1 / 2 : $1 } }),
    Case(
      kind: .unsuitableRecording,
      sentence: "has two sweeps that differ by * %; avoid movement and noise, and record again"
    ) { studio in
      studio.signalToNoiseDecibels = 40
      let samples = try studio.record(singleResonance).samples.enumerated().map {
        $0 > 30_000 ? 0.66 * $1 : $1
      }
      return CalibrationRecording(samples: samples, sampleRate: 8_000)
    },
    Case(
      kind: .noResonance,
      sentence: "* only * % of the recorded power; check that the sensor is on the transducer",
      acceptsPoor: true
    ) { studio in
      var chance = SplitMixGenerator(state: 3)
      return try studio.record(
        (0..<14).map { mode in
          (
            20 + 14 * Double(mode) + 8 * chance.fraction(), 8 + 17 * chance.fraction(),
            chance.fraction() < 0.5 ? -0.6 : 0.6
          )
        })
    },
    Case(kind: .noResonance, sentence: "shows no resonance between 10 and 800 Hz") {
      try $0.recordLoop()
    },
  ]

  @Test(arguments: cases) func whatCannotBeMeasuredIsRefused(_ refused: Case) throws {
    var studio = try RecordingStudio()
    let recording = try refused.record(&studio)
    let found = try #require(
      calibrationError(recording, of: studio.signal, acceptsPoor: refused.acceptsPoor))
    #expect(found.kind == refused.kind)
    let parts = refused.sentence.split(separator: "*", omittingEmptySubsequences: false)
    #expect(parts.count > 1 || found.description == refused.sentence)
    #expect(
      found.description.hasPrefix(parts[0]) && found.description.hasSuffix(parts[parts.count - 1]))
    for part in parts {
      #expect(part.isEmpty || found.description.contains(part))
    }
  }

  @Test func fullScaleCountsAsClipped() throws {
    var studio = try RecordingStudio()
    studio.signalToNoiseDecibels = 60
    studio.gain = 8
    let hot = try studio.record([(40, 5, 1)]).samples.map { min(max($0, -1), 0.99997) }
    #expect(calibrationError(recording(hot), of: studio.signal)?.kind == .clipped)
  }

  @Test(arguments: [(40.0, 5.0), (20, 0.7)]) func wholeNumbersAloneAreNoClipping(
    resonance: Double, qualityFactor: Double
  ) throws {
    var studio = try RecordingStudio()
    studio.signalToNoiseDecibels = nil
    let clean = try studio.record([(resonance, qualityFactor, 1)])
    let coarse = recording(clean.samples.map { ($0 * 2_048).rounded() / 2_048 })
    #expect(calibrationError(coarse, of: studio.signal) == nil)
  }

  @Test func aRecordingThatBeginsInTheFirstSilenceWillDo() throws {
    let studio = try RecordingStudio()
    let late = try Array(studio.record([(40, 5, 1)]).samples.dropFirst(3_900))
    let found = try Calibration(measuring: recording(late), of: studio.signal)
    #expect(abs(found.signalStartSeconds * 8_000 + 3_820) < 1)
  }

  /// Springs that stiffen or soften with movement, and what compresses.
  @Test func whatChangesWithTheLevelIsTold() throws {
    var studio = try RecordingStudio()
    studio.signalToNoiseDecibels = 40
    let played = try studio.signal.samples(rate: studio.rate, includesTones: false).map(Double.init)
    func told(_ stiffening: Double, limit: Double = .infinity) throws -> CalibrationError? {
      var plant = SimulatedCoil(resonance: 40, qualityFactor: 5)
      plant.springStiffening = stiffening
      let moved = plant.acceleration(for: played, rate: studio.rate)
      let peak = moved.reduce(0) { max($0, abs($1)) }
      let heard = moved.map { limit < .infinity ? limit * peak * tanh($0 / peak / limit) : $0 }
      return calibrationError(studio.makeRecording(heard), of: studio.signal)
    }
    #expect(try told(0) == nil)
    let stiff = try #require(try told(5))
    #expect(stiff.kind == .changesWithLevel)
    let words = "changes with the level: the resonance of the louder sweep is "
    #expect(stiff.description.hasPrefix(words))
    #expect(
      stiff.description.hasSuffix(
        """
         % higher, as if a spring stiffens with excursion; use a lower '--level', or '--accept-poor'
        """
      ))
    let soft = try #require(try told(-3.5))
    #expect(soft.description.contains(" % lower, as if a spring softens with excursion; "))
    let pressed = try #require(try told(0, limit: 0.7))
    #expect(pressed.kind == .changesWithLevel)
    #expect(
      pressed.description.hasSuffix(
        """
         % lower, as if the recorder or the amplifier compresses; lower their gains, or use a \
        lower '--level', or '--accept-poor'
        """
      ))
  }

  @Test func aPoorFitMustBeInsistedOn() throws {
    let studio = try RecordingStudio()
    let crowd = [
      (40.0, 5.0, 1.0), (62, 12, 0.25), (95, 15, -0.25), (140, 20, 0.25), (210, 14, 0.25),
      (300, 12, 0.25),
    ]
    let mixed = try studio.record(crowd)
    let found = try #require(calibrationError(mixed, of: studio.signal))
    #expect(found.kind == .noResonance)
    #expect(
      found.description.hasSuffix(
        """
        ; the cause is an echo of the room or another resonance; put the sensor on the transducer, \
        or use '--accept-poor'
        """
      ))
    let poor = try Calibration(measuring: mixed, of: studio.signal, acceptsPoorFit: true)
    #expect(poor.hasPoorFit)
    #expect(poor.warningSentences.first == "The fit is poor; the values are marked as estimates.")
    let profile = poor.applied(to: .phone, in: Calibration.Conditions(dateText: "today"))
    #expect(profile.hardware?.estimatedValueKeys == ["resonance", "qualityFactor"])
  }

  @Test func aTransducerIsNoReference() throws {
    let studio = try RecordingStudio()
    #expect(throws: CalibrationError.self) {
      try ReferenceDelay(measuring: studio.record([(40, 5, 1)]), of: studio.signal)
    }
  }
}
