internal import CMath

/// Second-order filters in series, in transposed direct form II.
struct BiquadCascade {
  /// The pass band.
  enum Kind {
    case lowPass
    case highPass
  }

  private struct Section {
    var b0: Double
    var b1: Double
    var b2: Double
    var a1: Double
    var a2: Double
    var firstState = 0.0
    var secondState = 0.0
  }

  private var sections: [Section] = []

  /// Creates a Butterworth filter by the bilinear transform (R. Bristow-Johnson, "Audio EQ
  /// Cookbook").
  ///
  /// - Parameters:
  ///   - kind: The pass band.
  ///   - order: 1, or an even number.
  ///   - hertz: The corner frequency, at −3 dB.
  ///   - rate: The sample rate, in hertz.
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
        a1: -2 * cos(angle) / (1 + alpha), a2: (1 - alpha) / (1 + alpha))
    }
  }

  /// Creates a section with the given coefficients of numerator and denominator.
  init(_ b0: Double, _ b1: Double, _ b2: Double, _ a1: Double, _ a2: Double) {
    sections = [Section(b0: b0, b1: b1, b2: b2, a1: a1, a2: a2)]
  }

  /// Returns the output for the next sample.
  mutating func next(_ sample: Double) -> Double {
    var sample = sample
    for index in sections.indices {
      let output = sections[index].b0 * sample + sections[index].firstState
      sections[index].firstState =
        sections[index].b1 * sample - sections[index].a1 * output + sections[index].secondState
      sections[index].secondState = sections[index].b2 * sample - sections[index].a2 * output
      // Denormal numbers would be slow.
      sample = abs(output) < 1e-30 ? 0 : output
    }
    return sample
  }
}

/// Follows a level with separate time constants for rise and fall.
struct EnvelopeFollower {
  private let riseCoefficient: Double
  private let fallCoefficient: Double
  private(set) var value: Double

  /// Creates a follower.
  ///
  /// - Parameters:
  ///   - rise: The time constant of rises, in seconds.
  ///   - fall: The time constant of falls, in seconds.
  ///   - rate: The rate of values, in hertz.
  ///   - value: The initial value.
  init(rise: Double, fall: Double, rate: Double, value: Double = 0) {
    riseCoefficient = exp(-1 / (rise * rate))
    fallCoefficient = exp(-1 / (fall * rate))
    self.value = value
  }

  /// Returns the next value.
  mutating func next(_ target: Double) -> Double {
    value = target + (value - target) * (target > value ? riseCoefficient : fallCoefficient)
    return value
  }
}

/// Measures the RMS level of a band in each control step.
struct BandLevelMeter {
  private var filters: [BiquadCascade]
  private var energy = 0.0

  /// Creates a meter with filters in series.
  init(_ filters: BiquadCascade...) { self.filters = filters }

  /// Adds a sample.
  mutating func add(_ sample: Double) {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].next(sample)
    }
    energy += sample * sample
  }

  /// Returns the RMS level of `count` samples, and starts the next measurement.
  mutating func drainLevel(count: Int) -> Double {
    defer { energy = 0 }
    return (energy / Double(count)).squareRoot()
  }
}
