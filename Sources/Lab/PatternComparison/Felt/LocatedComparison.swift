internal import CMath
import HapticFormats
import HapticModel

/// The differences in feeling between two patterns at each body location.
///
/// A vibration at one body location does not mask a vibration at another, so each location is
/// compared on its own. Patterns without body locations are felt alike everywhere and are compared
/// once.
struct LocatedComparison {
  /// The comparison of two patterns at one body location.
  private struct LocationEntry {
    /// The body location, or nil if all locations are compared together.
    let location: HapticComposition.BodyLocation?
    let comparison: FeltComparison
  }

  private let locationEntries: [LocationEntry]

  /// The maximum relative difference between equal amounts at different locations.
  ///
  /// Equal amounts are joined into one difference of the whole pattern.
  private static let amountJoiningTolerance = 0.1

  /// Compares two patterns at each body location.
  ///
  /// - Parameters:
  ///   - composition: The reference.
  ///   - candidate: The pattern to compare with it.
  ///   - mapping: The mappings of the profile.
  ///   - formats: The resolutions of the files, or an empty array if rounding explains nothing.
  ///   - separatesLocations: Pass false to compare the events of all locations together, because
  ///     events moved from one location to another.
  init(
    _ composition: HapticComposition, _ candidate: HapticComposition, mapping: FeltMapping,
    formats: [FormatResolution], separatesLocations: Bool
  ) {
    var locations: [HapticComposition.BodyLocation?] = []
    if separatesLocations {
      for location in composition.separateLocations + candidate.separateLocations
      where !locations.contains(where: { $0?.isSameLocation(as: location) == true }) {
        locations.append(location)
      }
    }
    if locations.isEmpty {
      locations = [nil]
    }
    locationEntries = locations.map { location in
      LocationEntry(
        location: location,
        comparison: FeltComparison(
          FeltPattern(composition, mapping: mapping, at: location),
          FeltPattern(candidate, mapping: mapping, at: location), formats: formats))
    }
  }

  /// A Boolean value that indicates whether both patterns feel equal at all times and locations.
  var isExactlyEqual: Bool { locationEntries.allSatisfy(\.comparison.isExactlyEqual) }

  /// The transients of one pattern that the other pattern plays as short vibrations.
  var pulses: [FeltPulse] { locationEntries.flatMap(\.comparison.pulses) }

  /// The comparison context of the location with the strongest vibration.
  var strongestLocationContext: FeltComparisonContext {
    let contexts = locationEntries.map(\.comparison.comparisonContext)
    return contexts.max { $0.amplitudeFloor < $1.amplitudeFloor } ?? contexts[0]
  }

  /// The differences at all locations, sorted by time.
  ///
  /// A difference states its location if it does not apply to all of several locations.
  var differences: [FeltDifference] {
    guard locationEntries.count > 1 else { return locationEntries[0].comparison.differences }
    let sharedDifferences = SharedDifferences(
      of: locationEntries.map(\.comparison.differences), areEqual: Self.areEqual)
    var differences = sharedDifferences.sharedElements
    for (entry, locationDifferences) in zip(locationEntries, sharedDifferences.individualElements) {
      for var difference in locationDifferences {
        difference.location = entry.location
        differences.append(difference)
      }
    }
    return differences.sorted { $0.timeRange.lowerBound < $1.timeRange.lowerBound }
  }

  private static func areEqual(_ first: FeltDifference, _ second: FeltDifference) -> Bool {
    first.subject == .whole && second.subject == .whole && first.kind == second.kind
      && first.amount.isNearlyEqual(to: second.amount, tolerance: amountJoiningTolerance)
  }

  /// Returns the mapping of reference times to candidate times at a difference's location.
  func overallTimeWarp(of difference: FeltDifference) -> TimeWarp {
    let locationEntry =
      locationEntries.first { $0.location == difference.location } ?? locationEntries[0]
    return locationEntry.comparison.overallTimeWarp
  }
}
