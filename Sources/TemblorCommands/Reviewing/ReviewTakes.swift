internal import CommandLineKit
internal import PatternWorkflows
internal import Synchronization
import HapticRender
import PatternComparison
import SignalAnalysis
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
