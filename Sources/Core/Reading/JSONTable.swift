/// What may stand under a key of a JSON object.
package enum JSONType: Sendable {
  /// A number in a range; `.anyNumber` has none.
  case number(ClosedRange<Double>)
  /// A number without a fraction in a range; `JSONFieldRules.fraction` says what becomes of others.
  case integer(ClosedRange<Int>)
  case boolean
  /// A string; a pattern, as of regular expressions, is for schemas alone.
  case string(pattern: String? = nil)
  /// One of some words; where the key is left out, the first counts.
  case enumeration([String])
  /// Entries of one type, and how many there may be.
  indirect case array(JSONType, count: ClosedRange<Int>? = nil)
  /// An object; asked for when it is needed, so that objects may be inside others of their own
  /// kind.
  case object(@Sendable () -> JSONSchema)
  /// Whatever the row reads.
  case any

  package static let anyNumber = JSONType.number(
    -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
}

/// A key of a JSON object: all that is known of it without its owner.
package struct JSONKey: Sendable {
  /// When the key is in a text.
  package enum Presence: Sendable {
    /// Always; an object without it is incomplete, which is an error.
    case required
    /// Always in texts that are written; a text without it gets a warning.
    case recommended
    /// Always in texts that are written.
    case alwaysWritten
    /// Only where its value differs from the default.
    case optional
  }

  package var name: String
  package var type: JSONType
  package var presence = Presence.optional
  /// The number that counts where the key is left out, if it is always the same.
  package var defaultValue: Double?
  /// One or two sentences for people who write texts, unit first.
  package var meaning = ""
  /// What messages call one of its words, where not by the key.
  package var noun: String?
  /// The rule for values outside the range or the words, where it is not that of the reader.
  package var rule: Rule?
  /// The code of wrong values in another system, where it is not that of the object.
  package var errorCode: Int?
  /// How its object, each object of its list, or its list of scalars is set.
  package var layout: JSONWriter.Layout?

  package init(
    _ name: String, _ type: JSONType, is presence: Presence = .optional,
    default defaultValue: Double? = nil,
    _ meaning: String = "", noun: String? = nil, rule: Rule? = nil, errorCode code: Int? = nil,
    layout: JSONWriter.Layout? = nil
  ) {
    self.name = name
    self.type = type
    self.presence = presence
    self.defaultValue = defaultValue
    self.meaning = meaning
    self.noun = noun
    self.rule = rule
    self.errorCode = code
    self.layout = layout
  }
}

extension JSONKey {
  fileprivate func withType(_ type: JSONType) -> JSONKey {
    var key = self
    key.type = type
    return key
  }
}

/// The keys of one kind of object in canonical order, and what they require of each other.
package final class JSONSchema: Sendable {
  /// A word that decides which other keys there are.
  package struct Discriminator: Sendable {
    package var key: String
    /// The keys that go with each word, and those that must be there; the first word is the
    /// default.
    package var variants: [(word: String, keys: [String], required: [String])]

    package init(
      key: String, variants branches: [(word: String, keys: [String], required: [String])]
    ) {
      self.key = key
      self.variants = branches
    }
  }

  /// What messages call such an object, with its article: `an event`.
  package let noun: String
  /// At most 32.
  package let keys: [JSONKey]
  package let names: JSONNameList
  /// The code of incomplete objects in another system.
  package let errorCode: Int?
  package let discriminator: Discriminator?
  let allKeyBits: UInt32
  let expectedKeyBits: UInt32

  package init(
    _ noun: String, _ keys: [JSONKey], errorCode code: Int? = nil,
    discriminator choice: Discriminator? = nil
  ) {
    precondition(keys.count <= 32, "an object has at most 32 keys")
    self.noun = noun
    self.keys = keys
    self.errorCode = code
    self.discriminator = choice
    names = JSONNameList(keys.map { $0.name })
    allKeyBits = UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(keys.count)) - 1)
    var demanded: UInt32 = 0
    for (index, key) in keys.enumerated()
    where key.presence == .required || key.presence == .recommended {
      demanded |= 1 << UInt32(index)
    }
    expectedKeyBits = demanded
  }

  package func key(named name: String) -> JSONKey? { keys.first { $0.name == name } }

  /// The keys, and those that must be there, for the word of an object; a word that is not known
  /// allows all.
  package func keys(in object: JSONValue) -> (known: [JSONKey], required: [String]) {
    let required = keys.filter { $0.presence == .required }.map { $0.name }
    guard let discriminator else { return (keys, required) }
    let word = object[discriminator.key].map { $0.string } ?? discriminator.variants.first?.word
    guard let branch = discriminator.variants.first(where: { $0.word == word }) else {
      return (keys, required)
    }
    let others = discriminator.variants.flatMap { $0.keys }.filter { !branch.keys.contains($0) }
    return (keys.filter { !others.contains($0.name) }, required + branch.required)
  }
}

