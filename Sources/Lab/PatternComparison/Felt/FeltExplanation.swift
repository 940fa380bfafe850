internal import CMath
import SignalAnalysis

/// The changes that turn the reference into the candidate.
///
/// 1. Find a delay or a tempo of the whole, and pair transients.
/// 2. Move vibrations, or their ends.
/// 3. Find transients that the other pattern has as short vibrations.
/// 4. Find differences of level, and then of frequency, of the summed vibrations.
/// 5. Find differences of the paired transients, and missing and added ones.
/// 6. Join differences that are equal for all transients and vibrations.
///
/// Every step changes the reference, so that no difference is found twice.
struct FeltExplanation {
  /// The overall delay or tempo change, or nil if there is none.
  private let clock: FeltClock?
  /// The other differences, with ranges in the time of the candidate.
  private var differences: [FeltDifference] = []
  /// The transients of one pattern that the other pattern has as short vibrations.
  private(set) var pulses: [FeltPulse] = []

  private var side: FeltSide
  private var candidate: FeltSide
  private let context: FeltContext
  private var pairs: [(Int, Int)] = []
  private var missing: [Int] = []
  private var added: [Int] = []
  private var isMasked: [Bool]

  init(_ side: FeltSide, _ candidate: FeltSide, context: FeltContext) {
    self.side = side
    self.candidate = candidate
    self.context = context
    isMasked = [Bool](repeating: false, count: context.grid.count)
    clock = FeltClock(side, candidate, context: context)
    if let clock {
      self.side = side.warped(by: clock.warp, grid: context.grid)
    }
    let alignedAmplitudes = self.side.amplitudes
    pairTransients()
    let shifts = FeltShiftSearch(self.side, candidate, context: context)
    self.side = shifts.side
    differences += shifts.differences
    findPulses()
    let levels = FeltLevelSearch(
      self.side, self.candidate, isMasked: isMasked, context: context)
    self.side = levels.side
    self.candidate = levels.candidate
    differences += levels.differences
    differences += FeltFrequencySearch(self.side, self.candidate, context: context).differences
    findTransientChanges()
    joinWhole(amplitudes: alignedAmplitudes)
  }

  /// The mapping of the reference's times to the candidate's.
  var warp: TimeWarp { clock?.warp ?? TimeWarp(sources: [], targets: []) }

  /// The differences, with ranges in the time of the reference.
  var differencesInReferenceTime: [FeltDifference] {
    guard let clock else { return differences }
    let warp = clock.warp
    return [clock.difference] + differences.map { $0.mapped(warp.source(of:)) }
  }

  /// The differences, with ranges in the time of the candidate.
  var differencesInCandidateTime: [FeltDifference] {
    guard let clock else { return differences }
    let warp = clock.warp
    return [clock.difference.mapped(warp.target(of:))] + differences
  }

  private mutating func pairTransients() {
    pairs = FeltPairing.pairs(side.transients, candidate.transients)
    let paired = Set(pairs.map(\.0))
    let candidatePaired = Set(pairs.map(\.1))
    missing = side.transients.indices.filter { !paired.contains($0) }
    added = candidate.transients.indices.filter { !candidatePaired.contains($0) }
  }

  // MARK: - Pulses

  /// Pairs transients that have no counterpart with short vibrations of the other pattern.
  private mutating func findPulses() {
    var unmatched: [Int] = []
    for index in missing {
      let transient = side.transients[index]
      if !findPulse(transient, from: side, in: candidate, isInReference: true) {
        unmatched.append(index)
      }
    }
    missing = unmatched
    unmatched = []
    for index in added {
      let transient = candidate.transients[index]
      if !findPulse(transient, from: candidate, in: side, isInReference: false) {
        unmatched.append(index)
      }
    }
    added = unmatched
  }

  /// Finds a short vibration at the time of a transient, and returns true if there is one.
  private mutating func findPulse(
    _ transient: FeltTransient, from owner: FeltSide, in other: FeltSide, isInReference: Bool
  ) -> Bool {
    guard transient.amplitude >= context.floor,
      let pulse = FeltPulse(transient, of: owner, in: other, isInReference, context: context)
    else { return false }
    pulses.append(pulse)
    for index in pulse.range {
      isMasked[index] = true
    }
    differences += pulse.differences(context: context)
    return true
  }

  // MARK: - Transients

