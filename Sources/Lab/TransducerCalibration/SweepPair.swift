internal import CMath
internal import SignalAnalysis

/// The spectra of both sweeps of a recording, scaled to equal level.
///
/// The first sweep is quieter by a known factor. In a linear system, both spectra are equal after
/// scaling, except for noise:
///
/// - The delay between them shows the error of the recorder's clock.
/// - Their difference shows noise and nonlinear distortion.
/// - Their weighted mean is the best estimate of the response.
/// - Their extrapolation to zero level is the small-signal response of a spring that stiffens.
struct SweepPair {
  /// The values of all spectra at a frequency.
  struct Bin: BitwiseCopyable {
    var hertz: Double
    var played: Phasor
    /// The quiet sweep, scaled to the level of the loud sweep.
    var quiet: Phasor
    var loud: Phasor
  }

  /// A combination of both sweeps.
  enum Combination {
    /// The mean of both sweeps, weighted by the inverse of their noise.
    case weightedMean
    /// The response to the quiet sweep only.
    case quiet
    /// The response to the loud sweep only.
    case loud
    /// The extrapolation to zero movement. The stiffness of a spring changes in proportion to the
    /// square of the level, so with levels of 1/2 and 1, it is 4/3 · quiet − 1/3 · loud.
    case smallSignal
  }

  /// The duration of the excerpt before a sweep, in seconds. A detected sweep may have started
  /// earlier.
  static let preRollSeconds = 0.25
  /// The duration of the excerpt after a sweep, in seconds. The rest of the pause belongs to the
  /// next sweep's pre-roll.
  static let postRollSeconds = 1.1

  /// The bins in the band of the sweep.
  let bins: [Bin]
  /// The recorder's sample rate in hertz, measured by the player's clock.
  let rate: Double
  /// The start of the excerpt in seconds, at that rate.
  let start: Double

  /// Transforms both sweeps of a recording.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - signal: The signal that was played.
  ///   - rate: The recorder's sample rate, including its error.
  ///   - firstSweep: The start of the first sweep, in seconds.
  init(_ recording: CalibrationRecording, signal: SweepSignal, rate: Double, firstSweep: Double) {
    let sweep = signal.sweep(rate: rate)
    let firstFrame = Int(((firstSweep - Self.preRollSeconds) * rate).rounded())
    let spacing = signal.sweepSpacing * rate
    let wholeSpacing = Int(spacing.rounded())
    let count = Int((Self.preRollSeconds + signal.sweepDuration + Self.postRollSeconds) * rate)
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: count))
    let played = transform.forward(sweep)
    let quiet = transform.forward(
      Self.excerpt(of: recording.samples, from: firstFrame, count: count))
    let loud = transform.forward(
      Self.excerpt(of: recording.samples, from: firstFrame + wholeSpacing, count: count))
    let binWidth = rate / Double(transform.length)
    let firstBin = Int((signal.band.lowerBound / binWidth).rounded(.up))
    let lastBin = min(Int(signal.band.upperBound / binWidth), transform.binCount - 1)
    // The second excerpt starts on a whole frame, a fraction of a frame from the sweep's start.
    let offset = (spacing - Double(wholeSpacing)) / rate
    let quietGain = 1 / SweepSignal.quietRatio
    bins = (firstBin...max(firstBin, lastBin)).map { index in
      let hertz = Double(index) * binWidth
      let angle = 2 * Double.pi * hertz * offset
      return Bin(
        hertz: hertz, played: Phasor(played[index]), quiet: Phasor(quiet[index]) * quietGain,
        loud: Phasor(loud[index]) * Phasor(cos(angle), sin(angle)))
    }
    self.rate = rate
    start = Double(firstFrame) / rate
  }

  /// The delay of the second sweep relative to its nominal time, in seconds.
  var clockSkew: Double {
    // Bins within a hertz rotate together for all delays of the search.
    let bandwidth = (bins.last?.hertz ?? 1) - (bins.first?.hertz ?? 0)
    let width = max(1, Int(Double(bins.count) / bandwidth))
    let terms = stride(from: 0, to: bins.count, by: width).map { start in
      let group = bins[start..<min(start + width, bins.count)]
      return (
        hertz: group.reduce(0) { $0 + $1.hertz } / Double(group.count),
        value: group.reduce(Phasor.zero) { $0 + $1.loud * $1.quiet.conjugate }
      )
    }
    return DelaySearch.delay(of: terms, within: SweepSearch.tolerance, ignoresSign: false)
  }

  /// The power of the difference of the sweeps, relative to the power of a sweep.
  var differencePowerRatio: Double {
    var difference = 0.0
    var power = 0.0
    for bin in bins {
      difference += (bin.quiet - bin.loud).power
      power += (bin.quiet.power + bin.loud.power) / 2
    }
    return power > 0 ? difference / power : 1
  }

  /// The amplitude of the loud sweep relative to that expected from the quiet sweep; 1 for a
  /// constant gain.
  var levelRatio: Double {
    let quietPower = bins.reduce(0) { $0 + $1.quiet.power }
    let loudPower = bins.reduce(0) { $0 + $1.loud.power }
    return quietPower > 0 ? (loudPower / quietPower).squareRoot() : 0
  }

  /// Returns the response to a combination of both sweeps, without a delay.
  ///
  /// - Parameters:
  ///   - combination: The combination of both sweeps.
  ///   - delay: The delay to remove, in seconds from `start`.
  func response(
    _ combination: Combination = .weightedMean, removingDelay delay: Double
  ) -> MeasuredResponse {
    MeasuredResponse(
      bins: bins.map { bin in
        let angle = 2 * Double.pi * bin.hertz * delay
        let value =
          switch combination {
          case .weightedMean: bin.quiet * Self.quietWeight + bin.loud * (1 - Self.quietWeight)
          case .quiet: bin.quiet
          case .loud: bin.loud
          case .smallSignal: bin.quiet * (4.0 / 3) - bin.loud * (1.0 / 3)
          }
        return (bin.hertz, value * Phasor(cos(angle), sin(angle)), bin.played)
      }, minimumHertz: bins.first?.hertz ?? 1)
  }

  /// The noise in the weighted mean, estimated from the difference of the sweeps.
  var noiseResponse: MeasuredResponse {
    // The ratio of the variance of the weighted mean to that of the difference.
    let ratio = (Self.quietWeight * (1 - Self.quietWeight)).squareRoot()
    return MeasuredResponse(
      bins: bins.map { ($0.hertz, ($0.quiet - $0.loud) * ratio, $0.played) },
      minimumHertz: bins.first?.hertz ?? 1)
  }

  /// The weight of the quiet sweep in the mean. Its noise is scaled together with the sweep.
  private static let quietWeight: Double = {
    let power = SweepSignal.quietRatio * SweepSignal.quietRatio
    return power / (1 + power)
  }()

  /// Returns an excerpt of a recording without its mean, padded with silence.
  private static func excerpt(of samples: [Float], from start: Int, count: Int) -> [Float] {
    let range = max(0, min(start, samples.count))..<max(0, min(start + count, samples.count))
    let mean = samples[range].reduce(0) { $0 + Double($1) } / Double(max(1, range.count))
    var excerpt = [Float](repeating: 0, count: count)
    for frame in range {
      excerpt[frame - start] = samples[frame] - Float(mean)
    }
    return excerpt
  }
}
