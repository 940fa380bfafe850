internal import CMath

/// What Core Haptics' normalised envelope times mean in seconds.
///
/// Apple documents an exponential scale and no figures. Ours is `2 s · (100ⁿ − 1) / 99`: 0 is 0 s,
/// 0.25 is 44 ms, 0.5 is 0.18 s, 0.75 is 0.62 s, 1 is 2 s.
public enum EnvelopeTimes {
  /// Seconds of a normalised time of 1.
  public static var maximumSeconds: Double { @_noLocks get { 2 } }
  /// The growth of the exponential over the whole range.
  public static var growthFactor: Double { @_noLocks get { 100 } }
  /// The same as a power of two.
  public static var growthOctaves: Float { @_noLocks get { 6.6438562 } }
  /// The shortest ramp, in seconds, of an edge that has no envelope time, so that nothing pops.
  public static let minimumRampSeconds = 0.001

  /// Seconds of a normalised envelope time, which is clamped to 0…1.
  public static func seconds(normalized normalised: Float) -> Double {
    seconds(ofGrowth: pow(growthFactor, min(max(Double(normalised), 0), 1)))
  }

  /// Seconds of a normalised time n by its share of the growth, `growth`ⁿ.
  @_noLocks public static func seconds(ofGrowth grown: Double) -> Double {
    maximumSeconds * (grown - 1) / (growthFactor - 1)
  }
}

/// The corners of an event's envelope: attack and hold, or attack and decay, then release behind
/// the end.
///
/// An event shorter than its attack, or than its attack and decay, is released from the level it
/// has reached. Levels are factors on amplitude; times count from the onset, in any one unit.
public struct EnvelopeShape: Equatable, Sendable {
  /// The end of the rise from 0 and the level there, and the start of the release and the level
  /// there.
  public var riseEnd, riseLevel, releaseStart, releaseLevel: Double
  /// When the level is 0.
  public var end: Double

  /// Works out the corners of an event that holds for a positive time.
  @_noLocks public init(
    hold: Double, attack: Double, decay: Double, release: Double, isSustained: Bool
  ) {
    if hold <= attack {
      let level = hold / attack
      riseEnd = hold
      riseLevel = level
      releaseStart = hold
      releaseLevel = level
      end = hold + release
    } else if isSustained {
      riseEnd = attack
      riseLevel = 1
      releaseStart = hold
      releaseLevel = 1
      end = hold + release
    } else if attack + decay <= hold {
      riseEnd = attack
      riseLevel = 1
      releaseStart = attack
      releaseLevel = 1
      end = attack + decay
    } else {
      riseEnd = attack
      riseLevel = 1
      releaseStart = hold
      releaseLevel = 1 - (hold - attack) / decay
      end = hold + release
    }
  }
}
