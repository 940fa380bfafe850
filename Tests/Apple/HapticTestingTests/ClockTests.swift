import CoreHaptics
import Foundation
import HapticTesting
import QuartzCore
import Testing
import UIKit

/// A singleton that limits its rate by each of the system's clocks.
@MainActor private final class Taps {
  static let shared = Taps()

  private var lastMediaTime = 0.0
  private var lastDate = Date.distantPast
  private var lastUptime = 0.0
  private var lastInstant: ContinuousClock.Instant?
  private let generator = UIImpactFeedbackGenerator(style: .light)

  func tap() {
    let mediaTime = CACurrentMediaTime()
    let date = Date()
    let uptime = ProcessInfo.processInfo.systemUptime
    let instant = ContinuousClock.now
    let intervals = [
      mediaTime - lastMediaTime, date.timeIntervalSince(lastDate), uptime - lastUptime,
      lastInstant.map { (instant - $0) / .seconds(1) } ?? 1,
    ]
    guard intervals.allSatisfy({ $0 > 0.05 }) else { return }
    lastMediaTime = mediaTime
    lastDate = date
    lastUptime = uptime
    lastInstant = instant
    generator.impactOccurred()
  }
}

/// Clocks from one test to the next.
@MainActor @Suite(.virtualHaptics(.alone)) struct ClockTests {
  @Test("A singleton that limits its rate by a clock works in every test", arguments: 0..<100)
  func clocksNeverGoBack(index: Int) async {
    await hapticDevice.advance(by: .seconds(1))
    Taps.shared.tap()
    await hapticDevice.advance(by: .seconds(Double(index % 10)))
    #expect(hapticDevice.log.generators.count == 1)
  }

  @Test("Media time is the uptime of the device")
  func mediaTimeIsTheUptime() async {
    for _ in 0..<3 {
      #expect(abs(CACurrentMediaTime() - ProcessInfo.processInfo.systemUptime) < 1e-6)
      await hapticDevice.advance(by: .seconds(1_000))
    }
  }
}
