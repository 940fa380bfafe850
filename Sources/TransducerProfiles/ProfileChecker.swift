import Reading

/// Holds a profile's text against the table of keys, and notes everything that is wrong with it.
struct ProfileChecker {
  let document: JSONDocument
  /// What messages call the whole text.
  let subject: String
  var log = FindingLog(limit: ProfileRules.findingLimit)

  /// Makes a checker that has looked at nothing yet.
  init(_ document: JSONDocument, subject: String = "a profile") {
    self.document = document
    self.subject = subject
  }

  /// What was found so far, in the order of the text.
  var findings: [Finding] { log.findings(in: document) }

  /// Why the text is refused: its first error, or nothing.
  var refusal: InputError? {
    findings.first { $0.severity == .error }.map { InputError($0, otherErrorCount: log.errorCount - 1) }
  }

  /// Looks at the whole text.
  mutating func check() {
    check(ProfileKeys.profile.fields)
    checkAgreement(of: document.root)
  }

  /// Looks at what the text is made of, and at its values one by one.
  mutating func check(_ fields: ProfileFields) {
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
    check(document.root, .object(fields), named: nil)
  }

  /// Looks at one value; a name stands for it in messages where it has no key of its own.
  private mutating func check(_ value: JSONValue, _ type: ProfileValueType, named name: String?) {
    switch type {
    case .number(let range): check(value, in: range, named: name)
    case .whole(let range):
      guard let number = value.number, number != number.rounded() else {
        return check(value, in: Double(range.lowerBound)...Double(range.upperBound), named: name)
      }
      log.add(.outOfRange, at: value, "\(name ?? "the number") is \(number.asWritten); it must be a whole number")
    case .boolean: _ = expect(.boolean, value, named: name)
    case .text: _ = text(value, named: name)
    case .name: checkName(value)
    case .word(let words, let former): check(value, among: words, former: former, named: name)
    case .list(let entry, let count):
      guard expect(.array, value, named: name) else { return }
      // Objects are spoken of as entries, words and texts by the key of their list.
      var entryName = name
      if case .object = entry { entryName = nil }
      var found = 0
      for element in value.elements {
        found += 1
        check(element, entry, named: entryName)
      }
      guard let count, !count.contains(found) else { return }
      log.add(
        .outOfRange, at: value,
        "\(name ?? "the list") has \(found) \(found == 1 ? "entry" : "entries"), outside \(count.lowerBound) to "
          + "\(count.upperBound)")
    case .object(let fields):
      guard expect(.object, value, named: name) else { return }
      check(value, fields)
    }
  }

  /// Looks at the members of an object.
  private mutating func check(_ value: JSONValue, _ fields: ProfileFields) {
    let (known, required) = Self.keys(of: value, fields)
    for key in known where required.contains(key.name) && key.value(in: value) == nil {
      log.add(.missingKey, at: value, "missing key \"\(key.name)\"")
    }
    for member in value.members {
      guard let name = member.key else { continue }
      if let key = known.first(where: { $0.name == name }) {
        check(member, key.type, named: name)
      } else if let key = known.first(where: { $0.formerName == name }) {
        if value[key.name] == nil {
          warnOfFormer(name, key.name, at: member, offset: member.keyOffset, "the key ")
        } else {
          log.add(
            .contradiction, at: member, offset: member.keyOffset, "\(name) and \(key.name) are the same key",
            hint: "remove \(name.quoted())")
        }
        check(member, key.type, named: name)
      } else {
        let names = known.map(\.name)
        log.add(
          .unknownKey, at: member, offset: member.keyOffset, "unknown key \(name.quoted())",
          hint: JSONNames(names).nearest(to: name).map { "did you mean \"\($0)\"?" } ?? "valid keys: "
            + names.joined(separator: ", "))
      }
    }
    for order in fields.orders { check(value, order, fields) }
    guard let exclusion = fields.exclusion, let key = fields.value(exclusion.key, in: value)?.key else { return }
    for other in exclusion.others {
      guard let member = fields.value(other, in: value) else { continue }
      log.add(
        .contradiction, at: member, offset: member.keyOffset, "\(member.key ?? other) and \(key) exclude each other")
    }
  }

  /// The keys an object may have, and those it must; a word that is not known allows all of them.
  private static func keys(of value: JSONValue, _ fields: ProfileFields) -> (known: [ProfileKey], required: [String]) {
    let required = fields.required
    guard let choice = fields.choice else { return (fields.keys, required) }
    let word = value[choice.key].map(\.string) ?? choice.branches.first?.word
    guard let branch = choice.branches.first(where: { $0.word == word }) else { return (fields.keys, required) }
    let others = choice.branches.flatMap(\.keys).filter { !branch.keys.contains($0) }
    return (fields.keys.filter { !others.contains($0.name) }, required + branch.required)
  }

  private mutating func check(_ value: JSONValue, _ order: ProfileFields.Order, _ fields: ProfileFields) {
    let isReplaced = fields.exclusion.map { fields.value($0.key, in: value) != nil && $0.others.contains(order.low) }
    guard isReplaced != true else { return }
    func entry(_ name: String) -> (key: String, number: Double)? {
      guard let member = fields.value(name, in: value) else {
        return fields.key(named: name)?.defaultValue.map { (name, $0) }
      }
      return member.number.map { (member.key ?? name, $0) }
    }
    guard let low = entry(order.low), let high = entry(order.high), high.number < low.number else { return }
    log.add(
      .contradiction, at: fields.value(order.high, in: value) ?? value,
      "\(high.key) is \(high.number.asWritten), below \(low.key), \(low.number.asWritten)")
  }

