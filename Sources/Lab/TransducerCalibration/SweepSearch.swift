internal import SignalAnalysis
internal import SystemSupport

/// Locates the two sweeps in a recording.
///
/// The spectrum of the recording is divided by that of the sweep. The inverse transform is the
/// impulse response of the transducer at each sweep: a short peak for each sweep, well above the
/// noise. The peaks must be as far apart as the sweeps of the signal.
struct SweepSearch {
  /// The start times of both sweeps, in seconds, each delayed by the transducer's response.
  typealias Starts = (first: Double, second: Double)

  /// A peak of the impulse response.
  private struct Peak {
    /// The time of the peak, in seconds.
    var time: Double
    var height: Float
  }

  /// The maximum deviation of the second sweep from its nominal time, in seconds. The pause allows
  /// no more.
  static let tolerance = 0.05
  /// The minimum ratio of a peak to the median magnitude.
  private static let minimumProminence = Float(9)
  /// The minimum ratio of the lower to the higher peak.
  private static let minimumSecondPeakRatio = Float(0.2)
  /// The interval around a peak, in seconds, in which its echoes are.
  private static let echoDuration = 0.5

  private let impulseMagnitudes: [Float]
  /// The sample rate of the impulse response.
  private let rate: Double
  private let signal: SweepSignal

  /// Computes the impulse response of a recording that passed its checks.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - signal: The signal that was played.
  init(_ recording: CalibrationRecording, signal: SweepSignal) {
    self.signal = signal
    let sweep = signal.sweep(rate: recording.rate)
    let length = FourierTransform.fastLength(atLeast: recording.samples.count + sweep.count)
    var transform = FourierTransform(length: length)
    let recorded = transform.forward(recording.samples)
    let played = transform.forward(sweep)
    let binWidth = recording.rate / Double(length)
    let firstBin = Int((signal.band.lowerBound / binWidth).rounded(.up))
    let lastBin = min(Int(signal.band.upperBound / binWidth), length / 2)
    let band = firstBin...max(firstBin, lastBin)
    let maximumPower = band.reduce(Float(0)) { max($0, played[$1].power) }
    let regularization = max(1e-4 * maximumPower, .leastNormalMagnitude)
    // Eight samples in the shortest period suffice.
    let reducedLength = FourierTransform.fastLength(atLeast: 8 * (lastBin + 1))
    var inverse = FourierTransform(length: reducedLength)
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: inverse.binCount)
    for index in band {
      let product = recorded[index] * played[index].conjugate
      let scale = 1 / (played[index].power + regularization)
      bins[index] = ComplexNumber(product.real * scale, product.imaginary * scale)
    }
    rate = recording.rate * Double(reducedLength) / Double(length)
    // A sweep that starts later is not complete.
    let count = max(1, Int((recording.duration - 0.9 * signal.sweepDuration) * rate))
    impulseMagnitudes = inverse.backward(bins).prefix(count).map(abs)
  }

  /// Returns the start times of both sweeps.
  ///
  /// - Throws: `unsuitableRecording` without two sweeps, `clockMismatch` for a wrong distance.
  func sweepStarts() throws(CalibrationError) -> Starts {
    let mainPeak = peak(in: 0...Double(impulseMagnitudes.count) / rate)
    let median = impulseMagnitudes.sorted()[impulseMagnitudes.count / 2]
    guard mainPeak.height > Self.minimumProminence * median else { throw missingSweepError }
    let later = peak(around: mainPeak.time + signal.sweepSpacing)
    let earlier = peak(around: mainPeak.time - signal.sweepSpacing)
    let second = later.height >= earlier.height ? later : earlier
    if second.height >= Self.minimumSecondPeakRatio * mainPeak.height {
      return (min(mainPeak.time, second.time), max(mainPeak.time, second.time))
    }
    throw misalignmentError(mainPeak)
  }

  private var missingSweepError: CalibrationError {
    let low = signal.band.lowerBound.text(places: 1)
    let high = signal.band.upperBound.text(places: 1)
    let duration = signal.sweepDuration.text(places: 1)
    return CalibrationError(
      .unsuitableRecording,
      "contains no \(duration) s sweep from \(low) to \(high) Hz above the noise")
  }

  /// Returns the error for a second sweep that is missing or at a wrong distance.
  private func misalignmentError(_ mainPeak: Peak) -> CalibrationError {
    let earlierPeak = peak(in: 0...max(0, mainPeak.time - Self.echoDuration))
    let start = mainPeak.time + Self.echoDuration
    let laterPeak = peak(in: start...max(start, Double(impulseMagnitudes.count) / rate))
    let second = earlierPeak.height > laterPeak.height ? earlierPeak : laterPeak
    guard second.height >= Self.minimumSecondPeakRatio * mainPeak.height else {
      return CalibrationError(
        .unsuitableRecording,
        """
        contains only one sweep, at \(mainPeak.time.text(places: 2)) s; start \
        recording before the first sweep, and stop after the second
        """)
    }
    let distance = abs(second.time - mainPeak.time).text(places: 2)
    return CalibrationError(
      .clockMismatch,
      """
      contains sweeps that are \(distance) s apart instead of \
      \(signal.sweepSpacing.text(places: 2)) s; check the sample rate and the signal options
      """)
  }

  private func peak(around time: Double) -> Peak {
    guard time + Self.tolerance >= 0 else { return Peak(time: time, height: 0) }
    return peak(in: max(0, time - Self.tolerance)...max(0, time + Self.tolerance))
  }

  private func peak(in seconds: ClosedRange<Double>) -> Peak {
    let first = min(impulseMagnitudes.count, Int(seconds.lowerBound * rate))
    let end = min(impulseMagnitudes.count, max(first, Int(seconds.upperBound * rate) + 1))
    guard let index = (first..<end).max(by: { impulseMagnitudes[$0] < impulseMagnitudes[$1] })
    else { return Peak(time: seconds.lowerBound, height: 0) }
    return Peak(time: Double(index) / rate, height: impulseMagnitudes[index])
  }
}
