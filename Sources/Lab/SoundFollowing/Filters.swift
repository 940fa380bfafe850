internal import CMath
import SignalAnalysis

/// An envelope follower with separate attack and release time constants.
struct EnvelopeFollower {
  private let attackCoefficient: Double
  private let releaseCoefficient: Double
  private(set) var currentLevel: Double

  /// Creates an envelope follower with attack and release time constants.
  ///
  /// - Parameters:
  ///   - attack: The time constant of rises, in seconds.
  ///   - release: The time constant of falls, in seconds.
  ///   - rate: The rate of values, in hertz.
  ///   - initialLevel: The level before the first value.
  init(attack: Double, release: Double, rate: Double, initialLevel: Double = 0) {
    attackCoefficient = exp(-1 / (attack * rate))
    releaseCoefficient = exp(-1 / (release * rate))
    currentLevel = initialLevel
  }

  /// Moves the level toward a target for one step, and returns the new level.
  mutating func advance(toward target: Double) -> Double {
    let smoothingCoefficient = target > currentLevel ? attackCoefficient : releaseCoefficient
    currentLevel = target + (currentLevel - target) * smoothingCoefficient
    return currentLevel
  }
}

/// A meter of the RMS level in a frequency band, measured in each control step.
struct BandLevelMeter {
  private var filters: [BiquadCascade]
  private var summedEnergy = 0.0

  /// Creates a meter with a series of filters that select the band.
  init(_ filters: BiquadCascade...) { self.filters = filters }

  /// Adds a sample to the measurement of the current control step.
  mutating func addSample(_ sample: Double) {
    var filteredSample = sample
    for index in filters.indices {
      filteredSample = filters[index].process(filteredSample)
    }
    summedEnergy += filteredSample * filteredSample
  }

  /// Returns the RMS level of `count` samples, and starts the next measurement.
  mutating func drainLevel(count: Int) -> Double {
    defer { summedEnergy = 0 }
    return (summedEnergy / Double(count)).squareRoot()
  }
}
