#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

/// How warm a transducer is, where 1 is what its continuous power leads to in the end.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The coil's part, which follows in seconds.
  public var coil: Double
  /// The part of magnet and case, which follows in minutes.
  public var magnet: Double

  /// A transducer at the temperature of its surroundings, unless told otherwise.
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
      coil: coil * exp(-seconds / thermal.coil), magnet: magnet * exp(-seconds / thermal.magnet))
  }
}

extension TransducerThermalState {
  /// Both parts in one word, in steps of Float, so that they can be handed between threads.
  var bits: UInt64 {
    @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) }
  }

  /// The warmth of a word.
  init(bits: UInt64) {
    coil = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32)))
    magnet = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }
}
