internal import CMath

/// Lets through what shakes a room, and not what is spoken.
///
/// Voices have next to nothing below 60 Hz, whatever they say: what lies there is weighed against
/// 100 to 4,000 Hz. Where a voice is heard, by its period, more is asked for; where something
/// strikes that has none, less. Opens in 1 ms, closes in 8.
struct SpeechGate {
  /// The ratio in decibels at which it begins to close, and by how many decibels for each that is
  /// missing.
  private static let knee = -19.0
  private static let slope = 4.0
  /// Decibels when closed, and the level below which nothing is let through.
  private static let closedDecibels = -60.0
  private static let minimumLevel = 1e-3
  /// By how many decibels a voice raises the knee, and a strike lowers it.
  private static let voiceKneeIncrease = 10.0
  private static let transientKneeDecrease = 14.0
  /// The likeness of periods from which on a voice is heard, and that of a certain one.
  private static let minimumPeriodicity = 0.55
  private static let certainPeriodicity = 0.85
  /// Times by which a level rises over that of the last 30 ms where something strikes, and seconds
  /// that it lasts.
  private static let riseRatio = 12.0
  private static let transientDuration = 0.06

  private var lowBand, midBand: BandLevelMeter
  private var lowLevel, midLevel, voicePresence, averageLevel, gain: EnvelopeFollower
  private var levelHistory: [Double] = [0, 0, 0, 0, 0, 0]
  private var periodicityDetector: PeriodicityDetector
  private var remainingTransientSteps = 0
  private let controlRate: Double

  /// - Parameter step: Frames of a control step.
  init(rate: Double, step: Int) {
    let control = rate / Double(step)
    self.controlRate = control
    lowBand = BandLevelMeter(BiquadCascade(.lowPass, order: 4, hertz: 60, rate: rate))
    midBand = BandLevelMeter(
      BiquadCascade(.highPass, order: 1, hertz: 100, rate: rate),
      BiquadCascade(.lowPass, order: 1, hertz: 4_000, rate: rate))
    lowLevel = EnvelopeFollower(rise: 0.001, fall: 0.06, rate: control)
    midLevel = EnvelopeFollower(rise: 0.002, fall: 0.06, rate: control)
    voicePresence = EnvelopeFollower(rise: 0.004, fall: 1, rate: control)
    averageLevel = EnvelopeFollower(rise: 0.03, fall: 0.03, rate: control)
    gain = EnvelopeFollower(rise: 0.0005, fall: 0.008, rate: control, value: 1)
    periodicityDetector = PeriodicityDetector(rate: rate)
  }

  /// Takes a sample in, without what lies below 20 Hz.
  mutating func add(_ sample: Double) {
    lowBand.add(sample)
    midBand.add(sample)
    periodicityDetector.add(sample)
  }

  /// The gain at the end of a control step whose samples have a level.
  mutating func next(level: Double, count: Int) -> Double {
    let low = lowLevel.next(lowBand.drainLevel(count: count))
    let middle = midLevel.next(midBand.drainLevel(count: count))
    let voice = voicePresence.next(
      min(
        1,
        max(
          0,
          (periodicityDetector.periodicity - Self.minimumPeriodicity)
            / (Self.certainPeriodicity - Self.minimumPeriodicity))))
    levelHistory.append(averageLevel.next(level))
    if level > Self.riseRatio * levelHistory.removeFirst(), level > 3 * Self.minimumLevel,
      voice < 0.15
    {
      remainingTransientSteps = Int(Self.transientDuration * controlRate)
    }
    let strikes = min(
      1, 2 * Double(remainingTransientSteps) / (Self.transientDuration * controlRate))
    let isQuiet = low < Self.minimumLevel && remainingTransientSteps == 0
    remainingTransientSteps = max(0, remainingTransientSteps - 1)
    let knee =
      Self.knee + Self.voiceKneeIncrease * voice - Self.transientKneeDecrease * strikes
      * (1 - voice)
    let ratio = 20 * log10((low + 1e-7) / (middle + 1e-7))
    let decibels =
      isQuiet ? Self.closedDecibels : min(0, max(Self.closedDecibels, Self.slope * (ratio - knee)))
    return gain.next(pow(10, decibels / 20))
  }
}

/// How alike a sound is to itself a period of a voice later: 75 to 400 Hz, over 30 ms.
private struct PeriodicityDetector {
  /// 1 where one period is like the other.
  private(set) var periodicity = 0.0

  private static let lags = 10..<54
  private static let windowLength = 120
  private static let hopLength = 16
  private let decimationFactor: Int
  private var filters: [BiquadCascade]
  private var samples: [Double] = []
  private var count = 0

  init(rate: Double) {
    // About 4 kHz.
    decimationFactor = max(1, Int((rate / 4_000).rounded()))
    filters = [
      BiquadCascade(.highPass, order: 2, hertz: 100, rate: rate),
      BiquadCascade(.lowPass, order: 2, hertz: 900, rate: rate),
    ]
  }

  mutating func add(_ sample: Double) {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].next(sample)
    }
    count += 1
    guard count % decimationFactor == 0 else { return }
    samples.append(sample)
    guard samples.count == Self.windowLength + Self.lags.upperBound + Self.hopLength else { return }
    samples.removeFirst(Self.hopLength)
    periodicity = measuredPeriodicity
  }

  /// The likeness at the first period that it rises to again.
  private var measuredPeriodicity: Double {
    let first = Self.lags.upperBound
    let energy = dotProduct(at: first, first)
    guard energy > 1e-6 * Double(Self.windowLength) else { return 0 }
    var best = 0.0
    var hasFallen = false
    for lag in Self.lags {
      let like =
        dotProduct(at: first, first - lag)
        / (energy * dotProduct(at: first - lag, first - lag) + 1e-18).squareRoot()
      if like < 0.2 {
        hasFallen = true
      }
      if hasFallen {
        best = max(best, like)
      }
    }
    return best
  }

  private func dotProduct(at one: Int, _ other: Int) -> Double {
    var sum = 0.0
    for index in 0..<Self.windowLength {
      sum += samples[one + index] * samples[other + index]
    }
    return sum
  }
}

