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
  func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter)
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
  package func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter) {
    object.member(key, self)
  }
}

extension JSONScalar where Self: JSONWritable & BinaryFloatingPoint {
  package func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter) {
    if omitsPoint, let whole = Int(exactly: self) {
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

  package func write(_ key: String, omitsPoint: Bool, to object: inout JSONObjectWriter) {
    self?.write(key, omitsPoint: omitsPoint, to: &object)
  }
}
