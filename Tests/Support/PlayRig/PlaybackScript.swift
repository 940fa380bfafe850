package import HapticPlayback

/// A schedule of actions on players, as lines of text that a process can read.
///
/// A line is `FRAME VERB PATTERN [NUMBER]` or `FRAME end`. Each pattern has one player.
package struct PlaybackScript: Sendable {
  /// An error for a line that is not an action.
  struct UnreadableLine: Error { let line: String }

  /// An action on a player.
  package enum Action: Equatable, Sendable {
    case start, stop, pause, resume
    /// The total number of passes; 0 to loop indefinitely.
    case loop(Int)
    /// The position in the pattern, in seconds.
    case seek(Double)
    case gain(Double)
  }

  /// An action and its time.
  package struct Step: Equatable, Sendable {
    /// The number of frames since the start of the script.
    package var frame: Int64
    package var action: Action
    package var pattern: String
  }

  /// The steps, in the order of the text.
  package private(set) var steps: [Step] = []
  /// The frame at which the player of the script stops.
  package private(set) var endFrame: Int64 = 0
  /// The text of the script.
  package let text: String

  /// Reads a script.
  package init(_ text: String) throws {
    self.text = text
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ").map(String.init)
      guard fields.count >= 2, let frame = Int64(fields[0]) else {
        throw UnreadableLine(line: String(line))
      }
      if fields[1] == "end" {
        endFrame = frame
      } else {
        guard fields.count >= 3, let action = Self.action(fields[1], fields.dropFirst(3).first)
        else {
          throw UnreadableLine(line: String(line))
        }
        steps.append(Step(frame: frame, action: action, pattern: fields[2]))
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

  /// Sends a step to its player.
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

  /// Returns the rendering of a script in virtual time, in one channel, from its frame 0 to its
  /// end.
  package static func samples(of script: PlaybackScript, rate: Double = 48_000) throws -> [Float] {
    let engine = PlaybackEngine(rate: rate)
    let playback = VirtualPlayback(engine, periodSize: 64)
    let players = try ScriptPlayers(script, on: engine)
    // The script starts after the gate has opened.
    let base: Int64 = 640
    for step in script.steps {
      try players.send(step, base: base)
    }
    playback.advance(seconds: Double(base + script.endFrame) / rate)
    return Array(playback.samples().dropFirst(Int(base)).prefix(Int(script.endFrame)))
  }
}
