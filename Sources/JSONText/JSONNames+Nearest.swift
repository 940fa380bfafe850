extension JSONNames {
  /// The name that was probably meant by another, for "did you mean …?", or nothing.
  ///
  /// The nearest by edit distance if no more than a third of the text would have to change,
  /// capitals aside; else the shortest that contains the text, or is contained in it. Texts of more
  /// than 64 bytes have no neighbours.
  public func nearest(to text: String) -> String? {
    guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
    let wanted = Array(text.lowercased().utf8)
    var best: (name: String, distance: Int)?
    for name in names where name != text {
      let distance = Self.distance(wanted, Array(name.lowercased().utf8))
      if distance < best?.distance ?? (max(wanted.count, 3) / 3 + 1) { best = (name, distance) }
    }
    if let best { return best.name }
    guard wanted.count >= 4 else { return nil }
    let lower = text.lowercased()
    return names.filter { name in
      let other = name.lowercased()
      return name != text && other.utf8.count >= 4
        && (other.contains(lower) || lower.contains(other))
    }.min { $0.utf8.count < $1.utf8.count }
  }

  /// How many insertions, deletions, replacements and swaps of neighbours turn one text into
  /// another.
  ///
  /// Source: the optimal string alignment distance (L. Boytsov, Indexing methods for approximate
  /// dictionary searching, 2011, section 2).
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          cost = min(cost, before[j - 1] + 1)
        }
        row.append(cost)
      }
      (before, last) = (last, row)
    }
    return last[right.count]
  }
}
