internal import CMath

/// What of a sound becomes vibration, and how.
public struct FollowingOptions: Equatable, Sendable {
  /// What is made of a sound.
  public enum Style: String, CaseIterable, Sendable {
    /// Its low part itself.
    case bass
    /// A burst for each strike.
    case impacts
    /// One tone as strong as its low part: what runs and rumbles.
    case engine
    /// Its low part, and a burst for each strike.
    case full
    /// What the HapticGenerator of Android's open source makes.
    case android
  }

  /// What is made of a sound.
  public var style: Style
  /// The lowest and the highest frequency of the vibration in hertz.
  public var band: ClosedRange<Double>
  /// Whether voices are felt, too; in `android` they are.
  public var keepsVoices: Bool
  /// Whether the strength of a source stays as it is, without a slow gain of ±12 dB; in `android`
  /// it does.
  public var keepsLevel: Bool

  /// Makes options.
  public init(
    style: Style = .full, band: ClosedRange<Double> = 25...100, keepsVoices: Bool = false,
    keepsLevel: Bool = false
  ) {
    self.style = style
    self.band = band
    self.keepsVoices = keepsVoices
    self.keepsLevel = keepsLevel
  }
}

/// Makes vibration of a sound while it sounds.
///
/// Every stage is causal: 2 to 5 ms go by from the start of a strike to a tenth of its vibration.
/// Takes below 1 % of a core at 48 kHz. Belongs to one thread, which need not be one of real time.
public struct SoundFollower {
  /// How it follows.
  public let options: FollowingOptions
  /// The level of the last half millisecond that was taken in, 1 for a full-scale square.
  public private(set) var level = 0.0
  /// The greatest sample of the last interleaved block.
  public private(set) var peak = Float(0)
  /// What the speech gate lets through, 0…1.
  public private(set) var gateGain = 1.0

  /// Control steps in a second, about.
  private static let controlRate = 2_000.0
  /// Bursts are so many times as strong as the level of their strike, and in `full` less.
  private static let burstGain = 3.0
  private static let mixedBurstGain = 0.6

  private let rate: Double
  private let framesPerStep: Int
  private var frameInStep = 0
  private var inputEnergy = 0.0
  private var highPass, lowPass: BiquadCascade
  private var gate: SpeechGate
  private var levelControl: AutomaticLevel
  private var rumbleBand: BandLevelMeter
  private var transientDetector: TransientDetector
  private var burstGenerator: BurstGenerator
  private var rumbleEnvelope: EnvelopeFollower
  private var androidChain: AndroidChain
  private var phase = 0.0
  private var outputEnergy = 0.0
  private var levelControlGain = 1.0
  /// The gain and the tone's level at the control step before and at the last one.
  private var stepGains = (0.0, 0.0)
  private var stepToneLevels = (0.0, 0.0)

  /// - Parameter rate: Frames per second, 8,000 or more.
  public init(_ options: FollowingOptions, rate: Double) {
    self.options = options
    self.rate = rate
    framesPerStep = max(1, Int((rate / Self.controlRate).rounded()))
    let control = rate / Double(framesPerStep)
    highPass = BiquadCascade(.highPass, order: 2, hertz: 20, rate: rate)
    lowPass = BiquadCascade(.lowPass, order: 2, hertz: options.band.upperBound, rate: rate)
    gate = SpeechGate(rate: rate, step: framesPerStep)
    levelControl = AutomaticLevel(rate: control)
    rumbleBand = BandLevelMeter(
      BiquadCascade(.highPass, order: 1, hertz: 30, rate: rate),
      BiquadCascade(.lowPass, order: 1, hertz: 300, rate: rate))
    rumbleEnvelope = EnvelopeFollower(rise: 0.004, fall: 0.03, rate: control)
    transientDetector = TransientDetector(rate: rate, step: framesPerStep)
    burstGenerator = BurstGenerator(hertz: Self.centerFrequency(of: options.band), rate: rate)
    androidChain = AndroidChain(rate: rate)
    if options.keepsVoices {
      stepGains = (1, 1)
    }
  }

  private static func centerFrequency(of band: ClosedRange<Double>) -> Double {
    (band.lowerBound * band.upperBound).squareRoot()
  }

  /// The vibration of the next frames, as many, in about −1…1.
  public mutating func follow(_ samples: Span<Float>) -> [Float] {
    samples.indices.map { Float(next(samples[$0].isFinite ? Double(samples[$0]) : 0)) }
  }

