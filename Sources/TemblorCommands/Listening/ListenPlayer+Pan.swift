import HapticModel
import HapticPlayback
import TransducerProfiles

extension ListenPlayer {
  /// Seconds in which what sounds moves where none are said.
  private static let usualRamp = 0.01
  /// Commands that one move may take of the room for all.
  private static let mostCommands = 512

  /// Moves where it is felt, on a straight way from where it is by then.
  func pan(
    to position: ArrayPosition, over ramp: Double, on array: TransducerArray, now: Int64,
    rate: Double
  ) throws(PlaybackError) {
    let begin = hasStarted ? now : max(now, start)
    let ramp = hasStarted ? max(ramp, Self.usualRamp) : ramp
    let end = begin + FrameConversion.frame(seconds: ramp, rate: rate)
    let from = way?.position(at: begin)
    // From everywhere alike there is no way but the shortest.
    let most = max(1, Self.mostCommands / array.transducers.count)
    let count = from == nil ? 1 : min(max(1, Int((ramp / Self.usualRamp).rounded(.up))), most)
    let steps = (1...count).map { number in
      array.gains(
        at: from?.interpolated(Double(number) / Double(count), towards: position) ?? position)
    }
    try player.setSendGains(steps, over: ramp, at: changeTime)
    way = PanSegment(start: begin, end: end, from: from ?? position, to: position)
    note(end)
  }
}

/// A straight way from one position to another between two frames.
struct PanSegment {
  var start: Int64
  var end: Int64
  var from: ArrayPosition
  var to: ArrayPosition

  /// Where it has led at a frame.
  func position(at frame: Int64) -> ArrayPosition {
    guard frame < end else { return to }
    let share = Double(max(0, frame - start)) / Double(end - start)
    return from.interpolated(share, towards: to)
  }
}
