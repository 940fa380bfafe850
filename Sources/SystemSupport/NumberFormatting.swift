internal import Glibc

/// Numbers as people read them.
package enum NumberFormatting {
  /// `2.22 s`.
  package static func seconds(_ seconds: Double) -> String { "\(rounded(seconds, places: 3)) s" }

  /// A magnitude in decibels relative to full scale; silence is −200.
  package static func decibels(_ magnitude: Float) -> Double {
    magnitude > 1e-10 ? 20 * log10(Double(magnitude)) : -200
  }

  /// The magnitude of a level in decibels.
  package static func amplitude(decibels: Double) -> Double { pow(10, decibels / 20) }

  /// What is left of 1 after so many time constants.
  package static func decay(_ constants: Double) -> Double { exp(-constants) }

  /// `peak -3.2 dBFS`, or `silent`.
  package static func peak(_ magnitude: Float) -> String {
    magnitude > 1e-10 ? "peak \(rounded(decibels(magnitude), places: 1)) dBFS" : "silent"
  }

  /// `-2.1 dB`; `0 dB` for a factor of 1.
  package static func gain(_ factor: Double) -> String {
    let decibels = rounded(decibels(Float(factor)), places: 1)
    return (decibels == "-0" ? "0" : decibels) + " dB"
  }

  /// A number with at most some decimal places.
  package static func rounded(_ value: Double, places: Int) -> String {
    let scale = pow(10, Double(places))
    // Adding 0 takes the sign from a zero.
    return short((value * scale).rounded() / scale + 0)
  }

  /// A number with all its places: `8` rather than `8.0`.
  package static func short(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
