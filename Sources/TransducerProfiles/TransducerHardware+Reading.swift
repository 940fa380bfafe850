import HapticRender
import JSONText

extension TransducerHardware {
  /// Reads a data sheet.
  init(known value: JSONValue) {
    self.init(
      product: value["product"]?.string ?? "", band: value.span("band"),
      resonance: value.number("resonance"), quality: value.number("quality"),
      impedance: value.number("impedance"), power: value.number("power"),
      peakPower: value.number("peakPower"), acceleration: value.number("acceleration"),
      excursion: value.number("excursion"),
      response: value.list("response", ResponsePoint.init(known:)) ?? [],
      thermal: value["thermal"].map(ThermalParameters.init(known:)),
      measured: value["measured"].map(TransducerMeasurement.init(known:)),
      estimated: value.texts("estimated"))
  }
}

extension ResponsePoint {
  fileprivate init(known value: JSONValue) {
    self.init(hertz: value.known("hertz"), decibels: value.known("decibels"))
  }
}

extension ThermalParameters {
  fileprivate init(known value: JSONValue) {
    self.init()
    coil = value.number("coil") ?? coil
    magnet = value.number("magnet") ?? magnet
    coilFraction = value.number("share") ?? coilFraction
  }
}

extension TransducerMeasurement {
  fileprivate init(known value: JSONValue) {
    self.init(
      date: value["date"]?.string ?? "", residual: value.known("residual"),
      sensor: value["sensor"]?.string.flatMap(Sensor.init) ?? .acceleration)
  }
}
