internal import Foundation
internal import HapticPlayback
internal import Synchronization

/// Which ground new engines of this process stand on.
package enum EngineBackends {
  private static let chosen = Mutex<(any EngineBackend)?>(nil)

  /// The ground that a test has put in place, or the one the environment asks for.
  package static var current: any EngineBackend {
    chosen.withLock { ground in
      if let ground { return ground }
      let asked = OutputConfiguration(ProcessInfo.processInfo.environment)
      let made: any EngineBackend =
        asked.output == nil ? VirtualBackend.shared : LiveBackend(asked)
      ground = made
      return made
    }
  }

  /// Puts another ground in place for engines made from now on; nothing returns to the environment's.
  package static func use(_ ground: (any EngineBackend)?) { chosen.withLock { $0 = ground } }
}
