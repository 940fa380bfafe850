import Glibc
import TemblorCommands

@main
struct Temblor {
  static func main() {
    exit(TemblorProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
