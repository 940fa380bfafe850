import HapticRender
import JSONText

extension IntensityMapping {
  /// Reads `{ "law": "power", "exponent" }` or `{ "law": "sensation", "decibels" }`.
  init(known value: JSONValue) {
    switch value["law"]?.string {
    case "sensation": self = .sensation(decibels: value.known("decibels"))
    default: self = .power(exponent: value.number("exponent") ?? 1)
    }
  }
}