/// A slow gain towards one strength, ±12 dB, that an event never meets while it moves.
struct AutomaticLevel {
  /// The level aimed for, the range in decibels, and decibels per second upwards and downwards.
  private static let targetLevel = 0.25
  private static let maximumGainDecibels = 12.0
  private static let riseRate = 2.0
  private static let fallRate = 6.0
  /// Seconds it rests behind a rise of 6 dB, and in which the loudest is forgotten.
  private static let holdTime = 0.4
  private static let peakDecayTime = 3.0
  /// The level below which nothing is felt and the gain stays.
  private static let minimumLevel = 1e-3

  private var decibels = 0.0
  private var peakLevel = 0.0
  private var remainingHoldSteps = 0
  private var averageLevel: EnvelopeFollower
  private let rate: Double

  /// - Parameter rate: Control steps per second.
  init(rate: Double) {
    self.rate = rate
    averageLevel = EnvelopeFollower(rise: 0.05, fall: 0.05, rate: rate)
  }

  /// The gain for what follows a level.
  mutating func next(_ level: Double) -> Double {
    if level > 2 * averageLevel.value, level > Self.minimumLevel {
      remainingHoldSteps = Int(Self.holdTime * rate)
    }
    _ = averageLevel.next(level)
    if level > Self.minimumLevel {
      peakLevel *= exp(-1 / (Self.peakDecayTime * rate))
    }
    peakLevel = max(level, peakLevel)
    if remainingHoldSteps > 0 {
      remainingHoldSteps -= 1
    } else if level > Self.minimumLevel {
      let wanted = min(
        Self.maximumGainDecibels,
        max(-Self.maximumGainDecibels, 20 * log10(Self.targetLevel / max(peakLevel, 1e-6))))
      decibels += max(-Self.fallRate / rate, min(Self.riseRate / rate, wanted - decibels))
    }
    return pow(10, decibels / 20)
  }
}

/// Butterworth filters in cascade, by the bilinear transform (R. Bristow-Johnson, Audio EQ
/// Cookbook).
struct BiquadCascade {
  /// What is let through.
  enum Kind { case lowPass, highPass }

  private struct Section {
    var b0, b1, b2, a1, a2: Double
    var firstState = 0.0
    var secondState = 0.0
  }
  private var sections: [Section] = []

  /// - Parameters:
  ///   - order: 1, or an even number.
  ///   - hertz: The corner, 3 dB down.
  init(_ kind: Kind, order: Int, hertz: Double, rate: Double) {
    let angle = 2 * .pi * min(hertz, 0.45 * rate) / rate
    if order == 1 {
      let pole = (1 - sin(angle)) / cos(angle)
      let gain = kind == .lowPass ? (1 - pole) / 2 : (1 + pole) / 2
      sections = [Section(b0: gain, b1: kind == .lowPass ? gain : -gain, b2: 0, a1: -pole, a2: 0)]
      return
    }
    sections = (0..<order / 2).map { index in
      let quality = 0.5 / cos(.pi * (2 * Double(index) + 1) / Double(2 * order))
      let alpha = sin(angle) / (2 * quality)
      let gain = (kind == .lowPass ? 1 - cos(angle) : 1 + cos(angle)) / 2 / (1 + alpha)
      return Section(
        b0: gain, b1: kind == .lowPass ? 2 * gain : -2 * gain, b2: gain,
        a1: -2 * cos(angle) / (1 + alpha),
        a2: (1 - alpha) / (1 + alpha))
    }
  }

  /// One section of given weights.
  init(_ b0: Double, _ b1: Double, _ b2: Double, _ a1: Double, _ a2: Double) {
    sections = [Section(b0: b0, b1: b1, b2: b2, a1: a1, a2: a2)]
  }

  mutating func next(_ sample: Double) -> Double {
    var sample = sample
    for index in sections.indices {
      let output = sections[index].b0 * sample + sections[index].firstState
      sections[index].firstState =
        sections[index].b1 * sample - sections[index].a1 * output + sections[index].secondState
      sections[index].secondState = sections[index].b2 * sample - sections[index].a2 * output
      // What is no longer heard takes no time.
      sample = abs(output) < 1e-30 ? 0 : output
    }
    return sample
  }
}

/// A level that follows another with one time constant upwards and one downwards.
struct EnvelopeFollower {
  private let riseCoefficient, fallCoefficient: Double
  private(set) var value: Double

  init(rise: Double, fall: Double, rate: Double, value: Double = 0) {
    riseCoefficient = exp(-1 / (rise * rate))
    fallCoefficient = exp(-1 / (fall * rate))
    self.value = value
  }

  mutating func next(_ target: Double) -> Double {
    value = target + (value - target) * (target > value ? riseCoefficient : fallCoefficient)
    return value
  }
}

/// The mean square of a band over the frames of a control step.
struct BandLevelMeter {
  private var filters: [BiquadCascade]
  private var energy = 0.0

  init(_ filters: BiquadCascade...) { self.filters = filters }

  /// Takes a sample in; what is left of it in the band.
  @discardableResult mutating func add(_ sample: Double) -> Double {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].next(sample)
    }
    energy += sample * sample
    return sample
  }

  /// The level of so many samples, which are forgotten.
  mutating func drainLevel(count: Int) -> Double {
    defer { energy = 0 }
    return (energy / Double(count)).squareRoot()
  }
}
