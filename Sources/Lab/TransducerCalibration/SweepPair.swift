internal import CMath
internal import SignalAnalysis

/// The spectra of both sweeps in a recording, scaled to the same level.
///
/// The first sweep is quieter by a known factor. In a linear system, both spectra are equal after
/// scaling, except for noise:
///
/// - The delay between them shows the error of the recorder's clock.
/// - Their difference shows noise and nonlinear distortion.
/// - Their weighted mean is the best estimate of the response.
/// - Their extrapolation to zero level is the small-signal response of a spring that stiffens.
struct SweepPair {
  /// The values of the played and the recorded spectra at one frequency.
  struct Bin: BitwiseCopyable {
    var hertz: Double
    var playedValue: Phasor
    /// The quiet sweep, scaled to the level of the loud sweep.
    var quietValue: Phasor
    var loudValue: Phasor
  }

  /// A way to combine the two sweeps into one response.
  enum SweepCombination {
    /// The mean of both sweeps, weighted by the inverse of their noise.
    case weightedMean
    /// The quiet sweep only.
    case quiet
    /// The loud sweep only.
    case loud
    /// The extrapolation to infinitely small movement: 4/3 · quiet − 1/3 · loud.
    ///
    /// The stiffness of a spring changes in proportion to the square of the level, and the sweeps
    /// have the levels 1/2 and 1.
    case smallSignal
  }

  /// The duration of an excerpt before its sweep, in seconds.
  ///
  /// A detected sweep may have started earlier.
  static let preRollSeconds = 0.25
  /// The duration of an excerpt after its sweep, in seconds.
  ///
  /// The rest of the pause belongs to the next sweep's pre-roll.
  static let postRollSeconds = 1.1

  /// The spectral bins in the frequency band of the sweep.
  let bins: [Bin]
  /// The recorder's sample rate in hertz, relative to the player's clock.
  let recorderSampleRate: Double
  /// The start of the first excerpt in the recording, in seconds of the player's clock.
  let excerptStartSeconds: Double