// MARK: - Tables

/// One row of a table: what a key is, how its value is read into its owner, and how it is written.
package struct JSONProperty<Owner, Reader: JSONSchemaReader>: Sendable {
  /// Lends the place of a value in its owner, for reading and for writing: `{ $1(&$0.time) }`.
  package typealias Accessor<Value> =
    @Sendable (_ owner: inout Owner, _ body: (inout Value) -> Void) -> Void

  package var key: JSONKey
  /// Reads the value under the key; false where it cannot be used, which was noted.
  package let read: @Sendable (JSONValue, inout Owner, inout Reader) -> Bool
  /// Writes the owner's value, unless it may be left out and is that of a default owner.
  package let write: @Sendable (_ owner: Owner, _ usual: Owner?, inout JSONObjectWriter) -> Void
  /// Whether the key is one of the owner's, by what was read before it.
  var condition: (@Sendable (Owner) -> Bool)?

  /// A row of a kind that has no maker below; one that writes nothing is for reading alone.
  package init(
    _ key: JSONKey, read: @escaping @Sendable (JSONValue, inout Owner, inout Reader) -> Bool,
    write: @escaping @Sendable (_ owner: Owner, _ usual: Owner?, inout JSONObjectWriter) -> Void = {
      _, _, _ in
    }
  ) {
    self.key = key
    self.read = read
    self.write = write
  }

  /// The same row for some owners alone; the others' key is neither read, missed nor written.
  package func only(where condition: @escaping @Sendable (Owner) -> Bool) -> Self {
    var row = self
    row.condition = condition
    return row
  }
}

