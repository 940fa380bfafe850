internal import CoreHaptics
internal import Foundation
internal import HapticManagement

/// The number of a system sound.
public typealias SystemSoundID = UInt32

/// The vibration of a phone: 0.4 s.
public let kSystemSoundID_Vibrate: SystemSoundID = 4095

/// Plays the haptics of a system sound: 1519, 1520, 1521, or the vibration. Other sounds are
/// silent.
///
/// 1519 is a light tap, 1520 a heavy tap, and 1521 three quick taps, according to programs that use
/// them; Apple publishes none of them. Any thread may call. Returns immediately.
public func AudioServicesPlaySystemSound(_ inSystemSoundID: SystemSoundID) {
  EngineBackends.virtualForCall()?.append(.systemSound(Int(inSystemSoundID)))
  guard let pattern = hapticPattern(of: inSystemSoundID) else { return }
  EngineLifecycle.shared.play(pattern)
}

/// Plays the haptics of a system sound, and calls a closure on the main queue.
public func AudioServicesPlaySystemSoundWithCompletion(
  _ inSystemSoundID: SystemSoundID, _ inCompletionBlock: (@Sendable () -> Void)?
) {
  AudioServicesPlaySystemSound(inSystemSoundID)
  guard let inCompletionBlock else { return }
  DispatchQueue.main.async(execute: inCompletionBlock)
}

/// Plays the haptics of an alert, which are those of a system sound.
public func AudioServicesPlayAlertSound(_ inSystemSoundID: SystemSoundID) {
  AudioServicesPlaySystemSound(inSystemSoundID)
}

private func hapticPattern(of number: SystemSoundID) -> CHHapticPattern? {
  switch number {
  case 1519:
    return ParsedPatternCache.shipped.pattern(named: "light")
  case 1520:
    return ParsedPatternCache.shipped.pattern(named: "heavy")
  case 1521:
    return ParsedPatternCache.shipped.pattern(named: "triple-tap")
  case kSystemSoundID_Vibrate:
    let intensity = CHHapticEventParameter(parameterID: .hapticIntensity, value: 1)
    let event = CHHapticEvent(
      eventType: .hapticContinuous, parameters: [intensity], relativeTime: 0, duration: 0.4)
    return try? CHHapticPattern(events: [event], parameters: [])
  default:
    return nil
  }
}
