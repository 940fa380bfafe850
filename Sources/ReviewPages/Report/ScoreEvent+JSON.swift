internal import HapticRender
internal import JSONText
internal import SignalPlots

extension ScoreEvent {
  /// Writes what the page's script needs to tell the event's values at any time.
  func write(to json: inout JSONObjectWriter) {
    json.member("kind", kind.rawValue)
    json.member("time", time)
    json.member("duration", duration)
    json.member("strength", kind.names.strength)
    json.member("tone", kind.names.tone)
    if let law = frequency {
      json.object("frequency") { json in
        json.member("low", law.low)
        json.member("high", law.high)
        json.member("scale", law.scale.rawValue)
      }
    }
    // Time, strength and tone in turn.
    json.array("points") { list in
      for point in points {
        for value in [point.time, point.intensity, point.sharpness] {
          list.element((value * 1e6).rounded() / 1e6)
        }
      }
    }
  }
}
