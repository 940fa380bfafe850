public import HapticRender
internal import CMath
import SignalAnalysis

/// The properties of a recording that contains a reference.
///
/// They are the delay, the tempo, the level, and the background.
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
  /// The tempo deviation, in percent; positive if the recording is slower.
  public var tempoPercent = 0.0
  /// The standard error of the tempo, in percent, or nil if the tempo cannot be measured.
  public var tempoErrorPercent: Double?
  /// The playback and recording chain, or nil if the recording shows the signal itself.
  public var playbackAndRecordingChain: RecordingChain?
  /// A Boolean value that indicates whether the recording's polarity is inverted.
  public var isInverted = false
  /// The level of the recording relative to the reference, in decibels.
  public var levelDecibels = 0.0
  /// The RMS level of the noise, in dBFS, or nil if it is below the resolution of 16 bits.
  public var noiseDecibels: Double?
  /// The frequencies of hum, in hertz.
  public var humHertz: [Double] = []
  /// The mains frequency, 50 or 60 Hz, or nil if the hum has no harmonics of it.
  public var mainsHertz: Double?
  /// The RMS level of the hum, in dBFS, or nil without hum.
  public var humDecibels: Double?
  /// The number of events that can be compared.
  ///
  /// Noise, the residual, or a noise suppressor may hide the other events.
  public var detectableEventCount = 0
  /// The number of events in the reference.
  public var eventCount = 0
  /// The minimum level change, in decibels, that is detectable in every detectable event.
  public var minimumDetectableDecibels: Double?
  /// The minimum shift, in seconds, that is detectable in every detectable event.
  public var minimumDetectableSeconds: Double?
  /// The maximum start time of the reference in the recording, in seconds.
  public var searchSeconds = defaultSearchSeconds

  /// The default value of `searchSeconds`, in seconds.
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
  /// The changes that the explanation requires, reported or not.
  var changes: [RecordingChange] = []
  /// A Boolean value that indicates whether a different tempo leaves the pitch unchanged.
  package private(set) var preservesPitch = false
  /// The cost of the explanation: its changes and its residual.
  ///
  /// It is infinite if nothing was found.
  var explanationCost = Double.infinity
  /// The changes that are clear enough to be reported.
  package private(set) var reportedChanges: [RecordingChange] = []
  /// A Boolean value that indicates whether single events can be compared.
  package private(set) var allowsEventComparison = false
  /// The level of the residual, in decibels relative to the explained signal.
  package private(set) var residualDecibels = 0.0
  /// A Boolean value that indicates whether the recording matches the reference without changes.
  var isUnchanged: Bool { match.outcome == .found && changes.isEmpty }
  /// A Boolean value that indicates whether at most two clear changes explain all but noise.
  package var hasOnlyCertainChanges: Bool {
    isUnchanged && allowsEventComparison
      || changes.count < 3 && explanationCost < 1.25 * Double(changes.count) + 0.1
        && !isTempoAtClockLimit
  }
  /// A Boolean value that indicates whether the tempo deviation is at the limit for two clocks.
  ///
  /// Something other than clock drift probably caused such a deviation.
  private var isTempoAtClockLimit: Bool {
    abs(abs(match.tempoPercent / 100) - RecordingFit.maximumClockTempoDeviation) < 5e-5
  }
  /// The minimum improvement of the residual, in decibels, for which a result with event comparison
  /// is preferable.
  private static let minimumReliableImprovementDecibels = 6.0
  /// The minimum improvement of the residual, in decibels, for which a result is preferable to one
  /// with a different waveform.
  private static let minimumWaveformImprovementDecibels = 10.0
  /// Returns true if this result is preferable to another result.
  ///
  /// It is preferable if it has a lower cost, or if its events can be compared and the other result
  /// is less reliable. It is also preferable, even without event comparison, if the other result
  /// contains a different waveform and has a much larger residual: an unknown response is then more
  /// likely than a different waveform.
  package func isBetter(than other: Self) -> Bool {
    let residualImprovementDecibels = other.residualDecibels - residualDecibels
    let isReliable =
      allowsEventComparison
      && (!other.allowsEventComparison || other.isTempoAtClockLimit
        || residualImprovementDecibels > Self.minimumReliableImprovementDecibels)
    let isDifferentWaveformUnlikely =
      other.changes.contains { $0.kind == .spectrum }
      && residualImprovementDecibels > Self.minimumWaveformImprovementDecibels
    return isReliable || isDifferentWaveformUnlikely || explanationCost < other.explanationCost
  }

  /// Explains a recording as a copy of the reference's samples.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  ///   - costLimit: The cost from which explanations are abandoned.
  package init(_ pair: RecordingPair, searchSeconds: Double, costLimit: Double = .infinity) {
    let reference = pair.reference
    let lowRateRecording = pair.lowRateRecording
    match = RecordingMatch(outcome: .none)
    match.searchSeconds = searchSeconds
    match.eventCount = reference.waveforms.count
    guard !reference.waveforms.isEmpty,
      lowRateRecording.samples.count > Int(0.1 * lowRateRecording.decimatedRate)
    else {
      return
    }
    guard
      let bestFit = RecordingFitSearch.bestFit(
        pair, searchSeconds: searchSeconds, costLimit: costLimit),
      bestFit.commonGain > 0
    else { return }
    preservesPitch = bestFit.fittedPlacement.pitchPreservingStretch != 1
    match.detectableEventCount = bestFit.detectableWaveformIndices.count
    guard bestFit.containsReference else {
      match.outcome = bestFit.detectableWaveformIndices.isEmpty ? .noisy : .none
      return
    }
    match.outcome = .found
    explanationCost = bestFit.explanationPenalty
    changes = bestFit.changes
    reportedChanges = bestFit.reportedChanges
    allowsEventComparison = bestFit.allowsEventComparison
    residualDecibels = 10 * log10(1 / max(bestFit.coherence, 1e-9) - 1 + 1e-9)
    fillMatch(from: bestFit)
    measureBackground(of: pair.recording, at: bestFit.fittedPlacement)
  }

  /// Fills in the properties of the recording from the best explanation.
  private mutating func fillMatch(from modelFit: RecordingModelFit) {
    let fittedPlacement = modelFit.fittedPlacement
    let fit = modelFit.fit
    match.delaySeconds = fit.placement.delaySeconds + fittedPlacement.excerptStartSeconds
    match.tempoPercent =
      100 * (fittedPlacement.pitchPreservingStretch * (1 + fit.placement.tempoDeviation) - 1)
    match.tempoErrorPercent = fit.tempoStandardError < 0.01 ? 100 * fit.tempoStandardError : nil
    match.isInverted = fittedPlacement.polaritySign < 0
    match.playbackAndRecordingChain = modelFit.undoneProcessor == .compressor ? .compressor : nil
    match.levelDecibels = 20 * log10(modelFit.commonGain)
    match.mainsHertz = fittedPlacement.mainsHertz
    match.humHertz = fittedPlacement.fit.humHertz
    let zScore = RecordingThreshold.minimumZScore
    let detectableIndices = modelFit.comparableWaveformIndices
    match.detectableEventCount = detectableIndices.count
    let minimumChange = modelFit.minimumReportedChange
    match.minimumDetectableDecibels = detectableIndices.map {
      max(minimumChange.decibels, zScore * 8.686 / modelFit.gainsInStandardErrors[$0])
    }
    .max()
    match.minimumDetectableSeconds = detectableIndices.map {
      max(minimumChange.seconds, zScore * modelFit.timeErrorsSeconds[$0])
    }.max()
  }

  /// Measures noise and hum while the reference is silent.
  private mutating func measureBackground(
    of recording: Signal, at fittedPlacement: RecordingSearch.FittedPlacement
  ) {
    let recordingRate = recording.rate
    let monoSamples = recording.mono
    let placement = fittedPlacement.fit.placement
    func frameSpan(_ start: Double, _ end: Double) -> (start: Int, end: Int) {
      (Int(start * recordingRate), Int(end * recordingRate))
    }
    var occupiedFrameSpans = fittedPlacement.fit.reference.waveforms.map {
      frameSpan(
        fittedPlacement.excerptStartSeconds + placement.recordingTime(at: $0.startSeconds) - 0.01,
        fittedPlacement.excerptStartSeconds + placement.recordingTime(at: $0.endSeconds) + 0.02)
    }
    occupiedFrameSpans += changes.filter { $0.kind == .added || $0.kind == .time }.map {
      frameSpan(
        match.delaySeconds + $0.secondsRange.lowerBound - 0.1,
        match.delaySeconds + $0.secondsRange.upperBound + 0.1)
    }
    var quietSamples = [Float]()
    var previousEndFrame = 0
    for span in occupiedFrameSpans.sorted(by: { $0.start < $1.start }) {
      if span.start > previousEndFrame {
        quietSamples +=
          monoSamples[min(previousEndFrame, monoSamples.count)..<min(span.start, monoSamples.count)]
      }
      previousEndFrame = max(previousEndFrame, span.end)
    }
    quietSamples += monoSamples[min(previousEndFrame, monoSamples.count)...]
    var humFit = fittedPlacement.fit
    humFit.setHum(hertz: [])
    let humResidual = humFit.solve(isWhitened: false).whitenedResidual
    let humMeanSquare = fittedPlacement.fit.humHertz.reduce(0) {
      $0 + HumDetector.tonePower(at: $1, in: humResidual, rate: humFit.reference.sampleRate).power
    }
    var quietPower = Statistics.meanSquare(of: quietSamples)
    if Double(quietSamples.count) < 0.05 * recordingRate {
      // Without silence, extrapolate the residual's density from the analyzed band to the full
      // band.
      let residual = fittedPlacement.fit.solve(isWhitened: false).whitenedResidual
      quietPower =
        NoiseSpectralDensity(of: residual).totalPower * recordingRate
        / fittedPlacement.fit.reference.sampleRate
        + humMeanSquare
    }
    let quietMean =
      quietSamples.isEmpty
      ? 0 : quietSamples.reduce(0.0) { $0 + Double($1) } / Double(quietSamples.count)
    quietPower = max(0, quietPower - quietMean * quietMean)
    if humMeanSquare > RecordingThreshold.minimumBackgroundPower {
      match.humDecibels = Decibels.of(power: humMeanSquare)
    }
    let noiseMeanSquare = max(0, quietPower - humMeanSquare)
    // Errors of the hum estimate are not noise.
    if noiseMeanSquare > RecordingThreshold.minimumBackgroundPower,
      noiseMeanSquare > 0.03 * humMeanSquare
    {
      match.noiseDecibels = Decibels.of(power: noiseMeanSquare)
    }
  }
}

