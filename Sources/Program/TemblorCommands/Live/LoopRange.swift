import CommandLineKit
import HapticPlayback
import PlaybackSessions
import SystemSupport

struct LoopRange: Equatable {
  /// The start of the loop in seconds, or nil to repeat the whole take.
  private var startSeconds: Double?
  /// The end of the loop in seconds, or nil for the end of the longest take.
  private var endSeconds: Double?
  private var argumentText = ""

  init(_ arguments: ParsedArguments) throws(UsageError) {
    guard let rangeText = arguments.value("--loop-range") else { return }
    self.argumentText = rangeText
    let rangeParts = rangeText.split(separator: "-", omittingEmptySubsequences: false)
    let parsedSeconds = rangeParts.map { Double($0) }
    guard rangeParts.count == 2,
      let parsedStartSeconds = rangeParts[0].isEmpty ? 0 : parsedSeconds[0],
      parsedStartSeconds.isFinite,
      rangeParts[1].isEmpty || parsedSeconds[1]?.isFinite == true
    else {
      throw UsageError.invalidValue(
        of: "--loop-range", expected: "a range in seconds, such as '0.5-1.2'", actual: rangeText)
    }
    self.startSeconds = parsedStartSeconds
    endSeconds = parsedSeconds[1]
    if let endSeconds, endSeconds - parsedStartSeconds < PatternPlayer.minimumLoopDuration {
      throw UsageError(
        "the loop range \(rangeText.inQuotes) is shorter than "
          + "\(PatternPlayer.minimumLoopDuration) s"
      )
    }
  }

  func loopRegion(ofDuration duration: Double) throws(UsageError) -> ClosedRange<Double>? {
    guard let startSeconds else { return nil }
    let regionEndSeconds = min(endSeconds ?? duration, duration)
    guard regionEndSeconds - startSeconds >= PatternPlayer.minimumLoopDuration else {
      throw UsageError(
        """
        the loop range \(argumentText.inQuotes) starts after the end of the sound at \
        \(NumberFormatting.secondsText(duration))
        """
      )
    }
    return startSeconds...regionEndSeconds
  }
}

extension TakeSwitcher {
  static let keyHelp = [
    ("space", "pause"), ("left right", "move"), ("home", "start"),
    ("[ ]", "set loop start, end"),
    ("backspace", "loop everything"), ("l", "loop on or off"),
  ]

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "):
      try togglePause()
    case .left:
      try movePlayhead(bySteps: -1)
    case .right:
      try movePlayhead(bySteps: 1)
    case .pageUp:
      try movePlayhead(bySteps: -4)
    case .pageDown:
      try movePlayhead(bySteps: 4)
    case .home:
      try movePlayhead(to: loopStartSeconds)
    case .character("["):
      try beginLoopRegionAtPlayhead()
    case .character("]"):
      try endLoopRegionAtPlayhead()
    case .backspace:
      try setLoopRegion(nil)
    case .character("l"), .character("L"):
      try toggleLooping()
    default:
      return false
    }
    return true
  }

  var loopRegionText: String {
    guard isLooping else { return "no loop" }
    guard let loopRegionSeconds else { return "loop" }
    return "loop \(NumberFormatting.roundedText(loopRegionSeconds.lowerBound, places: 2))-"
      + NumberFormatting.roundedText(loopRegionSeconds.upperBound, places: 2)
  }
}
