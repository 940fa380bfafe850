public import Diagnostics

extension InputError {
  /// The refusal of a text that is no JSON document.
  public init(_ error: JSONError, rule: Rule, foreignCode: Int? = nil) {
    self.init(
      Finding(
        rule, place: error.place, error.message, suggestion: error.suggestion,
        foreignCode: foreignCode))
  }
}

extension FindingLog {
  /// Adds a finding, at the value's beginning unless an offset says otherwise.
  public mutating func add(
    _ rule: Rule, at value: JSONValue, offset: Int? = nil, severity: Severity? = nil,
    _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil, code: Int? = nil
  ) {
    add(
      rule, value: value.index, offset: offset ?? value.offset, severity: severity, message(),
      hint: hint(), foreignCode: code)
  }

  /// The findings about values of a document, in the order of its text.
  public func findings(in document: JSONDocument) -> [Finding] {
    findings { index, offset in
      var place = document.place(at: offset)
      place.path = JSONValue(document: document, index: index).path
      return place
    }
  }
}
