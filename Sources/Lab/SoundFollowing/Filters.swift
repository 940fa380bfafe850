internal import CMath
import SignalAnalysis

/// A follower of a level with separate time constants for rise and fall.
struct EnvelopeFollower {
  private let riseCoefficient: Double
  private let fallCoefficient: Double
  private(set) var currentLevel: Double

  /// Creates a follower with time constants for rise and fall.
  ///
  /// - Parameters:
  ///   - rise: The time constant of rises, in seconds.
  ///   - fall: The time constant of falls, in seconds.
  ///   - rate: The rate of values, in hertz.
  ///   - value: The initial value.
  init(rise: Double, fall: Double, rate: Double, currentLevel value: Double = 0) {
    riseCoefficient = exp(-1 / (rise * rate))
    fallCoefficient = exp(-1 / (fall * rate))
    self.currentLevel = value
  }

  /// Moves the level toward a target for one step, and returns the new level.
  mutating func advance(toward target: Double) -> Double {
    currentLevel =
      target + (currentLevel - target) * (target > currentLevel ? riseCoefficient : fallCoefficient)
    return currentLevel
  }
}

/// A meter of the RMS level of a frequency band in each control step.
struct BandLevelMeter {
  private var filters: [BiquadCascade]
  private var summedEnergy = 0.0

  /// Creates a meter with filters in series.
  init(_ filters: BiquadCascade...) { self.filters = filters }

  /// Adds a sample to the measurement of the current control step.
  mutating func addSample(_ sample: Double) {
    var sample = sample
    for index in filters.indices {
      sample = filters[index].process(sample)
    }
    summedEnergy += sample * sample
  }

  /// Returns the RMS level of `count` samples, and starts the next measurement.
  mutating func drainLevel(count: Int) -> Double {
    defer { summedEnergy = 0 }
    return (summedEnergy / Double(count)).squareRoot()
  }
}
