public import HapticRender
internal import CMath
internal import Reading
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
  /// The resonance through which the recording was made; nil where none explains more.
  public var medium: RecordingMedium?
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
  /// What there is to say and what is left, as a cost; infinite where nothing was found.
  var doubt = Double.infinity
  /// The changes that are reported, and whether single events can be judged.
  private(set) var told: [RecordingChange] = []
  private(set) var isJudged = false
  /// The level of what is left, in decibels relative to what is explained.
  private(set) var unexplained = 0.0
  /// Whether it was found with nothing to say of it.
  var isClean: Bool { match.outcome == .found && changes.isEmpty }
  /// Whether it leaves nothing but noise, and little is said of it, without doubt.
  var isClear: Bool {
    isClean || changes.count < 3 && doubt < 1.25 * Double(changes.count) + 0.1 && !isAtLimit
  }
  /// A tempo at the limit of usual clocks is what something else made of it.
  private var isAtLimit: Bool { abs(abs(match.tempo / 100) - RecordingFit.usualTempo) < 5e-5 }
  /// Whether it is judged where another is not or leaves much more, or has less to say.
  func isBetter(than other: Self) -> Bool {
    isJudged && (!other.isJudged || other.isAtLimit || other.unexplained > unexplained + 6)
      || doubt < other.doubt
  }

  init(_ sides: RecordingSides, search: Double, limit: Double = .infinity) {
    let reference = sides.reference
    let low = sides.recorded
    match = RecordingMatch(outcome: .none)
    match.search = search
    match.eventCount = reference.stems.count
    guard !reference.stems.isEmpty, low.samples.count > Int(0.1 * low.rate) else { return }
    var best: RecordingExplanation?
    func consider(_ explanation: RecordingExplanation) {
      if explanation.isBetter(than: best) {
        best = explanation
      }
    }
    let finder = RecordingSearch(reference: reference, recording: low.samples)
    let alignment = RecordingAlignment(reference, low.samples, search: search)
    let places = finder.places(in: alignment)
    var least: Double { best.map { $0.isFound ? min(limit, $0.doubt) : limit } ?? limit }
    for place in places.flatMap(\.withAndWithoutTempo) {
      let explanation = RecordingExplanation(place, original: reference, limit: least)
      if let shift = explanation.commonShift {
        // What most events have in common is the place; another event moved.
        var shifted = place
        shifted.fit.place.delay += shift
        consider(RecordingExplanation(shifted, original: reference, limit: least))
      }
      consider(explanation)
      // What needs no explanation is the truth.
      if explanation.isFound, explanation.changes.isEmpty { break }
    }
    if best?.isFound != true || best?.cost ?? 0 > 1.3 {
      // Where the event that most of the sound is changed, nothing else holds the place.
      var hypotheses = RecordingHypotheses(reference, alignment)
      for hypothesis in hypotheses.best() {
        var stems = reference.stems
        stems[hypothesis.index] = hypothesis.stem
        let variant = RecordingReference(
          stems: stems, rate: reference.rate, renderer: reference.renderer)
        let search = RecordingSearch(reference: variant, recording: low.samples)
        guard let place = search.fitted(hypothesis.place)?.withAndWithoutTempo.first else {
          continue
        }
        consider(
          RecordingExplanation(place, original: reference, hypothesis: hypothesis, limit: least))
      }
    }
    guard let best, best.gain > 0 else { return }
    isPitchKept = best.place.stretch != 1
    match.judgedCount = best.judged.count
    match.outcome = best.isFound ? .found : best.judged.isEmpty ? .noisy : .none
    guard best.isFound else { return }
    doubt = best.doubt
    changes = best.changes
    told = best.told
    isJudged = best.isJudged
    unexplained = 10 * log10(1 / max(best.coherence, 1e-9) - 1 + 1e-9)
    describe(best)
    addNoise(sides.recording.signal, best.place)
  }

  private mutating func describe(_ explanation: RecordingExplanation) {
    let found = explanation.place
    let fit = explanation.fit
    match.delay = fit.place.delay + found.offset
    match.tempo = 100 * (found.stretch * (1 + fit.place.tempo) - 1)
    match.tempoError = fit.tempoError < 0.01 ? 100 * fit.tempoError : nil
    match.isInverted = found.sign < 0
    match.level = 20 * log10(explanation.gain)
    match.mains = found.mains
    match.lines = found.fit.lines
    let z = RecordingThreshold.z
    let judged = explanation.judged
    let least = explanation.least
    match.leastDecibels = judged.map { max(least.decibels, z * 8.686 / explanation.clarity[$0]) }
      .max()
    match.leastSeconds = judged.map { max(least.seconds, z * explanation.timeErrors[$0]) }.max()
  }

  /// Measures noise and hum where the reference is silent.
  private mutating func addNoise(_ recording: Signal, _ found: RecordingSearch.Found) {
    let rate = recording.rate
    let samples = recording.mono
    let place = found.fit.place
    func frames(_ start: Double, _ end: Double) -> (start: Int, end: Int) {
      (Int(start * rate), Int(end * rate))
    }
    var spans = found.fit.reference.stems.map {
      frames(found.offset + place.time($0.start) - 0.01, found.offset + place.time($0.end) + 0.02)
    }
    spans += changes.filter { $0.kind == .added || $0.kind == .time }.map {
      frames(match.delay + $0.range.lowerBound - 0.1, match.delay + $0.range.upperBound + 0.1)
    }
    var quiet = [Float]()
    var end = 0
    for span in spans.sorted(by: { $0.start < $1.start }) {
      if span.start > end {
        quiet += samples[min(end, samples.count)..<min(span.start, samples.count)]
      }
      end = max(end, span.end)
    }
    quiet += samples[min(end, samples.count)...]
    var bare = found.fit
    bare.set(lines: [])
    let residual = bare.solve(isWhitened: false).residual
    let hum = found.fit.lines.reduce(0) {
      $0 + SteadyTones.power(at: $1, in: residual, rate: bare.reference.rate).power
    }
    var power = SignalPair.power(quiet)
    if Double(quiet.count) < 0.05 * rate {
      // Nothing is quiet: the residual's density up to the low rate's half, over the whole band.
      let residual = found.fit.solve(isWhitened: false).residual
      power = NoiseSpectrum(of: residual).power * rate / found.fit.reference.rate + hum
    }
    let mean = quiet.isEmpty ? 0 : quiet.reduce(0.0) { $0 + Double($1) } / Double(quiet.count)
    power = max(0, power - mean * mean)
    if hum > AddedSound.leastPower {
      match.hum = Decibels.of(power: hum)
    }
    let noise = max(0, power - hum)
    // What hum's estimate is off by is not noise.
    if noise > AddedSound.leastPower, noise > 0.03 * hum {
      match.noise = Decibels.of(power: noise)
    }
  }
}

