extension TransducerProfile {
  /// Decibels by which a factor may pass the reach.
  private static let slack = 0.25

  /// The factor on amplitude over sharpness, at evenly spaced points, each at most 1.
  ///
  /// It makes equal intensity felt equally, or, where only the drive is flattened, equally strong: the
  /// frequency that needs most is at 1. All are 1 for a profile that asks for neither. On hardware of known
  /// response none is lower than the drive's reach, which is all that placed frequencies need.
  ///
  /// - Parameter settings: The filters between the plan and the hardware.
  public func levelsOverSharpness(count: Int, drive settings: TransducerSettings?) -> [Double] {
    guard hasEqualSensation || isEqualized else { return Array(repeating: 1, count: count) }
    let needed = (0..<count).map { index in
      let hertz = frequency.hertz(atSharpness: Double(index) / Double(count - 1))
      return -feltDecibels(atHertz: hertz, drive: settings)
    }
    let most = needed.max() ?? 0
    // What lies between two points of the table is a little further down than they are.
    let least = hasKnownResponse ? -(drive.reach + Self.slack) : -Double.infinity
    return needed.map { raised(10, to: max(least, $0 - most) / 20) }
  }
}
