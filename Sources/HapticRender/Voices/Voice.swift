/// A sounding voice: where it is in its planned sine or sound, and the stretch it is in.
///
/// A voice goes through stretches in which level and frequency are straight lines. Each ends where
/// the outline or a control turns a corner, or where a line would no longer follow the law closely
/// enough. Stretches depend on the plan alone, so any split into blocks gives the same samples.
struct Voice: BitwiseCopyable, Sendable {
  /// The index in the plan.
  var planned: Int
  /// The renderer's frame at which the pattern's frame 0 lies.
  var origin: Int64
  /// The next frame, from the onset.
  var frame: Int64 = 0
  /// The first frame of the stretch, from the onset.
  var stretchStart: Int64 = 0
  /// The frame behind the stretch, from the onset.
  var stretchEnd: Int64 = 0
  /// The levels over the stretch, of the haptic bus or of the left audio bus.
  var left = LevelLine(from: 0, to: 0, frameCount: 1)
  /// The levels of the right audio bus.
  var right = LevelLine(from: 0, to: 0, frameCount: 1)
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
  /// The share of a sound file's movement that its low-pass follows; 1 is no filter.
  var smoothing: Float = 1
  /// Where a sound file is read.
  var reader = SampleReader()

  /// A voice before its first frame.
  @_noLocks
  init(planned: Int, origin: Int64, sine: SineSegment, cursors: TrackCursors) {
    self.planned = planned
    self.origin = origin
    self.sine = sine
    self.cursors = cursors
  }
}
