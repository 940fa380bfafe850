extension TransducerProfile {
  /// Points at which a law is looked at; a step is below a hundredth of an octave in usual bands.
  private static let placementCount = 513

  /// The profile with laws of frequency that ask for nothing its hardware cannot make felt.
  ///
  /// Each law is cut to the published band, then to the stretch around its most felt frequency in which
  /// nothing is felt weaker by more than the drive's reach. Its scale stays. The filters of the drive stay
  /// those of the profile before.
  ///
  /// - Parameter rate: Frames per second, which the filters depend on.
  public func placed(rate: Double) -> TransducerProfile {
    placed(before: transducerSettings(rate: rate))
  }

  /// The same for known filters.
  func placed(before settings: TransducerSettings?) -> TransducerProfile {
    guard isBandMapped else { return self }
    var placed = self
    placed.frequency = place(frequency, settings)
    placed.transient.frequency =
      transient.frequency == frequency ? placed.frequency : place(transient.frequency, settings)
    return placed
  }

  private func place(_ law: FrequencyMapping, _ settings: TransducerSettings?) -> FrequencyMapping {
    var law = law
    if let band = hardware?.band {
      law.low = min(max(law.low, band.lowerBound), band.upperBound)
      law.high = min(max(law.high, band.lowerBound), band.upperBound)
    }
    guard hasKnownResponse, law.high > law.low else { return law }
    let span = logarithm2(law.high / law.low)
    let points = (0..<Self.placementCount).map { index in
      law.low * raised(2, to: span * Double(index) / Double(Self.placementCount - 1))
    }
    let felt = points.map { feltDecibels(atHertz: $0, drive: settings) }
    guard let most = felt.max(), let best = felt.firstIndex(of: most) else { return law }
    let least = most - drive.reach
    var first = best
    var last = best
    while first > 0, felt[first - 1] >= least { first -= 1 }
    while last < felt.count - 1, felt[last + 1] >= least { last += 1 }
    if first > 0 { law.low = points[first] }
    if last < felt.count - 1 { law.high = points[last] }
    return law
  }
}
