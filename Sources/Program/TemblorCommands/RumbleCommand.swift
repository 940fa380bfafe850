import CommandLineKit
import HapticPlayback
import PlaybackSessions
import RumblePad
import SystemSupport

/// The command `rumble`, which makes a gamepad whose rumble is felt on a shaker.
enum RumbleCommand {
  private static let defaultName = "Temblor"

  static let definition = Command(
    "rumble", abstract: "Create a virtual gamepad and play its rumble on a shaker.",
    discussion: """
      Games, emulators, and Proton detect the virtual gamepad as a gamepad with force feedback. \
      The slow motor of the gamepad plays as a low hum, and the fast motor plays as a high hum. \
      Select the virtual gamepad in the game, or start 'temblor rumble' before you start the game. \
      With --copy, the virtual gamepad forwards the buttons and axes of a connected gamepad until \
      the program ends.

      Rumble, constant, ramp, and periodic effects play with their lengths, delays, repetitions, \
      and envelopes, and with the gain that the game sets. Temblor rejects all other effects. \
      Effects stop when the game exits.

      Creating a gamepad requires access to /dev/uinput. The kernel module uinput provides this \
      device, and the rule 70-temblor-rumble.rules grants access to the user who is logged in.
      """,
    options: [
      name, copiedPad, LiveOptions.json, LiveOptions.quiet,
    ], groups: LiveOptions.groups,
    examples: [
      .init(
        "temblor rumble --device plughw:1 --profile dayton-bst-1",
        "Feel a game on the second sound card."),
      .init(
        "temblor rumble --copy /dev/input/event7",
        "Use a connected gamepad and play its rumble on the shaker."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemEnvironment()) { try UInputPad(name: $0, copying: $1) }
  }

  private static let name = Option(
    "--name", value: "NAME", help: "Name of the gamepad.", defaultText: defaultName
  ).text().map { $0 ?? defaultName }
  private static let copiedPad = Option(
    "--copy", value: "EVENT",
    help: "Forward the buttons and axes of a gamepad, such as /dev/input/event7.",
    completion: .file
  ).text()

  struct Options {
    let live: LiveOptions
    let name: String
    /// The event file of the gamepad whose buttons and axes are passed through.
    let copiedPad: String?

    init(_ arguments: ParsedArguments) throws {
      live = try LiveOptions(arguments)
      name = try arguments[RumbleCommand.name]
      copiedPad = try arguments[RumbleCommand.copiedPad]
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    pad makePad: (_ name: String, _ copied: String?) throws -> any ForceFeedbackPad
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    try options.live.checkOutputs(reading: [])
    let pad = try makePad(options.name, options.copiedPad)
    let session = options.live.makeSession(in: environment, terminal)
    let (outcome, activity) = try options.live.play(in: session) { engine in
      try RumbleActivity(pad, on: engine)
    }
    return try options.live.report(
      outcome, ["uploads": activity.uploadCount, "plays": activity.playCount], terminal)
  }
}

/// The playback of the effects that a game sends to a pad.
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
    let text = "\(mixer.playbacks.count) of \(mixer.effects.count) effects"
    return ActivityTitle(longText: text, shortText: text)
  }

  func update(at now: Duration) throws -> ActivityStep {
    while let event = try pad.nextEvent() {
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
    let seconds = try mixer.update(at: now)
    return .wait(seconds.isFinite ? .roundedToNanoseconds(seconds: seconds) : nil)
  }
}
