import HapticRender
import JSONText

extension TransducerProfile {
  /// Reads a whole profile from a text in which nothing was found wrong.
  init(known value: JSONValue) {
    self.init(
      name: value["name"]?.string ?? "", summary: value["summary"]?.string ?? "",
      frequency: value["frequency"].map(FrequencyLaw.init(known:)) ?? Self.phone.frequency,
      level: value.number("level") ?? Self.usualLevel)
    intensity = value["intensity"].map(IntensityLaw.init(known:)) ?? intensity
    partials = value.list("partials", Partial.init(known:)) ?? partials
    if let law = value["transient"] {
      transient = TransientLaw(known: law, otherwise: transient)
    }
    duck = value.number("duck") ?? duck
    thresholds = value.list("thresholds", Threshold.init(known:)) ?? []
    hardware = value["hardware"].map(TransducerHardware.init(known:))
    drive = value["drive"].map(DriveLaw.init(known:)) ?? drive
    amplifier = value["amplifier"].map(AmplifierFigures.init(known:)) ?? amplifier
    sources = value.texts("sources")
  }
}

extension TransducerProfile.Partial {
  fileprivate init(known value: JSONValue) {
    self.init()
    ratio = value.number("ratio") ?? ratio
    gain = value.number("gain") ?? gain
  }
}

extension TransducerProfile.Threshold {
  fileprivate init(known value: JSONValue) {
    self.init(hertz: value.known("hertz"), decibels: value.known("decibels"))
  }
}
