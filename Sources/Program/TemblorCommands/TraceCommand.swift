enum TraceCommand {
  private static let kind = Option(
    "--as", value: "KIND",
    help:
      """
      What the sound is: a recording of a transducer or of 'render' (vibration), any other \
      sound, or detected.
      """
  ).choice(default: TracingOptions.Kind.automatic)
  private static let style = Option(
    "--style", value: "STYLE", help: "What of a sound is followed; of vibration everything is."
  ).choice(default: TracingOptions.Style.full)
  private static let eventLimit = Option(
    "--events", value: "N", help: "Write at most N events, the strongest; 1 to 100000.",
    defaultText: "all"
  ).int(in: 1...100_000)
  private static let tolerance = Option(
    "--tolerance", value: "DB", help: "Largest error of curves, in decibels of level, 0.1 to 12.",
    defaultText: "1 for vibration, 3 for other sounds"
  ).double(in: 0.1...12)
  private static let threshold = Option(
    "--threshold", value: "DB",
    help: "Level relative to the loudest, in decibels, below which nothing counts, -80 to -6."
  ).double(in: -80...(-6), default: TracingOptions.defaultThreshold)
  private static let channel = Option(
    "--channel", value: "N", help: "Use one channel of the sound, from 1.",
    defaultText: "the mean of all"
  ).int(in: 1...1_024)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    let writable = formats.formats.filter(\.isWritable)
    return Command(
      "trace", abstract: "Make patterns from sounds.",
      discussion: """
        A recording of vibration becomes the transients and continuous events whose rendering it \
        is. Any other sound becomes a pattern of its onsets, its level and its brightness.

        Each file is named after its sound and written to the current folder, or to the file or\
         folder given by --output, whose ending selects the format unless --format does. Fi\
        les are replaced atomically; inputs are never replaced. The copy that --with-sound m\
        akes is printed. It never replaces a file and never follows a link: if a file of its name\
         exists with other content, nothing is written and the exit status is 1.

        A sound may have 72 million samples: 12 minutes of 48 kHz stereo.

        Printed for each sound: what it was taken for, the transients, continuous events and \
        control points of the pattern, and how well its rendering agrees with the sound: the corr\
        elation of both levels, and their distance in decibels. 'temblor compare SOUND PATTERN\
        ' shows both.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [
        Argument(
          "SOUND", help: "A sound file, or a folder of them.",
          completion: Completion(
            paths: .files(extensions: ["wav", "flac", "aiff", "caf", "ogg", "opus", "mp3"])),
          isRepeatable: true)
      ],
      options: [
        OutputPaths.outputOption(for: "patterns"),
        Option(
          "--format", value: "FORMAT", help: "Format to write if the output name does not set one.",
          defaultText: HapticFormat.ahap.id, choices: writable.map(\.id)), kind, style, eventLimit,
        tolerance, threshold,
        Option("--taps-only", help: "Write transients (taps) alone."),
        Option("--hums-only", help: "Write continuous events (hums) alone."),
        Option(
          "--with-sound",
          help: "Let the pattern play the sound, too, and copy it beside the pattern."), channel,
        SharedOptions.startTime, SharedOptions.endTime,
        Option(
          "--profile", value: "PROFILE",
          help:
            """
            Profile that the vibration was made with, or that the pattern is for: a name or a \
            file.
            """,
          defaultText: TransducerProfile.phone.name, completion: SharedOptions.profileCompletion),
        Option("--plot", help: "Draw sound and pattern as text."), SharedOptions.json,
        Option("-q", "--quiet", help: "Do not print what was found."),
      ],
      examples: [
        .init("temblor trace boom.wav -o boom.ahap", "Make a pattern of an effect."),
        .init(
          "temblor trace take.wav --as vibration --profile dayton-bst-1",
          "Read back a recording of a shaker."),
        .init(
          "temblor trace sounds --events 20 --format haptic -o clips",
          "Trace a folder, 20 events each."),
      ]
    ) { arguments, terminal in
      for (one, other) in [
        ("--taps-only", "--hums-only"), ("--plot", "--json"), ("--with-sound", "--from"),
        ("--with-sound", "--to"),
      ] {
        try SharedOptions.refuseBoth(one, other, in: arguments)
      }
      if try arguments[kind] == .vibration, arguments.flag("--style") {
        throw UsageError("'--style' is for sounds; of vibration everything is followed")
      }
      if arguments.value("--output") == OutputPaths.standardOutput {
        for option in ["--plot", "--with-sound"] where arguments.flag(option) {
          throw UsageError("'--output -' and \(option.inQuotes) exclude each other")
        }
      }
      let (paths, isFolder, problems) = sounds(arguments.values("SOUND"))
      let outputs = try ConvertOutputs(
        arguments, inputs: paths.map { .sound(path: $0) }, problemCount: problems.count,
        formats: formats,
        isFromFolder: isFolder, option: "--format", defaultFormat: .ahap)
      if outputs.paths.first == OutputPaths.standardOutput {
        try SharedOptions.refuseTerminalOutput(terminal)
      }
      let options = TracingOptions(
        kind: try arguments[kind], style: try arguments[style],
        eventLimit: try arguments[eventLimit],
        tolerance: try arguments[tolerance], threshold: try arguments[threshold],
        eventSelection: arguments.flag("--taps-only")
          ? .transients : arguments.flag("--hums-only") ? .continuous : .all)
      let copies =
        arguments.flag("--with-sound") ? TracedSoundCopies(of: paths, outputs: outputs) : nil
      var work = BatchWork(on: terminal, problems: problems)
      if let copies, !copies.conflicts.isEmpty {
        for conflict in copies.conflicts {
          work.fail(conflict.description, .failure)
        }
        return work.status
      }
      var run = TraceRun(
        job: RenderJob(profile: try SharedOptions.profile(arguments)), options: options,
        timeRange: try SharedOptions.timeRange(arguments), channel: try arguments[channel],
        outputs: outputs,
        copies: copies?.copies, drawsPlots: arguments.flag("--plot"),
        isQuiet: arguments.flag("--quiet"),
        terminal: terminal, work: work)
      var line = ProgressLine(on: terminal)
      for (index, (path, output)) in zip(paths, outputs.paths).enumerated() {
        line.show(
          paths.count == 1 ? "\(path.printable): tracing" : "\(index) of \(paths.count) sounds")
        if SignalHandling.isInterruptRequested {
          run.work.fail("\(path.printable): interrupted; not written", .failure)
          break
        }
        try run.trace(path, to: output) { line.clear() }
      }
      line.clear()
      if arguments.flag("--json") {
        try terminal.output.write(json: ["sounds": run.fields])
      }
      return run.work.status
    }
  }

  /// Returns the sound files for the arguments: named files, and the sounds in named folders.
  private static func sounds(_ words: [String]) -> (
    paths: [String], isFolder: Bool, problems: [FileError]
  ) {
    var paths: [String] = []
    var isFolder = false
    var problems: [FileError] = []
    for word in words {
      do throws(FileError) {
        switch FileSystem.entry(at: word) {
        case .folder:
          isFolder = true
          let found = try FileSystem.names(in: word).sorted().map { FileSystem.join(word, $0) }
            .filter {
              FileSystem.entry(at: $0) == .file
                && (SoundFileFormat.container(ofName: $0) != nil || TakeInput.isSoundFile($0))
            }
          if found.isEmpty { throw FileError(word, "contains no sound files") }
          paths += found
        case .missing:
          throw FileError(word, "no such file or folder")
        default:
          paths.append(word)
        }
      } catch {
        problems.append(error)
      }
    }
    return (paths, isFolder, problems)
  }
}

/// The copies of sounds that traced patterns play, planned before the first sound is traced.
struct TracedSoundCopies {
  /// The copies by the path of the original sound.
  private(set) var copies: [String: SoundCopy] = [:]
  /// The reasons why no file must be written.
  private(set) var conflicts: [FileError] = []

  init(of sounds: [String], outputs: ConvertOutputs) {
    guard Self.namesSounds(outputs.format) else { return }
    var plan = OutputPlan(inputs: outputs.overwriteCheck)
    for output in outputs.paths {
      plan.add(output: output)
    }
    for (sound, output) in zip(sounds, outputs.paths) {
      let folder = FileSystem.folder(of: output)
      let name = FileSystem.name(of: sound)
      if SoundCopy.isInPlace(name, in: folder, source: sound) { continue }
      do throws(FileError) {
        let copy = SoundCopy(source: sound, destination: try ReceivedPath(name, in: folder))
        copies[sound] = plan.add(copy)
      } catch {
        conflicts.append(error)
      }
    }
    conflicts += plan.conflicts
  }

  /// Returns a Boolean value that indicates whether a format keeps an event that plays a sound
  /// file.
  private static func namesSounds(_ format: HapticFormat) -> Bool {
    let event = HapticEvent(
      kind: .audioCustom, time: 0, waveform: AudioWaveform(path: "sound.wav"))
    let composition = HapticComposition(HapticPattern(events: [event]))
    guard let written = try? format.write(composition, options: WritingOptions()) else {
      return false
    }
    return written.losses.allSatisfy { $0.kind != .dropped }
  }
}

private struct TraceRun {
  let job: RenderJob
  let options: TracingOptions
  let timeRange: ClosedRange<Double>?
  let channel: Int?
  let outputs: ConvertOutputs
  /// The copies by the path of the original sound, or nil if the pattern does not play its sound.
  let copies: [String: SoundCopy]?
  let drawsPlots, isQuiet: Bool
  let terminal: Terminal
  var work: BatchWork
  var fields: [JSONObject] = []
  mutating func trace(_ path: String, to output: String, _ done: () -> Void) throws {
    do {
      let signal = try signal(of: path)
      let trace = try SoundTrace(of: signal, profile: job.profile, options: options)
      var pattern = trace.pattern
      if copies != nil {
        pattern.events.append(
          HapticEvent(
            kind: .audioCustom, time: 0, waveform: AudioWaveform(path: FileSystem.name(of: path))))
      }
      let composition = HapticComposition(
        layers: [.init(pattern)], title: FileSystem.stem(of: path))
      let isStream = output == OutputPaths.standardOutput
      let name = FileSystem.name(of: FileSystem.stem(of: isStream ? path : output))
      guard
        let written = try outputs.format.write(composition, options: WritingOptions(baseName: name))
      else { return }
      done()
      var files: [String] = []
      if isStream {
        let bytes = written.files[0].bytes
        try terminal.output.write(bytes.span)
      } else {
        let copy = copies.flatMap { $0[path] }
        let planned = PlannedFiles(
          outputs: outputs.files(written.files, at: output), copies: copy.map { [$0] } ?? [])
        files = try planned.write(on: terminal)
      }
      let losses = written.losses.map {
        PatternConversion.LocatedLoss(
          loss: $0, location: $0.location ?? FileLocation(name: isStream ? path : output))
      }
      for loss in losses {
        terminal.report(loss.text.printable)
      }
      if !isQuiet {
        terminal.report("\(path.printable): \(Self.summary(of: trace))")
      }
      let subjects = [
        PlotSubject(name: path, signal: signal),
        PlotSubject(name: "pattern", composition: composition, profile: job.profile),
      ]
      for subject in drawsPlots ? subjects : [] {
        try terminal.output.write(
          Plot(of: [subject], parts: [.score], timeRange: nil), width: terminal.output.width)
      }
      fields.append([
        "input": path, "files": files, "kind": trace.kind.rawValue,
        "transients": trace.transientCount,
        "continuousEvents": trace.continuousCount, "controlPoints": trace.pointCount,
        "omittedEvents": trace.omittedCount, "correlation": trace.agreement.correlation,
        "decibels": trace.agreement.decibels, "losses": losses.map(\.fields),
      ])
    } catch let error as AnalysisError {
      work.fail("\(path.printable): \(error.description)", .invalidInput)
    } catch {
      try work.attempt { _ in throw error }
    }
  }

  private func signal(of path: String) throws -> Signal {
    var signal = try TakeInput.readSound(path, job: job).signal
    if let channel {
      guard channel <= signal.channels.count else {
        let count = signal.channels.count
        throw AnalysisError(
          .unsupportedChannelCount, "has \(count.counted("channel")); '--channel' is \(channel)")
      }
      signal = Signal(signal.channels[channel - 1], rate: signal.rate)
    }
    guard let timeRange else { return signal }
    let first = Int(min(timeRange.lowerBound * signal.rate, 1e15).rounded())
    guard first < signal.frameCount else {
      throw AnalysisError(
        .unsupportedLength, "'--from' is after the end (\(signal.duration.text(places: 3)) s)")
    }
    let last = min(signal.frameCount, Int(min(timeRange.upperBound * signal.rate, 1e15).rounded()))
    return Signal(
      channels: signal.channels.map { Array($0[first..<max(first + 1, last)]) }, rate: signal.rate)
  }

  /// Returns a sentence such as `vibration: 3 transients, 1 continuous event, 12 control points;
  /// levels of its rendering: correlation 0.998, …`.
  private static func summary(of trace: SoundTrace) -> String {
    guard trace.transientCount + trace.continuousCount > 0 else {
      return
        "\(trace.kind.rawValue): nothing was found; try one '--channel', or a lower '--threshold'"
    }
    let omitted =
      trace.omittedCount > 0 ? ", \(trace.omittedCount.counted("weaker event")) left out" : ""
    return "\(trace.kind.rawValue): \(trace.transientCount.counted("transient")), "
      + """
      \(trace.continuousCount.counted("continuous event")), \
      \(trace.pointCount.counted("control point"))\(omitted); 
      """
      + "levels of its rendering: correlation \(trace.agreement.correlation.text(places: 3)), "
      + "distance \(trace.agreement.decibels.text(places: 1)) dB"
  }
}
