internal import HapticModel
public import CoreHaptics
public import Foundation
public import Observation

/// A player of an application's haptics that needs no engine management.
///
/// It plays named patterns, taps, semantic events, and rhythms.
///
/// Every call returns immediately, without a result or an error. It has no effect if there is no
/// device or pattern, or if haptics are disabled. The article of the module states the rules.
@MainActor @Observable public final class HapticManager {
  /// The shared manager of the process.
  ///
  /// It has the shipped patterns, the process's output, and the setting in the user defaults.
  ///
  /// Each virtual device has its own manager, whose setting is not stored.
  public static var shared: HapticManager {
    EngineBackends.currentVirtualDevice?.sharedObject(ofType: HapticManager.self) {
      HapticManager(
        lifecycle: .shared, patternCache: .shipped, store: VolatileSettingStore(),
        isEnabledByDefault: true)
    } ?? liveManager
  }

  private static let liveManager = HapticManager(
    lifecycle: .shared, patternCache: .shipped, store: UserDefaults.standard,
    isEnabledByDefault: true)

  /// The key under which the setting `isEnabled` is stored.
  public static let settingKey = "HapticManager.isEnabled"

  /// A Boolean value that indicates whether haptics are played.
  ///
  /// Disabling them ends all playbacks immediately. The setting is stored.
  public var isEnabled: Bool {
    didSet {
      settingStore.storeSetting(isEnabled, forKey: Self.settingKey)
      if !isEnabled {
        lifecycle.stopAllPlaybacks()
      }
    }
  }

  @ObservationIgnored private let lifecycle: EngineLifecycle
  @ObservationIgnored private let patternCache: ParsedPatternCache
  @ObservationIgnored private let settingStore: any HapticSettingStore

  /// Creates a manager with its own engine.
  ///
  /// - Parameters:
  ///   - resolver: The patterns.
  ///   - engineProvider: The source of engines.
  ///   - store: The storage of the setting.
  ///   - isEnabledByDefault: The setting if none is stored.
  public convenience init(
    resolver: PatternResolver = .shipped, engineProvider: EngineProvider = .hardware,
    store: any HapticSettingStore = UserDefaults.standard,
    isEnabledByDefault: Bool = true
  ) {
    self.init(
      lifecycle: EngineLifecycle(engineProvider), patternCache: ParsedPatternCache(resolver),
      store: store,
      isEnabledByDefault: isEnabledByDefault)
  }

  private init(
    lifecycle: EngineLifecycle, patternCache: ParsedPatternCache, store: any HapticSettingStore,
    isEnabledByDefault: Bool
  ) {
    self.lifecycle = lifecycle
    self.patternCache = patternCache
    self.settingStore = store
    isEnabled = store.setting(forKey: Self.settingKey) ?? isEnabledByDefault
    lifecycle.setHandlers(reset: { patternCache.reloadPatterns() }) { [weak self] in
      Task { @MainActor in self?.withMutation(keyPath: \.isEngineAvailable) {} }
    }
  }

  /// A Boolean value that indicates whether the output is available.
  ///
  /// Haptics can then probably be felt. The property is observable.
  ///
  /// The value is always current. Observers are notified on the main actor.
  public var isEngineAvailable: Bool {
    access(keyPath: \.isEngineAvailable)
    return lifecycle.isEngineAvailable
  }

  /// The errors for patterns that could not be read, by the patterns' names.
  public var invalidPatterns: [String: CHHapticError] { patternCache.errorsByName }

  /// The time on the engine's clock in seconds, for synchronizing pictures and sounds.
  ///
  /// The clock stops while the engine is stopped.
  public var currentTime: TimeInterval { lifecycle.currentTime }

  /// Returns the pattern with a name, for display, or nil if it is unknown or invalid.
  public func pattern(named name: String) -> CHHapticPattern? { patternCache.pattern(named: name) }

  /// Reads all patterns and starts the engine, so that playing a pattern needs no preparation.
  ///
  /// Patterns are read only once. Invalid patterns are skipped and listed in `invalidPatterns`.
  public func preloadPatterns() {
    patternCache.loadAllPatterns()
    if isEnabled {
      lifecycle.prepareEngine()
    }
  }

