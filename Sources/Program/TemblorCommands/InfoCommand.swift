import CommandLineKit
import HapticFormats
import HapticModel
import HapticRender
import PatternRules
import PatternWorkflows
import SignalAnalysis
import SoundFile
import SystemSupport
import VendorFormats

/// The command `info`, which shows the contents and levels of patterns and sound files.
enum InfoCommand {
  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "info", abstract: "Show the contents and levels of patterns and sound files.",
      discussion: """
        Temblor measures the levels of a pattern in the first ten minutes.

        By default, Temblor measures a sound file without changes. With --input-channels, Temblor \
        treats these channels of a sound file as a pattern, and renders the pattern with the \
        profile given by --profile.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [patternArgument(formats)],
      options: [
        SharedOptions.profile, SharedOptions.rate, SharedOptions.curveTimes, SharedOptions.pitch,
        weighting, SharedOptions.inputChannels,
        SharedOptions.json, SharedOptions.csv, tracks,
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor info earthquake-splash --profile speaker", "Measure a shipped pattern."),
        .init("temblor info take.wav", "Measure a recording."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static func patternArgument(_ formats: FormatRegistry) -> TypedArgument<[String]> {
    Argument(
      "PATTERN",
      help: """
        Sound file, pattern file, folder of patterns, name of a shipped pattern, or - for standard \
        input.
        """, completion: .patternsAndSounds(formats), isRepeatable: true
    ).texts()
  }

  private static let weighting = Option(
    "--weighting", value: "NAME",
    help: """
      Vibrotactile weighting of sound files, for a hand that holds a device, a hand and arm on a \
      handle, or a whole body on a seat.
      """, defaultText: VibrotactileWeighting.hand.name,
    choices: VibrotactileWeighting.all.map(\.name)
  ).text().map { $0.flatMap(VibrotactileWeighting.named) ?? .hand }
  private static let tracks = Option(
    "--tracks",
    help: """
      With --json, add the intensity and sharpness breakpoints of each haptic event, without the \
      envelope of the event.
      """
  ).flag()

  struct Options {
    let inputs: [String]
    let soundLookup: PatternInput.SoundLookup
    /// The channels of sound files that are played as patterns, from 0, or nil to measure sound
    /// files.
    let inputChannels: [Int]?
    let job: RenderJob
    let weighting: VibrotactileWeighting
    let format: ResultFormat
    let hasTracks: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      try SharedOptions.refuseBoth("--json", "--csv", in: arguments)
      format = try ResultFormat(arguments)
      hasTracks = try arguments[tracks]
      if hasTracks, format != .json {
        throw UsageError("'--tracks' requires '--json'")
      }
      var job = try SharedOptions.renderJob(arguments)
      job.rate = try arguments[SharedOptions.rate]
      self.job = job
      weighting = try arguments[InfoCommand.weighting]
      inputs = arguments[patternArgument(formats)]
      soundLookup = try SharedOptions.soundLookup(arguments)
      inputChannels = try SharedOptions.inputChannels(arguments)
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = TakeInput.find(
      options.inputs, formats: formats, soundLookup: options.soundLookup)
    var work = BatchWork(on: terminal, problems: problems)
    var fields: [JSONObject] = []
    for input in inputs.map({ $0.playingChannels(options.inputChannels) }) {
      try work.attempt { work in
        let summary = try summary(of: input, options, terminal)
        if options.format == .text {
          try terminal.output.write(summary.text)
        } else {
          fields.append(summary.fields)
        }
        for problem in summary.problems {
          work.recordFailure(problem, .invalidInput)
        }
      }
    }
    switch options.format {
    case .text: break
    case .json: try terminal.output.write(json: ["takes": fields])
    case .csv: try terminal.output.write(csv: fields)
    }
    return work.status
  }

  /// Measures a pattern or a sound file, and returns its summary.
  private static func summary(of input: TakeInput, _ options: Options, _ terminal: Terminal) throws
    -> (text: String, fields: JSONObject, problems: [String])
  {
    switch input {
    case .pattern(let input):
      let summary = try PatternSummary(input, job: options.job)
      let tracks = options.hasTracks ? summary.trackFields : nil
      return (summary.text, summary.fields + tracks, [])
    case .sound(let path):
      var line = ProgressLine(on: terminal)
      defer { line.clear() }
      let summary = try SoundSummary(path, weighting: options.weighting) { fraction in
        line.show("\(input.name.printable): \(Int(fraction * 100)) %")
      }
      return (summary.text, summary.fields, summary.problems)
    }
  }
}

/// A summary of the contents and levels of a pattern.
struct PatternSummary {
  private let name: String
  fileprivate let pattern: LoadedPattern
  private let plan: RenderPlan
  private let profile: TransducerProfile
  private let statistics: RenderStatistics
  private let rootMeanSquare: Double
  private let requestedHertz: ClosedRange<Double>?
  private let playedHertz: ClosedRange<Double>?

  /// The number of frames that were rendered and measured.
  private let measuredFrameCount: Int64
  /// The maximum duration whose level is measured, in seconds. It bounds the work for a short file
  /// with a long event.
  private static let maximumMeasuredSeconds = 600.0

  /// Creates a summary by reading, compiling, and rendering a pattern, up to its first ten minutes.
  /// This takes a few milliseconds per minute of the pattern.
  init(_ input: PatternInput, job: RenderJob) throws {
    (plan, pattern) = try job.plan(input)
    name = input.name
    profile = job.profile
    let settings = job.settings(for: plan)
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    var block = [Float](repeating: 0, count: 4_096)
    var sum = 0.0
    let maximumCount = FrameConversion.frame(
      seconds: Self.maximumMeasuredSeconds, rate: plan.rate)
    var frameCount: Int64 = 0
    while frameCount < maximumCount {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { break }
      frameCount += Int64(count)
      for index in 0..<count {
        sum += Double(block[index]) * Double(block[index])
      }
    }
    statistics = rendering.statistics
    measuredFrameCount = frameCount
    rootMeanSquare = (sum / Double(max(1, frameCount))).squareRoot()
    requestedHertz = profile.frequencyRange(of: pattern.composition)
    playedHertz = profile.playedFrequencyRange(of: pattern.composition, rate: plan.rate)
  }

  private typealias ItemCount = (noun: String, key: String, count: Int)

  /// The number of items of each kind, with their singular noun and their JSON key.
  private var counts: [ItemCount] {
    let patterns = pattern.composition.layers.map(\.pattern)
    func count(_ kind: HapticEvent.Kind) -> Int {
      patterns.reduce(0) { $0 + $1.events.count { $0.kind == kind } }
    }
    let eventCounts: [ItemCount] = HapticEvent.Kind.allCases.map { kind in
      (kind.noun, kind.countKey, count(kind))
    }
    return eventCounts + [
      ("parameter", "parameters", patterns.reduce(0) { $0 + $1.parameters.count }),
      ("curve", "curves", patterns.reduce(0) { $0 + $1.curves.count }),
      (
        "control point", "controlPoints",
        patterns.flatMap(\.curves).reduce(0) { $0 + $1.controlPoints.count }
      ),
      ("sampled signal", "signals", pattern.composition.layers.reduce(0) { $0 + $1.signals.count }),
    ]
  }

  var text: String {
    let counted = counts.filter { $0.count > 0 }.map { $0.count.counted($0.noun) }.joined(
      separator: ", ")
    let voices = plan.maximumVoiceCount
    let level = NumberFormatting.decibels(Float(rootMeanSquare))
    let levels = LevelText(statistics, rate: plan.rate)
    let soundEndText =
      plan.soundEndFrame < plan.frameCount
      ? ", sound ends at \(NumberFormatting.secondsText(soundSeconds))" : ""
    let measuredText =
      isMeasuredCompletely
      ? "" : " in the first \(NumberFormatting.secondsText(measuredSeconds))"
    let limitingText = (levels.limiting ?? "never limited") + measuredText
    var lines = [
      name.printable,
      "  length     \(NumberFormatting.secondsText(plan.durationSeconds))\(soundEndText)",
      "  contents   \(counted.isEmpty ? "no events" : counted)",
      "  profile    \(profile.name): \(bandText)",
      "  level      \(levels.peak), RMS \(level.text(places: 1)) dBFS, \(limitingText)",
      "  polyphony  \(voices.counted("voice")) at most",
    ]
    if let feeling = pattern.composition.notes {
      lines.insert("  about      \(feeling.printable)", at: 1)
    }
    let bodyLocations = pattern.composition.bodyLocations.map(\.displayName)
    if !bodyLocations.isEmpty {
      lines.insert("  places     \(bodyLocations.joined(separator: ", ").printable)", at: 3)
    }
    if usesAbsoluteCurveTimes {
      lines.append("  curves     absolute times, converted to relative")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var measuredSeconds: Double {
    min(Double(measuredFrameCount) / plan.rate, Self.maximumMeasuredSeconds)
  }
  /// A Boolean value that indicates whether the measured levels are those of the whole pattern.
  private var isMeasuredCompletely: Bool { measuredFrameCount >= plan.frameCount }
  private var soundSeconds: Double { Double(plan.soundEndFrame) / plan.rate }
  private var usesAbsoluteCurveTimes: Bool {
    pattern.details.contains { $0 == ("curveTimes", "absolute") }
  }

  private var bandText: String {
    guard let requestedHertz else { return "no haptic events" }
    func text(_ range: ClosedRange<Double>) -> String {
      let ends = [range.lowerBound, range.upperBound].map { $0.text(places: 1) }
      return (ends[0] == ends[1] ? ends[0] : ends.joined(separator: " to ")) + " Hz"
    }
    let requested = text(requestedHertz)
    guard let played = playedHertz.map(text), played != requested else {
      return "events at \(requested)"
    }
    return "events at \(requested), played at \(played)"
  }

  var fields: JSONObject {
    let played = playedHertz == requestedHertz ? nil : playedHertz
    return [
      "pattern": name, "duration": plan.durationSeconds, "soundSeconds": soundSeconds,
      "counts": counts.reduce([:] as JSONObject) { $0 + [$1.key: $1.count] },
      "profile": profile.name,
      "lowestHertz": requestedHertz?.lowerBound, "highestHertz": requestedHertz?.upperBound,
      "lowestPlayedHertz": played?.lowerBound, "highestPlayedHertz": played?.upperBound,
      "peakDecibels": NumberFormatting.decibels(statistics.peakMagnitudeBeforeLimiter),
      "rmsDecibels": NumberFormatting.decibels(Float(rootMeanSquare)),
      "measuredSeconds": isMeasuredCompletely ? nil : measuredSeconds,
      "limitedFrames": Int(statistics.limitedFrameCount), "peakVoices": plan.maximumVoiceCount,
      "usesAbsoluteCurveTimes": usesAbsoluteCurveTimes, "description": pattern.composition.notes,
    ]
  }

  /// The JSON fields of each haptic event, with its kind, its end, and its breakpoints.
  ///
  /// A breakpoint consists of a time, an intensity, and a sharpness. Frequencies in hertz become
  /// sharpness on the scale of the profile.
  fileprivate var trackFields: JSONObject {
    let scale = profile.bandMapped(rate: plan.rate).frequency.sharpnessScale
    let events = pattern.composition.convertingStatedHertz(to: scale).layers.map(\.pattern).flatMap
    {
      pattern -> [JSONObject] in
      let felt = EffectiveParameters(pattern)
      return pattern.events.filter(\.kind.isHaptic).map { event in
        let corners = felt.points(of: event).flatMap { [$0.time, $0.intensity, $0.sharpness] }
        return [
          "kind": event.kind.rawValue, "end": event.time + (event.holdSeconds ?? 0),
          "corners": JSONElement.inlineArray(corners.map(\.json)),
        ]
      }
    }
    return ["tracks": events]
  }
}

/// A summary of the contents and levels of a sound file.
struct SoundSummary {
  /// The edges of the listed frequency bands, in hertz. The last band is unbounded.
  private static let bandEdgesHertz = [0.0, 20, 80, 250, 1_000]
  private static let maximumListedOnsetCount = 8

  private let name: String
  private let measurement: SoundMeasurement
  private let weighting: VibrotactileWeighting
  private let weightedEnergies: [WeightedEnergy]
  private let spectrum: Spectrum?

  init(_ path: String, weighting: VibrotactileWeighting, progress: (Double) -> Void = { _ in })
    throws
  {
    name = FileSystem.displayName(of: path)
    self.weighting = weighting
    measurement = try SoundMeasurement(path, progress: progress)
    weightedEnergies = measurement.spectra.map { WeightedEnergy(of: $0, weighting: weighting) }
    spectrum = Spectrum(averaging: measurement.spectra)
  }

  var problems: [String] {
    var complaints: [String] = []
    if let truncation = measurement.truncation {
      complaints.append(truncation.text)
    }
    let count = measurement.overall.invalidSampleCount
    let all = measurement.frameCount * measurement.channels.count
    if count > 0 {
      complaints.append(
        """
        \(count == all ? "all" : "\(count) of") \(all) samples are NaN or infinite; they are \
        treated as silence
        """
      )
    }
    return complaints.map { "\(name.printable): \($0)" }
  }

  private var duration: Double { Double(measurement.frameCount) / measurement.rate }
  private var combinedWeightedEnergy: WeightedEnergy? {
    spectrum.map { WeightedEnergy(of: $0, weighting: weighting) }
  }

  var text: String {
    let count = measurement.channels.count
    var lines = [
      name.printable,
      "  length     \(NumberFormatting.secondsText(duration)), \(measurement.frameCount) frames at "
        + "\(measurement.rate.text(places: 3)) Hz",
      "  contents   \(count.counted("channel")), \(measurement.encoding) in "
        + measurement.container,
      "  level      \(levelText(measurement.overall))",
    ]
    if measurement.overall.samplePeakAmplitude > 0 {
      lines.append(
        "  loudness   "
          + (measurement.overall.integratedLoudnessLUFS.map { "\($0.text(places: 1)) LUFS" }
            ?? "below -70 LUFS"))
    }
    if measurement.overall.rmsAmplitude > 0, let combinedWeightedEnergy {
      lines.append(
        "  weighted   \(decibelText(combinedWeightedEnergy.weightedRMSDecibels)) dB "
          + "for a \(weighting.bodyPart)"
      )
      lines.append("  spectrum   \(bandText)")
    }
    if let onsets = measurement.onsets {
      lines.append("  onsets     \(onsetText(onsets))")
    }
    if count > 1 {
      for (index, levels) in measurement.channels.enumerated() {
        lines.append(
          "  channel \(index + 1)" + (index < 9 ? "  " : " ") + levelText(levels)
            + (levels.rmsAmplitude > 0
              ? ", felt \(decibelText(weightedEnergies[index].weightedRMSDecibels)) dB" : ""))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func levelText(_ levels: Levels) -> String {
    guard levels.samplePeakAmplitude > 0 else { return "silent" }
    return "peak \(decibelText(levels.samplePeakDecibels)) dBFS, "
      + """
      true peak \(decibelText(levels.truePeakDecibels)) dBTP, RMS \
      \(decibelText(levels.rmsDecibels)) dBFS, 
      """
        + """
        crest \(decibelText(levels.crestFactorDecibels ?? 0)) dB, \
        DC \(levels.dcOffset.text(places: 5))
        """
  }

  private func decibelText(_ value: Double) -> String { value.text(places: 1) }

  private var bandText: String {
    guard let spectrum, spectrum.totalPower > 0 else { return "silent" }
    guard let centroid = spectrum.centroidHertz else { return "DC only" }
    let power = spectrum.totalPower
    let texts = Self.bandEdgesHertz.indices.compactMap { index -> String? in
      let percent = (bandPower(index) / power * 100).rounded()
      guard percent >= 1 else { return nil }
      let low = Self.bandEdgesHertz[index].text(places: 0)
      guard index + 1 < Self.bandEdgesHertz.count else {
        return "\(Int(percent)) % above \(low) Hz"
      }
      let high = Self.bandEdgesHertz[index + 1].text(places: 0)
      return "\(Int(percent)) % from \(low) to \(high) Hz"
    }
    return "centered at \(centroid.text(places: 1)) Hz; " + texts.joined(separator: ", ")
  }

  private func bandPower(_ index: Int) -> Double {
    let edges =
      Self.bandEdgesHertz + [
        max(Self.bandEdgesHertz[Self.bandEdgesHertz.count - 1], measurement.rate)
      ]
    return spectrum?.power(in: edges[index]...edges[index + 1]) ?? 0
  }

  private func onsetText(_ onsets: [Onset]) -> String {
    if onsets.isEmpty { return "none" }
    let times = onsets.prefix(Self.maximumListedOnsetCount).map { $0.timeSeconds.text(places: 3) }
    return "\(onsets.count), at \(times.joined(separator: ", "))"
      + (onsets.count > Self.maximumListedOnsetCount ? " … s" : " s")
  }

  var fields: JSONObject {
    let bands = Self.bandEdgesHertz.indices.map { index -> JSONObject in
      [
        "fromHertz": Self.bandEdgesHertz[index],
        "toHertz": index + 1 < Self.bandEdgesHertz.count ? Self.bandEdgesHertz[index + 1] : nil,
        "decibels": Decibels.of(power: bandPower(index)),
      ]
    }
    let onsets = measurement.onsets?.map {
      ["time": $0.timeSeconds, "strength": $0.reachedAmplitude] as JSONObject
    }
    return [
      "sound": name, "duration": duration, "frames": measurement.frameCount,
      "rate": measurement.rate,
      "container": measurement.container, "encoding": measurement.encoding,
    ] + fields(of: measurement.overall, weightedEnergy: combinedWeightedEnergy) + [
      "loudness": measurement.overall.integratedLoudnessLUFS?.json ?? JSONElement.null,
      "weighting": weighting.name,
      "centroidHertz": spectrum?.centroidHertz?.json ?? JSONElement.null, "bands": bands,
      "onsets": onsets,
      "channels": zip(measurement.channels, weightedEnergies).map {
        fields(of: $0, weightedEnergy: $1)
      },
    ]
  }

  private func fields(of levels: Levels, weightedEnergy felt: WeightedEnergy?) -> JSONObject {
    [
      "peakDecibels": levels.samplePeakDecibels, "truePeakDecibels": levels.truePeakDecibels,
      "rmsDecibels": levels.rmsDecibels,
      "crestDecibels": levels.crestFactorDecibels?.json ?? JSONElement.null, "dc": levels.dcOffset,
      "weightedDecibels": felt?.weightedRMSDecibels ?? Decibels.silenceDecibels,
      "nonFiniteSamples": levels.invalidSampleCount,
    ]
  }
}
