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
        Temblor measures the levels of the first ten minutes of a pattern.

        By default, Temblor measures a sound file without changes. With --input-channels, Temblor \
        treats the selected channels of a sound file as a pattern, and renders the pattern with \
        the profile given by --profile.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [patternArgument(formats)],
      options: [
        SharedOptions.profileOption, SharedOptions.sampleRateOption, SharedOptions.curveTimesOption,
        SharedOptions.frequencyHandlingOption,
        weightingOption, SharedOptions.inputChannelsOption,
        SharedOptions.jsonOption, SharedOptions.csvOption, tracksOption,
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

  private static let weightingOption = Option(
    "--weighting", value: "NAME",
    help: """
      Vibrotactile weighting of sound files, for a hand that holds a device, a hand and arm on a \
      handle, or a whole body on a seat.
      """, defaultValueText: VibrotactileWeighting.hand.name,
    choices: VibrotactileWeighting.allWeightings.map(\.name)
  ).text().map { $0.flatMap(VibrotactileWeighting.named) ?? .hand }
  private static let tracksOption = Option(
    "--tracks",
    help: """
      With --json, add the intensity and sharpness breakpoints of each haptic event, without the \
      envelope of the event.
      """
  ).flag()

  struct Options {
    let inputArguments: [String]
    let soundLookup: PatternInput.SoundLookup
    /// The channels of sound files that are played as patterns, from 0, or nil to measure sound
    /// files.
    let inputChannels: [Int]?
    let renderJob: RenderJob
    let weighting: VibrotactileWeighting
    let resultFormat: ResultFormat
    let includesTracks: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      try SharedOptions.refuseCombination("--json", "--csv", in: arguments)
      resultFormat = try ResultFormat(arguments)
      includesTracks = try arguments[tracksOption]
      if includesTracks, resultFormat != .json {
        throw UsageError("'--tracks' requires '--json'")
      }
      var job = try SharedOptions.makeRenderJob(arguments)
      job.sampleRateHertz = try arguments[SharedOptions.sampleRateOption]
      self.renderJob = job
      weighting = try arguments[InfoCommand.weightingOption]
      inputArguments = arguments[patternArgument(formats)]
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      inputChannels = try SharedOptions.parseInputChannels(arguments)
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = TakeInput.resolve(
      options.inputArguments, formats: formats, soundLookup: options.soundLookup)
    var batchWork = BatchWork(on: terminal, problems: problems)
    var inputFields: [JSONObject] = []
    for input in inputs.map({ $0.asPattern(ofChannels: options.inputChannels) }) {
      try batchWork.attemptWork { batchWork in
        let summary = try measureInput(input, options, terminal)
        if options.resultFormat == .text {
          try terminal.output.write(summary.text)
        } else {
          inputFields.append(summary.fields)
        }
        for problem in summary.problems {
          batchWork.recordFailure(problem, .invalidInput)
        }
      }
    }
    switch options.resultFormat {
    case .text: break
    case .json: try terminal.output.writeJSON(["takes": inputFields])
    case .csv: try terminal.output.writeCSV(rows: inputFields)
    }
    return batchWork.overallStatus
  }

  /// Measures a pattern or a sound file, and returns its summary.
  private static func measureInput(_ input: TakeInput, _ options: Options, _ terminal: Terminal)
    throws
    -> (text: String, fields: JSONObject, problems: [String])
  {
    switch input {
    case .pattern(let input):
      let summary = try PatternSummary(input, job: options.renderJob)
      let tracks = options.includesTracks ? summary.trackJSONFields : nil
      return (summary.summaryText, summary.jsonFields + tracks, [])
    case .sound(let path):
      var line = ProgressLine(on: terminal)
      defer { line.clear() }
      let summary = try SoundSummary(path, weighting: options.weighting) { fraction in
        line.show("\(input.name.printable): \(Int(fraction * 100)) %")
      }
      return (summary.summaryText, summary.jsonFields, summary.problemTexts)
    }
  }
}

