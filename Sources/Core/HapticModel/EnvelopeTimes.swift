internal import CMath

/// The mapping of Core Haptics' normalized envelope times to seconds.
///
/// Apple documents an exponential scale without figures. Temblor uses `2 s · (100ⁿ − 1) / 99`:
/// 0 is 0 s, 0.25 is 44 ms, 0.5 is 0.18 s, 0.75 is 0.62 s, and 1 is 2 s.
public enum EnvelopeTimes {
  /// The duration of a normalized time of 1, in seconds.
  public static var maximumSeconds: Double { @_noLocks get { 2 } }
  /// The base of the exponential scale: 100, as in `2 s · (100ⁿ − 1) / 99`.
  ///
  /// It is the ratio of the scale's exponential at the normalized times 1 and 0.
  public static var growthFactorFromZeroToOne: Double { @_noLocks get { 100 } }
  /// The binary logarithm of `growthFactorFromZeroToOne`.
  public static var growthOctavesFromZeroToOne: Float { @_noLocks get { 6.6438562 } }
  /// The minimum duration of a ramp, in seconds. The ramp prevents clicks at edges without an
  /// envelope time.
  public static let minimumRampSeconds = 0.001

  /// Returns the duration of a normalized envelope time, in seconds.
  ///
  /// - Parameter time: The normalized time, clamped to 0…1.
  public static func seconds(normalized time: Float) -> Double {
    seconds(ofGrowth: pow(growthFactorFromZeroToOne, min(max(Double(time), 0), 1)))
  }

  /// Returns the duration of a normalized envelope time n from its exponential, in seconds.
  ///
  /// The exponential is `growthFactorFromZeroToOne`ⁿ.
  @_noLocks public static func seconds(ofGrowth growth: Double) -> Double {
    maximumSeconds * (growth - 1) / (growthFactorFromZeroToOne - 1)
  }
}

/// The corners of an event's envelope: a rise, a hold or decay, and a release.
///
/// An event that is shorter than its attack, or than its attack and decay, is released from the
/// level that it has reached. Levels are factors on the amplitude. Times count from the onset, in
/// any unit.
public struct EnvelopeShape: Equatable, Sendable {
  /// The end time of the rise from 0, in seconds or frames from the onset.
  public var riseEndTime: Double
  /// The level of the envelope at the end of the rise.
  public var riseLevel: Double
  /// The start time of the release, in seconds or frames from the onset.
  public var releaseStartTime: Double
  /// The level of the envelope at the start of the release.
  public var releaseLevel: Double
  /// The end time of the release, when the level reaches 0, in seconds or frames from the onset.
  public var releaseEndTime: Double

  /// Computes the corners of an event's envelope.
  ///
  /// - Parameters:
  ///   - hold: The time from the onset to the end of the event; positive.
  ///   - attack: The time of the rise to 1.
  ///   - decay: The time of the fall to 0 of an event that isn't sustained.
  ///   - release: The time of the fall to 0 after the end of the event.
  ///   - isSustained: Whether the level stays at 1 until the end of the event.
  @_noLocks public init(
    hold: Double, attack: Double, decay: Double, release: Double, isSustained: Bool
  ) {
    if hold <= attack {
      let level = hold / attack
      riseEndTime = hold
      riseLevel = level
      releaseStartTime = hold
      releaseLevel = level
      releaseEndTime = hold + release
    } else if isSustained {
      riseEndTime = attack
      riseLevel = 1
      releaseStartTime = hold
      releaseLevel = 1
      releaseEndTime = hold + release
    } else if attack + decay <= hold {
      riseEndTime = attack
      riseLevel = 1
      releaseStartTime = attack
      releaseLevel = 1
      releaseEndTime = attack + decay
    } else {
      riseEndTime = attack
      riseLevel = 1
      releaseStartTime = hold
      releaseLevel = 1 - (hold - attack) / decay
      releaseEndTime = hold + release
    }
  }
}
