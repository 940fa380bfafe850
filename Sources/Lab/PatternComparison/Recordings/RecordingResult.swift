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
  public var delaySeconds = 0.0
  /// Percent that the recording is slower.
  public var tempoPercent = 0.0
  /// The standard error of the tempo, in percent; nil where it cannot be measured.
  public var tempoErrorPercent: Double?
  /// The resonance through which the recording was made; nil where none explains more.
  public var chain: RecordingChain?
  /// Whether the recording's polarity is inverted.
  public var isInverted = false
  /// The level of the recording relative to the reference, in decibels.
  public var levelDecibels = 0.0
  /// The RMS level of the noise, in dBFS; nil where there is none above the resolution of 16 bits.
  public var noiseDecibels: Double?
  /// Hertz of the lines of hum.
  public var humFrequencies: [Double] = []
  /// The base of the mains, 50 or 60 Hz, where the lines are its multiples.
  public var mainsFrequency: Double?
  /// The RMS level of the hum, in dBFS; nil where there is none.
  public var humDecibels: Double?
  /// How many events stand out of the noise enough to be judged.
  public var detectableEventCount = 0
  /// How many events there are.
  public var eventCount = 0
  /// The least change of level, in decibels, that can be detected in every judged event.
  public var minimumDetectableDecibels: Double?
  /// The least shift, in seconds, that can be detected in every judged event.
  public var minimumDetectableSeconds: Double?
  /// Seconds from the recording's start to where the reference was searched at most.
  public var searchSeconds = ComparisonOptions.defaultSearchSeconds
}

struct RecordingResult {
  var match: RecordingMatch
  var changes: [RecordingChange] = []
  /// Whether another tempo has its pitch kept.
  var preservesPitch = false
  /// What there is to say and what is left, as a cost; infinite where nothing was found.
  var penalty = Double.infinity
  /// The changes that are reported, and whether single events can be judged.
  private(set) var reportedChanges: [RecordingChange] = []
  private(set) var isReliable = false
  /// The level of what is left, in decibels relative to what is explained.
  private(set) var residualDecibels = 0.0
  /// Whether it was found with nothing to say of it.
  var isUnchanged: Bool { match.outcome == .found && changes.isEmpty }
  /// Whether it leaves nothing but noise, and little is said of it, without doubt.
  var isConclusive: Bool {
    isUnchanged
      || changes.count < 3 && penalty < 1.25 * Double(changes.count) + 0.1 && !isTempoAtLimit
  }
  /// A tempo at the limit of usual clocks is what something else made of it.
  private var isTempoAtLimit: Bool {
    abs(abs(match.tempoPercent / 100) - RecordingFit.maximumClockDeviation) < 5e-5
  }
  /// Whether it is judged where another is not or leaves much more, or has less to say.
  func isBetter(than other: Self) -> Bool {
    isReliable
      && (!other.isReliable || other.isTempoAtLimit
        || other.residualDecibels > residualDecibels + 6)
      || penalty < other.penalty
  }

  init(_ sides: RecordingPair, searchSeconds search: Double, costLimit limit: Double = .infinity) {
    let reference = sides.reference
    let low = sides.lowRateRecording
    match = RecordingMatch(outcome: .none)
    match.searchSeconds = search
    match.eventCount = reference.waveforms.count
    guard !reference.waveforms.isEmpty, low.samples.count > Int(0.1 * low.rate) else { return }
    var best: RecordingModelFit?
    func consider(_ explanation: RecordingModelFit) {
      if explanation.isBetter(than: best) {
        best = explanation
      }
    }
    let finder = RecordingSearch(reference: reference, recording: low.samples)
    let alignment = RecordingAlignment(reference, low.samples, search: search)
    let places = finder.placements(in: alignment)
    var least: Double { best.map { $0.isFound ? min(limit, $0.penalty) : limit } ?? limit }
    for place in places.flatMap(\.tempoAlternatives) {
      let explanation = RecordingModelFit(place, original: reference, limit: least)
      if let shift = explanation.commonTimeShift {
        // What most events have in common is the place; another event moved.
        var shifted = place
        shifted.fit.placement.delay += shift
        consider(RecordingModelFit(shifted, original: reference, limit: least))
      }
      consider(explanation)
      // What needs no explanation is the truth.
      if explanation.isFound, explanation.changes.isEmpty { break }
    }
    if best?.isFound != true || best?.cost ?? 0 > 1.3 {
      // Where the event that most of the sound is changed, nothing else holds the place.
      var hypotheses = ChangedEventSearch(reference, alignment)
      for hypothesis in hypotheses.bestHypotheses() {
        var stems = reference.waveforms
        stems[hypothesis.waveformIndex] = hypothesis.waveform
        let variant = RecordingReference(
          waveforms: stems, rate: reference.rate, renderer: reference.renderer)
        let search = RecordingSearch(reference: variant, recording: low.samples)
        guard let place = search.fittedPlacement(for: hypothesis.candidate)?.tempoAlternatives.first
        else {
          continue
        }
        consider(
          RecordingModelFit(place, original: reference, hypothesis: hypothesis, limit: least))
      }
    }
    guard let best, best.gain > 0 else { return }
    preservesPitch = best.fittedPlacement.stretchFactor != 1
    match.detectableEventCount = best.detectableEvents.count
    match.outcome = best.isFound ? .found : best.detectableEvents.isEmpty ? .noisy : .none
    guard best.isFound else { return }
    penalty = best.penalty
    changes = best.changes
    reportedChanges = best.reportedChanges
    isReliable = best.isReliable
    residualDecibels = 10 * log10(1 / max(best.coherence, 1e-9) - 1 + 1e-9)
    fillMatch(from: best)
    measureBackground(of: sides.recording.signal, at: best.fittedPlacement)
  }

