internal import CMath
import SignalAnalysis

/// What a recording holds of a reference.
public struct RecordingMatch: Equatable, Sendable {
  /// Whether the reference was found in the recording.
  public enum Outcome: String, CaseIterable, Sendable {
    /// It was found.
    case found
    /// No place fits.
    case none
    /// Nothing of it stands out of the noise.
    case noisy
  }

  /// Whether the reference was found.
  public var outcome: Outcome
  /// Seconds of the recording at which the reference starts.
  public var delay = 0.0
  /// Percent that the recording is slower.
  public var tempo = 0.0
  /// The standard error of the tempo, in percent; nil where it cannot be measured.
  public var tempoError: Double?
  /// Whether the recording's polarity is inverted.
  public var isInverted = false
  /// The level of the recording relative to the reference, in decibels.
  public var level = 0.0
  /// The RMS level of the noise, in dBFS; nil where there is none above the resolution of 16 bits.
  public var noise: Double?
  /// Hertz of the lines of hum.
  public var lines: [Double] = []
  /// The base of the mains, 50 or 60 Hz, where the lines are its multiples.
  public var mains: Double?
  /// The RMS level of the hum, in dBFS; nil where there is none.
  public var hum: Double?
  /// How many events stand out of the noise enough to be judged.
  public var judgedCount = 0
  /// How many events there are.
  public var eventCount = 0
  /// The least change of level, in decibels, that can be detected in every judged event.
  public var leastDecibels: Double?
  /// The least shift, in seconds, that can be detected in every judged event.
  public var leastSeconds: Double?
  /// Seconds from the recording's start to where the reference was searched at most.
  public var search = ComparisonOptions.defaultSearch
}

struct RecordingResult {
  var match: RecordingMatch
  var changes: [RecordingChange] = []
  /// Whether another tempo has its pitch kept.
  var isPitchKept = false

  /// The share of the reference's sound that must be there.
  private static let leastShare = 0.4
  /// The share of what is where the reference is that the reference explains.
  private static let leastCoherence = 0.4
  /// How much weaker than what was added a reference may be and still be what was recorded: −26 dB.
  private static let leastStrength = 0.05
  /// So many events as they should be are seldom found by chance, and leave less of a doubt.
  private static let leastSupport = 3
  private static let supportedDoubt = 0.3
  /// The greatest share of events that may differ where there are several.
  private static let greatestShare = 0.6
  /// Seconds of a reference in which the clocks of usual devices differ by less than half a millisecond.
  private static let shortDuration = 0.6
  /// The share of tempo from which it matters whether the pitch goes along.
  private static let leastStretch = 0.002

  init(_ reference: RecordingReference, _ recording: Signal, search: Double) {
    match = RecordingMatch(outcome: .none)
    match.search = search
    match.eventCount = reference.stems.count
    let low = LowRateSignal(of: recording.mono, rate: recording.rate)
    guard !reference.stems.isEmpty, low.samples.count > Int(0.1 * low.rate) else { return }
    let finder = RecordingSearch(reference: reference, recording: low.samples)
    let alignment = RecordingAlignment(reference, low.samples, search: search)
    let places = finder.places(in: alignment)
    var best: Explanation?
    for place in places.flatMap(Self.withAndWithoutTempo) {
      let explanation = Explanation(finder.settled(place), original: reference, search: finder)
      if let shift = explanation.commonShift {
        // What most events have in common is the place; another event moved.
        var shifted = place
        shifted.fit.place.delay += shift
        let other = Explanation(finder.settled(shifted), original: reference, search: finder)
        if other.isBetter(than: best) { best = other }
      }
      if explanation.isBetter(than: best) { best = explanation }
      // What needs no explanation is the truth.
      if explanation.isFound, explanation.changes.changes.isEmpty { break }
    }
    if best?.isFound != true || best?.cost ?? 0 > 1.3 {
      // Where the event that most of the sound is changed, nothing else holds the place.
      var hypotheses = RecordingHypotheses(reference, alignment)
      for hypothesis in hypotheses.best() {
        var stems = reference.stems
        stems[hypothesis.index] = hypothesis.stem
        let variant = RecordingReference(stems: stems, rate: reference.rate, renderer: reference.renderer)
        let other = RecordingSearch(reference: variant, recording: low.samples)
        guard let place = other.fitted(hypothesis.place).map(Self.withAndWithoutTempo)?.first else { continue }
        let explanation = Explanation(other.settled(place), original: reference, hypothesis: hypothesis, search: finder)
        if explanation.isBetter(than: best) { best = explanation }
      }
    }
    guard let best else { return }
    isPitchKept = best.place.stretch != 1
    judge(best, low)
    addNoise(recording, best.place)
  }

