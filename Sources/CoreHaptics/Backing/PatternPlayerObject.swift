internal import Foundation

/// The simple player that an engine makes.
class PatternPlayerObject: NSObject, CHHapticPatternPlayer {
  let backing: PlayerBacking

  init(_ backing: PlayerBacking) {
    self.backing = backing
    super.init()
  }

  deinit { backing.objectIsGone() }

  func start(atTime time: TimeInterval) throws { try backing.start(at: time) }

  func stop(atTime time: TimeInterval) throws { try backing.stop(at: time) }

  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws {
    try backing.send(parameters, at: time)
  }

  func scheduleParameterCurve(
    _ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval
  ) throws {
    try backing.schedule(parameterCurve, at: time)
  }

  func cancel() throws { try backing.cancel() }

  var isMuted: Bool {
    get { backing.settings.isMuted }
    set { backing.change { $0.isMuted = newValue } }
  }
}

/// The advanced player that an engine makes.
final class AdvancedPatternPlayerObject: PatternPlayerObject, CHHapticAdvancedPatternPlayer {
  func pause(atTime time: TimeInterval) throws { try backing.pause(at: time) }

  func resume(atTime time: TimeInterval) throws { try backing.resume(at: time) }

  func seek(toOffset offsetTime: TimeInterval) throws { try backing.seek(to: offsetTime) }

  var loopEnabled: Bool {
    get { backing.settings.isLooping }
    set { backing.change { $0.isLooping = newValue } }
  }

  var loopEnd: TimeInterval {
    get { backing.settings.loopEnd ?? backing.pattern.duration }
    set { backing.change { $0.loopEnd = newValue > 0 ? newValue : nil } }
  }

  var playbackRate: Float {
    get { backing.settings.rate }
    set { if newValue > 0, newValue.isFinite { backing.change { $0.rate = newValue } } }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { backing.completionHandler }
    set { backing.completionHandler = newValue }
  }
}
