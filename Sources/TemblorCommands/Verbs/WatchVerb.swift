import HapticFormats
import VendorFormats
import CommandLineKit
import HapticPlayback
import Reading
import PatternWorkflows
import SystemSupport

/// `temblor watch`: a pattern, again at every save.
enum WatchVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "watch", abstract: "Play a pattern and replay it whenever it is saved.",
      discussion: """
        If a saved version has errors, they are shown as by 'temblor check' and the last valid version stays loaded. Sound files used by the pattern are watched, too. Keys pause and repeat; ? lists them. q or Ctrl-C quits.
        """, arguments: [Argument("FILE", help: "A pattern file of any format.", completion: .patterns(formats))],
      options: [
        Option(
          "--loop", value: "N",
          help:
            "Play each version N times, further passes between its loop points if it has some; 0 repeats it until the next.",
          defaultText: "1"), SharedOptions.curveTimes, LiveOptions.json, LiveOptions.quiet,
      ] + SharedOptions.soundOptions, groups: [LiveOptions.soundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init("temblor watch mine.ahap", "Feel every save."),
        .init("temblor watch mine.ahap --loop 0", "The same, over and over."),
      ]
    ) { arguments, terminal in try run(arguments, terminal, on: SystemBackend(), formats: formats) }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on stage: any SessionBackend,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let loop = try arguments.int("--loop", in: 0...1_000_000) ?? 1
    let reading = try SharedOptions.reading(arguments)
    let path = arguments.argument("FILE")
    guard FileSystem.entry(at: path) == .file else {
      throw FileError(path, "there is no such file; 'temblor watch' takes one pattern file")
    }
    var input = PatternInput(origin: .file(path), outputStem: FileSystem.stem(of: path), formats: formats)
    input.sounds = try SharedOptions.sounds(arguments)
    try options.checkOutputs(reading: input.sources)
    let session = options.session(on: stage, terminal)
    var saved: SavedPattern?
    let outcome = try options.play(in: session) { engine in
      let made = try SavedPattern(
        input, at: path, reading: reading, on: engine, passCount: loop == 0 ? nil : loop, session: session,
        output: terminal.error)
      saved = made
      return made
    }
    if options.asJSON {
      var json = JSONWriter()
      json.object { entry in
        entry.formatVersion()
        entry.member("file", path)
        entry.member("goodVersions", saved?.goodCount ?? 0)
        entry.member("brokenVersions", saved?.brokenCount ?? 0)
        outcome.write(to: &entry)
      }
      try terminal.output.write(json.finish().span)
    }
    return outcome.status
  }
}
