internal import CommandLineKit
import HapticRender
import PatternComparison
internal import PatternWorkflows
import ReviewPages
import SignalAnalysis
internal import Synchronization
internal import SystemSupport
import TransducerProfiles

/// What a page plays of one pattern: as it is felt, and for small speakers.
struct ReviewTakes: Sendable {
  /// The profile whose renders are heard on small speakers.
  static let speakerProfile = "speaker"

  /// The pattern as the profile renders it.
  var take: Take
  /// What small speakers play; nothing where the profile itself is made for them.
  var speaker: Signal?

  /// Why a pattern could not be read.
  struct Unreadable: Error {
    var message: String
    var status: ExitStatus
  }

  /// Reads and renders a pattern, which is called what an output would be.
  init(_ input: PatternInput, job: RenderJob) throws {
    take = try TakeInput.pattern(input).take(job)
    take.name = input.outputStem
    speaker = try Self.speakerSignal(.pattern(input), job: job)
  }

  /// Reads and renders patterns on all cores; each comes out by itself.
  static func read(
    _ inputs: [PatternInput], job: RenderJob, on terminal: Terminal, isQuiet: Bool
  ) -> [Result<ReviewTakes, Unreadable>] {
    let results = Mutex([Result<ReviewTakes, Unreadable>?](repeating: nil, count: inputs.count))
    var line = ProgressLine(on: terminal)
    WorkerPool.run(inputs.count) { index in
      let result = read(inputs[index], job: job)
      results.withLock { $0[index] = result }
    } meanwhile: { done in
      if !isQuiet { line.show("\(done) of \(inputs.count) patterns") }
    }
    line.clear()
    return results.withLock { $0 }.compactMap(\.self)
  }

  private static func read(_ input: PatternInput, job: RenderJob) -> Result<
    ReviewTakes, Unreadable
  > {
    do {
      if job.isCancelled() { throw FileError(input.name, "interrupted") }
      return .success(try ReviewTakes(input, job: job))
    } catch {
      return .failure(
        Unreadable(message: Failure.message(error), status: Failure.status(of: error)))
    }
  }

  /// What small speakers play of a pattern; nothing for a sound, or where the job is for them anyway.
  static func speakerSignal(_ input: TakeInput, job: RenderJob) throws -> Signal? {
    guard case .pattern(let pattern) = input, pattern.origin != .standardInput,
      job.profile.name != speakerProfile,
      let profile = ProfileCatalog.profile(named: speakerProfile)
    else { return nil }
    var job = job
    job.profile = profile
    return try input.take(job).signal
  }
}

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
