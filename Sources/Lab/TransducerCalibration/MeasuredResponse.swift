internal import CMath

/// The frequency response to a sweep, in groups of spectral bins.
///
/// The groups are equally wide on a logarithmic frequency axis.
///
/// The gain of a group is the least-squares estimate Σ recorded · played* / Σ |played|². Weighted
/// by the sweep's power, a fit to the groups is therefore equivalent to a least-squares fit to the
/// recording.
struct MeasuredResponse {
  /// The combined spectral bins of a narrow band.
  struct FrequencyGroup: BitwiseCopyable {
    /// The mean frequency of the group in hertz, weighted by the sweep's power.
    var meanHertz: Double
    /// The ratio of the recorded to the played spectrum.
    var recordedToPlayedRatio: Phasor
    /// The weight of the group: the power of the sweep within it.
    var sweepPower: Double
  }

  /// The number of groups per octave.
  ///
  /// A group is a tenth as wide as a resonance with a Q factor of 14.
  static let groupsPerOctave = 96.0

  /// The groups by increasing frequency. Groups without a spectral bin are absent.
  let groups: [FrequencyGroup]
  /// The square roots of the groups' weights.
  let groupWeightSquareRoots: [Double]
  /// The spectrum ratios multiplied by the square roots of their weights.
  let weightedRecordedToPlayedRatios: [Phasor]

  /// Computes the response from the recorded and the played spectrum, in groups of bins.
  ///
  /// - Parameters:
  ///   - bins: The spectra of the recording and of the sweep in the band, by increasing frequency.
  ///   - minimumHertz: The frequency at which the first group starts.
  init(bins: [(hertz: Double, recorded: Phasor, played: Phasor)], minimumHertz: Double) {
    var binGroups: [FrequencyGroup] = []
    var currentGroupNumber = Int.min
    for bin in bins {
      let octaves = log2(bin.hertz / minimumHertz)
      let number = Int((Self.groupsPerOctave * octaves).rounded(.down))
      let weight = bin.played.power
      if number != currentGroupNumber {
        binGroups.append(FrequencyGroup(meanHertz: 0, recordedToPlayedRatio: .zero, sweepPower: 0))
        currentGroupNumber = number
      }
      let index = binGroups.count - 1
      binGroups[index].meanHertz += weight * bin.hertz
      binGroups[index].recordedToPlayedRatio =
        binGroups[index].recordedToPlayedRatio + bin.recorded * bin.played.conjugate
      binGroups[index].sweepPower += weight
    }
    self.init(
      binGroups.compactMap { group in
        guard group.sweepPower > 0 else { return nil }
        return FrequencyGroup(
          meanHertz: group.meanHertz / group.sweepPower,
          recordedToPlayedRatio: group.recordedToPlayedRatio * (1 / group.sweepPower),
          sweepPower: group.sweepPower)
      })
  }

  private init(_ groups: [FrequencyGroup]) {
    self.groups = groups
    groupWeightSquareRoots = groups.map { $0.sweepPower.squareRoot() }
    weightedRecordedToPlayedRatios = zip(groups, groupWeightSquareRoots).map {
      $0.recordedToPlayedRatio * $1
    }
  }

  /// The total power of the recorded response.
  var responsePower: Double {
    groups.reduce(0) { $0 + $1.sweepPower * $1.recordedToPlayedRatio.power }
  }

  /// Returns a response with every n-th group, for a fast comparison of fits.
  func subsampled(by count: Int) -> MeasuredResponse {
    MeasuredResponse(stride(from: 0, to: groups.count, by: count).map { groups[$0] })
  }

  /// Returns a response with only the groups within a frequency band.
  func limited(to band: ClosedRange<Double>) -> MeasuredResponse {
    MeasuredResponse(groups.filter { band.contains($0.meanHertz) })
  }

  /// Returns the ratio of this response to a reference response with the same groups.
  ///
  /// The weights are scaled so that errors count as they do in the recording.
  func divided(by reference: MeasuredResponse) -> MeasuredResponse {
    MeasuredResponse(
      zip(groups, reference.groups).map { group, reference in
        FrequencyGroup(
          meanHertz: group.meanHertz,
          recordedToPlayedRatio: group.recordedToPlayedRatio / reference.recordedToPlayedRatio,
          sweepPower: group.sweepPower * reference.recordedToPlayedRatio.power)
      })
  }
}
