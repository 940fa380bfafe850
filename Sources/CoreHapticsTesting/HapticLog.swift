public import CoreHaptics

/// What an application asked of haptics on a device, and what happened to it, in order.
public struct HapticLog: Equatable, Sendable, RandomAccessCollection, CustomStringConvertible {
  /// One call, or one thing that happened.
  public struct Entry: Equatable, Sendable, CustomStringConvertible {
    /// Seconds on the device's clock, when it was called or happened.
    public var time: Double
    /// The engine's number on its device, from 1, or nil where there is none.
    public var engine: Int?
    /// The player's number on its device, from 1, or nil where there is none.
    public var player: Int?
    /// What it was.
    public var action: Action

    /// One line, such as `0.300 s  engine 1: stopped by audioSessionInterrupt`.
    public var description: String {
      let owner = [engine.map { "engine \($0)" }, player.map { "player \($0)" }].compactMap { $0 }
      return "\(thousandths(time)) s  " + (owner.isEmpty ? "" : owner.joined(separator: ", ") + ": ") + "\(action)"
    }
  }

  /// What can be called and can happen; `at` is when it takes effect, in seconds of the device.
  public enum Action: Equatable, Sendable {
    /// An engine was made.
    case engineMade
    /// An engine was started.
    case engineStarted
    /// A start threw an error of this code.
    case engineStartFailed(CHHapticError.Code)
    /// The reason is nil where the application requested the stop.
    case engineStopped(CHHapticEngine.StoppedReason?)
    /// An engine was reset: its players are dead.
    case engineReset
    /// The haptics of an engine were muted, or unmuted.
    case hapticsMuted(Bool)
    /// The audio of an engine was muted, or unmuted.
    case audioMuted(Bool)
    /// A handler of the application was called.
    case handlerCalled(Handler)
    /// A player was made of a pattern.
    case playerMade(eventCount: Int)
    /// A player was started.
    case started(at: Double)
    /// A player was stopped.
    case stopped(at: Double)
    /// A player was paused.
    case paused(at: Double)
    /// A player was resumed.
    case resumed(at: Double)
    /// A player was sought to seconds of its pattern.
    case sought(to: Double)
    /// A player was cancelled.
    case cancelled
    /// A player has come to its end, by itself or by a stop.
    case ended(at: Double)
    /// A player was set to loop, or not to.
    case looping(Bool)
    /// The playback rate of a player was set.
    case rate(Double)
    /// A player was muted, or unmuted.
    case muted(Bool)
    /// A dynamic parameter was sent to a player, one entry for each.
    case sent(CHHapticDynamicParameter.ID, Float, at: Double)
    /// A parameter curve was scheduled.
    case scheduledCurve(CHHapticDynamicParameter.ID, at: Double)
    /// A feedback generator was called.
    case generator(GeneratorCall)
    /// A feedback generator was prepared.
    case prepared(Generator)
    /// A system sound was played.
    case systemSound(Int)
    /// The application was notified of its life, by the name of a property of `UIApplication`, such as
    /// `didEnterBackground`.
    case application(String)
    /// A rule of phones was broken.
    case breach(HapticBreach)
  }

  /// A handler of the application.
  public enum Handler: String, Sendable {
    /// That of a start.
    case start
    /// That of a stop.
    case stop
    /// That of `notifyWhenPlayersFinished`.
    case finished
    /// The stopped handler.
    case stopped
    /// The reset handler.
    case reset
    /// The completion handler of a player.
    case completion
  }

  /// A call of a feedback generator.
  public enum GeneratorCall: Equatable, Sendable {
    /// The styles of impacts.
    public enum Style: String, Sendable { case light, medium, heavy, soft, rigid }
    /// The types of notifications.
    public enum Notification: String, Sendable { case success, warning, error }

    /// An impact.
    case impact(Style, intensity: Double = 1)
    /// A notification.
    case notification(Notification)
    /// A change of a selection.
    case selection
    /// An alignment while drawing.
    case alignment
    /// A closed path while drawing.
    case pathCompleted
    /// Feedback that an iPhone's generators do not have: `watch success` of WatchKit, `trackpad alignment` of AppKit,
    /// `increase` of SwiftUI.
    case named(String, intensity: Double = 1)
  }

