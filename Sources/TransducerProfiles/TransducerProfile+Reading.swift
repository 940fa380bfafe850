import HapticRender
import JSONText

extension TransducerProfile {
  /// Reads a whole profile.
  init(profile value: JSONValue) throws(ProfileError) {
    let object = try ProfileObject(
      value,
      keys: [
        "name", "summary", "frequency", "intensity", "level", "partials", "transient", "duck",
        "thresholds", "hardware", "sources",
      ])
    let name = try Self.name(in: object)
    let summary = try object.requiredText("summary")
    let frequency = try FrequencyLaw(frequency: try object.required("frequency"))
    let level = try object.number("level", in: ProfileLimits.level) ?? Self.usualLevel
    self.init(name: name, summary: summary, frequency: frequency, level: level)
    if let law = object["intensity"] { intensity = try IntensityLaw(intensity: law) }
    if let partials = try object.partials(Partial.init(partial:)) { self.partials = partials }
    if let law = object["transient"] {
      transient = try TransientLaw(transient: law, otherwise: transient)
    }
    duck = try object.number("duck", in: ProfileLimits.share) ?? duck
    thresholds = try object.list("thresholds", Threshold.init(threshold:)) ?? []
    try checkThresholds(of: object)
    if let sheet = object["hardware"] { hardware = try TransducerHardware(hardware: sheet) }
    sources = try object.texts("sources")
  }

  private static func name(in object: ProfileObject) throws(ProfileError) -> String {
    let name = try object.requiredText("name")
    let isPlain = name.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || byte == UInt8(ascii: "-")
    }
    guard isPlain, name.utf8.count <= 40 else {
      throw ProfileError(
        .value, at: try object.required("name"), "\(name.quoted()) is no name of a profile",
        hint: "use up to 40 of a–z, 0–9 and -")
    }
    return name
  }

  private func checkThresholds(of object: ProfileObject) throws(ProfileError) {
    if case .sensation = intensity {
      guard thresholds.count < 2 else { return try checkOrder(in: object) }
      throw ProfileError(
        .value, at: object["thresholds"] ?? object.value,
        "the intensity law \"sensation\" needs at least two thresholds")
    }
    guard let list = object["thresholds"] else { return }
    throw ProfileError(
      .value, at: list, "thresholds are used by the intensity law \"sensation\" alone",
      hint: "remove them, or choose that law")
  }

  private func checkOrder(in object: ProfileObject) throws(ProfileError) {
    guard let list = object["thresholds"] else { return }
    for (element, (point, next)) in zip(
      list.elements.dropFirst(), zip(thresholds, thresholds.dropFirst()))
    where next.hertz <= point.hertz {
      throw ProfileError(
        .value, at: element["hertz"] ?? element,
        "hertz is \(next.hertz.asWritten), not above \(point.hertz.asWritten) of the point before")
    }
  }
}

extension TransducerProfile.Partial {
  fileprivate init(partial value: JSONValue) throws(ProfileError) {
    let object = try ProfileObject(value, keys: ["ratio", "gain"])
    self.init()
    ratio = try object.number("ratio", in: ProfileLimits.ratio) ?? ratio
    gain = try object.number("gain", in: ProfileLimits.gain) ?? gain
  }
}

extension TransducerProfile.Threshold {
  fileprivate init(threshold value: JSONValue) throws(ProfileError) {
    let object = try ProfileObject(value, keys: ["hertz", "decibels"])
    self.init(
      hertz: try object.requiredNumber("hertz", in: ProfileLimits.hertz),
      decibels: try object.requiredNumber("decibels", in: ProfileLimits.threshold))
  }
}

extension ProfileObject {
  /// The sines of an event, or nothing where they are left out.
  func partials<Partial>(
    _ read: (JSONValue) throws(ProfileError) -> Partial
  ) throws(ProfileError) -> [Partial]? {
    let partials = try list("partials", read)
    if let partials, let member = self["partials"],
      !ProfileLimits.partialCount.contains(partials.count)
    {
      throw ProfileError(
        .value, at: member,
        "partials has \(partials.count) entries, outside \(ProfileLimits.partialCount.lowerBound) to "
          + "\(ProfileLimits.partialCount.upperBound)")
    }
    return partials
  }
}