  /// The same for the mean of interleaved channels.
  public mutating func follow(interleaved samples: [Float], channelCount: Int) -> [Float] {
    let share = 1 / Float(max(1, channelCount))
    let mono = stride(from: 0, to: samples.count - channelCount + 1, by: max(1, channelCount)).map {
      frame in
      var sum = Float(0)
      for channel in 0..<channelCount {
        sum += samples[frame + channel]
      }
      return sum * share
    }
    peak = mono.reduce(0) { max($0, abs($1)) }
    return follow(mono.span)
  }

  private mutating func next(_ sample: Double) -> Double {
    inputEnergy += sample * sample
    let share = Double(frameInStep) / Double(framesPerStep)
    frameInStep += 1
    defer {
      if frameInStep == framesPerStep {
        finishControlStep()
      }
    }
    if options.style == .android { return androidChain.next(sample) }
    // Offsets and what no body feels are nobody's vibration.
    let heard = highPass.next(sample)
    if !options.keepsVoices {
      gate.add(heard)
    }
    var output = 0.0
    switch options.style {
    case .bass: output = lowPass.next(heard)
    case .impacts: output = burstGenerator.next()
    case .engine: output = nextToneSample(at: share)
    case .full, .android: output = lowPass.next(heard) + Self.mixedBurstGain * burstGenerator.next()
    }
    if options.style == .engine {
      rumbleBand.add(heard)
    }
    if options.style == .impacts || options.style == .full {
      transientDetector.add(heard)
    }
    output *= stepGains.0 + (stepGains.1 - stepGains.0) * share
    outputEnergy += output * output
    return output
  }

  private mutating func nextToneSample(at share: Double) -> Double {
    phase += Self.centerFrequency(of: options.band) / rate
    phase -= phase.rounded(.down)
    return (stepToneLevels.0 + (stepToneLevels.1 - stepToneLevels.0) * share) * 2.0.squareRoot()
      * sin(2 * .pi * phase)
  }

  /// Ends a control step.
  private mutating func finishControlStep() {
    level = (inputEnergy / Double(framesPerStep)).squareRoot()
    let output = (outputEnergy / Double(framesPerStep)).squareRoot()
    inputEnergy = 0
    outputEnergy = 0
    frameInStep = 0
    if options.style == .android { return }
    gateGain = options.keepsVoices ? 1 : gate.next(level: level, count: framesPerStep)
    // By what the ride has not moved.
    levelControlGain = options.keepsLevel ? 1 : levelControl.next(output / levelControlGain)
    stepGains = (stepGains.1, gateGain * levelControlGain)
    stepToneLevels = (
      stepToneLevels.1,
      options.style == .engine
        ? rumbleEnvelope.next(rumbleBand.drainLevel(count: framesPerStep)) : 0
    )
    if options.style == .impacts || options.style == .full,
      let strength = transientDetector.next(count: framesPerStep)
    {
      burstGenerator.start(strength: min(1, Self.burstGain * strength))
    }
  }
}

/// Finds strikes: moments at which the level of 1 ms is twice that of the last 40 ms.
private struct TransientDetector {
  /// Times by which a level rises, and the least level.
  private static let riseRatio = 2.0
  private static let minimumLevel = 2e-3
  /// Seconds until the strength is known, and in which no other strike is looked for.
  private static let measurementTime = 0.002
  private static let holdOffTime = 0.05

  private var lowBand, highBand: BandLevelMeter
  private var averageLevel, peakLevel: EnvelopeFollower
  private var history: [(usual: Double, peak: Double)]
  private var peakStrength = 0.0
  private var stepsSinceOnset: Int
  private let controlRate: Double

  init(rate: Double, step: Int) {
    let control = rate / Double(step)
    self.controlRate = control
    func band(_ low: Double, _ high: Double) -> BandLevelMeter {
      BandLevelMeter(
        BiquadCascade(.highPass, order: 1, hertz: low, rate: rate),
        BiquadCascade(.lowPass, order: 1, hertz: high, rate: rate))
    }
    lowBand = band(25, 250)
    highBand = band(250, 5_000)
    averageLevel = EnvelopeFollower(rise: 0.04, fall: 0.04, rate: control)
    peakLevel = EnvelopeFollower(rise: 0.0005, fall: 0.2, rate: control)
    history = Array(repeating: (0, 0), count: Int(0.01 * control))
    stepsSinceOnset = Int(control)
  }

  mutating func add(_ sample: Double) {
    lowBand.add(sample)
    highBand.add(sample)
  }