  /// A feedback generator.
  public enum Generator: Equatable, Sendable {
    /// That of impacts of a style.
    case impact(GeneratorCall.Style)
    /// That of notifications.
    case notification
    /// That of selections.
    case selection
    /// That of drawing.
    case canvas
    /// One of the class that they have in common.
    case general
  }

  var entries: [Entry]

  /// The first index, 0.
  public var startIndex: Int { 0 }
  /// One behind the last index.
  public var endIndex: Int { entries.count }
  /// An entry by its index.
  public subscript(index: Int) -> Entry { entries[index] }

  /// One line for each entry.
  public var description: String { isEmpty ? "nothing happened" : entries.map(\.description).joined(separator: "\n") }

  /// What was called and happened, without times and numbers.
  public var actions: [Action] { entries.map(\.action) }

  /// How many engines were made.
  public var engineCount: Int { entries.count { $0.action == .engineMade } }

  /// How many starts of engines succeeded.
  public var startCount: Int { entries.count { $0.action == .engineStarted } }

  /// How many players were made.
  public var playerCount: Int { entries.count { if case .playerMade = $0.action { true } else { false } } }

  /// How many times players were started.
  public var playerStartCount: Int { entries.count { if case .started = $0.action { true } else { false } } }

  /// The values that were sent of a dynamic parameter, in order.
  public func values(of id: CHHapticDynamicParameter.ID) -> [Float] {
    entries.compactMap { if case .sent(id, let value, _) = $0.action { value } else { nil } }
  }

  /// The calls of feedback generators, in order.
  public var generators: [GeneratorCall] {
    entries.compactMap { if case .generator(let call) = $0.action { call } else { nil } }
  }

  /// The feedback generators that were prepared, in order.
  public var preparations: [Generator] {
    entries.compactMap { if case .prepared(let generator) = $0.action { generator } else { nil } }
  }

  /// The numbers of system sounds that were played, in order.
  public var systemSounds: [Int] {
    entries.compactMap { if case .systemSound(let number) = $0.action { number } else { nil } }
  }

  /// Why engines stopped, in order; nil where the application requested it.
  public var stops: [CHHapticEngine.StoppedReason?] {
    entries.compactMap { if case .engineStopped(let reason) = $0.action { .some(reason) } else { nil } }
  }

  /// What works on a virtual device and breaks on a phone, in order.
  public var breaches: [HapticBreach] {
    entries.compactMap { if case .breach(let breach) = $0.action { breach } else { nil } }
  }
}

extension HapticLog {
  init(_ notes: [EngineNote]) {
    entries = notes.map { note in
      Entry(time: note.time, engine: note.engine, player: note.player, action: Action(note.action))
    }
  }
}

extension HapticLog.Action {
  /// What a note says to a test.
  fileprivate init(_ action: EngineNote.Action) {
    switch action {
    case .engineMade: self = .engineMade
    case .engineStarted: self = .engineStarted
    case .engineStartFailed(let code): self = .engineStartFailed(code)
    case .engineStopped(let reason): self = .engineStopped(reason)
    case .engineReset: self = .engineReset
    case .hapticsMuted(let isMuted): self = .hapticsMuted(isMuted)
    case .audioMuted(let isMuted): self = .audioMuted(isMuted)
    case .handlerCalled(let handler): self = .handlerCalled(.init(handler))
    case .playerMade(let count): self = .playerMade(eventCount: count)
    case .started(let time): self = .started(at: rounded(time))
    case .stopped(let time): self = .stopped(at: rounded(time))
    case .paused(let time): self = .paused(at: rounded(time))
    case .resumed(let time): self = .resumed(at: rounded(time))
    case .cancelled: self = .cancelled
    case .sought(let offset): self = .sought(to: offset)
    case .ended(let time): self = .ended(at: rounded(time))
    case .looped(let isOn): self = .looping(isOn)
    case .rateChanged(let rate): self = .rate(rate)
    case .playerMuted(let isMuted): self = .muted(isMuted)
    case .sent(let id, let value, let time): self = .sent(id, value, at: rounded(time))
    case .scheduled(let id, let time): self = .scheduledCurve(id, at: rounded(time))
    case .generatorCalled(let name, let intensity):
      self = .generator(HapticLog.GeneratorCall(name: name, intensity: intensity))
    case .generatorPrepared(let name): self = .prepared(HapticLog.Generator(name: name))
    case .lifeCycle(let notification): self = .application("\(notification)")
    case .systemSoundPlayed(let number): self = .systemSound(number)
    case .breach(let breach): self = .breach(HapticBreach(breach))
    }
  }
}

