import HapticRender
import JSONText

extension DriveSettings {
  /// Reads how a signal is fitted to hardware.
  init(known value: JSONValue) {
    self.init()
    isBandMapped = value["place"]?.boolean
    reach = value.number("reach") ?? reach
    isEqualized = value["equalise"]?.boolean
    boost = value.number("boost") ?? boost
    damping = value.number("damping") ?? damping
    hasEqualSensation = value["sensation"]?.boolean
    highPass = value.number("highPass")
  }
}

extension AmplifierParameters {
  /// Reads what drives the hardware.
  init(known value: JSONValue) {
    self.init(power: value.number("power"), latency: value.number("latency"))
  }
}