extension RecordingResult {
  /// Decibels of what is left of a recording from which a pattern is not found in it, alone or with
  /// several changes, events are not judged, and great changes are not told.
  private static let greatestLeft = (found: -5.0, changed: -12.0, judged: -8.0, great: -19.0)
  /// Decibels by which a level changes greatly.
  private static let greatestLevel = 6.0
  /// What it costs to suppose that a recording was made through something, and through a gain
  /// besides.
  private static let prices = (response: 0.6, gain: 0.6)

  /// A recording that was made through something; nil where that explains too little of it.
  init?(behindHardware sides: RecordingSides, search: Double) {
    guard let judge = RecordingJudge(sides, search: search), let best = judge.best,
      best.left < (best.changes.count < 2 ? Self.greatestLeft.found : Self.greatestLeft.changed)
    else { return nil }
    match = RecordingMatch(outcome: .found)
    match.search = search
    match.delay = Double(best.delay) / judge.reference.rate
    match.tempo = 100 * best.tempo
    match.level = judge.level(of: best)
    match.medium = RecordingMedium(best, profile: sides.pattern.profile.hardware?.model)
    match.eventCount = judge.reference.stems.count
    match.judgedCount = judge.reference.stems.count
    changes = judge.changes(of: best)
    doubt = Self.prices.response + (best.gain == nil ? 0 : Self.prices.gain) + Double(changes.count)
    unexplained = best.left
    // A great change and several ones are what a response of another kind makes, but where little
    // is left.
    let isPlain =
      changes.count < 2
      && changes.allSatisfy { $0.kind != .level || abs($0.amount) < Self.greatestLevel }
    let isExact = best.gain == nil && best.left < Self.greatestLeft.great
    isJudged =
      best.left < Self.greatestLeft.judged
      && (isPlain || isExact && changes.count < min(3, judge.reference.stems.count))
    told = isJudged ? changes : []
    let heard = RecordingJudge.least
    let hidden = RecordingThreshold.hidden
    (match.leastDecibels, match.leastSeconds) =
      isJudged ? (heard.decibels, heard.seconds) : (hidden.decibels, hidden.seconds)
    let mono = sides.recording.signal.mono
    let rate = sides.recording.signal.rate
    let end = match.delay + judge.reference.duration + RecordingJudge.margin.behind
    let quiet =
      mono.prefix(max(0, Int((match.delay - 0.05) * rate)))
      + mono.dropFirst(max(0, Int(end * rate)))
    guard Double(quiet.count) > 0.05 * rate else { return }
    let power = SignalPair.powerWithoutOffset(quiet)
    if power > AddedSound.leastPower {
      match.noise = Decibels.of(power: power)
    }
  }
}

