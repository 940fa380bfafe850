import HapticRender
import JSONText

extension TransducerHardware {
  /// Reads a data sheet.
  init(known value: JSONValue) {
    self.init(
      product: value["product"]?.string ?? "", band: value.span("band"),
      resonance: value.number("resonance"), quality: value.number("quality"),
      impedance: value.number("impedance"), power: value.number("power"),
      peakPower: value.number("peakPower"), estimated: value.texts("estimated"))
  }
}
