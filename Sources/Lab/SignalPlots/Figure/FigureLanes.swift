package import HapticModel
package import SignalAnalysis

/// The body locations of a pattern, or the channels of a sound, with separate lanes.
package struct LaneSource: Equatable, Sendable {
  /// The names of the body locations or channels; empty if all have the same contents.
  package let names: [String]
  /// The body locations of a pattern, in the order of the names; empty for a sound.
  package let locations: [HapticComposition.BodyLocation]
  /// A Boolean value that indicates whether the source is a sound.
  ///
  /// The channels of a sound have no locations.
  package let isSound: Bool

  /// Finds the body locations of a pattern or the channels of a sound that differ from each other.
  ///
  /// - Parameters:
  ///   - composition: The pattern, or nil for a sound.
  ///   - signal: The sound, whose channels have lanes if they differ; nil if it is unknown.
  package init(_ composition: HapticComposition?, signal: Signal?) {
    isSound = composition == nil
    locations = composition?.separateLocations ?? []
    if composition != nil {
      names = locations.map(\.laneName)
    } else if let signal, signal.hasDifferingChannels {
      names = signal.channels.indices.map { "channel \($0 + 1)" }
    } else {
      names = []
    }
  }

  /// Returns true if a sound has one channel for each name.
  ///
  /// Otherwise, all lanes show the mean of its channels.
  package func hasChannelForEachName(_ signal: Signal) -> Bool {
    signal.channels.count == names.count
  }
}

/// The division of the takes of a figure into lanes.
///
/// 1. The lanes of patterns are their body locations, by name. A pattern without body locations is
///    felt everywhere, so all lanes show it.
/// 2. Without such patterns, the lanes are the channels of the sounds.
/// 3. With such patterns, a sound with as many channels as there are lanes has a channel in each
///    lane. All lanes show the mean of another sound.
package struct FigureLanes {
  /// The names of the lanes; a single nil for an undivided figure.
  package let laneNames: [String?]

  /// The maximum number of lanes.
  ///
  /// A figure with more body locations or channels is not divided.
  static let maximumLaneCount = 8

  /// The part of a take that a lane shows.
  package enum LaneContent: Equatable, Sendable {
    /// The whole take.
    case whole
    /// A body location or channel, given by its index in the names of the source.
    case part(Int)
    /// Nothing, because the take does not address the body location.
    case nothing
  }

  /// Divides a figure of several sources into lanes.
  package init(_ sources: [LaneSource]) {
    let namedPatterns = sources.filter { !$0.isSound && !$0.names.isEmpty }
    let laneNames = (namedPatterns.isEmpty ? sources : namedPatterns).flatMap(\.names).uniqued
    let isDivided = (1...Self.maximumLaneCount).contains(laneNames.count)
    self.laneNames = isDivided ? laneNames : [nil]
  }

  /// Returns the part of a take that a lane shows.
  package func shownContent(of source: LaneSource, inLane lane: Int) -> LaneContent {
    guard let laneName = laneNames[lane], !source.names.isEmpty else { return .whole }
    if let nameIndex = source.names.firstIndex(of: laneName) {
      return .part(nameIndex)
    }
    guard source.isSound else { return .nothing }
    return source.names.count == laneNames.count ? .part(lane) : .whole
  }
}

extension HapticComposition.BodyLocation {
  /// The name of the body location, or a description if it has no name.
  fileprivate var laneName: String { name.isEmpty ? "location \(number)" : name }
}
