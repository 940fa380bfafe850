public import CoreHaptics
public import Foundation
public import Observation

/// Haptics for an application: patterns by name, taps, semantic events and rhythms, without any care about the engine.
///
/// Every call is fire and forget: it returns at once, has no result and no error, and does nothing where there is no
/// device, no such pattern, or the switch is off. The article HapticManager tells the rules.
@MainActor @Observable
public final class HapticManager {
  /// The manager of the process: shipped patterns, the output of the process, the user's defaults.
  public static let shared = HapticManager(
    life: .shared, patterns: .shipped, store: UserDefaults.standard, isEnabledAtFirst: true)

  /// The name under which the switch is remembered.
  public static let settingKey = "HapticManager.isEnabled"

  /// Whether anything is played; turning it off ends at once whatever plays. Remembered from run to run.
  public var isEnabled: Bool {
    didSet {
      store.setOn(isEnabled, for: Self.settingKey)
      if !isEnabled { life.silence() }
    }
  }

  @ObservationIgnored private let life: EngineLife
  @ObservationIgnored private let patterns: ParsedPatternCache
  @ObservationIgnored private let store: any HapticSettingStore

  /// Makes a manager with an engine of its own.
  ///
  /// - Parameters:
  ///   - resolver: Finds pattern files.
  ///   - engineSource: Makes engines.
  ///   - store: Remembers the switch.
  ///   - isEnabledAtFirst: Where the switch is as long as nothing is remembered.
  public convenience init(
    resolver: PatternResolver = .shipped, engineSource: EngineProvider = .hardware,
    store: any HapticSettingStore = UserDefaults.standard, isEnabledAtFirst: Bool = true
  ) {
    self.init(
      life: EngineLife(engineSource), patterns: ParsedPatternCache(resolver), store: store,
      isEnabledAtFirst: isEnabledAtFirst)
  }

  private init(
    life: EngineLife, patterns: ParsedPatternCache, store: any HapticSettingStore,
    isEnabledAtFirst: Bool
  ) {
    self.life = life
    self.patterns = patterns
    self.store = store
    isEnabled = store.isOn(Self.settingKey) ?? isEnabledAtFirst
    life.watch(reset: { patterns.reload() }) { [weak self] in
      Task { @MainActor in self?.withMutation(keyPath: \.isEngineAvailable) {} }
    }
  }

  // MARK: What can be seen

  /// Whether what is played can be felt, as far as is known; can be observed.
  ///
  /// What is read is always the newest; observers are told on the main actor.
  public var isEngineAvailable: Bool {
    access(keyPath: \.isEngineAvailable)
    return life.isAvailable
  }

  /// The patterns that could not be read, and why.
  public var invalidPatterns: [String: CHHapticError] { patterns.broken }

  /// Seconds on the engine's clock, for pictures and sounds in step; stands still while the engine does.
  public var currentTime: TimeInterval { life.currentTime }

  /// The pattern of a name as it is played, for pictures of it.
  public func pattern(named name: String) -> CHHapticPattern? { patterns.pattern(named: name) }

  // MARK: Playing

  /// Reads all patterns and starts the engine, so that nothing is left to do when a pattern is played.
  ///
  /// Patterns that were read are not read again; one that is broken is skipped and told by `invalidPatterns`.
  public func preloadPatterns() {
    patterns.loadAll()
    if isEnabled { life.prepare() }
  }

  /// Plays a pattern once, beside whatever else plays.
  ///
  /// - Parameter time: A time of the engine's clock; 0 and times that have passed mean now.
  public func play(_ name: String, at time: TimeInterval = 0) {
    guard isEnabled, let pattern = patterns.pattern(named: name) else { return }
    life.play(pattern, at: time)
  }

  /// Plays one tap: for detents, touches and mistakes. Both values are moved into 0…1.
  public func playTransientEvent(intensity: Float, sharpness: Float) {
    guard isEnabled else { return }
    play { try .tap(intensity: intensity, sharpness: sharpness) }
  }

  /// Plays patterns as one, each from its time on, exact to the frame; names that do not exist are left out.
  func play(_ steps: [(name: String, time: TimeInterval)], at time: TimeInterval = 0) {
    guard isEnabled else { return }
    let found = steps.compactMap { step in
      patterns.pattern(named: step.name).map { (pattern: $0, time: step.time) }
    }
    guard !found.isEmpty else { return }
    play(at: time) { try .sequence(found) }
  }

  private func play(at time: TimeInterval = 0, _ make: () throws -> CHHapticPattern) {
    // What cannot be made is not played, and nobody is told.
    guard let pattern = try? make() else { return }
    life.play(pattern, at: time)
  }
}
