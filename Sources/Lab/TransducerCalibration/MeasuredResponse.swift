internal import CMath

/// The response to a sweep, in groups of bins of equal width on a logarithmic frequency axis.
///
/// The gain of a group is the least-squares estimate Σ recorded · played* / Σ |played|². Weighted
/// by the sweep's power, a fit to the groups is therefore equivalent to a least-squares fit to the
/// recording.
struct MeasuredResponse {
  /// The bins of a narrow band.
  struct Group: BitwiseCopyable {
    /// The mean frequency in hertz, weighted by the sweep's power.
    var hertz: Double
    /// The ratio of the recorded to the played spectrum.
    var gain: Phasor
    /// The sweep's power in the group.
    var weight: Double
  }

  /// The resolution of the groups. A group is a tenth as wide as a resonance with a Q factor of 14.
  static let groupsPerOctave = 96.0

  /// The groups by increasing frequency. Groups without a bin are absent.
  let groups: [Group]
  /// The square roots of the weights.
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
        groups.append(Group(hertz: 0, gain: .zero, weight: 0))
        currentNumber = number
      }
      let index = groups.count - 1
      groups[index].hertz += weight * bin.hertz
      groups[index].gain = groups[index].gain + bin.recorded * bin.played.conjugate
      groups[index].weight += weight
    }
    self.init(
      groups.compactMap { group in
        guard group.weight > 0 else { return nil }
        return Group(
          hertz: group.hertz / group.weight, gain: group.gain * (1 / group.weight),
          weight: group.weight)
      })
  }

  private init(_ groups: [Group]) {
    self.groups = groups
    rootWeights = groups.map { $0.weight.squareRoot() }
    weightedGains = zip(groups, rootWeights).map { $0.gain * $1 }
  }

  /// The power of the recorded response.
  var power: Double { groups.reduce(0) { $0 + $1.weight * $1.gain.power } }

  /// Returns every n-th group, to compare fits quickly.
  func subsampled(by count: Int) -> MeasuredResponse {
    MeasuredResponse(stride(from: 0, to: groups.count, by: count).map { groups[$0] })
  }

  /// Returns the groups within a band.
  func limited(to band: ClosedRange<Double>) -> MeasuredResponse {
    MeasuredResponse(groups.filter { band.contains($0.hertz) })
  }

  /// Returns the response relative to another response in the same groups, with the weights of the
  /// recording.
  func divided(by reference: MeasuredResponse) -> MeasuredResponse {
    MeasuredResponse(
      zip(groups, reference.groups).map { group, reference in
        Group(
          hertz: group.hertz, gain: group.gain / reference.gain,
          weight: group.weight * reference.gain.power)
      })
  }
}
