internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import HapticModel
internal import HapticPlayback
internal import HapticRender

/// One call of an application on a virtual device, or one thing that happened to it: an entry of
/// `HapticLog`.
public struct HapticLogEntry: Equatable, Sendable {
  /// What can be called and can happen; `at` is when it takes effect, in seconds of the device.
  public enum Action: Equatable, Sendable {
    case engineMade, engineStarted
    /// A start threw an error of this code.
    case engineStartFailed(CHHapticError.Code)
    /// The reason is nil where the application requested the stop.
    case engineStopped(CHHapticEngine.StoppedReason?)
    /// An engine was reset: its players are dead.
    case engineReset
    /// The haptics, or the audio, of an engine were muted, or unmuted.
    case hapticsMuted(Bool), audioMuted(Bool)
    /// A handler of the application was called.
    case handlerCalled(Handler)
    /// A player was made of a pattern.
    case playerMade(eventCount: Int)
    case started(at: Double), stopped(at: Double), paused(at: Double), resumed(at: Double),
      cancelled
    /// A player was sought to seconds of its pattern.
    case sought(to: Double)
    /// A player has come to its end, by itself or by a stop.
    case ended(at: Double)
    /// A player was set to loop, or not to; its playback rate was set; it was muted, or unmuted.
    case looping(Bool), rate(Double), muted(Bool)
    /// A dynamic parameter was sent to a player, one entry for each.
    case sent(CHHapticDynamicParameter.ID, Float, at: Double)
    /// A parameter curve was scheduled.
    case scheduledCurve(CHHapticDynamicParameter.ID, at: Double)
    /// A feedback generator was called, or prepared.
    case generator(GeneratorCall), prepared(Generator)
    /// A system sound was played.
    case systemSound(Int)
    /// The application was notified by the name of a property of `UIApplication`, such as
    /// `didEnterBackground`.
    case application(String)
    /// A rule of phones was broken.
    case violation(Violation)
  }

  /// A handler of the application: that of a start, of a stop, of `notifyWhenPlayersFinished`, of
  /// an engine that stopped or was reset, or of a player that ended.
  public enum Handler: String, Sendable { case start, stop, finished, stopped, reset, completion }

  /// A call of a feedback generator.
  public enum GeneratorCall: Equatable, Sendable {
    /// The styles of impacts.
    public enum Style: String, Sendable { case light, medium, heavy, soft, rigid }
    /// The types of notifications.
    public enum Notification: String, Sendable { case success, warning, error }

    case impact(Style, intensity: Double = 1)
    case notification(Notification)
    /// A change of a selection; an alignment and a closed path while drawing.
    case selection, alignment, pathCompleted
    /// Other feedback: `watch success` of WatchKit, `trackpad alignment` of AppKit, `increase` of
    /// SwiftUI.
    case named(String, intensity: Double = 1)

    package init(name: String, intensity: Double) {
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

  /// A feedback generator: of impacts of a style, of drawing, or of the class that they have in
  /// common.
  public enum Generator: Equatable, Sendable {
    case impact(GeneratorCall.Style), notification, selection, canvas, general

    package init(name: String) {
      switch name {
      case "notification": self = .notification
      case "selection": self = .selection
      case "canvas": self = .canvas
      default: self = GeneratorCall.Style(rawValue: name).map { .impact($0) } ?? .general
      }
    }
  }

  /// What works on a virtual device and breaks on a phone.
  public enum Violation: Equatable, Sendable {
    /// A handler that the compiler took for one of the main actor was called off it; a phone traps.
    case handlerOffMainActor(Handler)
    /// An engine was started without a reset handler; on a phone it falls silent for good one day.
    case noResetHandler
    /// An engine was released while it played; a phone falls silent.
    case engineReleased
    /// A continuous event is longer than the 30 s that a phone plays.
    case longEvent(seconds: Double)
    /// A player was used after a reset of its engine.
    case playerUsedAfterReset
    /// A feedback generator was called off the main thread.
    case generatorOffMainThread
    /// A member was used that came with a version of iOS.
    case newerAPI(String, version: String)
  }

  /// Seconds on the device's clock, when it was called or happened.
  public var time: Double
  /// The engine's number on its device, from 1, or nil where there is none.
  public var engine: Int?
  /// The player's number on its device, from 1, or nil where there is none.
  public var player: Int?
  /// What it was.
  public var action: Action
}
