internal import HapticFormats
internal import Reading

extension RichTapDecoder {
  /// The number of the version, and what the metadata says besides.
  mutating func version(of metadata: JSONValue) -> (value: JSONValue, number: Double, lexeme: String)? {
    var version: JSONValue?
    for member in metadata.members {
      switch RichTapKey(of: member) {
      case .version: version = member
      case .created, .create: document.created = member.string
      case .description: document.notes = member.string
      default: continue
      }
    }
    guard let number = number(version, .version, of: metadata), let version else { return nil }
    return (version, number, Self.lexeme(version))
  }

  /// Whether an event is a transient, nil where its type is not known.
  mutating func isTransient(_ type: JSONValue?, of event: JSONValue) -> Bool? {
    guard let type = require(type, .type, of: event), expect(.string, type, "Type") else { return nil }
    switch type.string {
    case "transient": return true
    case "continuous": return false
    default:
      let text = type.string ?? ""
      log.add(
        rules.eventType, at: type, "unknown event type \(text.quoted())",
        hint: JSONNames(["transient", "continuous"]).nearest(to: text).map { "did you mean \"\($0)\"?" })
      return nil
    }
  }

  /// The vibrator with a number.
  mutating func vibrator(_ index: Int, at value: JSONValue) -> RichTapDocument.Vibrator {
    if let vibrator = RichTapDocument.Vibrator(index: index) { return vibrator }
    log.add(rules.index, at: value, "Index is \(index), outside 0 to 2")
    return .both
  }

  /// Checks what the text as a whole has, and whether events overlap.
  mutating func checkText() {
    log.addDeviations(
      of: json, byteOrderMark: rules.byteOrderMark, trailingComma: rules.trailingComma, duplicateKey: rules.duplicateKey
    )
    checkOverlaps()
  }

  private mutating func checkOverlaps() {
    var events: [(event: RichTapDocument.Event, value: Int)] = []
    for (group, values) in zip(document.groups, eventValues) {
      for (event, value) in zip(group.events, values) {
        var event = event
        event.time += group.time
        if group.vibrator != .both { event.vibrator = group.vibrator }
        events.append((event, value))
      }
    }
    events.sort { ($0.event.time, $0.value) < ($1.event.time, $1.value) }
    // When each vibrator is free again.
    var left = 0
    var right = 0
    var found: (value: Int, count: Int)?
    for (event, value) in events {
      let usesLeft = event.vibrator != .right
      let usesRight = event.vibrator != .left
      if usesLeft && event.time < left || usesRight && event.time < right {
        found = (found?.value ?? value, (found?.count ?? 0) + 1)
      }
      let end = event.time + (event.isTransient ? RichTapDialect.transientLength : event.duration)
      if usesLeft { left = max(left, end) }
      if usesRight { right = max(right, end) }
    }
    guard let found else { return }
    let count = found.count
    log.add(
      rules.overlap, at: JSONValue(document: json, index: found.value),
      (count == 1 ? "an event begins" : "\(count) events begin")
        + " while another plays on the same vibrator; both sound, but hardware may play one")
  }

  // MARK: Values

  /// A value that must be there; an error where it is not.
  mutating func require(_ value: JSONValue?, _ key: RichTapKey, of owner: JSONValue) -> JSONValue? {
    if value == nil {
      let name = owner.key ?? (owner.index == 0 ? "the file" : "an entry")
      log.add(rules.missingKey, at: owner, "\(name) must have the key \"\(key.rawValue)\"")
    }
    return value
  }

  /// Whether a value is of a kind; an error where it is not.
  mutating func expect(_ kind: JSONValue.Kind, _ value: JSONValue, _ name: String) -> Bool {
    if value.kind == kind { return true }
    log.add(rules.wrongType, at: value, "\(name) must be \(kind.noun), not \(value.kind.noun)")
    return false
  }

  /// An object that must be there.
  mutating func object(_ value: JSONValue?, _ key: RichTapKey, of owner: JSONValue) -> JSONValue? {
    guard let value = require(value, key, of: owner), expect(.object, value, key.rawValue) else { return nil }
    return value
  }

  /// An array that must be there.
  mutating func array(_ value: JSONValue?, _ key: RichTapKey, of owner: JSONValue) -> JSONValue? {
    guard let value = require(value, key, of: owner), expect(.array, value, key.rawValue) else { return nil }
    return value
  }

  /// A number that must be there.
  mutating func number(_ value: JSONValue?, _ key: RichTapKey, of owner: JSONValue) -> Double? {
    guard let value = require(value, key, of: owner) else { return nil }
    if let number = value.number { return number }
    _ = expect(.number, value, key.rawValue)
    return nil
  }

  /// A whole number that must be there, its fraction dropped as the decoder does.
  mutating func integer(_ value: JSONValue?, _ key: RichTapKey, of owner: JSONValue) -> Int? {
    guard let number = number(value, key, of: owner), let value else { return nil }
    let whole = number.rounded(.towardZero)
    if whole != number {
      log.add(rules.fraction, at: value, "\(key.rawValue) is \(Self.lexeme(value)); \(Int32(clamping: whole)) is used")
    }
    return Int(Int32(clamping: whole))
  }

  /// A whole number that must be there and within a range.
  mutating func integer(
    _ value: JSONValue?, _ key: RichTapKey, of owner: JSONValue, in range: ClosedRange<Int>, _ rule: Rule
  ) -> Int? {
    guard let number = integer(value, key, of: owner), let value else { return nil }
    if range.contains(number) { return number }
    log.add(
      rule, at: value,
      number < 0 && range.lowerBound == 0 && range.upperBound == Int(Int32.max)
        ? "\(key.rawValue) is \(number); must not be negative"
        : "\(key.rawValue) is \(number), outside \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// A number as the file writes it, shortened.
  static func lexeme(_ value: JSONValue) -> String { String(decoding: value.lexeme.prefix(24), as: UTF8.self) }
}

extension Int32 {
  /// The nearest to a whole number.
  fileprivate init(clamping number: Double) {
    self = number >= Double(Int32.max) ? .max : number <= Double(Int32.min) ? .min : Int32(number)
  }
}
