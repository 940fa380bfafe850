import Reading

/// What a value of a profile's text may be; the checker and the schema both follow it.
indirect enum ProfileValueType: Sendable {
  /// A number in a range.
  case number(ClosedRange<Double>)
  /// A number without a fraction in a range.
  case whole(ClosedRange<Int>)
  /// True or false.
  case boolean
  /// A text of at least one character.
  case text
  /// A name that people type.
  case name
  /// One of some words; where the key is left out, the first counts. Former words lead to those in use.
  case word([String], former: [String: String] = [:])
  /// Entries of one type, and how many there may be.
  case list(ProfileValueType, count: ClosedRange<Int>? = nil)
  /// Members with known keys.
  case object(ProfileFields)
}

/// A key of a profile's text.
struct ProfileKey: Sendable {
  /// When the key is in a text.
  enum Presence: Sendable {
    /// Always; a text without it is refused.
    case required
    /// Always in texts that Temblor writes.
    case written
    /// Only where its value differs from the default.
    case optional
  }

  let name: String
  let type: ProfileValueType
  let presence: Presence
  /// The number that counts where the key is left out, if it is always the same.
  let defaultValue: Double?
  /// One or two sentences for people who write profiles, unit first.
  let meaning: String
  /// The name that texts of the previous version have instead.
  var formerName: String?

  init(
    _ name: String, _ type: ProfileValueType, presence: Presence = .optional, default defaultValue: Double? = nil,
    _ meaning: String
  ) {
    self.name = name
    self.type = type
    self.presence = presence
    self.defaultValue = defaultValue
    self.meaning = meaning
  }

  /// The value under the key, or under its former name.
  func value(in object: JSONValue) -> JSONValue? { object[name] ?? formerName.flatMap { object[$0] } }
}

/// The keys of one object, and what they ask of each other.
struct ProfileFields: Sendable {
  /// Keys of which the second may not be below the first; where absent, their defaults count.
  struct Order: Sendable {
    var low: String
    var high: String
  }

  /// A word that decides which other keys there are.
  struct Choice: Sendable {
    /// The key whose value is the word.
    var key: String
    /// The keys that go with each word, and must be there or may; the first word is the default.
    var branches: [(word: String, keys: [String], required: [String])]
  }

  /// A key that takes the place of others.
  struct Exclusion: Sendable {
    var key: String
    var others: [String]
  }

  let keys: [ProfileKey]
  var orders: [Order] = []
  var choice: Choice?
  var exclusion: Exclusion?

  /// The names of the keys without which a text is refused.
  var required: [String] { keys.filter { $0.presence == .required }.map(\.name) }

  /// The key with a name, or nothing.
  func key(named name: String) -> ProfileKey? { keys.first { $0.name == name } }

  /// The value under a key of an object, or under the key's former name.
  func value(_ name: String, in object: JSONValue?) -> JSONValue? { object.flatMap { key(named: name)?.value(in: $0) } }
}

/// One row of the table of keys: what a key is, how its value is read, and how it is written.
struct ProfileField<Owner: Sendable>: Sendable {
  var key: ProfileKey
  /// Takes the value under the key into its owner, where the key is there.
  let read: @Sendable (JSONValue?, inout Owner) -> Void
  /// Writes the owner's value, unless it may be left out and is that of a default owner.
  let write: @Sendable (Owner, _ usual: Owner, inout JSONObjectWriter) -> Void
}

/// The rows of one object, in the order in which they are read and written.
struct ProfileObject<Owner: Sendable>: Sendable {
  let fields: ProfileFields
  private let rows: [ProfileField<Owner>]

  init(
    _ rows: [ProfileField<Owner>], orders: [ProfileFields.Order] = [], choice: ProfileFields.Choice? = nil,
    exclusion: ProfileFields.Exclusion? = nil
  ) {
    self.rows = rows
    fields = ProfileFields(keys: rows.map(\.key), orders: orders, choice: choice, exclusion: exclusion)
  }

  /// Reads an object in which nothing was found wrong; what it leaves out stays as it was.
  func read(_ object: JSONValue, into owner: inout Owner) {
    for row in rows { row.read(row.key.value(in: object), &owner) }
  }

  /// Writes what differs from a default owner, and what is always written.
  func write(_ owner: Owner, unless usual: Owner, to object: inout JSONObjectWriter) {
    for row in rows { row.write(owner, usual, &object) }
  }
}

extension ProfileField {
  /// The same row, which also reads a key's former name.
  func formerly(_ name: String) -> Self {
    var row = self
    row.key.formerName = name
    return row
  }

  typealias Path<Value> = any WritableKeyPath<Owner, Value> & Sendable

  /// A key that is checked and described only.
  static func ignored(_ key: ProfileKey) -> Self { Self(key: key, read: { _, _ in }, write: { _, _, _ in }) }

  /// A number; where it is left out, it is the default or, without one, as in the default owner.
  static func number(
    _ name: String, _ path: Path<Double>, _ range: ClosedRange<Double>, presence: ProfileKey.Presence = .optional,
    default defaultValue: Double? = nil, _ meaning: String
  ) -> Self {
    Self(key: ProfileKey(name, .number(range), presence: presence, default: defaultValue, meaning)) {
      if let number = $0?.number { $1[keyPath: path] = number }
    } write: { owner, usual, object in
      let number = owner[keyPath: path]
      if presence == .optional, number == defaultValue ?? usual[keyPath: path] { return }
      object.number(name, number)
    }
  }

  /// A number that may be unknown.
  static func number(
    _ name: String, _ path: Path<Double?>, _ range: ClosedRange<Double>, default defaultValue: Double? = nil,
    _ meaning: String
  ) -> Self {
    Self(key: ProfileKey(name, .number(range), default: defaultValue, meaning)) {
      if let number = $0?.number { $1[keyPath: path] = number }
    } write: { owner, _, object in
      if let number = owner[keyPath: path] { object.number(name, number) }
    }
  }

