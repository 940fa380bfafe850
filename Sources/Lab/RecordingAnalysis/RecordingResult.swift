public import HapticRender
internal import CMath
import SignalAnalysis

/// The properties of a recording that contains a reference: its delay, tempo, level, and
/// background.
public struct RecordingMatch: Equatable, Sendable {
  /// The result of the search for the reference.
  public enum Outcome: String, CaseIterable, Sendable {
    /// The recording contains the reference.
    case found
    /// The recording does not contain the reference at any delay.
    case none
    /// The reference cannot be distinguished from the noise.
    case noisy
  }

  /// The result of the search for the reference.
  public var outcome: Outcome
  /// The start of the reference in the recording, in seconds.
  public var delaySeconds = 0.0
  /// The deviation of the tempo, in percent; positive if the recording is slower.
  public var tempoPercent = 0.0
  /// The standard error of the tempo, in percent, or nil if the tempo cannot be measured.
  public var tempoErrorPercent: Double?
  /// The playback and recording chain, or nil if the recording shows the signal itself.
  public var chain: RecordingChain?
  /// A Boolean value that indicates whether the recording's polarity is inverted.
  public var isInverted = false
  /// The level of the recording relative to the reference, in decibels.
  public var levelDecibels = 0.0
  /// The RMS level of the noise, in dBFS, or nil if it is below the resolution of 16 bits.
  public var noiseDecibels: Double?
  /// The frequencies of hum, in hertz.
  public var humFrequencies: [Double] = []
  /// The mains frequency, 50 or 60 Hz, or nil if the hum has no harmonics of it.
  public var mainsFrequency: Double?
  /// The RMS level of the hum, in dBFS, or nil without hum.
  public var humDecibels: Double?
  /// The number of events that exceed the noise enough to be compared.
  public var detectableEventCount = 0
  /// The number of events in the reference.
  public var eventCount = 0
  /// The minimum change of level, in decibels, that is detectable in every detectable event.
  public var minimumDetectableDecibels: Double?
  /// The minimum shift, in seconds, that is detectable in every detectable event.
  public var minimumDetectableSeconds: Double?
  /// The maximum time from the start of the recording to that of the reference, in seconds.
  public var searchSeconds = defaultSearchSeconds

  /// The default of `searchSeconds`.
  public static let defaultSearchSeconds = 11.0
}

