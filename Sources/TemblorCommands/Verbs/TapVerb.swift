import CommandLineKit
import HapticModel
import HapticPlayback
import HapticRender
import Reading

/// `temblor tap`: transients at once.
enum TapVerb {
  static let description = CommandDescription(
    "tap", abstract: "Play one transient (a tap).",
    arguments: [
      Argument("INTENSITY", help: "Intensity, 0 to 1."),
      Argument("SHARPNESS", help: "Sharpness, 0 (dull) to 1 (sharp)."),
    ],
    options: [
      Option("--count", value: "N", help: "Number of taps, 1 to 10000.", defaultText: "1"),
      Option("--gap", value: "SECONDS", help: "Time from one tap to the next, 0.005 to 60.", defaultText: "0.25"),
      LiveOptions.json, LiveOptions.quiet,
    ], groups: [LiveOptions.soundGroup, RoutingOptions.group, DeviceOptions.group],
    examples: [
      .init("temblor tap 1 0.5", "Test the output."), .init("temblor tap 0.6 0.9 --count 8 --gap 0.1", "A rattle."),
      .init("temblor tap 1 0.3 --haptics 2", "Find out which shaker is the second channel."),
    ]
  ) { arguments, terminal in try run(arguments, terminal, on: SystemBackend()) }

  static func run(_ arguments: ParsedArguments, _ terminal: Terminal, on stage: any SessionBackend) throws -> ExitStatus
  {
    let options = try LiveOptions(arguments)
    let intensity = try arguments.double("INTENSITY", in: 0...1) ?? 1
    let sharpness = try arguments.double("SHARPNESS", in: 0...1) ?? 0.5
    let count = try arguments.int("--count", in: 1...10_000) ?? 1
    let gap = try arguments.double("--gap", in: 0.005...60) ?? 0.25
    let pattern = taps(count, gap: gap, intensity: Float(intensity), sharpness: Float(sharpness))
    let session = options.session(on: stage, terminal)
    let outcome = try options.play(in: session) { engine in
      let piece = try CompiledPattern(name: "tap", pattern: pattern, for: engine)
      return try Playlist([piece], on: engine, session: session)
    }
    if options.asJSON { try terminal.output.write(outcome.json().span) }
    return outcome.status
  }

  static func taps(_ count: Int, gap: Double, intensity: Float, sharpness: Float) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map { index in
        HapticEvent(
          kind: .hapticTransient, time: Double(index) * gap,
          parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
      })
  }
}

extension CompiledPattern {
  init(name: String, pattern: HapticPattern, for engine: PlaybackEngine) throws {
    self.init(
      name: name, plans: try engine.profiles.map { try RenderPlan(compiling: pattern, profile: $0, rate: engine.rate) },
      duration: pattern.duration)
  }
}
