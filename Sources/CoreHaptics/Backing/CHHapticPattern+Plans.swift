internal import Foundation
internal import HapticModel
internal import HapticPlayback
internal import HapticRender

extension CHHapticPattern {
  /// The sound files of the pattern at a rate.
  func samples(at rate: Double, resources: [Int: AudioResource]) throws -> [String: AudioBuffer] {
    try AudioResourceLoader.samples(of: content, resources: resources, rate: rate)
  }

  /// The pattern compiled for each haptic bus of an engine.
  ///
  /// Compiled once for each kind of engine; anew each time where it plays registered audio, since a
  /// registration belongs to one engine and may change.
  func plans(for engine: PlaybackEngine, resources: [Int: AudioResource]) throws -> [RenderPlan] {
    var pattern = content.pattern
    var playsRegisteredAudio = false
    for index in pattern.events.indices {
      guard let path = pattern.events[index].waveform?.path,
        let number = AudioResourcePath.id(of: path)
      else { continue }
      playsRegisteredAudio = true
      guard let resource = resources[number] else { continue }
      pattern.events[index].waveform?.usesVolumeEnvelope = resource.usesVolumeEnvelope
      pattern.events[index].waveform?.isLooping = resource.isLooping
    }
    let compile = {
      let samples = try self.samples(at: engine.rate, resources: resources)
      return try engine.profiles.map { profile in
        do throws(RenderError) {
          return try RenderPlan(
            compiling: pattern, profile: profile, rate: engine.rate, samples: samples)
        } catch {
          throw CHHapticError(.invalidPatternData, error.description)
        }
      }
    }
    return playsRegisteredAudio
      ? try compile() : try planCache.plans(for: engine, compile: compile)
  }
}

/// The plans of a pattern for the last kind of engine it was played by.
final class PlanCache: @unchecked Sendable {
  private let lock = NSLock()
  private var rate = 0.0
  private var profiles: [TransducerProfile] = []
  private var plans: [RenderPlan] = []

  /// The plans for an engine, compiled where they are not there.
  func plans(for engine: PlaybackEngine, compile: () throws -> [RenderPlan]) throws -> [RenderPlan]
  {
    lock.lock()
    defer { lock.unlock() }
    if !plans.isEmpty, rate == engine.rate, profiles == engine.profiles { return plans }
    plans = try compile()
    rate = engine.rate
    profiles = engine.profiles
    return plans
  }
}
