import HapticRender
import JSONText

extension DriveLaw {
  /// Reads how a signal is fitted to hardware.
  init(known value: JSONValue) {
    self.init()
    isPlaced = value["place"]?.boolean
    reach = value.number("reach") ?? reach
    isEqualised = value["equalise"]?.boolean
    boost = value.number("boost") ?? boost
    damping = value.number("damping") ?? damping
    isEquallyFelt = value["sensation"]?.boolean
    highPass = value.number("highPass")
  }
}

extension AmplifierFigures {
  /// Reads what drives the hardware.
  init(known value: JSONValue) {
    self.init(power: value.number("power"), latency: value.number("latency"))
  }
}