/// The grammar of one kind of JSON object as rows, each of which reads, checks, writes, orders and
/// documents a key.
///
/// A format states its reader, which holds the log and whatever else its rows need, and a table for
/// each kind of object:
///
/// ```swift
/// struct ClipReader: JSONFieldReader {
///   let rules = JSONFieldRules(missingKey: .structure, wrongType: .structure, outOfRange: .range)
///   var log = FindingLog()
/// }
/// typealias Table<Owner> = JSONTable<Owner, ClipReader>
///
/// static let point = Table<Point>("a point", [
///   .value("time", .number(0...1e9), is: .required) { $1(&$0.time) },
///   .value("amplitude", .number(0...1), is: .required) { $1(&$0.amplitude) },
///   .object("emphasis", emphasis, new: Emphasis()) { $1(&$0.emphasis) },
/// ])
/// static let clip = Table<Clip>("the file", [
///   .list("amplitude", of: point, new: Point(), is: .required) { $1(&$0.points) }
/// ]) { object, clip, reader in … }
/// ```
///
/// `clip.read(json.root, into: &value, &reader)` reads a text and notes what is wrong with it,
/// `clip.write(value, to: &object)` writes one, `clip.shape.canonical(json.root)` sets one in the
/// order and layout of the rows. Order of rows is that of keys in written and canonical text, and
/// that of reading.
package final class JSONObjectSchema<Owner, Reader: JSONSchemaReader>: Sendable {
  /// Looks at what was read as a whole; false where the object does not count.
  package typealias Check =
    @Sendable (_ object: JSONValue, _ owner: inout Owner, _ reader: inout Reader) -> Bool

  package let schema: JSONSchema
  package let properties: [JSONProperty<Owner, Reader>]
  private let check: Check?

  /// A table of rows; the check comes behind them, also for objects that are incomplete.
  package init(
    _ noun: String, _ rows: [JSONProperty<Owner, Reader>], errorCode code: Int? = nil,
    discriminator choice: JSONSchema.Discriminator? = nil,
    check: Check? = nil
  ) {
    schema = JSONSchema(noun, rows.map { $0.key }, errorCode: code, discriminator: choice)
    self.properties = rows
    self.check = check
  }

  /// Reads an object; what it leaves out stays as it was.
  ///
  /// - Returns: Whether all keys that must be there are, with values that can be used.
  @discardableResult package func read(
    _ object: JSONValue, into owner: inout Owner, reader: inout Reader
  ) -> Bool {
    guard
      reader.expectKind(
        .object, of: object, as: object.key ?? schema.noun, errorCode: schema.errorCode)
    else {
      return false
    }
    let members = schema.names.indexedMembers(of: object)
    var known = schema.allKeyBits
    var demanded = schema.expectedKeyBits
    if schema.discriminator != nil {
      let (keys, required) = schema.keys(in: object)
      for (index, key) in schema.keys.enumerated() {
        if !keys.contains(where: { $0.name == key.name }) {
          known &= ~(1 << UInt32(index))
        }
        if required.contains(key.name) {
          demanded |= 1 << UInt32(index)
        }
      }
    }
    if !members.hasDistinctNames(among: known) {
      for member in object.members {
        if let index = schema.names.index(ofKey: member), known & 1 << UInt32(index) != 0 {
          let isRepeated = members[index]?.index != member.index
          if isRepeated, reader.rules.checksRepeatedKeys {
            _ = properties[index].read(member, &owner, &reader)
          }
          continue
        }
        reader.reportUnknownKey(member, in: schema)
      }
    }
    var isComplete = true
    var left = (members.nameBits | demanded) & known
    while left != 0 {
      let index = left.trailingZeroBitCount
      left &= left - 1
      if let condition = properties[index].condition, !condition(owner) { continue }
      let isRequired =
        demanded & 1 << UInt32(index) != 0 && properties[index].key.presence != .recommended
      guard let value = members[index] else {
        reader.reportMissing(
          properties[index].key, isRequired: isRequired, of: object, schema: schema)
        if isRequired {
          isComplete = false
        }
        continue
      }
      if value.kind == .null, !isRequired, reader.acceptsNullAsAbsent(value) {
        continue
      }
      if !properties[index].read(value, &owner, &reader), isRequired {
        isComplete = false
      }
    }
    if let check, !check(object, &owner, &reader) { return false }
    return isComplete
  }

  /// Writes what differs from a default owner, and what is always written; all that there is
  /// without one.
  package func write(_ owner: Owner, unless usual: Owner? = nil, to object: inout JSONObjectWriter)
  {
    for row in properties where row.condition?(owner) ?? true {
      row.write(owner, usual, &object)
    }
  }

  package func write(
    _ owners: [Owner], unless usual: Owner? = nil, as name: String,
    layout: JSONWriter.Layout? = nil,
    to object: inout JSONObjectWriter
  ) {
    object.array(name) { list in
      for owner in owners {
        list.object(layout: layout) { write(owner, unless: usual, to: &$0) }
      }
    }
  }

  package func text(_ owner: Owner, layout: JSONWriter.Layout = .multiline) -> [UInt8] {
    var writer = JSONWriter(layout: layout)
    writer.object { write(owner, to: &$0) }
    return writer.finish()
  }
}

