/// One dynamic parameter of a player as it was sent while playing: a straight line from a frame on.
struct LiveControl: BitwiseCopyable, Sendable {
  /// The frame of the output at which it came into force.
  var start: Int64
  /// Its value there.
  var value: Float
  /// What it grows by with each frame of the output.
  var slope: Float
  /// The place of the pattern's line at which it came into force; what starts later replaces it.
  var line: Int64
  /// Whether anything was sent.
  var isSet = false

  /// Nothing sent.
  @_noLocks
  init() {
    start = 0
    value = 0
    slope = 0
    line = .min
  }

  /// The value at a frame.
  @_noLocks
  func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }

  /// Whether this, and not a piece of the pattern's own control, is in force.
  ///
  /// - Parameter passOrigin: The place on the line of the pattern's frame 0.
  @_noLocks
  func outranks(_ piece: ControlSegment, passOrigin: Int64) -> Bool {
    isSet && (piece.origin == ControlSegment.neutral || passOrigin &+ piece.origin <= line)
  }
}

/// The controls a player was sent, in the order of `Track`.
struct LiveControls: BitwiseCopyable, Sendable {
  private var controls: InlineArray<6, LiveControl>
  /// Whether anything was sent at all.
  private(set) var isActive = false

  /// Nothing sent.
  @_noLocks
  init() {
    let none = LiveControl()
    controls = [none, none, none, none, none, none]
  }

  /// The control of a track.
  @_noLocks
  func control(_ track: Int) -> LiveControl { controls[track] }

  /// Puts a value in force that moves by a slope with each frame.
  @_noLocks
  mutating func set(_ track: Int, value: Float, slope: Float, at frame: Int64, line: Int64) {
    controls[track].isSet = true
    controls[track].start = frame
    controls[track].value = value
    controls[track].slope = slope
    controls[track].line = line
    isActive = true
  }

  /// Puts what was sent at another place of the pattern's line.
  @_noLocks
  mutating func move(to line: Int64) {
    var track = 0
    while track < 6 {
      controls[track].line = line
      track &+= 1
    }
  }

  /// Forgets what was sent.
  @_noLocks
  mutating func clear() {
    var track = 0
    while track < 6 {
      controls[track].isSet = false
      track &+= 1
    }
    isActive = false
  }
}
