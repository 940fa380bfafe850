import HapticRender
import PatternComparison
import ReviewPages
import SignalAnalysis

/// The page that `compare --output` writes.
enum ReportOutput {
  /// Writes the page of a comparison to a file, or to standard output where that is named `-`.
  ///
  /// - Parameters:
  ///   - inputs: What was compared, the reference first.
  ///   - takes: The same, read.
  ///   - comparisons: Each other take against the first.
  static func write(
    to path: String, inputs: [TakeInput], takes: [Take], comparisons: [Comparison],
    levelMatch: LevelMatch, job: RenderJob, on terminal: Terminal
  ) throws {
    let speakers = try inputs.map { try ReviewTakes.speakerSignal($0, job: job) }
    let report = ComparisonReport(
      generator: "Temblor \(temblorVersion)", levelMatch: levelMatch,
      // Some takes for small speakers and others not would not be comparable.
      speakerSignals: speakers.contains(nil) ? [] : speakers.compactMap(\.self))
    let page = try report.html(takes: named(takes), comparisons: comparisons)
    if path == RenderOutputs.standardOutput {
      try terminal.output.write(page.span)
    } else {
      try ReplacingFile.write(page, to: path)
    }
  }

  /// The takes without the folders in their names, where these are not needed to tell them apart.
  private static func named(_ takes: [Take]) -> [Take] {
    let names = takes.map { $0.name.split(separator: "/").last.map(String.init) ?? $0.name }
    guard Set(names).count == names.count else { return takes }
    return zip(takes, names).map { take, name in
      var take = take
      take.name = name
      return take
    }
  }
}
