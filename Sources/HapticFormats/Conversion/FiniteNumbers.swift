package import Reading
package import HapticModel

extension HapticPattern {
  /// The path of the first number that no file can hold, counted within its list, or nothing.
  package var firstInfinity: String? {
    for (index, event) in events.enumerated() {
      let values = event.parameters.identifiers.compactMap { event.parameters[$0] }
      let isFinite = event.time.isFinite && event.duration?.isFinite != false && values.allSatisfy(\.isFinite)
      if !isFinite { return "events[\(index)]" }
    }
    for (index, parameter) in parameters.enumerated() {
      let isFinite = parameter.time.isFinite && parameter.value.isFinite
      if !isFinite { return "parameters[\(index)]" }
    }
    for (index, curve) in curves.enumerated() {
      let isFinite = curve.time.isFinite && curve.controlPoints.allSatisfy { $0.time.isFinite && $0.value.isFinite }
      if !isFinite { return "curves[\(index)]" }
    }
    return nil
  }
}

extension HapticComposition {
  /// Refuses numbers that are not finite, with the path of the first.
  package func checkFinite(_ rule: Rule) throws(InputError) {
    for (index, layer) in layers.enumerated() {
      guard let path = layer.pattern.firstInfinity else { continue }
      throw InputError(
        Finding(
          rule, severity: .error,
          place: SourcePlace(name: "pattern", path: layers.count > 1 ? "layers[\(index)].\(path)" : path),
          "non-finite numbers (NaN, infinity) cannot be written"))
    }
  }
}
