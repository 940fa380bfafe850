internal import HapticModel

/// What `set` sets.
enum ListenParameter: Equatable, Sendable {
  /// The factor on everything.
  case strength
  /// A dynamic parameter of the pattern; those of envelopes cannot be changed while it plays.
  case control(DynamicParameterID)

  /// Every name, in the order of help.
  static let names = table.map(\.name)

  /// The parameter of a name.
  init?(_ name: String) {
    guard let entry = Self.table.first(where: { $0.name == name }) else { return nil }
    self = entry.parameter
  }

  /// The name in commands.
  var name: String { Self.table.first { $0.parameter == self }?.name ?? "" }

  /// The values that may be set.
  var range: ClosedRange<Double> {
    switch self {
    case .strength: 0...1
    case .control(let id): Double(id.range.lowerBound)...Double(id.range.upperBound)
    }
  }

  private static let table: [(name: String, parameter: ListenParameter)] = [
    ("strength", .strength),
    ("intensity", .control(.hapticIntensityControl)),
    ("sharpness", .control(.hapticSharpnessControl)),
    ("volume", .control(.audioVolumeControl)),
    ("pan", .control(.audioPanControl)),
    ("pitch", .control(.audioPitchControl)),
    ("brightness", .control(.audioBrightnessControl)),
  ]
}
