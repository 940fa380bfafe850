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
  /// Compiled once for each kind of engine; each time where it plays registered audio, since a
  /// registration belongs to one engine and may change.
  func plans(for engine: PlaybackEngine, resources: [Int: AudioResource]) throws -> [RenderPlan] {
    var composition = content.composition
    var playsRegisteredAudio = false
    for layer in composition.layers.indices {
      for index in composition.layers[layer].pattern.events.indices {
        guard var waveform = composition.layers[layer].pattern.events[index].waveform,
          let number = AudioResourcePath.id(of: waveform.path)
        else { continue }
        playsRegisteredAudio = true
        guard let resource = resources[number] else { continue }
        waveform.usesVolumeEnvelope = resource.usesVolumeEnvelope
        waveform.isLooping = resource.isLooping
        composition.layers[layer].pattern.events[index].waveform = waveform
      }
    }
    let compile = { [composition] in
      let samples = try self.samples(at: engine.rate, resources: resources)
      return try engine.profiles.map { profile in
        do throws(RenderError) {
          return try RenderPlan(
            compiling: composition, profile: profile, rate: engine.rate, samples: samples)
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
