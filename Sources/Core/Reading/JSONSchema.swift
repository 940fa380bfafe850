/// The type of a key's value in a JSON object.
package enum JSONType: Sendable {
  /// A number in a range. `unboundedNumber` accepts all finite numbers.
  case number(ClosedRange<Double>)
  /// A whole number in a range. `JSONSchemaRules.fractionHandling` determines how fractions are
  /// handled.
  case integer(ClosedRange<Int>)
  case boolean
  /// A string. The pattern, a regular expression, appears only in published JSON Schemas and is not
  /// checked when reading.
  case string(pattern: String? = nil)
  /// A name from a list. The first name is the default.
  case enumeration([String])
  /// An array of elements of one type, optionally with a permitted range of element counts.
  indirect case array(JSONType, count: ClosedRange<Int>? = nil)
  /// An object. The closure defers evaluation, so that a schema can contain itself.
  case object(@Sendable () -> JSONSchema)
  /// Any value, which the property reads itself.
  case any

  package static let unboundedNumber = JSONType.number(
    -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
}

/// A key of a JSON object, independent of the Swift property that stores its value.
package final class JSONKey: Sendable {
  /// The requirement that a key be present in a text.
  package enum Presence: Sendable {
    /// The key must be present. An object without the key is incomplete, which is an error.
    case required
    /// The key is always written. Reading an object without the key reports a warning.
    case recommended
    /// The key is always written. An object without the key is accepted without a finding.
    case alwaysWritten
    /// The key is written only if the value differs from the default.
    case optional
  }

  package let name: String
  package let type: JSONType
  package let presence: Presence
  /// The value that an absent key implies, or nil if there is no constant default.
  package let defaultValue: Double?
  /// One or two sentences that explain the key to authors, beginning with the unit.
  package let explanation: String
  /// The noun for the value in messages, or nil to use the key itself.
  package let valueNoun: String?
  /// The rule for out-of-range values, or nil to use the reader's rule.
  package let outOfRangeRule: Rule?
  /// The error code for invalid values, such as a `CHHapticError` code.
  ///
  /// If it is nil, the code of the object applies.
  package let errorCode: Int?
  /// The layout of the object, of each object in an array, or of an array of scalars.
  package let layout: JSONWriter.Layout?

  package init(
    _ name: String, _ type: JSONType, is presence: Presence = .optional,
    default defaultValue: Double? = nil,
    _ meaning: String = "", valueNoun: String? = nil, outOfRangeRule: Rule? = nil,
    errorCode: Int? = nil,
    layout: JSONWriter.Layout? = nil
  ) {
    self.name = name
    self.type = type
    self.presence = presence
    self.defaultValue = defaultValue
    self.explanation = meaning
    self.valueNoun = valueNoun
    self.outOfRangeRule = outOfRangeRule
    self.errorCode = errorCode
    self.layout = layout
  }
}

/// The keys of a kind of JSON object, in canonical order, and their dependencies.
package final class JSONSchema: Sendable {
  /// A key with a value that determines the other valid keys.
  package struct Discriminator: Sendable {
    /// The name of the key. Its value is a string.
    package var keyName: String
    /// The permitted and required keys of the object for each value of the discriminator.
    ///
    /// The first value is the default.
    package var variants: [(value: String, keys: [String], required: [String])]

    package init(
      keyName key: String, variants: [(value: String, keys: [String], required: [String])]
    ) {
      self.keyName = key
      self.variants = variants
    }
  }

  /// The noun for the object in messages, with its article, such as `an event`.
  package let nounWithArticle: String
  /// The keys, at most 32.
  package let keys: [JSONKey]
  package let keyNames: JSONNameList
  /// The error code for incomplete objects, such as a `CHHapticError` code.
  package let errorCode: Int?
  package let discriminator: Discriminator?
  /// A bit set of all keys of the object.
  let allKeyBits: UInt32
  /// A bit set of the required and recommended keys.
  let expectedKeyBits: UInt32

  package init(
    _ noun: String, _ keys: [JSONKey], errorCode: Int? = nil,
    discriminator: Discriminator? = nil
  ) {
    precondition(keys.count <= 32, "an object has at most 32 keys")
    self.nounWithArticle = noun
    self.keys = keys
    self.errorCode = errorCode
    self.discriminator = discriminator
    keyNames = JSONNameList(keys.map { $0.name })
    allKeyBits = UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(keys.count)) - 1)
    var expectedKeyBits: UInt32 = 0
    for (index, key) in keys.enumerated()
    where key.presence == .required || key.presence == .recommended {
      expectedKeyBits |= 1 << UInt32(index)
    }
    self.expectedKeyBits = expectedKeyBits
  }

  package func key(named name: String) -> JSONKey? { keys.first { $0.name == name } }

  /// Returns the permitted and the required keys of an object.
  ///
  /// They depend on the object's discriminator. An unknown discriminator value permits all keys.
  package func keys(in object: JSONValue) -> (permitted: [JSONKey], required: [String]) {
    let requiredNames = keys.filter { $0.presence == .required }.map { $0.name }
    guard let discriminator else { return (keys, requiredNames) }
    let discriminatorValue =
      object[discriminator.keyName].map { $0.string } ?? discriminator.variants.first?.value
    guard
      let matchingVariant = discriminator.variants.first(where: { $0.value == discriminatorValue })
    else {
      return (keys, requiredNames)
    }
    let allVariantKeys = discriminator.variants.flatMap { $0.keys }
    let excludedKeys = allVariantKeys.filter { !matchingVariant.keys.contains($0) }
    return (
      keys.filter { !excludedKeys.contains($0.name) }, requiredNames + matchingVariant.required
    )
  }
}
