internal import CMath
import SignalAnalysis

/// Explains what is left of a recording, the clearest cause first, each cause once.
struct RecordingChanges {
  var fit: RecordingFit
  /// What was found.
  var changes: [RecordingChange] = []
  /// For each of them, what it does to the model.
  var effects: [Effect] = []
  /// The gain of the whole.
  private(set) var gain = 0.0
  /// The standard deviation of the whitened noise.
  private(set) var sigma = 0.0
  /// For each stem, how many standard errors its gain is away from none.
  private(set) var clarity: [Double] = []
  /// For each stem, standard errors of level in decibels and of time in seconds.
  private(set) var errors: [(decibels: Double, seconds: Double)] = []

  /// The most causes that are looked for.
  private static let greatestCount = 24
  /// Seconds by which an event may have moved.
  static let reach = 0.06
  /// How much better than a change of an event an added sound over it must explain what is left.
  private static let doubt = 1.3
  /// What saying that something sounds otherwise is worth, of what it explains.
  static let vagueness = 0.25
  /// What explains so much of what is left around it is more than a leftover.
  private static let clearShare = 0.95
  /// What was already explained must leave this share of what explains it to count again.
  private static let leftover = 0.1

  var rate: Double { fit.reference.rate }
  /// The whitened take less what the reference explains at one gain.
  var rest: [Float] = []
  /// The stems as they lie in the take, through the whitener.
  var columns: [Column] = []
  var done: Set<Int> { Set(effects.compactMap(\.stem)) }
  /// What a change does to the model.
  struct Effect {
    /// The stem that is changed; nil for an added sound.
    var stem: Int?
    /// Samples of the take in which something else sounds.
    var filled: Range<Int>?
    /// Samples of the take that it explains, and by how much.
    var explained: (range: Range<Int>, improvement: Double)
    /// What it costs to believe it, as a share of a change.
    var doubt = 0.0
  }

  let bank: ToneBursts
  let original: RecordingReference
  /// The change that the fit's reference has, which the original has not.
  let hypothesis: RecordingHypotheses.Hypothesis?

  /// - Parameters:
  ///   - original: The reference as it is.
  ///   - hypothesis: What of the fit's reference is not as in the original.
  init(_ fit: RecordingFit, original: RecordingReference, hypothesis: RecordingHypotheses.Hypothesis?) {
    self.hypothesis = hypothesis
    self.fit = fit
    self.original = original
    bank = ToneBursts(rate: original.rate, extra: original.renderer?.bank() ?? [])
    settle()
    guard gain > 0 else { return }
    measureErrors()
    if let hypothesis { restore(hypothesis.index) }
    for _ in 0..<Self.greatestCount {
      guard explainNext() else { break }
      loosen()
      self.fit.refine(rounds: 1)
      settle()
      polish()
    }
    if self.fit.greatestTempo == 0, !changes.isEmpty {
      self.fit.freeTempo()
      self.fit.refine(rounds: 2)
      settle()
      polish()
    }
    simplify()
    removeTrifles()
    levelOut()
  }

  /// Whether an event stands out of the noise enough to be judged.
  func isJudged(_ index: Int) -> Bool { clarity[index] > 2 * RecordingThreshold.z }

  /// Fits all, and takes what the common gain explains from the take.
  mutating func settle() {
    let solution = fit.solve()
    sigma = RecordingFit.sigma(solution.residual)
    gain = RecordingFit.common(solution.gains, solution.errors, sigma: sigma)
    rest = solution.cleaned
    for column in solution.columns { Samples.add(column.samples, times: -gain, to: &rest, at: column.start) }
    for range in effects.compactMap(\.filled) { Samples.silence(&rest, range) }
    columns = [Column](repeating: Column(start: 0, samples: []), count: fit.reference.stems.count)
    for (group, column) in zip(fit.reference.groups, solution.columns) {
      for index in group {
        columns[index] =
          group.count == 1 && fit.excluded.isEmpty
          ? column : fit.column(index).whitened(by: fit.whitener, count: fit.take.count)
      }
    }
  }

