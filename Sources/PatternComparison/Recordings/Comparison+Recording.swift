internal import CMath
import HapticModel
import SignalAnalysis

extension Comparison {
  /// The share of its peak above which what is there all the time is noise: −80 dB.
  private static let noisyShare = 1e-4
  /// The RMS value below which nothing is noise: less than the dither of 16 bits.
  private static let leastNoise = 4e-6
  /// From so much to say on, another explanation is looked for.
  private static let manyDifferences = 1.5

  /// How much some differences are to say: what is true of the whole is little, what came or went much.
  private static func weight(_ differences: [Difference]) -> Double {
    differences.reduce(0) { sum, difference in
      switch difference.kind {
      case .missing, .added, .spectrum: sum + 2.5
      default: sum + (difference.isThroughout ? 0.5 : 1)
      }
    }
  }

  /// Compares takes of which one at least is a sound: by the events of a pattern, or by the sounds of
  /// a recording, where there is noise; sample by sample where there is none.
  mutating func compareSounds() {
    let noise = Noisiness(reference, other)
    guard noise.isPossible, noise.isCertain || !isEqualAsItIs else {
      compareSignals()
      // Several differences may have one cause, such as another tempo.
      if Self.weight(differences) > Self.manyDifferences { compareRecording { $0 < $1 } }
      return
    }
    if noise.isCertain {
      if !compareRecording(isBetter: { _, _ in true }) { compareSignals() }
      return
    }
    compareSignals()
    if equality == .different { compareRecording { $0 < $1 } }
  }

  /// How sure it is that one of two takes has noise under all of it.
  private struct Noisiness {
    var isPossible = false
    var isCertain = false

    init(_ reference: Take, _ other: Take) {
      for (take, opposite) in [(reference, other), (other, reference)] where take.composition == nil {
        let (floor, peak) = Self.floor(of: take.signal)
        guard floor > max(Comparison.leastNoise, Comparison.noisyShare * peak) else { continue }
        isPossible = true
        // A pattern that never pauses has a floor of its own.
        let (own, ownPeak) = Self.floor(of: opposite.signal)
        let isLonger = take.signal.duration > 1.1 * opposite.signal.duration + 0.2
        if own < 1e-3 * ownPeak || isLonger { isCertain = true }
      }
    }

    /// The RMS value that nine of ten blocks of 20 ms exceed, and the peak.
    private static func floor(of signal: Signal) -> (floor: Double, peak: Double) {
      let samples = signal.mono
      let length = max(1, Int(0.02 * signal.rate))
      // An offset is not noise.
      let powers = stride(from: 0, to: samples.count - length + 1, by: length).map {
        let block = samples[$0..<$0 + length]
        let mean = block.reduce(0.0) { $0 + Double($1) } / Double(length)
        return max(0, SignalPair.power(block) - mean * mean)
      }.sorted()
      guard !powers.isEmpty else { return (0, 0) }
      return (powers[powers.count / 10].squareRoot(), Double(SignalPair.peak(samples)))
    }
  }

  /// Holds a recording against its reference, and takes over what that finds if it is better.
  ///
  /// - Parameter isBetter: Compares how much there is to say with what there was before.
  /// - Returns: Whether the findings are those of the recording.
  @discardableResult mutating func compareRecording(isBetter: (Double, Double) -> Bool) -> Bool {
    guard let sides = RecordingSides(reference, other) else { return false }
    let result = RecordingResult(sides.reference, sides.recording.signal, search: options.search)
    let isPattern = reference.composition != nil || other.composition != nil
    guard result.match.outcome == .found else {
      guard isPattern, isBetter(0, 0) else { return false }
      recording = result.match
      differences = [notFound(result.match, sides)]
      equality = .different
      return true
    }
    var writer = RecordingDifferences(result, sides: sides, options: options)
    writer.addAll()
    var found = writer.found
    guard isBetter(Self.weight(found), Self.weight(differences)) else { return false }
    recording = result.match
    isRelativeToWhole = true
    let direction = sides.isMirrored ? -1.0 : 1
    alignment.seconds = direction * result.match.delay
    otherGain = pow(10, -direction * result.match.level / 20) * (result.match.isInverted ? -1 : 1)
    if options.alignment == .start { found.removeAll { $0.kind == .time && $0.isThroughout } }
    if let match = options.levelMatch, match != .none { found.removeAll { $0.kind == .level && $0.isThroughout } }
    differences = found
    compareChannels()
    equality = differences.isEmpty ? .within(noise: nil, decibels: 0) : .different
    return true
  }

  /// What is said where no place of a recording fits.
  private func notFound(_ match: RecordingMatch, _ sides: RecordingSides) -> Difference {
    let recording = sides.isMirrored ? options.referenceLabel : options.otherLabel
    let pattern = sides.isMirrored ? options.otherLabel : options.referenceLabel
    let end = max(reference.signal.duration, other.signal.duration)
    if match.outcome == .noisy {
      return Difference(
        .noise, in: 0...end, isThroughout: true, amount: 0, unit: .none,
        sentence: "\(recording) is too noisy to compare: nothing of \(pattern) stands out of its noise.")
    }
    let search = SentenceFormatting.number(match.search, places: 1)
    let isLonger = sides.recording.signal.duration > match.search + 0.5
    return Difference(
      .missing, in: 0...end, isThroughout: true, amount: 0, unit: .none,
      sentence: isLonger
        ? "\(recording) does not contain \(pattern) within −1 to \(search) s; cut the lead-in, or search further."
        : "\(recording) does not contain \(pattern): no place fits.")
  }
}

/// Which of two takes is held against which.
struct RecordingSides {
  /// What is looked for.
  let reference: RecordingReference
  /// The take it came from.
  let pattern: Take
  /// Where it is looked for.
  let recording: Take
  /// Whether the recording is the comparison's reference.
  let isMirrored: Bool

  /// Nil where neither is a sound, or the reference is silent.
  init?(_ reference: Take, _ other: Take) {
    isMirrored = reference.composition == nil && other.composition != nil
    pattern = isMirrored ? other : reference
    recording = isMirrored ? reference : other
    guard recording.composition == nil else { return nil }
    let low = LowRateSignal(of: pattern.signal.mono, rate: pattern.signal.rate)
    let blocks = stride(from: 0, to: low.samples.count - 79, by: 80).map {
      Samples.energy(low.samples, $0..<$0 + 80) / 80
    }.sorted()
    let noise = blocks.isEmpty ? 0 : blocks[blocks.count / 10]
    let loudest = blocks.last ?? 0
    let built = RecordingReference(pattern, low) ?? RecordingReference(low, noise: noise < 0.01 * loudest ? noise : 0)
    guard !built.stems.isEmpty else { return nil }
    self.reference = built
  }
}
