import HapticModel
import PatternComparison
import PatternWorkflows
import SignalPlots

extension TakeInput {
  /// Reads it as what a picture shows, and renders it where its sound is asked for.
  ///
  /// - Throws: `InputError`, `FileError` or `SoundFileError`.
  func subject(_ job: RenderJob, parts: Set<PlotPart>) throws -> PlotSubject {
    switch self {
    case .sound:
      let take = try take(job)
      return PlotSubject(name: take.name, signal: take.signal, profile: take.profile)
    case .pattern(let input):
      let pattern = try LoadedPattern(input, reading: job.reading)
      var subject = PlotSubject(
        name: input.name, composition: pattern.composition, profile: job.profile)
      subject.samples = try pattern.samples(rate: Double(job.rate))
      if parts != [.score] { subject.signal = try Self.render(pattern, job).signal }
      return subject
    }
  }
}
