package import HapticModel

/// What a file holds.
package struct AHAPReading: Equatable, Sendable {
  /// The pattern: values within their ranges, control points sorted and relative to their curve.
  package var pattern: HapticPattern
  /// The version of Core Haptics the file says it needs, or nothing.
  package var version: Double?
  /// What the file says about itself.
  package var metadata: AHAPMetadata
  /// Whether the file counts control points from the start of the pattern, and they were moved.
  package var usesAbsoluteCurveTimes: Bool

  /// The pattern with the title and the notes of the file.
  package var composition: HapticComposition {
    HapticComposition(
      layers: [HapticComposition.Layer(pattern)], title: metadata["Project"],
      notes: metadata["Description"])
  }

  /// What the file says about itself: its version, its metadata, and what its curves count from.
  package var details: [(name: String, value: String)] {
    var details: [(name: String, value: String)] = []
    if let version { details.append(("version", "\(version)")) }
    details += metadata.items.map { ($0.name, $0.text) }
    if usesAbsoluteCurveTimes { details.append(("curveTimes", "absolute")) }
    return details
  }

  /// How many events of a kind the pattern has. Takes time in proportion to the events.
  package func eventCount(of kind: HapticEvent.Kind) -> Int {
    pattern.events.count { $0.kind == kind }
  }

  /// How many control points the curves have together.
  package var controlPointCount: Int {
    pattern.curves.reduce(0) { $0 + $1.controlPoints.count }
  }
}
