import HapticModel
internal import SystemSupport

/// Formats numbers, amounts, and lists for sentences.
package enum SentenceFormatting {
  /// Returns a number as text with at most a given number of decimal places.
  ///
  /// The text has no trailing zeros.
  package static func number(_ value: Double, places: Int) -> String {
    guard value.isFinite else { return "?" }
    let roundedText = NumberFormatting.roundedText(value, places: places)
    // Larger numbers have no accurate decimals.
    guard abs(value) < 1e15 else { return roundedText }
    return roundedText.hasPrefix("-") ? "−" + roundedText.dropFirst() : roundedText
  }

  /// Returns the magnitude of an amount with its unit, such as `3.2 dB`, `8 ms`, or `12 %`.
  ///
  /// A level in dBFS keeps its sign.
  package static func magnitude(_ amount: Double, unit: Difference.Unit) -> String {
    let magnitude = abs(amount)
    switch unit {
    case .decibels:
      return "\(number(magnitude, places: magnitude < 0.095 ? 2 : 1)) dB"
    case .seconds:
      let milliseconds = magnitude * 1_000
      if milliseconds >= 999.5 { return "\(number(magnitude, places: 2)) s" }
      let smallPlaces = milliseconds < 0.995 ? 2 : 1
      return "\(number(milliseconds, places: milliseconds < 9.95 ? smallPlaces : 0)) ms"
    case .percent:
      let smallPlaces = magnitude < 0.095 ? 3 : 1
      return "\(number(magnitude, places: magnitude < 1.95 ? smallPlaces : 0)) %"
    case .fullScale:
      return "\(number(amount, places: 1)) dBFS"
    case .count:
      return number(magnitude, places: 0)
    case .none:
      return ""
    }
  }

  /// Returns a time as text, such as `0.512 s`.
  static func time(_ seconds: Double) -> String { "\(number(seconds, places: 3)) s" }

  /// Returns two frequencies as text, such as `98 instead of 87 Hz`.
  ///
  /// The text has enough decimals to distinguish the frequencies.
  static func frequencies(_ after: Double, insteadOf before: Double) -> String {
    let decimalPlaces = abs(after - before) < 2 ? 1 : 0
    return
      "\(number(after, places: decimalPlaces)) instead of "
      + "\(number(before, places: decimalPlaces)) Hz"
  }

  /// Returns two values as text, such as `0.6 instead of 0.5`.
  static func values(_ after: Double, insteadOf before: Double) -> String {
    "\(number(after, places: 3)) instead of \(number(before, places: 3))"
  }

  /// Returns the ends of a time range as text, such as `0.8 and 1.8 s`.
  static func range(_ range: ClosedRange<Double>) -> String {
    "\(number(range.lowerBound, places: 2)) and \(number(range.upperBound, places: 2)) s"
  }

  /// Returns a range of amounts as text, such as `−0.2 to +3.1 dB`.
  package static func amountRange(
    from minimum: Double, to maximum: Double, unit: Difference.Unit
  ) -> String {
    let unitScale = unit == .seconds ? 1_000.0 : 1
    func signedText(_ value: Double) -> String {
      let numberText = number(value * unitScale, places: unit == .decibels ? 1 : 0)
      return value > 0 && numberText != "0" ? "+" + numberText : numberText
    }
    return
      "\(signedText(minimum)) to \(signedText(maximum)) \(unit == .seconds ? "ms" : unit.rawValue)"
  }

  /// Returns an ordinal number as a word, from `first` to `twelfth`, or nil.
  static func ordinalWord(_ ordinal: Int) -> String? {
    let ordinalWords = [
      "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
      "eleventh", "twelfth",
    ]
    return ordinalWords.indices.contains(ordinal - 1) ? ordinalWords[ordinal - 1] : nil
  }

  /// Returns an ordinal number as text: `first` to `twelfth`, and then `13th`.
  package static func ordinalText(_ ordinal: Int) -> String {
    if let word = ordinalWord(ordinal) { return word }
    let isTeen = (11...13).contains(ordinal % 100)
    let ordinalSuffix = [1: "st", 2: "nd", 3: "rd"][ordinal % 10] ?? "th"
    return "\(ordinal)\(isTeen ? "th" : ordinalSuffix)"
  }

  /// Returns a list of numbers as text, such as `1, 2 and 5`.
  ///
  /// A run of at least three numbers is abbreviated, such as `2 to 5`.
  static func list(_ numbers: [Int]) -> String {
    var itemTexts: [String] = []
    var startIndex = 0
    while startIndex < numbers.count {
      var endIndex = startIndex
      while endIndex + 1 < numbers.count, numbers[endIndex + 1] == numbers[endIndex] + 1 {
        endIndex += 1
      }
      if endIndex - startIndex >= 2 {
        itemTexts.append("\(numbers[startIndex]) to \(numbers[endIndex])")
      } else {
        itemTexts += numbers[startIndex...endIndex].map { "\($0)" }
      }
      startIndex = endIndex + 1
    }
    guard itemTexts.count > 1, let lastItemText = itemTexts.popLast() else {
      return itemTexts.first ?? ""
    }
    return itemTexts.joined(separator: ", ") + (itemTexts.count > 1 ? ", and " : " and ")
      + lastItemText
  }
}
