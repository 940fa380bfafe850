/// What a transducer would do with a signal, sample by sample.
///
/// The drive is taken as a straight line between two samples; for such a drive displacement, velocity and
/// acceleration are exact. For sines that leaves less than 0.07 dB up to a twentieth of the rate, from 8 kHz on.
public struct TransducerSimulation: BitwiseCopyable, Sendable {
  /// Displacement and velocity, each 1 for a full-scale sine at resonance.
  private var motion = SIMD2<Double>()
  /// The greatest magnitude of the displacement so far.
  public private(set) var greatestDisplacement = 0.0
  private var lastDrive = 0.0
  private let step: MotionStateTransition
  /// What the drive at a step's end adds, above one that stands still.
  private let arriving: SIMD2<Double>
  private let quality: Double

  /// A transducer at rest.
  public init(_ model: TransducerModel, rate: Double) {
    let seconds = 1 / rate
    let turn = 2 * Double.pi * model.resonance
    step = MotionStateTransition(model, seconds: seconds)
    // The integral of what a rising drive leaves, by parts; `short` is what a constant one lacks to a force alone.
    let short = step.drive - SIMD2(0, turn / model.quality * seconds)
    arriving =
      SIMD2(-short.x / model.quality - short.y, short.x) / (turn * seconds)
    quality = model.quality
  }

  /// The displacement: 1 is the peak of a full-scale sine at resonance.
  public var displacement: Double { motion.x }

  /// The velocity, in the same measure.
  public var velocity: Double { motion.y }

  /// Takes the next sample of the drive and answers with the acceleration: 1 is the peak of a full-scale
  /// sine at resonance.
  public mutating func acceleration(drive sample: Float) -> Float {
    let drive = Double(sample)
    motion = step.next(motion) + (step.drive - arriving) * lastDrive + arriving * drive
    lastDrive = drive
    greatestDisplacement = max(greatestDisplacement, abs(motion.x))
    return Float((drive - motion.y) / quality - motion.x)
  }
}
