import HapticFormats
import CommandLineKit
import PatternWorkflows

/// The takes that a user wants to hear in turn, all of them or none: letters must stay where they are.
struct AuditionTakes: Sendable {
  static let most = 9

  /// The takes in the order of their letters.
  let all: [AuditionTake]

  /// Reads takes; reports what is wrong and answers the status where any cannot be played.
  static func read(
    _ words: [String], reading: ReadingOptions, formats: FormatRegistry, sounds: PatternInput.SoundLookup,
    _ terminal: Terminal
  ) throws(UsageError) -> (takes: AuditionTakes?, status: ExitStatus) {
    let (inputs, problems) = TakeInput.find(words, formats: formats, sounds: sounds)
    var work = BatchWork(on: terminal, problems: problems)
    if problems.isEmpty, !(2...most).contains(inputs.count) {
      throw UsageError(
        inputs.count < 2 ? .missingValue : .remove,
        "'audition' takes two to \(most) patterns or sound files, not \(inputs.count)")
    }
    var takes: [AuditionTake] = []
    for input in inputs {
      do { takes.append(try AuditionTake(input, reading: reading)) } catch {
        work.fail(Failure.message(error), Failure.status(of: error))
      }
    }
    return (work.status == .done ? AuditionTakes(all: takes) : nil, work.status)
  }

  var sources: [String] {
    all.flatMap { take in
      switch take.content {
      case .pattern(let pattern): pattern.sources
      case .recording: [take.name]
      }
    }
  }

  var channelCounts: [Int] { all.compactMap(\.channelCount) }
}