  private mutating func findTransientChanges() {
    for (index, other) in pairs {
      compare(side.transients[index], candidate.transients[other])
    }
    for index in missing where side.transients[index].amplitude >= context.floor {
      let transient = side.transients[index]
      var difference = FeltDifference(
        kind: .missing, subject: .transient, range: transient.range,
        amount: FeltContext.decibels(transient.amplitude), events: [transient.event])
      difference.maskedAmount = mask(around: transient).decibels(from: transient.energy, to: 0)
      differences.append(difference)
    }
    for index in added where candidate.transients[index].amplitude >= context.floor {
      let transient = candidate.transients[index]
      var difference = FeltDifference(
        kind: .added, subject: .transient, range: transient.range,
        amount: FeltContext.decibels(transient.amplitude), candidateEvents: [transient.event])
      difference.maskedAmount = mask(around: transient).decibels(from: 0, to: transient.energy)
      differences.append(difference)
    }
  }

  /// Returns the candidate's vibration that masks changes of a transient.
  private func mask(around transient: FeltTransient) -> TransientMask {
    TransientMask(energy: candidate.energy(in: transient.maskingRange, grid: context.grid))
  }

  private mutating func compare(_ transient: FeltTransient, _ other: FeltTransient) {
    guard max(transient.amplitude, other.amplitude) >= context.floor else { return }
    var difference = FeltDifference(
      kind: .time, subject: .transient, range: transient.range,
      amount: other.time - transient.time, slack: context.resolution.timeSlack,
      events: [transient.event], candidateEvents: [other.event])
    if abs(difference.amount) > context.minimumShift {
      differences.append(difference)
    }
    difference.kind = .level
    difference.amount =
      FeltContext.decibels(other.amplitude) - FeltContext.decibels(transient.amplitude)
    difference.slack = context.levelSlack(at: transient.amplitude)
    let mask = mask(around: transient)
    difference.maskedAmount = mask.decibels(from: transient.energy, to: other.energy)
    if abs(difference.amount) > FeltDifference.Minimum.decibels + difference.slack {
      differences.append(difference)
    }
    difference.kind = .frequency
    difference.amount = other.octaves - transient.octaves
    difference.slack = context.resolution.frequencySlack
    difference.maskedAmount = mask.octaves(difference.amount, of: transient)
    if abs(difference.amount) > context.minimumOctaves {
      differences.append(difference)
    }
  }

  // MARK: - The whole

  /// The maximum deviation of amounts from their median, in decibels or octaves, for them to count
  /// as one change of the whole pattern.
  private static let wholeTolerances: [(kind: Difference.Kind, tolerance: Double)] = [
    (.level, 0.3), (.frequency, 0.03),
  ]
  /// The maximum fraction of the vibration that a change of the whole pattern may leave unchanged.
  private static let maximumUncoveredFraction = 0.05

  /// Replaces changes that are equal for all transients and vibrations by one change of the whole
  /// pattern.
  ///
  /// - Parameter amplitudes: The amplitudes of the reference in the time of the candidate.
  private mutating func joinWhole(amplitudes: [Double]) {
    let transientCount = side.transients.count { $0.amplitude >= context.floor }
    for (kind, tolerance) in Self.wholeTolerances {
      let changes = differences.filter { $0.kind == kind }
      let amounts = changes.map(\.amount).sorted()
      guard changes.count >= 2, let minimum = amounts.first, let maximum = amounts.last,
        maximum - minimum <= 2 * tolerance,
        changes.count(where: { $0.subject == .transient }) == transientCount
      else { continue }
      guard covers(changes.filter { $0.subject != .transient }, amplitudes) else { continue }
      differences.removeAll { $0.kind == kind }
      let start = changes.map(\.range.lowerBound).min() ?? 0
      let end = changes.map(\.range.upperBound).max() ?? start
      differences.append(
        FeltDifference(
          kind: kind, subject: .whole, range: start...end, amount: Statistics.median(of: amounts),
          slack: changes.map(\.slack).max() ?? 0))
    }
  }

  /// Returns whether changes cover nearly all of the vibration.
  private func covers(_ changes: [FeltDifference], _ amplitudes: [Double]) -> Bool {
    var isCovered = [Bool](repeating: false, count: context.grid.count)
    for change in changes {
      let first = context.grid.index(before: change.range.lowerBound - 0.01)
      let last = context.grid.index(before: change.range.upperBound + 0.01)
      for index in first..<max(first, last) {
        isCovered[index] = true
      }
    }
    var total = 0.0
    var uncovered = 0.0
    for (index, amplitude) in amplitudes.enumerated() {
      total += amplitude
      if !isCovered[index] {
        uncovered += amplitude
      }
    }
    return uncovered <= Self.maximumUncoveredFraction * total
  }
}

