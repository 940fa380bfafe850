import CommandLineKit
import HapticFormats
import HapticModel
import HapticPlayback
import HapticRender
import PatternComparison
import PlaybackSessions
import SignalAnalysis
import SystemSupport
import VendorFormats

/// The command `audition`, which plays takes in sync and switches between them.
enum AuditionCommand {
  static let takeArgument = Argument(
    "TAKE",
    help: """
      Pattern file, folder of patterns, name of a shipped pattern, sound file, or - for standard \
      input. Specify 2 to \(AuditionTake.maximumTakeCount) takes.
      """, completion: .patternsAndSounds(.standard), isRepeatable: true
  ).texts()

  static let loopRangeOption = Option(
    "--loop-range", value: "FROM-TO",
    help: "Loop range in seconds, such as 0.5-1.2. The range 0.5- extends to the end of the sound.",
    defaultValueText: "all")

  static let gapOption = Option("--gap", value: "SECONDS", help: "Silence before each repetition.")
    .double(in: 0...3_600, default: 0.5)

  private static let levelMatchOption = Option(
    "--match", value: "HOW",
    help: "Initial level matching: none, loudness (LUFS), or felt (weighted energy)."
  )
  .choice(default: LevelMatch.none)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "audition", abstract: "Play patterns and recordings in sync, and switch between them.",
      discussion: """
        The takes loop in sync, and you hear one take at a time, beginning with take A. Keys \
        switch between takes without clicks, move the playhead, and set the loop range. Press ? \
        for a list of keys.

        A recording plays unprocessed, without a profile. The first channel of the recording plays \
        on the first haptic channel, the second on the second, and so on. If the recording has \
        more channels than the output, Temblor plays the mean of the recorded channels. If a \
        pattern has as many body locations as there are haptic channels, each channel plays one \
        location. Otherwise, the locations are mixed, and a message says so.

        Takes play at their own levels unless you press g or use --match. Matching attenuates all \
        takes to the loudness (LUFS) or the weighted energy (felt) of the weakest take. If a take \
        is too quiet for a loudness measurement, Temblor matches the weighted energy of all takes \
        instead.

        Without a terminal, the takes play once, one after another.
        """, arguments: [takeArgument],
      options: [
        levelMatchOption, loopRangeOption, gapOption, SharedOptions.curveTimesOption,
        SharedOptions.frequencyHandlingOption,
        LiveOptions.jsonOption,
        LiveOptions.quietOption,
      ]
        + SharedOptions.soundOptions, optionGroups: LiveOptions.optionGroups,
      examples: [
        .init("temblor audition old.ahap new.ahap", "Hear and feel what an edit changed."),
        .init(
          "temblor audition mine.ahap phone.wav --match felt --loop-range 0.2-0.9",
          "Compare a section of a pattern with a recording at matched levels."),
      ]
    ) { arguments, terminal in
      try run(arguments, terminal, on: SystemEnvironment(), formats: formats)
    }
  }

  struct Options {
    let liveOptions: LiveOptions
    let levelMatch: LevelMatch
    let loopRange: LoopRange
    /// The duration of the silence before the takes restart, in seconds.
    let gapSeconds: Double

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      levelMatch = try arguments[AuditionCommand.levelMatchOption]
      loopRange = try LoopRange(arguments)
      gapSeconds = try arguments[AuditionCommand.gapOption]
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    let (takes, status) = try AuditionTake.readTakes(
      arguments[takeArgument], arguments, formats, terminal)
    guard let takes else { return status }
    return try run(options, takes, terminal, on: environment)
  }

  private static func run(
    _ options: Options, _ takes: [AuditionTake], _ terminal: Terminal,
    on environment: any PlaybackEnvironment
  ) throws -> ExitStatus {
    try options.liveOptions.checkOutputs(reading: takes.sourcePaths)
    let session = options.liveOptions.makeSession(in: environment, terminal)
    var preparedTakes = PreparedTakes()

    func prepareLoopRegion(on engine: PlaybackEngine) throws -> ClosedRange<Double>? {
      preparedTakes = try takes.prepareTakes(for: engine, reportingMixesTo: session.console)
      if preparedTakes.areSignalsEqual {
        session.console.reportError("The takes are identical, sample for sample.")
      }
      return try options.loopRange.loopRegion(ofDuration: preparedTakes.maximumDurationSeconds)
    }
    var levelMatch = options.levelMatch
    let outcome: LiveOutcome
    if session.hasKeyboard {
      let (result, audition) = try options.liveOptions.play(
        in: session, placeCount: takes.bodyLocationCount, recordingsOf: takes.recordingChannelCounts
      ) { engine in
        let region = try prepareLoopRegion(on: engine)
        return try AuditionActivity(
          preparedTakes, on: engine, match: levelMatch, region: region, gap: options.gapSeconds)
      }
      outcome = result
      levelMatch = audition.levelMatch
    } else {
      (outcome, _) = try options.liveOptions.play(
        in: session, placeCount: takes.bodyLocationCount, recordingsOf: takes.recordingChannelCounts
      ) { engine in
        let region = try prepareLoopRegion(on: engine)
        return try SequentialAuditionActivity(
          preparedTakes.patterns, on: engine,
          gains: preparedTakes.matchedLevels(by: levelMatch).gains,
          region: region, gap: options.gapSeconds, session: session)
      }
    }
    let levels = preparedTakes.matchedLevels(by: levelMatch)
    let takeFields = preparedTakes.patterns.enumerated().map { index, pattern -> JSONObject in
      [
        "letter": Take.letter(at: index), "name": pattern.name, "sha256": takes[index].sha256Hash,
        "seconds": pattern.durationSeconds, "gain": levels.gains[index],
      ]
    }
    return try options.liveOptions.reportOutcome(
      outcome, ["takes": takeFields, "match": levels.match.rawValue], terminal)
  }
}

