package import HapticModel
package import Reading

extension HapticPattern {
  /// The path of the first non-finite number, or nil.
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
  /// Creates the error for a non-finite number.
  ///
  /// - Parameters:
  ///   - path: The path of the number.
  ///   - rule: The violated rule.
  ///   - name: The name of the pattern in messages.
  ///   - errorCode: The code of the same error in another API.
  init(nonFinite path: String, rule: Rule, name: String = "pattern", errorCode: Int? = nil) {
    self.init(
      Finding(
        rule, severity: .error, location: FileLocation(name: name, path: path),
        "non-finite numbers (NaN, infinity) cannot be written", errorCode: errorCode))
  }
}

extension HapticComposition {
  /// Throws an error for the first non-finite number.
  package func checkFinite(_ rule: Rule) throws(InputError) {
    for (index, layer) in layers.enumerated() {
      guard let path = layer.pattern.firstNonFinitePath else { continue }
      throw InputError(nonFinite: layers.count > 1 ? "layers[\(index)].\(path)" : path, rule: rule)
    }
  }
}
