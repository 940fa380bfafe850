import HapticFormats
import VendorFormats
import CommandLineKit
import HapticModel
import HapticRender
import Reading
import PatternWorkflows
import SoundFile
import SystemSupport

/// `temblor render`: patterns to sound files.
enum RenderVerb {
  private static let sampleFormat = Option("--sample-format", value: "FORMAT", help: "Sample format.")
    .choice(default: SampleFormat.s16)
  private static let channels = Option(
    "--channels", value: "N", help: "Number of channels, 1 to 64.", defaultText: "one, or as many as are routed"
  ).int(in: OutputRouting.channelCounts)
  private static let loop = Option(
    "--loop", value: "N",
    help: "Play N times, further passes between the loop points if there are some; 0 repeats until --duration."
  ).int(in: 0...1_000_000, default: 1)
  private static let duration = Option(
    "--duration", value: "SECONDS",
    help: "Length of the file; longer sound is faded out, shorter is padded with silence.",
    defaultText: "the length of the pattern"
  ).double(in: 0.001...FrameConversion.longest)
  private static let tail = Option(
    "--tail", value: "SECONDS", help: "Silence after the sound.",
    defaultText: "\(OfflineRenderer.defaultTail), or until the hardware of the profile is at rest"
  ).double(in: 0...3_600)

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "render", abstract: "Render patterns to sound files.",
      discussion: """
        Each sound file is named after its pattern and written to the current folder, or to the file or folder given by --output. Files are replaced atomically. Folders are searched recursively, without following links to folders, and the output keeps their structure.

        The file extension selects the format: wav, flac, aiff, w64, rf64, caf or ogg. The same pattern and options give identical files, except for the serial number of an ogg stream.
        """, arguments: [SharedOptions.pattern(formats)],
      options: [
        Option(
          "-o", "--output", value: "PATH", help: "Output file, or folder for several patterns; - for standard output.",
          completion: .file, writes: []),
        RenderOutputs.container, sampleFormat, SharedOptions.rate, channels,
        RoutingOptions.pan, SharedOptions.json, Option("-q", "--quiet", help: "Print errors only."),
      ],
      groups: [
        OptionGroup(
          title: "Sound",
          options: [
            SharedOptions.profile, SharedOptions.strength,
            Option("--normalize", help: "Scale the peak to -1 dBFS."),
            Option(
              "--acceleration",
              help:
                "Write the simulated acceleration of the profile's transducer instead of the drive signal; 1 is the peak for a full-scale sine at resonance. Values beyond the range of the format are clipped. Channels without haptics are unchanged."
            ),
            Option("--stems", help: "Write haptics and audio to separate files, NAME.haptic and NAME.audio."),
          ]),
        OptionGroup(
          title: "Time",
          options: [
            loop, duration, tail, SharedOptions.curveTimes,
          ]), OptionGroup(title: "Sound files", options: SharedOptions.soundOptions), RoutingOptions.group,
      ],
      examples: [
        .init("temblor render heartbeat", "Write heartbeat.wav."),
        .init("temblor render Patterns -o sounds --profile speaker", "Render a folder for laptop speakers."),
        .init("temblor render mine.ahap -o - | aplay", "Hear a pattern at once."),
        .init(
          "temblor render mine.ahap --array seat.json --pan 0:-1,2:1", "Write a channel for each shaker of a seat."),
      ]
    ) { arguments, terminal in
      let job = try job(arguments)
      let (inputs, problems) = PatternInput.find(
        arguments.values("PATTERN"), formats: formats, sounds: try SharedOptions.sounds(arguments))
      let outputs = try RenderOutputs(arguments, inputs: inputs, problemCount: problems.count)
      try outputs.check(job, on: terminal)
      let batch = RenderBatch(job: job, items: outputs.items)
      return try RenderReport(batch: batch, problems: problems).run(
        on: terminal, isQuiet: arguments.flag("--quiet"), asJSON: arguments.flag("--json"))
    }
  }

  private static func job(_ arguments: ParsedArguments) throws -> RenderJob {
    var job = try SharedOptions.job(arguments)
    job.rate = try arguments[SharedOptions.rate]
    job.routing = try RoutingOptions.routing(arguments)
    job.channelCount = try arguments[channels] ?? job.routing.minimumChannelCount
    job.strength = try arguments[SharedOptions.strength]
    job.isNormalized = arguments.flag("--normalize")
    job.rendersAcceleration = arguments.flag("--acceleration")
    job.passCount = try arguments[loop]
    job.duration = try arguments[duration]
    job.tail = try arguments[tail]
    job.format = try arguments[sampleFormat]
    if job.passCount == 0 && job.duration == nil {
      throw UsageError(.missingValue, "'--loop 0' repeats forever; set the length with '--duration'")
    }
    guard job.channelCount >= job.routing.minimumChannelCount else {
      throw UsageError(
        .invalidValue,
        "channel \(job.routing.minimumChannelCount) is routed, but '--channels' is " + "\(job.channelCount)")
    }
    guard job.routing.array != nil || job.channels.profiles.count == 1 else {
      throw UsageError(
        .invalidValue,
        "'render' supports one profile per file; render each separately, or record both with 'temblor play --record'")
    }
    if job.rendersAcceleration, job.channels.profiles[0].hardware?.model == nil {
      throw UsageError(
        .invalidValue,
        "'--acceleration' requires a profile with resonance and Q factor; \(job.channels.profiles[0].name.inQuotes) has none"
      )
    }
    return job
  }
}
