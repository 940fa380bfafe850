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
  public private(set) var opening = 1.0

  /// Control steps in a second, about.
  private static let controlRate = 2_000.0
  /// Bursts are so many times as strong as the level of their strike, and in `full` less.
  private static let perStrike = 3.0
  private static let besideBass = 0.6

  private let rate: Double
  private let step: Int
  private var count = 0
  private var power = 0.0
  private var highPass, lowPass: FilterCascade
  private var gate: SpeechGate
  private var ride: GainRide
  private var rumble: BandPower
  private var strikes: StrikeSearch
  private var bursts: Bursts
  private var rumbleLevel: Smoothing
  private var chain: AndroidChain
  private var phase = 0.0
  private var made = 0.0
  private var rideGain = 1.0
  /// The gain and the tone's level at the control step before and at the last one.
  private var gains = (0.0, 0.0)
  private var tones = (0.0, 0.0)

  /// - Parameter rate: Frames per second, 8,000 or more.
  public init(_ options: FollowingOptions, rate: Double) {
    self.options = options
    self.rate = rate
    step = max(1, Int((rate / Self.controlRate).rounded()))
    let control = rate / Double(step)
    highPass = FilterCascade(.high, order: 2, hertz: 20, rate: rate)
    lowPass = FilterCascade(.low, order: 2, hertz: options.band.upperBound, rate: rate)
    gate = SpeechGate(rate: rate, step: step)
    ride = GainRide(rate: control)
    rumble = BandPower(
      FilterCascade(.high, order: 1, hertz: 30, rate: rate),
      FilterCascade(.low, order: 1, hertz: 300, rate: rate))
    rumbleLevel = Smoothing(rise: 0.004, fall: 0.03, rate: control)
    strikes = StrikeSearch(rate: rate, step: step)
    bursts = Bursts(hertz: Self.middle(options.band), rate: rate)
    chain = AndroidChain(rate: rate)
    if options.keepsVoices {
      gains = (1, 1)
    }
  }

  private static func middle(_ band: ClosedRange<Double>) -> Double {
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
    power += sample * sample
    let share = Double(count) / Double(step)
    count += 1
    defer {
      if count == step {
        control()
      }
    }
    if options.style == .android { return chain.next(sample) }
    // Offsets and what no body feels are nobody's vibration.
    let heard = highPass.next(sample)
    if !options.keepsVoices {
      gate.add(heard)
    }
    var output = 0.0
    switch options.style {
    case .bass: output = lowPass.next(heard)
    case .impacts: output = bursts.next()
    case .engine: output = tone(share)
    case .full, .android: output = lowPass.next(heard) + Self.besideBass * bursts.next()
    }
    if options.style == .engine {
      rumble.add(heard)
    }
    if options.style == .impacts || options.style == .full {
      strikes.add(heard)
    }
    output *= gains.0 + (gains.1 - gains.0) * share
    made += output * output
    return output
  }

  private mutating func tone(_ share: Double) -> Double {
    phase += Self.middle(options.band) / rate
    phase -= phase.rounded(.down)
    return (tones.0 + (tones.1 - tones.0) * share) * 2.0.squareRoot() * sin(2 * .pi * phase)
  }

  /// Ends a control step.
  private mutating func control() {
    level = (power / Double(step)).squareRoot()
    let output = (made / Double(step)).squareRoot()
    power = 0
    made = 0
    count = 0
    if options.style == .android { return }
    opening = options.keepsVoices ? 1 : gate.next(level: level, count: step)
    // By what the ride has not moved.
    rideGain = options.keepsLevel ? 1 : ride.next(output / rideGain)
    gains = (gains.1, opening * rideGain)
    tones = (tones.1, options.style == .engine ? rumbleLevel.next(rumble.take(step)) : 0)
    if options.style == .impacts || options.style == .full, let strength = strikes.next(count: step)
    {
      bursts.strike(min(1, Self.perStrike * strength))
    }
  }
}

/// Finds strikes: moments at which the level of 1 ms is twice that of the last 40 ms.
private struct StrikeSearch {
  /// Times by which a level rises, and the least level.
  private static let rise = 2.0
  private static let least = 2e-3
  /// Seconds until the strength is known, and in which no other strike is looked for.
  private static let knowing = 0.002
  private static let pause = 0.05

