internal import CMath
import HapticModel
import RecordingAnalysis
import SignalAnalysis

extension Comparison {
  /// The maximum level of a residual due to rounding of stored samples, in dBFS.
  ///
  /// The level corresponds to one or two steps of 16 bits.
  static let negligibleResidualDecibels = -84.0
  /// The maximum level of a negligible residual, in decibels relative to the reference.
  static let maximumRelativeResidualDecibels = -25.0

  /// Compares the takes as signals, after their levels have been matched.
  mutating func compareSignals() {
    hasRelativeDifferences = true
    let takeGains = (referenceGain, candidateGain)
    var signalPair = SignalPair(
      reference.signal, candidate.signal, alignment: options.alignment, gains: takeGains)
    let arePatterns =
      reference.composition != nil && candidate.composition != nil
      && reference.profile == candidate.profile
    var signalDifferences: SignalDifferences?
    if options.alignment == .auto, signalPair.alignmentShiftFrames != 0 {
      // An added or missing sound can cause a wrong alignment. Prefer the simpler explanation.
      let unalignedPair = SignalPair(
        reference.signal, candidate.signal, alignment: .none, gains: takeGains)
      let aligned = SignalDifferences(signalPair, arePatterns: arePatterns, options: options)
      let unaligned = SignalDifferences(
        unalignedPair, arePatterns: arePatterns, options: options)
      if aligned.differenceList.differences.count < unaligned.differenceList.differences.count {
        signalDifferences = aligned
      } else {
        signalPair = unalignedPair
        signalDifferences = unaligned
      }
    }
    alignment = TakeAlignment(delaySeconds: 0, correlation: signalPair.correlation)
    if signalPair.isInverted {
      candidateGain = -candidateGain
    }
    let referencePower = Statistics.meanSquare(of: signalPair.reference)
    let candidatePower = Statistics.meanSquare(of: signalPair.candidate)
    if referencePower == 0 || candidatePower == 0 {
      compareSilence(referencePower: referencePower, candidatePower: candidatePower)
    } else if let approximate = approximateEquality(of: signalPair) {
      equality = approximate
    } else {
      let signalDifferences =
        signalDifferences
        ?? SignalDifferences(signalPair, arePatterns: arePatterns, options: options)
      differences += signalDifferences.differenceList.differences
      alignment.delaySeconds = options.alignment == .none ? 0 : signalDifferences.delaySeconds
      candidateGain *= Decibels.amplitudeFactor(-signalDifferences.overallLevelDecibels)
      if differences.isEmpty {
        let residual = residual(of: signalPair)
        equality = .approximate(
          residualDecibels: residual.residualDecibels,
          levelDecibels: residual.candidateLevelDecibels)
        if residual.relativeResidualDecibels > Self.maximumRelativeResidualDecibels {
          add(
            Difference(
              residual: residual.relativeResidualDecibels, in: fullTimeRange, isOverall: true))
        }
      }
    }
    compareLengths()
    compareChannels()
    if !differences.isEmpty {
      equality = .different
    }
  }

  /// Compares takes channel by channel, after their levels have been matched.
  ///
  /// - Returns: False if the channels of the takes are alike or do not correspond.
  mutating func compareChannelByChannel() -> Bool {
    var channelOptions = options
    if options.matchesLevels {
      channelOptions.levelMatch = LevelMatch.none
    }
    guard
      let channels = ChannelComparison(
        reference, candidate, gains: (referenceGain, candidateGain), options: channelOptions)
    else { return false }
    hasRelativeDifferences = channels.hasRelativeDifferences
    alignment = channels.alignment
    differences = channels.differences
    compareLengths()
    equality = differences.isEmpty ? channels.approximateEquality : .different
    return true
  }

  /// The residual between a candidate and its reference after a gain adjustment.
  private struct Residual {
    /// The level of the candidate, in decibels relative to the reference.
    var candidateLevelDecibels: Double
    /// The level of the residual, in dBFS.
    var residualDecibels: Double
    /// The level of the residual, in decibels relative to the reference.
    var relativeResidualDecibels: Double
  }

  /// Returns the residual between the signals after scaling the reference for the best fit.
  private func residual(of pair: SignalPair) -> Residual {
    var referenceEnergy = 0.0
    var crossEnergy = 0.0
    var residualEnergy = 0.0
    for (sample, candidateSample) in zip(pair.reference, pair.candidate) {
      referenceEnergy += Double(sample) * Double(sample)
      crossEnergy += Double(sample) * Double(candidateSample)
    }
    let fittedGain = referenceEnergy > 0 ? crossEnergy / referenceEnergy : 1
    for (sample, candidateSample) in zip(pair.reference, pair.candidate) {
      let difference = Double(candidateSample) - fittedGain * Double(sample)
      residualEnergy += difference * difference
    }
    let frameCount = Double(max(1, pair.reference.count))
    return Residual(
      candidateLevelDecibels: fittedGain > 0 ? 20 * log10(fittedGain) : -200,
      residualDecibels: Decibels.of(power: residualEnergy / frameCount),
      relativeResidualDecibels: Decibels.of(power: residualEnergy / max(referenceEnergy, 1e-30)))
  }

