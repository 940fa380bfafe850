import CoreHapticsTesting
import Foundation

/// The time the drill goes by: the world's, or that of a device in memory.
enum DrillTime {
  /// The world's.
  case real
  /// That of the device in memory, which goes on as soon as it is waited for.
  case virtual

  /// Seconds that have gone by.
  var now: Double {
    switch self {
    case .real: ProcessInfo.processInfo.systemUptime
    case .virtual: VirtualHapticDevice.shared.now
    }
  }

  /// Lets time go by.
  func pass(_ seconds: Double) async {
    switch self {
    case .real: try? await Task.sleep(for: .seconds(seconds))
    case .virtual: VirtualHapticDevice.shared.advance(seconds: seconds)
    }
  }
}
