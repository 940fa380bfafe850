import CommandLineKit
import HapticFormats
import VendorFormats
import PatternWorkflows
import SystemSupport

/// `temblor convert`: patterns in another format.
enum ConvertVerb {
  private static let reduce = Option(
    "--reduce", value: "TOLERANCE",
    help: "Largest error of reduced or sampled curves, as a share of full scale, 0 to 1."
  ).double(in: 0...1, default: WritingOptions.defaultTolerance)
  private static let loops = Option(
    "--loops", value: "N", help: "Passes of a loop in a format without loops, 1 to 1000."
  ).int(in: 1...1000, default: 1)
  private static let rate = Option(
    "--rate", value: "HZ", help: "Samples per second of what is written as samples, 1 to 192000.",
    defaultText: "set by the format"
  ).double(in: 1...192_000)
  private static let amplitude = Option(
    "--amplitude", value: "LAW",
    help: "How intensity follows from amplitude in formats that hold amplitudes: its square root, or equal to it."
  ).choice(default: AmplitudeLaw.root)

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    let writable = formats.formats.filter(\.isWritable)
    return CommandDescription(
      "convert", abstract: "Convert patterns to another format.",
      discussion: """
        Each file is named after its pattern and written to the current folder, or to the file or folder given by --output, whose ending selects the format unless --to does. The format of a pattern is recognized by its content. Files are replaced atomically; inputs are never replaced.

        Sound files that a pattern names, and that its new format can name, are copied to the same paths below the folder of the output. One that is missing is reported as dropped, as is every event that plays sound in a format of haptics alone. With --output - no sound files are copied.

        Everything that is not kept is printed as PLACE: approximated: MESSAGE or PLACE: dropped: MESSAGE, with the size of the difference where it is known. 'temblor formats FROM TO' shows what to expect.
        """, arguments: [SharedOptions.pattern(formats)],
      options: [
        Option(
          "--to", value: "FORMAT", help: "Format to write if the output name does not set one.",
          choices: writable.map(\.id)),
        Option(
          "--from", value: "FORMAT", help: "Format to read, for content that may be of several.",
          defaultText: "recognized by content", choices: formats.formats.map(\.id)),
        Option(
          "-o", "--output", value: "PATH", help: "Output file, or folder for several patterns; - for standard output.",
          completion: .file, writes: []),
        Option("--strict", help: "Write nothing and exit with status 2 if anything is lost."), SharedOptions.json,
        Option("-q", "--quiet", help: "Do not print notes and warnings about the input."),
      ],
      groups: [
        OptionGroup(
          title: "Writing",
          options: [
            Option(
              "--dialect", value: "NAME",
              help: "Variant of the format: "
                + writable.filter { !$0.dialects.isEmpty }.map { "\($0.dialects.joinedWithOr) for \($0.id)" }.joined(
                  separator: "; ") + ".", defaultText: "the first", completion: .words(writable.flatMap(\.dialects))),
            Option(
              "--split",
              help: "Write parts that act on their own to files of their own, NAME_PART, wherever the format has them."),
            Option("--merge", help: "Write one file even where its parts then act on each other."),
            Option("--bake", help: "Write what the format cannot hold as sound files that the pattern plays."),
            reduce, loops, rate,
          ]),
        OptionGroup(
          title: "Reading",
          options: [
            amplitude, SharedOptions.curveTimes,
          ]), OptionGroup(title: "Sound files", options: SharedOptions.soundOptions),
      ],
      examples: [
        .init("temblor convert mine.ahap --to haptic", "Write mine.haptic."),
        .init("temblor convert --strict --to ahap clips -o out", "Convert a folder, refusing what is not exact."),
      ]
    ) { arguments, terminal in
      let (inputs, problems) = PatternInput.find(
        arguments.values(SharedOptions.patternName), formats: formats, sounds: try SharedOptions.sounds(arguments))
      let work = BatchWork(on: terminal, problems: problems)
      let outputs = try ConvertOutputs(arguments, inputs: inputs, problemCount: problems.count, formats: formats)
      let conversion = try conversion(arguments, to: outputs.format, formats)
      var run = ConvertRun(
        conversion: conversion, formats: formats, outputs: outputs, isStrict: arguments.flag("--strict"),
        isQuiet: arguments.flag("--quiet"), terminal: terminal, work: work)
      for (input, path) in outputs.items { try run.convert(input, to: path) }
      if arguments.flag("--json") { try terminal.output.write(json: run.fields) }
      return run.work.status
    }
  }

  private static func conversion(_ arguments: ParsedArguments, to target: any HapticFormat, _ formats: FormatRegistry)
    throws -> PatternConversion
  {
    try SharedOptions.refuseBoth("--split", "--merge", in: arguments)
    if let dialect = arguments.value("--dialect"), !target.dialects.contains(dialect) {
      guard !target.dialects.isEmpty else { throw UsageError(.remove, "the format \(target.id) has no dialects") }
      throw UsageError.notAllowed("--dialect", dialect, choices: target.dialects)
    }
    let amplitude = try arguments[amplitude]
    var conversion = PatternConversion(
      to: target, from: arguments.value("--from").flatMap(formats.format(id:)),
      reading: ReadingOptions(curveTimes: try arguments[SharedOptions.curveTimes], amplitude: amplitude),
      writing: WritingOptions(
        dialect: arguments.value("--dialect"),
        tolerance: try arguments[reduce], amplitude: amplitude,
        loops: try arguments[loops],
        split: arguments.flag("--split") ? .always : arguments.flag("--merge") ? .never : .automatic,
        isBaked: arguments.flag("--bake"), rate: try arguments[rate]))
    conversion.leavesOutSounds = arguments.flag("--without-sounds")
    return conversion
  }
}
