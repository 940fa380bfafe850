import HapticRender
import JSONText

extension TransientLaw {
  /// Reads the bursts; what is left out is as in another law.
  init(transient value: JSONValue, otherwise usual: TransientLaw) throws(ProfileError) {
    let object = try ProfileObject(
      value,
      keys: [
        "frequency", "cycles", "shortest", "longest", "seconds", "level", "floor", "partials",
        "squareness", "attack", "release",
      ])
    self = usual
    if let law = object["frequency"] { frequency = try FrequencyLaw(frequency: law) }
    length = try Length(in: object)
    level = try object.number("level", in: ProfileLimits.level) ?? level
    floor = try object.number("floor", in: ProfileLimits.share) ?? floor
    if let partials = try object.partials(Partial.init(partial:)) { self.partials = partials }
    if let share = object["squareness"] {
      squareness = try ClosedRange(span: share, in: ProfileLimits.share)
    }
    attack = try object.number("attack", in: ProfileLimits.edge)
    release = try object.number("release", in: ProfileLimits.edge)
  }
}

extension TransientLaw.Length {
  fileprivate init(in object: ProfileObject) throws(ProfileError) {
    let limits = ProfileLimits.seconds
    if let ends = object["seconds"] {
      for key in ["cycles", "shortest", "longest"] {
        guard let member = object[key] else { continue }
        throw ProfileError(atKeyOf: member, "\(key) and seconds exclude each other")
      }
      let span = try ProfileObject(ends, keys: ["low", "high"])
      self = .seconds(
        low: try span.requiredNumber("low", in: limits),
        high: try span.requiredNumber("high", in: limits))
      return
    }
    self = TransientLaw.usualLength
    guard case .cycles(let usualCount, let usual) = self else { return }
    let count = try object.number("cycles", in: ProfileLimits.cycles) ?? usualCount
    let shortest = try object.number("shortest", in: limits) ?? usual.lowerBound
    let longest = try object.number("longest", in: limits) ?? usual.upperBound
    try object.refuse("longest", longest, below: "shortest", shortest)
    self = .cycles(count, seconds: shortest...longest)
  }
}

extension TransientLaw.Partial {
  fileprivate init(partial value: JSONValue) throws(ProfileError) {
    let object = try ProfileObject(value, keys: ["ratio", "gain", "glide", "stretch"])
    self.init()
    ratio = try object.number("ratio", in: ProfileLimits.ratio) ?? ratio
    gain = try object.number("gain", in: ProfileLimits.gain) ?? gain
    glide = try object.number("glide", in: ProfileLimits.ratio) ?? glide
    stretch = try object.number("stretch", in: ProfileLimits.stretch) ?? stretch
  }
}
