internal import CMath
public import HapticModel
public import HapticRender
public import SignalAnalysis

/// Options of the conversion from a sound to a pattern.
public struct TracingOptions: Equatable, Sendable {
  /// The interpretation of a sound.
  public enum Interpretation: String, CaseIterable, Sendable {
    /// Vibration or sound, chosen automatically.
    ///
    /// A sound is a vibration if most of the power is in the profile's band and the pattern
    /// explains it.
    case automatic
    /// A recording of a transducer or of a rendering: the profile's mapping is inverted.
    case vibration
    /// Any other sound: the pattern follows its octave band levels and its spectral centroid.
    case sound
  }

  /// The part of a sound that the pattern follows.
  ///
  /// If the sound is a vibration, the pattern always follows all of it.
  public enum FollowedPart: String, CaseIterable, Sendable {
    /// The whole sound.
    case full
    /// Impacts, with everything else attenuated.
    case impacts
    /// The bass and the beat of music.
    case music
    /// The voice in speech and song.
    case voice
  }

  /// The kinds of events that are traced.
  public enum EventSelection: String, CaseIterable, Sendable {
    /// Transients and continuous events.
    case all
    /// Only transients.
    case transients
    /// Only continuous events.
    case continuous
  }

  /// The interpretation of the sound.
  public var interpretation: Interpretation
  /// The part of the sound that the pattern follows.
  public var followedPart: FollowedPart
  /// The maximum number of events, or nil for all events. The weakest events are omitted.
  public var maximumEventCount: Int?
  /// The maximum deviation of curves from the sound's level, in decibels, above 0.
  ///
  /// If the value is nil, the deviation is 1 dB for vibration and 3 dB for sounds.
  public var toleranceDecibels: Double?
  /// The minimum level of events relative to the loudest level, in decibels, below 0.
  ///
  /// The minimum level of continuous events is never below −36. In sounds, the minimum level is
  /// never below −34 for transients and −30 for continuous events.
  public var thresholdDecibels: Double
  /// The kinds of events that are traced.
  public var eventSelection: EventSelection

  /// The default threshold, in decibels.
  public static let defaultThresholdDecibels = -42.0

  /// Creates options. The defaults trace everything.
  ///
  /// - Parameters:
  ///   - kind: The interpretation of the sound.
  ///   - style: The part of the sound to follow.
  ///   - eventLimit: The maximum number of events.
  ///   - tolerance: The maximum deviation of curves, in decibels.
  ///   - threshold: The minimum level relative to the loudest, in decibels.
  ///   - eventSelection: The events to trace.
  public init(
    interpretation kind: Interpretation = .automatic, followedPart style: FollowedPart = .full,
    maximumEventCount eventLimit: Int? = nil,
    toleranceDecibels tolerance: Double? = nil,
    thresholdDecibels threshold: Double = defaultThresholdDecibels,
    eventSelection: EventSelection = .all
  ) {
    self.interpretation = kind
    self.followedPart = style
    self.maximumEventCount = eventLimit
    self.toleranceDecibels = tolerance
    self.thresholdDecibels = threshold
    self.eventSelection = eventSelection
  }
}

/// The pattern of a sound, with statistics about the conversion.
///
/// 1. A sound whose power is mostly in the profile's band is traced as vibration
///    (`VibrationTrace`). If its rendering differs from the sound, several simultaneous tones are
///    searched (`LayeredTrace`), and the better interpretation is selected. If most transients
///    are reflections in a room, the sound is traced without the reflections (`RoomTrace`).
/// 2. If the events do not explain the sound, it is traced as any sound (`WidebandTrace`).
/// 3. The strongest events are selected, and become events and curves (`TracedPattern`).
/// 4. The pattern is rendered and compared with the sound.
public struct SoundTrace: Sendable {
  /// The agreement between the rendered pattern and the sound.
  ///
  /// Levels are compared over 10 ms for vibration and over 20 ms for other sounds.
  public struct Agreement: Equatable, Sendable {
    /// The correlation coefficient of the levels, −1…1.
    ///
    /// It is 0 if the sound or the rendering is silent or constant.
    public var correlation: Double
    /// The RMS difference between the levels of the rendering and the sound, in decibels.
    ///
    /// Only audible parts of the sound or the rendering count. For sounds, the mean difference is
    /// subtracted.
    public var differenceDecibels: Double