  private struct Explanation {
    var place: RecordingSearch.Found
    var changes: RecordingChanges
    var isFound = false
    var isNoisy = false
    var judged: [Int] = []
    /// How many things must be said; the vague ones and those about the reference's events weigh more.
    var cost = 0.0

    /// - Parameter hypothesis: What of the place's reference is not as in the original.
    init(
      _ place: RecordingSearch.Found, original: RecordingReference, hypothesis: RecordingHypotheses.Hypothesis? = nil,
      search: RecordingSearch
    ) {
      var place = place
      var original = original
      if hypothesis == nil, abs(place.fit.place.tempo) > RecordingResult.leastStretch,
        let stretched = RecordingResult.stretched(place, search)
      {
        place = stretched
        original = stretched.fit.reference
      }
      self.place = place
      changes = RecordingChanges(place.fit, original: original, hypothesis: hypothesis)
      guard changes.gain > 0 else { return }
      judged = original.stems.indices.filter { changes.isJudged($0) }
      guard !judged.isEmpty else {
        isNoisy = true
        return
      }
      let own = changes.changes.filter { $0.kind != .added }
      let lost = Set(own.filter { $0.kind == .missing || $0.kind == .spectrum }.map(\.event.index))
      func energy(_ stems: [Int]) -> Double { stems.reduce(0) { $0 + original.stems[$1].energy } }
      let there = judged.filter { !lost.contains(original.stems[$0].event.index) && !changes.isCovered($0) }
      let isThere =
        energy(there) >= RecordingResult.leastShare * energy(judged) || Double(there.count) > 0.5 * Double(judged.count)
      cost = changes.changes.reduce(0) { sum, change in
        switch change.kind {
        case .spectrum: sum + 2.5
        case .frequency, .time: sum + 1.2
        default: sum + 1
        }
      }
      let isSupported =
        there.count >= RecordingResult.leastSupport && energy(there) >= RecordingResult.leastShare * energy(judged)
      cost += changes.changes.reduce(0) { $0 + $1.doubt } * (isSupported ? RecordingResult.supportedDoubt : 1)
      if !changes.fit.isUsual || place.stretch != 1 {
        // Of a short pattern, a change of any event is likelier.
        cost += original.duration < RecordingResult.shortDuration ? 1.5 : 0.5
      }
      if place.sign < 0 { cost += 0.1 }
      let isMostlyPlain =
        original.stems.count <= 3 || Double(own.count) <= RecordingResult.greatestShare * Double(original.stems.count)
      let added = changes.changes.filter { $0.kind == .added }.map { pow(10, $0.amount / 20) }.max()
      let isHeard = changes.gain * original.peak >= RecordingResult.leastStrength * (added ?? 0)
      isFound = isThere && isMostlyPlain && isHeard && changes.coherence >= RecordingResult.leastCoherence
    }

    /// The seconds by which several events moved, if they did so together.
    var commonShift: Double? {
      let shifts = changes.changes.filter { $0.kind == .time }.map(\.amount)
      let shift = Samples.median(shifts)
      let together = shifts.filter { abs($0 - shift) < 0.002 }.count
      return together > 1 && 2 * together > shifts.count ? shift : nil
    }

    /// Whether it is found where another is not, or has less to say, or leaves less.
    func isBetter(than other: Explanation?) -> Bool {
      guard let other else { return true }
      guard isFound, other.isFound else { return isFound }
      return cost + misfit < other.cost + other.misfit - 0.02
    }

    /// What is left without a word about it, as a cost.
    private var misfit: Double { 0.5 * log10(max(1, changes.left)) }
  }

  /// A place, and before it the same without another tempo where the reference is too short to show one.
  ///
  /// Else a changed event would make one.
  private static func withAndWithoutTempo(_ place: RecordingSearch.Found) -> [RecordingSearch.Found] {
    let duration = place.fit.reference.duration
    guard !place.fit.isUsual || duration < shortDuration else { return [place] }
    var fixed = place
    // The middle stays where it is.
    fixed.fit.place.delay += place.fit.place.tempo * duration / 2
    fixed.fit.fixTempo()
    if duration >= shortDuration { fixed.fit.freeTempo() }
    return [fixed, place]
  }

