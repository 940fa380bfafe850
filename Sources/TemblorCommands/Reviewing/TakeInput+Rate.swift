import PatternComparison
import SignalAnalysis
import SoundFile

extension TakeInput {
  /// Reads several at one rate, so that they can be laid over each other.
  ///
  /// That is the rate asked for, else the greatest of the sound files', else the job's: a pattern is
  /// rendered at the rate of the recording it is held against, and nothing is resampled in vain.
  ///
  /// - Parameter rate: Frames per second that were asked for, or nothing.
  /// - Throws: `InputError`, `FileError` or `SoundFileError`.
  static func takes(_ inputs: [TakeInput], _ job: RenderJob, rate: Int?) throws -> [Take] {
    var job = job
    var takes = [Take?](repeating: nil, count: inputs.count)
    for (index, input) in inputs.enumerated() {
      if case .sound(let path) = input { takes[index] = try read(path, job) }
    }
    let rates = takes.compactMap { $0?.signal.rate }
    job.rate = rate ?? rates.max().map { Int($0) } ?? job.rate
    return try zip(inputs, takes).map { input, take in
      guard let take else { return try input.take(job) }
      return try take.at(Double(job.rate))
    }
  }
}

extension Take {
  /// The take at another rate.
  ///
  /// - Throws: `SoundFileError`
  fileprivate func at(_ rate: Double) throws -> Take {
    guard signal.rate != rate else { return self }
    var take = self
    let count = max(1, signal.channels.count)
    let sound = try Sound(interleaved: signal.interleaved, channelCount: count, rate: signal.rate)
      .resampled(to: rate, path: name)
    take.signal = Signal(interleaved: sound.interleaved, channelCount: count, rate: rate)
    return take
  }
}
