import CommandLineKit
import HapticModel
import SystemSupport
import TransducerProfiles

/// Positions in an array as people type them.
enum PanArgument {
  /// Positions are within this of 0.
  private static let most = 1e6
  /// Ten turns either way around a ring.
  private static let mostDegrees = 3_600.0
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

  /// Reads a number, or on a plane two with a slash between; nothing for any other text.
  static func position(_ text: String, in layout: TransducerArray.Layout) -> ArrayPosition? {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
    let found = numbers.compactMap { $0 }.filter {
      $0.magnitude <= (layout == .ring ? mostDegrees : most)
    }
    guard found.count == numbers.count else { return nil }
    switch (layout, found.count) {
    case (.plane, 2): return ArrayPosition(found[0], found[1])
    case (.line, 1), (.ring, 1): return ArrayPosition(found[0])
    default: return nil
    }
  }

  /// What a position is in a layout, for messages.
  static func meaning(in layout: TransducerArray.Layout) -> String {
    switch layout {
    case .line: "a position on the line, such as -0.5"
    case .ring: "an angle in degrees, such as 90"
    case .plane: "metres on the plane as X/Y, such as 0.5/-1"
    }
  }

  private static func checked(
    _ text: String, _ layout: TransducerArray.Layout
  ) throws(UsageError) -> ArrayPosition {
    if let position = position(text, in: layout) { return position }
    throw UsageError(
      .invalidValue, "'--pan' takes \(meaning(in: layout)), not \(text.inQuotes)")
  }
}
