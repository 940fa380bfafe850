internal import HapticModel
internal import HapticPlayback
internal import HapticRender
internal import PatternWorkflows
internal import SystemSupport
internal import TransducerProfiles

extension ListenSession {
  func start(_ play: ListenCommand.Play, _ piece: PatternLoader.CachedPattern) throws(ListenError) -> [ListenReply
    .Field]
  {
    try checkShare()
    return try translated { () throws(PlaybackError) in
      let player = try engine.player(for: piece.plans, duration: piece.duration)
      if play.rate != 1 { try player.setPlaybackRate(play.rate) }
      if play.isLooping { try player.loop(passCount: nil) }
      return try start(
        player, as: play.name ?? piece.name, at: moment(play.start), from: play.position > 0 ? play.position : nil,
        gain: play.strength, priority: play.priority)
    }
  }

  func start(_ hum: ListenCommand.Hum) throws(ListenError) -> [ListenReply.Field] {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: hum.duration,
      parameters: [.hapticIntensity: Float(hum.intensity), .hapticSharpness: Float(hum.sharpness)])
    try checkShare()
    let player = try player(for: HapticPattern(events: [event]))
    return try translated { () throws(PlaybackError) in
      try start(player, as: hum.name ?? newName("hum"), at: moment(hum.start), priority: hum.priority)
    }
  }

  /// Plays a transient; it has no name, but is stopped with all others.
  ///
  /// One that is not near waits here, and takes no player until it is.
  func tap(intensity: Double, sharpness: Double, at time: ListenTime) throws(ListenError) -> [ListenReply.Field] {
    let moment = moment(time)
    let tap = TapSchedule.Tap(
      frame: moment.frame, intensity: Float(intensity), sharpness: Float(sharpness), client: client)
    if isNear(tap.frame) {
      try start(tap, at: moment)
    } else if !taps.add(tap) {
      throw ListenError(.busy, "this client has \(TapSchedule.maximumCount) taps waiting; send more later")
    }
    return [.number("time", Double(moment.frame) / engine.rate)]
  }

  func sendTaps() {
    while let frame = taps.firstFrame, isNear(frame), let tap = taps.take(before: .max) {
      do throws(ListenError) { try start(tap, at: ScheduledTime(time: .frame(tap.frame), frame: tap.frame)) } catch {
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
      kind: .hapticTransient, time: 0, parameters: [.hapticIntensity: tap.intensity, .hapticSharpness: tap.sharpness])
    let player = try player(for: HapticPattern(events: [event]))
    _ = try translated { () throws(PlaybackError) in try start(player, as: nil, at: moment) }
  }

  /// Refuses a sound where its client has as many as are free: one client can hold half of all, and leaves
  /// space for others.
  func checkShare() throws(ListenError) {
    let all = Renderer.maximumPlayerCount / engine.profiles.count
    let own = voices.count { $0.client == client && $0.name != nil }
    guard own < max(1, all - voices.count) else {
      throw ListenError(.busy, "this client has \(own) sounds that play or wait; stop some, or wait for their end")
    }
  }

  func translated<Result>(_ calls: () throws(PlaybackError) -> Result) throws(ListenError) -> Result {
    do { return try calls() } catch {
      switch error.kind {
      case .tooManyCommands: throw ListenError(.busy, error.description)
      case .tooManyPlayers: throw ListenError(.busy, "too many sounds play or wait; stop some, or wait for their end")
      }
    }
  }

  func start(
    _ player: PatternPlayer, as name: String?, at moment: ScheduledTime, from place: Double? = nil, gain: Double = 1,
    priority: Int = 0
  ) throws(PlaybackError) -> [ListenReply.Field] {
    if name != nil { for old in voices where old.name == name { try end(old, at: moment, isSuccession: true) } }
    let voice = ListenPlayer(name: name, player: player, start: moment.frame, client: client, priority: priority)
    voice.gain = gain
    // Where something of a higher priority plays already, it begins as quiet.
    voice.duckGain = duckGain(of: voice, at: moment.frame)
    if voice.totalGain != 1 { try player.setGain(voice.totalGain, over: 0) }
    try player.start(at: moment.time, from: place)
    keep(voice)
    if priority > 0 { try duckBelow(voice, at: moment) }
    let time = ListenReply.Field.number("time", Double(moment.frame) / engine.rate)
    guard let name else { return [time] }
    return [.pair("name", name), time, .number("duration", player.duration)]
  }

  private func player(for pattern: HapticPattern) throws(ListenError) -> PatternPlayer {
    do { return try engine.player(for: pattern) } catch let error as PlaybackError {
      throw ListenError(
        .busy,
        error.kind == .tooManyPlayers
          ? "too many sounds play or wait; stop some, or wait for their end" : error.description)
    } catch { throw ListenError(.invalidValue, "\(error)") }
  }

  /// A name that no sound has, such as `hum-3`.
  func newName(_ word: String) -> String {
    repeat { nameCount += 1 } while names.contains("\(word)-\(nameCount)")
    return "\(word)-\(nameCount)"
  }
}

