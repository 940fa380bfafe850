/// How a player's pattern runs along the frames of the output: where it is at a frame, and how fast.
///
/// Pattern positions go on through all passes of a loop. At rate 1 everything is whole numbers.
struct TempoMap: BitwiseCopyable, Sendable {
  /// The rates a player can have.
  static var slowest: Double { @_noLocks get { 1.0 / 64 } }
  static var fastest: Double { @_noLocks get { 64 } }

  private var anchorFrame: Int64 = 0
  private var anchorPosition: Int64 = 0
  private var fraction = 0.0
  /// Frames of the pattern for each frame of the output.
  private(set) var rate = 1.0
  /// Whether the rate is 1 and the pattern's frames are whole ones of the output.
  private(set) var isUnity = true

  @_noLocks init() {}

  @_noLocks mutating func anchor(position: Int64, at frame: Int64) {
    anchorFrame = frame
    anchorPosition = position
    fraction = 0
    isUnity = rate == 1
  }

  /// Changes the rate from a frame on; the place at that frame stays.
  @_noLocks mutating func setPlaybackRate(_ newRate: Double, at frame: Int64) {
    let place = fraction + Double(frame &- anchorFrame) * rate
    let whole = Int64(place)
    anchorPosition = anchorPosition &+ whole
    fraction = place - Double(whole)
    anchorFrame = frame
    rate = newRate < Self.slowest ? Self.slowest : (newRate > Self.fastest ? Self.fastest : newRate)
    isUnity = rate == 1 && fraction == 0
  }

  /// Lets the place of one frame fall on a later one, as if the time between had not been.
  @_noLocks mutating func shift(from frame: Int64, to later: Int64) { anchorFrame = anchorFrame &+ (later &- frame) }

  @_noLocks func position(at frame: Int64) -> Int64 {
    if isUnity { return anchorPosition &+ (frame &- anchorFrame) }
    return anchorPosition &+ Int64(fraction + Double(frame &- anchorFrame) * rate)
  }

  /// The first frame, not before the anchor, at which the pattern has come to a place.
  @_noLocks func frame(at position: Int64) -> Int64 {
    // A fast pattern may have passed places between two frames, of which the later one is the anchor.
    if position <= anchorPosition { return anchorFrame }
    if isUnity { return anchorFrame &+ (position &- anchorPosition) }
    let distance = (Double(position &- anchorPosition) - fraction) / rate
    // Too far away to be met, and to be counted.
    if distance > 4e15 { return .max / 2 }
    var frame = anchorFrame &+ Int64(distance)
    // Rounded down; the answer has to agree with the other direction to the frame.
    while self.position(at: frame) < position { frame &+= 1 }
    return frame
  }
}