extension JSONProperty {
  /// A key that is known and not kept; a text is checked.
  package static func ignored(_ name: String, _ type: JSONType = .any, _ meaning: String = "")
    -> Self
  {
    let key = JSONKey(name, type, meaning)
    return Self(key) { value, _, reader in
      guard case .string = type else { return true }
      let text: String? = reader.readScalar(value, key: key)
      return text != nil
    }
  }

  /// A number, an integer, a boolean or a text; where it is left out, it is the default or, without
  /// one, as in the default owner. An optional that is nil is not written.
  package static func value<Value: JSONScalar>(
    _ name: String, _ type: JSONType, is presence: JSONKey.Presence = .optional,
    default defaultValue: Double? = nil,
    _ meaning: String = "", rule: Rule? = nil, errorCode code: Int? = nil,
    _ place: @escaping Accessor<Value>
  ) -> Self {
    value(
      JSONKey(
        name, type, is: presence, default: defaultValue, meaning, rule: rule, errorCode: code),
      type: nil, place: place
    )
  }

  /// The same for a key whose type depends on what was read before.
  package static func value<Value: JSONScalar>(
    _ key: JSONKey, type: (@Sendable (Owner, Reader) -> JSONType)?, place: @escaping Accessor<Value>
  ) -> Self {
    Self(key) { value, owner, reader in
      let known = type.map { key.withType($0(owner, reader)) } ?? key
      guard let scalar: Value = reader.readScalar(value, key: known) else { return false }
      place(&owner) { $0 = scalar }
      return true
    } write: { owner, usual, object in
      guard let value = Self.value(place, of: owner) else { return }
      let known =
        Value.isOptional
        ? nil : key.defaultValue.flatMap { Value.value(of: JSONScalarContent(number: $0)) }
      if key.presence == .optional, value == known ?? Self.value(place, of: usual) {
        return
      }
      value.write(key.name, omitsPoint: Reader.writesShortNumbers, to: &object)
    }
  }

  /// The value at a place of an owner.
  package static func value<Value>(_ place: Accessor<Value>, of owner: Owner?) -> Value? {
    guard var owner else { return nil }
    var value: Value?
    place(&owner) { value = $0 }
    return value
  }

  /// A number that is not read, and written with one value.
  package static func constant(
    _ name: String, is presence: JSONKey.Presence = .alwaysWritten, _ value: Int
  ) -> Self {
    Self(JSONKey(name, .any, is: presence)) { _, _, _ in
      true
    } write: { _, _, object in
      object.member(name, value)
    }
  }

  /// One of the words of an enumeration.
  package static func enumeration<Word: JSONEnumeration>(
    _ name: String, is presence: JSONKey.Presence = .alwaysWritten, _ meaning: String = "",
    noun: String? = nil,
    rule: Rule? = nil, errorCode code: Int? = nil, _ place: @escaping Accessor<Word>
  ) -> Self {
    let cases = Array(Word.allCases)
    let names = JSONNameList(cases.map { $0.jsonName })
    let key = JSONKey(
      name, .enumeration(names.names), is: presence, meaning, noun: noun, rule: rule,
      errorCode: code)
    return Self(key) { value, owner, reader in
      guard let index = reader.readName(value, names: names, key: key) else { return false }
      place(&owner) { $0 = cases[index] }
      return true
    } write: { owner, usual, object in
      guard let word = Self.value(place, of: owner) else { return }
      if presence != .optional || word != Self.value(place, of: usual) {
        object.member(name, word.jsonName)
      }
    }
  }

