#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

/// Follows how far a transducer moves and how warm it is, and finds the gain that keeps both in their limits.
///
/// It works in steps of half a millisecond or so. The movement follows a model of one resonance: its
/// energy bounds every displacement to come, and as that nears the limit the drive is taken back, to nothing at the
/// limit; without drive the energy only falls. The temperature rise follows the power in two time constants; as it nears
/// the continuous rating, the power is led to what keeps it there. While nothing is near
/// a limit the gain is exactly 1.
struct TransducerLimiter: Sendable, BitwiseCopyable {
  /// Frames of a step.
  let stepLength: Int
  /// The gain at the beginning of the step that comes.
  private(set) var gain = 1.0
  /// What the gain grows by with each frame of it; exactly 0 while nothing is near a limit.
  private(set) var slope = 0.0
  /// How warm the transducer is.
  private(set) var temperatureRise: TransducerThermalState

  /// The share of the energy at the excursion limit above which the drive is taken back: 0.8 of the way.
  private static let knee = 0.64
  /// Seconds in which the drive comes back by a factor e after an excursion.
  private static let recovery = 0.2
  /// How much more power is allowed for each unit of temperature rise that is left.
  private static let headroom = 20.0
  /// The time over which the requested power is averaged, as a fraction of the coil's.
  private static let averaging = 0.05
  /// No sample that leaves the limiter behind is greater.
  private static var ceiling: Double {
    @_noLocks get { Double(Limiter.ceiling) }
  }
  /// Frames of the shortest step; every step is a multiple of it.
  private static let shortestStep = 4
  /// Seconds of the longest step.
  private static let longestStep = 0.000_7
  /// The most radians of the resonance in a step, so that the mean of the drive stands for its course.
  private static let maximumPhaseStep = 0.4
  /// The most that a step may add to the movement, as a share of the limit.
  private static let mostStride = 0.2

  private let step: MotionStateTransition
  private let perStep: Double
  /// 1 / limit², or 0 without a limit.
  private let perLimit: Double
  /// The power of a drive whose square has a mean of 1.
  private let power: Double
  private let coilFraction: Double
  private let coilStep: Double
  private let magnetStep: Double
  private let averagingStep: Double
  private let recoveryStep: Double

  /// Displacement and velocity.
  private var motion = SIMD2<Double>()
  private var excursionGain = 1.0
  private var nextGain = 1.0
  /// The requested power, averaged.
  private var asked = 0.0

  /// A transducer at rest.
  init(
    _ settings: TransducerSettings,
    temperatureRise: TransducerThermalState = TransducerThermalState()
  ) {
    let limit = settings.limits.excursion ?? .infinity
    var longest = Self.longestStep
    if let model = settings.model {
      let omega = min(
        Self.maximumPhaseStep, Self.mostStride * model.qualityFactor * limit / Self.ceiling)
      longest = min(longest, omega / (2 * Double.pi * model.resonance))
    }
    let count = max(1, Int(longest * settings.rate) / Self.shortestStep)
    let seconds = Double(count * Self.shortestStep) / settings.rate
    let thermal = settings.limits.thermal
    self.temperatureRise = temperatureRise
    stepLength = count * Self.shortestStep
    perStep = 1 / Double(stepLength)
    step =
      settings.model.map { MotionStateTransition($0, seconds: seconds) } ?? MotionStateTransition()
    perLimit = 1 / (limit * limit)
    // A sine has half the power of its peak.
    power = 2 * (settings.limits.power ?? 0)
    coilFraction = thermal.coilFraction
    coilStep = seconds / thermal.coilTimeConstant
    magnetStep = seconds / thermal.magnetTimeConstant
    averagingStep = min(1, seconds / (Self.averaging * thermal.coilTimeConstant))
    recoveryStep = seconds / Self.recovery
  }

