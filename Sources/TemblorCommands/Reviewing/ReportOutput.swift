import CommandLineKit
import HapticRender
import PatternComparison
import PatternWorkflows
import ReviewPages
import SignalAnalysis
import SystemSupport

/// The page that `compare --output` writes.
enum ReportOutput {
  /// Writes the page of a comparison to a file.
  ///
  /// - Parameters:
  ///   - inputs: What was compared, the reference first.
  ///   - takes: The same, read.
  ///   - comparisons: Each other take against the first.
  ///   - levelMatch: By what the page matches levels; by loudness where that is nothing or none.
  ///   - job: What patterns were rendered with.
  static func write(
    to path: String, inputs: [TakeInput], takes: [Take], comparisons: [Comparison],
    levelMatch: LevelMatch?, job: RenderJob
  ) throws {
    guard path != RenderOutputs.standardOutput else {
      throw UsageError(.invalidValue, "'--output' requires a file name")
    }
    // Some takes for small speakers and others not would not be comparable.
    var speakers: [Signal] = []
    for input in inputs {
      guard let signal = try ReviewTakes.speakerSignal(input, job: job) else { break }
      speakers.append(signal)
    }
    let report = ComparisonReport(
      generator: "Temblor \(temblorVersion)",
      levelMatch: levelMatch == LevelMatch.none ? .loudness : levelMatch ?? .loudness,
      speakerSignals: speakers)
    let page = try report.html(takes: named(takes), comparisons: comparisons)
    try AtomicFileWriter.write(page, to: path)
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
