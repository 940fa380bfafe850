import HapticRender
import JSONText

extension TransducerProfile {
  /// Reads a whole profile from a text in which nothing was found wrong.
  init(known value: JSONValue) {
    self.init(
      name: value["name"]?.string ?? "", summary: value["summary"]?.string ?? "",
      frequency: value["frequency"].map(FrequencyMapping.init(known:)) ?? Self.phone.frequency,
      level: value.number("level") ?? Self.defaultLevel)
    intensity = value["intensity"].map(IntensityMapping.init(known:)) ?? intensity
    partials = value.list("partials", Partial.init(known:)) ?? partials
    if let law = value["transient"] {
      transient = TransientShape(known: law, otherwise: transient)
    }
    duck = value.number("duck") ?? duck
    thresholds = value.list("thresholds", Threshold.init(known:)) ?? []
    hardware = value["hardware"].map(TransducerHardware.init(known:))
    drive = value["drive"].map(DriveSettings.init(known:)) ?? drive
    amplifier = value["amplifier"].map(AmplifierParameters.init(known:)) ?? amplifier
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
