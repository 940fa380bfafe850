import HapticModel
import PatternComparison
import PatternWorkflows
import SignalPlots

extension TakeInput {
  /// Reads it as what a picture shows, and renders it where its sound is needed.
  ///
  /// - Parameters:
  ///   - needsSignal: Whether events alone are not enough.
  ///   - hasProfile: Whether the user says what a sound was rendered with.
  /// - Throws: `InputError`, `FileError` or `SoundFileError`.
  func subject(_ job: RenderJob, needsSignal: Bool, hasProfile: Bool) throws -> PlotSubject {
    switch self {
    case .sound:
      let take = try take(job)
      return PlotSubject(name: take.name, signal: take.signal, profile: hasProfile ? take.profile : nil)
    case .pattern(let input):
      let pattern = try LoadedPattern(input, reading: job.reading)
      var subject = PlotSubject(name: input.name, composition: pattern.composition, profile: job.profile)
      subject.samples = try pattern.samples(rate: Double(job.rate))
      if needsSignal || !pattern.composition.isOfEvents { subject.signal = try Self.render(pattern, job).signal }
      return subject
    }
  }
}
