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
  private static let align = Option(
    "--align", value: "HOW", help: "Align takes by best fit (auto), by first sound (start), or not at all (none).",
    defaultText: "auto; none between two patterns"
  ).choice(default: ComparisonOptions.Alignment.auto)
  private static let match = Option(
    "--match", value: "HOW",
    help: "Match levels by loudness (LUFS), by weighted energy (felt), or not at all, before comparing.",
    defaultText: "the common level difference is reported and removed"
  ).choice(of: LevelMatch.self)
  private static let search = Option(
    "--search", value: "SECONDS", help: "How late in a recording a pattern may start, 0 to 3600."
  ).double(in: 0...3_600, default: ComparisonOptions.defaultSearch)

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
        align, match, search,
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
      let options = ComparisonOptions(
        alignment: try arguments[align], levelMatch: try arguments[match], search: try arguments[search])
      let tolerance = try arguments.value("--tolerance").map { try ToleranceText($0) }
      var job = try SharedOptions.job(arguments)
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
        try terminal.output.write(json: fields(comparisons, tolerance?.tolerance))
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

  private static func fields(_ comparisons: [Comparison], _ tolerance: Tolerance?) -> JSONFields {
    var fields: JSONFields = ["formatVersion": Comparison.formatVersion]
    if let first = comparisons.first {
      let reference: JSONFields = [
        "label": first.options.referenceLabel, "name": first.reference.name, "source": first.reference.sourceName,
        "figures": JSONPiece.object { first.measurements[0].write(to: &$0) },
      ]
      fields =
        fields + [
          "reference": reference, "profile": first.reference.profile.name, "rate": first.reference.signal.rate,
        ]
    }
    let limits = tolerance.map {
      ["decibels": $0.decibels, "seconds": $0.seconds, "percent": $0.percent] as JSONFields
    }
    let list = comparisons.map { comparison in
      JSONPiece.object { entry in
        comparison.write(to: &entry)
        guard let tolerance else { return }
        let excesses = comparison.excesses(over: tolerance)
        let pieces = excesses.map { excess in JSONPiece.object { excess.write(to: &$0) } }
        (["withinTolerance": excesses.isEmpty, "excesses": pieces] as JSONFields).write(to: &entry)
      }
    }
    return fields + ["tolerance": limits, "comparisons": list]
  }
}
