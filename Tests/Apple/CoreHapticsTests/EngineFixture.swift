import CoreHaptics
import CoreHapticsTesting
import Foundation
import HapticRender
import Synchronization

/// A virtual device, an engine on it, and a log of the calls of its handlers.
final class EngineFixture {
  let device = VirtualHapticDevice()
  let engine: CHHapticEngine
  let handlerLog = HandlerLog()

  init(isRunning: Bool = true) throws {
    engine = device.makeEngine()
    let handlerLog = self.handlerLog
    engine.stoppedHandler = { handlerLog.append("stopped \($0.rawValue)") }
    engine.resetHandler = { handlerLog.append("reset") }
    if isRunning {
      try engine.start()
    }
  }

  /// Returns an advanced player whose completion is logged.
  func player(_ pattern: CHHapticPattern) throws -> any CHHapticAdvancedPatternPlayer {
    let player = try engine.makeAdvancedPlayer(with: pattern)
    let handlerLog = self.handlerLog
    player.completionHandler = { error in
      handlerLog.append(
        error.map { "completed \(($0 as? CHHapticError)?.code.rawValue ?? 0)" } ?? "completed")
    }
    return player
  }

  /// Returns the first frame from another frame on at which sound begins, minus the look-ahead of
  /// the limiter.
  func onset(after frame: Int = 0) -> Int? {
    let samples = device.samples(of: engine)
    let latency = Int(Renderer.lookaheadSeconds * 48_000)
    return samples.indices.first { $0 >= frame + latency && abs(samples[$0]) > 1e-4 }.map {
      $0 - latency
    }
  }

  /// Returns the maximum magnitude between two times.
  func peak(_ from: Double, _ to: Double) -> Float {
    let samples = device.samples(of: engine)
    let range = Int(from * 48_000)..<min(samples.count, Int(to * 48_000))
    return range.isEmpty ? 0 : samples[range].map(abs).max() ?? 0
  }
}

/// The calls of handlers, in order.
final class HandlerLog: Sendable {
  private let messages = Mutex<[String]>([])

  func append(_ text: String) { messages.withLock { $0.append(text) } }

  var entries: [String] { messages.withLock { $0 } }
}

/// Returns Apple's test pattern: a tap at 0 s, and a continuous event from 0.5 to 1.5 s.
func appleSamplePattern() throws -> CHHapticPattern {
  try CHHapticPattern(
    events: [
      CHHapticEvent(eventType: .hapticTransient, parameters: [], relativeTime: 0),
      CHHapticEvent(
        eventType: .hapticContinuous,
        parameters: [
          CHHapticEventParameter(parameterID: .hapticIntensity, value: 1),
          CHHapticEventParameter(parameterID: .hapticSharpness, value: 0.5),
        ], relativeTime: 0.5, duration: 1),
    ], parameters: [])
}

/// Returns a pattern of one tap.
func tap(at time: TimeInterval = 0, intensity: Float = 1) throws -> CHHapticPattern {
  try CHHapticPattern(
    events: [
      CHHapticEvent(
        eventType: .hapticTransient,
        parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: intensity)],
        relativeTime: time)
    ], parameters: [])
}

/// Returns a pattern of one continuous event.
func hum(_ seconds: TimeInterval) throws -> CHHapticPattern {
  try CHHapticPattern(
    events: [
      CHHapticEvent(
        eventType: .hapticContinuous,
        parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 1)],
        relativeTime: 0, duration: seconds)
    ], parameters: [])
}

/// Returns the code and the message of the error that a call throws, or another text without such
/// an error.
func failure(_ call: () throws -> Any) -> String {
  do {
    let value = try call()
    return "no error but \(value)"
  } catch let error as CHHapticError {
    return "\(error.errorCode): \(error.localizedDescription)"
  } catch {
    return "foreign error \(error)"
  }
}