  private mutating func fillMatch(from explanation: RecordingModelFit) {
    let found = explanation.fittedPlacement
    let fit = explanation.fit
    match.delaySeconds = fit.placement.delay + found.startTime
    match.tempoPercent = 100 * (found.stretchFactor * (1 + fit.placement.tempo) - 1)
    match.tempoErrorPercent = fit.tempoError < 0.01 ? 100 * fit.tempoError : nil
    match.isInverted = found.polarity < 0
    match.levelDecibels = 20 * log10(explanation.gain)
    match.mainsFrequency = found.mainsFrequency
    match.humFrequencies = found.fit.humFrequencies
    let z = RecordingThreshold.zScore
    let judged = explanation.detectableEvents
    let least = explanation.minimumChange
    match.minimumDetectableDecibels = judged.map {
      max(least.decibels, z * 8.686 / explanation.signalToNoise[$0])
    }
    .max()
    match.minimumDetectableSeconds = judged.map {
      max(least.seconds, z * explanation.timeErrors[$0])
    }.max()
  }

  /// Measures noise and hum where the reference is silent.
  private mutating func measureBackground(
    of recording: Signal, at found: RecordingSearch.FittedPlacement
  ) {
    let rate = recording.rate
    let samples = recording.mono
    let place = found.fit.placement
    func frames(_ start: Double, _ end: Double) -> (start: Int, end: Int) {
      (Int(start * rate), Int(end * rate))
    }
    var spans = found.fit.reference.waveforms.map {
      frames(
        found.startTime + place.recordingTime(at: $0.start) - 0.01,
        found.startTime + place.recordingTime(at: $0.end) + 0.02)
    }
    spans += changes.filter { $0.kind == .added || $0.kind == .time }.map {
      frames(
        match.delaySeconds + $0.range.lowerBound - 0.1,
        match.delaySeconds + $0.range.upperBound + 0.1)
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
    bare.setHum(frequencies: [])
    let residual = bare.solve(isWhitened: false).residual
    let hum = found.fit.humFrequencies.reduce(0) {
      $0 + HumDetector.power(at: $1, in: residual, rate: bare.reference.rate).power
    }
    var power = SignalPair.power(quiet)
    if Double(quiet.count) < 0.05 * rate {
      // Nothing is quiet: the residual's density up to the low rate's half, over the whole band.
      let residual = found.fit.solve(isWhitened: false).residual
      power = NoiseSpectralDensity(of: residual).power * rate / found.fit.reference.rate + hum
    }
    let mean = quiet.isEmpty ? 0 : quiet.reduce(0.0) { $0 + Double($1) } / Double(quiet.count)
    power = max(0, power - mean * mean)
    if hum > BackgroundSound.minimumPower {
      match.humDecibels = Decibels.of(power: hum)
    }
    let noise = max(0, power - hum)
    // What hum's estimate is off by is not noise.
    if noise > BackgroundSound.minimumPower, noise > 0.03 * hum {
      match.noiseDecibels = Decibels.of(power: noise)
    }
  }
}

extension RecordingResult {
  /// Decibels of what is left of a recording from which a pattern is not found in it, alone or with
  /// several changes, events are not judged, and great changes are not told.
  private static let maximumResidual = (found: -5.0, changed: -12.0, judged: -8.0, great: -19.0)
  /// Decibels by which a level changes greatly.
  private static let maximumLevelChange = 6.0
  /// What it costs to suppose that a recording was made through something, and through a gain
  /// besides.
  private static let assumptionCosts = (response: 0.6, gain: 0.6)

