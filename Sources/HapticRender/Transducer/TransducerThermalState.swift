internal import CMath

/// How warm a transducer is, where 1 is what its continuous power leads to in the end.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The coil's part, which follows in seconds.
  public var coil: Double
  /// The part of magnet and case, which follows in minutes.
  public var magnet: Double

  /// A transducer; by default at ambient temperature.
  @_noLocks public init(coil: Double = 0, magnet: Double = 0) {
    self.coil = coil
    self.magnet = magnet
  }

  /// Both parts together.
  public var total: Double { @_noLocks get { coil + magnet } }

  /// What is left of it after seconds without drive.
  public func cooled(for seconds: Double, by thermal: ThermalParameters) -> TransducerThermalState {
    TransducerThermalState(
      coil: coil * exp(-seconds / thermal.coilTimeConstant), magnet: magnet * exp(-seconds / thermal.magnetTimeConstant)
    )
  }

  /// Both parts in one word, in steps of Float, so that they can be handed between threads.
  var bits: UInt64 { @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) } }

  /// The thermal state in a word.
  init(bits: UInt64) {
    coil = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32)))
    magnet = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }
}

/// Follows how warm a transducer is and finds the gain that keeps it within its continuous power.
///
/// The temperature rise follows the power in two time constants; as it nears the continuous rating, the power
/// is led to what keeps it there. The gain is exactly 1 while the rating is far.
struct ThermalLimiter: Sendable, BitwiseCopyable {
  /// How warm the transducer is.
  private(set) var temperatureRise: TransducerThermalState

  /// How much more power is allowed for each unit of temperature rise that is left.
  private static let headroom = 20.0
  /// The time over which the requested power is averaged, as a fraction of the coil's.
  private static let averaging = 0.05

  /// The power of a drive whose square has a mean of 1.
  private let power: Double
  private let coilFraction: Double
  private let coilStep: Double
  private let magnetStep: Double
  private let averagingStep: Double
  /// The requested power, averaged.
  private var asked = 0.0

  /// A transducer whose power is followed in steps of so many seconds.
  init(_ limits: TransducerLimits, seconds: Double, temperatureRise: TransducerThermalState) {
    let thermal = limits.thermal
    self.temperatureRise = temperatureRise
    // A sine has half the power of its peak.
    power = 2 * (limits.power ?? 0)
    coilFraction = thermal.coilFraction
    coilStep = seconds / thermal.coilTimeConstant
    magnetStep = seconds / thermal.magnetTimeConstant
    averagingStep = min(1, seconds / (Self.averaging * thermal.coilTimeConstant))
  }

  /// Takes the mean squares of a step with and without the gain, and returns the gain that comes.
  @_noLocks mutating func advance(spent square: Double, asked: Double) -> Double {
    let spent = square * power
    temperatureRise.coil += (coilFraction * spent - temperatureRise.coil) * coilStep
    temperatureRise.magnet += ((1 - coilFraction) * spent - temperatureRise.magnet) * magnetStep
    self.asked += (asked * power - self.asked) * averagingStep
    return gain
  }

  /// The gain that keeps the power asked for within what the temperature allows.
  private var gain: Double {
    @_noLocks get {
      let allowed = TransducerLimits.powerAim + Self.headroom * (TransducerLimits.powerAim - temperatureRise.total)
      if asked <= allowed { return 1 }
      return allowed > 0 ? min(1, RealtimeMath.inverseSquareRoot(asked / allowed)) : 0
    }
  }
}
