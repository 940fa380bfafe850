import HapticFormats
package import HapticModel
package import HapticRender
package import PatternComparison
import ShippedFiles
import SignalAnalysis

/// Returns a transient.
package func tap(_ time: Double, intensity: Float = 0.8, sharpness: Float = 0.5) -> HapticEvent {
  HapticEvent(
    kind: .hapticTransient, time: time,
    parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
}

/// Returns a continuous haptic event.
package func hum(
  _ time: Double, _ duration: Double, intensity: Float = 0.8, sharpness: Float = 0.3,
  _ otherParameters: [EventParameterID: Float] = [:]
) -> HapticEvent {
  var parameters = EventParameters(otherParameters)
  parameters[.hapticIntensity] = intensity
  parameters[.hapticSharpness] = sharpness
  return HapticEvent(
    kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
}

/// Five different taps at intervals of a quarter of a second.
package let fiveTapPattern = HapticPattern(events: [
  tap(0, intensity: 1, sharpness: 0.2), tap(0.25, intensity: 0.6, sharpness: 0.5),
  tap(0.5, intensity: 0.8, sharpness: 0.4), tap(0.75, intensity: 0.5, sharpness: 0.7),
  tap(1, intensity: 0.9, sharpness: 0.3),
])

/// Two taps, and a continuous event with attack and release under an intensity curve.
package let swellingPattern = HapticPattern(
  events: [
    tap(0), hum(0.2, 0.8, [.attackTime: 0.25, .releaseTime: 0.2]), tap(1.3, intensity: 0.6),
  ],
  curves: [
    ParameterCurve(
      id: .hapticIntensityControl, time: 0.2,
      controlPoints: [
        .init(time: 0, value: 0.4), .init(time: 0.4, value: 0.9), .init(time: 0.8, value: 0.5),
      ])
  ])

/// An error for a pattern that is not shipped.
struct UnknownPattern: Error {
  let name: String
}

/// Returns a shipped pattern.
package func shipped(_ name: String) throws -> HapticPattern {
  guard let text = ShippedPatterns.text(named: name) else { throw UnknownPattern(name: name) }
  return try AHAPDocument(text: text, name: name).read().pattern
}

/// Returns a pattern as the program renders it, with 20 ms of trailing silence.
package func take(
  _ pattern: HapticPattern, profile: TransducerProfile = .phone, rate: Double = 48_000
)
  throws -> Take
{
  try take(layers: [pattern], profile: profile, rate: rate)
}

/// Returns a composition as the program renders it, with 20 ms of trailing silence.
package func take(
  layers: [HapticPattern], profile: TransducerProfile = .phone, rate: Double = 48_000
)
  throws -> Take
{
  try take(
    HapticComposition(layers: layers.map { HapticComposition.Layer($0) }), profile: profile,
    rate: rate)
}

package func take(
  _ composition: HapticComposition, profile: TransducerProfile = .phone, rate: Double = 48_000
) throws -> Take {
  let plan = try RenderPlan(compiling: composition, profile: profile, rate: rate)
  let length = plan.frameCount + FrameConversion.frame(seconds: 0.02, rate: rate)
  var rendering = OfflineRenderer(
    plan: plan,
    settings: RenderSettings(
      routing: OutputRouting(channelCount: 1).assigningTransducers(of: [profile]),
      outputFrameCount: length))
  let samples = rendering.samples()
  return Take(
    name: "pattern", source: .pattern(composition), signal: Signal(samples, rate: rate),
    profile: profile)
}

/// Returns samples as if they had been read from a file.
package func sound(_ channels: [[Float]], rate: Double = 48_000) -> Take {
  Take(
    name: "sound.wav", source: .sound, signal: Signal(channels: channels, rate: rate),
    profile: .phone)
}

extension HapticPattern {
  /// Returns a changed copy of the pattern.
  package func with(_ change: (inout HapticPattern) -> Void) -> HapticPattern {
    var copy = self
    change(&copy)
    return copy
  }
}

extension Take {
  /// Returns the changed samples of a rendering as a sound file.
  package func recorded(_ change: (inout [Float]) -> Void = { _ in }) -> Take {
    var samples = signal.mono
    change(&samples)
    return sound([samples], rate: signal.rate)
  }
}

/// A linear congruential generator with Knuth's constants for MMIX.
///
/// The tests of comparisons use it instead of `SplitMixGenerator`, because their limits on the
/// number of wrong results were determined with its sequences.
package struct LinearCongruentialGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64 = 1) { state = seed }

  package mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
