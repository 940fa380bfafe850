internal import Glibc

/// Finds the attacks of taps and of continuous events.
///
/// An attack is where a signal becomes stronger in a way its past did not let expect, and reaches
/// half its strength within 30 ms: slower rises are fades. Works on what lies below 0.7 kHz. Attacks
/// closer than 20 ms are one.
public enum Onsets {
  /// Two attacks closer than this are one.
  private static let distance = 0.02
  /// A rise that takes longer to half its height is a fade.
  private static let attack = 0.03
  /// The share of the level that must have been unexpected.
  private static let surprise = 0.25
  /// How many times what was unexpected before, as in noise.
  private static let prominence = 4.0
  /// The share of the signal's peak below which nothing is looked for: −50 dB.
  private static let leastShare = 0.003
  /// The amplitude below which nothing is looked for: a few steps of 16 bits.
  private static let leastAmplitude = 2e-4

  /// The attacks in a signal, in order; infinite and undefined samples count as silence.
  ///
  /// - Parameter rate: Frames per second.
  public static func find(in samples: [Float], rate: Double) -> [Onset] {
    precondition(rate > 0, "onsets need a positive rate")
    let low = LowBand(of: FiniteSamples.of(samples), rate: rate)
    var foretelling = Foretelling(low.samples)
    let departures = foretelling.departures().map(abs)
    let search = Search(
      levels: low.samples.map { Double(abs($0)) }, departures: departures, rate: low.rate)
    return search.onsets()
  }

  /// The search through magnitudes and departures at a low rate.
  private struct Search {
    let levels: [Double]
    let departures: [Double]
    let rate: Double

    func onsets() -> [Onset] {
      let floor = max(leastAmplitude, leastShare * (levels.max() ?? 0))
      var onsets: [Onset] = []
      var index = 0
      while index < departures.count {
        guard departures[index] > floor, let onset = onset(near: index, floor: floor) else {
          index += 1
          continue
        }
        onsets.append(onset)
        index = max(index, Int(onset.time * rate)) + frames(distance)
      }
      return onsets
    }

    private func frames(_ seconds: Double) -> Int { max(1, Int((seconds * rate).rounded())) }

    private func greatest(_ values: [Double], _ range: Range<Int>) -> Double {
      values[range.clamped(to: values.indices)].max() ?? 0
    }

    /// The onset whose first departure is at an index, if it is one.
    private func onset(near index: Int, floor: Double) -> Onset? {
      let rise = greatest(departures, index..<index + Foretelling.horizon)
      let usual = usualDeparture(before: index)
      guard rise > prominence * usual else { return nil }
      let after = greatest(levels, index..<index + frames(0.015))
      guard rise > surprise * after else { return nil }
      let before = greatest(levels, index - frames(0.008)..<index)
      guard after > 1.1 * before else { return nil }
      // The level goes on rising for so long as it does not fall by a tenth.
      var peak = 0.0
      let half = frames(0.006)
      var place = index
      while place < min(levels.count, index + frames(0.3)) {
        let level = greatest(levels, place - half..<place + half)
        if level < 0.9 * peak { break }
        peak = max(peak, level)
        place += 1
      }
      let early = greatest(levels, index..<index + frames(attack))
      guard early > 0.5 * peak else { return nil }
      return Onset(time: time(of: index, rise: rise), strength: early)
    }

    /// The middle of what departed in the 50 ms before.
    private func usualDeparture(before index: Int) -> Double {
      let range = (index - frames(0.05)..<index - 2).clamped(to: departures.indices)
      guard range.count > 8 else { return 0 }
      return departures[range].sorted()[range.count / 2]
    }

    /// Where the departure leaves the ground: a twentieth of its peak, on a line between frames.
    private func time(of index: Int, rise: Double) -> Double {
      let level = rise * 0.05
      var place = index
      while place > 0, departures[place - 1] > level, index - place < frames(0.004) { place -= 1 }
      while place < departures.count - 1, departures[place] <= level { place += 1 }
      guard place > 0, departures[place] > departures[place - 1] else {
        return Double(place) / rate
      }
      let share =
        (level - departures[place - 1]) / (departures[place] - departures[place - 1])
      return (Double(place - 1) + min(1, max(0, share))) / rate
    }
  }
}
