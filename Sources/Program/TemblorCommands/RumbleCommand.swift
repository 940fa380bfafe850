enum RumbleCommand {
  private static let defaultName = "Temblor"

  static let definition = Command(
    "rumble", abstract: "Make a game pad whose rumble is felt on a shaker.",
    discussion: """
      Games, emulators and Proton find a pad with force feedback, and its slow motor is a low hum\
      , its fast motor a high one. Choose the pad in the game or start the game afterwards. With --\
      copy, the pad has the buttons and axes of one that is plugged in, which is used through it \
      until the program ends.

      Effects that are rumbles, constant, ramps or vibrations of a frequency are played with \
      their lengths, delays, repeats, envelopes and the gain of the game; others are refused. W\
      hat a game leaves behind ends with it.

      Making pads needs /dev/uinput: the module uinput of the kernel, and a right that the\
       rule 70-temblor-rumble.rules gives the user who is logged in.
      """,
    options: [
      Option("--name", value: "NAME", help: "Name of the pad.", defaultText: defaultName),
      Option(
        "--copy", value: "EVENT",
        help: "Pass the buttons and axes of a pad through, such as /dev/input/event7.",
        completion: .file), LiveOptions.json, LiveOptions.quiet,
    ], groups: LiveOptions.groups,
    examples: [
      .init(
        "temblor rumble --device plughw:1 --profile dayton-bst-1",
        "Feel a game on the second sound card."),
      .init(
        "temblor rumble --copy /dev/input/event7",
        "Use a plugged-in pad, whose rumble is felt on the shaker."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemEnvironment()) { try UInputPad(name: $0, copying: $1) }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any PlaybackEnvironment,
    pad: (_ name: String, _ copied: String?) throws -> any ForceFeedbackPad
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    try options.checkOutputs(reading: [])
    let pad = try pad(arguments.value("--name") ?? defaultName, arguments.value("--copy"))
    let session = options.makeSession(in: backend, terminal)
    let (outcome, task) = try options.play(in: session) { try RumbleActivity(pad, on: $0) }
    return try options.report(
      outcome, ["uploads": task.uploadCount, "plays": task.playCount], terminal)
  }
}

final class RumbleActivity: PlaybackActivity {
  private let engine: PlaybackEngine
  private let pad: any ForceFeedbackPad
  private let mixer: RumbleMixer
  private(set) var uploadCount = 0
  private(set) var playCount = 0

  init(_ pad: any ForceFeedbackPad, on engine: PlaybackEngine) throws {
    self.engine = engine
    self.pad = pad
    mixer = try RumbleMixer(engine)
  }

  var watchedDescriptors: [PollDescriptor] { pad.descriptors.map { PollDescriptor($0) } }
  var state: PlaybackStatus.State { mixer.playbacks.isEmpty ? .idle : .playing }
  var progress: (position: Double, duration: Double?) { (engine.seconds, nil) }
  var title: ActivityTitle? {
    let words = "\(mixer.playbacks.count) of \(mixer.effects.count) effects"
    return ActivityTitle(long: words, short: words)
  }

  func update(at now: Duration) throws -> ActivityStep {
    while let event = try pad.next() {
      switch event {
      case .upload(let effect, let id):
        uploadCount += 1
        try mixer.upload(effect, as: id)
      case .erase(let id):
        try mixer.erase(id)
      case .play(let id, let count):
        playCount += count > 0 ? 1 : 0
        mixer.play(id, count: count, at: now)
      case .gain(let gain):
        mixer.gain = gain
      }
    }
    let rest = try mixer.update(at: now)
    return .wait(rest.isFinite ? .nanosecondRounded(seconds: rest) : nil)
  }
}