extension HapticLog.Handler {
  init(_ handler: EngineNote.Handler) {
    switch handler {
    case .start: self = .start
    case .stop: self = .stop
    case .finished: self = .finished
    case .stopped: self = .stopped
    case .reset: self = .reset
    case .completion: self = .completion
    }
  }
}

extension HapticLog.GeneratorCall {
  fileprivate init(name: String, intensity: Double) {
    if let style = Style(rawValue: name) {
      self = .impact(style, intensity: intensity)
    } else if let type = Notification(rawValue: name) {
      self = .notification(type)
    } else {
      switch name {
      case "selection": self = .selection
      case "alignment": self = .alignment
      case "path-completed": self = .pathCompleted
      default: self = .named(name, intensity: intensity)
      }
    }
  }
}

extension HapticLog.Generator {
  fileprivate init(name: String) {
    switch name {
    case "notification": self = .notification
    case "selection": self = .selection
    case "canvas": self = .canvas
    default: self = HapticLog.GeneratorCall.Style(rawValue: name).map { .impact($0) } ?? .general
    }
  }
}

/// A time to the nanosecond, so that sums of seconds can be compared.
func rounded(_ seconds: Double) -> Double { (seconds * 1e9).rounded() / 1e9 }

extension HapticLog.Action: CustomStringConvertible {
  /// A few words, such as `stopped by audioSessionInterrupt`.
  public var description: String {
    switch self {
    case .engineMade: "made"
    case .engineStarted: "started"
    case .engineStartFailed(let code): "start failed with \(code)"
    case .engineStopped(let reason): reason.map { "stopped by \($0)" } ?? "stopped on request"
    case .engineReset: "reset"
    case .hapticsMuted(let isMuted): isMuted ? "haptics muted" : "haptics unmuted"
    case .audioMuted(let isMuted): isMuted ? "audio muted" : "audio unmuted"
    case .handlerCalled(let handler): "\(handler.rawValue) handler called"
    case .playerMade(let count): "made with \(count) event\(count == 1 ? "" : "s")"
    case .started(let time): "started at \(thousandths(time)) s"
    case .stopped(let time): "stopped at \(thousandths(time)) s"
    case .paused(let time): "paused at \(thousandths(time)) s"
    case .resumed(let time): "resumed at \(thousandths(time)) s"
    case .sought(let offset): "sought to \(thousandths(offset)) s of the pattern"
    case .cancelled: "cancelled"
    case .ended(let time): "ended at \(thousandths(time)) s"
    case .looping(let isOn): isOn ? "loops" : "does not loop"
    case .rate(let rate): "plays at rate \(thousandths(rate))"
    case .muted(let isMuted): isMuted ? "muted" : "unmuted"
    case .sent(let id, let value, let time):
      "\(id.rawValue) \(thousandths(Double(value))) sent for \(thousandths(time)) s"
    case .scheduledCurve(let id, let time): "curve of \(id.rawValue) scheduled for \(thousandths(time)) s"
    case .generator(let call): "generator: \(call)"
    case .prepared(let generator): "generator prepared: \(generator)"
    case .systemSound(let number): "system sound \(number)"
    case .application(let name): "application: \(name)"
    case .breach(let breach): "\(breach)"
    }
  }
}

extension HapticLog.GeneratorCall: CustomStringConvertible {
  /// A few words, such as `impact heavy, intensity 0.700`.
  public var description: String {
    switch self {
    case .impact(let style, let intensity):
      "impact \(style.rawValue)" + (intensity == 1 ? "" : ", intensity \(thousandths(intensity))")
    case .notification(let type): "notification \(type.rawValue)"
    case .selection: "selection"
    case .alignment: "alignment"
    case .pathCompleted: "path completed"
    case .named(let name, let intensity): name + (intensity == 1 ? "" : ", intensity \(thousandths(intensity))")
    }
  }
}
