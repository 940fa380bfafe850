internal import CMath
import SignalAnalysis

extension Comparison {
  /// A residue below this, in dBFS, is what storing samples leaves: a bit or two of 16.
  static let leastResidue = -84.0
  /// A residue above this, in decibels relative to the reference, is a difference.
  static let greatestShare = -25.0

  /// Compares the mixes of all channels, then what mixes do not show.
  mutating func compareSignals() {
    isRelativeToWhole = true
    if let match = options.levelMatch, match != .none {
      let gains = match.gains(for: takes)
      (referenceGain, matchGain) = (gains[0], gains[1])
      otherGain = matchGain
    }
    let gains = (referenceGain, otherGain)
    var pair = SignalPair(reference.signal, other.signal, alignment: options.alignment, gains: gains)
    var signals: SignalDifferences?
    if options.alignment == .auto, pair.shift != 0 {
      // A sound that came or went can pull one onto another: the simpler story is the true one.
      let still = SignalPair(reference.signal, other.signal, alignment: .none, gains: gains)
      let shifted = SignalDifferences(pair, options: options)
      let unshifted = SignalDifferences(still, options: options)
      signals = shifted.found.count < unshifted.found.count ? shifted : unshifted
      if shifted.found.count >= unshifted.found.count { pair = still }
    }
    alignment = TakeAlignment(seconds: 0, correlation: pair.correlation)
    if pair.isInverted { otherGain = -otherGain }
    let power = SignalPair.power(pair.reference)
    let otherPower = SignalPair.power(pair.other)
    if power == 0 || otherPower == 0 {
      compareSilence(power, otherPower)
    } else if let rest = residue(of: pair) {
      equality = rest
    } else {
      let signals = signals ?? SignalDifferences(pair, options: options)
      differences += signals.found
      alignment.seconds = options.alignment == .none ? 0 : signals.delay
      otherGain *= Decibels.factor(-signals.level)
      if differences.isEmpty { judgeResidue(of: pair) }
    }
    compareLengths()
    compareChannels()
    if !differences.isEmpty { equality = .different }
  }

  /// The level of what is left when one is taken from the other, after a common gain; in dBFS.
  private func rest(of pair: SignalPair) -> (decibels: Double, rest: Double, share: Double) {
    var xx = 0.0
    var xy = 0.0
    for (a, b) in zip(pair.reference, pair.other) {
      xx += Double(a) * Double(a)
      xy += Double(a) * Double(b)
    }
    let gain = xx > 0 ? xy / xx : 1
    var rest = 0.0
    for (a, b) in zip(pair.reference, pair.other) {
      let difference = Double(b) - gain * Double(a)
      rest += difference * difference
    }
    let count = Double(max(1, pair.reference.count))
    return (
      gain > 0 ? 20 * log10(gain) : -200, Decibels.of(power: rest / count), Decibels.of(power: rest / max(xx, 1e-30))
    )
  }

  /// Whether the two are equal but for a residual, without a shift.
  var isEqualAsItIs: Bool {
    let pair = SignalPair(reference.signal, other.signal, alignment: .none, gains: (1, 1))
    return residue(of: pair) != nil
  }

  /// How equal two signals are as they are, without a shift; nil where they differ.
  private func residue(of pair: SignalPair) -> Equality? {
    guard pair.shift == 0, !pair.isInverted, pair.offset == 0 else { return nil }
    let (decibels, rest, share) = rest(of: pair)
    guard abs(decibels) < SoundMeasure.leastLevel, rest <= Self.leastResidue, share <= Self.greatestShare else {
      return nil
    }
    return .within(noise: rest > -190 ? rest : nil, decibels: decibels)
  }

  /// Where no sound differs in a way that has a name, reports the residual.
  private mutating func judgeResidue(of pair: SignalPair) {
    let (decibels, rest, share) = rest(of: pair)
    if share <= Self.greatestShare {
      equality = .within(noise: rest, decibels: decibels)
      return
    }
    let end = max(reference.signal.duration, other.signal.duration)
    differences.append(
      Difference(
        .spectrum, in: 0...end, isThroughout: true, amount: share, unit: .decibels,
        significance: max(0, (share + 30) / 6),
        sentence:
          "\(options.otherLabel) has a different waveform (residual \(SentenceFormatting.number(share, places: 0)) dB)."
      ))
  }

  private mutating func compareSilence(_ power: Double, _ otherPower: Double) {
    if power == otherPower {
      equality = .within(noise: nil, decibels: 0)
      return
    }
    let isMissing = otherPower == 0
    let peak = isMissing ? measurements[0].peak : measurements[1].peak
    let end = max(reference.signal.duration, other.signal.duration)
    let sentence =
      isMissing
      ? "\(options.otherLabel) is silent." : "\(options.otherLabel) is not silent, unlike \(options.referenceLabel)."
    differences.append(
      Difference(
        isMissing ? .missing : .added, in: 0...end, isThroughout: true, amount: peak ?? JustNoticeableDifference.floor,
        unit: .fullScale, sentence: sentence))
  }

  /// Tells another length of the recording where nothing that was found explains it.
  private mutating func compareLengths() {
    let change = other.signal.duration - reference.signal.duration
    let explained = differences.contains {
      switch $0.kind {
      case .duration, .missing, .added, .tempo: true
      case .time: $0.isThroughout ? abs(change - $0.amount) < 0.001 : true
      default: false
      }
    }
    // A sound that is a little higher is a little shorter.
    guard abs(change) > (differences.isEmpty ? 0.001 : 0.01), !explained else { return }
    let values = SentenceFormatting.value(other.signal.duration, insteadOf: reference.signal.duration)
    differences.append(
      Difference(
        .length, in: 0...max(reference.signal.duration, other.signal.duration), amount: change, unit: .seconds,
        before: reference.signal.duration, after: other.signal.duration, significance: 0,
        sentence: "\(options.otherLabel)'s recording is \(SentenceFormatting.span(change)) "
          + "\(change > 0 ? "longer" : "shorter"): \(values) s."))
  }

  mutating func compareChannels() {
    let count = reference.signal.channels.count
    let otherCount = other.signal.channels.count
    let end = max(reference.signal.duration, other.signal.duration)
    if count != otherCount {
      differences.append(
        Difference(
          .channels, in: 0...end, amount: Double(otherCount - count), unit: .count, before: Double(count),
          after: Double(otherCount), significance: 0,
          sentence: "\(options.otherLabel) has \(otherCount) channel\(otherCount == 1 ? "" : "s"), "
            + "\(options.referenceLabel) \(count)."))
    } else if count > 1, differences.isEmpty {
      compareEachChannel(until: end)
    }
  }

  /// Tells which channels differ although their mix does not.
  private mutating func compareEachChannel(until end: Double) {
    var numbers: [Int] = []
    var greatest = -200.0
    for (index, (a, b)) in zip(reference.signal.channels, other.signal.channels).enumerated() {
      var power = 0.0
      for (x, y) in zip(a, b) where x.isFinite && y.isFinite { power += Double(x - y) * Double(x - y) }
      let rest = Decibels.of(power: power / Double(max(1, a.count)))
      guard rest > Self.leastResidue else { continue }
      numbers.append(index + 1)
      greatest = max(greatest, rest)
    }
    guard !numbers.isEmpty else { return }
    let isOne = numbers.count == 1
    differences.append(
      Difference(
        .channels, in: 0...end, amount: greatest, unit: .fullScale,
        sentence: "\(options.otherLabel)'s channel\(isOne ? "" : "s") \(SentenceFormatting.list(numbers)) "
          + "\(isOne ? "differs" : "differ"), though the mix of all is the same."))
  }
}
