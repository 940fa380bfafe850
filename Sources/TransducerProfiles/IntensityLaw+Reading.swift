import HapticRender
import JSONText

extension IntensityLaw {
  /// Reads `{ "law": "power", "exponent" }` or `{ "law": "sensation", "decibels" }`.
  init(intensity value: JSONValue) throws(ProfileError) {
    let law = try ProfileObject(value, keys: ["law", "exponent", "decibels"])
      .word("law", among: ["power", "sensation"])
    if law == "sensation" {
      let object = try ProfileObject(value, keys: ["law", "decibels"])
      self = .sensation(
        decibels: try object.requiredNumber("decibels", in: ProfileLimits.sensation))
    } else {
      let object = try ProfileObject(value, keys: ["law", "exponent"])
      self = .power(exponent: try object.number("exponent", in: ProfileLimits.exponent) ?? 1)
    }
  }
}
