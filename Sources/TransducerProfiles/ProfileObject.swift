import JSONText

/// An object of a profile's text whose keys are known, and whose members are asked for by key.
struct ProfileObject {
  let value: JSONValue

  /// Takes an object; a key that is not in the list is refused, with the nearest that is.
  init(_ value: JSONValue, keys: [String]) throws(ProfileError) {
    try ProfileError.expect(.object, value)
    for member in value.members {
      guard let key = member.key, !keys.contains(key) else { continue }
      let nearest = JSONNames(keys).nearest(to: key)
      throw ProfileError(
        atKeyOf: member, "the key \(key.quoted()) is not known here",
        hint: nearest.map { "did you mean \"\($0)\"?" }
          ?? "known here: " + keys.joined(separator: ", "))
    }
    self.value = value
  }

  /// A member, or nothing.
  subscript(key: String) -> JSONValue? { value[key] }

  /// A member that must be there.
  func required(_ key: String) throws(ProfileError) -> JSONValue {
    if let member = value[key] { return member }
    throw ProfileError(.structure, at: value, "the key \"\(key)\" is missing")
  }

  /// A number in a range, or nothing where the key is absent.
  func number(_ key: String, in range: ClosedRange<Double>) throws(ProfileError) -> Double? {
    guard let member = value[key] else { return nil }
    return try Self.number(member, named: key, in: range)
  }

  /// A number in a range that must be there.
  func requiredNumber(
    _ key: String, in range: ClosedRange<Double>
  ) throws(ProfileError) -> Double {
    try Self.number(try required(key), named: key, in: range)
  }

  /// A text of at least one character that must be there.
  func requiredText(_ key: String) throws(ProfileError) -> String {
    try Self.text(try required(key), named: key)
  }

  /// One of a list of words, or nothing where the key is absent.
  func word(_ key: String, among words: [String]) throws(ProfileError) -> String? {
    guard let member = value[key] else { return nil }
    let word = try Self.text(member, named: key)
    if words.contains(word) { return word }
    throw ProfileError(
      .value, at: member, "\(word.quoted()) is no \(key)",
      hint: JSONNames(words).nearest(to: word).map { "did you mean \"\($0)\"?" }
        ?? "known here: " + words.joined(separator: ", "))
  }

  /// The texts of a list; none where the key is absent.
  func texts(_ key: String) throws(ProfileError) -> [String] {
    try list(key) { (element) throws(ProfileError) in try Self.text(element, named: key) } ?? []
  }

  /// What a function makes of every element of a list, or nothing where the key is absent.
  func list<Element>(
    _ key: String, _ read: (JSONValue) throws(ProfileError) -> Element
  ) throws(ProfileError) -> [Element]? {
    guard let member = value[key] else { return nil }
    try ProfileError.expect(.array, member, named: key)
    var list: [Element] = []
    for element in member.elements { list.append(try read(element)) }
    return list
  }

  /// Refuses the second of two figures where it is below the first.
  func refuse(
    _ high: String, _ highValue: Double, below low: String, _ lowValue: Double
  ) throws(ProfileError) {
    guard highValue < lowValue else { return }
    throw ProfileError(
      .value, at: value[high] ?? value,
      "\(high) is \(highValue.asWritten), below \(low), \(lowValue.asWritten)")
  }

  private static func number(
    _ value: JSONValue, named key: String, in range: ClosedRange<Double>
  ) throws(ProfileError) -> Double {
    guard let number = value.number else {
      throw ProfileError.wrongKind(.number, value, named: key)
    }
    guard range.contains(number) else {
      throw ProfileError(
        .value, at: value,
        "\(key) is \(number.asWritten), outside \(range.lowerBound.asWritten) to "
          + range.upperBound.asWritten)
    }
    return number
  }

  private static func text(_ value: JSONValue, named key: String) throws(ProfileError) -> String {
    guard let text = value.string else { throw ProfileError.wrongKind(.string, value, named: key) }
    guard !text.isEmpty else { throw ProfileError(.value, at: value, "\(key) is empty") }
    return text
  }
}

extension ClosedRange<Double> {
  /// Reads `{ "low", "high" }`.
  init(span value: JSONValue, in limits: ClosedRange<Double>) throws(ProfileError) {
    let object = try ProfileObject(value, keys: ["low", "high"])
    let low = try object.requiredNumber("low", in: limits)
    let high = try object.requiredNumber("high", in: limits)
    try object.refuse("high", high, below: "low", low)
    self = low...high
  }
}

extension ProfileError {
  /// Refuses a value that is not of a kind.
  static func expect(
    _ kind: JSONValue.Kind, _ value: JSONValue, named name: String? = nil
  ) throws(ProfileError) {
    if value.kind != kind { throw wrongKind(kind, value, named: name) }
  }

  /// The error about a value that is not of a kind.
  static func wrongKind(
    _ kind: JSONValue.Kind, _ value: JSONValue, named name: String? = nil
  ) -> ProfileError {
    let subject = name ?? value.key ?? (value.parent == nil ? "a profile" : "an entry")
    let isQuotedNumber = kind == .number && value.string.flatMap(Double.init) != nil
    return ProfileError(
      .structure, at: value, "\(subject) must be \(kind.noun), not \(value.kind.noun)",
      hint: isQuotedNumber ? "write it without quotes" : nil)
  }
}

extension Double {
  /// The shortest decimal that reads back equal, whole numbers without a fraction.
  var asWritten: String { Int(exactly: self).map(String.init) ?? description }
}
