internal import CMath
import HapticModel
import RecordingAnalysis
import SignalAnalysis

extension Comparison {
  /// The level, in dBFS, below which a residual is attributed to the rounding of stored samples:
  /// one or two steps of 16 bits.
  static let negligibleResidualDecibels = -84.0
  /// The level of a residual, in decibels relative to the reference, above which it is a
  /// difference.
  static let maximumRelativeResidualDecibels = -25.0

  /// Compares the takes as signals.
  mutating func compareSignals() {
    isRelativeToOverall = true
    matchLevels()
    let gains = (referenceGain, candidateGain)
    var pair = SignalPair(
      reference.signal, candidate.signal, alignment: options.alignment, gains: gains)
    let arePatterns =
      reference.composition != nil && candidate.composition != nil
      && reference.profile == candidate.profile
    var signals: SignalDifferences?
    if options.alignment == .auto, pair.alignmentShiftFrames != 0 {
      // An added or missing sound can cause a wrong alignment. Prefer the simpler explanation.
      let unalignedPair = SignalPair(
        reference.signal, candidate.signal, alignment: .none, gains: gains)
      let aligned = SignalDifferences(pair, arePatterns: arePatterns, options: options)
      let unaligned = SignalDifferences(
        unalignedPair, arePatterns: arePatterns, options: options)
      if aligned.differenceList.differences.count < unaligned.differenceList.differences.count {
        signals = aligned
      } else {
        pair = unalignedPair
        signals = unaligned
      }
    }
    alignment = TakeAlignment(seconds: 0, correlation: pair.correlation)
    if pair.isInverted {
      candidateGain = -candidateGain
    }
    let referencePower = Statistics.meanSquare(of: pair.reference)
    let candidatePower = Statistics.meanSquare(of: pair.candidate)
    if referencePower == 0 || candidatePower == 0 {
      compareSilence(referencePower: referencePower, candidatePower: candidatePower)
    } else if let approximate = approximateEquality(of: pair) {
      equality = approximate
    } else {
      let signals = signals ?? SignalDifferences(pair, arePatterns: arePatterns, options: options)
      differences += signals.differenceList.differences
      alignment.seconds = options.alignment == .none ? 0 : signals.delaySeconds
      candidateGain *= Decibels.amplitudeFactor(-signals.levelDecibels)
      if differences.isEmpty {
        let residual = residual(of: pair)
        equality = .approximate(
          residualDecibels: residual.residualDecibels,
          levelDecibels: residual.candidateLevelDecibels)
        if residual.relativeResidualDecibels > Self.maximumRelativeResidualDecibels {
          add(
            Difference(residual: residual.relativeResidualDecibels, in: fullRange, isOverall: true))
        }
      }
    }
    compareLengths()
    compareChannels()
    if !differences.isEmpty {
      equality = .different
    }
  }

  /// Compares takes whose channels differ channel by channel.
  ///
  /// - Returns: False if the channels of the takes are alike or do not correspond.
  mutating func compareChannelByChannel() -> Bool {
    matchLevels()
    var channelOptions = options
    if options.matchesLevels {
      channelOptions.levelMatch = LevelMatch.none
    }
    guard
      let channels = ChannelComparison(
        reference, candidate, gains: (referenceGain, candidateGain), options: channelOptions)
    else { return false }
    isRelativeToOverall = channels.isRelativeToOverall
    alignment = channels.alignment
    differences = channels.differences
    equality = differences.isEmpty ? channels.approximateEquality : .different
    return true
  }

  /// The residual of a candidate after a common gain.
  private struct Residual {
    /// The level of the candidate, in decibels relative to the reference.
    var candidateLevelDecibels: Double
    /// The level of the residual, in dBFS.
    var residualDecibels: Double
    /// The level of the residual, in decibels relative to the reference.
    var relativeResidualDecibels: Double
  }

  /// Returns the residual that remains after the reference is scaled by the gain that minimizes it.
  private func residual(of pair: SignalPair) -> Residual {
    var referenceEnergy = 0.0
    var product = 0.0
    var residualEnergy = 0.0
    for (sample, candidateSample) in zip(pair.reference, pair.candidate) {
      referenceEnergy += Double(sample) * Double(sample)
      product += Double(sample) * Double(candidateSample)
    }
    let gain = referenceEnergy > 0 ? product / referenceEnergy : 1
    for (sample, candidateSample) in zip(pair.reference, pair.candidate) {
      let difference = Double(candidateSample) - gain * Double(sample)
      residualEnergy += difference * difference
    }
    let count = Double(max(1, pair.reference.count))
    return Residual(
      candidateLevelDecibels: gain > 0 ? 20 * log10(gain) : -200,
      residualDecibels: Decibels.of(power: residualEnergy / count),
      relativeResidualDecibels: Decibels.of(power: residualEnergy / max(referenceEnergy, 1e-30)))
  }

  /// A Boolean value that indicates whether the takes are approximately equal without alignment.
  var isEqualUnaligned: Bool {
    approximateEquality(
      of: SignalPair(reference.signal, candidate.signal, alignment: .none, gains: (1, 1))) != nil
  }