  private mutating func check(_ value: JSONValue, in range: ClosedRange<Double>, named name: String?) {
    guard let number = value.number else { return refuseKind(.number, value, named: name) }
    guard !range.contains(number) else { return }
    log.add(
      .outOfRange, at: value,
      "\(name ?? "the number") is \(number.asWritten), outside \(range.lowerBound.asWritten) to "
        + range.upperBound.asWritten)
  }

  private mutating func check(_ value: JSONValue, among words: [String], former: [String: String], named name: String?)
  {
    guard let word = text(value, named: name), !words.contains(word) else { return }
    if let current = former[word] { return warnOfFormer(word, current, at: value, offset: value.offset, "") }
    log.add(
      .invalidValue, at: value, "\(word.quoted()) is not a valid \(Self.noun(of: name))",
      hint: JSONNames(words).nearest(to: word).map { "did you mean \"\($0)\"?" } ?? "valid values: "
        + words.joined(separator: ", "))
  }

  /// Notes a name that the next version does not read.
  private mutating func warnOfFormer(
    _ former: String, _ current: String, at value: JSONValue, offset: Int, _ noun: String
  ) {
    log.add(
      .deprecatedKey, at: value, offset: offset, "\(noun)\(former.quoted()) is deprecated",
      hint: "use \(current.quoted())")
  }

  /// What one of the words under a key is called.
  private static func noun(of key: String?) -> String { key == "estimated" ? "figure of this hardware" : key ?? "word" }

  private mutating func checkName(_ value: JSONValue) {
    guard let name = text(value, named: "name"), !ProfileName.isValid(name) else { return }
    log.add(.invalidValue, at: value, "\(name.quoted()) is not a valid profile name", hint: ProfileName.advice)
  }

  private mutating func text(_ value: JSONValue, named name: String?) -> String? {
    guard let text = value.string else {
      refuseKind(.string, value, named: name)
      return nil
    }
    guard text.isEmpty else { return text }
    log.add(.invalidValue, at: value, "\(name ?? "the text") is empty")
    return nil
  }

  private mutating func expect(_ kind: JSONValue.Kind, _ value: JSONValue, named name: String?) -> Bool {
    if value.kind != kind { refuseKind(kind, value, named: name) }
    return value.kind == kind
  }

  private mutating func refuseKind(_ kind: JSONValue.Kind, _ value: JSONValue, named name: String?) {
    let subject = name ?? (value.parent == nil ? subject : "an entry")
    let isQuotedNumber = kind == .number && value.string.flatMap(Double.init) != nil
    log.add(
      .wrongType, at: value, "\(subject) must be \(kind.noun), not \(value.kind.noun)",
      hint: isQuotedNumber ? "write it without quotes" : nil)
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
    let sensation = ProfileKeys.drive.fields.value("equalSensation", in: root["drive"])
    if law?.string == "sensation" {
      if list == nil, let law {
        log.add(
          .contradiction, at: law, offset: law.keyOffset,
          "the intensity law \"sensation\" needs at least two thresholds")
      }
      guard let sensation, sensation.boolean == false else { return }
      return log.add(
        .contradiction, at: sensation, "drive.\(sensation.key ?? "") is false, but the intensity law is \"sensation\"",
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
        "hertz is \(high.asWritten); it must be above \(low.asWritten) of the previous point")
    }
  }

  /// A figure can be an estimate only where it is given.
  private mutating func checkEstimates(of root: JSONValue) {
    guard let hardware = root["hardware"], let list = hardware["estimated"] else { return }
    for element in list.elements {
      let fields = ProfileKeys.hardware.fields
      guard let figure = element.string, let key = fields.key(named: ProfileKeys.formerFigures[figure] ?? figure),
        key.value(in: hardware) == nil
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
    let equalize = ProfileKeys.drive.fields.value("equalize", in: root["drive"])
    if let equalize, equalize.boolean == true {
      for figure in ["resonance", "qualityFactor"] where ProfileKeys.hardware.fields.value(figure, in: hardware) == nil
      {
        log.add(
          .contradiction, at: equalize, "drive.\(equalize.key ?? "") requires \(figure) of the hardware",
          hint: "measure it with 'temblor calibrate', or remove the key")
      }
    }
    checkSensation(of: root, hardware)
    guard let corner = root["drive"]?["highPass"], let hertz = corner.number,
      let low = root["frequency"]?["low"]?.number, hertz > low
    else { return }
    log.add(.contradiction, at: corner, "drive.highPass is \(hertz.asWritten), above frequency.low, \(low.asWritten)")
  }

  /// What is known of a hand alone is not asked of a seat, and levels above a threshold need an acceleration.
  private mutating func checkSensation(of root: JSONValue, _ hardware: JSONValue) {
    let drive = root["drive"]
    let contours = drive?["contours"].flatMap { $0.string == "converging" ? $0 : nil }
    let summation = drive?["temporalSummation"].flatMap { $0.boolean == true ? $0 : nil }
    let sensation = ProfileKeys.drive.fields.value("equalSensation", in: drive)
    for (name, value) in [("contours", contours), ("temporalSummation", summation)] {
      guard let value else { continue }
      if drive?["feltBy"]?.string == "seat" {
        log.add(
          .contradiction, at: value, "drive.\(name) is known for a hand, but drive.feltBy is seat",
          hint: "remove one of them")
      } else if sensation?.boolean == false {
        log.add(
          .contradiction, at: value, "drive.\(name) is set, but drive.\(sensation?.key ?? "") is false",
          hint: "remove one of them")
      }
    }
    guard let contours else { return }
    for figure in ["resonance", "qualityFactor", "acceleration"]
    where ProfileKeys.hardware.fields.value(figure, in: hardware) == nil {
      log.add(
        .contradiction, at: contours,
        "drive.contours requires \(figure) of the hardware, since sensation is counted from the threshold",
        hint: "add it, or remove the key")
    }
  }
}