  /// A list of scalars of a type; an empty one that may be left out is.
  package static func values<Value: JSONScalar & JSONWritable>(
    _ name: String, of type: JSONType, is presence: JSONKey.Presence = .optional,
    _ meaning: String = "",
    noun: String? = nil, layout: JSONWriter.Layout? = nil, _ place: @escaping Accessor<[Value]>
  ) -> Self {
    let key = JSONKey(name, .array(type), is: presence, meaning, layout: layout)
    var words: JSONNameList?
    if case .enumeration(let list) = type {
      words = JSONNameList(list)
    }
    let entry = JSONKey(name, type, noun: noun)
    return Self(key) { [words] value, owner, reader in
      guard reader.expectKind(.array, of: value, as: name, errorCode: nil) else { return false }
      var values: [Value] = []
      for element in value.elements {
        if let words, reader.readName(element, names: words, key: entry) == nil { continue }
        if let scalar: Value = reader.readScalar(element, key: entry) {
          values.append(scalar)
        }
      }
      place(&owner) { $0 = values }
      return true
    } write: { owner, _, object in
      guard let values = Self.value(place, of: owner), !values.isEmpty || presence != .optional
      else { return }
      object.array(name, layout: layout) { list in
        for value in values {
          list.element(value)
        }
      }
    }
  }

  /// An object whose value is never absent; it is read into what is there.
  package static func object<Value: Equatable & Sendable>(
    _ name: String, _ table: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Value, Reader>,
    is presence: JSONKey.Presence = .optional, layout: JSONWriter.Layout? = nil,
    _ meaning: String = "",
    usual derived: (@Sendable (Owner) -> Value)? = nil, _ place: @escaping Accessor<Value>
  ) -> Self {
    Self(JSONKey(name, .object { table().schema }, is: presence, meaning, layout: layout)) {
      value, owner, reader in
      if let usual = derived?(owner) {
        place(&owner) { $0 = usual }
      }
      var isComplete = true
      place(&owner) { isComplete = table().read(value, into: &$0, reader: &reader) }
      return isComplete
    } write: { owner, usual, object in
      let usual = derived?(owner) ?? Self.value(place, of: usual)
      guard let value = Self.value(place, of: owner), value != usual || presence != .optional else {
        return
      }
      object.object(name, layout: layout) { table().write(value, unless: usual, to: &$0) }
    }
  }

  /// An object whose value is absent without it; `new` is what an empty one is read as.
  package static func object<Value: Sendable>(
    _ name: String, _ table: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Value, Reader>,
    new: @escaping @autoclosure @Sendable () -> Value, is presence: JSONKey.Presence = .optional,
    layout: JSONWriter.Layout? = nil, _ meaning: String = "", _ place: @escaping Accessor<Value?>
  ) -> Self {
    Self(JSONKey(name, .object { table().schema }, is: presence, meaning, layout: layout)) {
      value, owner, reader in
      var made = new()
      guard table().read(value, into: &made, reader: &reader) else { return false }
      place(&owner) { $0 = made }
      return true
    } write: { owner, _, object in
      guard let value = Self.value(place, of: owner) ?? nil else { return }
      object.object(name, layout: layout) { table().write(value, unless: new(), to: &$0) }
    }
  }

  /// An object of rows of the owner itself, as a level of the text that has none in the model.
  package static func group(
    _ name: String, _ table: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Owner, Reader>,
    is presence: JSONKey.Presence = .required, layout: JSONWriter.Layout? = nil,
    _ meaning: String = ""
  ) -> Self {
    Self(JSONKey(name, .object { table().schema }, is: presence, meaning, layout: layout)) {
      value, owner, reader in
      table().read(value, into: &owner, reader: &reader)
    } write: { owner, usual, object in
      object.object(name, layout: layout) { table().write(owner, unless: usual, to: &$0) }
    }
  }

