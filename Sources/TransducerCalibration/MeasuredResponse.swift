internal import CMath
internal import SignalAnalysis

/// What came back of a sweep by frequency, in narrow groups of equal musical width.
struct MeasuredResponse {
  struct Group: BitwiseCopyable {
    /// The mean frequency, by the sweep's power.
    var hertz: Double
    var gain: Phasor
    var weight: Double
  }

  /// Groups in an octave: a tenth of the width of a resonance with a quality of 14.
  static let groupsPerOctave = 96.0

  /// The groups by rising frequency; those without a bin are left out.
  let groups: [Group]
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

  func within(_ band: ClosedRange<Double>) -> MeasuredResponse {
    MeasuredResponse(groups.filter { band.contains($0.hertz) })
  }

  /// The response relative to another in the same groups, weighted as the recording is.
  func divided(by other: MeasuredResponse) -> MeasuredResponse {
    MeasuredResponse(
      zip(groups, other.groups).map { own, other in
        Group(hertz: own.hertz, gain: own.gain / other.gain, weight: own.weight * other.gain.power)
      })
  }

  var power: Double { groups.reduce(0) { $0 + $1.weight * $1.gain.power } }
}

/// A complex number in double precision.
struct Phasor: Equatable, BitwiseCopyable {
  var real, imaginary: Double

  init(_ real: Double, _ imaginary: Double) { (self.real, self.imaginary) = (real, imaginary) }

  static let zero = Phasor(0, 0)

  var power: Double { real * real + imaginary * imaginary }
  var magnitude: Double { power.squareRoot() }
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

/// Both sweeps of a recording cut out and brought to one level, and the clock error and noise between them.
struct SweepPair {
  struct Bin: BitwiseCopyable {
    var hertz: Double
    var played: Phasor
    var first: Phasor
    var second: Phasor
  }

  /// Seconds in front of a sweep that are cut out with it, since a peak is later than its beginning.
  static let preRoll = 0.25
  /// Seconds of the pause that are cut out behind it; the rest is the lead of the next.
  static let postRoll = 1.1

  let bins: [Bin]
  /// Frames per second of the recorder by the player's clock.
  let rate: Double
  /// The second at which the cut begins, by that rate.
  let start: Double

  /// - Parameters:
  ///   - rate: Frames per second, the recorder's error included.
  ///   - first: Second at which the first sweep is.
  init(_ recording: CalibrationRecording, signal: SweepSignal, rate: Double, first: Double) {
    let sweep = signal.sweep(rate: rate)
    let beginning = Int(((first - Self.preRoll) * rate).rounded())
    let gap = signal.sweepSpacing * rate
    let wholeGap = Int(gap.rounded())
    let count = Int((Self.preRoll + signal.duration + Self.postRoll) * rate)
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: count))
    let played = transform.forward(sweep)
    let one = transform.forward(Self.cut(recording.samples, from: beginning, count: count))
    let other = transform.forward(Self.cut(recording.samples, from: beginning + wholeGap, count: count))
    let spacing = rate / Double(transform.length)
    let lowest = Int((signal.band.lowerBound / spacing).rounded(.up))
    let highest = min(Int(signal.band.upperBound / spacing), transform.binCount - 1)
    // The second cut begins a part of a frame off its place.
    let offset = (gap - Double(wholeGap)) / rate
    let raise = 1 / SweepSignal.quietShare
    bins = (lowest...max(lowest, highest)).map { index in
      let hertz = Double(index) * spacing
      let turn = 2 * Double.pi * hertz * offset
      return Bin(
        hertz: hertz, played: Phasor(played[index]), first: Phasor(one[index]) * raise,
        second: Phasor(other[index]) * Phasor(cos(turn), sin(turn)))
    }
    self.rate = rate
    start = Double(beginning) / rate
  }

  /// Seconds by which the second sweep is later than it should be.
  var clockSkew: Double {
    // Neighbours within a hertz turn together for all delays that are looked for.
    let width = max(1, Int(Double(bins.count) / ((bins.last?.hertz ?? 1) - (bins.first?.hertz ?? 0))))
    let terms = stride(from: 0, to: bins.count, by: width).map { start in
      let run = bins[start..<min(start + width, bins.count)]
      return (
        hertz: run.reduce(0) { $0 + $1.hertz } / Double(run.count),
        value: run.reduce(Phasor.zero) { $0 + $1.second * $1.first.conjugate }
      )
    }
    return DelaySearch.delay(of: terms, within: SweepSearch.tolerance, ignoresSign: false)
  }

  /// The power in which the sweeps differ, as a part of the power of one.
  var difference: Double {
    var different = 0.0
    var power = 0.0
    for bin in bins {
      different += (bin.first - bin.second).power
      power += (bin.first.power + bin.second.power) / 2
    }
    return power > 0 ? different / power : 1
  }

  /// By what factor the second sweep is stronger than the first would have it; 1 where nothing changed its gain.
  var levelRatio: Double {
    let first = bins.reduce(0) { $0 + $1.first.power }
    let second = bins.reduce(0) { $0 + $1.second.power }
    return first > 0 ? (second / first).squareRoot() : 0
  }

  enum Part {
    /// Both, each by the inverse of its noise.
    case both
    case quiet
    case loud
    /// What both lead to where movement vanishes: a spring that stiffens does so with the square of the level.
    case still
  }

  /// A response at a delay taken out, in seconds behind `start`.
  func response(_ part: Part = .both, without delay: Double) -> MeasuredResponse {
    MeasuredResponse(
      bins: bins.map { bin in
        let turn = 2 * Double.pi * bin.hertz * delay
        let value =
          switch part {
          case .both: bin.first * Self.quietWeight + bin.second * (1 - Self.quietWeight)
          case .quiet: bin.first
          case .loud: bin.second
          case .still: bin.first * (4.0 / 3) - bin.second * (1.0 / 3)
          }
        return (bin.hertz, value * Phasor(cos(turn), sin(turn)), bin.played)
      }, lowest: bins.first?.hertz ?? 1)
  }

  /// What is noise in the mean of both, from their difference.
  var noise: MeasuredResponse {
    // The variance of the weighted mean over that of the difference.
    let share = (Self.quietWeight * (1 - Self.quietWeight)).squareRoot()
    return MeasuredResponse(
      bins: bins.map { ($0.hertz, ($0.first - $0.second) * share, $0.played) }, lowest: bins.first?.hertz ?? 1)
  }

  /// The quiet sweep's weight in the mean: its noise is raised with it.
  private static let quietWeight: Double = {
    let power = SweepSignal.quietShare * SweepSignal.quietShare
    return power / (1 + power)
  }()

  /// A part of a recording around its mean; what lies outside is silence.
  private static func cut(_ samples: [Float], from start: Int, count: Int) -> [Float] {
    let range = max(0, min(start, samples.count))..<max(0, min(start + count, samples.count))
    let mean = samples[range].reduce(0) { $0 + Double($1) } / Double(max(1, range.count))
    var part = [Float](repeating: 0, count: count)
    for frame in range { part[frame - start] = samples[frame] - Float(mean) }
    return part
  }
}

extension Phasor { init(_ number: ComplexNumber) { self.init(Double(number.real), Double(number.imaginary)) } }
