internal import CMath
public import HapticModel
public import HapticRender
public import SignalAnalysis

/// How a sound becomes a pattern.
public struct TracingOptions: Equatable, Sendable {
  /// What a sound is taken for.
  public enum Kind: String, CaseIterable, Sendable {
    /// What fits: vibration where most power is in the profile's band and the pattern explains it.
    case automatic
    /// A recording of a transducer, or of a rendering: the profile's laws are inverted.
    case vibration
    /// Any other sound: levels and centroids of its octaves.
    case sound
  }

  /// What of a sound is followed; of vibration everything is.
  public enum Style: String, CaseIterable, Sendable {
    /// Everything.
    case full
    /// What strikes; the rest stays behind it.
    case impacts
    /// Bass and beat.
    case music
    /// Speech and song.
    case voice
  }

  /// Which events are wanted.
  public enum EventSelection: String, CaseIterable, Sendable { case all, transients, continuous }

  /// What the sound is taken for.
  public var kind: Kind
  /// What of a sound is followed.
  public var style: Style
  /// The most events, at least 0, or nil for all that are found; the weakest are left out.
  public var eventLimit: Int?
  /// How far curves may be from what was found, in decibels of level, above 0; nil for 1 of
  /// vibration and 3 of sounds.
  public var tolerance: Double?
  /// The level relative to the loudest below which nothing counts, in decibels, below 0.
  ///
  /// Continuous events end at −36 at the latest; of sounds, transients end at −34 and continuous
  /// events at −30.
  public var threshold: Double
  /// Which events are wanted.
  public var eventSelection: EventSelection

  /// The threshold where none is given.
  public static let defaultThreshold = -42.0

  /// Makes options; the defaults trace everything.
  public init(
    kind: Kind = .automatic, style: Style = .full, eventLimit: Int? = nil, tolerance: Double? = nil,
    threshold: Double = defaultThreshold, eventSelection parts: EventSelection = .all
  ) {
    self.kind = kind
    self.style = style
    self.eventLimit = eventLimit
    self.tolerance = tolerance
    self.threshold = threshold
    self.eventSelection = parts
  }
}

/// A sound as a pattern, with what was found and what was left out.
public struct SoundTrace: Sendable {
  /// What the sound was taken for: vibration or sound.
  public let kind: TracingOptions.Kind
  /// Transients, continuous events, and the curves that move them.
  public let pattern: HapticPattern
  /// Transients and continuous events that were found and left out because of the limit.
  public let omittedCount: Int
  /// How well the pattern's own rendering agrees with the sound.
  public let agreement: Agreement

  /// What a rendering has in common with a sound, by levels over 10 ms of vibration and over 20 ms
  /// of other sounds.
  public struct Agreement: Equatable, Sendable {
    /// The correlation of both, −1…1; 0 where one is silent or constant.
    public var correlation: Double
    /// The root mean square of their differences in decibels, where either is heard; of sounds with
    /// their mean taken off.
    public var decibels: Double

    /// Makes an agreement.
    public init(correlation: Double, decibels: Double) {
      self.correlation = correlation
      self.decibels = decibels
    }
  }

  /// Transients of the pattern.
  public var transientCount: Int { pattern.events.count { $0.kind == .hapticTransient } }
  /// Continuous events of the pattern.
  public var continuousCount: Int { pattern.events.count { $0.kind == .hapticContinuous } }
  /// Control points of the pattern's curves.
  public var pointCount: Int { pattern.curves.reduce(0) { $0 + $1.controlPoints.count } }

  /// The maximum length of a sound, in seconds.
  public static let maximumDuration = 3_600.0
  /// The supported sample rates, in hertz.
  public static let supportedRates = 500.0...1_000_000

  /// The part of the power that must be below 3.5 times the profile's highest frequency in
  /// vibration, and what the pattern may leave of it.
  private static let minimumInBandFraction = 0.8
  private static let maximumUnexplainedFraction = 0.25
  /// The tolerances of curves, in decibels.
  private static let tolerances = (vibration: 1.0, sound: 3.0)

