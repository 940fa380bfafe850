internal import Synchronization

extension Renderer {
  /// Takes what was sent, and does what is due.
  @_noLocks
  mutating func takeCommands() {
    var command = RenderCommand.nothing
    while schedule.hasRoom, unsafe link.pointee.queue.take(&command) {
      switch command.action {
      case .add:
        perform(command)
        countDone(command)
      case .cancel, .remove:
        // At once, before commands that wait: they are for a player that ends here.
        unsafe schedule.drop(command.player)
        perform(command)
        countDone(command)
      case .none, .start, .stop, .pause, .resume, .seek, .loop, .rate, .gain, .share, .control,
        .strength, .hapticGain, .audioGain:
        if command.time < position { command.time = position }
        schedule.insert(command)
      }
    }
  }

  /// Does what is due at the position, in the order of time and then of sending.
  @_noLocks
  mutating func performDueCommands() {
    while schedule.nextTime <= position {
      let command = schedule.takeFirst()
      perform(command)
      countDone(command)
    }
  }

  @_noLocks
  private func countDone(_ command: RenderCommand) {
    // A player that was removed may be gone already.
    if !command.isRemoval, let player = unsafe command.player {
      _ = unsafe player.pointee.status.pointee.commandCount.wrappingAdd(1, ordering: .releasing)
    }
    countChange()
    _ = unsafe link.pointee.doneCount.wrappingAdd(1, ordering: .releasing)
  }

  /// Does one thing at the position.
  @_noLocks
  private mutating func perform(_ command: RenderCommand) {
    switch command.action {
    case .none: return
    case .strength:
      strength.move(to: Float(command.value), over: command.track)
      return
    case .hapticGain:
      hapticGain.move(to: Float(command.value), over: command.track)
      return
    case .audioGain:
      audioGain.move(to: Float(command.value), over: command.track)
      return
    case .add, .remove, .start, .stop, .pause, .resume, .seek, .loop, .rate, .gain, .share,
      .control,
      .cancel:
      break
    }
    guard let player = unsafe command.player else { return }
    let isHeard = !isSkipping
    switch command.action {
    case .add: unsafe add(player)
    case .remove:
      unsafe stop(player)
      unsafe remove(player)
    case .cancel, .stop: unsafe stop(player)
    case .start:
      unsafe player.pointee.start(
        from: command.entry, at: position, buses: &buses, scratch: scratch, isHeard: isHeard,
        isPanned: isPanned)
      countChange()
    case .pause:
      unsafe player.pointee.pause(
        at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    case .resume:
      unsafe player.pointee.resume(
        at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    case .seek:
      guard let entry = unsafe command.entry else { return }
      let hasEnded = unsafe player.pointee.seek(
        to: entry, at: position, buses: &buses, scratch: scratch, isHeard: isHeard,
        isPanned: isPanned)
      if hasEnded { countChange() }
    case .loop:
      unsafe player.pointee.setLoop(
        passCount: command.track, end: command.frame, entry: command.entry, at: position)
    case .rate: unsafe player.pointee.setRate(command.value, at: position)
    case .gain:
      // What does not sound needs no ramp, and is to start at its gain.
      let usual = unsafe player.pointee.phase.isIdle ? 0 : scratch.fadeLength
      unsafe player.pointee.gain.move(
        to: Float(command.value), over: command.track < 0 ? usual : command.track)
    case .share:
      unsafe player.pointee.moveShare(
        to: Float(command.value), over: command.track, serial: command.frame)
    case .control:
      unsafe player.pointee.setControl(
        command.track, value: Float(command.value), slope: Float(command.slope), at: position)
    case .none, .strength, .hapticGain, .audioGain: return
    }
  }

  @_noLocks
  private mutating func stop(_ player: UnsafeMutablePointer<Player>) {
    let hasEnded = unsafe player.pointee.stop(
      at: position, buses: &buses, scratch: scratch, isHeard: !isSkipping, isPanned: isPanned)
    if hasEnded { countChange() }
  }

  /// Takes a player in where there is room; one that finds none is never heard.
  @_noLocks
  private mutating func add(_ player: UnsafeMutablePointer<Player>) {
    guard unsafe playerCount < players.count else { return }
    unsafe players[playerCount] = player
    playerCount &+= 1
  }

  /// Lets go of a player; the others keep their order, so that sums stay the same.
  @_noLocks
  private mutating func remove(_ player: UnsafeMutablePointer<Player>) {
    var kept = 0
    var index = 0
    while index < playerCount {
      if unsafe players[index] != player {
        unsafe players[kept] = players[index]
        kept &+= 1
      }
      index &+= 1
    }
    playerCount = kept
    unsafe release(player)
  }

  /// Tells the control side that it may free a player; nothing may touch it afterwards.
  @_noLocks
  private mutating func release(_ player: UnsafeMutablePointer<Player>) {
    unsafe RenderCommand.release(player.pointee.entry)
    unsafe player.pointee.entry = nil
    unsafe RenderCommand.release(player.pointee.loopEntry)
    unsafe player.pointee.loopEntry = nil
    unsafe player.pointee.status.pointee.isReleased.store(true, ordering: .releasing)
  }

  /// Tells the control side that there is something to look at.
  @_noLocks
  func countChange() {
    _ = unsafe link.pointee.changeCount.wrappingAdd(1, ordering: .releasing)
  }
}
