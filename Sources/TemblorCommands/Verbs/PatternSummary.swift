import HapticFormats
import HapticModel
import HapticRender
import Reading
import PatternRules
import PatternWorkflows
import SystemSupport

/// What there is to say about one pattern under one profile.
struct PatternSummary {
  private let name: String
  private let pattern: LoadedPattern
  private let plan: RenderPlan
  private let profile: TransducerProfile
  private let statistics: RenderStatistics
  private let rootMeanSquare: Double
  private let frequencies: ClosedRange<Double>?
  private let playedFrequencies: ClosedRange<Double>?

  /// Reads, compiles and renders a pattern to measure it: takes a few milliseconds for each minute.
  init(_ input: PatternInput, job: RenderJob) throws {
    (plan, pattern) = try job.plan(input)
    name = input.name
    profile = job.profile
    let settings = job.settings(for: plan)
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    var block = [Float](repeating: 0, count: 4_096)
    var sum = 0.0
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { break }
      for index in 0..<count { sum += Double(block[index]) * Double(block[index]) }
    }
    statistics = rendering.statistics
    rootMeanSquare = (sum / Double(max(1, settings.length ?? 1))).squareRoot()
    frequencies = profile.frequencies(of: pattern.composition)
    playedFrequencies = profile.bandMapped(rate: plan.rate).frequencies(of: pattern.composition)
  }

  /// The name of one, the key for programs, and how many there are.
  private var counts: [(noun: String, key: String, count: Int)] {
    let patterns = pattern.composition.layers.map(\.pattern)
    func count(_ kind: HapticEvent.Kind) -> Int { patterns.reduce(0) { $0 + $1.events.count { $0.kind == kind } } }
    let keys = ["transients", "continuous", "audioContinuous", "audioCustom"]
    return zip(HapticEvent.Kind.allCases, keys).map { ($0.noun, $1, count($0)) } + [
      ("parameter", "parameters", patterns.reduce(0) { $0 + $1.parameters.count }),
      ("curve", "curves", patterns.reduce(0) { $0 + $1.curves.count }),
      ("control point", "controlPoints", patterns.flatMap(\.curves).reduce(0) { $0 + $1.controlPoints.count }),
      ("sampled signal", "signals", pattern.composition.layers.reduce(0) { $0 + $1.signals.count }),
    ]
  }

  var text: String {
    let counted = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.noun)\($0.count == 1 ? "" : "s")" }.joined(
      separator: ", ")
    let voices = plan.maximumVoiceCount
    let level = NumberFormatting.decibels(Float(rootMeanSquare))
    let levels = LevelText(statistics, rate: plan.rate)
    var lines = [
      name.printable,
      "  length     \(NumberFormatting.seconds(pattern.composition.duration)), "
        + "sound ends at \(NumberFormatting.seconds(Double(plan.soundEnd) / plan.rate))",
      "  contents   \(counted.isEmpty ? "no events" : counted)", "  profile    \(profile.name): \(band)",
      "  level      \(levels.peak), RMS \(NumberFormatting.rounded(level, places: 1)) dBFS, "
        + (levels.limiting ?? "never limited"), "  polyphony  \(voices) voice\(voices == 1 ? "" : "s") at most",
    ]
    if let feeling = pattern.composition.notes { lines.insert("  about      \(feeling.printable)", at: 1) }
    if usesAbsoluteCurveTimes { lines.append("  curves     absolute times, converted to relative") }
    return lines.joined(separator: "\n") + "\n"
  }

  private var usesAbsoluteCurveTimes: Bool { pattern.details.contains { $0 == ("curveTimes", "absolute") } }

  private var band: String {
    guard let frequencies else { return "no haptic events" }
    func text(_ range: ClosedRange<Double>) -> String {
      "\(NumberFormatting.rounded(range.lowerBound, places: 1)) to "
        + "\(NumberFormatting.rounded(range.upperBound, places: 1)) Hz"
    }
    let asked = text(frequencies)
    guard let played = playedFrequencies.map(text), played != asked else { return "events at \(asked)" }
    return "events at \(asked), played at \(played)"
  }

  var fields: JSONFields {
    let played = playedFrequencies == frequencies ? nil : playedFrequencies
    return [
      "pattern": name, "duration": pattern.composition.duration, "soundSeconds": Double(plan.soundEnd) / plan.rate,
      "counts": counts.reduce([:] as JSONFields) { $0 + [$1.key: $1.count] }, "profile": profile.name,
      "lowestHertz": frequencies?.lowerBound, "highestHertz": frequencies?.upperBound,
      "lowestPlayedHertz": played?.lowerBound, "highestPlayedHertz": played?.upperBound,
      "peakDecibels": NumberFormatting.decibels(statistics.peak),
      "rmsDecibels": NumberFormatting.decibels(Float(rootMeanSquare)),
      "limitedFrames": Int(statistics.limitedFrameCount), "peakVoices": plan.maximumVoiceCount,
      "usesAbsoluteCurveTimes": usesAbsoluteCurveTimes, "description": pattern.composition.notes,
    ]
  }
}
