import JSONText

extension ProfileExaminer {
  /// Looks at what values in different objects ask of each other.
  mutating func checkAgreement(of root: JSONValue) {
    checkThresholds(of: root)
    checkEstimates(of: root)
  }

  /// The law of sensation needs a threshold curve, by rising frequency; no other law has use for one.
  private mutating func checkThresholds(of root: JSONValue) {
    guard root.kind == .object else { return }
    let list = root["thresholds"]
    let law = root["intensity"]?["law"]
    guard law?.string == "sensation" else {
      // A word that is no law is a fault of its own.
      guard let list, law == nil || law?.string == "power" else { return }
      return log.add(
        .contradiction, at: list,
        "thresholds are used by the intensity law \"sensation\" alone",
        hint: "remove them, or choose that law")
    }
    guard list == nil || list?.kind == .array else { return }
    let points = list.map { Array($0.elements) } ?? []
    guard points.count >= 2 else {
      return log.add(
        .contradiction, at: list ?? root,
        "the intensity law \"sensation\" needs at least two thresholds")
    }
    for (point, next) in zip(points, points.dropFirst()) {
      guard let low = point["hertz"]?.number, let member = next["hertz"], let high = member.number,
        high <= low
      else { continue }
      log.add(
        .contradiction, at: member,
        "hertz is \(high.asWritten), not above \(low.asWritten) of the point before")
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
        .contradiction, at: element, "\(figure.quoted()) is no figure of this hardware",
        hint: "give the figure, or remove it here")
    }
  }
}
