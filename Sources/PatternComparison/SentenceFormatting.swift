internal import CMath
internal import SystemSupport

/// Numbers and lists as a sentence has them.
package enum SentenceFormatting {
  /// A number with at most some decimal places and none that are 0.
  static func number(_ value: Double, places: Int) -> String {
    guard value.isFinite else { return "?" }
    let text = NumberFormatting.rounded(value, places: places)
    // Beyond this, digits behind the point are not kept anyway.
    guard abs(value) < 1e15 else { return text }
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }

  /// `3.2 dB`, and two places below a tenth.
  static func decibels(_ value: Double) -> String { "\(number(value, places: abs(value) < 0.095 ? 2 : 1)) dB" }

  /// A moment: `0.512 s`.
  static func moment(_ seconds: Double) -> String { "\(number(seconds, places: 3)) s" }

  /// A duration: `8 ms`, `0.77 ms`, `1.25 s`.
  static func span(_ seconds: Double) -> String {
    let milliseconds = abs(seconds) * 1_000
    if milliseconds >= 999.5 { return "\(number(abs(seconds), places: 2)) s" }
    let places = milliseconds < 0.995 ? 2 : milliseconds < 9.95 ? 1 : 0
    return "\(number(milliseconds, places: places)) ms"
  }

  /// `12 %`, and a place below 2.
  static func percent(_ value: Double) -> String { "\(number(abs(value), places: abs(value) < 1.95 ? 1 : 0)) %" }

  /// `98 instead of 87 Hz`, with as many places as distinguish them.
  static func hertz(_ after: Double, insteadOf before: Double) -> String {
    let places = abs(after - before) < 2 ? 1 : 0
    return "\(number(after, places: places)) instead of \(number(before, places: places)) Hz"
  }

  /// `0.6 instead of 0.5`.
  static func value(_ after: Double, insteadOf before: Double) -> String {
    "\(number(after, places: 3)) instead of \(number(before, places: 3))"
  }

  /// `0.8 to 1.8 s`.
  static func range(_ range: ClosedRange<Double>) -> String {
    "\(number(range.lowerBound, places: 2)) and \(number(range.upperBound, places: 2)) s"
  }

  /// `3.2 dB stronger` or `weaker`; from 60 dB on one of the two is silence.
  static func strength(_ decibels: Double) -> String {
    if abs(decibels) >= EventAttribute.greatestDecibels { return decibels < 0 ? "silent" : "no longer silent" }
    return "\(self.decibels(abs(decibels))) \(decibels < 0 ? "weaker" : "stronger")"
  }

  /// `8 ms later` or `earlier`.
  static func shift(_ seconds: Double) -> String { "\(span(seconds)) \(seconds < 0 ? "earlier" : "later")" }

  /// `third`, up to twelfth.
  static func ordinal(_ number: Int) -> String? {
    let words = [
      "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
      "twelfth",
    ]
    return words.indices.contains(number - 1) ? words[number - 1] : nil
  }

  /// `third`, and `13th` beyond the words.
  package static func anyOrdinal(_ number: Int) -> String {
    if let word = ordinal(number) { return word }
    let isTeen = (11...13).contains(number % 100)
    let ending =
      switch number % 10 {
      case 1 where !isTeen: "st"
      case 2 where !isTeen: "nd"
      case 3 where !isTeen: "rd"
      default: "th"
      }
    return "\(number)\(ending)"
  }

  /// `1, 2 and 5`; runs of three and more as `2 to 5`.
  static func list(_ numbers: [Int]) -> String {
    var parts: [String] = []
    var index = 0
    while index < numbers.count {
      var end = index
      while end + 1 < numbers.count, numbers[end + 1] == numbers[end] + 1 { end += 1 }
      if end - index >= 2 {
        parts.append("\(numbers[index]) to \(numbers[end])")
      } else {
        parts += numbers[index...end].map { "\($0)" }
      }
      index = end + 1
    }
    guard parts.count > 1, let last = parts.popLast() else { return parts.first ?? "" }
    return parts.joined(separator: ", ") + " and " + last
  }

  /// Two ends of a range of levels: `12 dB weaker to 3 dB stronger`.
  static func span(_ low: Double, to high: Double) -> String {
    if low < 0, high > 0 { return "\(strength(low)) to \(strength(high))" }
    return high > 0
      ? "\(number(low, places: 1)) to \(strength(high))" : "\(number(-high, places: 1)) to \(strength(low))"
  }
}
