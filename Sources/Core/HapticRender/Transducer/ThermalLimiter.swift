internal import CMath

/// The temperature rise of a transducer, relative to its final value at continuous power.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The contribution of the coil to the temperature rise, which changes within seconds.
  public var coilTemperatureRiseFraction: Double
  /// The part of the temperature rise due to the magnet and the case.
  ///
  /// It changes within minutes.
  public var magnetTemperatureRiseFraction: Double

  /// Creates a thermal state from the two contributions; the default is ambient temperature.
  @_noLocks public init(
    coilTemperatureRiseFraction coil: Double = 0, magnetTemperatureRiseFraction magnet: Double = 0
  ) {
    self.coilTemperatureRiseFraction = coil
    self.magnetTemperatureRiseFraction = magnet
  }

  /// The total temperature rise, of the coil and the magnet, relative to the limit.
  public var totalTemperatureRiseFraction: Double {
    @_noLocks get { coilTemperatureRiseFraction + magnetTemperatureRiseFraction }
  }

  /// Returns the temperature rise after a time without drive.
  ///
  /// - Parameters:
  ///   - seconds: The time, in seconds.
  ///   - thermal: The thermal parameters of the transducer.
  public func cooled(for seconds: Double, by thermal: ThermalParameters) -> TransducerThermalState {
    TransducerThermalState(
      coilTemperatureRiseFraction: coilTemperatureRiseFraction
        * exp(-seconds / thermal.coilTimeConstantSeconds),
      magnetTemperatureRiseFraction: magnetTemperatureRiseFraction
        * exp(-seconds / thermal.magnetTimeConstantSeconds)
    )
  }

  /// The coil and magnet contributions as two packed floats, for atomic exchange between threads.
  var bitPattern: UInt64 {
    @_noLocks get {
      UInt64(Float(coilTemperatureRiseFraction).bitPattern) << 32
        | UInt64(Float(magnetTemperatureRiseFraction).bitPattern)
    }
  }

  init(bitPattern: UInt64) {
    coilTemperatureRiseFraction = Double(
      Float(bitPattern: UInt32(truncatingIfNeeded: bitPattern >> 32)))
    magnetTemperatureRiseFraction = Double(
      Float(bitPattern: UInt32(truncatingIfNeeded: bitPattern)))
  }
}

/// A limiter of a transducer's power, based on a thermal model of the transducer.
///
/// The temperature rise follows the power with two time constants. Near the continuous rating, the
/// power is limited to a value that holds the temperature. Far from it, the gain is exactly 1.
struct ThermalLimiter: Sendable, BitwiseCopyable {
  /// The temperature rise of the transducer.
  private(set) var temperatureRise: TransducerThermalState

  /// The allowed excess over the sustainable power, per unit of remaining temperature rise.
  ///
  /// The remaining rise is the distance to the target.
  private static let allowedPowerPerRemainingRise = 20.0
  /// The averaging time of the requested power, as a fraction of the coil's time constant.
  private static let averagingToCoilTimeRatio = 0.05

  /// The power of a drive with a mean square of 1, relative to the continuous power.
  private let unitMeanSquareToContinuousPowerRatio: Double
  private let coilFractionOfTemperatureRise: Double
  /// The one-pole coefficient of the coil's temperature rise, per step.
  ///
  /// The temperature rise follows the power.
  private let coilSmoothingCoefficient: Double
  /// The one-pole coefficient of the magnet's temperature rise, per step.
  ///
  /// The temperature rise follows the power.
  private let magnetSmoothingCoefficient: Double
  /// The one-pole coefficient of the average requested power, per step.
  private let requestedPowerSmoothingCoefficient: Double
  /// The moving average of the power that the input requests.
  private var averageRequestedPower = 0.0

  init(
    _ limits: TransducerLimits, stepSeconds: Double, temperatureRise: TransducerThermalState
  ) {
    let thermalParameters = limits.thermal
    self.temperatureRise = temperatureRise
    // The power of a sine is half that of its peak.
    unitMeanSquareToContinuousPowerRatio = 2 * (limits.fullScaleToContinuousPowerRatio ?? 0)
    coilFractionOfTemperatureRise = thermalParameters.coilFractionOfTemperatureRise
    coilSmoothingCoefficient = stepSeconds / thermalParameters.coilTimeConstantSeconds
    magnetSmoothingCoefficient = stepSeconds / thermalParameters.magnetTimeConstantSeconds
    requestedPowerSmoothingCoefficient = min(
      1, stepSeconds / (Self.averagingToCoilTimeRatio * thermalParameters.coilTimeConstantSeconds))
  }

  /// Advances the thermal model by a step, and returns the allowed gain for the next step.
  ///
  /// - Parameters:
  ///   - outputMeanSquare: The mean square of the output.
  ///   - requestedMeanSquare: The mean square of the output without gain reduction.
  @_noLocks mutating func advance(outputMeanSquare: Double, requestedMeanSquare: Double) -> Double {
    let outputPower = outputMeanSquare * unitMeanSquareToContinuousPowerRatio
    temperatureRise.coilTemperatureRiseFraction +=
      (coilFractionOfTemperatureRise * outputPower - temperatureRise.coilTemperatureRiseFraction)
      * coilSmoothingCoefficient
    temperatureRise.magnetTemperatureRiseFraction +=
      ((1 - coilFractionOfTemperatureRise) * outputPower
        - temperatureRise.magnetTemperatureRiseFraction)
      * magnetSmoothingCoefficient
    averageRequestedPower +=
      (requestedMeanSquare * unitMeanSquareToContinuousPowerRatio - averageRequestedPower)
      * requestedPowerSmoothingCoefficient
    return allowedGain
  }

  /// The gain that reduces the requested power to the power that the temperature allows.
  private var allowedGain: Double {
    @_noLocks get {
      let allowed =
        TransducerLimits.targetTemperatureRiseFraction + Self.allowedPowerPerRemainingRise
        * (TransducerLimits.targetTemperatureRiseFraction
          - temperatureRise.totalTemperatureRiseFraction)
      if averageRequestedPower <= allowed { return 1 }
      return allowed > 0
        ? min(1, RealtimeMath.inverseSquareRoot(averageRequestedPower / allowed)) : 0
    }
  }
}
