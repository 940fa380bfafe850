import CoreHaptics
import CoreHapticsTesting
import UIKit
import Foundation
import HapticManagement
import HapticTesting
import Testing

@MainActor @Suite(.virtualHaptics) struct GeneratorTests {
  let device = VirtualHapticDevice()
  let engine: CHHapticEngine
  let lifecycle: EngineLifecycle

  init() {
    let engine = device.makeEngine()
    self.engine = engine
    let box = EngineBox(engine)
    lifecycle = EngineLifecycle(EngineProvider { box.engine })
  }

  /// Returns the number of taps, and the strength of the strongest.
  private func measureOutput(_ seconds: Double = 0.6) -> (transientCount: Int, peak: Float) {
    device.advance(seconds: seconds)
    let samples = device.samples(of: engine)
    var transientCount = 0
    var lastSoundFrame = Int.min / 2
    for (frame, sample) in samples.enumerated() where abs(sample) > 1e-4 {
      if frame - lastSoundFrame > 384 {
        transientCount += 1
      }
      lastSoundFrame = frame
    }
    return (transientCount, samples.map(abs).max() ?? 0)
  }

  @Test(
    arguments: zip(
      [UINotificationFeedbackGenerator.FeedbackType.success, .warning, .error], [2, 2, 4]))
  func notificationsHaveThePublishedTaps(
    type: UINotificationFeedbackGenerator.FeedbackType, transientCount: Int
  ) {
    UINotificationFeedbackGenerator(engineLifecycle: lifecycle).notificationOccurred(type)
    #expect(measureOutput().transientCount == transientCount)
  }

  @Test(arguments: [UIImpactFeedbackGenerator.FeedbackStyle.light, .medium, .heavy, .soft, .rigid])
  func impactsAreOneTap(style: UIImpactFeedbackGenerator.FeedbackStyle) {
    UIImpactFeedbackGenerator(style: style, lifecycle: lifecycle).impactOccurred()
    #expect(measureOutput().transientCount == 1)
  }

  @Test func aSelectionIsOneTap() {
    UISelectionFeedbackGenerator(engineLifecycle: lifecycle).selectionChanged()
    #expect(measureOutput().transientCount == 1)
  }

  @Test func intensityScalesTheTap() {
    func peak(_ tap: (UIImpactFeedbackGenerator) -> Void) -> Float {
      let fixture = GeneratorTests()
      tap(UIImpactFeedbackGenerator(style: .heavy, lifecycle: fixture.lifecycle))
      return fixture.measureOutput().peak
    }
    let fullPeak = peak { $0.impactOccurred() }
    let reducedPeaks = [0.25, 0.5, 0.75].map { intensity in
      peak { $0.impactOccurred(intensity: intensity) }
    }
    #expect(zip(reducedPeaks, reducedPeaks.dropFirst()).allSatisfy { $0 < $1 })
    #expect(reducedPeaks[2] < fullPeak)
    #expect(peak { $0.impactOccurred(intensity: 1) } == fullPeak)
    #expect(peak { $0.impactOccurred(intensity: 7) } == fullPeak)
    #expect(peak { $0.impactOccurred(intensity: 0) } == 0)
    #expect(peak { $0.impactOccurred(intensity: -1) } == 0)
    #expect(peak { $0.impactOccurred(intensity: .nan) } == 0)
  }

  @Test func preparationStartsTheEngineSilently() {
    let generator = UISelectionFeedbackGenerator(engineLifecycle: lifecycle)
    generator.prepare()
    generator.prepare()
    #expect(measureOutput() == (0, 0))
    #expect(engine.currentTime > 0.5)
    generator.selectionChanged()
    #expect(measureOutput().transientCount == 1)
  }

  @Test func generatorsShareAnEngine() {
    UIImpactFeedbackGenerator(style: .light, lifecycle: lifecycle).impactOccurred()
    _ = measureOutput()
    UISelectionFeedbackGenerator(engineLifecycle: lifecycle).selectionChanged()
    #expect(measureOutput().transientCount == 2)
    #expect(engine.isAutoShutdownEnabled)
  }

  @Test func withoutADeviceGeneratorsAreSilent() {
    device.disconnect()
    UINotificationFeedbackGenerator(engineLifecycle: lifecycle).notificationOccurred(.error)
    UIImpactFeedbackGenerator(style: .rigid, lifecycle: lifecycle).impactOccurred(intensity: 0.5)
    #expect(measureOutput() == (0, 0))
    #expect(!lifecycle.isEngineAvailable)
  }
}

/// Carries an engine to the queue that requests it.
private final class EngineBox: @unchecked Sendable {
  let engine: CHHapticEngine

  init(_ engine: CHHapticEngine) { self.engine = engine }
}
