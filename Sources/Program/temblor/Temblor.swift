import Glibc
import TemblorCommands

@main struct Temblor {
  static func main() {
    // Exit immediately: exit handlers of libraries can wait for a device that hangs.
    _exit(TemblorProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
