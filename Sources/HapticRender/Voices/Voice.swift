/// A sounding voice: where it is in its planned sine or sound, and the stretch it is in.
///
/// A voice goes through stretches in which level and frequency are straight lines. Each ends where
/// the outline or a control turns a corner, or where a line would no longer follow the law closely
/// enough. Stretches depend on the plan alone, so any split into blocks gives the same samples.
struct Voice: BitwiseCopyable, Sendable {
  /// The index in the plan.
  var planned: Int
  /// The place on the player's line at which the pattern's frame 0 lies in the voice's pass.
  var origin: Int64
  /// The output's frame of the onset.
  var start: Int64
  /// The next frame, from the onset.
  var frame: Int64 = 0
  /// The first frame of the stretch, from the onset.
  var segmentStart: Int64 = 0
  /// The frame behind the stretch, from the onset.
  var segmentEnd: Int64 = 0
  /// The levels over the stretch, of the haptic bus or of the left audio bus.
  var left = LinearRamp(from: 0, to: 0, frameCount: 1)
  /// The levels of the right audio bus.
  var right = LinearRamp(from: 0, to: 0, frameCount: 1)
  /// The left level at the end of the stretch.
  var leftEnd: Float = 0
  /// The right level at the end of the stretch.
  var rightEnd: Float = 0
  /// The phase step at the end of the stretch.
  var stepEnd: Float = 0
  /// The sine, at the next frame.
  var sine: SineSegment
  /// The control pieces in force.
  var cursors: TrackCursors
  /// What is new about the next stretch.
  var turn = SegmentStart.fresh
  /// Which controls came from outside the pattern in the stretch, a bit for each of four.
  var liveMask: UInt8 = 0
  /// A burst's amplitude.
  var gain: Float
  /// The share of a sound file's movement that its low-pass follows; 1 is no filter.
  var smoothing: Float = 1
  /// Where a sound file is read.
  var reader = SampleReader()

  /// How a stretch follows the one before it.
  enum SegmentStart: UInt8, BitwiseCopyable, Sendable {
    /// There was none: it starts at the level of the laws.
    case fresh
    /// It starts at the level of the one before.
    case steady
    /// A control was changed: it starts at the level of the one before and is as short as an edge.
    case settling

    /// Whether there was no stretch before.
    var isFresh: Bool {
      @_noLocks get { if case .fresh = self { true } else { false } }
    }

    /// Whether the stretch leads to a changed control.
    var isSettling: Bool {
      @_noLocks get { if case .settling = self { true } else { false } }
    }
  }

  /// A voice before its first frame.
  @_noLocks
  init(
    planned: Int, origin: Int64, start: Int64, sine: SineSegment, gain: Float,
    cursors: TrackCursors
  ) {
    self.planned = planned
    self.origin = origin
    self.start = start
    self.sine = sine
    self.gain = gain
    self.cursors = cursors
  }

  /// A place for a voice.
  static var unused: Voice {
    Voice(
      planned: 0, origin: 0, start: 0, sine: SineSegment(), gain: 0,
      cursors: TrackCursors(strength: 0, tone: 0, brightness: 0, pan: 0))
  }
}
