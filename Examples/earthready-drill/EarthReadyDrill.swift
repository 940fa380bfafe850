import CoreHapticsTesting
import Foundation
import HapticManagement

/// The program: reads the command line and runs the drill.
@main
struct EarthReadyDrill {
  private static let usage = """
    usage: earthready-drill [--virtual] [--picture] [--haptics on|off]

    An earthquake drill in the terminal, felt through whatever the default sound device moves.
    Answers are numbers, one on a line; they may come from a pipe.

      --virtual          wait for nothing and play into memory, as with TEMBLOR_OUTPUT=virtual
      --picture          play nothing, as where there is no device
      --haptics on|off   turn haptics on or off; remembered

    The exit status is 0 when the drill was gone through, 1 when the input ended before, 64 when the
    command line is wrong.

    """

  /// Runs the drill.
  @MainActor
  static func main() async {
    var isVirtual = ProcessInfo.processInfo.environment["TEMBLOR_OUTPUT"] == "virtual"
    var isPicture = false
    var isOn: Bool?
    var words = CommandLine.arguments.dropFirst()
    while let word = words.popFirst() {
      switch word {
      case "--virtual":
        isVirtual = true
      case "--picture":
        isPicture = true
      case "--haptics":
        guard let value = words.popFirst(), ["on", "off"].contains(value) else { refuse(word) }
        isOn = value == "on"
      case "--help":
        FileHandle.standardOutput.write(Data(usage.utf8))
        return
      default:
        refuse(word)
      }
    }
    if isVirtual || isPicture {
      VirtualHapticDevice.shared.install()
    }
    if isPicture {
      VirtualHapticDevice.shared.disconnect()
    }
    // The manager of a virtual device forgets its switch with the device; a drill remembers it.
    let haptics = isVirtual || isPicture ? HapticManager() : HapticManager.shared
    if let isOn {
      haptics.isEnabled = isOn
    }
    let drill = Drill(haptics: haptics, screen: Screen(), time: isVirtual ? .virtual : .real)
    if await !drill.run() {
      exit(1)
    }
  }

  private static func refuse(_ word: String) -> Never {
    FileHandle.standardError.write(
      Data("earthready-drill: '\(word)' cannot be used like this; see --help\n".utf8))
    exit(64)
  }
}
