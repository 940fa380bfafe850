internal import SignalAnalysis
internal import SystemSupport

/// Locates the two sweeps in a recording.
///
/// The spectrum of the recording is divided by that of the sweep. The inverse transform is the
/// impulse response of the transducer at each sweep: a short peak for each sweep, well above the
/// noise. The peaks must be as far apart as the sweeps of the signal.
struct SweepSearch {
  /// The start times of both sweeps, in seconds.
  ///
  /// The times include the delay of the transducer's response.
  typealias SweepStarts = (first: Double, second: Double)

  /// A peak of the impulse response.
  private struct Peak {
    /// The time of the peak, in seconds.
    var timeSeconds: Double
    var impulseMagnitude: Float
  }

  /// The maximum deviation of the second sweep from its nominal time, in seconds.
  ///
  /// The pause allows no more.
  static let secondSweepToleranceSeconds = 0.05
  /// The minimum ratio of a peak's magnitude to the median magnitude of the impulse response.
  private static let minimumPeakToMedianRatio = Float(9)
  /// The minimum ratio of the lower to the higher of the two sweeps' peaks.
  private static let minimumLowerToHigherPeakRatio = Float(0.2)
  /// The interval around a peak that contains its echoes, in seconds.
  private static let echoIntervalSeconds = 0.5

  private let impulseMagnitudes: [Float]
  /// The sample rate of the impulse response, in hertz.
  private let impulseSampleRate: Double
  private let signal: SweepSignal

  /// Computes the impulse response from a recording.
  ///
  /// The recording must have passed the checks of its length and rate.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - signal: The signal that was played.
  init(_ recording: CalibrationRecording, signal: SweepSignal) {
    self.signal = signal
    let playedSweep = signal.sweep(rate: recording.sampleRate)
    let transformLength = FourierTransform.fastLength(
      atLeast: recording.samples.count + playedSweep.count)
    var transform = FourierTransform(length: transformLength)
    let recordedBins = transform.forward(recording.samples)
    let playedBins = transform.forward(playedSweep)
    let binWidthHertz = recording.sampleRate / Double(transformLength)
    let firstBin = Int((signal.bandHertz.lowerBound / binWidthHertz).rounded(.up))
    let lastBin = min(Int(signal.bandHertz.upperBound / binWidthHertz), transformLength / 2)
    let bandBins = firstBin...max(firstBin, lastBin)
    let maximumPower = bandBins.reduce(Float(0)) { max($0, playedBins[$1].power) }
    let regularization = max(1e-4 * maximumPower, .leastNormalMagnitude)
    // Eight samples in the shortest period suffice.
    let reducedTransformLength = FourierTransform.fastLength(atLeast: 8 * (lastBin + 1))
    var inverseTransform = FourierTransform(length: reducedTransformLength)
    var impulseBins = [ComplexNumber](repeating: ComplexNumber(), count: inverseTransform.binCount)
    for index in bandBins {
      let product = recordedBins[index] * playedBins[index].conjugate
      let scale = 1 / (playedBins[index].power + regularization)
      impulseBins[index] = ComplexNumber(product.real * scale, product.imaginary * scale)
    }
    impulseSampleRate =
      recording.sampleRate * Double(reducedTransformLength) / Double(transformLength)
    // A sweep that starts later is not complete.
    let searchedSampleCount = max(
      1, Int((recording.durationSeconds - 0.9 * signal.sweepSeconds) * impulseSampleRate))
    impulseMagnitudes = inverseTransform.backward(impulseBins).prefix(searchedSampleCount).map(abs)
  }

