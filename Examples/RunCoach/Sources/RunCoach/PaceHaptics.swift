import CoreHaptics
import UIKit

/// Ticks at the pace of a run, marks laps and closes with a swell: an application's class like
/// many, with an engine of its own.
@MainActor public final class PaceHaptics {
  private var engine: CHHapticEngine?
  private var ticker: CHHapticAdvancedPatternPlayer?
  private let lap = UIImpactFeedbackGenerator(style: .heavy)
  private var interval = 0.5
  private var isTicking = false

  /// Makes an engine where there are haptics; nothing starts before `start`.
  public init() {
    guard CHHapticEngine.capabilitiesForHardware().supportsHaptics else { return }
    engine = try? CHHapticEngine()
    // Handlers are called off the main actor: without @Sendable a phone ends the application.
    engine?.resetHandler = { @Sendable [weak self] in
      Task { @MainActor in self?.restart() }
    }
    engine?.stoppedHandler = { @Sendable [weak self] reason in
      guard reason == .audioSessionInterrupt || reason == .systemError else { return }
      Task { @MainActor in self?.restart() }
    }
  }

  /// Ticks once every some seconds.
  public func start(every interval: Double) throws {
    self.interval = interval
    guard let engine else { return }
    try engine.start()
    let tap = CHHapticEvent(
      eventType: .hapticTransient,
      parameters: [
        CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.8),
        CHHapticEventParameter(parameterID: .hapticSharpness, value: 0.6),
      ], relativeTime: 0)
    let ticker = try engine.makeAdvancedPlayer(with: CHHapticPattern(events: [tap], parameters: []))
    ticker.loopEnabled = true
    ticker.loopEnd = interval
    try ticker.start(atTime: CHHapticTimeImmediate)
    self.ticker = ticker
    isTicking = true
  }

  /// Makes ticks as strong as the runner pushes, 0…1.
  public func push(_ effort: Float) throws {
    let strength = CHHapticDynamicParameter(
      parameterID: .hapticIntensityControl, value: min(max(effort, 0), 1), relativeTime: 0)
    try ticker?.sendParameters([strength], atTime: CHHapticTimeImmediate)
  }

  /// Marks a lap.
  public func lapDone() { lap.impactOccurred() }

  /// Ends the ticks, and closes with a swell and a tap.
  public func finish() throws {
    try ticker?.stop(atTime: CHHapticTimeImmediate)
    isTicking = false
    guard let engine else { return }
    let swell = CHHapticEvent(
      eventType: .hapticContinuous,
      parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.8)],
      relativeTime: 0, duration: 0.6)
    let tap = CHHapticEvent(eventType: .hapticTransient, parameters: [], relativeTime: 0.7)
    let rise = CHHapticParameterCurve(
      parameterID: .hapticIntensityControl,
      controlPoints: [
        .init(relativeTime: 0, value: 0.25), .init(relativeTime: 0.6, value: 1),
      ], relativeTime: 0)
    let pattern = try CHHapticPattern(events: [swell, tap], parameterCurves: [rise])
    try engine.makePlayer(with: pattern).start(atTime: CHHapticTimeImmediate)
  }

  private func restart() {
    guard isTicking else { return }
    try? start(every: interval)
  }
}
