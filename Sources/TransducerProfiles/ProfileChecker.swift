import HapticRender
import Reading

/// Reads the text of a profile or an array by its table, and notes everything that is wrong with it.
struct ProfileChecker: JSONFieldReader {
  static let writesShortNumbers = true

  let document: JSONDocument
  let rules = JSONFieldRules(
    missingKey: .missingKey, wrongType: .wrongType, outOfRange: .outOfRange, unknownKey: .unknownKey,
    unknownWord: .invalidValue, emptyText: .invalidValue, checksRepeatedKeys: true)
  var log = FindingLog(limit: ProfileRules.findingLimit)
  /// Gives the profile of a word in an array, or why it cannot be used; nil where a text names none.
  var source: Source?

  typealias Source = @Sendable (String) throws(Refusal) -> TransducerProfile

  /// Why a profile cannot be used, and what to do.
  struct Refusal: Error {
    var reason: String
    var hint: String?
  }

  init(_ document: JSONDocument, source: Source? = nil) {
    self.document = document
    self.source = source
  }

  /// What was found so far, in the order of the text.
  var findings: [Finding] { log.findings(in: document) }

  /// Why the text is refused: its first error, or nothing.
  var refusal: InputError? {
    findings.first { $0.severity == .error }.map { InputError($0, otherErrorCount: log.errorCount - 1) }
  }

  /// Reads the text.
  mutating func read<Owner>(_ table: ProfileTable<Owner>, into owner: inout Owner) {
    for tolerance in document.tolerances {
      let value = document.value(of: tolerance)
      switch tolerance.kind {
      case .byteOrderMark: continue
      case .trailingComma:
        log.add(
          .trailingComma, at: value, offset: tolerance.offset, "comma before a closing bracket", hint: "remove it")
      case .duplicateKey:
        log.add(
          .duplicateKey, at: value, offset: value.keyOffset, "duplicate key \((value.key ?? "").quoted())",
          hint: "keep one of them")
      }
    }
    table.read(document.root, into: &owner, &self)
  }

  mutating func noteMissing(_ key: JSONKey, isRequired: Bool, of object: JSONValue, _ shape: JSONShape) {
    log.add(.missingKey, at: object, "missing key \"\(key.name)\"")
  }

  mutating func noteUnknownKey(_ member: JSONValue, in shape: JSONShape) {
    guard let name = member.key, let object = member.parent else { return }
    let names = JSONNames(shape.keys(in: object).known.map { $0.name })
    log.add(
      .unknownKey, at: member, offset: member.keyOffset, "unknown key \(name.quoted())",
      hint: names.hint(for: name) ?? "valid keys: " + names.names.joined(separator: ", "))
  }

  mutating func noteUnknownWord(_ text: String, _ names: JSONNames, _ key: JSONKey, at value: JSONValue) {
    if text.isEmpty { return log.add(.invalidValue, at: value, "\(key.name) is empty") }
    log.add(
      .invalidValue, at: value, "\(text.quoted()) is not a valid \(key.noun ?? key.name)",
      hint: names.hint(for: text) ?? "valid values: " + names.names.joined(separator: ", "))
  }

  /// Whether a number of an object is not below another; an error where it is. Where absent, their defaults count.
  mutating func isOrdered(
    _ object: JSONValue, _ low: String, _ high: String, _ usual: (low: Double, high: Double)? = nil
  ) -> Bool {
    let least = object[low].map { $0.number } ?? usual?.low
    let most = object[high].map { $0.number } ?? usual?.high
    guard let least, let most, most < least else { return true }
    log.add(
      .contradiction, at: object[high] ?? object, "\(high) is \(most.shortText), below \(low), \(least.shortText)")
    return false
  }

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
    let sensation = root["drive"]?["equalSensation"]
    if law?.string == "sensation" {
      if list == nil, let law {
        log.add(
          .contradiction, at: law, offset: law.keyOffset,
          "the intensity law \"sensation\" needs at least two thresholds")
      }
      guard let sensation, sensation.boolean == false else { return }
      return log.add(
        .contradiction, at: sensation, "drive.equalSensation is false, but the intensity law is \"sensation\"",
        hint: "remove the key, or choose the law \"power\"")
    }
    // An invalid law is an error of its own.
    guard let list, law == nil || law?.string == "power" else { return }
    guard root["hardware"] == nil || sensation?.boolean == false else { return }
    log.add(
      .contradiction, at: list, "thresholds are used only with the intensity law \"sensation\" or with hardware",
      hint: "remove them, or choose that law")
  }

  /// The points of a curve go up in frequency.
  private mutating func checkRise(of list: JSONValue?) {
    guard let list, list.kind == .array else { return }
    let points = Array(list.elements)
    for (point, next) in zip(points, points.dropFirst()) {
      guard let low = point["hertz"]?.number, let member = next["hertz"], let high = member.number, high <= low else {
        continue
      }
      log.add(
        .contradiction, at: member,
        "hertz is \(high.shortText); it must be above \(low.shortText) of the previous point")
    }
  }

  /// A figure can be an estimate only where it is given.
  private mutating func checkEstimates(of root: JSONValue) {
    guard let hardware = root["hardware"], let list = hardware["estimated"] else { return }
    for element in list.elements {
      guard let figure = element.string, ProfileKeys.hardware.shape.key(named: figure) != nil, hardware[figure] == nil
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
    let equalize = root["drive"]?["equalize"]
    if let equalize, equalize.boolean == true {
      for figure in ["resonance", "qualityFactor"] where hardware[figure] == nil {
        log.add(
          .contradiction, at: equalize, "drive.equalize requires \(figure) of the hardware",
          hint: "measure it with 'temblor calibrate', or remove the key")
      }
    }
    checkSensation(of: root, hardware)
    guard let corner = root["drive"]?["highPass"], let hertz = corner.number,
      let low = root["frequency"]?["low"]?.number, hertz > low
    else { return }
    log.add(.contradiction, at: corner, "drive.highPass is \(hertz.shortText), above frequency.low, \(low.shortText)")
  }

  /// What is known of a hand alone is not asked of a seat or of ears, and levels above a threshold need an acceleration.
  private mutating func checkSensation(of root: JSONValue, _ hardware: JSONValue) {
    let drive = root["drive"]
    let contours = drive?["contours"].flatMap { $0.string == "converging" ? $0 : nil }
    let summation = drive?["temporalSummation"].flatMap { $0.boolean == true ? $0 : nil }
    let sensation = drive?["equalSensation"]
    for (name, value) in [("contours", contours), ("temporalSummation", summation)] {
      guard let value else { continue }
      if let body = drive?["feltBy"]?.string, body == "seat" || body == "ear" {
        log.add(
          .contradiction, at: value, "drive.\(name) is known for a hand, but drive.feltBy is \(body)",
          hint: "remove one of them")
      } else if sensation?.boolean == false {
        log.add(
          .contradiction, at: value, "drive.\(name) is set, but drive.equalSensation is false",
          hint: "remove one of them")
      }
    }
    guard let contours else { return }
    for figure in ["resonance", "qualityFactor", "acceleration"]
    where hardware[figure] == nil {
      log.add(
        .contradiction, at: contours,
        "drive.contours requires \(figure) of the hardware, since sensation is counted from the threshold",
        hint: "add it, or remove the key")
    }
  }
}
