package import Reading

extension FindingLog {
  /// The findings that reading with options reports: all, or the errors alone.
  ///
  /// - Parameter place: The place of a value at an offset.
  package func findings(for options: ReadingOptions, _ place: (_ value: Int, _ offset: Int) -> SourcePlace) -> [Finding]
  {
    if options.wantsFindings { return findings(place) }
    return errorCount == 0 ? [] : findings(place).filter { $0.severity == .error }
  }

  /// The findings that reading a JSON text with options reports: all, or those of parameters that are ignored and
  /// the errors alone.
  package func findings(in json: JSONDocument, for options: ReadingOptions) -> [Finding] {
    if options.wantsFindings { return findings(in: json) }
    guard errorCount > 0 || contains(.unknownParameter) else { return [] }
    return findings(in: json).filter { $0.severity == .error || $0.rule == Rule.unknownParameter.id }
  }

  /// Notes what a text has that JSON forbids, or leaves open.
  package mutating func addDeviations(
    of json: JSONDocument, byteOrderMark: Rule, trailingComma: Rule, duplicateKey: Rule
  ) {
    for deviation in json.tolerances {
      let value = json.value(of: deviation)
      switch deviation.kind {
      case .byteOrderMark:
        add(
          byteOrderMark, at: value, offset: 0, "the text starts with a byte-order mark",
          hint: "save it as UTF-8 without one")
      case .trailingComma:
        add(trailingComma, at: value, offset: deviation.offset, "comma before a closing bracket", hint: "remove it")
      case .duplicateKey:
        add(
          duplicateKey, at: value, offset: deviation.offset,
          "duplicate key \((value.key ?? "").quoted()); the last value is used")
      }
    }
  }
}
