package import HapticPlayback

/// The players of a script on an engine.
package struct ScriptPlayers {
  private let players: [String: PatternPlayer]

  /// Loads every pattern of a script.
  package init(_ script: PlaybackScript, on engine: PlaybackEngine) throws {
    var players: [String: PatternPlayer] = [:]
    for name in Set(script.steps.map(\.pattern)).sorted() {
      players[name] = try engine.player(for: RigPattern.named(name))
    }
    self.players = players
  }

  /// Sends one step.
  ///
  /// - Parameter base: The engine's frame at which the script begins.
  package func send(_ step: PlaybackScript.Step, base: Int64) throws {
    guard let player = players[step.pattern] else { return }
    let time = PlaybackTime.frame(base + step.frame)
    switch step.action {
    case .start: try player.start(at: time)
    case .stop: try player.stop(at: time)
    case .pause: try player.pause(at: time)
    case .resume: try player.resume(at: time)
    case .loop(let count): try player.loop(passCount: count == 0 ? nil : count, at: time)
    case .seek(let offset): try player.seek(to: offset, at: time)
    case .gain(let gain): try player.setGain(gain, at: time)
    }
  }

  /// What a script sounds like in virtual time: one channel, from its frame 0 to its end.
  package static func samples(of script: PlaybackScript, rate: Double = 48_000) throws -> [Float] {
    let engine = PlaybackEngine(rate: rate)
    let playback = VirtualPlayback(engine, periodSize: 64)
    let players = try ScriptPlayers(script, on: engine)
    // Away from the beginning, where the gate opens.
    let base: Int64 = 640
    for step in script.steps { try players.send(step, base: base) }
    playback.advance(seconds: Double(base + script.end) / rate)
    return Array(playback.samples().dropFirst(Int(base)).prefix(Int(script.end)))
  }
}
