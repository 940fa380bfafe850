import HapticModel
import HapticPlayback

extension ListenSession {
  /// Plays a pattern, in the place of what has its name.
  func start(_ play: ListenCommand.Play) throws(ListenError) -> [ListenReply.Field] {
    let piece = try cache.piece(play.pattern)
    return try told { () throws(PlaybackError) in
      let player = try engine.player(for: piece.plans, duration: piece.duration)
      if play.strength != 1 { try player.setGain(play.strength, over: 0) }
      if play.rate != 1 { try player.setPlaybackRate(play.rate) }
      if play.isLooping { try player.loop(passCount: nil) }
      return try start(
        player, as: play.name ?? piece.name, at: moment(play.start),
        from: play.position > 0 ? play.position : nil)
    }
  }

  /// Plays a continuous event, in the place of what has its name.
  func start(_ buzz: ListenCommand.Buzz) throws(ListenError) -> [ListenReply.Field] {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: buzz.duration,
      parameters: [
        .hapticIntensity: Float(buzz.intensity), .hapticSharpness: Float(buzz.sharpness),
      ])
    let player = try player(for: HapticPattern(events: [event]))
    return try told { () throws(PlaybackError) in
      try start(player, as: buzz.name ?? newBuzzName(), at: moment(buzz.start))
    }
  }

  /// Plays a transient; it has no name, but is stopped with all others.
  func tap(intensity: Double, sharpness: Double, at time: ListenTime) throws(ListenError)
    -> [ListenReply.Field]
  {
    let event = HapticEvent(
      kind: .hapticTransient, time: 0,
      parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)])
    let player = try player(for: HapticPattern(events: [event]))
    return try told { () throws(PlaybackError) in
      try start(player, as: nil, at: moment(time))
    }
  }

  /// Runs calls of the engine, and tells why it refused one.
  func told<Result>(_ calls: () throws(PlaybackError) -> Result) throws(ListenError) -> Result {
    do {
      return try calls()
    } catch {
      switch error.kind {
      case .tooManyCommands, .tooManyPlayers: throw ListenError(.busy, error.description)
      case .notLive: throw ListenError(.invalidValue, error.description)
      }
    }
  }

  /// Starts a player in the place of what has its name then, and keeps it.
  private func start(
    _ player: PatternPlayer, as name: String?, at moment: ScheduledTime, from place: Double? = nil
  ) throws(PlaybackError) -> [ListenReply.Field] {
    if name != nil {
      for old in voices where old.name == name { try end(old, at: moment, isSuccession: true) }
    }
    try player.start(at: moment.time, from: place)
    keep(ListenPlayer(name: name, player: player, start: moment.frame))
    let time = ListenReply.Field.number("time", Double(moment.frame) / engine.rate)
    guard let name else { return [time] }
    return [.pair("name", name), time, .number("duration", player.duration)]
  }

  private func player(for pattern: HapticPattern) throws(ListenError) -> PatternPlayer {
    do {
      return try engine.player(for: pattern)
    } catch let error as PlaybackError {
      throw ListenError(.busy, error.description)
    } catch {
      throw ListenError(.invalidValue, "\(error)")
    }
  }

  private func newBuzzName() -> String {
    repeat { buzzCount += 1 } while names.contains("buzz-\(buzzCount)")
    return "buzz-\(buzzCount)"
  }
}
