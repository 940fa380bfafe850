@main
struct Bench {
  static func main() throws {
    let figures = try VoiceBenchmarks.run() + CompileBenchmarks.run()
    for f in figures { print(f.name, f.value, f.unit, f.goal ?? 0) }
  }
}
