import HapticRender
import JSONText

extension FrequencyMapping {
  /// Reads `{ "low", "high", "scale" }`.
  init(known value: JSONValue) {
    self.init(low: value.known("low"), high: value.known("high"))
    scale = value["scale"]?.string.flatMap(Scale.init) ?? scale
  }
}