  /// Takes what a step was and finds the gain at the end of the next one.
  ///
  /// - Parameters:
  ///   - drive: The sum of the drive behind the gain.
  ///   - square: The sum of its squares.
  ///   - asked: The sum of the squares before the gain.
  @_noLocks
  mutating func advance(
    drive: Double, square: Double, asked: Double, statistics: inout RenderStatistics
  ) {
    followMotion(mean: drive * perStep, statistics: &statistics)
    let powerGain = followPower(
      square: square * perStep, asked: asked * perStep, statistics: &statistics)
    gain = nextGain
    nextGain = excursionGain * powerGain
    slope = (nextGain - gain) * perStep
    if excursionGain < 1 { statistics.excursionLimitedFrameCount &+= Int64(stepLength) }
    if powerGain < 1 { statistics.powerLimitedFrameCount &+= Int64(stepLength) }
    if Float(nextGain) < statistics.minimumProtectionGain {
      statistics.minimumProtectionGain = Float(nextGain)
    }
  }

  /// Forgets the movement; the temperature rise stays.
  @_noLocks
  mutating func rest() { motion = SIMD2() }

  @_noLocks
  private mutating func followMotion(mean: Double, statistics: inout RenderStatistics) {
    let drive = mean > Self.ceiling ? Self.ceiling : (mean < -Self.ceiling ? -Self.ceiling : mean)
    motion = step.next(motion) + step.drive * drive
    // What has died away must not make the arithmetic slow.
    let energy = motion.x * motion.x + motion.y * motion.y
    if energy < 1e-60 { motion = SIMD2() }
    let filled = energy * perLimit
    let greatest = Double(statistics.peakExcursion)
    if filled > greatest * greatest {
      statistics.peakExcursion = Float(filled * RealtimeMath.inverseSquareRoot(filled))
    }
    let wanted = filled > Self.knee ? max(0, 1 - filled) / (1 - Self.knee) : 1
    if wanted < excursionGain {
      excursionGain = wanted
    } else if wanted == 1, excursionGain > 0.9999 {
      excursionGain = 1
    } else {
      excursionGain += (wanted - excursionGain) * recoveryStep
    }
  }

  @_noLocks
  private mutating func followPower(
    square: Double, asked: Double, statistics: inout RenderStatistics
  ) -> Double {
    let most = Self.ceiling * Self.ceiling
    let spent = (square < most ? square : most) * power
    temperatureRise.coil += (coilFraction * spent - temperatureRise.coil) * coilStep
    temperatureRise.magnet += ((1 - coilFraction) * spent - temperatureRise.magnet) * magnetStep
    let total = temperatureRise.total
    if Float(total) > statistics.peakTemperatureRise {
      statistics.peakTemperatureRise = Float(total)
    }
    self.asked += (asked * power - self.asked) * averagingStep
    let allowed =
      TransducerLimits.powerAim
      + Self.headroom * (TransducerLimits.powerAim - total)
    if self.asked <= allowed { return 1 }
    return allowed > 0 ? min(1, RealtimeMath.inverseSquareRoot(self.asked / allowed)) : 0
  }
}

/// How warm a transducer is, where 1 is what its continuous power leads to in the end.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The coil's part, which follows in seconds.
  public var coil: Double
  /// The part of magnet and case, which follows in minutes.
  public var magnet: Double

  /// A transducer; by default at ambient temperature.
  @_noLocks
  public init(coil: Double = 0, magnet: Double = 0) {
    self.coil = coil
    self.magnet = magnet
  }

  /// Both parts together.
  public var total: Double {
    @_noLocks get { coil + magnet }
  }

  /// What is left of it after seconds without drive.
  public func cooled(for seconds: Double, by thermal: ThermalParameters) -> TransducerThermalState {
    TransducerThermalState(
      coil: coil * exp(-seconds / thermal.coilTimeConstant),
      magnet: magnet * exp(-seconds / thermal.magnetTimeConstant))
  }

  /// Both parts in one word, in steps of Float, so that they can be handed between threads.
  var bits: UInt64 {
    @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) }
  }

  /// The thermal state in a word.
  init(bits: UInt64) {
    coil = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32)))
    magnet = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }
}
