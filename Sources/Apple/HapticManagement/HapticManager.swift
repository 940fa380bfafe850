internal import HapticModel
public import CoreHaptics
public import Foundation
public import Observation

/// Haptics for an application: patterns by name, taps, semantic events and rhythms, without any
/// care about the engine.
///
/// Every call is fire and forget: it returns at once, has no result and no error, and does nothing
/// where there is no device, no such pattern, or the switch is off. The article HapticManager
/// states the rules.
@MainActor @Observable public final class HapticManager {
  /// The manager of the process: shipped patterns, the output of the process, the user's defaults.
  ///
  /// Each virtual device has a manager of its own, whose switch is forgotten with the device.
  public static var shared: HapticManager {
    EngineBackends.virtual?.sharedObject(HapticManager.self) {
      HapticManager(
        lifecycle: .shared, patterns: .shipped, store: VolatileSettingStore(),
        isEnabledByDefault: true)
    } ?? live
  }

  private static let live = HapticManager(
    lifecycle: .shared, patterns: .shipped, store: UserDefaults.standard, isEnabledByDefault: true)

  /// The name under which the switch is remembered.
  public static let settingKey = "HapticManager.isEnabled"

  /// Whether anything is played; turning it off ends at once whatever plays. Remembered from run to
  /// run.
  public var isEnabled: Bool {
    didSet {
      store.setOn(isEnabled, for: Self.settingKey)
      if !isEnabled {
        lifecycle.stopAll()
      }
    }
  }

  @ObservationIgnored private let lifecycle: EngineLifecycle
  @ObservationIgnored private let patterns: ParsedPatternCache
  @ObservationIgnored private let store: any HapticSettingStore

  /// Makes a manager with an engine of its own, and with the switch as it is at first where nothing
  /// is remembered.
  public convenience init(
    resolver: PatternResolver = .shipped, engineProvider engineSource: EngineProvider = .hardware,
    store: any HapticSettingStore = UserDefaults.standard,
    isEnabledByDefault isEnabledAtFirst: Bool = true
  ) {
    self.init(
      lifecycle: EngineLifecycle(engineSource), patterns: ParsedPatternCache(resolver),
      store: store,
      isEnabledByDefault: isEnabledAtFirst)
  }

  private init(
    lifecycle life: EngineLifecycle, patterns: ParsedPatternCache, store: any HapticSettingStore,
    isEnabledByDefault isEnabledAtFirst: Bool
  ) {
    self.lifecycle = life
    self.patterns = patterns
    self.store = store
    isEnabled = store.isOn(Self.settingKey) ?? isEnabledAtFirst
    life.setHandlers(reset: { patterns.reload() }) { [weak self] in
      Task { @MainActor in self?.withMutation(keyPath: \.isEngineAvailable) {} }
    }
  }

  /// Whether what is played can be felt, as far as is known; can be observed.
  ///
  /// What is read is always the newest; observers are notified on the main actor.
  public var isEngineAvailable: Bool {
    access(keyPath: \.isEngineAvailable)
    return lifecycle.isAvailable
  }

  /// The patterns that could not be read, and why.
  public var invalidPatterns: [String: CHHapticError] { patterns.errors }

  /// Seconds on the engine's clock, for pictures and sounds in step; stops while the engine is
  /// stopped.
  public var currentTime: TimeInterval { lifecycle.currentTime }

  /// The pattern of a name as it is played, for pictures of it.
  public func pattern(named name: String) -> CHHapticPattern? { patterns.pattern(named: name) }

  /// Reads all patterns and starts the engine, so that nothing is left to do when a pattern is
  /// played.
  ///
  /// Patterns that were read are not read again; one that is broken is skipped and listed in
  /// `invalidPatterns`.
  public func preloadPatterns() {
    patterns.loadAll()
    if isEnabled {
      lifecycle.prepare()
    }
  }

