import JSONText

extension ProfileChecker {
  /// Looks at what values in different objects ask of each other.
  mutating func checkAgreement(of root: JSONValue) {
    checkThresholds(of: root)
    checkRise(of: root["thresholds"])
    checkRise(of: root["hardware"]?["response"])
    checkEstimates(of: root)
    checkDrive(of: root)
  }

  /// The law of sensation needs a threshold curve; other laws use one for hardware alone.
  private mutating func checkThresholds(of root: JSONValue) {
    guard root.kind == .object else { return }
    let list = root["thresholds"]
    let law = root["intensity"]?["law"]
    let sensation = root["drive"]?["sensation"]
    if law?.string == "sensation" {
      if list == nil {
        log.add(
          .contradiction, at: root,
          "the intensity law \"sensation\" needs at least two thresholds")
      }
      guard let sensation, sensation.boolean == false else { return }
      return log.add(
        .contradiction, at: sensation,
        "drive.sensation is false, but the intensity law is \"sensation\"",
        hint: "remove the key, or choose the law \"power\"")
    }
    // A word that is no law is a fault of its own.
    guard let list, law == nil || law?.string == "power" else { return }
    guard root["hardware"] == nil || sensation?.boolean == false else { return }
    log.add(
      .contradiction, at: list,
      "thresholds are used only with the intensity law \"sensation\" or with hardware",
      hint: "remove them, or choose that law")
  }

  /// The points of a curve go up in frequency.
  private mutating func checkRise(of list: JSONValue?) {
    guard let list, list.kind == .array else { return }
    let points = Array(list.elements)
    for (point, next) in zip(points, points.dropFirst()) {
      guard let low = point["hertz"]?.number, let member = next["hertz"], let high = member.number,
        high <= low
      else { continue }
      log.add(
        .contradiction, at: member,
        "hertz is \(high.asWritten); it must be above \(low.asWritten) of the previous point")
    }
  }

  /// A figure can be an estimate only where it is given.
  private mutating func checkEstimates(of root: JSONValue) {
    guard let hardware = root["hardware"], let list = hardware["estimated"] else { return }
    for element in list.elements {
      guard let figure = element.string, ProfileKeys.figureNames.contains(figure),
        hardware[figure] == nil
      else { continue }
      log.add(
        .contradiction, at: element, "\(figure.quoted()) is listed as estimated but has no value",
        hint: "add the value, or remove it here")
    }
  }

  /// What is fitted to hardware needs the hardware, and the figures that the fit is made from.
  private mutating func checkDrive(of root: JSONValue) {
    guard let hardware = root["hardware"] else {
      for key in ["drive", "amplifier"] {
        guard let member = root[key] else { continue }
        log.add(
          .contradiction, at: member, offset: member.keyOffset, "\(key) needs hardware",
          hint: "add \"hardware\", or remove it")
      }
      return
    }
    if let equalise = root["drive"]?["equalise"], equalise.boolean == true {
      for figure in ["resonance", "quality"] where hardware[figure] == nil {
        log.add(
          .contradiction, at: equalise,
          "drive.equalise requires \(figure) of the hardware",
          hint: "measure it with 'temblor calibrate', or remove the key")
      }
    }
    guard let corner = root["drive"]?["highPass"], let hertz = corner.number,
      let low = root["frequency"]?["low"]?.number, hertz > low
    else { return }
    log.add(
      .contradiction, at: corner,
      "drive.highPass is \(hertz.asWritten), above frequency.low, \(low.asWritten)")
  }
}
