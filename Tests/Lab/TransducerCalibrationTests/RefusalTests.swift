import Glibc
import HapticRender
import TestSupport
import Testing
import TransducerCalibration

@Suite struct RefusalTests {
  /// Returns the error of a recording, or nil if the recording can be measured.
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

  @Test func recordingsWithoutSignalAreRejected() throws {
    let signal = try SweepSignal(bandHertz: 10...800, sweepSeconds: 2)
    func errorText(_ samples: [Float], rate: Double = 8_000) -> String? {
      calibrationError(recording(samples, rate: rate), of: signal)?.description
    }
    let silence = [Float](repeating: 0, count: 60_000)
    #expect(errorText([]) == "is empty")
    #expect(errorText(silence) == "contains only silence")
    #expect(
      errorText(Array(silence.prefix(20_000))) == "lasts 2.5 s, but the two sweeps last 5.5 s")
    #expect(
      errorText(silence, rate: 100) == "has a sample rate of 100 Hz; supported: 4000 to 384000 Hz")
    #expect(
      errorText(silence, rate: .nan) == "has a sample rate of nan Hz; supported: 4000 to 384000 Hz")
    let highFrequencySignal = try SweepSignal(bandHertz: 10...2_000, sweepSeconds: 2)
    #expect(
      calibrationError(recording(silence, rate: 4_000), of: highFrequencySignal)?.description
        == "has a sample rate of 4000 Hz; a sweep up to 2000 Hz requires 5000 Hz")
    #expect(
      errorText([Float](repeating: 0, count: 4_000 * 181), rate: 4_000)
        == "lasts 181 s; trim it to the signal, at most 180 s"
    )
    for invalidSample in [Float.nan, .infinity, -.infinity, 1e30] {
      var samples = silence
      samples[12_340] = invalidSample
      #expect(errorText(samples) == "contains NaN or infinity at 1.54 s")
    }
  }

  /// A recording that cannot be measured, and its error.
  struct Case: Sendable, CustomTestStringConvertible {
    var kind: CalibrationError.Kind
    /// The sentence, in which an asterisk stands for a measured value.
    var sentence: String
    var acceptsPoor = false
    var record: @Sendable (inout SimulatedRecorder) throws -> CalibrationRecording

    var testDescription: String { sentence }
  }

  private static let singleResonance = [(40.0, 5.0, 1.0)]

  /// Returns a function that changes the samples of the default recording.
  private static func changed(
    rate: Double = 8_000, _ change: @escaping @Sendable ([Float]) -> [Float]
  )
    -> @Sendable (inout SimulatedRecorder) throws -> CalibrationRecording
  {
    {
      CalibrationRecording(
        samples: change(try $0.record(singleResonance).samples), sampleRate: rate)
    }
  }

  private static func clipped(at fraction: Float)
    -> @Sendable (inout SimulatedRecorder) throws -> CalibrationRecording
  {
    changed { samples in
      let limit = fraction * samples.reduce(0) { max($0, abs($1)) }
      return samples.map { min(max($0, -limit), limit) }
    }
  }

  static let cases = [
    Case(
      kind: .unsuitableRecording,
      sentence: "contains no 2 s sweep from 10 to 800 Hz above the noise"
    ) { _ in
      var generator = SplitMixGenerator(state: 5)
      return CalibrationRecording(
        samples: (0..<60_000).map { _ in Float(0.1 * generator.normalValue()) }, sampleRate: 8_000)
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
      recorder in
      recorder.gain = 0.05
      recorder.signalToNoiseDecibels = -6
      return try recorder.record(singleResonance)
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
    ) { recorder in
      recorder.clockError = 500
      return try recorder.record(singleResonance)
    },
    Case(
      kind: .clockMismatch,
      sentence:
        "has a sample clock that is 500 ppm too slow; record on the device that plays the signal"
    ) { recorder in
      recorder.clockError = -500
      return try recorder.record(singleResonance)
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
    ) { recorder in
      recorder.signalToNoiseDecibels = 40
      let samples = try recorder.record(singleResonance).samples.enumerated().map {
        $0 > 30_000 ? 0.66 * $1 : $1
      }
      return CalibrationRecording(samples: samples, sampleRate: 8_000)
    },
    Case(
      kind: .noResonance,
      sentence: "* only * % of the recorded power; check that the sensor is on the transducer",
      acceptsPoor: true
    ) { recorder in
      var generator = SplitMixGenerator(state: 3)
      return try recorder.record(
        (0..<14).map { mode in
          (
            20 + 14 * Double(mode) + 8 * generator.fraction(), 8 + 17 * generator.fraction(),
            generator.fraction() < 0.5 ? -0.6 : 0.6
          )
        })
    },
    Case(kind: .noResonance, sentence: "shows no resonance between 10 and 800 Hz") {
      try $0.recordLoop()
    },
  ]

  @Test(arguments: cases) func unsuitableRecordingsAreRejected(_ rejected: Case) throws {
    var recorder = try SimulatedRecorder()
    let recording = try rejected.record(&recorder)
    let error = try #require(
      calibrationError(recording, of: recorder.signal, acceptsPoor: rejected.acceptsPoor))
    #expect(error.kind == rejected.kind)
    let sentenceParts = rejected.sentence.split(separator: "*", omittingEmptySubsequences: false)
    #expect(sentenceParts.count > 1 || error.description == rejected.sentence)
    #expect(
      error.description.hasPrefix(sentenceParts[0])
        && error.description.hasSuffix(sentenceParts[sentenceParts.count - 1]))
    for sentencePart in sentenceParts {
      #expect(sentencePart.isEmpty || error.description.contains(sentencePart))
    }
  }

  @Test func fullScaleCountsAsClipped() throws {
    var recorder = try SimulatedRecorder()
    recorder.signalToNoiseDecibels = 60
    recorder.gain = 8
    let clippedSamples = try recorder.record([(40, 5, 1)]).samples.map { min(max($0, -1), 0.99997) }
    #expect(calibrationError(recording(clippedSamples), of: recorder.signal)?.kind == .clipped)
  }

  @Test(arguments: [(40.0, 5.0), (20, 0.7)]) func coarseQuantizationIsNotClipping(
    resonance: Double, qualityFactor: Double
  ) throws {
    var recorder = try SimulatedRecorder()
    recorder.signalToNoiseDecibels = nil
    let clean = try recorder.record([(resonance, qualityFactor, 1)])
    let quantized = recording(clean.samples.map { ($0 * 2_048).rounded() / 2_048 })
    #expect(calibrationError(quantized, of: recorder.signal) == nil)
  }

  @Test func recordingMayStartInTheFirstSilence() throws {
    let recorder = try SimulatedRecorder()
    let lateSamples = try Array(recorder.record([(40, 5, 1)]).samples.dropFirst(3_900))
    let calibration = try Calibration(measuring: recording(lateSamples), of: recorder.signal)
    #expect(abs(calibration.signalStartSeconds * 8_000 + 3_820) < 1)
  }

  /// Springs stiffen or soften with excursion, and a recorder compresses.
  @Test func levelDependenceIsReported() throws {
    var recorder = try SimulatedRecorder()
    recorder.signalToNoiseDecibels = 40
    let driveSamples = try recorder.signal.samples(rate: recorder.rate, includesTones: false).map(
      Double.init)
    func calibrationError(stiffening: Double, limit: Double = .infinity) throws -> CalibrationError?
    {
      var plant = SimulatedCoil(resonance: 40, qualityFactor: 5)
      plant.springStiffening = stiffening
      let acceleration = plant.acceleration(for: driveSamples, rate: recorder.rate)
      let peak = acceleration.reduce(0) { max($0, abs($1)) }
      let recordedSamples = acceleration.map {
        limit < .infinity ? limit * peak * tanh($0 / peak / limit) : $0
      }
      return self.calibrationError(recorder.makeRecording(recordedSamples), of: recorder.signal)
    }
    #expect(try calibrationError(stiffening: 0) == nil)
    let stiffeningError = try #require(try calibrationError(stiffening: 5))
    #expect(stiffeningError.kind == .changesWithLevel)
    let messagePrefix = "changes with the level: the resonance of the louder sweep is "
    #expect(stiffeningError.description.hasPrefix(messagePrefix))
    #expect(
      stiffeningError.description.hasSuffix(
        """
         % higher, as if a spring stiffens with excursion; use a lower '--level', or '--accept-poor'
        """
      ))
    let softeningError = try #require(try calibrationError(stiffening: -3.5))
    #expect(
      softeningError.description.contains(" % lower, as if a spring softens with excursion; "))
    let compressionError = try #require(try calibrationError(stiffening: 0, limit: 0.7))
    #expect(compressionError.kind == .changesWithLevel)
    #expect(
      compressionError.description.hasSuffix(
        """
         % lower, as if the recorder or the amplifier compresses; lower their gains, or use a \
        lower '--level', or '--accept-poor'
        """
      ))
  }

  @Test func poorFitMustBeAccepted() throws {
    let recorder = try SimulatedRecorder()
    let modes = [
      (40.0, 5.0, 1.0), (62, 12, 0.25), (95, 15, -0.25), (140, 20, 0.25), (210, 14, 0.25),
      (300, 12, 0.25),
    ]
    let recording = try recorder.record(modes)
    let error = try #require(calibrationError(recording, of: recorder.signal))
    #expect(error.kind == .noResonance)
    #expect(
      error.description.hasSuffix(
        """
        ; the cause is an echo of the room or another resonance; put the sensor on the transducer, \
        or use '--accept-poor'
        """
      ))
    let calibration = try Calibration(
      measuring: recording, of: recorder.signal, acceptsPoorFit: true)
    #expect(calibration.hasPoorFit)
    #expect(
      calibration.warningSentences.first == "The fit is poor; the values are marked as estimates.")
    let profile = calibration.applied(to: .phone, in: Calibration.Conditions(dateText: "today"))
    #expect(profile.hardware?.estimatedValueKeys == ["resonance", "qualityFactor"])
  }

  @Test func transducerRecordingIsNotAReference() throws {
    let recorder = try SimulatedRecorder()
    #expect(throws: CalibrationError.self) {
      try ReferenceDelay(measuring: recorder.record([(40, 5, 1)]), of: recorder.signal)
    }
  }
}
