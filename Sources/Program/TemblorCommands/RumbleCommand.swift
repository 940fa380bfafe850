import CommandLineKit
import HapticPlayback
import PlaybackSessions
import RumblePad
import SystemSupport

/// The command `rumble`, which creates a virtual gamepad and plays its rumble on a shaker.
enum RumbleCommand {
  private static let defaultPadName = "Temblor"

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
      padNameOption, copiedPadOption, LiveOptions.jsonOption, LiveOptions.quietOption,
    ], optionGroups: LiveOptions.optionGroups,
    examples: [
      .init(
        "temblor rumble --device plughw:1 --profile dayton-bst-1",
        "Feel a game through a shaker on the second sound card."),
      .init(
        "temblor rumble --copy /dev/input/event7",
        "Use a connected gamepad and play its rumble on the shaker."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemEnvironment()) { try UInputPad(name: $0, copying: $1) }
  }

  private static let padNameOption = Option(
    "--name", value: "NAME", help: "Name of the gamepad.", defaultValueText: defaultPadName
  ).text().map { $0 ?? defaultPadName }
  private static let copiedPadOption = Option(
    "--copy", value: "EVENT",
    help: """
      Forward the buttons and axes of the gamepad with this device file, such as /dev/input/event7.
      """,
    completion: .file
  ).text()

  struct Options {
    let liveOptions: LiveOptions
    let padName: String
    /// The path of the event device of the physical gamepad whose buttons and axes are passed
    /// through.
    let copiedPadPath: String?

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      padName = try arguments[RumbleCommand.padNameOption]
      copiedPadPath = try arguments[RumbleCommand.copiedPadOption]
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    pad makePad: (_ name: String, _ copied: String?) throws -> any ForceFeedbackPad
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    try options.liveOptions.checkOutputs(reading: [])
    let pad = try makePad(options.padName, options.copiedPadPath)
    let session = options.liveOptions.makeSession(in: environment, terminal)
    let (outcome, activity) = try options.liveOptions.play(in: session) { engine in
      try RumbleActivity(pad, on: engine)
    }
    return try options.liveOptions.reportOutcome(
      outcome, ["uploads": activity.effectUploadCount, "plays": activity.effectPlayCount], terminal)
  }
}

/// Plays the rumble effects that a game sends to the virtual gamepad.
final class RumbleActivity: PlaybackActivity {
  private let engine: PlaybackEngine
  private let virtualPad: any ForceFeedbackPad
  private let rumbleMixer: RumbleMixer
  private(set) var effectUploadCount = 0
  private(set) var effectPlayCount = 0

  init(_ pad: any ForceFeedbackPad, on engine: PlaybackEngine) throws {
    self.engine = engine
    self.virtualPad = pad
    rumbleMixer = try RumbleMixer(engine)
  }

  var watchedDescriptors: [PollDescriptor] {
    virtualPad.readableDescriptors.map { PollDescriptor($0) }
  }
  var playbackState: PlaybackStatus.State {
    rumbleMixer.playbacksByEffectID.isEmpty ? .idle : .playing
  }
  var playbackProgress: (position: Double, duration: Double?) { (engine.positionSeconds, nil) }
  var statusTitle: ActivityTitle? {
    let activeEffectsText =
      "\(rumbleMixer.playbacksByEffectID.count) of \(rumbleMixer.effectsByID.count) effects"
    return ActivityTitle(longTitle: activeEffectsText, shortTitle: activeEffectsText)
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    while let event = try virtualPad.readEvent() {
      switch event {
      case .upload(let effect, let id):
        effectUploadCount += 1
        try rumbleMixer.uploadEffect(effect, as: id)
      case .erase(let id):
        try rumbleMixer.eraseEffect(id)
      case .play(let id, let count):
        effectPlayCount += count > 0 ? 1 : 0
        rumbleMixer.playEffect(id, repetitionCount: count, at: now)
      case .gain(let gain):
        rumbleMixer.effectGain = gain
      }
    }
    let updateDelaySeconds = try rumbleMixer.updateLevels(at: now)
    return .wait(
      updateDelaySeconds.isFinite ? .roundedToNanoseconds(seconds: updateDelaySeconds) : nil)
  }
}