  /// Returns the equality of takes that differ by a negligible residual, or nil.
  private func approximateEquality(of pair: SignalPair) -> Equality? {
    guard pair.alignmentShiftFrames == 0, !pair.isInverted, pair.dcOffset == 0 else { return nil }
    let residual = residual(of: pair)
    guard abs(residual.candidateLevelDecibels) < SoundComparison.minimumLevelChangeDecibels,
      residual.residualDecibels <= Self.negligibleResidualDecibels,
      residual.relativeResidualDecibels <= Self.maximumRelativeResidualDecibels
    else {
      return nil
    }
    return .approximate(
      residualDecibels: residual.residualDecibels > -190 ? residual.residualDecibels : nil,
      levelDecibels: residual.candidateLevelDecibels)
  }

  /// The time range of both takes, in seconds.
  var fullRange: ClosedRange<Double> {
    0...max(reference.signal.durationSeconds, candidate.signal.durationSeconds)
  }

  /// Adds a difference.
  ///
  /// - Parameters:
  ///   - difference: The difference.
  ///   - sentence: The sentence without a period, or nil to describe the difference by its kind.
  mutating func add(_ difference: Difference, sentence: String? = nil) {
    var list = DifferenceList(
      candidateNames: EventNames([], takeLabel: options.candidateLabel),
      referenceNames: EventNames([], takeLabel: options.referenceLabel),
      overallRange: fullRange)
    if let sentence {
      list.add(difference, sentence: sentence)
    } else {
      list.add(difference)
    }
    differences += list.differences
  }

  /// Compares takes of which at least one is silent.
  private mutating func compareSilence(
    referencePower: Double, candidatePower: Double
  ) {
    if referencePower == candidatePower {
      equality = .approximate(residualDecibels: nil, levelDecibels: 0)
      return
    }
    let isMissing = candidatePower == 0
    add(
      Difference(
        isMissing ? .missing : .added, in: fullRange, isOverall: true,
        amount: measurements[isMissing ? 0 : 1]["peakDecibels"]
          ?? JustNoticeableDifference.perceptionFloorDecibels),
      sentence: options.candidateLabel
        + (isMissing ? " is silent" : " is not silent, unlike \(options.referenceLabel)"))
  }

  /// Adds a difference if the durations of the takes differ and no other difference explains that.
  private mutating func compareLengths() {
    let duration = reference.signal.durationSeconds
    let candidateDuration = candidate.signal.durationSeconds
    let change = candidateDuration - duration
    let isExplained = differences.contains {
      switch $0.kind {
      case .duration, .missing, .added, .tempo: true
      case .time: $0.isOverall ? abs(change - $0.amount) < 0.001 : true
      default: false
      }
    }
    // A sound at a slightly higher frequency is slightly shorter.
    guard abs(change) > (differences.isEmpty ? 0.001 : 0.01), !isExplained else { return }
    let values = SentenceFormatting.values(candidateDuration, insteadOf: duration)
    let changeText = Difference.Kind.length.changeText(change)
    add(
      Difference(
        .length, in: fullRange, amount: change, before: duration, after: candidateDuration),
      sentence: "\(options.candidateLabel)'s recording is \(changeText): \(values) s")
  }

  /// Adds a difference if the numbers of channels differ, or if channels differ although their mean
  /// is equal.
  mutating func compareChannels() {
    let count = reference.signal.channels.count
    let candidateCount = candidate.signal.channels.count
    if count != candidateCount {
      let plural = candidateCount == 1 ? "" : "s"
      add(
        Difference(
          .channels, in: fullRange, amount: Double(candidateCount - count), before: Double(count),
          after: Double(candidateCount), significance: 0),
        sentence:
          "\(options.candidateLabel) has \(candidateCount) channel\(plural), "
          + "\(options.referenceLabel) \(count)")
    } else if count > 1, differences.isEmpty {
      compareEachChannel()
    }
  }

  private mutating func compareEachChannel() {
    var numbers: [Int] = []
    var maximumDecibels: Double = -200
    let channelPairs = zip(reference.signal.channels, candidate.signal.channels)
    for (index, (channel, candidateChannel)) in channelPairs.enumerated() {
      var power = 0.0
      for (a, b) in zip(channel, candidateChannel) where a.isFinite && b.isFinite {
        power += Double(a - b) * Double(a - b)
      }
      let decibels = Decibels.of(power: power / Double(max(1, channel.count)))
      guard decibels > Self.negligibleResidualDecibels else { continue }
      numbers.append(index + 1)
      maximumDecibels = max(maximumDecibels, decibels)
    }
    guard !numbers.isEmpty else { return }
    let list = SentenceFormatting.list(numbers)
    let subject = numbers.count == 1 ? "channel \(list) differs" : "channels \(list) differ"
    add(
      Difference(.channels, in: fullRange, amount: maximumDecibels, unit: .fullScale),
      sentence: "\(options.candidateLabel)'s \(subject), though the mix of all is the same")
  }
}
