/// Does what commands ask for on an engine, and reports what becomes of it; never waits, and
/// belongs to one thread.
package final class ListenSession {
  package let engine: PlaybackEngine
  /// What was started and has not ended, as of the last look, in the order it was asked for.
  var voices: [ListenPlayer] = []
  let loader: PatternLoader
  var taps = TapSchedule()
  var ducking = Ducking()
  var client = 0
  var nameCount = 0
  let array: TransducerArray?
  let device: String
  private let wake: WakeSignal?
  private var events: [ListenReply] = []
  private var endFrame: Int64 = 0
  var trouble = SinkEventFolding()
  let start: Int
  /// The greatest magnitude since the start, and since it was last answered.
  private var greatestPeak: Float = 0
  private var recentPeak: Float = 0
  private(set) var lateCommandCount = 0
  private var isLate = false
  /// The pattern of the command that is done, where it was loaded before.
  private var loaded: Result<CompiledPattern, ListenError>?

  /// - Parameters:
  ///   - start: When it begins, in seconds since 1970.
  ///   - wake: Raised on another thread when there may be events to take.
  package init(
    _ engine: PlaybackEngine, device: String, array: TransducerArray? = nil, start: Int = 0,
    wake: WakeSignal? = nil,
    formats: FormatRegistry = .standard, folder: String? = nil, loadsAside: Bool = false,
    message: @escaping @Sendable (any Error) -> String = { "\($0)" }
  ) {
    self.engine = engine
    self.device = device
    self.array = array
    self.start = start
    self.wake = wake
    loader = PatternLoader(
      profiles: engine.profiles, rate: engine.rate, formats: formats, folder: folder,
      loadsAside: loadsAside,
      message: message)
  }

  func load(for request: ListenRequest) throws(ListenError) -> PatternLoader.Job? {
    guard case .success(let command) = request.command, command.isLoaded else { return nil }
    return try loader.begin(command, wake: wake)
  }

  /// Does what a request asks for, with its pattern or one loaded here; `quit` and `shutdown` are
  /// the owner's.
  func answer(
    _ request: ListenRequest, client: Int = 0,
    with piece: Result<CompiledPattern, ListenError>? = nil
  ) -> ListenReply {
    collect()
    self.client = client
    loaded = piece
    isLate = false
    defer { loaded = nil }
    do throws(ListenError) {
      let command = try request.command.get()
      let fields = try command.form.perform(self)(command)
      if isLate {
        lateCommandCount += 1
      }
      return .ok(fields, tag: request.tag)
    } catch {
      return .error(error, tag: request.tag)
    }
  }

  package func takeEvents() -> [ListenReply] {
    collect()
    defer { events = [] }
    return events
  }

  /// Lets what plays come to its end: loops end with the running pass, and what is paused is
  /// stopped.
  package func finishPlaying() -> Bool {
    collect()
    do throws(PlaybackError) {
      for voice in voices where voice.stopFrame == nil && voice.successionFrame == nil {
        if voice.isPaused {
          try end(voice, at: moment(.now))
        } else {
          try voice.player.loop(passCount: 1)
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Seconds until all has been heard, `tail` seconds behind the last end; nil while something
  /// plays or waits.
  package func secondsLeft(tail: Double? = nil) -> Double? {
    collect()
    guard voices.isEmpty, taps.count == 0 else { return nil }
    let delay = engine.routing.channels.map(\.delay).max() ?? 0
    let left =
      Double(endFrame + Int64(delay) - engine.position) / engine.rate
      + (tail ?? engine.routing.tail(rate: engine.rate))
    return max(0, left)
  }

  private func piece(_ command: ListenCommand) throws(ListenError) -> CompiledPattern {
    guard let loaded else { return try loader.piece(command) }
    return try loaded.get()
  }

  func preload(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    [.number("duration", try piece(command).duration)]
  }

  func stats(_: ListenCommand) -> [ListenReply.Field] { [.json(fields.line)] }
  func list(_: ListenCommand) -> [ListenReply.Field] { names.map { .text($0) } }

  func help(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    try ListenGrammar.help(command.text("COMMAND"))
  }

  func nothing(_: ListenCommand) -> [ListenReply.Field] { [] }

  func status(_: ListenCommand) -> [ListenReply.Field] {
    let unstarted = voices.count { !$0.isPaused && !$0.hasStarted }
    let paused = voices.count { $0.isPaused }
    takePeak()
    defer { recentPeak = 0 }
    return [
      .number("time", engine.seconds), .count("playing", voices.count - unstarted - paused),
      .count("waiting", unstarted + taps.count), .count("paused", paused),
      .count("voices", engine.voiceCount),
      .number("strength", Double(engine.strength)), .pair("muted", engine.isMuted ? "yes" : "no"),
      .number("peak", Double(recentPeak)),
      .number("limited", Double(engine.limitedFrameCount) / engine.rate),
      .count("underruns", trouble.underrunCount),
      .number("missed", Double(trouble.missedFrameCount) / engine.rate),
      .pair("device", device), .count("rate", Int(engine.rate)),
    ]
  }

  /// The greatest magnitude since the start.
  @discardableResult func takePeak() -> Float {
    for channel in engine.routing.channels.indices {
      recentPeak = max(recentPeak, engine.takePeak(ofChannel: channel))
    }
    greatestPeak = max(greatestPeak, recentPeak)
    return greatestPeak
  }

  var activity: PlaybackStatus.State {
    if voices.contains(where: { $0.hasStarted && !$0.isPaused }) {
      return .playing
    }
    return voices.contains { $0.isPaused } ? .paused : .idle
  }

  /// The names of what plays or is to play, each once, in the order they came.
  var names: [String] {
    var names: [String] = []
    for case let name? in voices.map(\.name) where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  func moment(_ time: ListenTime) -> ScheduledTime {
    let now = engine.position
    let frame =
      switch time {
      case .now: now
      case .after(let seconds): now + FrameConversion.frame(seconds: seconds, rate: engine.rate)
      case .at(let seconds): Int64((seconds * engine.rate).rounded())
      }
    if case .at = time, frame < now {
      isLate = true
    }
    return frame > now ? (.frame(frame), frame) : (.now, now)
  }

  /// How long until something is to be done without a request; nil where there is nothing.
  package func timeout() -> Duration? {
    taps.firstFrame.map { frame in
      let left = Double(frame - engine.position) / engine.rate - Self.nearSeconds / 2
      return .seconds(max(0.001, left))
    }
  }

  /// Releases what has ended, and reports it; starts taps whose time is near.
  private func collect() {
    sendTaps()
    let ended = voices.filter(\.hasEnded)
    if ended.isEmpty { return }
    defer { adjustDucking() }
    voices.removeAll { voice in ended.contains { $0 === voice } }
    // Sorting keeps the order of what ended together.
    for voice in ended.sorted(by: { $0.player.endFrame < $1.player.endFrame }) {
      let frame = voice.player.endFrame
      // What waits for its time would keep the player loaded; without space now, it goes then.
      if voice.lastFrame > frame {
        try? voice.player.cancel()
      }
      endFrame = max(endFrame, frame)
      if let succession = voice.successionFrame, frame >= succession {
        continue
      }
      let isStopped = voice.stopFrame.map { frame >= $0 } ?? false
      tellEnd(of: voice, isStopped ? "stopped" : "finished", at: frame)
    }
  }

  private func tellEnd(of voice: ListenPlayer, _ event: String, at frame: Int64) {
    guard let name = voice.name else { return }
    events.append(
      .event(event, [.pair("name", name), .number("time", Double(frame) / engine.rate)]))
  }

  func tell(_ event: String, _ fields: [ListenReply.Field]) {
    events.append(.event(event, [.number("time", engine.seconds)] + fields))
  }

  package func note(_ event: SinkEvent, at now: Duration) {
    for report in trouble.add(event, at: now) {
      tell(report)
    }
  }

  /// How long until events of the device that repeat are to be reported; nil where there are none.
  package func foldedTimeout(at now: Duration) -> Duration? { trouble.timeout(at: now) }

  /// Reports what was held back and is due; all of it without a time.
  package func reportFolded(at now: Duration?) {
    for report in trouble.takeDue(at: now) {
      tell(report)
    }
  }

  private func tell(_ report: SinkEventFolding.Report) {
    let event = report.event
    // Nothing a script could act on; standard error has it.
    if event.kind == .degraded { return }
    let name = event.kind.name
    let missed = ListenReply.Field.number("missed", Double(event.missedFrameCount) / engine.rate)
    let count = ListenReply.Field.count("count", report.count)
    if event.kind == .underrun {
      return tell(name, [missed, count] + (event.cause.map { [.pair("cause", $0.name)] } ?? []))
    }
    tell(name, [missed] + (report.count > 1 ? [count] : []) + [.pair("text", event.text)])
  }

  func play(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let piece = try piece(command)
    try checkShare()
    return try translated { () throws(PlaybackError) in
      let player = try engine.player(for: piece.plans, duration: piece.duration)
      let rate = command.number("rate", 1)
      if rate != 1 {
        try player.setPlaybackRate(rate)
      }
      if command.flag("loop") {
        try player.loop(passCount: nil)
      }
      let position = command.number("from")
      return try start(
        player, as: command.text("as") ?? piece.name, at: moment(command.time),
        from: position > 0 ? position : nil,
        gain: command.number("strength", 1), priority: command.priority)
    }
  }

  func hum(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let intensity = Float(command.number("INTENSITY"))
    let sharpness = Float(command.number("SHARPNESS"))
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: command.number("SECONDS"),
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    try checkShare()
    let player = try player(for: HapticPattern(events: [event]))
    return try translated { () throws(PlaybackError) in
      try start(
        player, as: command.text("as") ?? newName("hum"), at: moment(command.time),
        priority: command.priority)
    }
  }

  /// Plays a transient, which has no name; one that is not near waits here, and takes no player
  /// until it is.
  func tap(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let moment = moment(command.time)
    let tap = TapSchedule.Tap(
      frame: moment.frame, intensity: Float(command.number("INTENSITY", 1)),
      sharpness: Float(command.number("SHARPNESS", 0.5)), client: client)
    if isNear(tap.frame) {
      try start(tap, at: moment)
    } else if !taps.add(tap) {
      throw ListenError(
        .busy, "this client has \(TapSchedule.maximumCount) taps waiting; send more later")
    }
    return [.number("time", Double(moment.frame) / engine.rate)]
  }

  func sendTaps() {
    while let frame = taps.firstFrame, isNear(frame), let tap = taps.take(before: .max) {
      do throws(ListenError) {
        try start(tap, at: (.frame(tap.frame), tap.frame))
      } catch {
        // There is space for it a period later.
        return taps.putBack(tap)
      }
    }
  }

  /// Seconds before its time at which a tap gets a player in any case.
  static var nearSeconds: Double { 0.1 }
  /// Seconds before its time at which a tap gets a player where there are many.
  private static var farSeconds: Double { 2 }
  private static var readyCount: Int { 256 }

  private func isNear(_ frame: Int64) -> Bool {
    let left = Double(frame - engine.position) / engine.rate
    return left < (voices.count < Self.readyCount ? Self.farSeconds : Self.nearSeconds)
  }

  private func start(_ tap: TapSchedule.Tap, at moment: ScheduledTime) throws(ListenError) {
    let event = HapticEvent(
      kind: .hapticTransient, time: 0,
      parameters: [.hapticIntensity: tap.intensity, .hapticSharpness: tap.sharpness])
    let player = try player(for: HapticPattern(events: [event]))
    _ = try translated { () throws(PlaybackError) in try start(player, as: nil, at: moment) }
  }

  /// Refuses a sound where its client has as many as are free: one can hold half of all, and leaves
  /// space for others.
  func checkShare() throws(ListenError) {
    let all = Renderer.maximumPlayerCount / engine.profiles.count
    let own = voices.count { $0.client == client && $0.name != nil }
    guard own < max(1, all - voices.count) else {
      throw ListenError(
        .busy, "this client has \(own) sounds that play or wait; stop some, or wait for their end")
    }
  }

  func translated<Result>(_ calls: () throws(PlaybackError) -> Result) throws(ListenError) -> Result
  {
    do {
      return try calls()
    } catch {
      throw Self.refusal(error)
    }
  }

  private static func refusal(_ error: PlaybackError) -> ListenError {
    let isFull = error.kind == .tooManyPlayers
    return ListenError(
      .busy,
      isFull ? "too many sounds play or wait; stop some, or wait for their end" : error.description)
  }

  func start(
    _ player: PatternPlayer, as name: String?, at moment: ScheduledTime, from place: Double? = nil,
    gain: Double = 1,
    priority: Int = 0
  ) throws(PlaybackError) -> [ListenReply.Field] {
    if name != nil {
      for old in voices where old.name == name {
        try end(old, at: moment, isSuccession: true)
      }
    }
    let voice = ListenPlayer(
      name: name, player: player, start: moment.frame, client: client, priority: priority)
    voice.gain = gain
    // Where something of a higher priority plays already, it begins as quiet.
    voice.duckGain = duckGain(of: voice, at: moment.frame)
    if voice.totalGain != 1 {
      try player.setGain(voice.totalGain, over: 0)
    }
    try player.start(at: moment.time, from: place)
    if let wake {
      player.endHandler = { wake.raise() }
    }
    voices.append(voice)
    if priority > 0 {
      try duckBelow(voice, at: moment)
    }
    let time = ListenReply.Field.number("time", Double(moment.frame) / engine.rate)
    guard let name else { return [time] }
    return [.pair("name", name), time, .number("duration", player.duration)]
  }

  private func player(for pattern: HapticPattern) throws(ListenError) -> PatternPlayer {
    do {
      return try engine.player(for: pattern)
    } catch let error as PlaybackError {
      throw Self.refusal(error)
    } catch {
      throw ListenError(.invalidValue, "\(error)")
    }
  }

  /// A name that no sound has, such as `hum-3`.
  func newName(_ word: String) -> String {
    repeat {
      nameCount += 1
    } while names.contains("\(word)-\(nameCount)")
    return "\(word)-\(nameCount)"
  }

  func set(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    guard let parameter = command.text("PARAMETER").flatMap(ListenParameter.init) else { return [] }
    let value = command.number("VALUE")
    let ramp = command.number("over")
    guard parameter.range.contains(value) else {
      let bounds = ListenCommandSyntax.Kind.number(parameter.range).bounds
      throw ListenError(
        .invalidValue, "\(parameter.name) must be \(bounds), not '\(NumberFormatting.short(value))'"
      )
    }
    let moment = moment(command.time)
    let name = command.text("of")
    switch parameter {
    case .strength where name == nil:
      try translated { () throws(PlaybackError) in
        try engine.setStrength(
          Float(value), over: max(ramp, PlaybackEngine.strengthRamp), at: moment.time)
      }
      return []
    case .strength:
      return try each(name) { voice throws(PlaybackError) in
        voice.gain = value
        try voice.player.setGain(voice.totalGain, over: ramp > 0 ? ramp : nil, at: moment.time)
        voice.note(moment.frame)
      }
    case .control(let id):
      return try each(name) { voice throws(PlaybackError) in
        try voice.set(id, to: value, over: ramp, at: moment, rate: engine.rate)
      }
    }
  }

  func stop(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let moment = moment(command.time)
    if command.name == nil {
      taps.removeAll(from: moment.frame)
    }
    let ending = try command.name.map { name throws(ListenError) in try named(name) } ?? voices
    for voice in ending {
      try translated { () throws(PlaybackError) in try end(voice, at: moment) }
    }
    return []
  }

  /// Pauses what is named, or all that has a name; what waits for its time is paused when it
  /// starts.
  func pause(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    try each(command.name) { voice throws(PlaybackError) in
      try voice.player.pause(at: voice.changeTime)
      voice.isPaused = true
    }
  }

  func resume(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    try each(command.name) { voice throws(PlaybackError) in
      try voice.player.resume(at: voice.changeTime)
      voice.isPaused = false
    }
  }

  func seek(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    try each(command.name) { voice throws(PlaybackError) in
      try voice.player.seek(to: command.number("SECONDS"), at: voice.changeTime)
    }
  }

  func loop(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let isOn = command.text("SWITCH") == "on"
    let end = command.flag("end") ? command.number("end") : nil
    guard isOn || end == nil else { throw ListenError(.unexpectedArgument, "'end' requires 'on'") }
    return try each(command.name) { voice throws(PlaybackError) in
      try voice.player.loop(passCount: isOn ? nil : 1, end: end)
    }
  }

  func rate(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    try each(command.name) { voice throws(PlaybackError) in
      try voice.player.setPlaybackRate(command.number("RATE"))
    }
  }

  /// Moves where what is named is felt; what waits for its time begins there.
  func pan(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    guard let array else {
      throw ListenError(
        .invalidValue, "there is no array; start 'temblor listen' with '--array FILE'")
    }
    let text = command.text("POS") ?? ""
    guard let position = ArrayPosition(text, in: array.layout) else {
      throw ListenError(
        .invalidValue, "POS must be \(array.layout.positionMeaning), not \(text.inQuotes)")
    }
    return try each(command.name) { voice throws(PlaybackError) in
      try voice.pan(
        to: position, over: command.number("over"), on: array, now: engine.position,
        rate: engine.rate)
    }
  }

  func mute(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let isMuted = command.form.verb == "mute"
    if command.name == nil {
      engine.isMuted = isMuted
    }
    // Without a name, muting silences all at once; unmuting is for each that was muted alone, too.
    if command.name == nil && isMuted { return [] }
    return try each(command.name) { voice throws(PlaybackError) in
      guard voice.isMuted != isMuted else { return }
      try voice.player.setMuted(isMuted)
      voice.isMuted = isMuted
    }
  }

  /// Ends a voice at a moment; one that would start no sooner never does.
  func end(_ voice: ListenPlayer, at moment: ScheduledTime, isSuccession: Bool = false)
    throws(PlaybackError)
  {
    let isToCome = !voice.hasStarted && voice.start >= moment.frame
    if isToCome {
      try voice.player.cancel()
    } else {
      try voice.player.stop(at: moment.time)
    }
    voice.note(moment.frame)
    if isSuccession {
      voice.successionFrame = min(voice.successionFrame ?? .max, moment.frame)
    } else {
      voice.stopFrame = min(voice.stopFrame ?? .max, moment.frame)
    }
    if isToCome {
      voices.removeAll { $0 === voice }
      if voice.successionFrame == nil {
        tellEnd(of: voice, "stopped", at: engine.position)
      }
    }
  }

  private func each(_ name: String?, _ change: (ListenPlayer) throws(PlaybackError) -> Void)
    throws(ListenError)
    -> [ListenReply.Field]
  {
    let changing =
      try name.map { name throws(ListenError) in try named(name) }
      ?? voices.filter { $0.name != nil }
    for voice in changing {
      try translated { () throws(PlaybackError) in try change(voice) }
    }
    return []
  }

  private func named(_ name: String) throws(ListenError) -> [ListenPlayer] {
    let found = voices.filter { $0.name == name }
    guard found.isEmpty else { return found }
    throw ListenError(
      .unknownName,
      "no sound named \(name.inQuotes) is playing" + Suggestion.question(name, among: names))
  }

  /// Noises that can play or wait at once; each has samples of its own.
  static let maximumNoiseCount = 16

  func noise(_ command: ListenCommand) throws(ListenError) -> [ListenReply.Field] {
    let piece = try piece(command)
    try checkShare()
    guard
      voices.count(where: { $0.isNoise && $0.name != command.text("as") }) < Self.maximumNoiseCount
    else {
      throw ListenError(
        .busy, "\(Self.maximumNoiseCount) noises play or wait; stop one, or wait for its end")
    }
    return try translated { () throws(PlaybackError) in
      let player = try engine.player(for: piece.plans, duration: piece.duration)
      try player.loop(passCount: nil)
      let moment = moment(command.time)
      let name = command.text("as") ?? newName("noise")
      let duration = command.number("SECONDS")
      _ = try start(player, as: name, at: moment, priority: command.priority)
      let end = moment.frame + FrameConversion.frame(seconds: duration, rate: engine.rate)
      try player.stop(at: .frame(end))
      if let voice = voices.last {
        voice.isNoise = true
        voice.note(end)
      }
      return [
        .pair("name", name), .number("time", Double(moment.frame) / engine.rate),
        .number("duration", duration),
      ]
    }
  }
}

extension CompiledPattern {
  init(noise command: ListenCommand, profiles: [TransducerProfile], rate: Double)
    throws(ListenError)
  {
    name = "noise"
    duration = 0
    plans = []
    for profile in profiles {
      var signal = SampledSignal.noise(
        center: profile.frequency.hertz(atSharpness: command.number("SHARPNESS")),
        bandwidth: command.number("OCTAVES"), rate: rate, seed: UInt64(command.number("seed")))
      let amplitude = Float(profile.intensity.amplitude(atIntensity: command.number("INTENSITY")))
      for index in signal.samples.indices {
        signal.samples[index] *= amplitude
      }
      let layer = HapticComposition.Layer(HapticPattern(), signals: [signal])
      duration = signal.duration
      do {
        plans.append(
          try RenderPlan(
            compiling: HapticComposition(layers: [layer]), profile: profile, rate: rate))
      } catch {
        throw ListenError(.invalidValue, "\(error)")
      }
    }
  }
}

struct Ducking: Equatable, Sendable {
  /// The gain of lower priorities meanwhile; 1 leaves them alone.
  var gain = 1.0
  /// Seconds over which they become quieter, from the start of the higher one.
  var attack = 0.05
  /// Seconds over which they return, from its end.
  var release = 0.3
}

extension ListenSession {
  func duck(_ command: ListenCommand) -> [ListenReply.Field] {
    let usual = Ducking()
    ducking = Ducking(
      gain: command.number("GAIN"), attack: command.number("attack", usual.attack),
      release: command.number("release", usual.release))
    adjustDucking()
    return []
  }

  func duckGain(of voice: ListenPlayer, at frame: Int64) -> Double {
    let isBelow = voices.contains { other in
      other.priority > voice.priority && other.start <= frame && !other.hasEnded && !other.isPaused
    }
    return isBelow ? ducking.gain : 1
  }

  func duckBelow(_ voice: ListenPlayer, at moment: ScheduledTime) throws(PlaybackError) {
    guard ducking.gain != 1 else { return }
    for other in voices where other.priority < voice.priority && other.duckGain != ducking.gain {
      other.duckGain = ducking.gain
      try other.player.setGain(other.totalGain, over: ducking.attack, at: moment.time)
      other.note(moment.frame)
    }
  }

  /// Gives every sound the gain it has because of others now; without space for a command, a later
  /// call does.
  func adjustDucking() {
    for voice in voices where !voice.hasEnded {
      let gain = duckGain(of: voice, at: engine.position)
      guard gain != voice.duckGain else { continue }
      // What is to become quieter later was sent with its frame.
      let isAhead = voices.contains { $0.priority > voice.priority && !$0.hasEnded }
      if gain > voice.duckGain && isAhead { continue }
      let ramp = gain < voice.duckGain ? ducking.attack : ducking.release
      let before = voice.duckGain
      voice.duckGain = gain
      do throws(PlaybackError) {
        try voice.player.setGain(voice.totalGain, over: ramp)
      } catch {
        voice.duckGain = before
      }
    }
  }
}
