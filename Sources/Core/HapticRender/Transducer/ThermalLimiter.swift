internal import CMath

/// The temperature rise of a transducer, relative to its final value at continuous power.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The contribution of the coil, which follows within seconds.
  public var coil: Double
  /// The contribution of the magnet and the case, which follow within minutes.
  public var magnet: Double

  /// Creates a state; the default is ambient temperature.
  @_noLocks public init(coil: Double = 0, magnet: Double = 0) {
    self.coil = coil
    self.magnet = magnet
  }

  /// The total temperature rise.
  public var total: Double { @_noLocks get { coil + magnet } }

  /// Returns the temperature rise after a time without drive.
  ///
  /// - Parameters:
  ///   - seconds: The time, in seconds.
  ///   - thermal: The thermal parameters of the transducer.
  public func cooled(for seconds: Double, by thermal: ThermalParameters) -> TransducerThermalState {
    TransducerThermalState(
      coil: coil * exp(-seconds / thermal.coilTimeConstant),
      magnet: magnet * exp(-seconds / thermal.magnetTimeConstant)
    )
  }

  /// Both contributions in single precision, for atomic exchange between threads.
  var bitPattern: UInt64 {
    @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) }
  }

  init(bitPattern: UInt64) {
    coil = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bitPattern >> 32)))
    magnet = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bitPattern)))
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
  private static let powerPerHeadroom = 20.0
  /// The averaging time of the requested power, as a fraction of the coil's time constant.
  private static let averagingFraction = 0.05

  /// The power of a drive with a mean square of 1.
  private let fullScalePower: Double
  private let coilFraction: Double
  /// The one-pole coefficient of the coil per step.
  private let coilSmoothing: Double
  /// The one-pole coefficient of the magnet per step.
  private let magnetSmoothing: Double
  /// The one-pole coefficient of the requested power per step.
  private let requestSmoothing: Double
  /// The average requested power.
  private var requestedPower = 0.0

  init(
    _ limits: TransducerLimits, stepSeconds: Double, temperatureRise: TransducerThermalState
  ) {
    let thermal = limits.thermal
    self.temperatureRise = temperatureRise
    // The power of a sine is half that of its peak.
    fullScalePower = 2 * (limits.power ?? 0)
    coilFraction = thermal.coilFraction
    coilSmoothing = stepSeconds / thermal.coilTimeConstant
    magnetSmoothing = stepSeconds / thermal.magnetTimeConstant
    requestSmoothing = min(1, stepSeconds / (Self.averagingFraction * thermal.coilTimeConstant))
  }

  /// Advances the model by a step and returns the gain for the next.
  ///
  /// - Parameters:
  ///   - outputMeanSquare: The mean square of the output.
  ///   - requestedMeanSquare: The mean square of the output without gain reduction.
  @_noLocks mutating func advance(outputMeanSquare: Double, requestedMeanSquare: Double) -> Double {
    let power = outputMeanSquare * fullScalePower
    temperatureRise.coil += (coilFraction * power - temperatureRise.coil) * coilSmoothing
    temperatureRise.magnet +=
      ((1 - coilFraction) * power - temperatureRise.magnet) * magnetSmoothing
    requestedPower +=
      (requestedMeanSquare * fullScalePower - requestedPower) * requestSmoothing
    return gain
  }

  /// The gain that reduces the requested power to the power that the temperature allows.
  private var gain: Double {
    @_noLocks get {
      let allowed =
        TransducerLimits.targetTemperatureRise + Self.powerPerHeadroom
        * (TransducerLimits.targetTemperatureRise - temperatureRise.total)
      if requestedPower <= allowed { return 1 }
      return allowed > 0 ? min(1, RealtimeMath.inverseSquareRoot(requestedPower / allowed)) : 0
    }
  }
}