  /// Puts the original of a stem back, the gain and the place as they were found without it.
  private mutating func restore(_ index: Int) {
    Samples.add(columns[index].samples, times: gain, to: &rest, at: columns[index].start)
    fit.reference.stems[index] = original.stems[index]
    columns[index] = whitened(original.stems[index])
    Samples.add(columns[index].samples, times: -gain, to: &rest, at: columns[index].start)
  }

  /// The share of what is where the reference is that the reference explains.
  var coherence: Double {
    var (explained, left) = (0.0, 0.0)
    var isCounted = [Bool](repeating: false, count: rest.count)
    for column in columns {
      explained += gain * gain * Samples.energy(column.samples)
      for sample in column.range.clamped(to: rest.indices) where !isCounted[sample] {
        isCounted[sample] = true
        left += Double(rest[sample] * rest[sample]) - sigma * sigma
      }
    }
    return explained > 0 ? explained / (explained + max(0, left)) : 0
  }

  /// What nothing explains, in multiples of the noise.
  var left: Double { Samples.energy(rest) / (sigma * sigma * Double(max(1, rest.count))) }

  private mutating func measureErrors() {
    for column in columns {
      let energy = Samples.energy(column.samples)
      let slope = Self.slope(column.samples, rate: rate)
      let root = energy.squareRoot() * gain / sigma
      clarity.append(root)
      errors.append((root > 0 ? 8.686 / root : .infinity, slope > 0 ? sigma / (gain * slope.squareRoot()) : .infinity))
    }
  }

  /// The energy of the derivative.
  static func slope(_ samples: [Float], rate: Double) -> Double {
    guard samples.count > 2 else { return 0 }
    var sum = 0.0
    for index in 1..<samples.count - 1 {
      let slope = Double(samples[index + 1] - samples[index - 1]) * rate / 2
      sum += slope * slope
    }
    return sum
  }

  /// One way to explain what is left around an event.
  struct Alternative {
    var score: Double
    var improvement: Double
    var change: RecordingChange
    /// The event's sound after the change; nil where there is none.
    var stem: Stem?
    var index: Int
  }

  /// Finds the clearest cause and takes it into the model; false where there is none.
  private mutating func explainNext() -> Bool {
    var best: Alternative?
    for index in columns.indices where isJudged(index) && !done.contains(index) {
      for alternative in alternatives(for: index) where alternative.score > best?.score ?? 0 { best = alternative }
    }
    let added = bank.strongest(in: rest, through: fit.whitener, sigma: sigma, hidden: hidden())
    if let added, isNews(added.range, added.score) {
      // An event that changed leaves bursts as well.
      let overlaps = best.map { best in
        let range = columns[best.index].range
        return range.lowerBound - 60 < added.range.upperBound && added.range.lowerBound < range.upperBound + 60
      }
      if added.score > (best?.score ?? 0) * (overlaps == true ? Self.doubt : 1) {
        take(added)
        return true
      }
    }
    guard let best else { return false }
    take(best)
    return true
  }

  /// Whether what was explained before does not explain this as well.
  ///
  /// - Parameter share: The share of what is left there that it explains: leftovers are not explained well.
  func isNews(_ range: Range<Int>, _ score: Double, share: Double = 0) -> Bool {
    if share > Self.clearShare { return true }
    let margin = Int(0.08 * rate)
    return effects.map(\.explained).allSatisfy { known, improvement in
      known.upperBound + margin < range.lowerBound || range.upperBound + margin < known.lowerBound
        || score > Self.leftover * improvement
    }
  }

  private mutating func take(_ alternative: Alternative) {
    let index = alternative.index
    changes.append(alternative.change)
    effects.append(
      Effect(
        stem: index, filled: alternative.change.kind == .spectrum ? columns[index].range : nil,
        explained: (columns[index].range, alternative.improvement)))
    fit.reference.stems[index] = alternative.stem ?? fit.reference.stems[index].scaled(by: 0)
  }

