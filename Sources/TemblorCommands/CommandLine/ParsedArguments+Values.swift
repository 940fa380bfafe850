extension ParsedArguments {
  /// A whole number within a range; `Int.max` as its end means no upper limit.
  func int(
    _ name: String, in range: ClosedRange<Int> = Int.min...Int.max
  ) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let limits = Limits(
        lower: range.lowerBound == .min ? nil : "\(range.lowerBound)",
        upper: range.upperBound == .max ? nil : "\(range.upperBound)")
      throw notTaken(name, text, "a whole number", limits)
    }
    return number
  }

  /// A finite number within a range; an infinite end means no limit there.
  func double(
    _ name: String, in range: ClosedRange<Double> = -Double.infinity...Double.infinity
  ) throws(UsageError) -> Double? {
    guard let text = value(name) else { return nil }
    guard let number = Double(text), number.isFinite, range.contains(number) else {
      let limits = Limits(
        lower: range.lowerBound.isFinite ? range.lowerBound.shortText : nil,
        upper: range.upperBound.isFinite ? range.upperBound.shortText : nil)
      throw notTaken(name, text, "a number", limits)
    }
    return number
  }

  /// One case of an enumeration, by its raw value.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, as type: Choice.Type = Choice.self
  ) throws(UsageError) -> Choice? {
    guard let text = value(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw .notAllowed(name, text, choices: Choice.allCases.map(\.rawValue))
    }
    return choice
  }

  private struct Limits {
    var lower: String?
    var upper: String?

    var text: String {
      switch (lower, upper) {
      case (let lower?, let upper?): " from \(lower) to \(upper)"
      case (let lower?, nil): " of at least \(lower)"
      case (nil, let upper?): " of at most \(upper)"
      case (nil, nil): ""
      }
    }
  }

  private func notTaken(
    _ name: String, _ text: String, _ what: String, _ limits: Limits
  ) -> UsageError {
    UsageError(.invalidValue, "\(name.inQuotes) takes \(what)\(limits.text), not \(text.inQuotes)")
  }
}

extension Double {
  /// `8` rather than `8.0`.
  fileprivate var shortText: String {
    let text = "\(self)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
