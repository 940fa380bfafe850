import HapticRender
import JSONText
import SystemSupport
import TransducerProfiles

/// What the list says of one profile.
struct ProfileRow {
  let entry: ProfileEntry
  /// The profile, or why it cannot be used.
  let reading: Result<TransducerProfile, any Error>

  /// Reads the profile behind an entry.
  init(_ entry: ProfileEntry) {
    self.entry = entry
    reading = Result { try ProfileFile.read(text: entry.text(), name: entry.textName) }
  }

  /// Why it cannot be used, or nothing.
  var error: (any Error)? {
    if case .failure(let error) = reading { error } else { nil }
  }

  /// Name, band, where it comes from, and what it is for.
  var columns: [String] {
    switch reading {
    case .success(let profile):
      [
        entry.name, profile.frequency.text, entry.origin.text + hiding,
        (profile.hardware?.product ?? profile.summary).printable,
      ]
    case .failure: [entry.name, "–", entry.origin.text + hiding, "invalid"]
    }
  }

  private var hiding: String {
    guard let first = entry.shadowed.first else { return "" }
    return ", replaces \(first.text)"
  }

  /// The same for programs.
  func write(to json: inout JSONObjectWriter) {
    json.member("name", entry.name)
    json.member("origin", entry.origin.rawValue)
    if let path = entry.path { json.member("path", path) }
    if !entry.shadowed.isEmpty {
      json.array("shadows", layout: .line) { list in
        for origin in entry.shadowed { list.element(origin.rawValue) }
      }
    }
    switch reading {
    case .success(let profile):
      json.member("summary", profile.summary)
      json.member("low", profile.frequency.low)
      json.member("high", profile.frequency.high)
      if let product = profile.hardware?.product { json.member("product", product) }
    case .failure(let error): json.member("error", "\(error)")
    }
  }
}

extension ProfileEntry.Origin {
  /// A word for people.
  var text: String {
    switch self {
    case .user: "yours"
    case .system: "system"
    case .shipped: "shipped"
    }
  }
}

extension FrequencyMapping {
  /// `20–80 Hz`, or `175 Hz` for one frequency.
  var text: String { low == high ? Self.hertz(low) + " Hz" : (low...high).text + " Hz" }

  /// A frequency to a tenth.
  static func hertz(_ value: Double) -> String { NumberFormatting.rounded(value, places: 1) }
}

extension ClosedRange<Double> {
  /// `20–80`, to a tenth.
  var text: String { FrequencyMapping.hertz(lowerBound) + "–" + FrequencyMapping.hertz(upperBound) }
}
