internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import HapticModel
internal import HapticPlayback
internal import HapticRender

/// A call of an application on a virtual device, or an event of the device.
public struct HapticLogEntry: Equatable, Sendable {
  /// The action of an entry: a call or event.
  ///
  /// `at` is the time at which the call takes effect, in seconds on the device's clock.
  public enum Action: Equatable, Sendable {
    case engineMade, engineStarted
    /// A start of an engine failed with an error of this code.
    case engineStartFailed(CHHapticError.Code)
    /// An engine stopped. The reason is nil if the application requested the stop.
    case engineStopped(CHHapticEngine.StoppedReason?)
    /// An engine was reset. The reset invalidates its players.
    case engineReset
    /// The haptics or the audio of an engine was muted or unmuted.
    case hapticsMuted(Bool), audioMuted(Bool)
    /// A handler of the application was called.
    case handlerCalled(HandlerKind)
    /// A player was created for a pattern.
    case playerMade(eventCount: Int)
    case started(at: Double), stopped(at: Double), paused(at: Double), resumed(at: Double),
      cancelled
    /// The playback position of a player was moved to a time in its pattern, in seconds.
    case sought(to: Double)
    /// A player ended, because it reached the end of its pattern or was stopped.
    case ended(at: Double)
    /// The looping, the playback rate, or the muting of a player was set.
    case looping(Bool), rate(Double), muted(Bool)
    /// A dynamic parameter was sent to a player. Each parameter has its own entry.
    case sent(CHHapticDynamicParameter.ID, Float, at: Double)
    /// A parameter curve was scheduled.
    case scheduledCurve(CHHapticDynamicParameter.ID, at: Double)
    /// A feedback generator was called or prepared.
    case generator(FeedbackGeneratorCall), prepared(FeedbackGeneratorKind)
    /// A system sound was played.
    case systemSound(Int)
    /// The application received a notification.
    ///
    /// The name is that of a property of `UIApplication`, such as `didEnterBackground`.
    case application(String)
    /// A rule of phones was violated.
    case violation(Violation)
  }

  /// A kind of handler of the application.
  ///
  /// It is a handler of a start, a stop, `notifyWhenPlayersFinished`, an engine that stopped or was
  /// reset, or a player that ended.
  public enum HandlerKind: String, Sendable {
    case start, stop, finished, stopped, reset, completion
  }

  /// A call of a feedback generator, with its style or type.
  public enum FeedbackGeneratorCall: Equatable, Sendable {
    /// An impact with its style, which is a weight or a stiffness.
    public enum Style: String, Sendable { case light, medium, heavy, soft, rigid }
    /// A notification with its type.
    public enum Notification: String, Sendable { case success, warning, error }

    case impact(Style, intensity: Double = 1)
    case notification(Notification)
    /// A changed selection; or, while drawing, an alignment or a closed path.
    case selection, alignment, pathCompleted
    /// Feedback of another framework, such as `watch success` of WatchKit.
    ///
    /// Other examples are `trackpad alignment` of AppKit and `increase` of SwiftUI.
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

  /// A kind of feedback generator.
  ///
  /// The kinds are impacts of a style, other feedback, and the common base class.
  public enum FeedbackGeneratorKind: Equatable, Sendable {
    case impact(FeedbackGeneratorCall.Style), notification, selection, canvas, general

    package init(name: String) {
      switch name {
      case "notification": self = .notification
      case "selection": self = .selection
      case "canvas": self = .canvas
      default: self = FeedbackGeneratorCall.Style(rawValue: name).map { .impact($0) } ?? .general
      }
    }
  }

  /// A rule violation: a use that works on a virtual device but fails on a phone.
  public enum Violation: Equatable, Sendable {
    /// A handler isolated to the main actor was called on another executor.
    ///
    /// On a phone, this call ends the application.
    case handlerOffMainActor(HandlerKind)
    /// An engine without a reset handler started a player or was reset.
    ///
    /// On a phone, it eventually falls silent and stays silent.
    case noResetHandler
    /// An engine was released while it played. On a phone, this release ends the sound.
    case engineReleased
    /// A continuous event exceeds the maximum duration of a phone, 30 s.
    case longEvent(seconds: Double)
    /// A player was used after a reset of its engine.
    case playerUsedAfterReset
    /// A feedback generator was called off the main thread.
    case generatorOffMainThread
    /// A declaration that requires a specific version of iOS was used.
    case newerAPI(String, version: String)
  }

  /// The time of the call or event, in seconds on the device's clock.
  public var time: Double
  /// The number of the engine on its device, from 1, or nil for an entry without an engine.
  public var engineNumber: Int?
  /// The number of the player on its device, from 1, or nil for an entry without a player.
  public var playerNumber: Int?
  /// The call of the application, or the event of the device.
  public var action: Action
}
