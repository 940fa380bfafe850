internal import CMath

/// The temperature rise of a transducer, relative to its final value at continuous power.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The contribution of the coil, which follows within seconds.
  public var coilRise: Double
  /// The contribution of the magnet and the case, which follow within minutes.
  public var magnetRise: Double

  /// Creates a state; the default is ambient temperature.
  @_noLocks public init(coilRise coil: Double = 0, magnetRise magnet: Double = 0) {
    self.coilRise = coil
    self.magnetRise = magnet
  }

  /// The total temperature rise.
  public var totalRise: Double { @_noLocks get { coilRise + magnetRise } }

  /// Returns the temperature rise after a time without drive.
  ///
  /// - Parameters:
  ///   - seconds: The time, in seconds.
  ///   - thermal: The thermal parameters of the transducer.
  public func cooled(for seconds: Double, by thermal: ThermalParameters) -> TransducerThermalState {
    TransducerThermalState(
      coilRise: coilRise * exp(-seconds / thermal.coilTimeConstant),
      magnetRise: magnetRise * exp(-seconds / thermal.magnetTimeConstant)
    )
  }

  /// The coil and magnet contributions as two packed floats, for atomic exchange between threads.
  var bitPattern: UInt64 {
    @_noLocks get {
      UInt64(Float(coilRise).bitPattern) << 32 | UInt64(Float(magnetRise).bitPattern)
    }
  }

  init(bitPattern: UInt64) {
    coilRise = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bitPattern >> 32)))
    magnetRise = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bitPattern)))
  }
}

/// A thermal model of a transducer and a limiter of its power.
///
/// The temperature rise follows the power with two time constants. Near the continuous rating, the
/// power is limited to a value that holds the temperature. Far from it, the gain is exactly 1.
struct ThermalLimiter: Sendable, BitwiseCopyable {
  /// The temperature rise of the transducer.
  private(set) var temperatureRise: TransducerThermalState

  /// The allowed power beyond the target, per unit of remaining temperature rise.
  private static let allowedPowerPerRemainingRise = 20.0
  /// The averaging time of the requested power, as a fraction of the coil's time constant.
  private static let averagingFraction = 0.05

  /// The power of a drive with a mean square of 1.
  private let fullScalePower: Double
  private let coilTemperatureFraction: Double
  /// The one-pole coefficient of the coil per step.
  private let coilSmoothingCoefficient: Double
  /// The one-pole coefficient of the magnet per step.
  private let magnetSmoothingCoefficient: Double
  /// The one-pole coefficient of the requested power per step.
  private let requestedPowerSmoothingCoefficient: Double
  /// The average requested power.
  private var averageRequestedPower = 0.0

  init(
    _ limits: TransducerLimits, stepSeconds: Double, temperatureRise: TransducerThermalState
  ) {
    let thermalParameters = limits.thermal
    self.temperatureRise = temperatureRise
    // The power of a sine is half that of its peak.
    fullScalePower = 2 * (limits.fullScalePowerRatio ?? 0)
    coilTemperatureFraction = thermalParameters.coilTemperatureFraction
    coilSmoothingCoefficient = stepSeconds / thermalParameters.coilTimeConstant
    magnetSmoothingCoefficient = stepSeconds / thermalParameters.magnetTimeConstant
    requestedPowerSmoothingCoefficient = min(
      1, stepSeconds / (Self.averagingFraction * thermalParameters.coilTimeConstant))
  }

  /// Advances the model by a step and returns the gain for the next.
  ///
  /// - Parameters:
  ///   - outputMeanSquare: The mean square of the output.
  ///   - requestedMeanSquare: The mean square of the output without gain reduction.
  @_noLocks mutating func advance(outputMeanSquare: Double, requestedMeanSquare: Double) -> Double {
    let outputPower = outputMeanSquare * fullScalePower
    temperatureRise.coilRise +=
      (coilTemperatureFraction * outputPower - temperatureRise.coilRise) * coilSmoothingCoefficient
    temperatureRise.magnetRise +=
      ((1 - coilTemperatureFraction) * outputPower - temperatureRise.magnetRise)
      * magnetSmoothingCoefficient
    averageRequestedPower +=
      (requestedMeanSquare * fullScalePower - averageRequestedPower)
      * requestedPowerSmoothingCoefficient
    return gain
  }

  /// The gain that reduces the requested power to the power that the temperature allows.
  private var gain: Double {
    @_noLocks get {
      let allowed =
        TransducerLimits.targetTemperatureRise + Self.allowedPowerPerRemainingRise
        * (TransducerLimits.targetTemperatureRise - temperatureRise.totalRise)
      if averageRequestedPower <= allowed { return 1 }
      return allowed > 0
        ? min(1, RealtimeMath.inverseSquareRoot(averageRequestedPower / allowed)) : 0
    }
  }
}
