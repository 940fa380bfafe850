import HapticRender
import JSONText

extension DriveSettings {
  /// Writes what differs from another law.
  func write(to object: inout JSONObjectWriter, otherwise usual: DriveSettings) {
    if let isBandMapped { object.member("place", isBandMapped) }
    object.number("reach", reach, unless: usual.reach)
    if let isEqualized { object.member("equalise", isEqualized) }
    object.number("boost", boost, unless: usual.boost)
    object.number("damping", damping, unless: usual.damping)
    if let hasEqualSensation { object.member("sensation", hasEqualSensation) }
    if let highPass { object.number("highPass", highPass) }
  }
}

extension AmplifierParameters {
  /// Writes what is known.
  func write(to object: inout JSONObjectWriter) {
    if let power { object.number("power", power) }
    if let latency { object.number("latency", latency) }
  }
}
