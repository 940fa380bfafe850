internal import RealtimeMemory

/// A record of commands that were sent together.
///
/// It contains everything that another renderer needs to perform them.
package struct RecordedCommands: @unchecked Sendable {
  fileprivate let commands: [RenderCommand]
  /// The players that the commands add, in command order.
  fileprivate let addedPlayers: [AddedPlayer]
  /// The cue points that the commands refer to.
  fileprivate let cuePoints: [SharedCuePoint]

  /// An added player. Its reference only identifies it, because its memory may be freed.
  fileprivate struct AddedPlayer {
    let originalReference: Reference<Player>
    let creationParameters: RenderPlayer.CreationParameters
  }

  /// Records a group of commands, with the players and cue points that they refer to.
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
    addedPlayers = players.map {
      AddedPlayer(originalReference: $0.playerReference, creationParameters: $0.creationParameters)
    }
  }
}

/// A replay of recorded commands with copies of the original players.
///
/// A replay must outlive the renderer that performs its commands. It is not thread-safe.
package final class CommandReplay {
  /// The copies of players that are still in use, each with the original that it replaces.
  private var players: [(original: Reference<Player>, copy: RenderPlayer)] = []
  /// The removed copies of players, which the renderer may still use.
  private var removedPlayers: [RenderPlayer] = []
  /// The cue points of all replayed commands, kept alive for the replay. Their release by the
  /// original renderer doesn't end their use by the replay.
  private var cuePoints: [SharedCuePoint] = []

  package init() {}

  /// Returns recorded commands with the original players replaced by the copies of this replay.
  ///
  /// Commands of live voices are omitted.
  package func replayedCommands(_ recorded: RecordedCommands) -> [RenderCommand] {
    removedPlayers.removeAll { $0.isReleased }
    cuePoints += recorded.cuePoints
    players += recorded.addedPlayers.map {
      ($0.originalReference, $0.creationParameters.makePlayer())
    }
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
    guard let playerIndex = players.firstIndex(where: { $0.original.isIdentical(to: original) })
    else {
      return nil
    }
    let playerCopy = players[playerIndex].copy
    if case .remove = action {
      // The memory of the original may become that of another player.
      players.remove(at: playerIndex)
      removedPlayers.append(playerCopy)
    }
    return RenderCommand(.player(playerCopy.playerReference, action), at: frame)
  }
}