    /// Creates an agreement.
    public init(correlation: Double, differenceDecibels decibels: Double) {
      self.correlation = correlation
      self.differenceDecibels = decibels
    }
  }

  /// The interpretation of the sound: vibration or sound.
  public let interpretation: TracingOptions.Interpretation
  /// The pattern: transients, continuous events, and the curves that control them.
  public let pattern: HapticPattern
  /// The number of events omitted due to `maximumEventCount`.
  public let omittedEventCount: Int
  /// The agreement of the rendered pattern with the sound.
  public let agreement: Agreement

  /// The number of transients in the pattern.
  public var transientCount: Int { pattern.events.count { $0.kind == .hapticTransient } }
  /// The number of continuous events in the pattern.
  public var continuousEventCount: Int { pattern.events.count { $0.kind == .hapticContinuous } }
  /// The number of control points in the pattern's curves.
  public var controlPointCount: Int { pattern.curves.reduce(0) { $0 + $1.controlPoints.count } }

  /// The maximum duration of a sound that can be traced, in seconds.
  public static let maximumSoundSeconds = 3_600.0
  /// The supported sample rates, in hertz.
  public static let supportedSampleRates = 500.0...1_000_000

  /// The minimum fraction of a vibration's power at low frequencies.
  ///
  /// Low frequencies are below 3.5 times the profile's highest frequency.
  private static let minimumInBandPowerFraction = 0.8
  /// The maximum fraction of a vibration's power that the events leave unexplained.
  ///
  /// A sound with a higher fraction does not count as vibration.
  private static let maximumUnexplainedPowerFraction = 0.25
  /// The maximum duration of a sound in the search for simultaneous tones, in seconds.
  private static let maximumLayeredSeconds = 120.0
  /// The sufficient correlation between sound and rendering.
  ///
  /// At this correlation, no other interpretation is tried.
  private static let sufficientCorrelation = 0.999
  /// The maximum difference between similar correlations.
  ///
  /// Of similar interpretations, the one with fewer transients is preferred.
  private static let similarCorrelationDifference = 0.01
  /// The maximum ratio of residuals that decides between interpretations.
  ///
  /// Below it, the interpretation with fewer transients is preferred, even if its rendering
  /// correlates less.
  private static let decisiveResidualRatio = 0.25
  /// The default tolerances of curves, in decibels.
  private static let defaultToleranceDecibels = (vibration: 1.0, sound: 3.0)

  /// The events of a trace.
  private struct Events {
    var transients: [TracedTransient]
    var continuousEvents: [TracedContinuousEvent]

    var eventCount: Int { transients.count + continuousEvents.count }

    /// Removes the kinds of events that an option does not select.
    mutating func select(_ selection: TracingOptions.EventSelection) {
      if selection == .transients {
        continuousEvents = []
      }
      if selection == .continuous {
        transients = []
      }
    }

    /// Removes the weakest events until no more than a maximum number remain.
    mutating func limit(to maximumCount: Int) {
      guard eventCount > maximumCount else { return }
      let eventWeights =
        transients.map(TracedPattern.weight) + continuousEvents.map(TracedPattern.weight)
      let descendingOrder = eventWeights.indices.sorted { eventWeights[$0] > eventWeights[$1] }
      let keptIndices = Set(descendingOrder.prefix(max(0, maximumCount)))
      let transientCount = transients.count
      transients = transients.indices.filter(keptIndices.contains).map { transients[$0] }
      continuousEvents = continuousEvents.indices.filter {
        keptIndices.contains($0 + transientCount)
      }.map {
        continuousEvents[$0]
      }
    }
  }