  /// Traces the mean of a signal's channels; samples that are not finite count as silence.
  ///
  /// About 100 times faster than the sound lasts, in about 50 bytes a sample.
  ///
  /// - Parameters:
  ///   - signal: A sound of at most `longest` seconds.
  ///   - profile: The profile that the vibration was made with, or that the pattern is made for.
  /// - Throws: An `AnalysisError` for a sound that is too long, a rate out of range, and a profile
  ///   that cannot be rendered.
  public init(
    of signal: Signal, profile: TransducerProfile = .phone,
    options: TracingOptions = TracingOptions()
  )
    throws(AnalysisError)
  {
    guard Self.supportedRates.contains(signal.rate) else {
      throw AnalysisError(.unsupportedRate, "has \(signal.rate) Hz; 500 to 1000000 Hz are traced")
    }
    guard signal.duration <= Self.maximumDuration else {
      throw AnalysisError(
        .unsupportedLength,
        "lasts \(Int(signal.duration)) s; at most \(Int(Self.maximumDuration)) s are traced")
    }
    var samples = signal.mono.map { abs($0) < 1e6 ? $0 : 0 }
    // An offset that begins with the sound does not count as an onset.
    let mean = Float(samples.reduce(0) { $0 + Double($1) } / Double(max(1, samples.count)))
    for index in samples.indices {
      samples[index] -= mean
    }
    let table = try AtomDictionary(profile, soundRate: signal.rate)
    var transients: [TracedTransient] = []
    var continuous: [TracedContinuous] = []
    var kind = options.kind
    if kind != .sound, kind == .vibration || Self.isInBand(samples, rate: signal.rate, table) {
      let trace = VibrationTrace(
        of: samples, rate: signal.rate, dictionary: table, threshold: options.threshold)
      transients = trace.transients
      continuous = trace.continuous
      if kind == .automatic {
        kind = trace.unexplainedFraction <= Self.maximumUnexplainedFraction ? .vibration : .sound
      }
    } else {
      kind = .sound
    }
    if kind == .sound {
      let trace = WidebandTrace(
        of: samples, rate: signal.rate, dictionary: table, style: options.style,
        threshold: options.threshold)
      transients = trace.transients
      continuous = trace.continuous
    }
    self.kind = kind
    if options.eventSelection == .transients {
      continuous = []
    }
    if options.eventSelection == .continuous {
      transients = []
    }
    let found = transients.count + continuous.count
    if let limit = options.eventLimit, found > limit {
      let weights = transients.map(TracedPattern.weight) + continuous.map(TracedPattern.weight)
      let kept = Set(weights.indices.sorted { weights[$0] > weights[$1] }.prefix(max(0, limit)))
      let tapCount = transients.count
      transients = transients.indices.filter(kept.contains).map { transients[$0] }
      continuous = continuous.indices.filter { kept.contains($0 + tapCount) }.map { continuous[$0] }
    }
    omittedCount = found - transients.count - continuous.count
    let tolerance =
      options.tolerance ?? (kind == .vibration ? Self.tolerances.vibration : Self.tolerances.sound)
    pattern =
      TracedPattern(transients: transients, continuous: continuous, tolerance: tolerance).pattern
    agreement = try Agreement(
      of: samples, rate: signal.rate, pattern: pattern, profile: profile,
      isVibration: kind == .vibration)
  }

  private static func isInBand(_ samples: [Float], rate: Double, _ table: AtomDictionary) -> Bool {
    let spectrum = Spectrum(of: Signal(samples, rate: rate), window: 0.1)
    return spectrum.power(in: 0...3.5 * table.toneBand.upperBound) > minimumInBandFraction
      * spectrum.power
  }
}

extension SoundTrace.Agreement {
  /// Levels in a second.
  private static let levelRate = 200.0

  init(
    of samples: [Float], rate: Double, pattern: HapticPattern, profile: TransducerProfile,
    isVibration: Bool
  )
    throws(AnalysisError)
  {
    let least = 8_000.0
    let rendering = try pattern.rendered(profile, rate: least).0
    let low = isVibration ? TactileBandSignal(of: samples, rate: rate) : nil
    let one = Self.levels(
      low?.samples ?? samples, rate: low?.rate ?? rate, over: isVibration ? 0.01 : 0.02)
    let other = Self.levels(rendering, rate: least, over: isVibration ? 0.01 : 0.02)
    let first = one + [Double](repeating: 0, count: max(0, other.count - one.count))
    let second = other + [Double](repeating: 0, count: max(0, one.count - other.count))
    self.init(
      correlation: Self.correlation(first, second),
      decibels: Self.levelDifference(first, second, isAbsolute: isVibration))
  }

  private static func levels(_ samples: [Float], rate: Double, over seconds: Double) -> [Double] {
    let highPass = Biquad(hertz: 20, isHighPass: true, rate: rate)
    let silence = [Float](repeating: 0, count: Int(0.05 * rate))
    let powers = SampleMath.movingMean(
      of: highPass.filtered(samples + silence).map { $0 * $0 }, over: Int(seconds * rate))
    return stride(from: 0, to: Double(powers.count), by: rate / levelRate).map {
      Double(max(0, powers[Int($0)])).squareRoot()
    }
  }

  private static func correlation(_ one: [Double], _ other: [Double]) -> Double {
    guard !one.isEmpty else { return 0 }
    let first = one.reduce(0, +) / Double(one.count)
    let second = other.reduce(0, +) / Double(other.count)
    var own = 0.0
    var foreign = 0.0
    var both = 0.0
    for (left, right) in zip(one, other) {
      own += (left - first) * (left - first)
      foreign += (right - second) * (right - second)
      both += (left - first) * (right - second)
    }
    return own * foreign > 1e-24 ? both / (own * foreign).squareRoot() : 0
  }

  private static func levelDifference(_ one: [Double], _ other: [Double], isAbsolute: Bool)
    -> Double
  {
    let top = one.max() ?? 0
    let otherTop = other.max() ?? 0
    guard top > 0, otherTop > 0 else { return 0 }
    let scale = isAbsolute ? 1 : top / otherTop
    let differences = zip(one, other).filter { max($0, $1 * scale) > 0.05 * top }.map {
      20 * log10(($1 * scale + 0.01 * top) / ($0 + 0.01 * top))
    }
    guard !differences.isEmpty else { return 0 }
    let mean = isAbsolute ? 0 : differences.reduce(0, +) / Double(differences.count)
    return (differences.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(differences.count))
      .squareRoot()
  }
}

extension HapticComposition {
  /// Makes a pattern of a sound: the events and curves whose rendering resembles it.
  ///
  /// - Parameters:
  ///   - sound: A recording of vibration, or any other sound of at most an hour; channels are
  ///     averaged.
  ///   - profile: The profile that the vibration was made with, or that the pattern is made for.
  /// - Throws: An `AnalysisError` for a sound that cannot be traced, and a profile that cannot be
  ///   rendered.
  public init(
    tracing sound: Signal, profile: TransducerProfile = .phone,
    options: TracingOptions = TracingOptions()
  )
    throws(AnalysisError)
  { self.init(try SoundTrace(of: sound, profile: profile, options: options).pattern) }
}
