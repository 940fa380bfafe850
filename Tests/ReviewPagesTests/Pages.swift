import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import SignalPlots

@testable import ReviewPages

/// Takes and pages that tests share.
enum Pages {
  /// A tap, a hum and a second tap.
  static func pattern(secondTap: Double = 0.4, intensity: Float = 0.8) -> HapticPattern {
    HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticTransient, time: 0,
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5]),
        HapticEvent(
          kind: .hapticContinuous, time: 0.1, duration: 0.2,
          parameters: [.hapticIntensity: intensity, .hapticSharpness: 0.25]),
        HapticEvent(
          kind: .hapticTransient, time: secondTap,
          parameters: [.hapticIntensity: 0.6, .hapticSharpness: 0.75]),
      ])
  }

  /// A pattern as `temblor` takes it up.
  static func take(
    _ name: String, _ pattern: HapticPattern = pattern(), profile: TransducerProfile = .phone,
    text: String? = "{\n  \"Version\": 1\n}\n", feeling: String? = "Three knocks."
  ) throws -> Take {
    Take(
      name: name, source: .pattern(HapticComposition(pattern)),
      signal: try signal(HapticComposition(pattern), profile: profile),
      profile: profile, text: text, feeling: feeling)
  }

  static func signal(_ composition: HapticComposition, profile: TransducerProfile) throws -> Signal
  {
    let plan = try RenderPlan(compiling: composition, profile: profile, rate: 48_000)
    var rendering = OfflineRenderer(plan: plan)
    return Signal(channels: [rendering.samples()], rate: 48_000)
  }

  /// The report of some takes, with a second set of sounds for small speakers.
  static func report(_ takes: [Take], hasSpeakers: Bool = true) throws -> [UInt8] {
    let comparisons = takes.dropFirst().map { Comparison(takes[0], $0) }
    var speaker = TransducerProfile.phone
    speaker.frequency = FrequencyMapping(low: 110, high: 320)
    let signals = try takes.compactMap { take in
      try take.composition.map { try signal($0, profile: speaker) }
    }
    return try ComparisonReport(
      generator: "Temblor test", speakerSignals: hasSpeakers ? signals : []
    ).html(takes: takes, comparisons: Array(comparisons))
  }

  /// Two takes that differ in the time of a tap and the strength of a hum.
  static func twoTakes() throws -> [Take] {
    [try take("soft"), try take("firm", pattern(secondTap: 0.42, intensity: 1))]
  }

  /// The report of `twoTakes`.
  static func twoTakeReport() throws -> [UInt8] { try madeReport.get() }

  private static let madeReport = Result { try report(twoTakes()) }

  /// A gallery of three patterns of growing, and then shrinking, length.
  static func gallery() throws -> [UInt8] {
    let takes = [
      try take("one", feeling: "A calm knock."),
      try take("two", pattern(secondTap: 0.8), feeling: "A twin."),
      try take("three", HapticPattern(events: [pattern().events[0]]), feeling: "A tick."),
    ]
    return try PatternGallery(
      title: "Three", generator: "Temblor test", speakerSignals: takes.map(\.signal)
    ).html(takes)
  }

  /// The events of a pattern as pages tell them.
  static func events(of take: Take) throws -> [ScoreEvent] {
    let score = try take.composition.map { try PatternScore(of: $0, profile: take.profile) }
    return (score?.events ?? []).map { ScoreEvent($0, profile: take.profile) }
  }
}
