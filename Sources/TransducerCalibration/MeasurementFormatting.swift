internal import Glibc

/// Figures as sentences have them.
enum MeasurementFormatting {
  /// A number with at most some decimal places.
  static func number(_ value: Double, places: Int) -> String {
    guard value.isFinite else { return "\(value)" }
    let scale = pow(10, Double(places))
    let text = "\((value * scale).rounded() / scale)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
