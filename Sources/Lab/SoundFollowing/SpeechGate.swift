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
  private static let closed = -60.0
  private static let least = 1e-3
  /// By how many decibels a voice raises the knee, and a strike lowers it.
  private static let forVoice = 10.0
  private static let forStrike = 14.0
  /// The likeness of periods from which on a voice is heard, and that of a certain one.
  private static let possible = 0.55
  private static let certain = 0.85
  /// Times by which a level rises over that of the last 30 ms where something strikes, and seconds
  /// that it lasts.
  private static let rise = 12.0
  private static let strikeLength = 0.06

  private var low, middle: BandPower
  private var lowLevel, middleLevel, voice, usual, gain: Smoothing
  private var past: [Double] = [0, 0, 0, 0, 0, 0]
  private var voicing: Voicing
  private var strike = 0
  private let rate: Double

  /// - Parameter step: Frames of a control step.
  init(rate: Double, step: Int) {
    let control = rate / Double(step)
    self.rate = control
    low = BandPower(FilterCascade(.low, order: 4, hertz: 60, rate: rate))
    middle = BandPower(
      FilterCascade(.high, order: 1, hertz: 100, rate: rate),
      FilterCascade(.low, order: 1, hertz: 4_000, rate: rate))
    lowLevel = Smoothing(rise: 0.001, fall: 0.06, rate: control)
    middleLevel = Smoothing(rise: 0.002, fall: 0.06, rate: control)
    voice = Smoothing(rise: 0.004, fall: 1, rate: control)
    usual = Smoothing(rise: 0.03, fall: 0.03, rate: control)
    gain = Smoothing(rise: 0.0005, fall: 0.008, rate: control, value: 1)
    voicing = Voicing(rate: rate)
  }

  /// Takes a sample in, without what lies below 20 Hz.
  mutating func add(_ sample: Double) {
    low.add(sample)
    middle.add(sample)
    voicing.add(sample)
  }

  /// The gain at the end of a control step whose samples have a level.
  mutating func next(level: Double, count: Int) -> Double {
    let low = lowLevel.next(low.take(count))
    let middle = middleLevel.next(middle.take(count))
    let voice = voice.next(
      min(1, max(0, (voicing.likeness - Self.possible) / (Self.certain - Self.possible))))
    past.append(usual.next(level))
    if level > Self.rise * past.removeFirst(), level > 3 * Self.least, voice < 0.15 {
      strike = Int(Self.strikeLength * rate)
    }
    let strikes = min(1, 2 * Double(strike) / (Self.strikeLength * rate))
    let isQuiet = low < Self.least && strike == 0
    strike = max(0, strike - 1)
    let knee = Self.knee + Self.forVoice * voice - Self.forStrike * strikes * (1 - voice)
    let ratio = 20 * log10((low + 1e-7) / (middle + 1e-7))
    let decibels = isQuiet ? Self.closed : min(0, max(Self.closed, Self.slope * (ratio - knee)))
    return gain.next(pow(10, decibels / 20))
  }
}

/// How alike a sound is to itself a period of a voice later: 75 to 400 Hz, over 30 ms.
private struct Voicing {
  /// 1 where one period is like the other.
  private(set) var likeness = 0.0

  private static let lags = 10..<54
  private static let window = 120
  private static let hop = 16
  private let step: Int
  private var filters: [FilterCascade]
  private var samples: [Double] = []
  private var count = 0

  init(rate: Double) {
    // About 4 kHz.
    step = max(1, Int((rate / 4_000).rounded()))
    filters = [
      FilterCascade(.high, order: 2, hertz: 100, rate: rate),
      FilterCascade(.low, order: 2, hertz: 900, rate: rate),
    ]
  }

  mutating func add(_ sample: Double) {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].next(sample)
    }
    count += 1
    guard count % step == 0 else { return }
    samples.append(sample)
    guard samples.count == Self.window + Self.lags.upperBound + Self.hop else { return }
    samples.removeFirst(Self.hop)
    likeness = measured
  }

  /// The likeness at the first period that it rises to again.
  private var measured: Double {
    let first = Self.lags.upperBound
    let energy = product(first, first)
    guard energy > 1e-6 * Double(Self.window) else { return 0 }
    var best = 0.0
    var hasFallen = false
    for lag in Self.lags {
      let like =
        product(first, first - lag)
        / (energy * product(first - lag, first - lag) + 1e-18).squareRoot()
      if like < 0.2 {
        hasFallen = true
      }
      if hasFallen {
        best = max(best, like)
      }
    }
    return best
  }

  private func product(_ one: Int, _ other: Int) -> Double {
    var sum = 0.0
    for index in 0..<Self.window {
      sum += samples[one + index] * samples[other + index]
    }
    return sum
  }
}

