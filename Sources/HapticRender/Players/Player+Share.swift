internal import RealtimeMemory

/// The part of a player's haptics that its bus gets: a factor that was sent, times a line of its pattern.
extension Player {
  /// Whether the haptics are as the plan gives them, and stay so.
  var hasWholeShare: Bool {
    @_noLocks get { share.isUnity && shareLine.count == 0 }
  }

  /// The factor at a frame of the output.
  @_noLocks
  func currentShare(at position: Int64) -> Float {
    guard shareLine.count > 0 else { return share.value }
    let frame = patternFrame(at: position)
    return share.value * shareLine[sharePiece(at: frame)].valueFromStart(at: frame)
  }

  /// Takes the factor of the next frame, which is the one named.
  @_noLocks
  mutating func nextShare(at position: Int64) -> Float {
    let sent = share.next()
    guard shareLine.count > 0 else { return sent }
    let frame = patternFrame(at: position)
    shareCursor = sharePiece(at: frame)
    return sent * shareLine[shareCursor].valueFromStart(at: frame)
  }

  /// Moves the factor, unless a later order for it has been given by now.
  ///
  /// - Parameter serial: Grows with each order; one order may have several moves.
  @_noLocks
  mutating func moveShare(to value: Float, over frameCount: Int, serial: Int64) {
    guard serial >= shareSerial else { return }
    shareSerial = serial
    share.move(to: value, over: frameCount)
  }

  /// The frame of the pattern in the pass that runs.
  ///
  /// A pass begins with the turn in which it does; what comes before in that turn is the one before.
  @_noLocks
  private func patternFrame(at position: Int64) -> Int64 {
    let frame = pace.line(at: position) &- passOrigin
    if frame >= 0 { return frame }
    return frame &+ passLength
  }

  /// The piece in force at a frame: where the cursor is, the next one, or found by halving.
  @_noLocks
  private func sharePiece(at frame: Int64) -> Int {
    let pieces = shareLine
    var low = shareCursor
    if pieces[low].start > frame { low = 0 }
    if low &+ 1 >= pieces.count || pieces[low &+ 1].start > frame { return low }
    var high = pieces.count
    while high &- low > 1 {
      let middle = low &+ (high &- low) / 2
      if pieces[middle].start <= frame { low = middle } else { high = middle }
    }
    return low
  }
}

extension ControlSegment {
  /// The value at a frame; a piece without a slope may begin at the beginning of time.
  @_noLocks
  func valueFromStart(at frame: Int64) -> Float { slope == 0 ? value : value(at: frame) }
}