  /// Traces the mean of a signal's channels. Samples that are not finite count as silence.
  ///
  /// The conversion uses about 50 bytes per sample.
  ///
  /// - Parameters:
  ///   - signal: A sound of at most `maximumSoundSeconds` seconds.
  ///   - profile: The profile with which the vibration was rendered, or for which the pattern is.
  ///   - options: The options of the conversion.
  /// - Throws: An `AnalysisError` for a sound that is too long, a rate out of range, and a profile
  ///   that cannot be rendered.
  public init(
    of signal: Signal, profile: TransducerProfile = .phone,
    options: TracingOptions = TracingOptions()
  ) throws(AnalysisError) {
    try Self.check(signal)
    let monoSamples = Self.removingDCOffset(signal.mono)
    let dictionary = try AtomDictionary(profile, soundRate: signal.rate)
    let tracedResult = try Self.tracedEvents(
      monoSamples, rate: signal.rate, dictionary: dictionary, profile: profile, options: options)
    interpretation = tracedResult.kind
    var selectedEvents = tracedResult.events
    selectedEvents.select(options.eventSelection)
    let tracedEventCount = selectedEvents.eventCount
    if let eventLimit = options.maximumEventCount {
      selectedEvents.limit(to: eventLimit)
    }
    omittedEventCount = tracedEventCount - selectedEvents.eventCount
    let isVibration = tracedResult.kind == .vibration
    let defaultTolerances = Self.defaultToleranceDecibels
    let defaultTolerance = isVibration ? defaultTolerances.vibration : defaultTolerances.sound
    pattern =
      TracedPattern(
        transients: selectedEvents.transients, continuous: selectedEvents.continuousEvents,
        tolerance: options.toleranceDecibels ?? defaultTolerance
      ).pattern
    agreement = try Agreement(
      of: monoSamples, rate: signal.rate, pattern: pattern, profile: profile,
      isVibration: isVibration)
  }

  private static func check(_ signal: Signal) throws(AnalysisError) {
    guard supportedSampleRates.contains(signal.rate) else {
      throw AnalysisError(
        .unsupportedRate, "has a sample rate of \(signal.rate) Hz; supported: 500 to 1000000 Hz")
    }
    guard signal.durationSeconds <= maximumSoundSeconds else {
      throw AnalysisError(
        .unsupportedLength,
        "lasts \(Int(signal.durationSeconds)) s; the limit is \(Int(maximumSoundSeconds)) s")
    }
  }

  /// Returns finite samples without their mean.
  ///
  /// A DC offset that starts with the sound is not an onset.
  private static func removingDCOffset(_ samples: [Float]) -> [Float] {
    let finiteSamples = samples.map { abs($0) < 1e6 ? $0 : 0 }
    let meanSample = Float(
      finiteSamples.reduce(0) { $0 + Double($1) } / Double(max(1, finiteSamples.count)))
    return finiteSamples.map { $0 - meanSample }
  }

  /// Returns the interpretation of a sound and its events.
  private static func tracedEvents(
    _ samples: [Float], rate: Double, dictionary: AtomDictionary, profile: TransducerProfile,
    options: TracingOptions
  ) throws(AnalysisError) -> (kind: TracingOptions.Interpretation, events: Events) {
    let isVibration =
      options.interpretation == .vibration
      || options.interpretation == .automatic && isInBand(samples, rate: rate, dictionary)
    if isVibration {
      let (events, unexplainedFraction) = try vibrationEvents(
        of: samples, rate: rate, dictionary: dictionary, profile: profile,
        threshold: options.thresholdDecibels)
      let isExplained = unexplainedFraction <= maximumUnexplainedPowerFraction
      if options.interpretation == .vibration || isExplained {
        return (.vibration, events)
      }
    }
    let widebandTrace = WidebandTrace(
      of: samples, rate: rate, dictionary: dictionary, style: options.followedPart,
      threshold: options.thresholdDecibels)
    return (
      .sound,
      Events(transients: widebandTrace.transients, continuousEvents: widebandTrace.continuousEvents)
    )
  }