  /// The same at another tempo, its pitch kept, where that is likelier.
  private static func stretched(_ found: RecordingSearch.Found, _ search: RecordingSearch) -> RecordingSearch.Found? {
    let factor = 1 + found.fit.place.tempo
    guard let renderer = found.fit.reference.renderer?.stretched(by: factor), let take = renderer.take(),
      let reference = RecordingReference(take, LowRateSignal(of: take.signal.mono, rate: take.signal.rate))
    else { return nil }
    var other = found
    other.fit = RecordingFit(
      reference, take: found.fit.take, place: Placement(delay: found.fit.place.delay, tempo: 0, isResampled: false))
    other.fit.set(lines: found.fit.lines)
    other.fit.whitener = found.fit.whitener
    other.fit.refine()
    other.left = other.fit.solve().left
    guard other.left < found.left else { return nil }
    other = search.settled(other)
    other.stretch = factor
    return other
  }

  private mutating func judge(_ explanation: Explanation, _ low: LowRateSignal) {
    let (place, found) = (explanation.place, explanation.changes)
    guard found.gain > 0 else { return }
    match.judgedCount = explanation.judged.count
    guard explanation.isFound else {
      if explanation.isNoisy { match.outcome = .noisy }
      return
    }
    match.outcome = .found
    changes = found.changes
    let settled = found.fit.place
    match.delay = settled.delay + Double(place.first) / low.rate
    match.tempo = 100 * (place.stretch * (1 + settled.tempo) - 1)
    let error = found.fit.tempoError
    match.tempoError = error < 0.01 ? 100 * error : nil
    match.isInverted = place.sign < 0
    match.level = 20 * log10(found.gain)
    match.mains = place.mains
    match.lines = place.fit.lines
    let z = RecordingThreshold.z
    match.leastDecibels = explanation.judged.map { z * found.errors[$0].decibels }.max().map {
      max($0, RecordingThreshold.decibels)
    }
    match.leastSeconds = explanation.judged.map { z * found.errors[$0].seconds }.max().map {
      max($0, RecordingThreshold.seconds)
    }
  }

  /// Measures noise and hum where the reference is silent.
  private mutating func addNoise(_ recording: Signal, _ found: RecordingSearch.Found) {
    guard match.outcome == .found else { return }
    let rate = recording.rate
    let samples = recording.mono
    let stems = found.fit.reference.stems
    var quiet: [Float] = []
    var end = 0
    let place = found.fit.place
    let offset = Double(found.first) / found.fit.reference.rate
    let spans = (stems + []).map {
      (Int((offset + place.time($0.start) - 0.01) * rate), Int((offset + place.time($0.end) + 0.02) * rate))
    }.sorted { $0.0 < $1.0 }
    let added = changes.filter { $0.kind == .added || $0.kind == .time }.map {
      (Int((match.delay + $0.range.lowerBound - 0.1) * rate), Int((match.delay + $0.range.upperBound + 0.1) * rate))
    }
    for (start, stop) in (spans + added).sorted(by: { $0.0 < $1.0 }) {
      if start > end { quiet += samples[min(end, samples.count)..<min(start, samples.count)] }
      end = max(end, stop)
    }
    if end < samples.count { quiet += samples[max(0, end)...] }
    let hum = found.fit.lines.reduce(0.0) { sum, line in sum + linePower(line, found) }
    var power: Double
    if Double(quiet.count) >= 0.05 * rate {
      power = SignalPair.power(quiet)
    } else {
      // Nothing is quiet: the residual's density up to the low rate's half, over the whole band.
      let solution = found.fit.solve(isWhitened: false)
      power = NoiseSpectrum(of: solution.residual).power * rate / found.fit.reference.rate + hum
    }
    let mean = quiet.isEmpty ? 0 : quiet.reduce(0.0) { $0 + Double($1) } / Double(quiet.count)
    power = max(0, power - mean * mean)
    if hum > AddedSound.leastPower { match.hum = Decibels.of(power: hum) }
    let noise = max(0, power - hum)
    // What hum's estimate is off by is not noise.
    if noise > AddedSound.leastPower, noise > 0.03 * hum { match.noise = Decibels.of(power: noise) }
  }

  private func linePower(_ hertz: Double, _ found: RecordingSearch.Found) -> Double {
    var fit = found.fit
    fit.set(lines: [])
    let residual = fit.solve(isWhitened: false).residual
    return SteadyTones.power(at: hertz, in: residual, rate: fit.reference.rate).power
  }
}
