internal import RealtimeMemory

/// Commands that were sent together, with everything another renderer needs to perform them.
package struct RecordedCommands: @unchecked Sendable {
  fileprivate let commands: [RenderCommand]
  /// The players that the commands add, in command order.
  fileprivate let additions: [Addition]
  /// The cue points that the commands refer to.
  fileprivate let cuePoints: [SharedCuePoint]

  /// An added player. Its reference only identifies it, because its memory may be freed.
  fileprivate struct Addition {
    let original: Reference<Player>
    let parameters: RenderPlayer.Parameters
  }

  /// Records commands.
  ///
  /// - Parameters:
  ///   - commands: The commands.
  ///   - players: The players that the commands add.
  ///   - cuePoints: The cue points that the commands refer to.
  package init(
    _ commands: [RenderCommand], adding players: [RenderPlayer], cuePoints: [SharedCuePoint]
  ) {
    self.commands = commands
    self.cuePoints = cuePoints
    additions = players.map { Addition(original: $0.playerReference, parameters: $0.parameters) }
  }
}

/// The players that perform recorded commands again.
///
/// A replay must outlive the renderer that performs its commands. It is not thread-safe.
package final class CommandReplay {
  /// The current copies, with the original players that they replace.
  private var players: [(original: Reference<Player>, copy: RenderPlayer)] = []
  /// The removed players that the renderer may still use.
  private var removedPlayers: [RenderPlayer] = []
  /// The cue points of all commands, kept alive here because the first renderer releases only its
  /// own use.
  private var cuePoints: [SharedCuePoint] = []

  package init() {}

  /// Translates recorded commands to the players of this replay.
  ///
  /// Commands of live voices are omitted.
  package func commands(_ recorded: RecordedCommands) -> [RenderCommand] {
    removedPlayers.removeAll { $0.isReleased }
    cuePoints += recorded.cuePoints
    players += recorded.additions.map { ($0.original, $0.parameters.makePlayer()) }
    return recorded.commands.compactMap { command in
      switch command.change {
      case .noOperation, .gain:
        return command
      case .attach, .detach:
        return nil
      case .player(let original, let action):
        return replayedCommand(action, of: original, at: command.outputFrame)
      }
    }
  }

  private func replayedCommand(
    _ action: RenderCommand.PlayerAction, of original: Reference<Player>, at frame: Int64
  ) -> RenderCommand? {
    guard let index = players.firstIndex(where: { $0.original.isIdentical(to: original) }) else {
      return nil
    }
    let copy = players[index].copy
    if case .remove = action {
      // The memory of the original may become that of another player.
      players.remove(at: index)
      removedPlayers.append(copy)
    }
    return RenderCommand(.player(copy.playerReference, action), at: frame)
  }
}
