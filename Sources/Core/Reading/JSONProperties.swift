// Factory functions for the kinds of properties in a schema.

extension JSONProperty {
  /// A known key with an ignored value.
  ///
  /// The type of a string is still checked.
  package static func ignored(_ name: String, _ type: JSONType = .any, _ meaning: String = "")
    -> Self
  {
    let ignoredKey = JSONKey(name, type, meaning)
    return Self(ignoredKey) { value, _, reader in
      guard case .string = type else { return true }
      let text: String? = reader.readScalar(value, key: ignoredKey)
      return text != nil
    }
  }

  /// A property that is a number, integer, Boolean, or string.
  ///
  /// If the key is absent, the value is `defaultValue` or, without a default, that of the default
  /// owner. An optional value of nil is not written.
  package static func value<Value: JSONScalar>(
    _ name: String, _ type: JSONType, is presence: JSONKey.Presence = .optional,
    default defaultValue: Double? = nil,
    _ meaning: String = "", rule: Rule? = nil, errorCode: Int? = nil,
    _ access: @escaping Accessor<Value>
  ) -> Self {
    value(
      JSONKey(
        name, type, is: presence, default: defaultValue, meaning, outOfRangeRule: rule,
        errorCode: errorCode),
      type: nil, access: access
    )
  }

  /// A scalar with a type that depends on previously read properties.
  package static func value<Value: JSONScalar>(
    _ key: JSONKey, type: (@Sendable (Owner, Reader) -> JSONType)?,
    access: @escaping Accessor<Value>
  ) -> Self {
    Self(key) { value, owner, reader in
      let scalarType = type?(owner, reader) ?? key.type
      guard let scalar: Value = reader.readScalar(value, key: key, type: scalarType) else {
        return false
      }
      access(&owner) { $0 = scalar }
      return true
    } write: { owner, defaultOwner, object in
      guard let value = Self.value(access, of: owner) else { return }
      let constant =
        Value.acceptsNull
        ? nil : key.defaultValue.flatMap { Value.fromJSON(JSONScalarContent(numberValue: $0)) }
      if key.presence == .optional, value == constant ?? Self.value(access, of: defaultOwner) {
        return
      }
      value.write(key.name, omitsPoint: Reader.omitsPointInWholeNumbers, to: &object)
    }
  }

  /// Returns the property value of an owner, or nil if there is no owner.
  package static func value<Value>(_ access: Accessor<Value>, of owner: Owner?) -> Value? {
    guard var owner else { return nil }
    var propertyValue: Value?
    access(&owner) { propertyValue = $0 }
    return propertyValue
  }

  /// A number that is always written with the same value and ignored when reading.
  package static func constant(
    _ name: String, is presence: JSONKey.Presence = .alwaysWritten, _ value: Int
  ) -> Self {
    Self(JSONKey(name, .any, is: presence)) { _, _, _ in
      true
    } write: { _, _, object in
      object.writeMember(name, value)
    }
  }

  /// A property with the name of an enumeration case as its value.
  package static func enumeration<Value: JSONEnumeration>(
    _ name: String, is presence: JSONKey.Presence = .alwaysWritten, _ meaning: String = "",
    noun: String? = nil,
    rule: Rule? = nil, errorCode: Int? = nil, _ access: @escaping Accessor<Value>
  ) -> Self {
    let enumerationCases = Array(Value.allCases)
    let caseNames = JSONNameList(enumerationCases.map { $0.jsonName })
    let enumerationKey = JSONKey(
      name, .enumeration(caseNames.names), is: presence, meaning, valueNoun: noun,
      outOfRangeRule: rule,
      errorCode: errorCode)
    return Self(enumerationKey) { value, owner, reader in
      guard let index = reader.readName(value, names: caseNames, key: enumerationKey) else {
        return false
      }
      access(&owner) { $0 = enumerationCases[index] }
      return true
    } write: { owner, defaultOwner, object in
      guard let value = Self.value(access, of: owner) else { return }
      if presence != .optional || value != Self.value(access, of: defaultOwner) {
        object.writeMember(name, value.jsonName)
      }
    }
  }