  /// Computes the spectra of both sweeps in a recording.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - signal: The signal that was played.
  ///   - rate: The recorder's sample rate, including its error.
  ///   - firstSweep: The start of the first sweep, in seconds.
  init(
    _ recording: CalibrationRecording, signal: SweepSignal, recorderSampleRate rate: Double,
    firstSweep: Double
  ) {
    let playedSweep = signal.sweep(rate: rate)
    let firstFrame = Int(((firstSweep - Self.preRollSeconds) * rate).rounded())
    let spacingFrames = signal.sweepSpacingSeconds * rate
    let wholeSpacingFrames = Int(spacingFrames.rounded())
    let excerptFrameCount = Int(
      (Self.preRollSeconds + signal.sweepSeconds + Self.postRollSeconds) * rate)
    var excerptTransform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: excerptFrameCount))
    let playedBins = excerptTransform.forward(playedSweep)
    let quietBins = excerptTransform.forward(
      Self.excerpt(of: recording.samples, from: firstFrame, count: excerptFrameCount))
    let loudBins = excerptTransform.forward(
      Self.excerpt(
        of: recording.samples, from: firstFrame + wholeSpacingFrames, count: excerptFrameCount))
    let binWidthHertz = rate / Double(excerptTransform.length)
    let firstBin = Int((signal.bandHertz.lowerBound / binWidthHertz).rounded(.up))
    let lastBin = min(
      Int(signal.bandHertz.upperBound / binWidthHertz), excerptTransform.binCount - 1)
    // The second excerpt starts on a whole frame, a fraction of a frame from the sweep's start.
    let subframeOffsetSeconds = (spacingFrames - Double(wholeSpacingFrames)) / rate
    let quietGain = 1 / SweepSignal.quietToLoudAmplitudeRatio
    bins = (firstBin...max(firstBin, lastBin)).map { index in
      let hertz = Double(index) * binWidthHertz
      let angle = 2 * Double.pi * hertz * subframeOffsetSeconds
      return Bin(
        hertz: hertz, playedValue: Phasor(playedBins[index]),
        quietValue: Phasor(quietBins[index]) * quietGain,
        loudValue: Phasor(loudBins[index]) * Phasor(cos(angle), sin(angle)))
    }
    self.recorderSampleRate = rate
    excerptStartSeconds = Double(firstFrame) / rate
  }

  /// The delay of the second sweep relative to its nominal start, in seconds.
  ///
  /// The nominal start is relative to the first sweep.
  var secondSweepDelaySeconds: Double {
    // Bins within a hertz rotate together for all delays of the search.
    let bandwidthHertz = (bins.last?.hertz ?? 1) - (bins.first?.hertz ?? 0)
    let binsPerHertz = max(1, Int(Double(bins.count) / bandwidthHertz))
    let rotationTerms = stride(from: 0, to: bins.count, by: binsPerHertz).map { start in
      let group = bins[start..<min(start + binsPerHertz, bins.count)]
      return (
        hertz: group.reduce(0) { $0 + $1.hertz } / Double(group.count),
        value: group.reduce(Phasor.zero) { $0 + $1.loudValue * $1.quietValue.conjugate }
      )
    }
    return DelaySearch.delay(
      of: rotationTerms, within: SweepSearch.secondSweepToleranceSeconds, ignoresSign: false)
  }

  /// The power of the difference between the scaled sweeps, relative to the power of a sweep.
  var sweepDifferencePowerRatio: Double {
    var differencePower = 0.0
    var sweepPower = 0.0
    for bin in bins {
      differencePower += (bin.quietValue - bin.loudValue).power
      sweepPower += (bin.quietValue.power + bin.loudValue.power) / 2
    }
    return sweepPower > 0 ? differencePower / sweepPower : 1
  }

  /// The ratio of the loud sweep's amplitude to the amplitude expected from the quiet sweep.
  ///
  /// The ratio is 1 for a constant gain.
  var loudToExpectedAmplitudeRatio: Double {
    let quietPower = bins.reduce(0) { $0 + $1.quietValue.power }
    let loudPower = bins.reduce(0) { $0 + $1.loudValue.power }
    return quietPower > 0 ? (loudPower / quietPower).squareRoot() : 0
  }

  /// Returns the frequency response of a combination of both sweeps, with a delay removed.
  ///
  /// - Parameters:
  ///   - combination: The combination of both sweeps.
  ///   - delay: The delay to remove, in seconds from `excerptStartSeconds`.
  func response(
    _ combination: SweepCombination = .weightedMean, removingDelay delay: Double
  ) -> MeasuredResponse {
    MeasuredResponse(
      bins: bins.map { bin in
        let angle = 2 * Double.pi * bin.hertz * delay
        let value =
          switch combination {
          case .weightedMean:
            bin.quietValue * Self.quietSweepWeight + bin.loudValue * (1 - Self.quietSweepWeight)
          case .quiet: bin.quietValue
          case .loud: bin.loudValue
          case .smallSignal: bin.quietValue * (4.0 / 3) - bin.loudValue * (1.0 / 3)
          }
        return (bin.hertz, value * Phasor(cos(angle), sin(angle)), bin.playedValue)
      }, minimumHertz: bins.first?.hertz ?? 1)
  }

  /// The noise in the weighted mean of the sweeps, estimated from the difference between them.
  var noiseResponse: MeasuredResponse {
    // The ratio of the variance of the weighted mean to that of the difference.
    let noiseAmplitudeRatio = (Self.quietSweepWeight * (1 - Self.quietSweepWeight)).squareRoot()
    return MeasuredResponse(
      bins: bins.map {
        ($0.hertz, ($0.quietValue - $0.loudValue) * noiseAmplitudeRatio, $0.playedValue)
      },
      minimumHertz: bins.first?.hertz ?? 1)
  }

  /// The weight of the quiet sweep in the weighted mean.
  ///
  /// The noise of the quiet sweep is scaled up together with the sweep.
  private static let quietSweepWeight: Double = {
    let powerRatio = SweepSignal.quietToLoudAmplitudeRatio * SweepSignal.quietToLoudAmplitudeRatio
    return powerRatio / (1 + powerRatio)
  }()

  /// Returns an excerpt of a recording with its mean subtracted, padded with silence.
  private static func excerpt(of samples: [Float], from start: Int, count: Int) -> [Float] {
    let sampleRange = max(0, min(start, samples.count))..<max(0, min(start + count, samples.count))
    let meanValue =
      samples[sampleRange].reduce(0) { $0 + Double($1) } / Double(max(1, sampleRange.count))
    var centeredSamples = [Float](repeating: 0, count: count)
    for frame in sampleRange {
      centeredSamples[frame - start] = samples[frame] - Float(meanValue)
    }
    return centeredSamples
  }
}
