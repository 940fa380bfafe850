internal import CMath

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
  let groups: [Group]
  /// The roots of their weights, and their gains times these.
  let roots: [Double]
  let weighted: [Phasor]

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
    self.init(
      groups.compactMap { group in
        guard group.weight > 0 else { return nil }
        return Group(hertz: group.hertz / group.weight, gain: group.gain * (1 / group.weight), weight: group.weight)
      })
  }

  private init(_ groups: [Group]) {
    self.groups = groups
    roots = groups.map { $0.weight.squareRoot() }
    weighted = zip(groups, roots).map { $0.gain * $1 }
  }

  /// Every so many of the groups: enough to see where a fit leads.
  func thinned(by count: Int) -> MeasuredResponse {
    MeasuredResponse(stride(from: 0, to: groups.count, by: count).map { groups[$0] })
  }

  /// The power of all that was recorded, as the groups hold it.
  var power: Double { groups.reduce(0) { $0 + $1.weight * $1.gain.power } }
}

/// A complex number in double precision.
struct Phasor: Equatable, BitwiseCopyable {
  /// The real part.
  var real: Double
  /// The imaginary part.
  var imaginary: Double

  /// A number of its parts.
  init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  static let zero = Phasor(0, 0)

  /// The square of the magnitude.
  var power: Double { real * real + imaginary * imaginary }
  /// The magnitude.
  var magnitude: Double { power.squareRoot() }
  /// The number mirrored on the real axis.
  var conjugate: Phasor { Phasor(real, -imaginary) }

  static func + (left: Phasor, right: Phasor) -> Phasor {
    Phasor(left.real + right.real, left.imaginary + right.imaginary)
  }

  static func - (left: Phasor, right: Phasor) -> Phasor {
    Phasor(left.real - right.real, left.imaginary - right.imaginary)
  }

  static func * (left: Phasor, right: Phasor) -> Phasor {
    Phasor(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }

  static func * (left: Phasor, right: Double) -> Phasor { Phasor(left.real * right, left.imaginary * right) }

  static func / (left: Phasor, right: Phasor) -> Phasor { left * right.conjugate * (1 / right.power) }
}

/// Finds by how much one spectrum lags another.
enum DelaySearch {
  /// The seconds τ within reach for which Re Σ terms·exp(jωτ) is greatest.
  ///
  /// - Parameters:
  ///   - terms: Products of one spectrum and another's conjugate, with their frequencies in hertz.
  ///   - reach: Seconds to both sides.
  ///   - ignoresSign: Whether a turned polarity counts as much.
  static func delay(of terms: [(hertz: Double, value: Phasor)], within reach: Double, ignoresSign: Bool) -> Double {
    let highest = terms.last?.hertz ?? 0
    guard highest > 0 else { return 0 }
    // Six steps of the fastest period leave no peak out.
    let step = 1 / (6 * highest)
    let count = Int(reach / step)
    var sums = [Double](repeating: 0, count: 2 * count + 1)
    for term in terms {
      let turn = 2 * Double.pi * term.hertz * step
      var value = term.value * Phasor(cos(turn * Double(count)), -sin(turn * Double(count)))
      let advance = Phasor(cos(turn), sin(turn))
      for index in sums.indices {
        sums[index] += value.real
        value = value * advance
      }
    }
    if ignoresSign { for index in sums.indices { sums[index] = abs(sums[index]) } }
    let best = sums.indices.max { sums[$0] < sums[$1] } ?? count
    return refine(terms, from: Double(best - count) * step, step: step, ignoresSign: ignoresSign)
  }

  /// Re Σ terms·exp(jωτ).
  static func sum(of terms: [(hertz: Double, value: Phasor)], at delay: Double) -> Double {
    terms.reduce(0) { total, term in
      let turn = 2 * Double.pi * term.hertz * delay
      return total + term.value.real * cos(turn) - term.value.imaginary * sin(turn)
    }
  }

  /// Narrows a maximum down by thirds.
  private static func refine(
    _ terms: [(hertz: Double, value: Phasor)], from delay: Double, step: Double, ignoresSign: Bool
  ) -> Double {
    func sum(_ delay: Double) -> Double {
      let total = Self.sum(of: terms, at: delay)
      return ignoresSign ? abs(total) : total
    }
    var low = delay - step
    var high = delay + step
    // 50 rounds narrow the interval by a factor of 6e8.
    for _ in 0..<50 {
      let third = (high - low) / 3
      if sum(low + third) < sum(high - third) { low += third } else { high -= third }
    }
    return (low + high) / 2
  }
}