/// The vibration around a transient, which hides a part of the transient's changes.
private struct TransientMask {
  /// The integral of the squared amplitude of the vibration around the transient.
  let energy: Double

  /// Returns the change in the combined level of transient and vibration, in decibels.
  ///
  /// - Parameters:
  ///   - before: The energy of the transient in the reference.
  ///   - after: The energy of the transient in the candidate.
  func decibels(from before: Double, to after: Double) -> Double {
    10 * log10((energy + after + 1e-12) / (energy + before + 1e-12))
  }

  /// Returns the change in the mean frequency of transient and vibration, in octaves: the change of
  /// the transient, weighted by its fraction of the energy.
  func octaves(_ change: Double, of transient: FeltTransient) -> Double {
    change * transient.energy / max(transient.energy + energy, 1e-12)
  }
}

/// A transient of one pattern that the other pattern has as a short vibration.
struct FeltPulse {
  let transient: FeltTransient
  /// A Boolean value that indicates whether the reference has the transient.
  let isInReference: Bool
  /// The range of grid points in which the vibration is measured.
  let range: Range<Int>
  /// The level of the vibration relative to the transient, in decibels.
  private let decibels: Double
  /// The frequency of the vibration relative to the transient, in octaves.
  private let octaves: Double
  /// The vibration that surrounds the transient in both patterns.
  private let mask: TransientMask

  /// The maximum time by which the vibration may begin before the transient, in seconds.
  private static let vibrationLeadSeconds = 0.004
  /// The maximum time from the start of the transient to the end of the vibration, in seconds.
  private static let lengthSeconds = 0.045
  /// The ratios of a vibration's energy to a transient's at which the vibration counts as its
  /// counterpart.
  private static let energyRatios = 0.1...10.0
  /// The maximum level difference, in decibels, at which a vibration with a different length than
  /// the transient still feels the same.
  private static let slackDecibels = 1.0

  /// Finds the vibration energy that one pattern has in excess at the time of the other pattern's
  /// transient. Returns nil if the energy does not match the transient's.
  init?(
    _ transient: FeltTransient, of owner: FeltSide, in other: FeltSide, _ isInReference: Bool,
    context: FeltContext
  ) {
    let first = context.grid.index(before: transient.time - Self.vibrationLeadSeconds)
    let last = context.grid.index(before: transient.time + Self.lengthSeconds)
    range = first..<max(first, last)
    var surplus = 0.0
    var moment = 0.0
    for index in range {
      let own = owner.amplitudes[index] * owner.amplitudes[index]
      let energy = max(0, other.amplitudes[index] * other.amplitudes[index] - own)
      surplus += energy
      moment += energy > 0 ? energy * other.octaves(at: index) : 0
    }
    let ratio = surplus * context.grid.step / max(transient.energy, 1e-12)
    guard Self.energyRatios.contains(ratio) else { return nil }
    self.transient = transient
    self.isInReference = isInReference
    decibels = 10 * log10(ratio)
    mask = TransientMask(energy: owner.energy(in: transient.maskingRange, grid: context.grid))
    octaves = moment / surplus - transient.octaves
  }

  /// Returns the differences of level and frequency.
  func differences(context: FeltContext) -> [FeltDifference] {
    let sign = isInReference ? 1.0 : -1.0
    var difference = FeltDifference(
      kind: .level, subject: .transient, range: transient.range, amount: sign * decibels,
      slack: Self.slackDecibels, events: isInReference ? [transient.event] : [],
      candidateEvents: isInReference ? [] : [transient.event])
    let pulseEnergy = transient.energy * pow(10, decibels / 10)
    difference.maskedAmount = sign * mask.decibels(from: transient.energy, to: pulseEnergy)
    var differences: [FeltDifference] = []
    if abs(decibels) > FeltDifference.Minimum.decibels + Self.slackDecibels {
      differences.append(difference)
    }
    difference.kind = .frequency
    difference.amount = sign * octaves
    difference.maskedAmount = mask.octaves(difference.amount, of: transient)
    difference.slack = context.resolution.frequencySlack
    if abs(octaves) > context.minimumOctaves {
      differences.append(difference)
    }
    return differences
  }
}
