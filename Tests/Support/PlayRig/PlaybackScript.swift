package import HapticPlayback

/// What is played and changed at which frames, as lines that a process can be given.
///
/// A line is `FRAME VERB PATTERN [NUMBER]` or `FRAME end`; a pattern has one player.
package struct PlaybackScript: Sendable {
  /// A line that says nothing known.
  struct UnreadableLine: Error { let line: String }

  /// What is done with a player.
  package enum Action: Equatable, Sendable {
    case start, stop, pause, resume
    /// Passes in all; 0 is for ever.
    case loop(Int)
    /// Seconds of the pattern.
    case seek(Double)
    case gain(Double)
  }

  /// One thing that is done.
  package struct Step: Equatable, Sendable {
    /// Frames since the script began.
    package var frame: Int64
    package var action: Action
    package var pattern: String
  }

  /// The steps, in the order of the text.
  package private(set) var steps: [Step] = []
  /// The frame at which the player of the script stops.
  package private(set) var endFrame: Int64 = 0
  /// The lines.
  package let text: String

  /// Reads lines.
  package init(_ text: String) throws {
    self.text = text
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 2, let frame = Int64(words[0]) else {
        throw UnreadableLine(line: String(line))
      }
      if words[1] == "end" {
        endFrame = frame
      } else {
        guard words.count >= 3, let action = Self.action(words[1], words.dropFirst(3).first) else {
          throw UnreadableLine(line: String(line))
        }
        steps.append(Step(frame: frame, action: action, pattern: words[2]))
      }
    }
  }

  private static func action(_ verb: String, _ number: String?) -> Action? {
    switch verb {
    case "start": .start
    case "stop": .stop
    case "pause": .pause
    case "resume": .resume
    case "loop": number.flatMap(Int.init).map(Action.loop)
    case "seek": number.flatMap(Double.init).map(Action.seek)
    case "gain": number.flatMap(Double.init).map(Action.gain)
    default: nil
    }
  }
}

/// The players of a script on an engine.
package struct ScriptPlayers {
  private let players: [String: PatternPlayer]

  /// Loads every pattern of a script.
  package init(_ script: PlaybackScript, on engine: PlaybackEngine) throws {
    var players: [String: PatternPlayer] = [:]
    for name in Set(script.steps.map(\.pattern)).sorted() {
      players[name] = try engine.player(for: PlaybackTestPattern.named(name))
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
    for step in script.steps {
      try players.send(step, base: base)
    }
    playback.advance(seconds: Double(base + script.endFrame) / rate)
    return Array(playback.samples().dropFirst(Int(base)).prefix(Int(script.endFrame)))
  }
}
