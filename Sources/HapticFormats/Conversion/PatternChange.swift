package import Reading

/// A change of the text of a pattern, in the words of paths: `events[3].time`, `curves[0].points[2]`.
///
/// Events, parameters, curves and the points of a curve are numbered from 0 in the order of the text, each kind by
/// itself. Times of points are seconds from the start of their curve.
package enum PatternChange: Equatable, Sendable {
  /// What a field is set to.
  package enum Value: Equatable, Sendable {
    /// A finite number; fields that are true or false take 0 and 1, too.
    case number(Double)
    /// A name or a path; a number, `true` or `false` where the field takes that.
    case text(String)
    /// True or false.
    case flag(Bool)
  }

  /// A field gets a value; it is inserted where the part has none.
  case set(String, to: Value)
  /// A part is removed, or a field of it.
  case remove(String)
  /// A copy of a part, as it was before all changes, is put behind it.
  case duplicate(String)
  /// An entry of `Pattern` as JSON is put behind a part, or at the end.
  case add([UInt8], after: String? = nil)
  /// A control point is put behind those of its curve that are not later.
  case addPoint(time: Double, value: Double, to: String)

  /// The path of what is changed, or of the part that an entry is added behind.
  package var path: String? {
    switch self {
    case .set(let path, _), .remove(let path), .duplicate(let path), .addPoint(_, _, let path): path
    case .add(_, let path): path
    }
  }
}

extension InputError {
  /// The refusal of a change by the path of what it is about.
  package init(changing path: String, of name: String, _ message: String, _ suggestion: String? = nil) {
    self.init(Finding(.change, place: SourcePlace(name: name, path: path), message, suggestion: suggestion))
  }
}
