internal import CMath
internal import SignalAnalysis

/// Both sweeps of a recording cut out and brought to one level, and the clock error and noise between them.
struct SweepPair {
  /// A bin of the band.
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

  /// The bins of the band, by the recorder's clock as it is.
  let bins: [Bin]
  /// Frames per second of the recorder by the player's clock.
  let rate: Double
  /// The second at which the cut begins, by that rate.
  let start: Double

  /// Cuts out and transforms.
  ///
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
    var whole = 0.0
    for bin in bins {
      different += (bin.first - bin.second).power
      whole += (bin.first.power + bin.second.power) / 2
    }
    return whole > 0 ? different / whole : 1
  }

  /// By what factor the second sweep is stronger than the first would have it; 1 where nothing changed its gain.
  var levelRatio: Double {
    let first = bins.reduce(0) { $0 + $1.first.power }
    let second = bins.reduce(0) { $0 + $1.second.power }
    return first > 0 ? (second / first).squareRoot() : 0
  }

  /// What a response is taken from.
  enum Part {
    /// Both, each by the inverse of its noise.
    case both
    case quiet
    case loud
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

extension Phasor {
  /// The same in double precision.
  init(_ number: ComplexNumber) { self.init(Double(number.real), Double(number.imaginary)) }
}
