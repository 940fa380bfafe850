import CommandLineKit
import HapticPlayback
import SystemSupport

/// The part of takes that `--loop` names.
struct LoopPart: Equatable {
  /// Seconds of its start; nothing where the whole repeats.
  private var start: Double?
  /// Seconds of its end; nothing for the end of the longest take.
  private var end: Double?
  private var word = ""

  /// What a command line asks for.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    guard let word = arguments.value("--loop") else { return }
    self.word = word
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    let numbers = parts.map { Double($0) }
    guard parts.count == 2, let start = parts[0].isEmpty ? 0 : numbers[0], start.isFinite,
      parts[1].isEmpty || numbers[1]?.isFinite == true
    else {
      throw UsageError(
        .invalidValue, "'--loop' takes a range in seconds, such as '0.5-1.2', not \(word.inQuotes)")
    }
    self.start = start
    end = numbers[1]
    if let end, end - start < PatternPlayer.shortestLoop {
      throw UsageError(
        .invalidValue,
        "the loop range \(word.inQuotes) is shorter than \(PatternPlayer.shortestLoop) s")
    }
  }

  /// The part of takes that last so long, or nothing for the whole.
  func region(of duration: Double) throws(UsageError) -> ClosedRange<Double>? {
    guard let start else { return nil }
    let end = min(end ?? duration, duration)
    guard end - start >= PatternPlayer.shortestLoop else {
      throw UsageError(
        .invalidValue,
        "the loop range \(word.inQuotes) starts after the end at \(NumberFormatting.seconds(duration))"
      )
    }
    return start...end
  }
}
