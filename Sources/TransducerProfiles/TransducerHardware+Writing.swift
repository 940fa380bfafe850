import HapticRender
import JSONText

extension TransducerHardware {
  /// Writes what is known.
  func write(to object: inout JSONObjectWriter) {
    object.member("product", product)
    if let band { object.span("band", band) }
    let figures = [
      ("resonance", resonance), ("quality", quality), ("impedance", impedance), ("power", power),
      ("peakPower", peakPower), ("acceleration", acceleration), ("excursion", excursion),
    ]
    for (key, figure) in figures {
      if let figure { object.number(key, figure) }
    }
    if !response.isEmpty {
      object.array("response") { list in
        for point in response {
          list.object(layout: .line) { entry in
            entry.number("hertz", point.hertz)
            entry.number("decibels", point.decibels)
          }
        }
      }
    }
    if let thermal {
      object.object("thermal", layout: .line) { entry in
        entry.number("coil", thermal.coil)
        entry.number("magnet", thermal.magnet)
        entry.number("share", thermal.coilFraction)
      }
    }
    if let measured {
      object.object("measured", layout: .line) { entry in
        entry.member("date", measured.date)
        entry.number("residual", measured.residual)
        entry.member("sensor", measured.sensor.rawValue)
      }
    }
    object.texts("estimated", estimated)
  }
}
