import SystemSupport

/// A command line that cannot be obeyed.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  /// What the user has to change.
  package enum Kind: Sendable {
    /// Spell the verb or option as the program knows it.
    case unrecognizedName
    /// Add the value or argument that is missing.
    case missingValue
    /// Give a value of the right kind, range or list.
    case invalidValue
    /// Take away what is one too many.
    case remove
  }

  package var kind: Kind
  /// One line that names the word in question, without a full stop.
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  package static func unknown(_ what: String, _ word: String, among names: [String]) -> UsageError {
    UsageError(
      .unrecognizedName,
      "unknown \(what) \(word.inQuotes)" + Suggestion.question(word, among: names))
  }

  package static func notAllowed(_ name: String, _ value: String, choices: [String]) -> UsageError {
    // A long list is easier to read in the help that the message points to.
    let taken =
      choices.count > 12
      ? "\(name.inQuotes) does not take \(value.inQuotes)"
      : "\(name.inQuotes) takes \(choices.joinedWithOr), not \(value.inQuotes)"
    return UsageError(.invalidValue, taken + Suggestion.question(value, among: choices))
  }
}

/// Finds the name someone probably meant.
package enum Suggestion {
  /// `; did you mean '--output'?`, or nothing where no name is near.
  package static func question(_ word: String, among names: [String]) -> String {
    nearest(to: word, among: names).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// The nearest name: at most a third of its letters wrong, or begun and not finished.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let typed = letters(word)
    guard !typed.isEmpty, typed.count <= 64 else { return nil }
    var best: (name: String, distance: Int)?
    for name in names where name != word {
      let target = letters(name)
      let distance = editDistance(typed, target)
      let limit = max(1, target.count / 3)
      let isNear = distance <= limit && distance < target.count
      let isBegun = typed.count >= 2 && target.starts(with: typed)
      guard isNear || isBegun, distance < best?.distance ?? .max else { continue }
      best = (name, distance)
    }
    return best?.name
  }

  /// Dashes and case do not make a word another one.
  private static func letters(_ word: String) -> [UInt8] {
    Array(word.lowercased().utf8.drop { $0 == UInt8(ascii: "-") })
  }

  /// Insertions, deletions, replacements and swaps of neighbours from one word to the other.
  private static func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
