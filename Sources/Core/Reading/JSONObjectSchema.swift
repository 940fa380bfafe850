/// A key of a JSON object that corresponds to a Swift property.
///
/// It has functions to read and write the property.
package struct JSONProperty<Owner, Reader: JSONSchemaReader>: Sendable {
  /// A function that passes a property of an owner to a closure for reading and writing.
  ///
  /// An example is `{ $1(&$0.time) }`.
  ///
  /// A `WritableKeyPath` would be the natural type, but the studio's WebAssembly module is compiled
  /// as Embedded Swift, which has no key paths.
  package typealias Accessor<Value> =
    @Sendable (_ owner: inout Owner, _ body: (inout Value) -> Void) -> Void

  package var key: JSONKey
  /// Reads the value of the key into the owner. If the value is invalid, reports it and returns
  /// false.
  package let read: @Sendable (JSONValue, inout Owner, inout Reader) -> Bool
  /// Writes the value of the owner.
  ///
  /// An optional key is not written if the value equals that of `defaultOwner`.
  package let write:
    @Sendable (_ owner: Owner, _ defaultOwner: Owner?, inout JSONObjectWriter) -> Void
  /// Returns true if the key is valid for the owner, given the keys that have already been read. If
  /// nil, the key is always valid.
  var applicabilityCondition: (@Sendable (Owner) -> Bool)?

  /// Creates a property from functions. Without `write`, the property is read-only.
  ///
  /// - Parameters:
  ///   - key: The key and its documentation.
  ///   - read: Reads the value of the key into the owner. Returns false if the value is invalid.
  ///   - write: Writes the owner's value.
  package init(
    _ key: JSONKey, read: @escaping @Sendable (JSONValue, inout Owner, inout Reader) -> Bool,
    write:
      @escaping @Sendable (_ owner: Owner, _ defaultOwner: Owner?, inout JSONObjectWriter) -> Void =
      {
        _, _, _ in
      }
  ) {
    self.key = key
    self.read = read
    self.write = write
  }

  /// Returns a copy of the property that applies only to certain owners. For all others, the key is
  /// not read, required, or written.
  package func appliesOnly(where condition: @escaping @Sendable (Owner) -> Bool) -> Self {
    var conditionalProperty = self
    conditionalProperty.applicabilityCondition = condition
    return conditionalProperty
  }
}

/// The grammar of a kind of JSON object. Each property reads, validates, writes, orders, and
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
/// - `clip.read(json.root, into: &value, reader: &reader)` reads a document and reports its errors.
/// - `clip.write(value, to: &object)` writes the members of an object.
/// - `clip.schema.canonicalText(of: json.root)` orders and formats a document by the schema.
///
/// The order of the properties determines the reading order and the order of keys in written and
/// canonical texts.
package final class JSONObjectSchema<Owner, Reader: JSONSchemaReader>: Sendable {
  /// A function that checks an object after all its properties have been read. It returns false to
  /// reject the object.
  package typealias OwnerCheck =
    @Sendable (_ object: JSONValue, _ owner: inout Owner, _ reader: inout Reader) -> Bool

  /// The keys of the properties.
  package let schema: JSONSchema
  /// The properties in canonical order.
  package let properties: [JSONProperty<Owner, Reader>]
  private let checkOwner: OwnerCheck?

  /// Creates a schema.
  ///
  /// - Parameters:
  ///   - noun: The noun for the object in messages, with its article.
  ///   - properties: The properties in canonical order.
  ///   - errorCode: The error code for objects with missing keys.
  ///   - discriminator: The key that determines which other keys are valid.
  ///   - check: A check that runs after all properties have been read, even if keys are missing.
  package init(
    _ noun: String, _ properties: [JSONProperty<Owner, Reader>], errorCode: Int? = nil,
    discriminator: JSONSchema.Discriminator? = nil,
    check: OwnerCheck? = nil
  ) {
    schema = JSONSchema(
      noun, properties.map { $0.key }, errorCode: errorCode, discriminator: discriminator)
    self.properties = properties
    self.checkOwner = check
  }

  /// Reads an object into an owner. Absent keys leave the owner's values unchanged.
  ///
  /// 1. The members are indexed by key, and the discriminator determines the valid keys.
  /// 2. Unknown and repeated keys are reported.
  /// 3. The properties are read in order, and missing keys are reported.
  /// 4. The check of the schema runs.
  ///
  /// - Returns: True if all required keys have valid values and the check passed.
  @discardableResult package func read(
    _ object: JSONValue, into owner: inout Owner, reader: inout Reader
  ) -> Bool {
    guard
      reader.expectKind(
        .object, of: object, as: object.key ?? schema.nounWithArticle, errorCode: schema.errorCode)
    else { return false }
    let checksRepeatedKeys = reader.schemaRules.checksRepeatedKeys
    let hasRequiredValues = schema.readMembers(of: object, checksRepeatedKeys: checksRepeatedKeys) {
      step in
      switch step {
      case .checkCondition(let index):
        return properties[index].applicabilityCondition?(owner) ?? true
      case .readValue(let value, let index):
        return properties[index].read(value, &owner, &reader)
      case .acceptNull(let value):
        return reader.acceptsNullAsAbsent(value)
      case .reportMissingKey(let index, let isRequired):
        reader.reportMissingKey(
          properties[index].key, isRequired: isRequired, of: object, schema: schema)
        return !isRequired
      case .reportUnknownKey(let member):
        reader.reportUnknownKey(member, in: schema)
        return true
      }
    }
    if let checkOwner, !checkOwner(object, &owner, &reader) { return false }
    return hasRequiredValues
  }

  /// Writes the properties that differ from `defaultOwner` and those that are always written.
  /// Without a default owner, all properties are written.
  ///
  /// - Parameters:
  ///   - owner: The owner whose properties are written.
  ///   - defaultOwner: An owner whose property values are omitted, or nil.
  ///   - object: The object to write to.
  package func write(
    _ owner: Owner, unless defaultOwner: Owner? = nil, to object: inout JSONObjectWriter
  ) {
    for property in properties where property.applicabilityCondition?(owner) ?? true {
      property.write(owner, defaultOwner, &object)
    }
  }

  /// Writes an array of objects.
  ///
  /// - Parameters:
  ///   - owners: The owners whose properties are written, one for each object.
  ///   - defaultOwner: An owner whose property values are omitted, or nil.
  ///   - name: The key of the array.
  ///   - layout: The layout of each object.
  ///   - object: The object to write to.
  package func write(
    _ owners: [Owner], unless defaultOwner: Owner? = nil, as name: String,
    layout: JSONWriter.Layout? = nil,
    to object: inout JSONObjectWriter
  ) {
    object.writeArray(name) { list in
      for owner in owners {
        list.writeObject(layout: layout) { write(owner, unless: defaultOwner, to: &$0) }
      }
    }
  }

  /// Returns the text of an object as a complete document.
  package func text(_ owner: Owner, layout: JSONWriter.Layout = .multiline) -> [UInt8] {
    var jsonWriter = JSONWriter(layout: layout)
    jsonWriter.writeObject { write(owner, to: &$0) }
    return jsonWriter.finishedText()
  }
}