  /// Plays a pattern once, without stopping other patterns.
  ///
  /// The time is on the engine's clock in seconds. 0 and times in the past mean now.
  public func play(_ name: String, at time: TimeInterval = 0) {
    guard isEnabled, let pattern = patternCache.pattern(named: name) else { return }
    lifecycle.playPattern(pattern, atEngineSeconds: time)
  }

  /// Plays a tap for detents, touches, and mistakes. Both values are clamped to 0…1.
  public func playTransientEvent(intensity: Float, sharpness: Float) {
    guard isEnabled else { return }
    playPattern { try .tap(intensity: intensity, sharpness: sharpness) }
  }

  /// Plays several patterns as one pattern, each at its own time in seconds.
  ///
  /// The times are exact to the frame. Unknown names are skipped.
  func play(_ steps: [(name: String, time: TimeInterval)], at time: TimeInterval = 0) {
    guard isEnabled else { return }
    let resolvedSteps = steps.compactMap { step in
      patternCache.pattern(named: step.name).map { (pattern: $0, time: step.time) }
    }
    guard !resolvedSteps.isEmpty else { return }
    playPattern(at: time) { try .sequence(resolvedSteps) }
  }

  private func playPattern(at time: TimeInterval = 0, _ make: () throws -> CHHapticPattern) {
    // A pattern that cannot be created is not played, without notification.
    guard let pattern = try? make() else { return }
    lifecycle.playPattern(pattern, atEngineSeconds: time)
  }

  /// Plays a small earthquake of 2.2 s, which rolls, becomes violent, and dies away.
  public func playEarthquakeSplash() { play("earthquake-splash") }

  /// Plays a rumble of 4 s with three aftershocks, for the start of a scenario.
  public func playEarthquakeSimulation() { play("earthquake-simulation") }

  /// Plays two bright, rising taps.
  public func playCorrectAnswer() { play("correct-answer") }

  /// Plays three quick, falling taps.
  public func playWrongAnswer() { play("wrong-answer") }

  /// Plays a run of taps, a swell, and a closing tap.
  public func playPerfectScore() { play("perfect-score") }

  /// Plays a soft pat on the shoulder.
  public func playEncouragement() { play("encouragement") }

  /// The maximum number of taps in a rhythm. Further taps are dropped.
  public static let maximumTapCount = 64
  /// The maximum duration of a rhythm, in seconds. Later taps are dropped.
  public static let maximumRhythmDuration = 60.0

  /// Plays the pattern of a kind of feedback.
  public func play(_ type: FeedbackType) { play(type.patternName) }

  /// Plays two firm taps, at 0 and 0.1 s.
  public func doubleTap() { play("double-tap") }

  /// Plays three firm taps, at 0, 0.1, and 0.175 s.
  public func tripleTap() { play("triple-tap") }

  /// Plays firm taps at 0 and 0.1 s, and a heavy tap at 0.25 s.
  public func successRhythm() { play("success-rhythm") }

  /// Plays at most 64 light taps at a constant interval, in seconds.
  public func pulse(count: Int = 1, interval: TimeInterval = 0.25) {
    let tapCount = min(max(count, 0), Self.maximumTapCount)
    playTaps(.light, at: (0..<tapCount).map { Double($0) * interval })
  }

  /// Plays a tap at each of the given times, in milliseconds from now.
  ///
  /// The times may be in any order.
  public func triggerPattern(_ timings: [Double], style: FeedbackType = .medium) {
    playTaps(style, at: timings.map { $0 / 1_000 })
  }

  private func playTaps(_ style: FeedbackType, at times: [TimeInterval]) {
    let usableTimes = times.filter { (0...Self.maximumRhythmDuration).contains($0) }
    play(usableTimes.prefix(Self.maximumTapCount).map { (style.patternName, $0) })
  }

  /// The number of collected coins between two celebrations.
  public static let milestoneCoinCount = 5
  /// The delay from the collection of a milestone's coin to the celebration, in seconds.
  static let celebrationDelaySeconds = 0.5
  /// The interval between two events that `testAll()` plays, in seconds.
  static let testEventIntervalSeconds = 1.0
  /// The delay before the first event of `testAll()`, in seconds.
  ///
  /// The delay ensures that the engine receives the event in time.
  static let firstTestEventDelaySeconds = 0.05