/// A slow gain towards one strength, ±12 dB, that an event never meets while it moves.
struct GainRide {
  /// The level aimed for, the range in decibels, and decibels per second upwards and downwards.
  private static let target = 0.25
  private static let reach = 12.0
  private static let up = 2.0
  private static let down = 6.0
  /// Seconds it rests behind a rise of 6 dB, and in which the loudest is forgotten.
  private static let rest = 0.4
  private static let memory = 3.0
  /// The level below which nothing is felt and the gain stays.
  private static let least = 1e-3

  private var decibels = 0.0
  private var top = 0.0
  private var resting = 0
  private var usual: Smoothing
  private let rate: Double

  /// - Parameter rate: Control steps per second.
  init(rate: Double) {
    self.rate = rate
    usual = Smoothing(rise: 0.05, fall: 0.05, rate: rate)
  }

  /// The gain for what follows a level.
  mutating func next(_ level: Double) -> Double {
    if level > 2 * usual.value, level > Self.least {
      resting = Int(Self.rest * rate)
    }
    _ = usual.next(level)
    if level > Self.least {
      top *= exp(-1 / (Self.memory * rate))
    }
    top = max(level, top)
    if resting > 0 {
      resting -= 1
    } else if level > Self.least {
      let wanted = min(Self.reach, max(-Self.reach, 20 * log10(Self.target / max(top, 1e-6))))
      decibels += max(-Self.down / rate, min(Self.up / rate, wanted - decibels))
    }
    return pow(10, decibels / 20)
  }
}

/// Butterworth filters in cascade, by the bilinear transform (R. Bristow-Johnson, Audio EQ
/// Cookbook).
struct FilterCascade {
  /// What is let through.
  enum Kind { case low, high }

  private struct Section {
    var b0, b1, b2, a1, a2: Double
    var first = 0.0
    var second = 0.0
  }
  private var sections: [Section] = []

  /// - Parameters:
  ///   - order: 1, or an even number.
  ///   - hertz: The corner, 3 dB down.
  init(_ kind: Kind, order: Int, hertz: Double, rate: Double) {
    let angle = 2 * .pi * min(hertz, 0.45 * rate) / rate
    if order == 1 {
      let pole = (1 - sin(angle)) / cos(angle)
      let gain = kind == .low ? (1 - pole) / 2 : (1 + pole) / 2
      sections = [Section(b0: gain, b1: kind == .low ? gain : -gain, b2: 0, a1: -pole, a2: 0)]
      return
    }
    sections = (0..<order / 2).map { index in
      let quality = 0.5 / cos(.pi * (2 * Double(index) + 1) / Double(2 * order))
      let alpha = sin(angle) / (2 * quality)
      let gain = (kind == .low ? 1 - cos(angle) : 1 + cos(angle)) / 2 / (1 + alpha)
      return Section(
        b0: gain, b1: kind == .low ? 2 * gain : -2 * gain, b2: gain,
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
      let output = sections[index].b0 * sample + sections[index].first
      sections[index].first =
        sections[index].b1 * sample - sections[index].a1 * output + sections[index].second
      sections[index].second = sections[index].b2 * sample - sections[index].a2 * output
      // What is no longer heard takes no time.
      sample = abs(output) < 1e-30 ? 0 : output
    }
    return sample
  }
}

/// A level that follows another with one time constant upwards and one downwards.
struct Smoothing {
  private let up, down: Double
  private(set) var value: Double

  init(rise: Double, fall: Double, rate: Double, value: Double = 0) {
    up = exp(-1 / (rise * rate))
    down = exp(-1 / (fall * rate))
    self.value = value
  }

  mutating func next(_ target: Double) -> Double {
    value = target + (value - target) * (target > value ? up : down)
    return value
  }
}

/// The mean square of a band over the frames of a control step.
struct BandPower {
  private var filters: [FilterCascade]
  private var sum = 0.0

  init(_ filters: FilterCascade...) { self.filters = filters }

  /// Takes a sample in; what is left of it in the band.
  @discardableResult mutating func add(_ sample: Double) -> Double {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].next(sample)
    }
    sum += sample * sample
    return sample
  }

  /// The level of so many samples, which are forgotten.
  mutating func take(_ count: Int) -> Double {
    defer { sum = 0 }
    return (sum / Double(count)).squareRoot()
  }
}
