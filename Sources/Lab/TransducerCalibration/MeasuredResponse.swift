internal import CMath

/// The response to a sweep, in groups of bins of equal width on a logarithmic frequency axis.
///
/// The gain of a group is the least-squares estimate Σ recorded · played* / Σ |played|². Weighted
/// by the sweep's power, a fit to the groups is therefore equivalent to a least-squares fit to the
/// recording.
struct MeasuredResponse {
  /// The combined spectral bins of a narrow band.
  struct Group: BitwiseCopyable {
    /// The mean frequency in hertz, weighted by the sweep's power.
    var meanHertz: Double
    /// The ratio of the recorded to the played spectrum.
    var spectrumRatio: Phasor
    /// The weight of the group: the power of the sweep within it.
    var sweepPower: Double
  }

  /// The resolution of the groups. A group is a tenth as wide as a resonance with a Q factor of 14.
  static let groupsPerOctave = 96.0

  /// The groups by increasing frequency. Groups without a bin are absent.
  let groups: [Group]
  /// The square roots of the groups' weights.
  let rootWeights: [Double]
  /// The gains multiplied by the roots of their weights.
  let weightedGains: [Phasor]

  /// Combines the bins of two spectra to groups.
  ///
  /// - Parameters:
  ///   - bins: The spectra of the recording and of the sweep in the band, by increasing frequency.
  ///   - minimumHertz: The frequency at which the first group starts.
  init(bins: [(hertz: Double, recorded: Phasor, played: Phasor)], minimumHertz: Double) {
    var groups: [Group] = []
    var currentNumber = Int.min
    for bin in bins {
      let octaves = log2(bin.hertz / minimumHertz)
      let number = Int((Self.groupsPerOctave * octaves).rounded(.down))
      let weight = bin.played.power
      if number != currentNumber {
        groups.append(Group(meanHertz: 0, spectrumRatio: .zero, sweepPower: 0))
        currentNumber = number
      }
      let index = groups.count - 1
      groups[index].meanHertz += weight * bin.hertz
      groups[index].spectrumRatio =
        groups[index].spectrumRatio + bin.recorded * bin.played.conjugate
      groups[index].sweepPower += weight
    }
    self.init(
      groups.compactMap { group in
        guard group.sweepPower > 0 else { return nil }
        return Group(
          meanHertz: group.meanHertz / group.sweepPower,
          spectrumRatio: group.spectrumRatio * (1 / group.sweepPower),
          sweepPower: group.sweepPower)
      })
  }

  private init(_ groups: [Group]) {
    self.groups = groups
    rootWeights = groups.map { $0.sweepPower.squareRoot() }
    weightedGains = zip(groups, rootWeights).map { $0.spectrumRatio * $1 }
  }

  /// The total power of the recorded response.
  var responsePower: Double { groups.reduce(0) { $0 + $1.sweepPower * $1.spectrumRatio.power } }

  /// Returns every n-th group, to compare fits quickly.
  func subsampled(by count: Int) -> MeasuredResponse {
    MeasuredResponse(stride(from: 0, to: groups.count, by: count).map { groups[$0] })
  }

  /// Returns the groups within a band.
  func limited(to band: ClosedRange<Double>) -> MeasuredResponse {
    MeasuredResponse(groups.filter { band.contains($0.meanHertz) })
  }

  /// Returns the response relative to another response in the same groups, with the weights of the
  /// recording.
  func divided(by reference: MeasuredResponse) -> MeasuredResponse {
    MeasuredResponse(
      zip(groups, reference.groups).map { group, reference in
        Group(
          meanHertz: group.meanHertz, spectrumRatio: group.spectrumRatio / reference.spectrumRatio,
          sweepPower: group.sweepPower * reference.spectrumRatio.power)
      })
  }
}