  private mutating func take(_ added: ToneBursts.Found) {
    // All that sounds on around it belongs to it.
    let block = Int(0.012 * rate)
    var range = added.range
    // What is weaker by far is left of the events around.
    let power = Samples.energy(rest, range.clamped(to: rest.indices)) / Double(range.count)
    let least = max(6 * sigma * sigma, 0.03 * power) * Double(block)
    func isLoud(_ part: Range<Int>) -> Bool {
      let part = part.clamped(to: rest.indices)
      return part.count == block && Samples.energy(rest, part) > least
    }
    while isLoud(range.upperBound..<range.upperBound + block) { range = range.lowerBound..<range.upperBound + block }
    while range.lowerBound >= block, isLoud(range.lowerBound - block..<range.lowerBound) {
      range = range.lowerBound - block..<range.upperBound
    }
    let start = time(range.lowerBound == added.range.lowerBound ? added.start : range.lowerBound)
    let duration = Double(range.count) / rate
    let event = ActiveRegion.event(start: start, duration: duration)
    changes.append(
      RecordingChange(
        kind: .added, event: event, range: start...start + duration, amount: 20 * log10(added.amplitude),
        confidence: (added.score).squareRoot()))
    let margin = Int(0.02 * rate)
    effects.append(
      Effect(
        filled: max(0, range.lowerBound - margin)..<min(rest.count, range.upperBound + margin),
        explained: (range, added.score), doubt: doubt(of: range)))
    fit.excluded = additions
  }

  /// Samples of the take in which added sounds are.
  var additions: [Range<Int>] { effects.filter { $0.stem == nil }.compactMap(\.filled) }

  /// Whether most of an event lies where sounds were added, or where another sounds otherwise: it
  /// may be anything there.
  func isCovered(_ index: Int) -> Bool {
    effects.contains { effect in
      guard let stem = effect.stem else { return isCovered(index, by: effect.explained.range) }
      return stem != index && effect.filled.map { isCovered(index, by: $0) } ?? false
    }
  }

  private func isCovered(_ index: Int, by range: Range<Int>) -> Bool {
    let column = columns[index]
    let inside = column.range.clamped(to: range)
    guard !inside.isEmpty else { return false }
    let part = inside.lowerBound - column.start..<inside.upperBound - column.start
    return Samples.energy(column.samples, part) > 0.5 * Samples.energy(column.samples)
  }

  /// How doubtful it is that a sound was added that fills a part of the take.
  private func doubt(of range: Range<Int>) -> Double {
    let energy = Samples.energy(rest, range)
    var doubt = 0.0
    // It begins while an event of the reference is heard.
    if own(in: range) > 0.01 * energy { doubt += 0.5 }
    // It is much stronger than the events about it.
    let reach = Int(0.025 * rate)
    let near = own(in: range.lowerBound - reach..<range.upperBound + reach)
    if near > 0.000_1 * energy, near < 0.25 * energy, range.count > Int(0.015 * rate) { doubt += 1.5 }
    // It sounds where an event should: it would explain any change of it.
    doubt += 1.5 * Double(columns.indices.count { isCovered($0, by: range) })
    return doubt
  }

  /// What the events explain of a part of the take.
  func own(in range: Range<Int>) -> Double {
    columns.reduce(0) { sum, column in
      let part = column.range.clamped(to: range)
      guard !part.isEmpty else { return sum }
      let inside = part.lowerBound - column.start..<part.upperBound - column.start
      return sum + gain * gain * Samples.energy(column.samples, inside)
    }
  }

  /// The time of the reference at a sample of the take.
  func time(_ sample: Int) -> Double { (Double(sample) / rate - fit.place.delay) / (1 + fit.place.tempo) }

  /// What is not felt beside what sounds around: a tenth of it within 50 ms, or a fiftieth of all.
  func hidden() -> [Float] {
    var levels = [Float](repeating: 0, count: rest.count)
    for index in fit.reference.stems.indices {
      let column = fit.column(index)
      for (offset, sample) in column.samples.enumerated() { levels[column.start + offset] += abs(sample) }
    }
    let block = Int(rate / 80)
    var greatest = stride(from: 0, to: levels.count, by: block).map {
      SignalPair.peak(levels[$0..<min(levels.count, $0 + block)])
    }
    let own = greatest
    for index in greatest.indices {
      for near in max(0, index - 4)...min(own.count - 1, index + 4) {
        greatest[index] = max(greatest[index], own[near])
      }
    }
    let least = Float(0.02 * original.peak)
    return levels.indices.map { Float(gain) * max(0.1 * greatest[$0 / block], least) }
  }
}
