import HapticPlayback
import HapticRender
import PatternComparison
import PatternWorkflows
import SignalAnalysis
import SoundFile
import SystemSupport

/// Takes that are compiled for an engine, and what they sound like for measuring.
struct PreparedTakes: Sendable {
  let pieces: [CompiledPattern]
  let signals: [Signal]

  /// Nothing, before a device is known.
  static let none = PreparedTakes(pieces: [], signals: [])

  /// Seconds of the longest.
  var duration: Double { pieces.map(\.duration).max() ?? 0 }

  var areEqual: Bool { signals.count > 1 && signals.allSatisfy { $0.channels == signals[0].channels } }

  /// The factors by which a match makes all as strong as the weakest.
  ///
  /// - Returns: The factors, and what they are really by: felt energy, where a take is too quiet for a
  ///   loudness.
  func levels(by match: LevelMatch) -> MatchedLevels {
    let gains = match.gains(for: signals)
    guard match == .loudness, gains.contains(where: { $0 != 1 }) else {
      return MatchedLevels(match: match, gains: gains)
    }
    // Two measures never agree to the last bit unless one stands in for the other.
    let rendersAcceleration = LevelMatch.weighted.gains(for: signals) == gains
    return MatchedLevels(match: rendersAcceleration ? .weighted : .loudness, gains: gains)
  }
}

extension AuditionTakes {
  func prepared(for engine: PlaybackEngine) throws -> PreparedTakes {
    let channels = RecordingChannels(engine.routing)
    let sounds = try all.map { take in try take.sound(at: engine.rate) }
    let pieces = try zip(all, sounds).map { take, sound in try take.piece(for: engine, sound: sound, on: channels) }
    let count = min(channels.count, sounds.compactMap { $0?.channelCount }.max() ?? 1)
    let signals = zip(pieces, sounds).map { piece, sound in
      sound.map { channels.signal(of: $0, channelCount: count) } ?? piece.signal(channelCount: count)
    }
    return PreparedTakes(pieces: pieces, signals: signals)
  }
}

extension AuditionTake {
  /// A recording at an engine's rate; nothing for a pattern.
  fileprivate func sound(at rate: Double) throws -> Sound? {
    guard case .recording(let sound) = content else { return nil }
    return try sound.resampled(to: rate, path: name)
  }

  fileprivate func piece(for engine: PlaybackEngine, sound: Sound?, on channels: RecordingChannels) throws
    -> CompiledPattern
  {
    if let sound {
      return CompiledPattern(
        name: name, plans: try channels.plans(of: sound), duration: Double(sound.frameCount) / engine.rate)
    }
    guard case .pattern(let pattern) = content else { throw FileError(name, "cannot be played") }
    let plans = try pattern.plans(for: engine.profiles, rate: engine.rate)
    let length = plans.map(\.length).max() ?? 0
    return CompiledPattern(name: name, plans: plans, duration: Double(length) / engine.rate)
  }
}

extension CompiledPattern {
  fileprivate func signal(channelCount: Int) -> Signal {
    guard let plan = plans.first else { return Signal(channels: [[]], rate: 48_000) }
    var rendering = OfflineRenderer(plan: plan)
    let samples = rendering.samples()
    return Signal(channels: Array(repeating: samples, count: channelCount), rate: plan.rate)
  }
}

/// Factors that make takes as strong as the weakest.
struct MatchedLevels: Equatable, Sendable {
  var match: LevelMatch
  /// One for each take, none above 1.
  var gains: [Double]
}
