import Glibc
import SignalAnalysis
import TestSupport
import Testing
import TransducerCalibration

/// Recordings with mains hum of a varying frequency.
struct MainsHumTests {
  /// The movement of the mains frequency over a recording.
  enum Drift: CaseIterable {
    /// A linear change from 0.2 Hz below to 0.2 Hz above.
    case line
    /// One sine wave with an amplitude of 0.2 Hz.
    case wave
    /// A sine wave with an amplitude of 0.01 Hz and a period of seconds, as in real mains.
    case walk

    /// Returns the number of cycles from the start of a recording.
    func cycles(at seconds: Double, of durationSeconds: Double, around hertz: Double) -> Double {
      let fraction = seconds / durationSeconds
      switch self {
      case .line: return hertz * seconds + 0.2 * durationSeconds * (fraction * fraction - fraction)
      case .wave:
        return hertz * seconds + 0.2 * durationSeconds / (2 * .pi) * (1 - cos(2 * .pi * fraction))
      case .walk:
        return hertz * seconds + 0.01 * durationSeconds / (3 * .pi) * (1 - cos(3 * .pi * fraction))
      }
    }
  }

  private static let signal: SweepSignal? = try? SweepSignal(bandHertz: 10...800, sweepSeconds: 6)

  /// A recording of 40 Hz, Q 5, with hum and three of its harmonics at a level relative to the
  /// sweeps' peak.
  private func recording(_ drift: Drift, hertz: Double, decibels: Double, _ signal: SweepSignal)
    throws
    -> CalibrationRecording
  {
    let recorder = try SimulatedRecorder(signal, rate: 4_000)
    let clean = try recorder.record([(40, 5, 1)])
    let peak = Double(clean.samples.reduce(0) { max($0, abs($1)) })
    let amplitude = peak * pow(10, decibels / 20)
    let durationSeconds = Double(clean.samples.count) / clean.sampleRate
    let samples = clean.samples.enumerated().map { frame, sample in
      let cycles = drift.cycles(
        at: Double(frame) / clean.sampleRate, of: durationSeconds, around: hertz)
      let phase = 2 * Double.pi * cycles
      let harmonics = 0.1 * sin(2 * phase) + 0.4 * cos(3 * phase) + 0.1 * sin(5 * phase)
      return sample + Float(amplitude * (sin(phase + 1) + harmonics))
    }
    return CalibrationRecording(samples: samples, sampleRate: clean.sampleRate)
  }

  @Test(arguments: [
    (Drift.line, 50.0, -20.0), (.line, 60, -12), (.line, 50, 0), (.walk, 50, -20), (.walk, 60, -26),
  ])
  func driftingHumIsRemoved(drift: Drift, hertz: Double, decibels: Double) throws {
    let signal = try #require(Self.signal)
    let calibration = try Calibration(
      measuring: recording(drift, hertz: hertz, decibels: decibels, signal), of: signal)
    #expect(abs(calibration.resonanceHertz / 40 - 1) < 0.003)
    #expect(abs(calibration.qualityFactor / 5 - 1) < 0.02)
    #expect(abs((calibration.humHertz ?? 0) - hertz) < 0.03)
  }

  /// Ringing that continues into the silences is not mistaken for hum of a varying frequency.
  @Test func steadyHumIsRemovedDespiteRinging() throws {
    for (resonance, qualityFactor) in [
      (28.5, 6.6), (27.1, 4.4), (26, 8), (31.5, 7), (33, 12), (25, 5),
    ] {
      var recorder = try SimulatedRecorder()
      recorder.signalToNoiseDecibels = nil
      let clean = try recorder.record([(resonance, qualityFactor, 1)])
      let peak = clean.samples.reduce(0) { max($0, abs($1)) }
      let samples = clean.samples.enumerated().map { frame, sample in
        let phase = 2 * Double.pi * 60 * Double(frame) / clean.sampleRate
        return sample + peak / 2 * Float(sin(phase) + 0.3 * sin(3 * phase))
      }
      let calibration = try Calibration(
        measuring: CalibrationRecording(samples: samples, sampleRate: clean.sampleRate),
        of: recorder.signal)
      #expect(
        abs(calibration.resonanceHertz / resonance - 1) < 0.003
          && abs(calibration.qualityFactor / qualityFactor - 1) < 0.02)
    }
  }

  /// A recording is rejected if its hum cannot be estimated from the silences.
  @Test(arguments: [(Drift.wave, 50.0, -12.0), (.wave, 60, 0), (.walk, 50, 0)])
  func unpredictableHumIsReported(
    drift: Drift, hertz: Double, decibels: Double
  ) throws {
    let signal = try #require(Self.signal)
    let recording = try recording(drift, hertz: hertz, decibels: decibels, signal)
    let error = #expect(throws: CalibrationError.self) {
      try Calibration(measuring: recording, of: signal)
    }
    #expect(error?.kind == .unsuitableRecording)
    #expect(
      error?.description
        == """
        has mains hum with a varying frequency at \(Int(hertz)) Hz that cannot be removed; keep \
        the sensor cable away from mains cables, or record on battery power
        """
    )
  }
}