  private var low, high: BandPower
  private var usual, peak: Smoothing
  private var past: [(usual: Double, peak: Double)]
  private var strongest = 0.0
  private var sinceStrike: Int
  private let rate: Double

  init(rate: Double, step: Int) {
    let control = rate / Double(step)
    self.rate = control
    func band(_ low: Double, _ high: Double) -> BandPower {
      BandPower(
        FilterCascade(.high, order: 1, hertz: low, rate: rate),
        FilterCascade(.low, order: 1, hertz: high, rate: rate))
    }
    low = band(25, 250)
    high = band(250, 5_000)
    usual = Smoothing(rise: 0.04, fall: 0.04, rate: control)
    peak = Smoothing(rise: 0.0005, fall: 0.2, rate: control)
    past = Array(repeating: (0, 0), count: Int(0.01 * control))
    sinceStrike = Int(control)
  }

  mutating func add(_ sample: Double) {
    low.add(sample)
    high.add(sample)
  }

  /// The strength of a strike, once it is known.
  mutating func next(count: Int) -> Double? {
    let low = low.take(count)
    let high = high.take(count)
    let level = (low * low + 0.25 * high * high).squareRoot()
    past.append((usual.next(level), peak.next(level)))
    let earlier = past[past.count - min(past.count, Int(0.002 * rate) + 1)].usual
    let before = past.removeFirst().peak
    sinceStrike += 1
    if sinceStrike > Int(Self.pause * rate), level > Self.least,
      level > Self.rise * max(earlier, 0.25 * before)
    {
      sinceStrike = 0
      strongest = 0
    }
    strongest = max(strongest, level)
    return sinceStrike == Int(Self.knowing * rate) ? strongest : nil
  }
}

/// Bursts of two cycles, which may overlap.
private struct Bursts {
  private let wave: [Double]
  private var playing: [(place: Int, strength: Double)] = []

  init(hertz: Double, rate: Double) {
    let count = Int(2 * rate / hertz)
    wave = (0..<count).map { index in
      let time = (Double(index) + 0.5) / Double(count)
      return sin(4 * .pi * (time - 0.5)) * min(1, 8 * min(time, 1 - time))
    }
  }

  mutating func strike(_ strength: Double) { playing.append((0, strength)) }

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
  private var before: [FilterCascade] = []
  private var behind: [FilterCascade] = []
  private var resonance, envelope, stop: FilterCascade
  private var last: [FilterCascade] = []

  init(rate: Double) {
    func pole(_ hertz: Double) -> Double { exp(-2 * .pi * hertz / rate) }
    func lowPass(_ hertz: Double) -> FilterCascade {
      FilterCascade(1 - pole(hertz), 0, 0, -pole(hertz), 0)
    }
    func highPass(_ hertz: Double) -> FilterCascade {
      FilterCascade((1 + pole(hertz)) / 2, -(1 + pole(hertz)) / 2, 0, -pole(hertz), 0)
    }
    before = [highPass(50), highPass(50), lowPass(9_000), lowPass(9_000)]
    behind = [highPass(60), highPass(60)] + [700.0, 700, 400, 400, 500, 500].map(lowPass)
    let angle = 2 * .pi * 150 / rate
    func poles(_ quality: Double) -> (Double, Double) {
      let radius = exp(-angle / (2 * quality))
      return (-2 * radius * cos(angle), radius * radius)
    }
    let (first, second) = poles(1)
    let radius = second.squareRoot()
    resonance = FilterCascade(1 - radius, 0, radius - 1, first, second)
    envelope = lowPass(5)
    let zero = poles(8)
    let pole = poles(4)
    let gain = (1 + pole.0 + pole.1) / (1 + zero.0 + zero.1)
    stop = FilterCascade(gain, gain * zero.0, gain * zero.1, pole.0, pole.1)
    last = [lowPass(300), lowPass(300)]
  }

  mutating func next(_ sample: Double) -> Double {
    var sample = sample
    for index in before.indices {
      sample = before[index].next(sample)
    }
    sample = max(0, sample)
    for index in behind.indices {
      sample = behind[index].next(sample)
    }
    sample = resonance.next(sample)
    sample *= pow(envelope.next(abs(sample)) + 0.01, -0.8)
    sample = 0.3 * stop.next(sample)
    sample = sample * sample * sample / (0.1 + sample * sample)
    for index in last.indices {
      sample = last[index].next(sample)
    }
    sample *= 1.5
    return sample / (1 + abs(sample))
  }
}