/// A set of synchronized takes. The listener hears one take at a time.
final class AuditionActivity: PlaybackActivity {
  private let takes: PreparedTakes
  private let switcher: TakeSwitcher
  private var levelsByMatchingMethod: [LevelMatch: MatchedLevels] = [:]
  private(set) var levelMatch: LevelMatch
  private(set) var selectedTakeIndex = 0

  init(
    _ takes: PreparedTakes, on engine: PlaybackEngine, match: LevelMatch,
    region: ClosedRange<Double>?, gap: Double
  )
    throws
  {
    self.takes = takes
    self.levelMatch = match
    let levels = takes.matchedLevels(by: match)
    self.levelsByMatchingMethod[match] = levels
    switcher = try TakeSwitcher(
      takes.patterns, on: engine, region: region, gap: gap,
      gains: Self.soloGains(at: 0, of: levels.gains))
  }

  var keyHelp: [KeyHelp] {
    [(selectionKeys, "choose"), ("tab", "next take")] + TakeSwitcher.keyHelp + [
      ("g", "match levels: none, loudness, felt")
    ]
  }

  private var selectionKeys: String {
    let takeCount = takes.patterns.count
    // The letters after F have other meanings.
    guard takeCount <= Self.takeKeyLetters.count else { return "1-\(takeCount)" }
    return "1-\(takeCount) or a-\(Self.takeKeyLetters[takeCount - 1])"
  }

  private static let takeKeyLetters: [Character] = ["a", "b", "c", "d", "e", "f"]

  var playbackState: PlaybackStatus.State { switcher.state }
  var playbackProgress: (position: Double, duration: Double?) {
    switcher.positionAndDurationSeconds
  }

  var statusTitle: ActivityTitle? {
    let letter = Take.letter(at: selectedTakeIndex)
    return ActivityTitle(
      longTitle:
        "\(letter) \(FileSystem.fileName(of: takes.patterns[selectedTakeIndex].name).printable)",
      shortTitle: letter,
      remarks: [switcher.loopRegionText, levelMatchRemark])
  }

  func updateActivity(at now: Duration) throws -> ActivityStep { .wait(nil) }

  func handleKey(_ key: KeyPress) throws -> Bool {
    if try switcher.handleKey(key) { return true }
    switch key {
    case .character("g"), .character("G"):
      let all = LevelMatch.allCases
      levelMatch = all[((all.firstIndex(of: levelMatch) ?? 0) + 1) % all.count]
      try selectTake(selectedTakeIndex)
    case .tab:
      try selectTake((selectedTakeIndex + 1) % takes.patterns.count)
    case .backTab:
      try selectTake((selectedTakeIndex + takes.patterns.count - 1) % takes.patterns.count)
    case .character(let character):
      guard let index = Self.takeIndex(for: character), index < takes.patterns.count else {
        return false
      }
      try selectTake(index)
    default:
      return false
    }
    return true
  }

  func matchedLevels(by match: LevelMatch) -> MatchedLevels {
    if let cached = levelsByMatchingMethod[match] { return cached }
    let newLevels = takes.matchedLevels(by: match)
    levelsByMatchingMethod[match] = newLevels
    return newLevels
  }

  static func soloGains(at index: Int, of gains: [Double]) -> [Double] {
    gains.indices.map { $0 == index ? gains[$0] : 0 }
  }

