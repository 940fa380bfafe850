internal import CoreHaptics

extension VirtualHapticDevice {
  /// What was asked of the device and what happened, in order.
  public var log: HapticLog { HapticLog(backend.record) }

  /// What was played up to now, event by event; O(n) in what was ever played.
  public var played: PlayedHaptics { PlayedHaptics(backend.sessionRecords) }
}