  /// A recording that was made through something; nil where that explains too little of it.
  init?(modelingChainOf sides: RecordingPair, searchSeconds search: Double) {
    guard let judge = RecordingModelSelection(sides, search: search), let best = judge.best,
      best.residualDecibels
        < (best.changes.count < 2 ? Self.maximumResidual.found : Self.maximumResidual.changed)
    else { return nil }
    match = RecordingMatch(outcome: .found)
    match.searchSeconds = search
    match.delaySeconds = Double(best.delay) / judge.reference.rate
    match.tempoPercent = 100 * best.tempo
    match.levelDecibels = judge.level(of: best)
    match.chain = RecordingChain(best, profile: sides.pattern.profile.hardware?.model)
    match.eventCount = judge.reference.waveforms.count
    match.detectableEventCount = judge.reference.waveforms.count
    changes = judge.changes(of: best)
    penalty =
      Self.assumptionCosts.response + (best.automaticGain == nil ? 0 : Self.assumptionCosts.gain)
      + Double(changes.count)
    residualDecibels = best.residualDecibels
    // A great change and several ones are what a response of another kind makes, but where little
    // is left.
    let isPlain =
      changes.count < 2
      && changes.allSatisfy { $0.kind != .level || abs($0.amount) < Self.maximumLevelChange }
    let isExact = best.automaticGain == nil && best.residualDecibels < Self.maximumResidual.great
    isReliable =
      best.residualDecibels < Self.maximumResidual.judged
      && (isPlain || isExact && changes.count < min(3, judge.reference.waveforms.count))
    reportedChanges = isReliable ? changes : []
    let heard = RecordingModelSelection.minimumChange
    let hidden = RecordingThreshold.undetectableChange
    (match.minimumDetectableDecibels, match.minimumDetectableSeconds) =
      isReliable ? (heard.decibels, heard.seconds) : (hidden.decibels, hidden.seconds)
    let mono = sides.recording.signal.mono
    let rate = sides.recording.signal.rate
    let end = match.delaySeconds + judge.reference.duration + RecordingModelSelection.margin.behind
    let quiet =
      mono.prefix(max(0, Int((match.delaySeconds - 0.05) * rate)))
      + mono.dropFirst(max(0, Int(end * rate)))
    guard Double(quiet.count) > 0.05 * rate else { return }
    let power = SignalPair.variance(of: quiet)
    if power > BackgroundSound.minimumPower {
      match.noiseDecibels = Decibels.of(power: power)
    }
  }
}

/// What stands between what drives a transducer and what was recorded of it: a resonance, a filter,
/// a room, a gain.
public struct RecordingChain: Equatable, Sendable {
  /// Resonance in hertz and quality; nil where there is none.
  public let model: TransducerModel?
  /// Whether it is that of the profile, whose acceleration the recording shows then.
  public let matchesProfile: Bool
  /// Whether sounds go through something else than a resonance, such as a room or a microphone.
  public var isFiltered: Bool { model == nil }
  /// Whether the level follows the sound.
  public let hasAutomaticGain: Bool
  private let isRoom: Bool

  /// By how much a resonance and a quality differ at most from those of a profile that are meant,
  /// as ratios.
  private static let profileTolerance = (hertz: 1.04, quality: 1.25)

  init(_ branch: RecordingModelSelection.RecordingModel, profile: TransducerModel?) {
    hasAutomaticGain = branch.automaticGain != nil
    isRoom = branch.response.kind.withoutParameters == .anyRoom
    guard case .resonance(let modes) = branch.response.kind, let mode = modes.first else {
      model = nil
      matchesProfile = false
      return
    }
    model = TransducerModel(resonance: mode.hertz, qualityFactor: mode.quality)
    func isNear(_ a: Double, _ b: Double, _ ratio: Double) -> Bool {
      a < b * ratio && b < a * ratio
    }
    matchesProfile =
      isNear(profile?.resonance ?? 0, mode.hertz, Self.profileTolerance.hertz)
      && isNear(profile?.qualityFactor ?? 0, mode.quality, Self.profileTolerance.quality)
  }

  /// What it is like: a resonance that does not ring is a high-pass, of the first order where its
  /// poles are far apart.
  var summary: String {
    (model.map(Self.summary) ?? (isRoom ? "a room" : "a filter"))
      + (hasAutomaticGain ? " and automatic gain" : "")
  }

  private static func summary(of model: TransducerModel) -> String {
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
    json.numberOrNull("hertz", model?.resonance)
    json.numberOrNull("qualityFactor", model?.qualityFactor)
    json.member("isProfile", matchesProfile)
    json.member("isFiltered", isFiltered)
    json.member("hasAutomaticGain", hasAutomaticGain)
  }
}