  /// Returns the events of a vibration, and the fraction of power that they do not explain.
  private static func vibrationEvents(
    of samples: [Float], rate: Double, dictionary: AtomDictionary, profile: TransducerProfile,
    threshold: Double
  ) throws(AnalysisError) -> (events: Events, unexplainedFraction: Double) {
    let analysisSignal = AnalysisSignal(
      samples, sampleRate: rate, targetRate: dictionary.sampleRate,
      minimumHertz: dictionary.toneBandHertz.lowerBound, driveInverse: dictionary.driveInverse)
    let vibrationTrace = VibrationTrace(
      of: analysisSignal, dictionary: dictionary, threshold: threshold)
    let singleEvents = Events(
      transients: vibrationTrace.transients, continuousEvents: vibrationTrace.continuousEvents)
    let isLayeredSupported =
      dictionary.overtoneFrequencyRatios.isEmpty
      && Double(samples.count) <= maximumLayeredSeconds * rate
    guard isLayeredSupported else {
      return (singleEvents, vibrationTrace.unexplainedPowerFraction)
    }
    let singleAgreement = try agreement(
      of: singleEvents, with: samples, rate: rate, profile: profile)
    guard singleAgreement.correlation < sufficientCorrelation else {
      return (singleEvents, vibrationTrace.unexplainedPowerFraction)
    }
    let layeredTrace = LayeredTrace(
      of: analysisSignal, dictionary: dictionary, threshold: threshold)
    let roomTrace = RoomTrace(
      of: analysisSignal, withoutRoom: vibrationTrace,
      layeredTransientCount: layeredTrace.transients.count,
      dictionary: dictionary, threshold: threshold)
    if let roomTrace {
      let events = Events(
        transients: roomTrace.transients, continuousEvents: roomTrace.continuousEvents)
      return (events, roomTrace.unexplainedPowerFraction)
    }
    let layeredEvents = Events(
      transients: layeredTrace.transients, continuousEvents: layeredTrace.continuousEvents)
    let layeredAgreement = try agreement(
      of: layeredEvents, with: samples, rate: rate, profile: profile)
    let correlationGain = layeredAgreement.correlation - singleAgreement.correlation
    let additionalTransients = layeredTrace.transients.count - vibrationTrace.transients.count
    let residualRatio =
      layeredTrace.unexplainedPowerFraction / max(vibrationTrace.unexplainedPowerFraction, 1e-9)
    let isLayeredSimpler =
      additionalTransients < 0 || layeredTrace.transients.isEmpty && residualRatio < 1
    let isLayeredBetter: Bool
    if isLayeredSimpler {
      // Curves act on all events, so that a pattern may not follow tones that move independently.
      isLayeredBetter =
        correlationGain >= -similarCorrelationDifference || residualRatio < decisiveResidualRatio
    } else {
      isLayeredBetter =
        correlationGain > similarCorrelationDifference * Double(max(1, additionalTransients))
    }
    return isLayeredBetter
      ? (layeredEvents, layeredTrace.unexplainedPowerFraction)
      : (singleEvents, vibrationTrace.unexplainedPowerFraction)
  }

  /// Returns the agreement of a vibration with the rendering of its events.
  private static func agreement(
    of events: Events, with samples: [Float], rate: Double, profile: TransducerProfile
  ) throws(AnalysisError) -> Agreement {
    let tracedPattern = TracedPattern(
      transients: events.transients, continuous: events.continuousEvents,
      tolerance: defaultToleranceDecibels.vibration)
    return try Agreement(
      of: samples, rate: rate, pattern: tracedPattern.pattern, profile: profile, isVibration: true)
  }

  /// Returns true if most of the power is in the band of a profile.
  private static func isInBand(
    _ samples: [Float], rate: Double, _ dictionary: AtomDictionary
  ) -> Bool {
    let spectrum = Spectrum(of: Signal(samples, rate: rate), window: 0.1)
    let inBandPower = spectrum.power(in: 0...3.5 * dictionary.toneBandHertz.upperBound)
    return inBandPower > minimumInBandPowerFraction * spectrum.totalPower
  }
}

extension SoundTrace.Agreement {
  /// The number of compared levels per second.
  private static let levelsPerSecond = 200.0
  /// The sample rate of the rendering for the comparison, in hertz.
  private static let renderingSampleRate = 8_000.0
  /// The minimum audible level relative to the maximum.
  private static let minimumAudibleLevelRatio = 0.05

  /// Renders a pattern and compares it with a sound.
  ///
  /// - Parameters:
  ///   - samples: The sound.
  ///   - rate: The sample rate of the sound, in hertz.
  ///   - pattern: The traced pattern.
  ///   - profile: The profile for the rendering.
  ///   - isVibration: Pass true to compare absolute levels in the tactile band.
  init(
    of samples: [Float], rate: Double, pattern: HapticPattern, profile: TransducerProfile,
    isVibration: Bool
  ) throws(AnalysisError) {
    let renderedSamples = try pattern.rendered(profile, rate: Self.renderingSampleRate).0
    let decimatedSignal = isVibration ? TactileBandSignal(of: samples, rate: rate) : nil
    let levelWindowSeconds = isVibration ? 0.01 : 0.02
    var soundLevels = Self.levels(
      decimatedSignal?.samples ?? samples, rate: decimatedSignal?.decimatedRate ?? rate,
      over: levelWindowSeconds)
    var renderedLevels = Self.levels(
      renderedSamples, rate: Self.renderingSampleRate, over: levelWindowSeconds)
    let levelCount = max(soundLevels.count, renderedLevels.count)
    soundLevels += [Double](repeating: 0, count: levelCount - soundLevels.count)
    renderedLevels += [Double](repeating: 0, count: levelCount - renderedLevels.count)
    self.init(
      correlation: Self.correlation(soundLevels, renderedLevels),
      differenceDecibels: Self.levelDifference(soundLevels, renderedLevels, isAbsolute: isVibration)
    )
  }

