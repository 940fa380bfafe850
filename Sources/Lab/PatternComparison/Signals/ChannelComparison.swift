import HapticModel
import SignalAnalysis

/// The differences between the corresponding channels of two takes.
///
/// The mean of several channels weakens a change of one channel, and opposite changes cancel each
/// other. Each channel is therefore compared on its own. Channels of patterns are body locations.
struct ChannelComparison {
  /// A channel of both takes, with its comparison.
  private struct Channel {
    /// The name of the channel or body location in sentences.
    let name: String
    let comparison: Comparison
    /// The indices of the reference's events in its composition.
    let referenceIndices: [Int]
    /// The indices of the candidate's events in its composition.
    let candidateIndices: [Int]

    /// Returns the channel's overall difference of the same kind as a difference.
    func overallAmount(for difference: Difference, unless shared: [Difference]) -> Double {
      guard !difference.isOverall, !shared.contains(where: { $0.kind == difference.kind }) else {
        return 0
      }
      return comparison.differences.overallAmount(for: difference)
    }
  }

  private let channels: [Channel]

  /// The maximum relative difference between equal amounts in different channels.
  ///
  /// Equal amounts are joined into one difference of the whole take.
  private static let amountJoiningTolerance = 0.01

  /// Compares the channels of two takes, or returns nil if that is impossible or unnecessary.
  ///
  /// The takes must be two patterns with the same body locations, or two sounds with the same
  /// number of channels. The result is nil for takes whose channels are alike.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - candidate: The take to compare with the reference.
  ///   - gains: The gains of the reference and of the candidate.
  ///   - options: The options of the comparison, without a measure by which levels are matched.
  init?(
    _ reference: Take, _ candidate: Take, gains: (Double, Double), options: ComparisonOptions
  ) {
    guard let referenceLocations = reference.channelLocations,
      let candidateLocations = candidate.channelLocations,
      referenceLocations.count == candidateLocations.count,
      zip(referenceLocations, candidateLocations).allSatisfy({ $0.isSameLocation(as: $1) }),
      (reference.composition == nil) == (candidate.composition == nil),
      reference.signal.hasDifferingChannels || candidate.signal.hasDifferingChannels
    else { return nil }
    channels = referenceLocations.indices.map { index in
      let location = referenceLocations[index]
      return Channel(
        name: location.displayName,
        comparison: Comparison(
          reference.channel(index, at: location, gain: gains.0),
          candidate.channel(index, at: location, gain: gains.1), options: options),
        referenceIndices: reference.composition?.eventIndices(at: location) ?? [],
        candidateIndices: candidate.composition?.eventIndices(at: location) ?? [])
    }
  }

  /// A Boolean value that indicates whether differences of single sounds are relative.
  ///
  /// A relative level difference excludes the overall difference.
  var hasRelativeDifferences: Bool { channels.contains { $0.comparison.hasRelativeDifferences } }

  /// The alignment of the channel with the longest time shift.
  var alignment: TakeAlignment {
    let alignments = channels.map(\.comparison.alignment)
    return alignments.max { abs($0.delaySeconds) < abs($1.delaySeconds) } ?? TakeAlignment()
  }

  /// The equality of takes whose channels have no differences.
  var approximateEquality: Comparison.Equality {
    var maximumResidualDecibels: Double?
    var farthestLevelDecibels = 0.0
    for channel in channels {
      guard case .approximate(let residualDecibels, let level) = channel.comparison.equality else {
        continue
      }
      if let residualDecibels {
        maximumResidualDecibels = max(maximumResidualDecibels ?? residualDecibels, residualDecibels)
      }
      if abs(level) > abs(farthestLevelDecibels) {
        farthestLevelDecibels = level
      }
    }
    return .approximate(
      residualDecibels: maximumResidualDecibels, levelDecibels: farthestLevelDecibels)
  }

  /// The differences of all channels, with shared differences listed once.
  ///
  /// Differences that not all channels share name their channel. Lengths are not compared.
  var differences: [Difference] {
    let sharedDifferences = SharedDifferences(
      of: channels.map(\.comparison.differences), areEqual: Self.areEqual)
    var differences = sharedDifferences.sharedElements
    for (channel, channelDifferences) in zip(channels, sharedDifferences.individualElements) {
      // The channels of a take have one length, which is compared once.
      for var difference in channelDifferences where difference.kind != .length {
        difference.channelOverallAmount = channel.overallAmount(
          for: difference, unless: sharedDifferences.sharedElements)
        difference.isOverall = false
        difference.referenceEventIndices = difference.referenceEventIndices.map {
          channel.referenceIndices[$0]
        }
        difference.candidateEventIndices = difference.candidateEventIndices.map {
          channel.candidateIndices[$0]
        }
        difference.sentence = "At \(channel.name), \(difference.sentence)"
        differences.append(difference)
      }
    }
    return differences
  }

  private static func areEqual(_ first: Difference, _ second: Difference) -> Bool {
    first.isOverall && second.isOverall && first.kind == second.kind && first.unit == second.unit
      && first.amount.isNearlyEqual(to: second.amount, tolerance: amountJoiningTolerance)
  }
}

extension Take {
  /// The locations of the channels: body locations of a pattern, or numbers in a sound.
  ///
  /// The result is nil if there are fewer than two, or if they do not correspond to the channels of
  /// the signal.
  fileprivate var channelLocations: [HapticComposition.BodyLocation]? {
    let channelCount = signal.channels.count
    guard (2...HapticComposition.maximumSeparateLocationCount).contains(channelCount) else {
      return nil
    }
    guard let composition else {
      return (1...channelCount).map { number in
        HapticComposition.BodyLocation(number, of: channelCount, name: "channel \(number)")
      }
    }
    let separateLocations = composition.separateLocations
    return separateLocations.count == channelCount ? separateLocations : nil
  }

  /// Returns one channel as a take.
  ///
  /// - Parameters:
  ///   - index: The index of the channel.
  ///   - location: The body location of the channel in a pattern.
  ///   - gain: The gain of the channel.
  fileprivate func channel(
    _ index: Int, at location: HapticComposition.BodyLocation, gain: Double
  ) -> Take {
    var channelTake = self
    let channelSamples = signal.channels[index]
    let gain = Float(gain)
    channelTake.signal = Signal(
      gain == 1 ? channelSamples : channelSamples.map { $0 * gain }, rate: signal.rate)
    if let composition {
      channelTake.source = .pattern(composition.composition(feltAt: location))
    }
    return channelTake
  }
}

extension HapticComposition {
  /// Returns the indices of the events at a body location, counted layer by layer.
  fileprivate func eventIndices(at location: BodyLocation) -> [Int] {
    var eventIndices: [Int] = []
    var firstEventIndex = 0
    for layer in layers {
      let nextEventIndex = firstEventIndex + layer.pattern.events.count
      if layer.isFelt(at: location) {
        eventIndices += firstEventIndex..<nextEventIndex
      }
      firstEventIndex = nextEventIndex
    }
    return eventIndices
  }
}
