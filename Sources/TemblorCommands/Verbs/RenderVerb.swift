import HapticModel
import HapticRender
import JSONText
import SoundFile

/// `temblor render`: patterns to sound files.
enum RenderVerb {
  static let description = CommandDescription(
    "render", abstract: "Turn patterns into sound files.",
    discussion: """
      Each sound is named after its pattern and written to the current folder, or to the folder or file \
      that --output names. A file is replaced only when its successor is complete. A folder is searched \
      to its depths, except through links to folders, and its sounds keep its structure.

      The kind of file follows from the ending of its name: wav, flac, aiff, w64, rf64, caf or ogg. \
      The same pattern and options give the same bytes, save for the serial number of an ogg stream.
      """,
    arguments: [SharedOptions.pattern],
    options: [
      Option(
        "-o", "--output", value: "PATH",
        help:
          "Write to this file; or, for several patterns, into this folder; - is standard output.",
        completion: .file),
      Option(
        "--container", value: "KIND", help: "Kind of file where no name tells it.",
        defaultText: "wav",
        choices: SoundFileFormat.Container.allCases.map(\.rawValue)),
      Option(
        "--format", value: "FORMAT", help: "How a sample is stored.", defaultText: "s16",
        choices: SampleFormat.allCases.map(\.rawValue)),
      SharedOptions.rate,
      Option(
        "--channels", value: "N", help: "Channels, 1 to 64.",
        defaultText: "one, or as many as are routed"),
      RoutingOptions.pan,
      SharedOptions.json,
      Option("-q", "--quiet", help: "Tell nothing but what went wrong."),
    ],
    groups: [
      OptionGroup(
        title: "Sound",
        options: [
          SharedOptions.profile,
          Option(
            "--strength", value: "S", help: "A factor on everything, 0 to 1.", defaultText: "1"),
          Option("--normalize", help: "Bring the greatest peak to -1 dBFS."),
          Option(
            "--felt",
            help:
              "Write the acceleration that the profile's transducer would make instead of what drives it: 1 is "
              + "the peak of a full-scale sine at resonance, and as much as the format takes is kept. Channels without "
              + "haptics stay as they are."),
          Option(
            "--stems", help: "Write haptics and audio apart, as NAME.haptic and NAME.audio."),
        ]),
      OptionGroup(
        title: "Time",
        options: [
          Option(
            "--loop", value: "N", help: "Play N times; 0 repeats until --duration.",
            defaultText: "1"),
          Option(
            "--duration", value: "SECONDS",
            help: "Length of the file: cut with a fade, or filled with silence.",
            defaultText: "the pattern's"),
          Option(
            "--tail", value: "SECONDS", help: "Silence behind the sound.",
            defaultText: "\(OfflineRendering.usualTail)"),
          SharedOptions.curveTimes,
        ]),
      RoutingOptions.group,
    ],
    examples: [
      .init("temblor render heartbeat", "Write heartbeat.wav."),
      .init(
        "temblor render Patterns -o sounds --profile speaker",
        "Render a folder, to be heard on a laptop."),
      .init("temblor render mine.ahap -o - | aplay", "Hear a pattern at once."),
      .init(
        "temblor render mine.ahap --array seat.json --pan 0:-1,2:1",
        "Write a channel for each shaker of a seat."),
    ]
  ) { arguments, terminal in
    let job = try job(arguments)
    let (inputs, problems) = PatternInput.find(arguments.values("PATTERN"))
    let outputs = try RenderOutputs(arguments, inputs: inputs, problemCount: problems.count)
    if let refusal = outputs.refusal(of: job, on: terminal) { throw refusal }
    let batch = RenderBatch(job: job, outputs: outputs, problems: problems)
    return try batch.run(
      on: terminal, isQuiet: arguments.flag("--quiet"), asJSON: arguments.flag("--json"))
  }

  private static func job(_ arguments: ParsedArguments) throws -> RenderJob {
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    job.rate = try SharedOptions.rate(arguments)
    job.routing = try RoutingOptions(arguments)
    job.channelCount =
      try arguments.int("--channels", in: 1...64) ?? job.routing.leastChannelCount
    job.strength = try arguments.double("--strength", in: 0...1) ?? 1
    job.isNormalised = arguments.flag("--normalize")
    job.isFelt = arguments.flag("--felt")
    job.passCount = try arguments.int("--loop", in: 0...1_000_000) ?? 1
    job.duration = try arguments.double("--duration", in: 0.001...HapticTime.longest)
    job.tail = try arguments.double("--tail", in: 0...3_600) ?? job.tail
    job.curveTimes = try SharedOptions.curveTimes(arguments)
    job.format = try arguments.choice("--format", as: SampleFormat.self) ?? .s16
    if job.passCount == 0 && job.duration == nil {
      throw UsageError(.addValue, "'--loop 0' repeats for ever; say when to end with '--duration'")
    }
    guard job.channelCount >= job.routing.leastChannelCount else {
      throw UsageError(
        .correctValue,
        "channel \(job.routing.leastChannelCount) is routed, and '--channels' asks for "
          + "\(job.channelCount)")
    }
    guard job.routing.array != nil || job.channels.profiles.count == 1 else {
      throw UsageError(
        .correctValue,
        "'render' writes one profile to a file; render each by itself, or record both with "
          + "'temblor play --record'")
    }
    if job.isFelt, job.channels.profiles[0].hardware?.model == nil {
      throw UsageError(
        .correctValue,
        "'--felt' needs a profile with resonance and quality; \(job.channels.profiles[0].name.inQuotes) has none"
      )
    }
    return job
  }
}
