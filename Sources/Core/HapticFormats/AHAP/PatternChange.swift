package import HapticModel
package import Reading

/// A change of a pattern's text.
///
/// Paths such as `events[3].time` and `curves[0].points[2]` identify parts and fields. Events,
/// parameters, curves, and the points of a curve are each numbered from 0 in the order of the text.
/// Times of points are relative to the start of their curve, in seconds.
package enum PatternChange: Equatable, Sendable {
  /// The value of a field.
  package enum Value: Equatable, Sendable {
    /// A finite number. Flags accept 0 and 1.
    case number(Double)
    /// A name or a path. Number and flag fields accept their values as text.
    case text(String)
    /// A flag.
    case flag(Bool)
  }

  /// Sets a field of a part, and inserts the field if the part does not have it.
  case set(String, to: Value)
  /// Removes a part or a field.
  case remove(String)
  /// Inserts a copy of a part, as it was before all changes, after the part.
  case duplicate(String)
  /// Inserts an entry of `Pattern`, given as JSON, after a part or at the end.
  case add([UInt8], after: String? = nil)
  /// Inserts a control point after the points of its curve that are not later.
  case addPoint(time: Double, value: Double, to: String)

  /// The path of the change, or nil for an entry that is added at the end.
  package var path: String? {
    switch self {
    case .set(let path, _), .remove(let path), .duplicate(let path), .addPoint(_, _, let path): path
    case .add(_, let path): path
    }
  }
}

extension PatternChange {
  /// Returns the names of the fields of a list's parts: `events`, `parameters`, `curves`, or
  /// `points`.
  package static func fieldNames(ofList list: String) -> [String] {
    AHAPPath.PartKind(rawValue: String(list.dropLast()))?.fields.map { $0.rawValue } ?? []
  }

  /// Returns the event parameter of a field, or nil.
  package static func eventParameter(ofField field: String) -> EventParameterID? {
    AHAPField(rawValue: field)?.parameter
  }
}

extension InputError {
  /// Creates the error for an invalid change.
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