  /// An array of scalars. An optional array is not written if it is empty.
  package static func values<Value: JSONScalar & JSONWritable>(
    _ name: String, of type: JSONType, is presence: JSONKey.Presence = .optional,
    _ meaning: String = "",
    noun: String? = nil, layout: JSONWriter.Layout? = nil, _ access: @escaping Accessor<[Value]>
  ) -> Self {
    let arrayKey = JSONKey(name, .array(type), is: presence, meaning, layout: layout)
    var elementNames: JSONNameList?
    if case .enumeration(let enumerationNames) = type {
      elementNames = JSONNameList(enumerationNames)
    }
    let elementKey = JSONKey(name, type, valueNoun: noun)
    return Self(arrayKey) { [elementNames] value, owner, reader in
      guard reader.expectKind(.array, of: value, as: name, errorCode: nil) else { return false }
      var values: [Value] = []
      for element in value.elements {
        if let elementNames, reader.readName(element, names: elementNames, key: elementKey) == nil {
          continue
        }
        if let scalar: Value = reader.readScalar(element, key: elementKey) {
          values.append(scalar)
        }
      }
      access(&owner) { $0 = values }
      return true
    } write: { owner, _, object in
      guard let values = Self.value(access, of: owner), !values.isEmpty || presence != .optional
      else { return }
      object.writeArray(name, layout: layout) { list in
        for value in values {
          list.writeElement(value)
        }
      }
    }
  }

  /// An object that always has a value. Reading modifies the existing value.
  package static func object<Value: Equatable & Sendable>(
    _ name: String,
    _ schema: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Value, Reader>,
    is presence: JSONKey.Presence = .optional, layout: JSONWriter.Layout? = nil,
    _ meaning: String = "",
    default makeDefault: (@Sendable (Owner) -> Value)? = nil, _ access: @escaping Accessor<Value>
  ) -> Self {
    Self(JSONKey(name, .object { schema().schema }, is: presence, meaning, layout: layout)) {
      value, owner, reader in
      if let defaultValue = makeDefault?(owner) {
        access(&owner) { $0 = defaultValue }
      }
      var isComplete = true
      access(&owner) { isComplete = schema().read(value, into: &$0, reader: &reader) }
      return isComplete
    } write: { owner, defaultOwner, object in
      let defaultValue = makeDefault?(owner) ?? Self.value(access, of: defaultOwner)
      guard let value = Self.value(access, of: owner),
        value != defaultValue || presence != .optional
      else { return }
      object.writeObject(name, layout: layout) {
        schema().write(value, unless: defaultValue, to: &$0)
      }
    }
  }

  /// An object that is nil if the key is absent. Reading starts from the value `new`.
  package static func object<Value: Sendable>(
    _ name: String,
    _ schema: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Value, Reader>,
    new: @escaping @autoclosure @Sendable () -> Value, is presence: JSONKey.Presence = .optional,
    layout: JSONWriter.Layout? = nil, _ meaning: String = "", _ access: @escaping Accessor<Value?>
  ) -> Self {
    Self(JSONKey(name, .object { schema().schema }, is: presence, meaning, layout: layout)) {
      value, owner, reader in
      var newValue = new()
      guard schema().read(value, into: &newValue, reader: &reader) else { return false }
      access(&owner) { $0 = newValue }
      return true
    } write: { owner, _, object in
      guard let value = Self.value(access, of: owner) ?? nil else { return }
      object.writeObject(name, layout: layout) { schema().write(value, unless: new(), to: &$0) }
    }
  }

  /// An object without a counterpart in the Swift model. Its properties are those of the owner.
  package static func group(
    _ name: String,
    _ schema: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Owner, Reader>,
    is presence: JSONKey.Presence = .required, layout: JSONWriter.Layout? = nil,
    _ meaning: String = ""
  ) -> Self {
    Self(JSONKey(name, .object { schema().schema }, is: presence, meaning, layout: layout)) {
      value, owner, reader in
      schema().read(value, into: &owner, reader: &reader)
    } write: { owner, defaultOwner, object in
      object.writeObject(name, layout: layout) {
        schema().write(owner, unless: defaultOwner, to: &$0)
      }
    }
  }

  /// An array of objects.
  ///
  /// Reading starts from the value `new` for each element. Incomplete objects are reported and
  /// skipped.
  package static func array<Element: Equatable & Sendable>(
    _ name: String,
    of schema: @escaping @autoclosure @Sendable () -> JSONObjectSchema<Element, Reader>,
    count: ClosedRange<Int>? = nil, new: @escaping @autoclosure @Sendable () -> Element,
    is presence: JSONKey.Presence = .optional, layout: JSONWriter.Layout? = nil,
    _ meaning: String = "",
    _ access: @escaping Accessor<[Element]>
  ) -> Self {
    let arrayKey = JSONKey(
      name, .array(.object { schema().schema }, count: count), is: presence, meaning, layout: layout
    )
    return Self(arrayKey) { value, owner, reader in
      guard
        let elements = reader.readElements(
          of: value, key: arrayKey, schema: schema(), new: new())
      else { return false }
      access(&owner) { $0 = elements }
      return true
    } write: { owner, defaultOwner, object in
      guard let elements = Self.value(access, of: owner) else { return }
      if presence == .optional, elements == Self.value(access, of: defaultOwner) ?? [] {
        return
      }
      schema().write(elements, unless: new(), as: name, layout: layout, to: &object)
    }
  }
}
