internal import CMath
import SignalAnalysis

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
      sample = filters[index].process(sample)
    }
    energy += sample * sample
  }

  /// Returns the RMS level of `count` samples, and starts the next measurement.
  mutating func drainLevel(count: Int) -> Double {
    defer { energy = 0 }
    return (energy / Double(count)).squareRoot()
  }
}