  /// Returns the RMS levels of a signal above 20 Hz.
  private static func levels(_ samples: [Float], rate: Double, over seconds: Double) -> [Double] {
    let highPass = Biquad<Float>(.highPass, hertz: 20, rate: rate)
    let trailingSilence = [Float](repeating: 0, count: Int(0.05 * rate))
    let meanPowers = SampleMath.movingMean(
      of: highPass.filtered(samples + trailingSilence).map { $0 * $0 }, over: Int(seconds * rate))
    return stride(from: 0, to: Double(meanPowers.count), by: rate / levelsPerSecond).map {
      Double(max(0, meanPowers[Int($0)])).squareRoot()
    }
  }

  /// Returns the correlation coefficient of two series.
  private static func correlation(_ first: [Double], _ second: [Double]) -> Double {
    guard !first.isEmpty else { return 0 }
    let firstMean = first.reduce(0, +) / Double(first.count)
    let secondMean = second.reduce(0, +) / Double(second.count)
    var firstVariance = 0.0
    var secondVariance = 0.0
    var covariance = 0.0
    for (firstValue, secondValue) in zip(first, second) {
      firstVariance += (firstValue - firstMean) * (firstValue - firstMean)
      secondVariance += (secondValue - secondMean) * (secondValue - secondMean)
      covariance += (firstValue - firstMean) * (secondValue - secondMean)
    }
    let varianceProduct = firstVariance * secondVariance
    return varianceProduct > 1e-24 ? covariance / varianceProduct.squareRoot() : 0
  }

  /// Returns the RMS difference between two series of levels, in decibels.
  ///
  /// - Parameters:
  ///   - sound: The levels of the sound.
  ///   - rendering: The levels of the rendering.
  ///   - isAbsolute: Pass false to scale the rendering to the maximum of the sound, and to subtract
  ///     the mean difference.
  private static func levelDifference(
    _ sound: [Double], _ rendering: [Double], isAbsolute: Bool
  ) -> Double {
    let soundMaximum = sound.max() ?? 0
    let renderedMaximum = rendering.max() ?? 0
    guard soundMaximum > 0, renderedMaximum > 0 else { return 0 }
    let renderingScale = isAbsolute ? 1 : soundMaximum / renderedMaximum
    let audibleLevels = zip(sound, rendering).filter {
      max($0, $1 * renderingScale) > minimumAudibleLevelRatio * soundMaximum
    }
    let differencesDecibels = audibleLevels.map {
      20 * log10(($1 * renderingScale + 0.01 * soundMaximum) / ($0 + 0.01 * soundMaximum))
    }
    guard !differencesDecibels.isEmpty else { return 0 }
    let differenceCount = Double(differencesDecibels.count)
    let meanDifference = isAbsolute ? 0 : differencesDecibels.reduce(0, +) / differenceCount
    return
      (differencesDecibels.reduce(0) { $0 + ($1 - meanDifference) * ($1 - meanDifference) }
      / differenceCount).squareRoot()
  }
}

extension HapticComposition {
  /// Creates a composition from a sound.
  ///
  /// A rendering of its events and curves resembles the sound.
  ///
  /// - Parameters:
  ///   - sound: A recording of vibration, or any other sound of at most an hour. Channels are
  ///     averaged.
  ///   - profile: The profile with which the vibration was rendered, or for which the pattern is.
  ///   - options: The options of the conversion.
  /// - Throws: An `AnalysisError` for a sound that cannot be traced, and a profile that cannot be
  ///   rendered.
  public init(
    tracing sound: Signal, profile: TransducerProfile = .phone,
    options: TracingOptions = TracingOptions()
  ) throws(AnalysisError) {
    self.init(try SoundTrace(of: sound, profile: profile, options: options).pattern)
  }
}
