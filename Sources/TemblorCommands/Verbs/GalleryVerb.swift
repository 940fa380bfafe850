internal import HapticFormats
internal import VendorFormats
internal import CommandLineKit
internal import Glibc
import HapticRender
import PatternComparison
internal import PatternWorkflows
import ReviewPages
import SignalAnalysis
internal import SystemSupport

/// `temblor gallery`: many patterns on one page.
enum GalleryVerb {
  /// The frame rate of a gallery's sounds, in hertz, but for patterns that need more: haptics end
  /// below 1 kHz, and pages are sent around.
  static let rate = 8_000
  private static let usualOutput = "gallery.html"

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "gallery", abstract: "Write an HTML page of many patterns.",
      discussion: """
        The page is self-contained and works offline. Every pattern is drawn on one scale of time and has a player, a detail with its values and source, downloads, and a comparison with any other. The page has search and keyboard shortcuts. Small speakers cannot reproduce the haptic band, so each pattern is included twice: rendered with the chosen profile and with the profile speaker.

        Patterns that cannot be read are reported and skipped. The same patterns and options give an identical page.
        """, arguments: [SharedOptions.pattern(formats)],
      options: [
        Option(
          "-o", "--output", value: "FILE", help: "Output file; - for standard output.", defaultText: usualOutput,
          completion: .file(endingIn: "html"), writes: OutputNames.pageEndings),
        Option("--title", value: "TITLE", help: "Title of the page.", defaultText: usualTitle), SharedOptions.profile,
        SharedOptions.curveTimes, Option("-q", "--quiet", help: "Print errors only."),
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor gallery Patterns -o index.html", "Write a page of a folder."),
        .init("temblor gallery mine --title 'Autumn set' --profile buttkicker-lfe", "Write gallery.html for a shaker."),
      ]
    ) { arguments, terminal in
      var job = try SharedOptions.job(arguments)
      job.rate = rate
      let path = arguments.value("--output") ?? usualOutput
      if path == OutputNames.standardOutput { try SharedOptions.checkStandardOutput(terminal) }
      let (inputs, problems) = PatternInput.find(
        arguments.values("PATTERN"), formats: formats, sounds: try SharedOptions.sounds(arguments))
      try OutputNames.checkInputs(path, of: inputs.map(TakeInput.pattern))
      let isQuiet = arguments.flag("--quiet")
      let results = ReviewTakes.read(inputs, job: job, on: terminal, isQuiet: isQuiet)
      var work = BatchWork(on: terminal, problems: problems)
      var takes: [ReviewTakes] = []
      for result in results { try work.attempt { _ in takes.append(try result.get()) } }
      guard !takes.isEmpty else { return work.status }
      let page = try page(takes, title: arguments.value("--title") ?? usualTitle)
      if path == OutputNames.standardOutput {
        try terminal.output.write(page.span)
      } else {
        try AtomicFileWriter.write(page, to: path)
        if !isQuiet, terminal.error.isTerminal {
          terminal.report(
            "\(path.printable): \(takes.count) pattern\(takes.count == 1 ? "" : "s"), " + "\(page.count / 1_000) kB")
        }
      }
      return work.status
    }
  }

  /// What the page is called where nobody says.
  private static let usualTitle = "Haptic patterns"

  static func page(_ takes: [ReviewTakes], title: String) throws -> [UInt8] {
    let gallery = PatternGallery(title: title, generator: "Temblor \(temblorVersion)")
    return try gallery.html(takes.map(\.take), sounds: takes.map(\.sounds))
  }
}
