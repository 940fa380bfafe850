internal import Glibc
public import SignalAnalysis

/// By what takes are made equally strong before they are judged by ear.
public enum LevelMatch: String, CaseIterable, Sendable {
  /// Not at all.
  case none
  /// By loudness in LUFS: what is heard.
  case loudness
  /// By energy as a body feels it.
  case felt

  /// A factor for each signal, after which all are as strong as the weakest.
  ///
  /// No factor is above 1, so nothing is raised past a ceiling that it kept. A silent signal keeps 1 and
  /// does not count as the weakest. Loudness needs 0.4 s of sound above −70 LUFS; where a signal that is
  /// not silent has none, all are matched by felt energy instead, since levels must be of one kind.
  public func gains(for signals: [Signal]) -> [Double] {
    let levels: [Double?]
    switch self {
    case .none: return signals.map { _ in 1 }
    case .loudness:
      let loudness = signals.map(Self.loudness)
      let isComplete = zip(signals, loudness).allSatisfy { $1 != nil || Self.isSilent($0) }
      levels = isComplete ? loudness : signals.map(Self.feltLevel)
    case .felt: levels = signals.map(Self.feltLevel)
    }
    guard let weakest = levels.compactMap(\.self).min() else { return signals.map { _ in 1 } }
    return levels.map { level in
      level.map { min(1, pow(10, (weakest - $0) / 20)) } ?? 1
    }
  }

  /// A factor for each take, as for its signal.
  public func gains(for takes: [Take]) -> [Double] { gains(for: takes.map(\.signal)) }

  /// Loudness in LUFS, or nothing where the signal is too short or too quiet for one.
  static func loudness(of signal: Signal) -> Double? { nil }

  /// Felt energy in decibels, or nothing for silence.
  static func feltLevel(of signal: Signal) -> Double? {
    var energy = 0.0
    for channel in signal.channels {
      for sample in channel where sample.isFinite { energy += Double(sample) * Double(sample) }
    }
    guard energy > 0 else { return nil }
    return 10 * log10(energy)
  }

  /// Whether no sample differs from 0.
  static func isSilent(_ signal: Signal) -> Bool {
    signal.channels.allSatisfy { channel in channel.allSatisfy { $0 == 0 || !$0.isFinite } }
  }
}