/// The best explanation of a recording by a reference: a placement and a list of changes.
///
/// Two kinds of explanation exist. The first assumes that the recording contains the reference's
/// own samples, resampled, scaled, and with noise and hum (`RecordingModelFit`). The second models
/// the playback and recording chain as a linear response (`RecordingModelSelection`). The
/// initializers compute one kind each; `isBetter(than:)` decides between the results.
package struct RecordingResult {
  package private(set) var match: RecordingMatch
  /// All changes that the explanation needs.
  var changes: [RecordingChange] = []
  /// A Boolean value that indicates whether a different tempo leaves the pitch unchanged.
  package private(set) var preservesPitch = false
  /// The cost of the explanation: its changes and its residual. It is infinite if nothing was
  /// found.
  var penalty = Double.infinity
  /// The changes to report.
  package private(set) var reportedChanges: [RecordingChange] = []
  /// A Boolean value that indicates whether single events can be compared.
  package private(set) var isReliable = false
  /// The level of the residual, in decibels relative to the explained signal.
  package private(set) var residualDecibels = 0.0
  /// A Boolean value that indicates whether the recording matches without any change.
  var isUnchanged: Bool { match.outcome == .found && changes.isEmpty }
  /// A Boolean value that indicates whether few, certain changes explain all but noise.
  package var isConclusive: Bool {
    isUnchanged
      || changes.count < 3 && penalty < 1.25 * Double(changes.count) + 0.1 && !isTempoAtLimit
  }
  /// A Boolean value that indicates whether the tempo is at the limit for clocks. Another effect
  /// probably caused such a tempo.
  private var isTempoAtLimit: Bool {
    abs(abs(match.tempoPercent / 100) - RecordingFit.maximumClockDeviation) < 5e-5
  }
  /// Returns whether this result is preferable: it is reliable where the other result is not or has
  /// a much larger residual, or it has a lower penalty.
  package func isBetter(than other: Self) -> Bool {
    isReliable
      && (!other.isReliable || other.isTempoAtLimit
        || other.residualDecibels > residualDecibels + 6)
      || penalty < other.penalty
  }

  /// Explains a recording by the reference's own samples.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  ///   - costLimit: The cost from which explanations are abandoned.
  package init(_ pair: RecordingPair, searchSeconds: Double, costLimit: Double = .infinity) {
    let reference = pair.reference
    let low = pair.lowRateRecording
    match = RecordingMatch(outcome: .none)
    match.searchSeconds = searchSeconds
    match.eventCount = reference.waveforms.count
    guard !reference.waveforms.isEmpty, low.samples.count > Int(0.1 * low.rate) else { return }
    let search = RecordingFitSearch(pair, searchSeconds: searchSeconds, costLimit: costLimit)
    guard let best = search.best, best.gain > 0 else { return }
    preservesPitch = best.fittedPlacement.stretchFactor != 1
    match.detectableEventCount = best.detectableEvents.count
    guard best.isFound else {
      match.outcome = best.detectableEvents.isEmpty ? .noisy : .none
      return
    }
    match.outcome = .found
    penalty = best.penalty
    changes = best.changes
    reportedChanges = best.reportedChanges
    isReliable = best.isReliable
    residualDecibels = 10 * log10(1 / max(best.coherence, 1e-9) - 1 + 1e-9)
    fillMatch(from: best)
    measureBackground(of: pair.recording, at: best.fittedPlacement)
  }

  /// Fills in the properties of the recording from the best explanation.
  private mutating func fillMatch(from modelFit: RecordingModelFit) {
    let placement = modelFit.fittedPlacement
    let fit = modelFit.fit
    match.delaySeconds = fit.placement.delay + placement.startTime
    match.tempoPercent = 100 * (placement.stretchFactor * (1 + fit.placement.tempo) - 1)
    match.tempoErrorPercent = fit.tempoError < 0.01 ? 100 * fit.tempoError : nil
    match.isInverted = placement.polarity < 0
    match.levelDecibels = 20 * log10(modelFit.gain)
    match.mainsFrequency = placement.mainsFrequency
    match.humFrequencies = placement.fit.humFrequencies
    let zScore = RecordingThreshold.zScore
    let detectable = modelFit.detectableEvents
    let minimum = modelFit.minimumChange
    match.minimumDetectableDecibels = detectable.map {
      max(minimum.decibels, zScore * 8.686 / modelFit.signalToNoise[$0])
    }
    .max()
    match.minimumDetectableSeconds = detectable.map {
      max(minimum.seconds, zScore * modelFit.timeErrors[$0])
    }.max()
  }

  /// Measures noise and hum while the reference is silent.
  private mutating func measureBackground(
    of recording: Signal, at fittedPlacement: RecordingSearch.FittedPlacement
  ) {
    let rate = recording.rate
    let samples = recording.mono
    let placement = fittedPlacement.fit.placement
    func frames(_ start: Double, _ end: Double) -> (start: Int, end: Int) {
      (Int(start * rate), Int(end * rate))
    }
    var spans = fittedPlacement.fit.reference.waveforms.map {
      frames(
        fittedPlacement.startTime + placement.recordingTime(at: $0.start) - 0.01,
        fittedPlacement.startTime + placement.recordingTime(at: $0.end) + 0.02)
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
    var humFit = fittedPlacement.fit
    humFit.setHum(frequencies: [])
    let residual = humFit.solve(isWhitened: false).residual
    let hum = fittedPlacement.fit.humFrequencies.reduce(0) {
      $0 + HumDetector.power(at: $1, in: residual, rate: humFit.reference.rate).power
    }
    var power = Statistics.meanSquare(of: quiet)
    if Double(quiet.count) < 0.05 * rate {
      // Without silence, extrapolate the residual's density from the analyzed band to the full
      // band.
      let residual = fittedPlacement.fit.solve(isWhitened: false).residual
      power =
        NoiseSpectralDensity(of: residual).totalPower * rate / fittedPlacement.fit.reference.rate
        + hum
    }
    let mean = quiet.isEmpty ? 0 : quiet.reduce(0.0) { $0 + Double($1) } / Double(quiet.count)
    power = max(0, power - mean * mean)
    if hum > RecordingThreshold.backgroundPower {
      match.humDecibels = Decibels.of(power: hum)
    }
    let noise = max(0, power - hum)
    // Errors of the hum estimate are not noise.
    if noise > RecordingThreshold.backgroundPower, noise > 0.03 * hum {
      match.noiseDecibels = Decibels.of(power: noise)
    }
  }
}

extension RecordingResult {
  /// The maximum residuals, in decibels relative to the recording. Above `found`, the recording
  /// does not contain the pattern; above `changed`, not with two or more changes. Above `reliable`,
  /// events are not compared; above `exact`, neither large nor several changes are reported.
  private static let maximumResidual = (found: -5.0, changed: -12.0, reliable: -8.0, exact: -19.0)
  /// The level change, in decibels, from which a change is large.
  private static let maximumLevelChange = 6.0
  /// The cost of assuming a response, and of assuming an automatic gain control in addition.
  private static let assumptionCosts = (response: 0.6, gain: 0.6)

  /// Explains a recording by a model of the playback and recording chain, or returns nil if the
  /// residual is too large.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  package init?(modelingChainOf pair: RecordingPair, searchSeconds: Double) {
    guard let selection = RecordingModelSelection(pair, searchSeconds: searchSeconds),
      let best = selection.best,
      best.residualDecibels
        < (best.changes.count < 2 ? Self.maximumResidual.found : Self.maximumResidual.changed)
    else { return nil }
    match = RecordingMatch(outcome: .found)
    match.searchSeconds = searchSeconds
    match.delaySeconds = Double(best.delay) / selection.reference.rate
    match.tempoPercent = 100 * best.tempo
    match.levelDecibels = selection.level(of: best)
    match.chain = RecordingChain(best, profile: pair.pattern.profile.hardware?.model)
    match.eventCount = selection.reference.waveforms.count
    match.detectableEventCount = selection.reference.waveforms.count
    changes = selection.changes(of: best)
    penalty =
      Self.assumptionCosts.response + (best.automaticGain == nil ? 0 : Self.assumptionCosts.gain)
      + Double(changes.count)
    residualDecibels = best.residualDecibels
    // A response of another kind looks like several changes or a large one, unless the residual is
    // small.
    let hasOneSmallChange =
      changes.count < 2
      && changes.allSatisfy { $0.kind != .level || abs($0.amount) < Self.maximumLevelChange }
    let isExact = best.automaticGain == nil && best.residualDecibels < Self.maximumResidual.exact
    isReliable =
      best.residualDecibels < Self.maximumResidual.reliable
      && (hasOneSmallChange
        || isExact && changes.count < min(3, selection.reference.waveforms.count))
    reportedChanges = isReliable ? changes : []
    let detectable = RecordingModelSelection.minimumChange
    let undetectable = RecordingThreshold.undetectableChange
    match.minimumDetectableDecibels = isReliable ? detectable.decibels : undetectable.decibels
    match.minimumDetectableSeconds = isReliable ? detectable.seconds : undetectable.seconds
    let mono = pair.recording.mono
    let rate = pair.recording.rate
    let end =
      match.delaySeconds + selection.reference.duration + RecordingModelSelection.margin.after
    let before = mono.prefix(max(0, Int((match.delaySeconds - 0.05) * rate)))
    let quiet = before + mono.dropFirst(max(0, Int(end * rate)))
    guard Double(quiet.count) > 0.05 * rate else { return }
    let power = Statistics.variance(of: quiet)
    if power > RecordingThreshold.backgroundPower {
      match.noiseDecibels = Decibels.of(power: power)
    }
  }
}

/// A model of the playback and recording chain: a resonance, a filter, or a room, and optionally an
/// automatic gain control.
public struct RecordingChain: Equatable, Sendable {
  /// The resonance frequency and quality, or nil without a resonance.
  public let model: TransducerModel?
  /// A Boolean value that indicates whether the resonance is that of the profile's transducer. The
  /// recording then shows the transducer's acceleration.
  public let matchesProfile: Bool
  /// A Boolean value that indicates whether the response is not a resonance, as of a room or a
  /// microphone.
  public var isFiltered: Bool { model == nil }
  /// A Boolean value that indicates whether the chain contains an automatic gain control.
  public let hasAutomaticGain: Bool
  /// A Boolean value that indicates whether the response is that of a room.
  package let isRoom: Bool

  /// The maximum ratios of resonance frequencies and of qualities that count as equal.
  private static let profileTolerance = (hertz: 1.04, quality: 1.25)

  init(_ recordingModel: RecordingModel, profile: TransducerModel?) {
    hasAutomaticGain = recordingModel.automaticGain != nil
    isRoom = recordingModel.response.kind.withoutParameters == .anyRoom
    guard case .resonance(let modes) = recordingModel.response.kind, let mode = modes.first else {
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
}
