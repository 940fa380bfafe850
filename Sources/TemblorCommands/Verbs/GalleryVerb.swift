internal import Glibc
import HapticRender
import PatternComparison
import ReviewPages
import SignalAnalysis

/// `temblor gallery`: many patterns on one page.
enum GalleryVerb {
  /// The frame rate of a gallery's sounds: haptics end below 1 kHz, and pages are sent around.
  static let rate = 16_000
  private static let usualOutput = "gallery.html"

  static let description = CommandDescription(
    "gallery", abstract: "Show many patterns on one page.",
    discussion: """
      The page is one file for a browser and needs no network: every pattern has its picture, a player, \
      its length and events, and the Description that its file gives. It can be searched, and everything \
      in it has a key. What is felt cannot be heard on small speakers, so each pattern is there twice: \
      as the profile renders it, and as the profile speaker does.

      A pattern that cannot be read is reported and left out. The same patterns and options give the \
      same page, with one version of Cairo and its fonts.
      """,
    arguments: [SharedOptions.pattern],
    options: [
      Option(
        "-o", "--output", value: "FILE", help: "Write to this file; - is standard output.",
        defaultText: usualOutput, completion: .file),
      Option(
        "--title", value: "TITLE", help: "What the page is called.", defaultText: usualTitle),
      SharedOptions.profile, SharedOptions.curveTimes,
      Option("-q", "--quiet", help: "Tell nothing but what went wrong."),
    ],
    examples: [
      .init("temblor gallery Patterns -o index.html", "Show a folder."),
      .init(
        "temblor gallery mine --title 'Autumn set' --profile buttkicker-lfe",
        "Write gallery.html for a shaker."),
    ]
  ) { arguments, terminal in
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    job.rate = rate
    job.curveTimes = try SharedOptions.curveTimes(arguments)
    let path = arguments.value("--output") ?? usualOutput
    if path == RenderOutputs.standardOutput, terminal.output.isTerminal {
      throw UsageError(
        .correctValue, "standard output is a terminal; give '--output' a file, or pipe it on")
    }
    let (inputs, problems) = PatternInput.find(arguments.values("PATTERN"))
    let isQuiet = arguments.flag("--quiet")
    let results = ReviewTakes.read(inputs, job: job, on: terminal, isQuiet: isQuiet)
    var statuses = problems.map { problem in
      terminal.report("\(problem)")
      return ExitStatus.couldNot
    }
    var takes: [ReviewTakes] = []
    for result in results {
      switch result {
      case .success(let take): takes.append(take)
      case .failure(let failure):
        terminal.report(failure.message)
        statuses.append(failure.status)
      }
    }
    guard !takes.isEmpty else { return Failure.worst(statuses) }
    let page = try page(takes, title: arguments.value("--title") ?? usualTitle)
    if path == RenderOutputs.standardOutput {
      try terminal.output.write(page.span)
    } else {
      try ReplacingFile.write(page, to: path)
      if !isQuiet, terminal.error.isTerminal {
        terminal.report(
          "\(path.printable): \(takes.count) pattern\(takes.count == 1 ? "" : "s"), "
            + "\(page.count / 1_000) kB")
      }
    }
    return Failure.worst(statuses)
  }

  /// What the page is called where nobody says.
  private static let usualTitle = "Haptic patterns"

  /// The page of some patterns.
  static func page(_ takes: [ReviewTakes], title: String) throws -> [UInt8] {
    let gallery = PatternGallery(
      title: title, generator: "Temblor \(temblorVersion)",
      speakerSignals: takes.compactMap(\.speaker))
    return try gallery.html(takes.map(\.take))
  }
}