  /// An event that `testAll()` plays, with its time on the engine's clock.
  public struct ScheduledTestEvent: Equatable, Sendable {
    /// The event that the test plays. Its raw value is its name.
    public var event: SemanticEvent
    /// The time of the event on the engine's clock, in seconds.
    public var time: TimeInterval
  }

  /// Plays the pattern of a semantic event.
  public func trigger(_ event: SemanticEvent) { play(event.patternName) }

  /// Plays the haptic for a coin and, for every fifth coin, a celebration half a second later.
  ///
  /// The total includes this coin.
  public func earnCoin(total: Int) {
    guard total > 0, total.isMultiple(of: Self.milestoneCoinCount) else {
      return trigger(.coinEarned)
    }
    play([
      (SemanticEvent.coinEarned.patternName, 0),
      (SemanticEvent.celebration.patternName, Self.celebrationDelaySeconds),
    ])
  }

  /// Plays a firm tap, which warns that one minute remains.
  public func playOneMinuteWarning() { play("medium") }

  /// Plays a firm tap, which means that the time is up.
  public func playTimeExpiration() { play("medium") }

  /// Plays all semantic events at intervals of one second.
  ///
  /// - Returns: The events and their times, for display; empty if haptics are disabled.
  @discardableResult public func testAll() -> [ScheduledTestEvent] {
    guard isEnabled else { return [] }
    let firstEventTime = currentTime + Self.firstTestEventDelaySeconds
    let scheduledEvents = SemanticEvent.allCases.enumerated().map { index, event in
      ScheduledTestEvent(
        event: event, time: firstEventTime + Double(index) * Self.testEventIntervalSeconds)
    }
    play(
      scheduledEvents.map { ($0.event.patternName, $0.time - firstEventTime) }, at: firstEventTime)
    return scheduledEvents
  }
}

/// A store for the setting of a haptic manager.
public protocol HapticSettingStore: AnyObject {
  /// Returns the setting that is stored under a key, or nil if there is none.
  func setting(forKey key: String) -> Bool?
  /// Stores the setting under a key.
  func storeSetting(_ isOn: Bool, forKey key: String)
}

/// A store for managers on a virtual device. It discards the setting.
private final class VolatileSettingStore: HapticSettingStore {
  func setting(forKey key: String) -> Bool? { nil }

  func storeSetting(_ isOn: Bool, forKey key: String) {}
}

extension UserDefaults: HapticSettingStore {
  /// Returns the stored setting, or nil if the stored value is not a Boolean.
  public func setting(forKey key: String) -> Bool? { object(forKey: key) as? Bool }

  /// Stores the setting, and writes it to disk.
  public func storeSetting(_ isOn: Bool, forKey key: String) {
    set(isOn, forKey: key)
    _ = synchronize()
  }
}

extension CHHapticPattern {
  /// Merges several patterns into one, each at its own time in seconds.
  ///
  /// The intervals between the patterns are therefore exact to the frame. A curve or parameter acts
  /// on the whole layer from its time on, as in any pattern.
  static func sequence(_ steps: [(pattern: CHHapticPattern, time: TimeInterval)]) throws
    -> CHHapticPattern
  {
    var layers: [HapticComposition.Layer] = []
    for step in steps {
      for (index, layer) in step.pattern.composition.layers.enumerated() {
        if index == layers.count {
          layers.append(HapticComposition.Layer(HapticPattern()))
        }
        var moved = layer
        moved.delay(by: step.time)
        layers[index].pattern.events += moved.pattern.events
        layers[index].pattern.parameters += moved.pattern.parameters
        layers[index].pattern.curves += moved.pattern.curves
        layers[index].signals += moved.signals
      }
    }
    return CHHapticPattern(HapticComposition(layers: layers))
  }

  /// Returns a pattern with a single tap. Values are clamped to 0…1, and NaN becomes 0.
  static func tap(intensity: Float, sharpness: Float) throws -> CHHapticPattern {
    try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [
            CHHapticEventParameter(
              parameterID: .hapticIntensity, value: intensity.isNaN ? 0 : intensity),
            CHHapticEventParameter(
              parameterID: .hapticSharpness, value: sharpness.isNaN ? 0 : sharpness),
          ], relativeTime: 0)
      ], parameters: [])
  }
}
