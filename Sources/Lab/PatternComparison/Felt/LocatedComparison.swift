internal import CMath
import HapticFormats
import HapticModel

/// The differences of what is felt at each body location of two patterns.
///
/// A vibration at one body location does not mask a vibration at another, so each location is
/// compared on its own. Patterns without body locations are felt alike everywhere and are compared
/// once.
struct LocatedComparison {
  /// The comparison at a body location.
  private struct Entry {
    /// The location, or nil for all.
    let location: HapticComposition.BodyLocation?
    let felt: FeltComparison
  }

  private let entries: [Entry]

  /// The maximum relative difference of two amounts at different locations that count as one
  /// difference of the whole.
  private static let joiningTolerance = 0.1

  /// Compares two patterns.
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
    entries = locations.map { location in
      Entry(
        location: location,
        felt: FeltComparison(
          FeltPattern(composition, mapping: mapping, at: location),
          FeltPattern(candidate, mapping: mapping, at: location), formats: formats))
    }
  }

  /// A Boolean value that indicates whether both patterns are equal at every time and location.
  var isExactlyEqual: Bool { entries.allSatisfy(\.felt.isExactlyEqual) }

  /// The transients that only one pattern has as transients.
  var pulses: [FeltPulse] { entries.flatMap(\.felt.pulses) }

  /// The context of the location with the strongest vibration.
  var loudestContext: FeltContext {
    let contexts = entries.map(\.felt.context)
    return contexts.max { $0.floor < $1.floor } ?? contexts[0]
  }

  /// The differences, sorted by time. Differences that concern one of several body locations have
  /// this location.
  var differences: [FeltDifference] {
    guard entries.count > 1 else { return entries[0].felt.differences }
    var differences: [FeltDifference] = []
    let shared = sharedDifferences
    for entry in entries {
      for var difference in entry.felt.differences {
        if shared.contains(where: { Self.areEqual($0, difference) }) { continue }
        difference.location = entry.location
        differences.append(difference)
      }
    }
    return (shared + differences).sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// The differences of the whole that are equal at all body locations where something is felt.
  private var sharedDifferences: [FeltDifference] {
    let wholes = entries[0].felt.differences.filter { $0.subject == .whole }
    return wholes.filter { whole in
      entries.dropFirst().allSatisfy { entry in
        entry.felt.differences.contains { Self.areEqual(whole, $0) }
      }
    }
  }

  private static func areEqual(_ first: FeltDifference, _ second: FeltDifference) -> Bool {
    first.subject == .whole && second.subject == .whole && first.kind == second.kind
      && abs(first.amount - second.amount) <= joiningTolerance * abs(first.amount) + 1e-9
  }

  /// Returns the mapping of the reference's times to the candidate's for a difference.
  func clock(of difference: FeltDifference) -> TimeWarp {
    let entry = entries.first { $0.location == difference.location } ?? entries[0]
    return entry.felt.clock
  }
}
