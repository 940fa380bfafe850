import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import SignalPlots

@testable import ReviewPages

/// The takes and pages of tests.
enum PageFixtures {
  /// Returns a pattern of a transient, a continuous event and a second transient.
  static func pattern(secondTap: Double = 0.4, intensity: Float = 0.8) -> HapticPattern {
    HapticPattern(events: [
      HapticEvent(
        kind: .hapticTransient, time: 0, parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5]),
      HapticEvent(
        kind: .hapticContinuous, time: 0.1, duration: 0.2,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: 0.25]),
      HapticEvent(
        kind: .hapticTransient, time: secondTap,
        parameters: [.hapticIntensity: 0.6, .hapticSharpness: 0.75]),
    ])
  }

  /// Returns a pattern of 220 transients in two seconds.
  static func ticks() -> HapticPattern {
    HapticPattern(
      events: (0..<220).map { HapticEvent(kind: .hapticTransient, time: 0.01 * Double($0)) })
  }

  /// Returns a take of a pattern, like the program's.
  static func take(
    _ name: String, _ pattern: HapticPattern = pattern(), profile: TransducerProfile = .phone,
    text: String? = "{\n  \"Version\": 1\n}\n", feeling: String? = "Three knocks.",
    rate: Double = 48_000
  ) throws -> Take {
    Take(
      name: name, source: .pattern(HapticComposition(pattern)),
      signal: try signal(HapticComposition(pattern), profile: profile, rate: rate),
      profile: profile, text: text,
      feeling: feeling)
  }

  /// Returns a take with a continuous event at the left and a later transient at the right.
  static func locatedTake(_ name: String, intensity: Float = 1) throws -> Take {
    let events = [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 0.3,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: 0.25]),
      HapticEvent(kind: .hapticTransient, time: 0.4),
    ]
    let layers = zip(events, ["left", "right"]).enumerated().map { index, layer in
      HapticComposition.Layer(
        HapticPattern(events: [layer.0]), bodyLocation: .init(index + 1, of: 2, name: layer.1))
    }
    let channels = try layers.map { layer in
      try signal(HapticComposition(layers: [layer]), profile: .phone).channels[0]
    }
    return Take(
      name: name, source: .pattern(HapticComposition(layers: layers)),
      signal: Signal(channels: channels, rate: 48_000), profile: .phone)
  }

  static func signal(
    _ composition: HapticComposition, profile: TransducerProfile, rate: Double = 48_000
  ) throws
    -> Signal
  {
    let plan = try RenderPlan(compiling: composition, profile: profile, rate: rate)
    var renderer = OfflineRenderer(plan: plan)
    return Signal(channels: [renderer.samples()], rate: rate)
  }

  /// Returns the report of takes, with additional sounds for small speakers.
  static func report(_ takes: [Take], hasSpeakers: Bool = true) throws -> [UInt8] {
    let sounds = try takes.map { take in
      PageSounds(
        actuatorSignal: try signal(take, profile: .phone),
        speakerSignal: hasSpeakers ? try signal(take, profile: speakerProfile) : nil)
    }
    return try ComparisonReport(
      generator: "Temblor test", command: "temblor compare one two -o report.html"
    ).html(
      takes: takes, sounds: sounds)
  }

  /// The profile of the sounds for small speakers.
  private static var speakerProfile: TransducerProfile {
    var speaker = TransducerProfile.phone
    speaker.frequency = FrequencyMapping(lowHertz: 110, highHertz: 320)
    return speaker
  }

  /// Returns the sounds of a take: patterns have a rate of 8 kHz.
  static func signal(_ take: Take, profile: TransducerProfile) throws -> Signal {
    guard let composition = take.composition else { return take.signal }
    return try signal(composition, profile: profile, rate: 8_000)
  }

  /// Two takes that differ in the onset of a transient and the intensity of a continuous event.
  static func twoTakes() throws -> [Take] {
    [try take("soft"), try take("firm", pattern(secondTap: 0.42, intensity: 1))]
  }

  /// The report of `twoTakes`.
  static func twoTakeReport() throws -> [UInt8] { try cachedTwoTakeReport.get() }

  private static let cachedTwoTakeReport = Result { try report(twoTakes()) }

  /// A gallery of three patterns with different durations.
  static func gallery() throws -> [UInt8] {
    let takes = [
      try take("one", feeling: "A calm knock."),
      try take("two", pattern(secondTap: 0.8), feeling: "A twin."),
      try take("three", HapticPattern(events: [pattern().events[0]]), feeling: "A tick."),
    ]
    return try PatternGallery(title: "Three", generator: "Temblor test").html(
      takes,
      sounds: takes.map { take in
        PageSounds(
          actuatorSignal: try signal(take, profile: .phone),
          speakerSignal: try signal(take, profile: speakerProfile))
      })
  }

  /// Returns a recording of `pattern()`, delayed by half a second, with soft noise.
  static func recording(_ name: String) throws -> Take {
    let patternSignal = try signal(HapticComposition(pattern()), profile: .phone)
    var seed: UInt32 = 1
    let silence = [Float](repeating: 0, count: 24_000)
    let samples = (silence + patternSignal.channels[0] + silence).map { sample in
      seed = seed &* 1_664_525 &+ 1_013_904_223
      return sample / 2 + (Float(seed >> 8) / Float(1 << 24) - 0.5) * 0.0005
    }
    return Take(
      name: name, source: .sound, signal: Signal(channels: [samples], rate: 48_000), profile: .phone
    )
  }
}