extension RecordingResult {
  /// The maximum residuals for conclusions, in decibels relative to the recording.
  ///
  /// - found: The recording contains the pattern with at most one change.
  /// - changed: The recording contains the pattern with two or more changes.
  /// - reliable: Events are compared.
  /// - exact: Without a gain control, large changes, several changes, and small level changes are
  ///   reported.
  /// - invertedGain: With a gain control but without a room, small level changes are reported.
  /// - room: After a room, level changes of 3 to 6 dB are reported.
  private static let residualLimitsDecibels = (
    found: -5.0, changed: -12.0, reliable: -8.0, exact: -19.0, invertedGain: -20.0, room: -15.0
  )
  /// The minimum level change that counts as large, in decibels.
  private static let largeLevelChangeDecibels = 6.0
  /// The maximum excess of the residual of the unchanged reference with a gain control over that of
  /// the best model, in decibels.
  ///
  /// Below it, a gain control may have caused the changes.
  private static let gainControlToleranceDecibels = 4.0
  /// The minimum residual of a model with a gain control and without changes for reporting a level
  /// change after a room, in decibels relative to the best model.
  private static let minimumRoomLevelEvidenceDecibels = 2.5
  /// The minimum residual of a model with a gain control and without changes for evaluating a
  /// recording with a missing event, in decibels relative to the best model.
  ///
  /// Below it, no event is evaluated: A gain control can attenuate the end of a long sound so much
  /// that an event seems to be missing.
  private static let minimumMissingEventEvidenceDecibels = -3.0
  /// The costs of assuming a response of the chain, and an additional automatic gain control.
  private static let chainAssumptionCosts = (response: 0.6, gain: 0.6)

