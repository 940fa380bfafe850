internal import CMath
public import SignalAnalysis

/// By what takes are made equally strong before they are judged by ear.
public enum LevelMatch: String, CaseIterable, Sendable {
  /// Not at all.
  case none
  /// By loudness in LUFS: what is heard.
  case loudness
  /// By weighted energy: what is felt. Users call it `felt`.
  case weighted = "felt"

  /// A factor for each signal, after which all are as strong as the weakest.
  ///
  /// No factor is above 1, so nothing is raised past a ceiling that it kept. A silent signal keeps 1 and
  /// does not count as the weakest. Where a signal that is not silent has no loudness, which needs more
  /// than −70 LUFS, all are matched by weighted energy instead, since levels must be of one kind.
  public func gains(for signals: [Signal]) -> [Double] {
    let levels: [Double?]
    switch self {
    case .none: return signals.map { _ in 1 }
    case .loudness:
      let loudness = signals.map(Self.loudness)
      let isComplete = zip(signals, loudness).allSatisfy { $1 != nil || Self.isSilent($0) }
      levels = isComplete ? loudness : signals.map(Self.weightedLevel)
    case .weighted: levels = signals.map(Self.weightedLevel)
    }
    guard let weakest = levels.compactMap(\.self).min() else { return signals.map { _ in 1 } }
    return levels.map { level in level.map { min(1, Decibels.factor(weakest - $0)) } ?? 1 }
  }

  /// A factor for each take, as for its signal.
  public func gains(for takes: [Take]) -> [Double] { gains(for: takes.map(\.signal)) }

  /// Loudness in LUFS, or nil where the signal is too quiet for one.
  static func loudness(of signal: Signal) -> Double? { (try? Levels(of: signal))?.integratedLoudness }

  /// The level a hand feels over all channels, in decibels; nil for silence.
  ///
  /// The energy of the whole, not its mean, so that silence behind a sound makes it no weaker.
  static func weightedLevel(of signal: Signal) -> Double? {
    let energy = WeightedEnergy(of: signal).energy
    return energy > 1e-20 ? 10 * log10(energy) : nil
  }

  /// Whether no sample differs from 0.
  static func isSilent(_ signal: Signal) -> Bool {
    signal.channels.allSatisfy { channel in channel.allSatisfy { $0 == 0 || !$0.isFinite } }
  }
}