  /// A Boolean value that indicates whether the takes are nearly equal without alignment.
  var isEqualWithoutAlignment: Bool {
    approximateEquality(
      of: SignalPair(reference.signal, candidate.signal, alignment: .none, gains: (1, 1))) != nil
  }

  /// Returns the equality of takes with a negligible residual, or nil for other takes.
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
  var fullTimeRange: ClosedRange<Double> {
    0...max(reference.signal.durationSeconds, candidate.signal.durationSeconds)
  }

  /// Adds a difference, with a sentence that describes it.
  ///
  /// - Parameters:
  ///   - difference: The difference.
  ///   - sentence: The sentence without a period, or nil to describe the difference by its kind.
  mutating func add(_ difference: Difference, sentence: String? = nil) {
    var differenceList = DifferenceList(
      candidateNames: EventNames([], takeLabel: options.candidateLabel),
      referenceNames: EventNames([], takeLabel: options.referenceLabel),
      overallRange: fullTimeRange)
    if let sentence {
      differenceList.add(difference, sentence: sentence)
    } else {
      differenceList.add(difference)
    }
    differences += differenceList.differences
  }

  /// Compares two takes if at least one of them is silent.
  private mutating func compareSilence(
    referencePower: Double, candidatePower: Double
  ) {
    if referencePower == candidatePower {
      equality = .approximate(residualDecibels: nil, levelDecibels: 0)
      return
    }
    let isCandidateSilent = candidatePower == 0
    add(
      Difference(
        isCandidateSilent ? .missing : .added, in: fullTimeRange, isOverall: true,
        amount: measurements[isCandidateSilent ? 0 : 1]["peakDecibels"]
          ?? JustNoticeableDifference.perceptionFloorDecibels),
      sentence: options.candidateLabel
        + (isCandidateSilent ? " is silent" : " is not silent, unlike \(options.referenceLabel)"))
  }

  /// Adds a difference for different durations if no other difference explains them.
  private mutating func compareLengths() {
    let referenceSeconds = reference.signal.durationSeconds
    let candidateSeconds = candidate.signal.durationSeconds
    let changeSeconds = candidateSeconds - referenceSeconds
    let isChangeExplained = differences.contains {
      switch $0.kind {
      case .duration, .missing, .added, .tempo: true
      case .time: $0.isOverall ? abs(changeSeconds - $0.amount) < 0.001 : true
      default: false
      }
    }
    // A sound at a slightly higher frequency is slightly shorter.
    guard abs(changeSeconds) > (differences.isEmpty ? 0.001 : 0.01), !isChangeExplained else {
      return
    }
    let durationsText = SentenceFormatting.values(candidateSeconds, insteadOf: referenceSeconds)
    let changeText = Difference.Kind.length.changeText(changeSeconds)
    add(
      Difference(
        .length, in: fullTimeRange, amount: changeSeconds, referenceValue: referenceSeconds,
        candidateValue: candidateSeconds),
      sentence: "\(options.candidateLabel)'s recording is \(changeText): \(durationsText) s")
  }

  /// Adds a difference for different channels.
  ///
  /// The numbers of channels differ, or channels differ although their mean is equal.
  mutating func compareChannels() {
    let channelCount = reference.signal.channels.count
    let candidateChannelCount = candidate.signal.channels.count
    if channelCount != candidateChannelCount {
      let plural = candidateChannelCount == 1 ? "" : "s"
      add(
        Difference(
          .channels, in: fullTimeRange, amount: Double(candidateChannelCount - channelCount),
          referenceValue: Double(channelCount),
          candidateValue: Double(candidateChannelCount), significance: 0),
        sentence:
          "\(options.candidateLabel) has \(candidateChannelCount) channel\(plural), "
          + "\(options.referenceLabel) \(channelCount)")
    } else if channelCount > 1, differences.isEmpty {
      compareEachChannel()
    }
  }

  private mutating func compareEachChannel() {
    var channelNumbers: [Int] = []
    var maximumDecibels: Double = -200
    let channelPairs = zip(reference.signal.channels, candidate.signal.channels)
    for (index, (channel, candidateChannel)) in channelPairs.enumerated() {
      var differencePower = 0.0
      for (a, b) in zip(channel, candidateChannel) where a.isFinite && b.isFinite {
        differencePower += Double(a - b) * Double(a - b)
      }
      let differenceDecibels = Decibels.of(power: differencePower / Double(max(1, channel.count)))
      guard differenceDecibels > Self.negligibleResidualDecibels else { continue }
      channelNumbers.append(index + 1)
      maximumDecibels = max(maximumDecibels, differenceDecibels)
    }
    guard !channelNumbers.isEmpty else { return }
    let numberList = SentenceFormatting.list(channelNumbers)
    let subjectText =
      channelNumbers.count == 1 ? "channel \(numberList) differs" : "channels \(numberList) differ"
    add(
      Difference(.channels, in: fullTimeRange, amount: maximumDecibels, unit: .fullScale),
      sentence: "\(options.candidateLabel)'s \(subjectText), though the mix of all is the same")
  }
}