/// A summary of the contents and levels of a pattern.
struct PatternSummary {
  private let inputName: String
  fileprivate let pattern: LoadedPattern
  private let renderPlan: RenderPlan
  private let profile: TransducerProfile
  private let renderStatistics: RenderStatistics
  private let rmsAmplitude: Double
  private let requestedHertzRange: ClosedRange<Double>?
  private let playedHertzRange: ClosedRange<Double>?

  /// The number of frames that were rendered and measured.
  private let measuredFrameCount: Int64
  /// The maximum duration whose level is measured, in seconds. It bounds the work for a short file
  /// with a long event.
  private static let maximumMeasuredSeconds = 600.0

  /// Creates a summary by reading, compiling, and rendering a pattern, up to its first ten minutes.
  /// This takes a few milliseconds per minute of the pattern.
  init(_ input: PatternInput, job: RenderJob) throws {
    (renderPlan, pattern) = try job.loadPlan(input)
    inputName = input.name
    profile = job.profile
    let renderSettings = job.renderSettings(for: renderPlan)
    var offlineRenderer = OfflineRenderer(plan: renderPlan, settings: renderSettings)
    var sampleBlock = [Float](repeating: 0, count: 4_096)
    var squareSum = 0.0
    let maximumFrameCount = FrameConversion.frame(
      seconds: Self.maximumMeasuredSeconds, rate: renderPlan.rate)
    var readFrameCount: Int64 = 0
    while readFrameCount < maximumFrameCount {
      var span = sampleBlock.mutableSpan
      let count = offlineRenderer.read(into: &span)
      if count == 0 { break }
      readFrameCount += Int64(count)
      for index in 0..<count {
        squareSum += Double(sampleBlock[index]) * Double(sampleBlock[index])
      }
    }
    renderStatistics = offlineRenderer.statistics
    measuredFrameCount = readFrameCount
    rmsAmplitude = (squareSum / Double(max(1, readFrameCount))).squareRoot()
    requestedHertzRange = profile.frequencyRange(of: pattern.composition)
    playedHertzRange = profile.playedFrequencyRange(of: pattern.composition, rate: renderPlan.rate)
  }

  private typealias ItemCount = (noun: String, key: String, count: Int)

