import HapticRender
import JSONText

extension FrequencyLaw {
  /// Reads `{ "low", "high", "scale" }`.
  init(frequency value: JSONValue) throws(ProfileError) {
    let object = try ProfileObject(value, keys: ["low", "high", "scale"])
    let low = try object.requiredNumber("low", in: ProfileLimits.hertz)
    let high = try object.requiredNumber("high", in: ProfileLimits.hertz)
    try object.refuse("high", high, below: "low", low)
    self.init(low: low, high: high)
    let word = try object.word("scale", among: Scale.allCases.map(\.rawValue))
    scale = word.flatMap(Scale.init) ?? scale
  }
}
