package import HapticModel
package import Reading

/// A change to an AHAP document.
///
/// Parts and fields are identified by paths such as `events[3].time` and `curves[0].points[2]`.
/// Events, parameters, curves, and the points of each curve are numbered from 0 in document order.
/// Point times are relative to the start of the curve, in seconds.
package enum PatternChange: Equatable, Sendable {
  /// The new value that a change gives to a field.
  package enum Value: Equatable, Sendable {
    /// A finite number. Flag fields accept 0 and 1.
    case number(Double)
    /// A name or a path. Number and flag fields also accept their values as text.
    case text(String)
    /// A value that is true or false.
    case flag(Bool)
  }

  /// Sets a field of a part, and adds the field if it is absent.
  case set(String, to: Value)
  /// Removes a part or a field.
  case remove(String)
  /// Inserts a copy of a part after the part. The copy contains none of the other changes.
  case duplicate(String)
  /// Inserts a JSON entry of `Pattern` after a part, or at the end.
  case add([UInt8], after: String? = nil)
  /// Inserts a control point after all points of its curve that are not later.
  case addPoint(time: Double, value: Double, to: String)

  /// The path that the change refers to, or nil for an entry that is added at the end.
  package var path: String? {
    switch self {
    case .set(let path, _), .remove(let path), .duplicate(let path), .addPoint(_, _, let path): path
    case .add(_, let path): path
    }
  }
}

extension PatternChange {
  /// Returns the field names of the parts in a list: `events`, `parameters`, `curves`, or `points`.
  package static func fieldNames(ofList list: String) -> [String] {
    AHAPPath.ElementKind(rawValue: String(list.dropLast()))?.fields.map { $0.rawValue } ?? []
  }

  /// Returns the event parameter that a field sets, or nil if it sets none.
  package static func eventParameter(ofField field: String) -> EventParameterID? {
    AHAPField(rawValue: field)?.eventParameter
  }
}

extension InputError {
  /// Creates an error that reports an invalid change.
  ///
  /// - Parameters:
  ///   - path: The path of the change.
  ///   - name: The name of the pattern in messages.
  ///   - message: One sentence without a period.
  ///   - suggestion: A correction, or nil.
  package init(
    changing path: String, of name: String, _ message: String, _ suggestion: String? = nil
  ) {
    self.init(
      Finding(
        .invalidChange, location: FileLocation(name: name, path: path), message,
        suggestion: suggestion))
  }
}