/// What stands between what drives a transducer and what was recorded of it: a resonance, a filter,
/// a room, a gain.
public struct RecordingMedium: Equatable, Sendable {
  /// Resonance in hertz and quality; nil where there is none.
  public let model: TransducerModel?
  /// Whether it is that of the profile, whose acceleration the recording shows then.
  public let isKnown: Bool
  /// Whether sounds go through something else than a resonance, such as a room or a microphone.
  public var isFiltered: Bool { model == nil }
  /// Whether the level follows the sound.
  public let hasAutomaticGain: Bool
  private let isRoom: Bool

  /// By how much a resonance and a quality differ at most from those of a profile that are meant,
  /// as ratios.
  private static let sameness = (hertz: 1.04, quality: 1.25)

  init(_ branch: RecordingJudge.Branch, profile: TransducerModel?) {
    hasAutomaticGain = branch.gain != nil
    isRoom = branch.response.kind.any == .anyRoom
    guard case .resonance(let modes) = branch.response.kind, let mode = modes.first else {
      model = nil
      isKnown = false
      return
    }
    model = TransducerModel(resonance: mode.hertz, qualityFactor: mode.quality)
    func isNear(_ a: Double, _ b: Double, _ ratio: Double) -> Bool {
      a < b * ratio && b < a * ratio
    }
    isKnown =
      isNear(profile?.resonance ?? 0, mode.hertz, Self.sameness.hertz)
      && isNear(profile?.qualityFactor ?? 0, mode.quality, Self.sameness.quality)
  }

  /// What it is like: a resonance that does not ring is a high-pass, of the first order where its
  /// poles are far apart.
  var text: String {
    (model.map(Self.text) ?? (isRoom ? "a room" : "a filter"))
      + (hasAutomaticGain ? " and automatic gain" : "")
  }

  private static func text(_ model: TransducerModel) -> String {
    let resonance = model.resonance
    let quality = model.qualityFactor
    func hertz(_ value: Double) -> String { SentenceFormatting.number(value, places: 0) + " Hz" }
    // Where nothing rings, two digits are as much as is known.
    let cut = quality < 0.4 ? resonance / quality : resonance
    return quality < 1
      ? "a high-pass at about " + hertz((cut / 10).rounded() * 10)
      : "a resonance at \(hertz(resonance)), Q \(SentenceFormatting.number(quality, places: 1))"
  }

  func write(to json: inout JSONObjectWriter) {
    json.number("hertz", model?.resonance)
    json.number("qualityFactor", model?.qualityFactor)
    json.member("isProfile", isKnown)
    json.member("isFiltered", isFiltered)
    json.member("hasAutomaticGain", hasAutomaticGain)
  }
}
