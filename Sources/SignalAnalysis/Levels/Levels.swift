internal import CMath

/// How strong a signal is as a whole.
public struct Levels: Equatable, Sendable {
  /// The greatest magnitude of a sample; 1 is full scale.
  public var samplePeak: Double
  /// The greatest magnitude between samples as well, after ITU-R BS.1770.
  public var truePeak: Double
  /// The root of the mean square of all samples.
  public var rms: Double
  /// The mean of all samples.
  public var dc: Double
  /// Integrated loudness after ITU-R BS.1770 and EBU R 128 in LUFS; nil below −70 LUFS.
  ///
  /// A sound shorter than 0.4 s is measured as if silence followed up to 0.4 s. K-weighting takes
  /// away what lies below 40 Hz, so that haptic sounds read lower than they feel.
  public var integratedLoudness: Double?
  /// Samples that were infinite, undefined or beyond 240 dB; all else takes them for silence.
  public var nonFiniteCount: Int

  /// Makes levels.
  public init(
    samplePeak: Double, truePeak: Double, rms: Double, dc: Double, integratedLoudness: Double?, nonFiniteCount: Int
  ) {
    self.samplePeak = samplePeak
    self.truePeak = truePeak
    self.rms = rms
    self.dc = dc
    self.integratedLoudness = integratedLoudness
    self.nonFiniteCount = nonFiniteCount
  }

  /// The levels of channels of one length as a whole: greatest peaks, mean square and mean of all.
  public init(joining channels: [Levels], integratedLoudness: Double?) {
    let share = 1 / Double(max(1, channels.count))
    self.init(
      samplePeak: channels.map(\.samplePeak).max() ?? 0, truePeak: channels.map(\.truePeak).max() ?? 0,
      rms: (channels.reduce(0) { $0 + $1.rms * $1.rms } * share).squareRoot(),
      dc: channels.reduce(0) { $0 + $1.dc } * share, integratedLoudness: integratedLoudness,
      nonFiniteCount: channels.reduce(0) { $0 + $1.nonFiniteCount })
  }

  /// Measures all channels of a signal together: greatest peaks, mean square, mean and loudness.
  ///
  /// - Throws: An `AnalysisError` for a rate that is not an integer from 16 to 2,822,400, and for no
  ///   channels or more than 64.
  public init(of signal: Signal) throws(AnalysisError) {
    let channels = signal.channels
    var measurement = try LevelMeasurement(channelCount: channels.count, rate: signal.rate)
    let blockLength = 4_096
    var block = [Float](repeating: 0, count: blockLength * channels.count)
    for start in stride(from: 0, to: signal.frameCount, by: blockLength) {
      let count = min(blockLength, signal.frameCount - start)
      for (channel, samples) in channels.enumerated() {
        for frame in 0..<count { block[frame * channels.count + channel] = samples[start + frame] }
      }
      measurement.add(block.span.extracting(first: count * channels.count))
    }
    self = measurement.finish().whole
  }

  /// The peak as a multiple of the RMS value; nil for silence.
  public var crest: Double? { rms > 0 ? samplePeak / rms : nil }

  /// The sample peak in dB re full scale.
  public var samplePeakDecibels: Double { Decibels.of(amplitude: samplePeak) }
  /// The true peak in dB re full scale, known as dBTP.
  public var truePeakDecibels: Double { Decibels.of(amplitude: truePeak) }
  /// The RMS value in dB re full scale; a full-scale sine has −3.01.
  public var rmsDecibels: Double { Decibels.of(amplitude: rms) }
  /// The magnitude of the mean in dB re full scale.
  public var dcDecibels: Double { Decibels.of(amplitude: abs(dc)) }
  /// The crest factor in dB; nil for silence.
  public var crestDecibels: Double? { crest.map { Decibels.of(amplitude: $0) } }
}

/// Levels of amplitudes and powers.
public enum Decibels {
  /// What silence is given instead of negative infinity.
  public static let silence = -200.0

  /// The factor on amplitudes that decibels stand for: 10^(decibels / 20).
  public static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }

  /// 20 · log10 of an amplitude, at least −200.
  public static func of(amplitude: Double) -> Double { amplitude > 1e-10 ? 20 * log10(amplitude) : silence }

  /// 10 · log10 of a power, at least −200.
  public static func of(power: Double) -> Double { power > 1e-20 ? 10 * log10(power) : silence }
}