  /// Plays a pattern once, beside whatever else plays, at a time of the engine's clock; 0 and past
  /// times mean now.
  public func play(_ name: String, at time: TimeInterval = 0) {
    guard isEnabled, let pattern = patterns.pattern(named: name) else { return }
    lifecycle.play(pattern, at: time)
  }

  /// Plays one tap: for detents, touches and mistakes. Both values are moved into 0…1.
  public func playTransientEvent(intensity: Float, sharpness: Float) {
    guard isEnabled else { return }
    play { try .tap(intensity: intensity, sharpness: sharpness) }
  }

  /// Plays patterns as one, each from its time on, exact to the frame; names that do not exist are
  /// left out.
  func play(_ steps: [(name: String, time: TimeInterval)], at time: TimeInterval = 0) {
    guard isEnabled else { return }
    let found = steps.compactMap { step in
      patterns.pattern(named: step.name).map { (pattern: $0, time: step.time) }
    }
    guard !found.isEmpty else { return }
    play(at: time) { try .sequence(found) }
  }

  private func play(at time: TimeInterval = 0, _ make: () throws -> CHHapticPattern) {
    // What cannot be made is not played, and nobody is notified.
    guard let pattern = try? make() else { return }
    lifecycle.play(pattern, at: time)
  }

  /// A small earthquake: rolling, violent, dying away; 2.2 s.
  public func playEarthquakeSplash() { play("earthquake-splash") }

  /// A rumble with three aftershocks, played once on entering a scenario; 4 s.
  public func playEarthquakeSimulation() { play("earthquake-simulation") }

  /// Two bright rising taps.
  public func playCorrectAnswer() { play("correct-answer") }

  /// Three quick falling taps.
  public func playWrongAnswer() { play("wrong-answer") }

  /// A run of taps, a swell, one closing tap.
  public func playPerfectScore() { play("perfect-score") }

  /// A soft pat on the shoulder.
  public func playEncouragement() { play("encouragement") }

  /// The most taps of a rhythm; those beyond are left out.
  public static let maximumTapCount = 64
  /// The longest rhythm in seconds; taps beyond are left out.
  public static let maximumRhythmDuration = 60.0

  /// Plays one kind of feedback.
  public func play(_ type: FeedbackType) { play(type.patternName) }

  /// Two firm taps, at 0 and 0.1 s.
  public func doubleTap() { play("double-tap") }

  /// Three firm taps, at 0, 0.1 and 0.175 s.
  public func tripleTap() { play("triple-tap") }

  /// Firm taps at 0 and 0.1 s, a heavy one at 0.25 s.
  public func successRhythm() { play("success-rhythm") }

  /// An even row of light taps, at most 64, with an interval in seconds.
  public func pulse(count: Int = 1, interval: TimeInterval = 0.25) {
    let count = min(max(count, 0), Self.maximumTapCount)
    tap(.light, at: (0..<count).map { Double($0) * interval })
  }

  /// A tap at each of some times, in milliseconds from now and in any order.
  public func triggerPattern(_ timings: [Double], style: FeedbackType = .medium) {
    tap(style, at: timings.map { $0 / 1_000 })
  }

  private func tap(_ style: FeedbackType, at times: [TimeInterval]) {
    let usable = times.filter { (0...Self.maximumRhythmDuration).contains($0) }
    play(usable.prefix(Self.maximumTapCount).map { (style.patternName, $0) })
  }

  /// Coins after which there is a celebration.
  public static let milestoneCoinCount = 5
  /// Seconds from a milestone's coin to its celebration.
  static let celebrationDelay = 0.5
  /// Seconds between two events of a test.
  static let testInterval = 1.0
  /// Seconds before the first event of a test, so that the engine gets it before its time.
  static let testDelay = 0.05

  /// An event of a test, with the time of the engine's clock at which it is felt.
  public struct TestStep: Equatable, Sendable {
    /// What is played; its raw value is its name.
    public var event: SemanticEvent
    /// Seconds on the engine's clock.
    public var time: TimeInterval
  }

  /// Plays what an event means.
  public func trigger(_ event: SemanticEvent) { play(event.patternName) }

