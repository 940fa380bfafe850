package import HapticModel
package import Reading

extension HapticPattern {
  /// The path of the first element with a number that is not finite.
  ///
  /// The path is nil if all numbers are finite.
  package var firstNonFinitePath: String? {
    let eventIndex = events.firstIndex { eventIndex in
      !eventIndex.time.isFinite || eventIndex.duration?.isFinite == false
        || eventIndex.parameters.identifiers.contains {
          eventIndex.parameters[$0]?.isFinite == false
        }
    }
    if let eventIndex { return "events[\(eventIndex)]" }
    let parameterIndex = parameters.firstIndex { !$0.time.isFinite || !$0.value.isFinite }
    if let parameterIndex { return "parameters[\(parameterIndex)]" }
    let curveIndex = curves.firstIndex { curveIndex in
      !curveIndex.time.isFinite
        || curveIndex.controlPoints.contains { !$0.time.isFinite || !$0.value.isFinite }
    }
    return curveIndex.map { "curves[\($0)]" }
  }
}

extension InputError {
  /// Creates the error for a number that is not finite.
  ///
  /// - Parameters:
  ///   - path: The path of the number.
  ///   - rule: The rule that the number violates.
  ///   - name: The pattern name in messages.
  ///   - errorCode: The corresponding error code of another API.
  init(nonFinite path: String, rule: Rule, name: String = "pattern", errorCode: Int? = nil) {
    self.init(
      Finding(
        rule, severity: .error, location: FileLocation(name: name, path: path),
        "non-finite numbers (NaN, infinity) cannot be written", errorCode: errorCode))
  }
}

extension HapticComposition {
  /// Throws an error for the first number that is not finite.
  package func checkFinite(_ rule: Rule) throws(InputError) {
    for (index, layer) in layers.enumerated() {
      guard let path = layer.pattern.firstNonFinitePath else { continue }
      throw InputError(nonFinite: layers.count > 1 ? "layers[\(index)].\(path)" : path, rule: rule)
    }
  }
}
