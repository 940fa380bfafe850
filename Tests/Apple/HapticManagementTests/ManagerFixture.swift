import CoreHaptics
import CoreHapticsTesting
import Foundation
import HapticManagement
import HapticRender
import TestSupport

/// A manager on a device in virtual time, with its own settings.
@MainActor final class ManagerFixture {
  /// The delay of the limiter, in frames.
  static let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)

  let device = VirtualHapticDevice()
  let engines = EngineRecorder()
  let manager: HapticManager

  init(
    resolver: PatternResolver = .shipped, store: any HapticSettingStore = SettingMemory(),
    isEnabledAtFirst: Bool = true, hasDevice: Bool = true
  ) {
    let device = device
    let engines = engines
    manager = HapticManager(
      resolver: resolver,
      engineProvider: EngineProvider(supportsHaptics: { hasDevice }, now: { device.now }) {
        try engines.make(on: device)
      }, store: store, isEnabledByDefault: isEnabledAtFirst)
    if !hasDevice {
      device.disconnect()
    }
  }

  /// Advances the virtual clock.
  func advance(_ seconds: Double) { device.advance(seconds: seconds) }

  /// The samples of the newest engine since its start.
  var samples: [Float] { engines.last.map { device.samples(of: $0) } ?? [] }

  /// The frames at which sound begins after 8 ms of silence, counted from the start of the engine.
  var onsetFrames: [Int] { Self.onsetFrames(in: samples) }

  static func onsetFrames(in samples: [Float]) -> [Int] {
    samples.onsetFrames(above: 1e-4, afterSilence: 384).map { $0 - lookaheadFrameCount }
  }

  /// Returns the distance of the sound from single patterns at given frames; 1 if nothing was
  /// played.
  ///
  /// A tap that is one frame off has a distance of more than 0.003.
  func maximumDistance(from taps: [(name: String, frame: Int)]) -> Float {
    let playedSamples = samples
    var expected = [Float](repeating: 0, count: playedSamples.count)
    for tap in taps {
      let singleTapFixture = ManagerFixture()
      singleTapFixture.manager.play(tap.name)
      singleTapFixture.advance(Double(playedSamples.count - tap.frame) / 48_000)
      for (frame, sample) in zip(tap.frame..<playedSamples.count, singleTapFixture.samples) {
        expected[frame] += sample
      }
    }
    return zip(playedSamples, expected).map { abs($0 - $1) }.max() ?? 1
  }

  /// Returns the maximum magnitude between two times.
  func peak(_ from: Double, _ to: Double) -> Float {
    let range = Int(from * 48_000)..<min(samples.count, Int(to * 48_000))
    return range.isEmpty ? 0 : samples[range].map(abs).max() ?? 0
  }
}

/// The engines that a manager has created. Further engines can be made to fail.
final class EngineRecorder: @unchecked Sendable {
  private let lock = NSLock()
  private var engines: [CHHapticEngine] = []
  private var isFailing = false

  var last: CHHapticEngine? { lock.withLock { engines.last } }

  /// Removes and returns the newest engine.
  func takeLast() -> CHHapticEngine? { lock.withLock { engines.popLast() } }

  var count: Int { lock.withLock { engines.count } }
  var fails: Bool {
    get { lock.withLock { isFailing } }
    set { lock.withLock { isFailing = newValue } }
  }

  func make(on device: VirtualHapticDevice) throws -> CHHapticEngine {
    try lock.withLock {
      if isFailing { throw CHHapticError(.serverInitFailed) }
      let engine = device.makeEngine()
      engines.append(engine)
      return engine
    }
  }
}

/// A setting that outlives its manager.
final class SettingMemory: HapticSettingStore {
  private var values: [String: Bool] = [:]

  func setting(forKey key: String) -> Bool? { values[key] }

  func storeSetting(_ isOn: Bool, forKey key: String) { values[key] = isOn }
}
