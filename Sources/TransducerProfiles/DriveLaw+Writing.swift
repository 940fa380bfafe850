import HapticRender
import JSONText

extension DriveLaw {
  /// Writes what differs from another law.
  func write(to object: inout JSONObjectWriter, otherwise usual: DriveLaw) {
    if let isPlaced { object.member("place", isPlaced) }
    object.number("reach", reach, unless: usual.reach)
    if let isEqualised { object.member("equalise", isEqualised) }
    object.number("boost", boost, unless: usual.boost)
    object.number("damping", damping, unless: usual.damping)
    if let isEquallyFelt { object.member("sensation", isEquallyFelt) }
    if let highPass { object.number("highPass", highPass) }
  }
}

extension AmplifierFigures {
  /// Writes what is known.
  func write(to object: inout JSONObjectWriter) {
    if let power { object.number("power", power) }
    if let latency { object.number("latency", latency) }
  }
}
