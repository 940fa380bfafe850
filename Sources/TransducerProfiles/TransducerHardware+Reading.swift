import HapticRender
import JSONText

extension TransducerHardware {
  /// The figures of a data sheet, by key.
  static let figures = ["band", "resonance", "quality", "impedance", "power", "peakPower"]

  /// Reads a data sheet.
  init(hardware value: JSONValue) throws(ProfileError) {
    let object = try ProfileObject(value, keys: ["product"] + Self.figures + ["estimated"])
    self.init(product: try object.requiredText("product"))
    if let span = object["band"] {
      band = try ClosedRange(span: span, in: ProfileLimits.publishedHertz)
    }
    resonance = try object.number("resonance", in: ProfileLimits.publishedHertz)
    quality = try object.number("quality", in: ProfileLimits.quality)
    impedance = try object.number("impedance", in: ProfileLimits.impedance)
    power = try object.number("power", in: ProfileLimits.power)
    peakPower = try object.number("peakPower", in: ProfileLimits.power)
    if let power, let peakPower { try object.refuse("peakPower", peakPower, below: "power", power) }
    estimated = try object.texts("estimated")
    guard let list = object["estimated"] else { return }
    for (element, figure) in zip(list.elements, estimated)
    where !Self.figures.contains(figure) || object[figure] == nil {
      throw ProfileError(
        .value, at: element, "\(figure.quoted()) is no figure of this hardware",
        hint: JSONNames(Self.figures).nearest(to: figure).map { "did you mean \"\($0)\"?" })
    }
  }
}
