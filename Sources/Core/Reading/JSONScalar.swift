/// A Swift type that corresponds to a JSON number, string, or Boolean.
///
/// Optionals of such types also conform.
package protocol JSONScalar: Equatable, Sendable {
  /// Returns the value of a JSON scalar, or nil if the scalar has another JSON type.
  static func fromJSON(_ content: JSONScalarContent) -> Self?
  /// A Boolean value that indicates whether the type represents null as nil.
  static var acceptsNull: Bool { get }
  /// A Boolean value that indicates whether the type stores numbers in single precision.
  static var hasSinglePrecision: Bool { get }
  /// Writes the value as a member of an object.
  ///
  /// - Parameters:
  ///   - key: The key of the member.
  ///   - omitsPoint: True to write whole numbers without a decimal point.
  ///   - object: The object to write to.
  func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter)
}

/// The content of a JSON scalar. Exactly one of the number, string, and Boolean is not nil.
package struct JSONScalarContent {
  var numberValue: Double?
  var textValue: String?
  var booleanValue: Bool?
}

/// An enumeration with JSON names for its cases.
package protocol JSONEnumeration: CaseIterable, Equatable, Sendable { var jsonName: String { get } }

extension JSONEnumeration where Self: RawRepresentable<String> {
  package var jsonName: String { rawValue }
}

extension JSONScalar {
  package static var acceptsNull: Bool { false }
  package static var hasSinglePrecision: Bool { false }
}

extension JSONScalar where Self: JSONWritable {
  /// Writes the value as a member of an object. `omitsPoint` has no effect.
  package func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter) {
    object.writeMember(key, self)
  }
}

extension JSONScalar where Self: JSONWritable & BinaryFloatingPoint {
  /// Writes the number as a member of an object.
  ///
  /// If `omitsPoint` is true, a whole number is written without a decimal point.
  package func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter) {
    if omitsPoint, let wholeNumber = Int(exactly: self) {
      object.writeMember(key, wholeNumber)
    } else {
      object.writeMember(key, self)
    }
  }
}

extension Double: JSONScalar {
  package static func fromJSON(_ content: JSONScalarContent) -> Double? { content.numberValue }

  /// The number as text for messages. Whole numbers have no decimal point.
  package var shortText: String { Int(exactly: self).map(String.init) ?? description }
}

extension Float: JSONScalar {
  // Adding 0 converts −0 to 0.
  package static func fromJSON(_ content: JSONScalarContent) -> Float? {
    content.numberValue.map { Float($0) + 0 }
  }
  package static var hasSinglePrecision: Bool { true }
}

extension Int: JSONScalar {
  package static func fromJSON(_ content: JSONScalarContent) -> Int? {
    content.numberValue.flatMap { Int(exactly: $0) }
  }
}

extension Bool: JSONScalar {
  package static func fromJSON(_ content: JSONScalarContent) -> Bool? { content.booleanValue }
}

extension String: JSONScalar {
  package static func fromJSON(_ content: JSONScalarContent) -> String? { content.textValue }
}

extension Optional: JSONScalar where Wrapped: JSONScalar {
  package static func fromJSON(_ content: JSONScalarContent) -> Wrapped?? {
    Wrapped.fromJSON(content).map { .some($0) }
  }
  package static var acceptsNull: Bool { true }
  package static var hasSinglePrecision: Bool { Wrapped.hasSinglePrecision }

  package func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter) {
    self?.write(key, omitsPoint: omitsPoint, to: &object)
  }
}
