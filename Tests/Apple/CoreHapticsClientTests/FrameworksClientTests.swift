import AVFoundation
import AudioToolbox
import CoreHaptics
import GameController
import HapticTesting
import SwiftUI
import Testing
import UIKit

// Code of language mode 5 in the style of applications, with the frameworks that they import in
// addition to Core Haptics.

/// A service without isolation, like in most applications.
final class HapticService {
  static let shared = HapticService()

  private var engine: CHHapticEngine?
  private let impact = UIImpactFeedbackGenerator(style: .medium)
  private let notification = UINotificationFeedbackGenerator()
  private var continuousPlayer: CHHapticAdvancedPatternPlayer?

  func prepare() {
    guard CHHapticEngine.capabilitiesForHardware().supportsHaptics else { return }
    do {
      try AVAudioSession.sharedInstance().setCategory(
        .ambient, mode: .default, options: [.mixWithOthers])
      try AVAudioSession.sharedInstance().setActive(true)
      engine = try CHHapticEngine(audioSession: .sharedInstance())
      engine?.playsHapticsOnly = true
      engine?.stoppedHandler = { reason in
        switch reason {
        case .audioSessionInterrupt, .applicationSuspended, .idleTimeout, .systemError: break
        case .notifyWhenFinished, .engineDestroyed, .gameControllerDisconnect: break
        @unknown default: break
        }
      }
      engine?.resetHandler = { [weak self] in try? self?.engine?.start() }
      try engine?.start()
    } catch let error {
      Issue.record(error)
    }
  }

  func tap() {
    impact.prepare()
    impact.impactOccurred()
  }

  func succeed() { notification.notificationOccurred(.success) }

  func hum() throws {
    let event = CHHapticEvent(
      eventType: .hapticContinuous, parameters: [], relativeTime: 0, duration: 0.5)
    let pattern = try CHHapticPattern(events: [event], parameters: [])
    continuousPlayer = try engine?.makeAdvancedPlayer(with: pattern)
    try continuousPlayer?.start(atTime: CHHapticTimeImmediate)
  }
}

/// A game's rumble on a controller.
final class Rumble {
  private var engines: [GCHapticsLocality: CHHapticEngine] = [:]

  init(_ controller: GCController?) {
    for locality in [GCHapticsLocality.default, .leftHandle] {
      engines[locality] = controller?.haptics?.createEngine(withLocality: locality)
    }
  }

  var count: Int { engines.count }
}

/// A view model's feedback.
struct SaveModel {
  var feedback: SensoryFeedback?

  mutating func save(_ succeeds: Bool) {
    feedback = succeeds ? .success : .impact(weight: .heavy, intensity: 0.5)
  }
}

@Suite(.virtualHaptics) struct FrameworksClientTests {
  @Test @MainActor func serviceOfLanguageMode5PlaysItsHaptics() async throws {
    let service = HapticService()
    service.prepare()
    service.tap()
    service.succeed()
    try service.hum()
    AudioServicesPlaySystemSound(1519)
    AudioServicesPlaySystemSound(SystemSoundID(1521))
    AudioServicesPlaySystemSound(kSystemSoundID_Vibrate)
    AudioServicesPlaySystemSound(1000)
    await hapticDevice.advance(by: .seconds(1))
    let log = hapticDevice.log
    #expect(log.generators == [.impact(.medium), .notification(.success)])
    #expect(log.systemSounds == [1519, 1521, 4095, 1000])
    #expect(log.engineCount == 2)
    #expect(hapticDevice.played.contains { $0.kind == .continuous && $0.duration == 0.4 })
    #expect(AVAudioSession.sharedInstance().category == .ambient)
  }

  @Test func engineAcceptsNoAudioSession() throws {
    let engine = try CHHapticEngine(audioSession: nil)
    engine.isAutoShutdownEnabled = true
    #expect(hapticDevice.log.engineCount == 1)
  }

  @Test @MainActor func generatorsAcceptViewsAndLocations() {
    let view = UIView(frame: .zero)
    UIImpactFeedbackGenerator(style: .soft, view: view).impactOccurred(
      intensity: 0.5, at: CGPoint(x: 1, y: 2))
    UISelectionFeedbackGenerator(view: view).selectionChanged(at: .zero)
    UINotificationFeedbackGenerator(view: view).notificationOccurred(.error, at: .zero)
    let canvas = UICanvasFeedbackGenerator(view: view)
    canvas.alignmentOccurred(at: .zero)
    canvas.pathCompleted(at: .zero)
    #expect(
      hapticDevice.log.generators == [
        .impact(.soft, intensity: 0.5), .selection, .notification(.error), .alignment,
        .pathCompleted,
      ])
  }

  @Test func controllersHaveEngines() {
    #expect(GCController.controllers().isEmpty)
    #expect(Rumble(GCController.current).count == 0)
    #expect(Rumble(GCController(haptics: GCDeviceHaptics())).count == 1)
    #expect(hapticDevice.log.engineCount == 1)
  }

  @Test func feedbackIsAValue() {
    var model = SaveModel()
    model.save(true)
    #expect(model.feedback == .success)
    model.save(false)
    #expect(model.feedback == .impact(weight: .heavy, intensity: 0.5))
    #expect(model.feedback != .impact(flexibility: .solid, intensity: 0.5))
  }
}
