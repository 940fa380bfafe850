enum AuditionVerb {
  static let take = Argument(
    "TAKE",
    help:
      """
      A pattern file of any format, the name of a shipped pattern, a sound file, or - for \
      standard 
      """
        + "input; two to \(AuditionTake.most).", completion: .takes(.standard), isRepeatable: true)

  static let loop = Option(
    "--loop-range", value: "FROM-TO",
    help: "Loop this range in seconds, such as 0.5-1.2; '0.5-' runs to the end.",
    defaultText: "all")

  static let gap = Option("--gap", value: "SECONDS", help: "Silence before the takes restart.")
    .double(in: 0...3_600, default: 0.5)

  private static let match = Option("--match", value: "MATCH", help: "Initial level matching.")
    .choice(default: LevelMatch.none)

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "audition", abstract: "Play patterns and recordings in sync and switch between them.",
      discussion: """
        All takes run in sync and loop. Keys switch between them without clicks, move the play h\
        ead and set the loop range; ? lists them. A plays first.

        A recording plays unprocessed on the haptic channels: its first channel on the first of th\
        em, and so on; if it has more channels, their mean. No profile is applied.

        Levels are unchanged until you match them with g or --match: all takes are then attenuated\
         to the weakest one, by loudness (LUFS) or by weighted energy (felt). If a take is too quie\
        t for a loudness measurement, all are matched by weighted energy.

        Without a terminal, each take plays once, one after the other.
        """, arguments: [take],
      options: [match, loop, gap, SharedOptions.curveTimes, LiveOptions.json, LiveOptions.quiet]
        + SharedOptions.soundOptions, groups: LiveOptions.groups,
      examples: [
        .init("temblor audition old.ahap new.ahap", "Hear what an edit changed."),
        .init(
          "temblor audition mine.ahap phone.wav --match felt --loop-range 0.2-0.9",
          "Compare a section of a pattern with a recording at equal strength."),
      ]
    ) { arguments, terminal in try run(arguments, terminal, on: SystemBackend(), formats: formats) }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    var match = try arguments[match]
    let part = try LoopPart(arguments)
    let gap = try arguments[gap]
    let (read, status) = try AuditionTake.read(
      arguments.values(take.name), arguments, formats, terminal)
    guard let takes = read else { return status }

    try options.checkOutputs(reading: takes.sources)
    let session = options.session(on: backend, terminal)
    var prepared = PreparedTakes()

    func region(on engine: PlaybackEngine) throws -> ClosedRange<Double>? {
      prepared = try takes.prepared(for: engine)
      if prepared.areEqual {
        session.console.report("The takes are equal, sample for sample.")
      }
      return try part.region(of: prepared.duration)
    }
    let outcome: LiveOutcome
    if session.hasKeys {
      let (ended, audition) = try options.play(in: session, recordingsOf: takes.channelCounts) {
        engine in
        let region = try region(on: engine)
        return try AuditionTask(prepared, on: engine, match: match, region: region, gap: gap)
      }
      outcome = ended
      match = audition.match
    } else {
      (outcome, _) = try options.play(in: session, recordingsOf: takes.channelCounts) { engine in
        let region = try region(on: engine)
        return try SequentialAuditionTask(
          prepared.pieces, on: engine, gains: prepared.levels(by: match).gains, region: region,
          gap: gap,
          session: session)
      }
    }
    let levels = prepared.levels(by: match)
    let fields = prepared.pieces.enumerated().map { index, piece -> JSONMembers in
      [
        "letter": Take.letter(index), "name": piece.name, "sha256": takes[index].hash,
        "seconds": piece.duration,
        "gain": levels.gains[index],
      ]
    }
    return try options.report(outcome, ["takes": fields, "match": levels.match.rawValue], terminal)
  }
}

/// Takes of which the listener chooses one after the other under the same play head.
final class AuditionTask: SessionTask {
  private let takes: PreparedTakes
  private let deck: TakeSwitcher
  private var levels: [LevelMatch: MatchedLevels] = [:]
  private(set) var match: LevelMatch
  private(set) var chosen = 0

  init(
    _ takes: PreparedTakes, on engine: PlaybackEngine, match: LevelMatch,
    region: ClosedRange<Double>?, gap: Double
  )
    throws
  {
    self.takes = takes
    self.match = match
    let levels = takes.levels(by: match)
    self.levels[match] = levels
    deck = try TakeSwitcher(
      takes.pieces, on: engine, region: region, gap: gap, gains: Self.only(0, of: levels.gains))
  }

  var keys: [KeyHelp] {
    [(choiceKeys, "choose"), ("tab", "next take")] + TakeSwitcher.keys + [
      ("g", "match levels: none, loudness, felt")
    ]
  }

  private var choiceKeys: String {
    let count = takes.pieces.count
    // The letters behind F mean other things.
    guard count <= Self.letters.count else { return "1-\(count)" }
    return "1-\(count) or a-\(Self.letters[count - 1])"
  }

