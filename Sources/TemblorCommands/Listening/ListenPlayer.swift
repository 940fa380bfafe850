import HapticModel
import HapticPlayback

/// One thing that a listening session plays, from its start to its end; it starts once.
final class ListenPlayer {
  /// By what commands call it; a tap has none.
  let name: String?
  /// What plays it.
  let player: PatternPlayer
  /// The engine's frame at which it starts, at the earliest.
  let start: Int64
  /// Whether it stands still, or will when it starts.
  var isPaused = false
  /// Whether it is not heard.
  var isMuted = false
  /// The frame from which on its end is one that was asked for.
  var stopFrame: Int64?
  /// The frame at which another of the same name took its place.
  var successionFrame: Int64?
  /// The last frame for which something was asked of the player.
  var lastFrame: Int64
  /// Where it is felt in an array, once that was said.
  var way: PanSegment?
  private var lines: [DynamicParameterID: Line] = [:]

  /// How a dynamic parameter was last asked to move.
  private struct Line {
    var start: Int64
    var end: Int64
    var from: Double
    var to: Double

    func value(at frame: Int64) -> Double {
      if frame >= end { return to }
      if frame <= start { return from }
      return from + (to - from) * Double(frame - start) / Double(end - start)
    }
  }

  /// A thing whose start has been sent.
  init(name: String?, player: PatternPlayer, start: Int64) {
    self.name = name
    self.player = player
    self.start = start
    lastFrame = start
  }

  /// Notes that something was asked for a frame.
  func note(_ frame: Int64) { lastFrame = max(lastFrame, frame) }

  /// Whether it has begun to play.
  var hasStarted: Bool { player.startFrame != nil }

  /// Whether it has ended.
  var hasEnded: Bool { player.endCount > 0 }

  /// When a change is made that is to be made now: what waits for its start is changed as it starts.
  var changeTime: PlaybackTime { hasStarted ? .now : .frame(start) }

  /// Moves a dynamic parameter in a straight line from where it was last sent.
  func set(
    _ id: DynamicParameterID, to value: Double, over ramp: Double, at moment: ScheduledTime,
    rate: Double
  ) throws(PlaybackError) {
    let from = lines[id]?.value(at: moment.frame) ?? Double(id.neutralValue)
    let end = moment.frame + FrameConversion.frame(seconds: ramp, rate: rate)
    if end > moment.frame {
      let curve = ParameterCurve(
        id: id, time: 0,
        controlPoints: [
          .init(time: 0, value: Float(from)), .init(time: ramp, value: Float(value)),
        ])
      try player.schedule(curve, at: moment.time)
    } else {
      try player.set(id, to: Float(value), at: moment.time)
    }
    note(end)
    lines[id] = Line(start: moment.frame, end: end, from: from, to: value)
  }
}

/// When something is done, as the engine and as people are told.
struct ScheduledTime {
  /// For the engine.
  var time: PlaybackTime
  /// The frame, or the one that comes next where it is to be done now.
  var frame: Int64
}