  /// The number of items of each kind, with the singular noun and the JSON key of the kind.
  private var itemCounts: [ItemCount] {
    let patterns = pattern.composition.layers.map(\.pattern)
    func eventCount(_ kind: HapticEvent.Kind) -> Int {
      patterns.reduce(0) { $0 + $1.events.count { $0.kind == kind } }
    }
    let eventCounts: [ItemCount] = HapticEvent.Kind.allCases.map { kind in
      (kind.noun, kind.countKey, eventCount(kind))
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

  var summaryText: String {
    let itemCountsText = itemCounts.filter { $0.count > 0 }.map { $0.count.countText($0.noun) }
      .joined(
        separator: ", ")
    let maximumVoiceCount = renderPlan.maximumVoiceCount
    let rmsDecibels = NumberFormatting.decibels(ofAmplitude: Float(rmsAmplitude))
    let levelText = LevelText(renderStatistics, rate: renderPlan.rate)
    let soundEndText =
      renderPlan.soundEndFrame < renderPlan.frameCount
      ? ", sound ends at \(NumberFormatting.secondsText(soundDurationSeconds))" : ""
    let measuredText =
      isMeasuredCompletely
      ? "" : " in the first \(NumberFormatting.secondsText(measuredSeconds))"
    let limitingText = (levelText.limitingText ?? "never limited") + measuredText
    var summaryLines = [
      inputName.printable,
      "  length     \(NumberFormatting.secondsText(renderPlan.durationSeconds))\(soundEndText)",
      "  contents   \(itemCountsText.isEmpty ? "no events" : itemCountsText)",
      "  profile    \(profile.name): \(hapticBandText)",
      "  level      \(levelText.peakText), RMS \(rmsDecibels.text(places: 1)) dBFS, "
        + limitingText,
      "  polyphony  \(maximumVoiceCount.countText("voice")) at most",
    ]
    if let notesText = pattern.composition.notes {
      summaryLines.insert("  about      \(notesText.printable)", at: 1)
    }
    let bodyLocations = pattern.composition.bodyLocations.map(\.displayName)
    if !bodyLocations.isEmpty {
      summaryLines.insert("  places     \(bodyLocations.joined(separator: ", ").printable)", at: 3)
    }
    if usesAbsoluteCurveTimes {
      summaryLines.append("  curves     absolute times, converted to relative")
    }
    return summaryLines.joined(separator: "\n") + "\n"
  }

  private var measuredSeconds: Double {
    min(Double(measuredFrameCount) / renderPlan.rate, Self.maximumMeasuredSeconds)
  }
  /// A Boolean value that indicates whether the levels were measured over the whole pattern.
  private var isMeasuredCompletely: Bool { measuredFrameCount >= renderPlan.frameCount }
  private var soundDurationSeconds: Double { Double(renderPlan.soundEndFrame) / renderPlan.rate }
  private var usesAbsoluteCurveTimes: Bool {
    pattern.metadata.contains { $0 == ("curveTimes", "absolute") }
  }

  private var hapticBandText: String {
    guard let requestedHertzRange else { return "no haptic events" }
    func hertzRangeText(_ range: ClosedRange<Double>) -> String {
      let ends = [range.lowerBound, range.upperBound].map { $0.text(places: 1) }
      return (ends[0] == ends[1] ? ends[0] : ends.joined(separator: " to ")) + " Hz"
    }
    let requestedText = hertzRangeText(requestedHertzRange)
    guard let playedText = playedHertzRange.map(hertzRangeText), playedText != requestedText else {
      return "events at \(requestedText)"
    }
    return "events at \(requestedText), played at \(playedText)"
  }

  var jsonFields: JSONObject {
    let differingHertzRange = playedHertzRange == requestedHertzRange ? nil : playedHertzRange
    return [
      "pattern": inputName, "duration": renderPlan.durationSeconds,
      "soundSeconds": soundDurationSeconds,
      "counts": itemCounts.reduce([:] as JSONObject) { $0 + [$1.key: $1.count] },
      "profile": profile.name,
      "lowestHertz": requestedHertzRange?.lowerBound,
      "highestHertz": requestedHertzRange?.upperBound,
      "lowestPlayedHertz": differingHertzRange?.lowerBound,
      "highestPlayedHertz": differingHertzRange?.upperBound,
      "peakDecibels": NumberFormatting.decibels(
        ofAmplitude: renderStatistics.peakMagnitudeBeforeLimiter),
      "rmsDecibels": NumberFormatting.decibels(ofAmplitude: Float(rmsAmplitude)),
      "measuredSeconds": isMeasuredCompletely ? nil : measuredSeconds,
      "limitedFrames": Int(renderStatistics.limitedFrameCount),
      "peakVoices": renderPlan.maximumVoiceCount,
      "usesAbsoluteCurveTimes": usesAbsoluteCurveTimes, "description": pattern.composition.notes,
    ]
  }

  /// The JSON fields of each haptic event, with its kind, its end, and its breakpoints.
  ///
  /// A breakpoint consists of a time, an intensity, and a sharpness. Frequencies in hertz become
  /// sharpness on the scale of the profile.
  fileprivate var trackJSONFields: JSONObject {
    let sharpnessScale = profile.limitedToUsableBand(rate: renderPlan.rate).frequency.sharpnessScale
    let eventFields = pattern.composition.convertingStatedHertz(to: sharpnessScale).layers.map(
      \.pattern
    ).flatMap {
      pattern -> [JSONObject] in
      let felt = EffectiveParameters(pattern)
      return pattern.events.filter(\.kind.isHaptic).map { event in
        let corners = felt.points(of: event).flatMap { [$0.time, $0.intensity, $0.sharpness] }
        return [
          "kind": event.kind.rawValue, "end": event.time + (event.secondsUntilRelease ?? 0),
          "corners": JSONElement.inlineArray(corners.map(\.json)),
        ]
      }
    }
    return ["tracks": eventFields]
  }
}

/// A summary of the contents and levels of a sound file.
struct SoundSummary {
  /// The edges of the listed frequency bands, in hertz. The last band is unbounded.
  private static let bandEdgesHertz = [0.0, 20, 80, 250, 1_000]
  private static let maximumListedOnsetCount = 8

  private let inputName: String
  private let measurement: SoundMeasurement
  private let weighting: VibrotactileWeighting
  private let channelWeightedEnergies: [WeightedEnergy]
  private let combinedSpectrum: Spectrum?

  init(_ path: String, weighting: VibrotactileWeighting, progress: (Double) -> Void = { _ in })
    throws
  {
    inputName = FileSystem.displayName(of: path)
    self.weighting = weighting
    measurement = try SoundMeasurement(path, progress: progress)
    channelWeightedEnergies = measurement.channelSpectra.map {
      WeightedEnergy(of: $0, weighting: weighting)
    }
    combinedSpectrum = Spectrum(averaging: measurement.channelSpectra)
  }

  var problemTexts: [String] {
    var problems: [String] = []
    if let truncation = measurement.truncation {
      problems.append(truncation.messageText)
    }
    let invalidSampleCount = measurement.overallLevels.invalidSampleCount
    let totalSampleCount = measurement.frameCount * measurement.channelLevels.count
    if invalidSampleCount > 0 {
      problems.append(
        """
        \(invalidSampleCount == totalSampleCount ? "all" : "\(invalidSampleCount) of") \
        \(totalSampleCount) samples are NaN or infinite; they are treated as silence
        """
      )
    }
    return problems.map { "\(inputName.printable): \($0)" }
  }

  private var durationSeconds: Double {
    Double(measurement.frameCount) / measurement.sampleRateHertz
  }
  private var combinedWeightedEnergy: WeightedEnergy? {
    combinedSpectrum.map { WeightedEnergy(of: $0, weighting: weighting) }
  }

  var summaryText: String {
    let channelCount = measurement.channelLevels.count
    var summaryLines = [
      inputName.printable,
      "  length     \(NumberFormatting.secondsText(durationSeconds)), "
        + "\(measurement.frameCount) frames at \(measurement.sampleRateHertz.text(places: 3)) Hz",
      "  contents   \(channelCount.countText("channel")), \(measurement.encoding) in "
        + measurement.container,
      "  level      \(levelText(measurement.overallLevels))",
    ]
    if measurement.overallLevels.samplePeakAmplitude > 0 {
      summaryLines.append(
        "  loudness   "
          + (measurement.overallLevels.integratedLoudnessLUFS.map { "\($0.text(places: 1)) LUFS" }
            ?? "below -70 LUFS"))
    }
    if measurement.overallLevels.rmsAmplitude > 0, let combinedWeightedEnergy {
      summaryLines.append(
        "  weighted   \(decibelText(combinedWeightedEnergy.weightedRMSDecibels)) dB "
          + "for a \(weighting.bodyPart)"
      )
      summaryLines.append("  spectrum   \(spectrumText)")
    }
    if let onsets = measurement.onsets {
      summaryLines.append("  onsets     \(onsetText(onsets))")
    }
    if channelCount > 1 {
      for (index, levels) in measurement.channelLevels.enumerated() {
        summaryLines.append(
          "  channel \(index + 1)" + (index < 9 ? "  " : " ") + levelText(levels)
            + (levels.rmsAmplitude > 0
              ? ", felt \(decibelText(channelWeightedEnergies[index].weightedRMSDecibels)) dB" : "")
        )
      }
    }
    return summaryLines.joined(separator: "\n") + "\n"
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

  private var spectrumText: String {
    guard let combinedSpectrum, combinedSpectrum.totalPower > 0 else { return "silent" }
    guard let centroidHertz = combinedSpectrum.centroidHertz else { return "DC only" }
    let totalPower = combinedSpectrum.totalPower
    let bandTexts = Self.bandEdgesHertz.indices.compactMap { index -> String? in
      let percent = (powerFraction(ofBand: index) / totalPower * 100).rounded()
      guard percent >= 1 else { return nil }
      let low = Self.bandEdgesHertz[index].text(places: 0)
      guard index + 1 < Self.bandEdgesHertz.count else {
        return "\(Int(percent)) % above \(low) Hz"
      }
      let high = Self.bandEdgesHertz[index + 1].text(places: 0)
      return "\(Int(percent)) % from \(low) to \(high) Hz"
    }
    return "centered at \(centroidHertz.text(places: 1)) Hz; " + bandTexts.joined(separator: ", ")
  }

  private func powerFraction(ofBand index: Int) -> Double {
    let extendedEdgesHertz =
      Self.bandEdgesHertz + [
        max(Self.bandEdgesHertz[Self.bandEdgesHertz.count - 1], measurement.sampleRateHertz)
      ]
    return combinedSpectrum?.power(in: extendedEdgesHertz[index]...extendedEdgesHertz[index + 1])
      ?? 0
  }

  private func onsetText(_ onsets: [Onset]) -> String {
    if onsets.isEmpty { return "none" }
    let onsetTimeTexts = onsets.prefix(Self.maximumListedOnsetCount).map {
      $0.timeSeconds.text(places: 3)
    }
    return "\(onsets.count), at \(onsetTimeTexts.joined(separator: ", "))"
      + (onsets.count > Self.maximumListedOnsetCount ? " … s" : " s")
  }

  var jsonFields: JSONObject {
    let bandFields = Self.bandEdgesHertz.indices.map { index -> JSONObject in
      [
        "fromHertz": Self.bandEdgesHertz[index],
        "toHertz": index + 1 < Self.bandEdgesHertz.count ? Self.bandEdgesHertz[index + 1] : nil,
        "decibels": Decibels.of(power: powerFraction(ofBand: index)),
      ]
    }
    let onsetFields = measurement.onsets?.map {
      ["time": $0.timeSeconds, "strength": $0.amplitudeAfterOnset] as JSONObject
    }
    return [
      "sound": inputName, "duration": durationSeconds, "frames": measurement.frameCount,
      "rate": measurement.sampleRateHertz,
      "container": measurement.container, "encoding": measurement.encoding,
    ] + jsonFields(of: measurement.overallLevels, weightedEnergy: combinedWeightedEnergy) + [
      "loudness": measurement.overallLevels.integratedLoudnessLUFS?.json ?? JSONElement.null,
      "weighting": weighting.name,
      "centroidHertz": combinedSpectrum?.centroidHertz?.json ?? JSONElement.null,
      "bands": bandFields,
      "onsets": onsetFields,
      "channels": zip(measurement.channelLevels, channelWeightedEnergies).map {
        jsonFields(of: $0, weightedEnergy: $1)
      },
    ]
  }

  private func jsonFields(of levels: Levels, weightedEnergy felt: WeightedEnergy?) -> JSONObject {
    [
      "peakDecibels": levels.samplePeakDecibels, "truePeakDecibels": levels.truePeakDecibels,
      "rmsDecibels": levels.rmsDecibels,
      "crestDecibels": levels.crestFactorDecibels?.json ?? JSONElement.null, "dc": levels.dcOffset,
      "weightedDecibels": felt?.weightedRMSDecibels ?? Decibels.silenceDecibels,
      "nonFiniteSamples": levels.invalidSampleCount,
    ]
  }
}