  /// The strength of a strike, once it is known.
  mutating func next(count: Int) -> Double? {
    let low = lowBand.drainLevel(count: count)
    let high = highBand.drainLevel(count: count)
    let level = (low * low + 0.25 * high * high).squareRoot()
    history.append((averageLevel.next(level), peakLevel.next(level)))
    let earlier = history[history.count - min(history.count, Int(0.002 * controlRate) + 1)].usual
    let before = history.removeFirst().peak
    stepsSinceOnset += 1
    if stepsSinceOnset > Int(Self.holdOffTime * controlRate), level > Self.minimumLevel,
      level > Self.riseRatio * max(earlier, 0.25 * before)
    {
      stepsSinceOnset = 0
      peakStrength = 0
    }
    peakStrength = max(peakStrength, level)
    return stepsSinceOnset == Int(Self.measurementTime * controlRate) ? peakStrength : nil
  }
}

/// Bursts of two cycles, which may overlap.
private struct BurstGenerator {
  private let wave: [Double]
  private var playing: [(place: Int, strength: Double)] = []

  init(hertz: Double, rate: Double) {
    let count = Int(2 * rate / hertz)
    wave = (0..<count).map { index in
      let time = (Double(index) + 0.5) / Double(count)
      return sin(4 * .pi * (time - 0.5)) * min(1, 8 * min(time, 1 - time))
    }
  }

  mutating func start(strength: Double) { playing.append((0, strength)) }

  mutating func next() -> Double {
    guard !playing.isEmpty else { return 0 }
    var sum = 0.0
    for index in playing.indices {
      sum += wave[playing[index].place] * playing[index].strength
      playing[index].place += 1
    }
    if playing[0].place == wave.count {
      playing.removeFirst()
    }
    return sum
  }
}

/// The chain of HapticGenerator in Android's open source (frameworks/av,
/// media/libeffects/hapticgenerator), by its figures: resonance 150 Hz of Q 1, band stop of Q 8 and
/// 4, envelope of 5 Hz to the power −0.8, distortion, output gain 1.5.
private struct AndroidChain {
  private var inputFilters: [BiquadCascade] = []
  private var rectifiedFilters: [BiquadCascade] = []
  private var resonance, envelope, bandStop: BiquadCascade
  private var outputFilters: [BiquadCascade] = []

  init(rate: Double) {
    func pole(_ hertz: Double) -> Double { exp(-2 * .pi * hertz / rate) }
    func lowPass(_ hertz: Double) -> BiquadCascade {
      BiquadCascade(1 - pole(hertz), 0, 0, -pole(hertz), 0)
    }
    func highPass(_ hertz: Double) -> BiquadCascade {
      BiquadCascade((1 + pole(hertz)) / 2, -(1 + pole(hertz)) / 2, 0, -pole(hertz), 0)
    }
    inputFilters = [highPass(50), highPass(50), lowPass(9_000), lowPass(9_000)]
    rectifiedFilters =
      [highPass(60), highPass(60)] + [700.0, 700, 400, 400, 500, 500].map(lowPass)
    let angle = 2 * .pi * 150 / rate
    func poles(_ quality: Double) -> (Double, Double) {
      let radius = exp(-angle / (2 * quality))
      return (-2 * radius * cos(angle), radius * radius)
    }
    let (first, second) = poles(1)
    let radius = second.squareRoot()
    resonance = BiquadCascade(1 - radius, 0, radius - 1, first, second)
    envelope = lowPass(5)
    let zero = poles(8)
    let pole = poles(4)
    let gain = (1 + pole.0 + pole.1) / (1 + zero.0 + zero.1)
    bandStop = BiquadCascade(gain, gain * zero.0, gain * zero.1, pole.0, pole.1)
    outputFilters = [lowPass(300), lowPass(300)]
  }

  mutating func next(_ sample: Double) -> Double {
    var sample = sample
    for index in inputFilters.indices {
      sample = inputFilters[index].next(sample)
    }
    sample = max(0, sample)
    for index in rectifiedFilters.indices {
      sample = rectifiedFilters[index].next(sample)
    }
    sample = resonance.next(sample)
    sample *= pow(envelope.next(abs(sample)) + 0.01, -0.8)
    sample = 0.3 * bandStop.next(sample)
    sample = sample * sample * sample / (0.1 + sample * sample)
    for index in outputFilters.indices {
      sample = outputFilters[index].next(sample)
    }
    sample *= 1.5
    return sample / (1 + abs(sample))
  }
}
