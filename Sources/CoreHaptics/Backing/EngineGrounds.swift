internal import Foundation
internal import Synchronization

/// Which ground new engines of this process stand on.
package enum EngineGrounds {
  private static let chosen = Mutex<(any EngineGround)?>(nil)

  /// The ground that a test has put in place, or the one the environment asks for.
  package static var current: any EngineGround {
    chosen.withLock { ground in
      if let ground { return ground }
      let asked = OutputChoice(ProcessInfo.processInfo.environment)
      let made: any EngineGround =
        if case .virtual = asked.output { VirtualGround.shared } else { LiveGround(asked) }
      ground = made
      return made
    }
  }

  /// Puts another ground in place for engines made from now on; nothing returns to the environment's.
  package static func use(_ ground: (any EngineGround)?) { chosen.withLock { $0 = ground } }
}