  /// Explains a recording by a model of the playback and recording chain.
  ///
  /// Returns nil if the residual is too large.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  package init?(modelingChainOf pair: RecordingPair, searchSeconds: Double) {
    guard let modelSelection = RecordingModelSelection(pair, searchSeconds: searchSeconds),
      let bestModel = modelSelection.bestModel,
      bestModel.residualDecibels
        < (bestModel.changes.count < 2
          ? Self.residualLimitsDecibels.found : Self.residualLimitsDecibels.changed)
    else { return nil }
    match = RecordingMatch(outcome: .found)
    match.searchSeconds = searchSeconds
    match.delaySeconds = Double(bestModel.delaySamples) / modelSelection.reference.sampleRate
    match.tempoPercent = 100 * bestModel.tempoDeviation
    match.levelDecibels = modelSelection.levelDecibels(of: bestModel)
    match.playbackAndRecordingChain = RecordingChain(
      bestModel, profile: pair.referenceSource.profile.hardware?.model)
    match.eventCount = modelSelection.reference.waveforms.count
    match.detectableEventCount = modelSelection.reference.waveforms.count
    changes = modelSelection.changes(of: bestModel)
    // Reflections of another changed event look like small level changes.
    let minimumComparedDecibels =
      bestModel.response.kind.isRoom && changes.count > 1
      ? RecordingThreshold.minimumLevelDecibelsAfterRoom : 0
    changes.removeAll { $0.isLevelChange(below: minimumComparedDecibels) }
    explanationCost =
      Self.chainAssumptionCosts.response
      + (bestModel.automaticGain == nil ? 0 : Self.chainAssumptionCosts.gain)
      + Double(changes.count)
    residualDecibels = bestModel.residualDecibels
    // A response of another kind looks like several changes or a large one, unless the residual is
    // small.
    let hasOneSmallChange =
      changes.count < 2
      && changes.allSatisfy {
        $0.kind != .level || abs($0.signedAmount) < Self.largeLevelChangeDecibels
      }
    let isExact =
      bestModel.automaticGain == nil
      && bestModel.residualDecibels < Self.residualLimitsDecibels.exact
    let gainExcessDecibels =
      modelSelection.unchangedResidualDecibelsWithGain - bestModel.residualDecibels
    let hasDoubtfulMissingEvent =
      changes.contains { $0.kind == .missing }
      && gainExcessDecibels < Self.minimumMissingEventEvidenceDecibels
    allowsEventComparison =
      bestModel.residualDecibels < Self.residualLimitsDecibels.reliable
      && !hasDoubtfulMissingEvent
      && (hasOneSmallChange
        || isExact && changes.count < min(3, modelSelection.reference.waveforms.count))
    let minimumLevelDecibels = max(
      minimumComparedDecibels,
      Self.minimumLevelDecibels(of: bestModel, gainExcessDecibels: gainExcessDecibels))
    reportedChanges =
      allowsEventComparison
      ? changes.filter { !$0.isLevelChange(below: minimumLevelDecibels) } : []
    let detectableChange = RecordingModelSelection.minimumReportedChange
    let undetectableChange = RecordingThreshold.undetectableChange
    match.minimumDetectableDecibels =
      allowsEventComparison ? minimumLevelDecibels : undetectableChange.decibels
    match.minimumDetectableSeconds =
      allowsEventComparison ? detectableChange.seconds : undetectableChange.seconds
    let monoSamples = pair.recording.mono
    let recordingRate = pair.recording.rate
    let referenceEndSeconds =
      match.delaySeconds + modelSelection.reference.durationSeconds
      + RecordingModelSelection.excerptMarginSeconds.after
    let samplesBeforeReference = monoSamples.prefix(
      max(0, Int((match.delaySeconds - 0.05) * recordingRate)))
    let quietSamples =
      samplesBeforeReference
      + monoSamples.dropFirst(max(0, Int(referenceEndSeconds * recordingRate)))
    guard Double(quietSamples.count) > 0.05 * recordingRate else { return }
    let quietPower = Statistics.variance(of: quietSamples)
    if quietPower > RecordingThreshold.minimumBackgroundPower {
      match.noiseDecibels = Decibels.of(power: quietPower)
    }
  }

  /// Returns the minimum level change to report for a model of the chain, in decibels.
  ///
  /// Errors of an inverted gain, gains without a model, and late reflections look like level
  /// changes and leave a large residual. A small residual thus permits small level changes. After a
  /// room, a larger residual suffices if no gain control explains the recording as well.
  ///
  /// - Parameters:
  ///   - model: The most probable model.
  ///   - gainExcessDecibels: The residual of the unchanged reference with a gain control, relative
  ///     to that of the model.
  private static func minimumLevelDecibels(
    of model: RecordingModel, gainExcessDecibels: Double
  ) -> Double {
    let hasGain = model.automaticGain != nil
    let isRoom = model.response.kind.isRoom
    let exactDecibels =
      hasGain ? residualLimitsDecibels.invertedGain : residualLimitsDecibels.exact
    if model.residualDecibels < exactDecibels, !(hasGain && isRoom) {
      let mayBeGain = !hasGain && gainExcessDecibels < gainControlToleranceDecibels
      return mayBeGain
        ? RecordingThreshold.minimumLevelDecibelsWithGainControl
        : RecordingModelSelection.minimumReportedChange.decibels
    }
    let isRoomLevelMeasurable =
      isRoom && model.residualDecibels < residualLimitsDecibels.room
      && gainExcessDecibels > minimumRoomLevelEvidenceDecibels
    guard isRoomLevelMeasurable else { return largeLevelChangeDecibels }
    return hasGain
      ? RecordingThreshold.minimumLevelDecibelsAfterRoom
      : RecordingThreshold.minimumLevelDecibelsWithGainControl
  }
}