  /// Returns the start times of both sweeps.
  ///
  /// - Throws: `unsuitableRecording` without two sweeps, `clockMismatch` for a wrong distance.
  func sweepStarts() throws(CalibrationError) -> SweepStarts {
    let mainPeak = peak(in: 0...Double(impulseMagnitudes.count) / impulseSampleRate)
    let medianMagnitude = impulseMagnitudes.sorted()[impulseMagnitudes.count / 2]
    guard mainPeak.impulseMagnitude > Self.minimumPeakToMedianRatio * medianMagnitude else {
      throw missingSweepError
    }
    let laterPeak = peak(around: mainPeak.timeSeconds + signal.sweepSpacingSeconds)
    let earlierPeak = peak(around: mainPeak.timeSeconds - signal.sweepSpacingSeconds)
    let secondPeak =
      laterPeak.impulseMagnitude >= earlierPeak.impulseMagnitude ? laterPeak : earlierPeak
    if secondPeak.impulseMagnitude >= Self.minimumLowerToHigherPeakRatio * mainPeak.impulseMagnitude
    {
      return (
        min(mainPeak.timeSeconds, secondPeak.timeSeconds),
        max(mainPeak.timeSeconds, secondPeak.timeSeconds)
      )
    }
    throw misalignmentError(mainPeak)
  }

  private var missingSweepError: CalibrationError {
    let lowestHertzText = signal.bandHertz.lowerBound.text(places: 1)
    let highestHertzText = signal.bandHertz.upperBound.text(places: 1)
    let sweepSecondsText = signal.sweepSeconds.text(places: 1)
    return CalibrationError(
      .unsuitableRecording,
      """
      contains no \(sweepSecondsText) s sweep from \(lowestHertzText) to \(highestHertzText) Hz \
      above the noise
      """)
  }

  /// Returns the error for a second sweep that is missing or not at its nominal time.
  private func misalignmentError(_ mainPeak: Peak) -> CalibrationError {
    let earlierPeak = peak(in: 0...max(0, mainPeak.timeSeconds - Self.echoIntervalSeconds))
    let laterStartSeconds = mainPeak.timeSeconds + Self.echoIntervalSeconds
    let laterPeak = peak(
      in:
        laterStartSeconds...max(
          laterStartSeconds, Double(impulseMagnitudes.count) / impulseSampleRate))
    let secondPeak =
      earlierPeak.impulseMagnitude > laterPeak.impulseMagnitude ? earlierPeak : laterPeak
    guard
      secondPeak.impulseMagnitude >= Self.minimumLowerToHigherPeakRatio * mainPeak.impulseMagnitude
    else {
      return CalibrationError(
        .unsuitableRecording,
        """
        contains only one sweep, at \(mainPeak.timeSeconds.text(places: 2)) s; start \
        recording before the first sweep, and stop after the second
        """)
    }
    let distanceText = abs(secondPeak.timeSeconds - mainPeak.timeSeconds).text(places: 2)
    return CalibrationError(
      .clockMismatch,
      """
      contains sweeps that are \(distanceText) s apart instead of \
      \(signal.sweepSpacingSeconds.text(places: 2)) s; check the sample rate and the signal options
      """)
  }

  private func peak(around time: Double) -> Peak {
    guard time + Self.secondSweepToleranceSeconds >= 0 else {
      return Peak(timeSeconds: time, impulseMagnitude: 0)
    }
    return peak(
      in: max(
        0, time - Self.secondSweepToleranceSeconds)...max(
          0, time + Self.secondSweepToleranceSeconds))
  }

  private func peak(in seconds: ClosedRange<Double>) -> Peak {
    let firstIndex = min(impulseMagnitudes.count, Int(seconds.lowerBound * impulseSampleRate))
    let endIndex = min(
      impulseMagnitudes.count, max(firstIndex, Int(seconds.upperBound * impulseSampleRate) + 1))
    guard
      let index = (firstIndex..<endIndex).max(by: { impulseMagnitudes[$0] < impulseMagnitudes[$1] })
    else { return Peak(timeSeconds: seconds.lowerBound, impulseMagnitude: 0) }
    return Peak(
      timeSeconds: Double(index) / impulseSampleRate, impulseMagnitude: impulseMagnitudes[index])
  }
}
