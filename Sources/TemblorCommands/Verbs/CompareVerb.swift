import HapticRender
import JSONText
import PatternComparison
import SignalAnalysis

/// `temblor compare`: what differs between patterns or sounds, in words and figures.
enum CompareVerb {
  static let description = CommandDescription(
    "compare", abstract: "Tell what differs between patterns or sound files, in words and figures.",
    discussion: """
      The first TAKE is the reference; each other is compared with it. Patterns are rendered, at the \
      rate of a sound file if there is one. Two patterns are compared event by event, anything else \
      sound by sound: shifted to lie over the reference, matched in level, then judged. What is most \
      likely felt is told first; what no published threshold calls felt is told apart.

      With --tolerance the exit status is 3 when a difference is greater than it may be, and 0 when \
      none is; without it differences change nothing. A limit that is left out allows no difference of \
      its kind; events that are missing or added are never allowed.

      With --output a page is written besides: players in step, pictures that follow them, the sources, \
      and a blind test.
      """,
    arguments: [
      Argument(
        "TAKE", help: "A pattern as elsewhere, or a sound file; two or more.",
        completion: .file, isRepeatable: true)
    ],
    options: [
      Option(
        "--tolerance", value: "LIMITS",
        help: "What may differ: level, time, frequency; such as 0.5dB,5ms,2%, or 0 for nothing."),
      Option(
        "--align", value: "HOW",
        help:
          "Shift a take until it fits best (auto), until its first sound fits (start), or not (none).",
        defaultText: "auto, and none between two patterns",
        choices: ComparisonOptions.Alignment.allCases.map(\.rawValue)),
      Option(
        "--match", value: "HOW",
        help:
          "Match levels by loudness in LUFS, by energy as felt, or not, before shapes are judged.",
        defaultText: "the level that most of both share is told and taken out",
        choices: LevelMatch.allCases.map(\.rawValue)),
      Option(
        "-o", "--output", value: "FILE",
        help:
          "Write a page for a browser too, one file that needs no network: to hear, see and test "
          + "blindly what differs.",
        completion: .file),
      Option("--all", help: "Tell every difference, not only the greatest."),
      SharedOptions.profile, SharedOptions.rate, SharedOptions.curveTimes, SharedOptions.json,
    ],
    examples: [
      .init("temblor compare old.ahap new.ahap", "See what an edit changed."),
      .init(
        "temblor compare old.ahap new.ahap -o report.html",
        "Hear and see it in a browser, and send it on."),
      .init(
        "temblor compare --tolerance 0.5dB,5ms,2% golden.wav mine.ahap",
        "Guard a pattern in a build."
      ),
    ]
  ) { arguments, terminal in
    let words = arguments.values("TAKE")
    let options = try options(arguments)
    let tolerance = try arguments.value("--tolerance").map { try Tolerance(words: $0) }
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    job.curveTimes = try SharedOptions.curveTimes(arguments)
    let rate = try arguments.int("--rate", in: 8_000...192_000)
    let (inputs, problems) = TakeInput.find(words)
    for problem in problems { terminal.report("\(problem)") }
    guard problems.isEmpty else { return .couldNot }
    guard inputs.count > 1 else {
      throw UsageError(.addValue, "missing TAKE to compare with \(words[0].inQuotes)")
    }
    let takes: [Take]
    do {
      takes = try TakeInput.takes(inputs, job, rate: rate)
    } catch {
      terminal.report(Failure.message(error))
      return Failure.status(of: error)
    }
    let comparisons = compare(takes, options)
    if let path = arguments.value("--output") {
      job.rate = Int(takes[0].signal.rate)
      try ReportOutput.write(
        to: path, inputs: inputs, takes: takes, comparisons: comparisons,
        levelMatch: options.levelMatch, job: job)
    }
    if arguments.flag("--json") {
      try terminal.output.write(json(comparisons, tolerance).span)
    } else {
      let text = ComparisonText(comparisons: comparisons, isComplete: arguments.flag("--all"))
      try terminal.output.write(text.text(for: terminal.output))
      if let tolerance { try terminal.output.write(judgement(comparisons, tolerance)) }
    }
    guard let tolerance else { return .done }
    return comparisons.allSatisfy { $0.isEqual(within: tolerance) } ? .done : .differs
  }

  /// Compares each take with the first; they are called A, B, C and so on.
  static func compare(_ takes: [Take], _ options: ComparisonOptions) -> [Comparison] {
    guard let reference = takes.first else { return [] }
    let figures = TakeFigures(reference)
    return takes.dropFirst().enumerated().map { index, take in
      var options = options
      options.otherLabel = Take.letter(index + 1)
      return Comparison(reference, take, options: options, referenceFigures: figures)
    }
  }

  private static func options(_ arguments: ParsedArguments) throws -> ComparisonOptions {
    ComparisonOptions(
      alignment: try arguments.choice("--align", as: ComparisonOptions.Alignment.self) ?? .auto,
      levelMatch: try arguments.choice("--match", as: LevelMatch.self))
  }

  private static func judgement(_ comparisons: [Comparison], _ tolerance: Tolerance) -> String {
    "\n"
      + comparisons.map { comparison in
        let place = comparison.isEqual(within: tolerance) ? "within" : "beyond"
        return "\(comparison.options.otherLabel) is \(place) the tolerance of \(tolerance.text).\n"
      }.joined()
  }

  private static func json(_ comparisons: [Comparison], _ tolerance: Tolerance?) -> [UInt8] {
    var json = JSONWriter()
    json.object { root in
      if let first = comparisons.first {
        root.object("reference") { take in
          take.member("label", first.options.referenceLabel)
          take.member("name", first.reference.name)
          take.member("source", first.reference.sourceName)
          take.object("figures") { first.figures[0].write(to: &$0) }
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
              entry.member("withinTolerance", comparison.isEqual(within: tolerance))
            }
          }
        }
      }
    }
    return json.finish()
  }
}