  /// A list of objects; `new` is what an empty one is read as. Incomplete ones are left out, which
  /// is an error.
  package static func array<Element: Equatable & Sendable>(
    _ name: String,
    of table: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Element, Reader>,
    count: ClosedRange<Int>? = nil, new: @escaping @autoclosure @Sendable () -> Element,
    is presence: JSONKey.Presence = .optional, layout: JSONWriter.Layout? = nil,
    _ meaning: String = "",
    _ place: @escaping Accessor<[Element]>
  ) -> Self {
    let key = JSONKey(
      name, .array(.object { table().schema }, count: count), is: presence, meaning, layout: layout)
    return Self(key) { value, owner, reader in
      guard let elements = reader.readElements(of: value, key, table(), new()) else { return false }
      place(&owner) { $0 = elements }
      return true
    } write: { owner, usual, object in
      guard let elements = Self.value(place, of: owner) else { return }
      if presence == .optional, elements == Self.value(place, of: usual) ?? [] {
        return
      }
      table().write(elements, unless: new(), as: name, layout: layout, to: &object)
    }
  }
}

// MARK: - Values

/// A value of Swift that is one number, text or boolean of JSON, or none.
package protocol JSONScalar: Equatable, Sendable {
  /// Nil where the content is of another kind.
  static func value(of content: JSONScalarContent) -> Self?
  /// Whether none is a value.
  static var isOptional: Bool { get }
  /// The number of a text as the type holds it.
  static func nearest(to number: Double) -> Double
  /// Writes a member; in short, whole numbers have no point.
  func write(_ key: String, omitsPoint isShort: Bool, to object: inout JSONObjectWriter)
}

/// What a scalar of JSON holds: one of three.
package struct JSONScalarContent {
  var number: Double?
  var text: String?
  var boolean: Bool?
}

/// A type of few values, each of which has a word in texts.
package protocol JSONEnumeration: CaseIterable, Equatable, Sendable { var jsonName: String { get } }

extension JSONEnumeration where Self: RawRepresentable<String> {
  package var jsonName: String { rawValue }
}

extension JSONScalar {
  package static var isOptional: Bool { false }
  package static func nearest(to number: Double) -> Double { number }
}

extension JSONScalar where Self: JSONWritable {
  package func write(_ key: String, omitsPoint isShort: Bool, to object: inout JSONObjectWriter) {
    object.member(key, self)
  }
}

extension JSONScalar where Self: JSONWritable & BinaryFloatingPoint {
  package func write(_ key: String, omitsPoint isShort: Bool, to object: inout JSONObjectWriter) {
    if isShort, let whole = Int(exactly: self) {
      object.member(key, whole)
    } else {
      object.member(key, self)
    }
  }
}

extension Double: JSONScalar {
  package static func value(of content: JSONScalarContent) -> Double? { content.number }

  /// The number as people write it: whole ones without a point.
  package var shortText: String { Int(exactly: self).map(String.init) ?? description }
}

extension Float: JSONScalar {
  // −0 is 0.
  package static func value(of content: JSONScalarContent) -> Float? {
    content.number.map { Float($0) + 0 }
  }
  package static func nearest(to number: Double) -> Double { Double(Float(number)) }
}

extension Int: JSONScalar {
  package static func value(of content: JSONScalarContent) -> Int? {
    content.number.flatMap { Int(exactly: $0) }
  }
}

extension Bool: JSONScalar {
  package static func value(of content: JSONScalarContent) -> Bool? { content.boolean }
}

extension String: JSONScalar {
  package static func value(of content: JSONScalarContent) -> String? { content.text }
}

extension Optional: JSONScalar where Wrapped: JSONScalar {
  package static func value(of content: JSONScalarContent) -> Wrapped?? {
    Wrapped.value(of: content).map { .some($0) }
  }
  package static var isOptional: Bool { true }
  package static func nearest(to number: Double) -> Double { Wrapped.nearest(to: number) }

  package func write(_ key: String, omitsPoint isShort: Bool, to object: inout JSONObjectWriter) {
    self?.write(key, omitsPoint: isShort, to: &object)
  }
}
