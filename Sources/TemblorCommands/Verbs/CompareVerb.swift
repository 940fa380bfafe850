import HapticFormats
import VendorFormats
import CommandLineKit
import HapticRender
import Reading
import PatternComparison
import PatternWorkflows
import ReviewPages
import SignalAnalysis
import SystemSupport

/// `temblor compare`: what differs between patterns or sounds, in words and figures.
enum CompareVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "compare", abstract: "Describe the differences between patterns or sound files.",
      discussion: """
        The first TAKE is the reference; the others are compared with it. Patterns are rendered, at the sample rate of the sound file if there is one. Two patterns are compared event by event; other takes are aligned with the reference, matched in level and compared sound by sound. Differences are ordered by perceptual impact; those below published thresholds are listed separately.

        A pattern is compared with a recording of it event by event: the delay (to 11 s, or --search), level, polarity, tempo, noise and hum of the whole are reported apart from events that are missing, added, moved, stronger, weaker, sharper or duller. What the noise hides is reported, not judged.

        With --tolerance, the exit status is 3 if anything exceeds its limit, else 0, and each excess is listed with value, limit and place; without it, differences do not affect the exit status. An omitted limit is 0. A difference in tempo is judged in percent and by the largest shift it causes. Missing or added events always exceed the tolerance, as does a recording too noisy to verify a limit.

        Documentation/comparison.schema.json describes the output of --json. Times are those of the files, whatever the alignment.

        With --output, also write an HTML page that compares any two of up to \(ComparisonReport.maximumTakeCount) takes: the differences marked in the picture and heard in turn, measurements, the sources and a blind test.
        """,
      arguments: [
        Argument(
          "TAKE", help: "A PATTERN or a sound file; two or more.", completion: .takes(formats), isRepeatable: true)
      ],
      options: [
        Option(
          "--tolerance", value: "LIMITS",
          help: "Limits for level, time and frequency, such as 0.5dB,5ms,2%; 0 for none."),
        Option(
          "--align", value: "HOW",
          help: "Align takes by best fit (auto), by first sound (start), or not at all (none).",
          defaultText: "auto; none between two patterns", choices: ComparisonOptions.Alignment.allCases.map(\.rawValue)),
        Option(
          "--match", value: "HOW",
          help: "Match levels by loudness (LUFS), by weighted energy (felt), or not at all, before comparing.",
          defaultText: "the common level difference is reported and removed",
          choices: LevelMatch.allCases.map(\.rawValue)),
        Option(
          "--search", value: "SECONDS", help: "How late in a recording a pattern may start, 0 to 3600.",
          defaultText: "11"),
        Option(
          "-o", "--output", value: "FILE",
          help: "Also write a self-contained HTML page with players, plots and a blind test.",
          completion: .file(endingIn: "html"), writes: OutputNames.pageEndings),
        Option("--all", help: "List all differences, not only the largest."), SharedOptions.profile, SharedOptions.rate,
        SharedOptions.curveTimes, SharedOptions.json,
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor compare old.ahap new.ahap", "See what an edit changed."),
        .init("temblor compare old.ahap new.ahap -o report.html", "Write a report for a browser."),
        .init("temblor compare --tolerance 0.5dB,5ms,2% golden.wav mine.ahap", "Guard a pattern in a build."),
      ]
    ) { arguments, terminal in
      let words = arguments.values("TAKE")
      let options = try options(arguments)
      let tolerance = try arguments.value("--tolerance").map { try ToleranceText($0) }
      var job = try SharedOptions.job(arguments)
      job.reading = try SharedOptions.reading(arguments)
      let rate = try arguments.int("--rate", in: SharedOptions.sampleRates)
      let (inputs, problems) = TakeInput.find(words, formats: formats, sounds: try SharedOptions.sounds(arguments))
      for problem in problems { terminal.report("\(problem)") }
      guard problems.isEmpty else { return .failure }
      guard inputs.count > 1 else {
        throw UsageError(.missingValue, "missing TAKE to compare with \(words[0].inQuotes)")
      }
      let takes: [Take]
      do { takes = try TakeInput.takes(inputs, job, rate: rate) } catch {
        terminal.report(Failure.message(error))
        return Failure.status(of: error)
      }
      if let path = arguments.value("--output") { try OutputNames.checkInputs(path, of: inputs) }
      let comparisons = compare(takes, options)
      if let path = arguments.value("--output") {
        job.rate = Int(takes[0].signal.rate)
        try ReportOutput.write(
          to: path, inputs: inputs, takes: takes, comparisons: comparisons, levelMatch: options.levelMatch, job: job,
          command: "temblor compare \((words + ["-o", path]).map(\.asShellWord).joined(separator: " "))")
      }
      if arguments.flag("--json") {
        try terminal.output.write(json(comparisons, tolerance?.tolerance).span)
      } else {
        let text = ComparisonText(comparisons: comparisons, isComplete: arguments.flag("--all"))
        try terminal.output.write(text.text(for: terminal.output))
        if let tolerance { try terminal.output.write(tolerance.judgement(of: comparisons)) }
      }
      guard let tolerance else { return .done }
      return comparisons.allSatisfy { $0.isEqual(within: tolerance.tolerance) } ? .done : .differs
    }
  }

  /// Compares each take with the first; they are called A, B, C and so on.
  static func compare(_ takes: [Take], _ options: ComparisonOptions) -> [Comparison] {
    guard let reference = takes.first else { return [] }
    let figures = TakeMeasurements(reference)
    return takes.dropFirst().enumerated().map { index, take in
      var options = options
      options.otherLabel = Take.letter(index + 1)
      return Comparison(reference, take, options: options, referenceMeasurements: figures)
    }
  }

  private static func options(_ arguments: ParsedArguments) throws -> ComparisonOptions {
    ComparisonOptions(
      alignment: try arguments.choice("--align", as: ComparisonOptions.Alignment.self) ?? .auto,
      levelMatch: try arguments.choice("--match", as: LevelMatch.self),
      search: try arguments.double("--search", in: 0...3_600) ?? ComparisonOptions.defaultSearch)
  }

  private static func json(_ comparisons: [Comparison], _ tolerance: Tolerance?) -> [UInt8] {
    var json = JSONWriter()
    json.object { root in
      root.member("formatVersion", Comparison.formatVersion)
      if let first = comparisons.first {
        root.object("reference") { take in
          take.member("label", first.options.referenceLabel)
          take.member("name", first.reference.name)
          take.member("source", first.reference.sourceName)
          take.object("figures") { first.measurements[0].write(to: &$0) }
        }
        root.member("profile", first.reference.profile.name)
        root.member("rate", first.reference.signal.rate)
      }
      if let tolerance {
        root.object("tolerance") { limits in
          limits.member("decibels", tolerance.decibels)
          limits.member("seconds", tolerance.seconds)
          limits.member("percent", tolerance.percent)
        }
      }
      root.array("comparisons") { list in
        for comparison in comparisons {
          list.object { entry in
            comparison.write(to: &entry)
            if let tolerance {
              let excesses = comparison.excesses(over: tolerance)
              entry.member("withinTolerance", excesses.isEmpty)
              entry.array("excesses") { list in for excess in excesses { list.object { excess.write(to: &$0) } } }
            }
          }
        }
      }
    }
    return json.finish()
  }
}
