/// The type of the value of a key in a JSON object.
package enum JSONType: Sendable {
  /// A number in a range. `anyNumber` accepts all finite numbers.
  case number(ClosedRange<Double>)
  /// A whole number in a range. `JSONSchemaRules.fractionHandling` decides about fractions.
  case integer(ClosedRange<Int>)
  case boolean
  /// A string. The pattern is a regular expression for the published JSON Schemas; reading ignores
  /// it.
  case string(pattern: String? = nil)
  /// One of a list of names. The first is the default.
  case enumeration([String])
  /// An array of elements of one type, optionally with a range of counts.
  indirect case array(JSONType, count: ClosedRange<Int>? = nil)
  /// An object. The closure delays the evaluation, so that a schema can contain itself.
  case object(@Sendable () -> JSONSchema)
  /// A value that the property reads by itself.
  case any

  package static let anyNumber = JSONType.number(
    -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
}

/// A key of a JSON object, without the Swift type that owns its value.
package struct JSONKey: Sendable {
  /// The presence of a key in a text.
  package enum Presence: Sendable {
    /// Always present. An object without the key is incomplete, which is an error.
    case required
    /// Written always. Reading a text without the key reports a warning.
    case recommended
    /// Written always. Reading a text without the key reports nothing.
    case alwaysWritten
    /// Written only if the value differs from the default.
    case optional
  }

  package var name: String
  package var type: JSONType
  package var presence = Presence.optional
  /// The value of an absent key, or nil if there is no constant default.
  package var defaultValue: Double?
  /// One or two sentences for authors of texts, starting with the unit.
  package var meaning = ""
  /// The noun for a value of the key in messages, or nil to use the key itself.
  package var noun: String?
  /// The rule for values out of range, or nil to use the rule of the reader.
  package var rule: Rule?
  /// The error code for invalid values, such as one of `CHHapticError`, or nil to use the code of
  /// the object.
  package var errorCode: Int?
  /// The layout of the object, of each object in the array, or of the array of scalars.
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

/// The keys of one kind of JSON object in canonical order, and their dependencies.
package final class JSONSchema: Sendable {
  /// A key whose value selects the other keys that are valid.
  package struct Discriminator: Sendable {
    package var key: String
    /// The keys that each value permits, and those that it requires. The first value is the
    /// default.
    package var variants: [(word: String, keys: [String], required: [String])]

    package init(
      key: String, variants branches: [(word: String, keys: [String], required: [String])]
    ) {
      self.key = key
      self.variants = branches
    }
  }

  /// The noun for such an object in messages, with its article: `an event`.
  package let noun: String
  /// The keys, at most 32.
  package let keys: [JSONKey]
  package let names: JSONNameList
  /// The error code for incomplete objects, such as one of `CHHapticError`.
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

  /// Returns the permitted and the required keys of an object, by the value of its discriminator.
  /// An unknown value permits all keys.
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

/// A property of a Swift type as a key of a JSON object: reads, writes, and documents its value.
package struct JSONProperty<Owner, Reader: JSONSchemaReader>: Sendable {
  /// Lends access to a property of the owner, for reading and writing: `{ $1(&$0.time) }`.
  ///
  /// A `WritableKeyPath` would be the natural type, but the studio's WebAssembly module is compiled
  /// as Embedded Swift, which has no key paths.
  package typealias Accessor<Value> =
    @Sendable (_ owner: inout Owner, _ body: (inout Value) -> Void) -> Void

  package var key: JSONKey
  /// Reads the value of the key into the owner. Returns false for an invalid value, after reporting
  /// it.
  package let read: @Sendable (JSONValue, inout Owner, inout Reader) -> Bool
  /// Writes the owner's value, unless the key is optional and the value is that of `defaultOwner`.
  package let write: @Sendable (_ owner: Owner, _ usual: Owner?, inout JSONObjectWriter) -> Void
  /// Returns whether the key is valid for the owner, given the keys that were read before it; nil
  /// for always.
  var condition: (@Sendable (Owner) -> Bool)?

  /// Creates a property from functions. Without `write`, the property is read only.
  ///
  /// - Parameters:
  ///   - key: The key and its documentation.
  ///   - read: Reads the value of the key into the owner; false if it cannot be used.
  ///   - write: Writes the owner's value.
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

  /// Returns the property restricted to some owners. For all others, the key is neither read, nor
  /// required, nor written.
  package func only(where condition: @escaping @Sendable (Owner) -> Bool) -> Self {
    var row = self
    row.condition = condition
    return row
  }
}

/// The grammar of one kind of JSON object. Each property reads, checks, writes, orders, and
/// documents one key.
///
/// A format declares a reader, which holds the log of findings and any further state, and a schema
/// for each kind of object:
///
/// ```swift
/// struct ClipReader: JSONSchemaReader {
///   let rules = JSONSchemaRules(missingKey: .structure, wrongType: .structure, outOfRange: .range)
///   var log = FindingLog()
/// }
/// typealias Schema<Owner> = JSONObjectSchema<Owner, ClipReader>
///
/// static let point = Schema<Point>("a point", [
///   .value("time", .number(0...1e9), is: .required) { $1(&$0.time) },
///   .value("amplitude", .number(0...1), is: .required) { $1(&$0.amplitude) },
///   .object("emphasis", emphasis, new: Emphasis()) { $1(&$0.emphasis) },
/// ])
/// static let clip = Schema<Clip>("the file", [
///   .array("amplitude", of: point, new: Point(), is: .required) { $1(&$0.points) }
/// ]) { object, clip, reader in … }
/// ```
///
/// - `clip.read(json.root, into: &value, reader: &reader)` reads a text and reports its errors.
/// - `clip.write(value, to: &object)` writes a text.
/// - `clip.schema.canonicalText(of: json.root)` orders and lays out a text by the properties.
///
/// The order of the properties is the order of reading, and of the keys in written and canonical
/// texts.
package final class JSONObjectSchema<Owner, Reader: JSONSchemaReader>: Sendable {
  /// Checks an object after all its properties were read. Returns false to reject the object.
  package typealias Check =
    @Sendable (_ object: JSONValue, _ owner: inout Owner, _ reader: inout Reader) -> Bool

  package let schema: JSONSchema
  package let properties: [JSONProperty<Owner, Reader>]
  private let check: Check?

  /// Creates a schema.
  ///
  /// - Parameters:
  ///   - noun: The noun for such an object in messages, with its article.
  ///   - properties: The properties in canonical order.
  ///   - errorCode: The error code for incomplete objects.
  ///   - discriminator: The key that selects the valid keys.
  ///   - check: A check that runs after all properties were read, also for incomplete objects.
  package init(
    _ noun: String, _ rows: [JSONProperty<Owner, Reader>], errorCode code: Int? = nil,
    discriminator choice: JSONSchema.Discriminator? = nil,
    check: Check? = nil
  ) {
    schema = JSONSchema(noun, rows.map { $0.key }, errorCode: code, discriminator: choice)
    self.properties = rows
    self.check = check
  }

  /// Reads an object. Absent keys leave the owner's values unchanged.
  ///
  /// 1. The members are indexed by key in one pass, and the discriminator selects the valid keys.
  /// 2. Unknown and repeated keys are reported.
  /// 3. The properties are read in order; missing keys are reported.
  /// 4. The check runs.
  ///
  /// - Returns: True if all required keys are present with valid values, and the check passed.
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

  /// Writes the properties that differ from `defaultOwner`, and those that are always written;
  /// without a default owner, all properties.
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
  /// A known key whose value is not kept. A string is checked for its type.
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

  /// A number, an integer, a boolean, or a string.
  ///
  /// An absent key stands for `defaultValue` or, without one, for the value of the default owner.
  /// An optional value of nil is not written.
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

  /// A scalar whose type depends on the properties that were read before.
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

  /// Returns a property of an owner, or nil without an owner.
  package static func value<Value>(_ place: Accessor<Value>, of owner: Owner?) -> Value? {
    guard var owner else { return nil }
    var value: Value?
    place(&owner) { value = $0 }
    return value
  }

  /// A number that is always written with the same value, and ignored on reading.
  package static func constant(
    _ name: String, is presence: JSONKey.Presence = .alwaysWritten, _ value: Int
  ) -> Self {
    Self(JSONKey(name, .any, is: presence)) { _, _, _ in
      true
    } write: { _, _, object in
      object.member(name, value)
    }
  }

  /// One of the names of an enumeration.
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

  /// An array of scalars. An empty optional array is not written.
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

  /// An object that always has a value. It is read into the existing value.
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

  /// An object whose value is nil if the key is absent. Reading starts with the value `new`.
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

  /// An object that has no counterpart in the model: its properties are those of the owner itself.
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

  /// An array of objects. Reading starts each with the value `new`. Incomplete objects are reported
  /// and skipped.
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

/// A Swift value that is one JSON number, string, or boolean, or an optional of it.
package protocol JSONScalar: Equatable, Sendable {
  /// Returns the value of a scalar, or nil if its JSON type does not match.
  static func value(of content: JSONScalarContent) -> Self?
  /// A Boolean value that indicates whether nil is a value of the type.
  static var isOptional: Bool { get }
  /// Returns the representable value that is nearest to a number.
  static func nearest(to number: Double) -> Double
  /// Writes the value as a member of an object.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - omitsPoint: True to write whole numbers without a decimal point.
  ///   - object: The object to write to.
  func write(_ key: String, omitsPoint isShort: Bool, to object: inout JSONObjectWriter)
}

/// The content of a JSON scalar: a number, a string, or a boolean. The other two are nil.
package struct JSONScalarContent {
  var number: Double?
  var text: String?
  var boolean: Bool?
}

/// A type with few values, each with a name in JSON.
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

  /// The number for messages: whole numbers have no decimal point.
  package var shortText: String { Int(exactly: self).map(String.init) ?? description }
}

extension Float: JSONScalar {
  // Adding 0 turns −0 into 0.
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
