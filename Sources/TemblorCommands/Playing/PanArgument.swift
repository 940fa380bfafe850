import CommandLineKit
import HapticModel
import PatternWorkflows
import SystemSupport
import TransducerProfiles

/// Positions in an array as people type them.
enum PanArgument {
  /// The most points of a path.
  private static let mostPoints = 1_000

  /// Reads `POS`, or `T:POS,T:POS` by rising time.
  static func path(_ text: String, in layout: TransducerArray.Layout) throws(UsageError) -> PanPath
  {
    guard text.contains(":") else { return PanPath(at: try checked(text, layout)) }
    var points: [PanPath.Point] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let time = Double(parts[0]),
        (0...FrameConversion.longest).contains(time)
      else {
        throw UsageError(
          .invalidValue,
          "'--pan' takes seconds and positions, such as '0:-1,2.5:1', not \(String(word).inQuotes)")
      }
      if let last = points.last, time <= last.time {
        throw UsageError(
          .invalidValue, "'--pan' takes increasing times; \(parts[0]) is out of order")
      }
      points.append(.init(time: time, position: try checked(parts[1], layout)))
    }
    guard points.count <= mostPoints else {
      throw UsageError(.invalidValue, "'--pan' takes at most \(mostPoints) positions")
    }
    return PanPath(points)
  }

  private static func checked(
    _ text: String, _ layout: TransducerArray.Layout
  ) throws(UsageError) -> ArrayPosition {
    if let position = ArrayPosition(text, in: layout) { return position }
    throw UsageError(
      .invalidValue, "'--pan' takes \(layout.positionMeaning), not \(text.inQuotes)")
  }
}
