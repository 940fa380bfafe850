internal import Glibc

/// What came back of a sweep by frequency, in narrow groups of equal musical width.
struct MeasuredResponse {
  /// A group of neighbouring bins.
  struct Group: BitwiseCopyable {
    /// The mean frequency, by the sweep's power.
    var hertz: Double
    /// The complex gain.
    var gain: Phasor
    /// The sweep's power in the group.
    var weight: Double
  }

  /// Groups in an octave: a tenth of the width of a resonance with a quality of 14.
  static let groupsPerOctave = 96.0

  /// The groups by rising frequency; those without a bin are left out.
  private(set) var groups: [Group]

  /// Reduces spectra of one length.
  ///
  /// Weighted by the sweep's power, a fit to the groups is a plain least-squares fit to the recording.
  ///
  /// - Parameters:
  ///   - bins: The recording's spectrum in the band, with their frequencies and that of the sweep.
  ///   - lowest: Where the first group begins.
  init(bins: [(hertz: Double, recorded: Phasor, played: Phasor)], lowest: Double) {
    var groups: [Group] = []
    var last = Int.min
    for bin in bins {
      let number = Int((Self.groupsPerOctave * log2(bin.hertz / lowest)).rounded(.down))
      let weight = bin.played.power
      if number != last {
        groups.append(Group(hertz: 0, gain: .zero, weight: 0))
        last = number
      }
      let index = groups.count - 1
      groups[index].hertz += weight * bin.hertz
      groups[index].gain = groups[index].gain + bin.recorded * bin.played.conjugate
      groups[index].weight += weight
    }
    self.groups = groups.compactMap { group in
      guard group.weight > 0 else { return nil }
      return Group(
        hertz: group.hertz / group.weight, gain: group.gain * (1 / group.weight),
        weight: group.weight)
    }
  }

  /// The power of all that was recorded, as the groups hold it.
  var power: Double { groups.reduce(0) { $0 + $1.weight * $1.gain.power } }
}
