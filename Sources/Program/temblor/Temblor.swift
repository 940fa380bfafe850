import Glibc
import TemblorCommands

@main struct Temblor {
  static func main() {
    // At once: what libraries do at an exit may wait for a device that hangs.
    _exit(TemblorProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