  private static let letters: [Character] = ["a", "b", "c", "d", "e", "f"]

  var state: PlaybackStatus.State { deck.state }
  var place: (position: Double, duration: Double?) { deck.shownPlace }

  var title: SessionTitle? {
    let letter = Take.letter(chosen)
    return SessionTitle(
      long: "\(letter) \(FileSystem.name(of: takes.pieces[chosen].name).printable)", short: letter,
      remarks: [deck.loopRemark, matchRemark])
  }

  func perform(at now: Duration) throws -> SessionStep { .wait(nil) }

  func press(_ key: KeyPress) throws -> Bool {
    if try deck.press(key) { return true }
    switch key {
    case .character("g"), .character("G"):
      let all = LevelMatch.allCases
      match = all[((all.firstIndex(of: match) ?? 0) + 1) % all.count]
      try choose(chosen)
    case .tab:
      try choose((chosen + 1) % takes.pieces.count)
    case .backTab:
      try choose((chosen + takes.pieces.count - 1) % takes.pieces.count)
    case .character(let character):
      guard let index = Self.index(of: character), index < takes.pieces.count else { return false }
      try choose(index)
    default:
      return false
    }
    return true
  }

  func levels(by match: LevelMatch) -> MatchedLevels {
    if let known = levels[match] { return known }
    let found = takes.levels(by: match)
    levels[match] = found
    return found
  }

  static func only(_ index: Int, of gains: [Double]) -> [Double] {
    gains.indices.map { $0 == index ? gains[$0] : 0 }
  }

  /// The take of a figure, or of a letter that means nothing else.
  private static func index(of character: Character) -> Int? {
    if let number = Int(String(character)), number > 0 { return number - 1 }
    return character.lowercased().first.flatMap { letters.firstIndex(of: $0) }
  }

  private func choose(_ index: Int) throws {
    chosen = index
    try deck.setGains(Self.only(index, of: levels(by: match).gains))
  }

  private var matchRemark: String {
    guard match != .none else { return "levels not matched" }
    let levels = levels(by: match)
    let gain = levels.gains[chosen]
    return "\(levels.match.rawValue) \(NumberFormatting.gain(gain))"
  }
}

/// Takes that are heard once each, one after the other, where nobody can choose.
final class SequentialAuditionTask: SessionTask {
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let group: PlayerGroup
  private let parts: [Part]
  private var announcedCount = 0

  /// A take, and the engine's frames of its first sample and behind its last.
  private typealias Part = (name: String, start: Int64, end: Int64)

  /// Everything is planned to the frame; `gap` in seconds, `region` nil for each take as long as it
  /// is.
  init(
    _ pieces: [CompiledPattern], on engine: PlaybackEngine, gains: [Double],
    region: ClosedRange<Double>?, gap: Double,
    session: LiveSession
  ) throws {
    self.engine = engine
    console = session.console
    group = PlayerGroup(
      try pieces.map { try engine.player(for: $0.plans, duration: $0.duration) }, of: engine)
    var frame = FrameConversion.frame(seconds: Playlist.leadIn, rate: engine.rate)
    var parts: [Part] = []
    try group.loop(end: 2 * FrameConversion.longest)
    for (index, piece) in pieces.enumerated() {
      let heard = region ?? 0...piece.duration
      let length = FrameConversion.frame(
        seconds: heard.upperBound - heard.lowerBound, rate: engine.rate)
      parts.append((piece.name, frame, frame + length))
      try group.setGains(AuditionTask.only(index, of: gains), over: 0, at: .frame(frame))
      try group.start(at: .frame(frame), from: heard.lowerBound)
      try group.pause(at: .frame(frame + length))
      frame += length + FrameConversion.frame(seconds: gap, rate: engine.rate)
    }
    self.parts = parts
  }

  var state: PlaybackStatus.State { current == nil ? .idle : .playing }

  var place: (position: Double, duration: Double?) {
    guard let current else { return (0, nil) }
    return (
      Double(engine.position - current.start) / engine.rate,
      Double(current.end - current.start) / engine.rate
    )
  }

  func perform(at now: Duration) throws -> SessionStep {
    while announcedCount < parts.count, parts[announcedCount].start <= engine.position {
      let part = parts[announcedCount]
      let letter = Take.letter(announcedCount)
      let seconds = Double(part.end - part.start) / engine.rate
      console.remark("\(letter): \(part.name.printable), \(NumberFormatting.seconds(seconds))")
      announcedCount += 1
    }
    let last = parts.last?.end ?? 0
    let tail = engine.routing.tail(rate: engine.rate)
    let end = last + FrameConversion.frame(seconds: tail, rate: engine.rate)
    let next = announcedCount < parts.count ? parts[announcedCount].start : end
    if engine.position >= end { return .over }
    return .wait(.inSeconds(Double(max(1, next - engine.position)) / engine.rate))
  }

  private var current: Part? { parts.first { ($0.start..<$0.end).contains(engine.position) } }
}