  /// A choice that may be left open.
  static func boolean(_ name: String, _ path: Path<Bool?>, _ meaning: String) -> Self {
    Self(key: ProfileKey(name, .boolean, meaning)) {
      if let boolean = $0?.boolean { $1[keyPath: path] = boolean }
    } write: { owner, _, object in
      if let boolean = owner[keyPath: path] { object.member(name, boolean) }
    }
  }

  /// A text or a name that must be there.
  static func text(_ name: String, _ path: Path<String>, as type: ProfileValueType = .text, _ meaning: String) -> Self {
    Self(key: ProfileKey(name, type, presence: .required, meaning)) {
      if let text = $0?.string { $1[keyPath: path] = text }
    } write: { owner, _, object in
      object.member(name, owner[keyPath: path])
    }
  }

  /// Texts or words; none are left out.
  static func texts(_ name: String, _ path: Path<[String]>, of type: ProfileValueType = .text, _ meaning: String)
    -> Self
  {
    var current: [String: String] = [:]
    if case .word(_, let former) = type { current = former }
    return Self(key: ProfileKey(name, .list(type), meaning)) { [current] in
      guard let list = $0 else { return }
      $1[keyPath: path] = list.elements.compactMap(\.string).map { current[$0] ?? $0 }
    } write: { owner, _, object in
      let texts = owner[keyPath: path]
      if texts.isEmpty { return }
      object.array(name) { list in for text in texts { list.element(text) } }
    }
  }

  /// One of the words of a type.
  static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, _ path: Path<Word>, presence: ProfileKey.Presence = .written, _ meaning: String
  ) -> Self {
    Self(key: ProfileKey(name, .word(Word.allCases.map(\.rawValue)), presence: presence, meaning)) {
      if let word = $0?.string.flatMap(Word.init) { $1[keyPath: path] = word }
    } write: { owner, usual, object in
      let word = owner[keyPath: path].rawValue
      if presence == .optional, word == usual[keyPath: path].rawValue { return }
      object.member(name, word)
    }
  }

  /// An object whose value is never absent; `derived` makes its default of what was read before it.
  static func object<Value: Equatable & Sendable>(
    _ name: String, _ path: Path<Value>, _ inner: ProfileObject<Value>, presence: ProfileKey.Presence = .optional,
    layout: JSONWriter.Layout = .lines, derived: (@Sendable (Owner) -> Value)? = nil, _ meaning: String
  ) -> Self {
    Self(key: ProfileKey(name, .object(inner.fields), presence: presence, meaning)) {
      if let derived { $1[keyPath: path] = derived($1) }
      if let object = $0 { inner.read(object, into: &$1[keyPath: path]) }
    } write: { owner, usual, object in
      let value = owner[keyPath: path]
      let usual = derived?(owner) ?? usual[keyPath: path]
      if presence == .optional, value == usual { return }
      object.object(name, layout: layout) { inner.write(value, unless: usual, to: &$0) }
    }
  }

  /// An object whose value is absent without it; `new` is what an empty one is read as.
  static func object<Value: Sendable>(
    _ name: String, _ path: Path<Value?>, _ inner: ProfileObject<Value>, new: Value, layout: JSONWriter.Layout = .lines,
    _ meaning: String
  ) -> Self {
    Self(key: ProfileKey(name, .object(inner.fields), meaning)) {
      guard let object = $0 else { return }
      var value = new
      inner.read(object, into: &value)
      $1[keyPath: path] = value
    } write: { owner, _, object in
      guard let value = owner[keyPath: path] else { return }
      object.object(name, layout: layout) { inner.write(value, unless: new, to: &$0) }
    }
  }

  /// A list of objects, each on a line; `new` is what an empty one is read as.
  static func list<Element: Equatable & Sendable>(
    _ name: String, _ path: Path<[Element]>, of inner: ProfileObject<Element>, new: Element, count: ClosedRange<Int>,
    _ meaning: String
  ) -> Self {
    Self(key: ProfileKey(name, .list(.object(inner.fields), count: count), meaning)) {
      guard let list = $0 else { return }
      $1[keyPath: path] = list.elements.map { object in
        var element = new
        inner.read(object, into: &element)
        return element
      }
    } write: { owner, usual, object in
      let elements = owner[keyPath: path]
      if elements == usual[keyPath: path] { return }
      object.array(name) { list in
        for element in elements { list.object(layout: .line) { inner.write(element, unless: new, to: &$0) } }
      }
    }
  }

  /// `low` and `high` of one range, on one line; absent they are left out.
  static func ends(
    _ name: String, _ path: Path<ProfileEnds?>, _ range: ClosedRange<Double>, low: String, high: String,
    isAscending: Bool = true, _ meaning: String
  ) -> Self {
    let inner = ProfileObject<ProfileEnds>(
      [
        .number("low", \.low, range, presence: .required, low),
        .number("high", \.high, range, presence: .required, high),
      ], orders: isAscending ? [.init(low: "low", high: "high")] : [])
    return .object(name, path, inner, new: ProfileEnds(low: 0, high: 0), layout: .line, meaning)
  }
}

/// The values at sharpness 0 and 1, or the two ends of a range.
struct ProfileEnds: Sendable {
  var low: Double
  var high: Double
}

extension JSONObjectWriter {
  /// Writes a number as people do: whole ones without a fraction.
  mutating func number(_ key: String, _ value: Double) {
    if let whole = Int(exactly: value) { member(key, whole) } else { member(key, value) }
  }
}
