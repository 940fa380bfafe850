import Glibc
import SignalAnalysis
import TestSupport
import Testing
import TransducerCalibration

/// Recordings with mains hum whose frequency moves while they are made.
struct MainsHumTests {
  /// The movement of the mains frequency over a recording.
  enum Drift: CaseIterable {
    /// Evenly from 0.2 Hz below to 0.2 Hz above.
    case line
    /// To 0.2 Hz on both sides in one wave.
    case wave
    /// To 0.01 Hz on both sides within seconds, as mains do.
    case walk

    /// Cycles since the start, as a part of the length.
    func cycles(at seconds: Double, of length: Double, around hertz: Double) -> Double {
      let part = seconds / length
      switch self {
      case .line: return hertz * seconds + 0.2 * length * (part * part - part)
      case .wave: return hertz * seconds + 0.2 * length / (2 * .pi) * (1 - cos(2 * .pi * part))
      case .walk: return hertz * seconds + 0.01 * length / (3 * .pi) * (1 - cos(3 * .pi * part))
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
    let studio = try RecordingStudio(signal, rate: 4_000)
    let clean = try studio.record([(40, 5, 1)])
    let peak = Double(clean.samples.reduce(0) { max($0, abs($1)) })
    let amplitude = peak * pow(10, decibels / 20)
    let length = Double(clean.samples.count) / clean.sampleRate
    let samples = clean.samples.enumerated().map { frame, sample in
      let cycles = drift.cycles(at: Double(frame) / clean.sampleRate, of: length, around: hertz)
      let turn = 2 * Double.pi * cycles
      let harmonics = 0.1 * sin(2 * turn) + 0.4 * cos(3 * turn) + 0.1 * sin(5 * turn)
      return sample + Float(amplitude * (sin(turn + 1) + harmonics))
    }
    return CalibrationRecording(samples: samples, sampleRate: clean.sampleRate)
  }

  @Test(arguments: [
    (Drift.line, 50.0, -20.0), (.line, 60, -12), (.line, 50, 0), (.walk, 50, -20), (.walk, 60, -26),
  ])
  func humThatDriftsIsTakenOut(drift: Drift, hertz: Double, decibels: Double) throws {
    let signal = try #require(Self.signal)
    let found = try Calibration(
      measuring: recording(drift, hertz: hertz, decibels: decibels, signal), of: signal)
    #expect(abs(found.resonanceHertz / 40 - 1) < 0.003)
    #expect(abs(found.qualityFactor / 5 - 1) < 0.02)
    #expect(abs((found.humHertz ?? 0) - hertz) < 0.03)
  }

  /// A ring that lasts into the silences is not a hum that moves.
  @Test func steadyHumIsTakenOutBesideARing() throws {
    for (resonance, quality) in [(28.5, 6.6), (27.1, 4.4), (26, 8), (31.5, 7), (33, 12), (25, 5)] {
      var studio = try RecordingStudio()
      studio.signalToNoiseDecibels = nil
      let clean = try studio.record([(resonance, quality, 1)])
      let peak = clean.samples.reduce(0) { max($0, abs($1)) }
      let samples = clean.samples.enumerated().map { frame, sample in
        let turn = 2 * Double.pi * 60 * Double(frame) / clean.sampleRate
        return sample + peak / 2 * Float(sin(turn) + 0.3 * sin(3 * turn))
      }
      let found = try Calibration(
        measuring: CalibrationRecording(samples: samples, sampleRate: clean.sampleRate),
        of: studio.signal)
      #expect(
        abs(found.resonanceHertz / resonance - 1) < 0.003
          && abs(found.qualityFactor / quality - 1) < 0.02)
    }
  }

  /// Hum that the silences do not show is rejected, and named as the cause.
  @Test(arguments: [(Drift.wave, 50.0, -12.0), (.wave, 60, 0), (.walk, 50, 0)])
  func humThatCannotBeFollowedIsNamed(
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
