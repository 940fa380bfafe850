internal import CoreHaptics
internal import Foundation
internal import HapticManagement

/// The number that identifies a system sound.
public typealias SystemSoundID = UInt32

/// The system sound that vibrates a phone for 0.4 s.
public let kSystemSoundID_Vibrate: SystemSoundID = 4095

/// Plays the haptics of a system sound, if it is 1519, 1520, 1521, or the vibration sound.
///
/// Other sounds are silent.
///
/// 1519 is a light tap, 1520 a heavy tap, and 1521 three quick taps, according to programs that use
/// them; Apple publishes none of them. Any thread may call. Returns immediately.
public func AudioServicesPlaySystemSound(_ inSystemSoundID: SystemSoundID) {
  EngineBackends.virtualDeviceForCall()?.appendLogEntry(.systemSound(Int(inSystemSoundID)))
  guard let pattern = hapticPattern(ofSystemSound: inSystemSoundID) else { return }
  EngineLifecycle.shared.playPattern(pattern)
}

/// Plays the haptics of a system sound, and calls a closure on the main queue.
public func AudioServicesPlaySystemSoundWithCompletion(
  _ inSystemSoundID: SystemSoundID, _ inCompletionBlock: (@Sendable () -> Void)?
) {
  AudioServicesPlaySystemSound(inSystemSoundID)
  guard let inCompletionBlock else { return }
  DispatchQueue.main.async(execute: inCompletionBlock)
}

/// Plays the haptics of an alert. The haptics are the same as for a system sound.
public func AudioServicesPlayAlertSound(_ inSystemSoundID: SystemSoundID) {
  AudioServicesPlaySystemSound(inSystemSoundID)
}

private func hapticPattern(ofSystemSound number: SystemSoundID) -> CHHapticPattern? {
  switch number {
  case 1519:
    return ParsedPatternCache.shipped.pattern(named: "light")
  case 1520:
    return ParsedPatternCache.shipped.pattern(named: "heavy")
  case 1521:
    return ParsedPatternCache.shipped.pattern(named: "triple-tap")
  case kSystemSoundID_Vibrate:
    let intensityParameter = CHHapticEventParameter(parameterID: .hapticIntensity, value: 1)
    let systemSoundEvent = CHHapticEvent(
      eventType: .hapticContinuous, parameters: [intensityParameter], relativeTime: 0, duration: 0.4
    )
    return try? CHHapticPattern(events: [systemSoundEvent], parameters: [])
  default:
    return nil
  }
}
