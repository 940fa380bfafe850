internal import RealtimeMemory
internal import Synchronization

extension Renderer {
  /// Takes what was sent, and does what is due.
  @_noLocks mutating func takeCommands() {
    var command = RenderCommand(.nothing, at: 0)
    while schedule.hasRoom, link.value.queue.take(&command) {
      switch command.change {
      case .player(let player, .cancel), .player(let player, .remove):
        // At once, before commands that wait: they are for a player that ends here.
        schedule.drop(player)
        perform(command.change)
      case .player(_, .add): perform(command.change)
      case .nothing, .gain, .player:
        if command.time < position { command.time = position }
        schedule.insert(command)
      }
    }
  }

  /// Does what is due at the position, in the order of time and then of sending.
  @_noLocks mutating func performDueCommands() {
    while schedule.nextTime <= position {
      let command = schedule.takeFirst()
      perform(command.change)
    }
  }

  /// Does one change at the position, and counts it.
  @_noLocks private mutating func perform(_ change: RenderCommand.Change) {
    switch change {
    case .nothing: break
    case .gain(.everything, let gain, let frameCount): strength.move(to: gain, over: frameCount)
    case .gain(.haptics, let gain, let frameCount): hapticGain.move(to: gain, over: frameCount)
    case .gain(.audio, let gain, let frameCount): audioGain.move(to: gain, over: frameCount)
    case .player(let player, .remove):
      // Nothing may touch the player afterwards.
      stop(player)
      remove(player)
    case .player(let player, let change):
      perform(change, on: player)
      player.value.noteCommandDone()
      player.value.changes.value.add(player.value, at: position, in: context)
    }
    if case .gain = change {
      var index = 0
      while index < playerCount {
        players[index].value.changes.value.add(players[index].value, at: position, in: context)
        index &+= 1
      }
    }
    countChange()
    _ = link.value.doneCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func perform(_ change: RenderCommand.PlayerChange, on reference: PlayerReference) {
    switch change {
    case .add: add(reference)
    case .cancel, .stop, .remove: stop(reference)
    case .start(let cue):
      reference.value.start(from: cue, in: context)
      countChange()
    case .pause: reference.value.pause(in: context)
    case .resume: reference.value.resume(in: context)
    case .seek(let cue): if reference.value.seek(to: cue, in: context) { countChange() }
    case .loop(let passCount, let cue, let end):
      reference.value.setLoop(passCount: passCount, end: end, entry: cue, at: position)
    case .playbackRate(let rate): reference.value.setPlaybackRate(rate, at: position)
    case .gain(let gain, let frameCount):
      // What does not sound needs no ramp, and is to start at its gain.
      var length = reference.value.phase.isIdle ? 0 : fadeLength
      if let frameCount { length = frameCount }
      reference.value.gain.move(to: gain, over: length)
    case .busSend(let gain, let frameCount, let serial):
      reference.value.moveSendGain(to: gain, over: frameCount, serial: serial)
    case .envelopeTime(let id, let value, let slope):
      reference.value.setTime(id, value: value, slope: slope, at: position)
    case .control(let id, let value, let slope):
      reference.value.setControl(id, value: value, slope: slope, at: position)
    }
  }

  @_noLocks private mutating func stop(_ reference: PlayerReference) {
    if reference.value.stop(in: context) { countChange() }
  }

  /// Takes a player in where there is space; one that finds none is never heard.
  @_noLocks private mutating func add(_ player: PlayerReference) {
    guard playerCount < players.count else { return }
    players[playerCount] = player
    playerCount &+= 1
  }

  /// Releases a player; the others keep their order, so that sums stay the same.
  @_noLocks private mutating func remove(_ player: PlayerReference) {
    var kept = 0
    var index = 0
    while index < playerCount {
      if !players[index].isSame(as: player) {
        players[kept] = players[index]
        kept &+= 1
      }
      index &+= 1
    }
    playerCount = kept
    release(player)
  }

  /// Reports that the control side may free a player; nothing may touch it afterwards.
  @_noLocks private mutating func release(_ reference: PlayerReference) {
    reference.value.entry?.release()
    reference.value.entry = nil
    reference.value.loopEntry?.release()
    reference.value.loopEntry = nil
    reference.value.status.value.isReleased.store(true, ordering: .releasing)
  }

  /// Reports to the control side that something has changed.
  @_noLocks func countChange() { _ = link.value.changeCount.wrappingAdd(1, ordering: .releasing) }
}