extension ListenSession {
  func set(_ setting: ListenCommand.Setting) throws(ListenError) {
    let moment = moment(setting.start)
    switch setting.parameter {
    case .strength:
      let ramp = setting.ramp
      guard let name = setting.name else {
        return try translated { () throws(PlaybackError) in
          try engine.setStrength(Float(setting.value), over: max(ramp, PlaybackEngine.strengthRamp), at: moment.time)
        }
      }
      try each(name) { voice throws(PlaybackError) in
        voice.gain = setting.value
        try voice.player.setGain(voice.totalGain, over: ramp > 0 ? ramp : nil, at: moment.time)
        voice.note(moment.frame)
      }
    case .control(let id):
      try each(setting.name) { voice throws(PlaybackError) in
        try voice.set(id, to: setting.value, over: setting.ramp, at: moment, rate: engine.rate)
      }
    }
  }

  func stop(_ name: String?, at time: ListenTime) throws(ListenError) {
    let moment = moment(time)
    if name == nil { taps.removeAll(from: moment.frame) }
    let ending = try name.map { name throws(ListenError) in try named(name) } ?? voices
    for voice in ending { try translated { () throws(PlaybackError) in try end(voice, at: moment) } }
  }

  /// Pauses what is named, or all that has a name; what waits for its time is paused when it starts.
  func pause(_ name: String?) throws(ListenError) {
    try each(name) { voice throws(PlaybackError) in
      try voice.player.pause(at: voice.changeTime)
      voice.isPaused = true
    }
  }

  func resume(_ name: String?) throws(ListenError) {
    try each(name) { voice throws(PlaybackError) in
      try voice.player.resume(at: voice.changeTime)
      voice.isPaused = false
    }
  }

  func seek(_ name: String, to position: Double) throws(ListenError) {
    try each(name) { voice throws(PlaybackError) in try voice.player.seek(to: position, at: voice.changeTime) }
  }

  func loop(_ name: String, isOn: Bool, end: Double?) throws(ListenError) {
    try each(name) { voice throws(PlaybackError) in try voice.player.loop(passCount: isOn ? nil : 1, end: end) }
  }

  func setPlaybackRate(_ rate: Double, of name: String) throws(ListenError) {
    try each(name) { voice throws(PlaybackError) in try voice.player.setPlaybackRate(rate) }
  }

  /// Moves where what is named is felt; what waits for its time begins there.
  func pan(_ name: String, to text: String, over ramp: Double) throws(ListenError) {
    guard let array else {
      throw ListenError(.invalidValue, "there is no array; start 'temblor listen' with '--array FILE'")
    }
    guard let position = ArrayPosition(text, in: array.layout) else {
      throw ListenError(.invalidValue, "POS must be \(array.layout.positionMeaning), not \(text.inQuotes)")
    }
    try each(name) { voice throws(PlaybackError) in
      try voice.pan(to: position, over: ramp, on: array, now: engine.position, rate: engine.rate)
    }
  }

  func setMuted(_ isMuted: Bool, _ name: String?) throws(ListenError) {
    if name == nil { engine.isMuted = isMuted }
    // Without a name, muting silences all at once; unmuting is for each that was muted alone, too.
    if name == nil && isMuted { return }
    try each(name) { voice throws(PlaybackError) in
      guard voice.isMuted != isMuted else { return }
      try voice.player.setMuted(isMuted)
      voice.isMuted = isMuted
    }
  }

  /// Ends a voice at a moment; one that would start no sooner never does.
  ///
  /// - Parameter isSuccession: Whether another of the same name follows, so that the end is not an event.
  func end(_ voice: ListenPlayer, at moment: ScheduledTime, isSuccession: Bool = false) throws(PlaybackError) {
    let isToCome = !voice.hasStarted && voice.start >= moment.frame
    if isToCome { try voice.player.cancel() } else { try voice.player.stop(at: moment.time) }
    voice.note(moment.frame)
    if isSuccession {
      voice.successionFrame = min(voice.successionFrame ?? .max, moment.frame)
    } else {
      voice.stopFrame = min(voice.stopFrame ?? .max, moment.frame)
    }
    if isToCome { drop(voice) }
  }

  private func each(_ name: String?, _ change: (ListenPlayer) throws(PlaybackError) -> Void) throws(ListenError) {
    let changing = try name.map { name throws(ListenError) in try named(name) } ?? voices.filter { $0.name != nil }
    for voice in changing { try translated { () throws(PlaybackError) in try change(voice) } }
  }

  private func named(_ name: String) throws(ListenError) -> [ListenPlayer] {
    let found = voices.filter { $0.name == name }
    guard found.isEmpty else { return found }
    throw ListenError(
      .unknownName, "no sound named \(name.inQuotes) is playing" + Suggestion.question(name, among: names))
  }
}