  /// Returns the index of the take that a key selects. The key is a digit, or a letter that has no
  /// other meaning.
  private static func takeIndex(for character: Character) -> Int? {
    if let number = Int(String(character)), number > 0 { return number - 1 }
    return character.lowercased().first.flatMap { takeKeyLetters.firstIndex(of: $0) }
  }

  private func selectTake(_ index: Int) throws {
    selectedTakeIndex = index
    try switcher.setGains(Self.soloGains(at: index, of: matchedLevels(by: levelMatch).gains))
  }

  private var levelMatchRemark: String {
    guard levelMatch != .none else { return "levels not matched" }
    let levels = matchedLevels(by: levelMatch)
    let selectedGain = levels.gains[selectedTakeIndex]
    return "\(levels.match.rawValue) \(NumberFormatting.gainText(ofFactor: selectedGain))"
  }
}

/// Plays each take once, one after another, if there is no keyboard.
final class SequentialAuditionActivity: PlaybackActivity {
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let playerGroup: PlayerGroup
  private let scheduledTakes: [ScheduledTake]
  private var announcedTakeCount = 0

  /// A take with the engine frame of its first sample and the frame after its last sample.
  private typealias ScheduledTake = (name: String, start: Int64, end: Int64)

  /// Schedules all takes with frame accuracy.
  ///
  /// - Parameters:
  ///   - pieces: The takes.
  ///   - engine: The engine that plays them.
  ///   - gains: The gain of each take.
  ///   - region: The time range to play, or nil for each whole take.
  ///   - gap: The pause between takes, in seconds.
  ///   - session: The session.
  init(
    _ pieces: [CompiledPattern], on engine: PlaybackEngine, gains: [Double],
    region: ClosedRange<Double>?, gap: Double,
    session: LiveSession
  ) throws {
    self.engine = engine
    console = session.console
    playerGroup = PlayerGroup(
      try pieces.map { try engine.player(for: $0.plansByHapticBus, duration: $0.durationSeconds) },
      of: engine)
    var nextStartFrame = FrameConversion.frame(seconds: Playlist.leadInSeconds, rate: engine.rate)
    var takeSchedule: [ScheduledTake] = []
    try playerGroup.loop(end: 2 * FrameConversion.maximumSeconds)
    for (index, piece) in pieces.enumerated() {
      let heard = region ?? 0...piece.durationSeconds
      let length = FrameConversion.frame(
        seconds: heard.upperBound - heard.lowerBound, rate: engine.rate)
      takeSchedule.append((piece.name, nextStartFrame, nextStartFrame + length))
      try playerGroup.setGains(
        AuditionActivity.soloGains(at: index, of: gains), over: 0, at: .frame(nextStartFrame))
      try playerGroup.start(at: .frame(nextStartFrame), from: heard.lowerBound)
      try playerGroup.pause(at: .frame(nextStartFrame + length))
      nextStartFrame += length + FrameConversion.frame(seconds: gap, rate: engine.rate)
    }
    self.scheduledTakes = takeSchedule
  }

  var playbackState: PlaybackStatus.State { currentTake == nil ? .idle : .playing }

  var playbackProgress: (position: Double, duration: Double?) {
    guard let currentTake else { return (0, nil) }
    return (
      Double(engine.position - currentTake.start) / engine.rate,
      Double(currentTake.end - currentTake.start) / engine.rate
    )
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    while announcedTakeCount < scheduledTakes.count,
      scheduledTakes[announcedTakeCount].start <= engine.position
    {
      let part = scheduledTakes[announcedTakeCount]
      let letter = Take.letter(at: announcedTakeCount)
      let seconds = Double(part.end - part.start) / engine.rate
      console.reportHint(
        "\(letter): \(part.name.printable), \(NumberFormatting.secondsText(seconds))")
      announcedTakeCount += 1
    }
    let lastTakeEndFrame = scheduledTakes.last?.end ?? 0
    let tailSeconds = engine.routing.tailDuration(rate: engine.rate)
    let endFrame = lastTakeEndFrame + FrameConversion.frame(seconds: tailSeconds, rate: engine.rate)
    let nextUpdateFrame =
      announcedTakeCount < scheduledTakes.count
      ? scheduledTakes[announcedTakeCount].start : endFrame
    if engine.position >= endFrame { return .finished }
    return .wait(
      .roundedToNanoseconds(
        seconds: Double(max(1, nextUpdateFrame - engine.position)) / engine.rate))
  }

  private var currentTake: ScheduledTake? {
    scheduledTakes.first { ($0.start..<$0.end).contains(engine.position) }
  }
}