  /// Plays a coin, and at every fifth coin a celebration half a second later; the total counts this
  /// coin.
  public func earnCoin(total: Int) {
    guard total > 0, total.isMultiple(of: Self.milestoneCoinCount) else {
      return trigger(.coinEarned)
    }
    play([
      (SemanticEvent.coinEarned.patternName, 0),
      (SemanticEvent.celebration.patternName, Self.celebrationDelay),
    ])
  }

  /// One minute is left: a firm tap.
  public func warnOfTime() { play("medium") }

  /// Time is up: a firm tap.
  public func endTime() { play("medium") }

  /// Plays every event, one second apart.
  ///
  /// - Returns: The names and when each is felt, for a display; nothing where the switch is off.
  @discardableResult public func testAll() -> [TestStep] {
    guard isEnabled else { return [] }
    let start = currentTime + Self.testDelay
    let steps = SemanticEvent.allCases.enumerated().map { index, event in
      TestStep(event: event, time: start + Double(index) * Self.testInterval)
    }
    play(steps.map { ($0.event.patternName, $0.time - start) }, at: start)
    return steps
  }
}

/// Where a manager remembers its switch from one run to the next.
public protocol HapticSettingStore: AnyObject {
  /// What was remembered, or nothing.
  func isOn(_ key: String) -> Bool?
  /// Remembers.
  func setOn(_ isOn: Bool, for key: String)
}

private final class VolatileSettingStore: HapticSettingStore {
  func isOn(_ key: String) -> Bool? { nil }

  func setOn(_ isOn: Bool, for key: String) {}
}

extension UserDefaults: HapticSettingStore {
  /// What was remembered, or nothing where it is not a truth value.
  public func isOn(_ key: String) -> Bool? { object(forKey: key) as? Bool }

  /// Remembers, on the disk too.
  public func setOn(_ isOn: Bool, for key: String) {
    set(isOn, forKey: key)
    _ = synchronize()
  }
}

extension CHHapticPattern {
  /// One pattern of several, each from its time on, so that their distances are exact to the frame.
  /// A curve or parameter acts on the whole layer from its time on, as in any pattern.
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

  /// One tap; values outside 0…1 are moved to the nearest bound, NaN counts as 0.
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

/// What happened in a game, said by its meaning: gentle, brief, never punishing.
public enum SemanticEvent: String, CaseIterable, Sendable {
  /// A button was touched: a light tap.
  case buttonTap
  /// An answer was right: two rising taps.
  case correctAnswer
  /// A coin was earned: a firm tap.
  case coinEarned
  /// Not yet: two calm falling taps.
  case softFeedback
  /// Something great: two heavy taps.
  case celebration
  /// A choice changed: the faintest tick.
  case selectionChanged

  /// The pattern that is played.
  public var patternName: String { "bennie-" + rawValue.hyphenated }
}

/// The kinds of feedback in an application that teaches.
public enum FeedbackType: String, CaseIterable, Sendable {
  /// A light tap.
  case light
  /// A firm tap.
  case medium
  /// A heavy tap, for what matters.
  case heavy
  /// The faintest tick.
  case selection
  /// Two rising taps.
  case success
  /// Two falling taps.
  case warning
  /// Four uneven taps.
  case error
  /// Two quick bright taps.
  case correctAnswer
  /// A dull knock that sags.
  case wrongAnswer
  /// Three taps climb, a fourth blooms.
  case levelUp
  /// A rocket and its sparks.
  case celebration
  /// One tick of a clock.
  case countdown
  /// A tap that sinks.
  case swipeDown
  /// A brush that rises to a tap.
  case swipeUp
  /// A drag and a heavy stop.
  case swipeHeavy

  /// The pattern that is played.
  public var patternName: String {
    (self == .correctAnswer || self == .wrongAnswer ? "feedback-" : "") + rawValue.hyphenated
  }
}

extension String {
  /// `levelUp` as `level-up`.
  fileprivate var hyphenated: String {
    map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }
}