/// A model of the playback and recording chain.
///
/// It consists of a resonance, a filter, or a room, and optionally an automatic gain control, or
/// only of a compressor.
public struct RecordingChain: Equatable, Sendable {
  /// The resonance frequency and quality, or nil without a resonance.
  public let resonanceModel: TransducerModel?
  /// A Boolean value that indicates whether the resonance is that of the profile's transducer.
  ///
  /// The recording then shows the transducer's acceleration.
  public let matchesProfile: Bool
  /// A Boolean value that indicates whether the response is not a resonance.
  ///
  /// It may be the response of a room or a microphone, for example.
  public var hasNonresonantResponse: Bool { hasResponse && resonanceModel == nil }
  /// A Boolean value that indicates whether the chain contains an automatic gain control or a
  /// compressor.
  public let hasAutomaticGain: Bool
  /// A Boolean value that indicates whether the chain has a linear response: a resonance, a filter,
  /// or a room.
  ///
  /// A compressor only changes the gain.
  package let hasResponse: Bool
  /// A Boolean value that indicates whether the response is that of a room.
  package let hasRoomResponse: Bool

  /// A compressor between the signal and the recording.
  static let compressor = Self()

  private init() {
    resonanceModel = nil
    matchesProfile = false
    hasAutomaticGain = true
    hasResponse = false
    hasRoomResponse = false
  }

  /// The maximum ratios of two resonance frequencies and two quality factors that count as equal.
  private static let maximumEqualityRatios = (hertz: 1.04, quality: 1.25)

  init(_ recordingModel: RecordingModel, profile: TransducerModel?) {
    hasAutomaticGain = recordingModel.automaticGain != nil
    hasResponse = true
    hasRoomResponse = recordingModel.response.kind.isRoom
    guard case .resonance(let modes) = recordingModel.response.kind, let mode = modes.first else {
      resonanceModel = nil
      matchesProfile = false
      return
    }
    resonanceModel = TransducerModel(resonanceHertz: mode.hertz, qualityFactor: mode.qualityFactor)
    func isNear(_ a: Double, _ b: Double, _ ratio: Double) -> Bool {
      a < b * ratio && b < a * ratio
    }
    matchesProfile =
      isNear(profile?.resonanceHertz ?? 0, mode.hertz, Self.maximumEqualityRatios.hertz)
      && isNear(profile?.qualityFactor ?? 0, mode.qualityFactor, Self.maximumEqualityRatios.quality)
  }
}
