internal import CMath

/// The onsets of transients and of continuous events in a signal, sorted by time.
///
/// An onset is a time at which a signal grows unpredictably and reaches half of its level within 30
/// ms. Slower rises count as fades. A burst on a steady tone is an onset even if its opposite phase
/// lowers the level.
///
/// 1. The signal is decimated to its tactile band, below 0.7 kHz.
/// 2. A linear predictor, fitted to the last 50 ms, predicts each sample 5 ms ahead. Tones and
///    their fades are predictable; onsets are not.
/// 3. At each large prediction error, the change point is located, and a burst on a steady tone or
///    an ordinary onset is confirmed from the levels before and after.
/// 4. Onsets closer than 9 ms are merged, as are onsets within a period of a slow wave, or within
///    20 ms while the level keeps rising.
public struct Onsets: Equatable, Sendable, RandomAccessCollection {
  private let onsets: [Onset]

  /// Finds the onsets in the mean of a signal's channels. Non-finite samples count as silence.
  public init(in signal: Signal) {
    let bandSignal = TactileBandSignal(
      of: NonFiniteSamples.zeroingInvalidSamples(in: signal.mono), rate: signal.rate)
    var linearPredictor = LinearPredictor(bandSignal.samples)
    let predictionErrorMagnitudes = linearPredictor.predictionErrors().map(abs)
    let onsetSearch = OnsetSearch(
      samples: bandSignal.samples.map(Double.init),
      magnitudes: bandSignal.samples.map { Double(abs($0)) },
      predictionErrors: predictionErrorMagnitudes,
      sampleRate: bandSignal.decimatedRate)
    onsets = onsetSearch.onsets()
  }

  /// The position of the first onset: 0.
  public var startIndex: Int { 0 }
  /// The number of onsets.
  public var endIndex: Int { onsets.count }
  /// Returns the onset at a position.
  public subscript(position: Int) -> Onset { onsets[position] }
}

/// A search for onsets in the magnitudes and prediction errors of a decimated signal.
private struct OnsetSearch {
  /// The minimum interval between two onsets, in seconds.
  static let minimumOnsetSpacingSeconds = 0.009
  /// The maximum period of a slow wave that has only one onset, in seconds.
  static let maximumWavePeriodSeconds = 0.05
  /// The maximum time from an onset until half of its level is reached, in seconds. A slower rise
  /// is a fade.
  static let maximumAttackSeconds = 0.03
  /// The minimum duration of a pause, in seconds.
  ///
  /// After a pause, an onset need not exceed the level before the pause.
  static let minimumPauseSeconds = 0.0013
  /// The maximum duration of a burst on a tone, in seconds.
  static let maximumBurstSeconds = 0.045
  /// The minimum amplitude of a burst on a tone, relative to the amplitude of the tone.
  static let minimumBurstToToneRatio = 0.3
  /// The minimum prediction error at an onset, relative to the level after the onset.
  static let minimumErrorToLevelRatio = 0.3
  /// The minimum ratio of the level after an onset to the level before it.
  static let minimumLevelGrowthFactor = 1.2
  /// The minimum ratio of the prediction error at an onset to the median error before it. In noise,
  /// the ratio reaches 5 by chance.
  static let minimumErrorToMedianErrorRatio = 7.0
  /// The minimum level of an onset relative to the signal's peak: −46 dB.
  static let minimumOnsetToPeakRatio = 0.005
  /// The minimum amplitude of an onset: about 16 quantization steps at 16 bits.
  static let minimumOnsetAmplitude = 5e-4

  /// The samples of the decimated signal.
  let samples: [Double]
  /// The magnitudes of the decimated samples.
  let magnitudes: [Double]
  /// The magnitudes of the prediction errors.
  let predictionErrors: [Double]
  /// The sample rate of the decimated signal, in hertz.
  let sampleRate: Double

  /// Returns all onsets of the signal, sorted by time.
  func onsets() -> [Onset] {
    let amplitudeFloor = max(
      Self.minimumOnsetAmplitude, Self.minimumOnsetToPeakRatio * (magnitudes.max() ?? 0))
    var detectedOnsets: [Onset] = []
    var searchIndex = 0
    while searchIndex < predictionErrors.count {
      guard predictionErrors[searchIndex] > amplitudeFloor else {
        searchIndex += 1
        continue
      }
      let change = energyChangeFrame(near: searchIndex)
      let burst = burstOnTone(at: change, floor: amplitudeFloor)
      if let onset = burst?.onset ?? onsetCandidate(at: change, floor: amplitudeFloor),
        onset.timeSeconds - (detectedOnsets.last?.timeSeconds ?? -1)
          > Self.minimumOnsetSpacingSeconds,
        !isContinuation(of: detectedOnsets.last, onset)
      {
        detectedOnsets.append(onset)
        searchIndex =
          max(searchIndex, Int(onset.timeSeconds * sampleRate))
          + frameCount(seconds: Self.minimumOnsetSpacingSeconds)
        searchIndex = max(searchIndex, change + (burst?.length ?? 0))
      } else {
        searchIndex += 1
      }
    }
    return detectedOnsets
  }

  /// Returns true if an onset belongs to the same event as the previous onset.
  ///
  /// This is the case if their distance is less than a period of the wave that starts at the later
  /// one, or less than 20 ms while the level keeps rising.
  private func isContinuation(of lastOnset: Onset?, _ onset: Onset) -> Bool {
    guard let lastOnset, onset.timeSeconds - lastOnset.timeSeconds < Self.maximumWavePeriodSeconds
    else { return false }
    let lastOnsetFrame = Int(lastOnset.timeSeconds * sampleRate)
    let onsetFrame = Int(onset.timeSeconds * sampleRate)
    let repetitionRange =
      onsetFrame..<min(
        samples.count, onsetFrame + frameCount(seconds: Self.maximumWavePeriodSeconds))
    let zeroCrossings = repetitionRange.dropFirst().filter { samples[$0 - 1] * samples[$0] < 0 }
      .prefix(2)
    if zeroCrossings.count == 2,
      onset.timeSeconds - lastOnset.timeSeconds < 1.2 * 2
        * Double(zeroCrossings[1] - zeroCrossings[0]) / sampleRate
    {
      return true
    }
    let comparisonFrameCount = frameCount(seconds: 0.005)
    return onset.timeSeconds - lastOnset.timeSeconds < 0.02
      && maximum(of: magnitudes, in: onsetFrame - comparisonFrameCount..<onsetFrame) > 1.15
        * maximum(of: magnitudes, in: lastOnsetFrame..<lastOnsetFrame + comparisonFrameCount)
  }

  /// Returns the number of frames in a duration in seconds, at least one.
  private func frameCount(seconds: Double) -> Int { max(1, Int((seconds * sampleRate).rounded())) }

  /// Returns the maximum of the values in a range, which is clamped to the array.
  private func maximum(of values: [Double], in range: Range<Int>) -> Double {
    values[range.clamped(to: values.indices)].max() ?? 0
  }

  /// Returns the frame with the steepest energy rise of the prediction error near an index.
  ///
  /// The growth is the ratio of the energy in the 3 ms after a frame to that in the 3 ms before it.
  private func energyChangeFrame(near index: Int) -> Int {
    let energyWindowFrameCount = frameCount(seconds: 0.003)
    let maximumErrorNearIndex = maximum(
      of: predictionErrors, in: index..<index + LinearPredictor.predictionHorizonFrameCount)
    // Growth from below a twentieth of the height does not count.
    let energyFloor =
      maximumErrorNearIndex * maximumErrorNearIndex * 0.002_5 * Double(energyWindowFrameCount)
    func predictionErrorEnergy(_ range: Range<Int>) -> Double {
      predictionErrors[range.clamped(to: predictionErrors.indices)].reduce(energyFloor) {
        $0 + $1 * $1
      }
    }
    var largestEnergyChange = (frame: index, ratio: 0.0)
    for frame in max(0, index - frameCount(seconds: 0.008))...index + LinearPredictor
      .predictionHorizonFrameCount / 2
    {
      let ratio =
        predictionErrorEnergy(frame..<frame + energyWindowFrameCount)
        / predictionErrorEnergy(max(0, frame - energyWindowFrameCount)..<frame)
      if ratio > largestEnergyChange.ratio {
        largestEnergyChange = (frame, ratio)
      }
    }
    return largestEnergyChange.frame
  }

  /// Returns the onset of a burst at a change of the signal, or nil if there is no such burst.
  ///
  /// The returned length is the number of frames after the change in which no other onset begins.
  /// The burst must be on a steady tone that continues after it. It is measured as the residual of
  /// the tone fitted to the preceding 60 ms, so that its phase relative to the tone does not
  /// matter.
  private func burstOnTone(at index: Int, floor: Double) -> (onset: Onset, length: Int)? {
    let toneFrameCount = frameCount(seconds: 0.06)
    // The linear-phase decimation filter shows the change slightly early.
    let toneEndFrame = index - frameCount(seconds: 0.001)
    let burstEndFrame = index + frameCount(seconds: Self.maximumBurstSeconds)
    let pauseFrameCount = frameCount(seconds: 0.012)
    guard toneEndFrame > toneFrameCount, burstEndFrame + pauseFrameCount < samples.count,
      let tone = SteadyTone(samples[(toneEndFrame - toneFrameCount)..<toneEndFrame])
    else {
      return nil
    }
    let excessOverTone = (index..<burstEndFrame + pauseFrameCount).map {
      abs(samples[$0] - tone.sineValue(at: $0))
    }
    let burstPeakMagnitude = excessOverTone.prefix(burstEndFrame - index).max() ?? 0
    guard burstPeakMagnitude > floor,
      burstPeakMagnitude > Self.minimumBurstToToneRatio * tone.amplitude
    else { return nil }
    guard
      let lastStrongFrame = excessOverTone.prefix(burstEndFrame - index).lastIndex(where: {
        $0 > 0.25 * burstPeakMagnitude
      }),
      lastStrongFrame > frameCount(seconds: 0.004),
      excessOverTone[(lastStrongFrame + 1)...].prefix(pauseFrameCount).allSatisfy({
        $0 < 0.25 * burstPeakMagnitude
      })
    else { return nil }
    // A tone that pauses starts again after the pause.
    guard
      maximum(
        of: magnitudes,
        in: index + lastStrongFrame / 4..<index + lastStrongFrame - lastStrongFrame / 4) > 0.15
        * tone.amplitude
    else { return nil }
    let firstExcessFrame = excessOverTone.firstIndex { $0 > 0.05 * burstPeakMagnitude } ?? 0
    let burstOnsetSeconds = Double(index + firstExcessFrame) / sampleRate
    return (
      Onset(timeSeconds: burstOnsetSeconds, amplitudeAfterOnset: burstPeakMagnitude),
      lastStrongFrame + 1 + pauseFrameCount
    )
  }

  /// Returns the onset at a change of the signal, or nil if the change is not an onset.
  private func onsetCandidate(at index: Int, floor: Double) -> Onset? {
    let peakPredictionError = maximum(
      of: predictionErrors, in: index..<index + LinearPredictor.predictionHorizonFrameCount)
    guard
      peakPredictionError > Self.minimumErrorToMedianErrorRatio
        * medianPredictionError(before: index)
    else {
      return nil
    }
    let peakMagnitudeAfterIndex = maximum(
      of: magnitudes, in: index..<index + frameCount(seconds: 0.01))
    guard peakMagnitudeAfterIndex > floor,
      peakPredictionError > Self.minimumErrorToLevelRatio * peakMagnitudeAfterIndex
    else { return nil }
    let peakMagnitudeBeforeIndex = maximum(
      of: magnitudes, in: max(0, index - frameCount(seconds: 0.008))..<index)
    // After a pause, an onset need not exceed the level before the pause.
    let isFromPause =
      peakPredictionError > 0.8 * peakMagnitudeAfterIndex
      && peakMagnitudeAfterIndex > 0.7 * peakMagnitudeBeforeIndex
      && maximum(
        of: magnitudes, in: max(0, index - frameCount(seconds: Self.minimumPauseSeconds))..<index)
        < 0.03 * peakMagnitudeAfterIndex
    guard
      isFromPause
        || peakMagnitudeAfterIndex > Self.minimumLevelGrowthFactor * peakMagnitudeBeforeIndex
    else {
      return nil
    }
    // The prediction error also grows where a tone changes its frequency. There, an onset requires
    // twice the level.
    let precedingPeakError = maximum(
      of: predictionErrors, in: max(0, index - frameCount(seconds: 0.005))..<index)
    guard
      isFromPause || peakPredictionError > 2 * precedingPeakError
        || peakMagnitudeAfterIndex > 2 * peakMagnitudeBeforeIndex
    else { return nil }
    // The level is rising until it falls by a tenth.
    var onsetPeakMagnitude = 0.0
    let smoothingHalfWidthFrames = frameCount(seconds: 0.006)
    var smoothingCenterFrame = index
    while smoothingCenterFrame < min(magnitudes.count, index + frameCount(seconds: 0.3)) {
      let smoothingStartFrame = smoothingCenterFrame - smoothingHalfWidthFrames
      let smoothingEndFrame = smoothingCenterFrame + smoothingHalfWidthFrames
      let level = maximum(of: magnitudes, in: smoothingStartFrame..<smoothingEndFrame)
      if level < 0.9 * onsetPeakMagnitude { break }
      onsetPeakMagnitude = max(onsetPeakMagnitude, level)
      smoothingCenterFrame += 1
    }
    let attackPeakMagnitude = maximum(
      of: magnitudes, in: index..<index + frameCount(seconds: Self.maximumAttackSeconds))
    guard attackPeakMagnitude > 0.5 * onsetPeakMagnitude else { return nil }
    // In a tone that changes its frequency, the level gives a better time than the
    // prediction error.
    let isErrorRiseClear = peakPredictionError > 4 * precedingPeakError
    let riseFrame =
      (index..<magnitudes.count).first {
        magnitudes[$0] > Self.minimumLevelGrowthFactor * peakMagnitudeBeforeIndex
      } ?? index
    return Onset(
      timeSeconds: isErrorRiseClear
        ? onsetTime(at: index, peakError: peakPredictionError) : Double(riseFrame) / sampleRate,
      amplitudeAfterOnset: attackPeakMagnitude)
  }

  /// Returns the median of the prediction error over the 50 ms before a frame.
  private func medianPredictionError(before index: Int) -> Double {
    let precedingFrameRange = (index - frameCount(seconds: 0.05)..<index - 1).clamped(
      to: predictionErrors.indices)
    guard precedingFrameRange.count > 8 else { return 0 }
    return Statistics.median(of: Array(predictionErrors[precedingFrameRange]))
  }

  /// Returns the time of an onset, interpolated linearly between frames.
  ///
  /// At the onset, the prediction error reaches a twentieth of its peak.
  private func onsetTime(at index: Int, peakError: Double) -> Double {
    let precedingPredictionError = index > 0 ? predictionErrors[index - 1] : 0
    let crossingErrorLevel = max(peakError * 0.05, precedingPredictionError)
    var crossingFrame = index
    while crossingFrame < predictionErrors.count - 1,
      predictionErrors[crossingFrame] <= crossingErrorLevel
    {
      crossingFrame += 1
    }
    guard crossingFrame > 0, predictionErrors[crossingFrame] > predictionErrors[crossingFrame - 1]
    else {
      return Double(crossingFrame) / sampleRate
    }
    let crossingFraction =
      (crossingErrorLevel - predictionErrors[crossingFrame - 1])
      / (predictionErrors[crossingFrame] - predictionErrors[crossingFrame - 1])
    return (Double(crossingFrame - 1) + min(1, max(0, crossingFraction))) / sampleRate
  }
}

/// A steady sine, fitted to a segment that contains little else.
private struct SteadyTone {
  private let radiansPerFrame: Double
  private let startFrame: Int
  private let sineAmplitude: Double
  private let cosineAmplitude: Double

  /// The maximum fraction of the segment's power that remains after the sine is subtracted.
  private static let maximumResidualPowerFraction = 0.03

  /// Fits a sine to a segment, or returns nil if the segment is not a sine.
  init?(_ segment: ArraySlice<Double>) {
    // For a sine, x[n − k] + x[n + k] = 2 cos(kω) · x[n]. The least-squares estimate of cos(kω)
    // yields ω.
    let recurrenceLagFrames = 4
    var laggedProductSum = 0.0
    var squareSum = 0.0
    for index
      in (segment.startIndex + recurrenceLagFrames)..<(segment.endIndex - recurrenceLagFrames)
    {
      laggedProductSum +=
        segment[index]
        * (segment[index - recurrenceLagFrames] + segment[index + recurrenceLagFrames])
      squareSum += segment[index] * segment[index]
    }
    guard squareSum > 0, abs(laggedProductSum) < 2 * squareSum else { return nil }
    let phasePerFrame = acos(laggedProductSum / squareSum / 2) / Double(recurrenceLagFrames)
    var sineEnergy = 0.0
    var cosineEnergy = 0.0
    var crossEnergy = 0.0
    var sineProduct = 0.0
    var cosineProduct = 0.0
    var segmentEnergy = 0.0
    for (offset, value) in segment.enumerated() {
      let sine = sin(phasePerFrame * Double(offset))
      let cosine = cos(phasePerFrame * Double(offset))
      sineEnergy += sine * sine
      cosineEnergy += cosine * cosine
      crossEnergy += sine * cosine
      sineProduct += sine * value
      cosineProduct += cosine * value
      segmentEnergy += value * value
    }
    let normalMatrixDeterminant = sineEnergy * cosineEnergy - crossEnergy * crossEnergy
    guard normalMatrixDeterminant > 1e-6 * sineEnergy * cosineEnergy else { return nil }
    sineAmplitude =
      (sineProduct * cosineEnergy - cosineProduct * crossEnergy) / normalMatrixDeterminant
    cosineAmplitude =
      (cosineProduct * sineEnergy - sineProduct * crossEnergy) / normalMatrixDeterminant
    let residualEnergy =
      segmentEnergy - sineAmplitude * sineProduct - cosineAmplitude * cosineProduct
    guard residualEnergy < Self.maximumResidualPowerFraction * segmentEnergy else { return nil }
    radiansPerFrame = phasePerFrame
    startFrame = segment.startIndex
  }

  var amplitude: Double {
    (sineAmplitude * sineAmplitude + cosineAmplitude * cosineAmplitude).squareRoot()
  }

  /// Returns the value of the sine at a frame of the signal.
  func sineValue(at index: Int) -> Double {
    let phaseRadians = radiansPerFrame * Double(index - startFrame)
    return sineAmplitude * sin(phaseRadians) + cosineAmplitude * cos(phaseRadians)
  }
}

/// A time at which an event begins to be felt.
public struct Onset: Equatable, Sendable {
  /// The time from the start of the signal, in seconds.
  public var timeSeconds: Double
  /// The amplitude that the event reaches after its onset.
  public var amplitudeAfterOnset: Double

  /// Creates an onset from a time in seconds and an amplitude.
  public init(timeSeconds time: Double, amplitudeAfterOnset strength: Double) {
    self.timeSeconds = time
    self.amplitudeAfterOnset = strength
  }
}

/// A linear predictor, which computes the prediction error of a signal at a low rate.
///
/// Each sample is predicted 5 ms ahead by the linear prediction that fits the last 50 ms best.
/// Steady and gliding tones, their sums, and their fades are predictable; onsets are not.
struct LinearPredictor: ~Copyable {
  /// The distance over which a sample is predicted, in frames: 5 ms at 2 kHz.
  static let predictionHorizonFrameCount = 10
  /// The length of the predictor's fitting window, in frames: 50 ms at 2 kHz.
  private static let fittingWindowFrameCount = 100
  /// The number of preceding values that predict a sample: enough for four tones.
  private static let coefficientCount = 8
  /// The interval between the values that predict a sample, in frames. A wider interval separates
  /// low tones better.
  private static let tapSpacingFrames = 2

  private let samples: [Double]
  /// The covariance of each sample and its regressors, the earlier samples that predict it. Each
  /// element is a sum of products over the window.
  private var regressorCovariance = [Double](
    repeating: 0, count: (coefficientCount + 1) * (coefficientCount + 1))
  private var covarianceCholeskyFactor = [Double](
    repeating: 0, count: coefficientCount * coefficientCount)
  private var predictorCoefficients = [Double](repeating: 0, count: coefficientCount)

  /// Creates a predictor for a signal with a sample rate of about 2 kHz.
  init(_ samples: [Float]) { self.samples = samples.map(Double.init) }

  /// Computes the prediction error of each sample.
  mutating func predictionErrors() -> [Double] {
    samples.indices.map { index in
      addToCovariance(index - Self.predictionHorizonFrameCount, sign: 1)
      addToCovariance(
        index - Self.predictionHorizonFrameCount - Self.fittingWindowFrameCount, sign: -1)
      return samples[index] - predict(at: index)
    }
  }

  /// Returns the sample at an index for term 0. For terms 1 to `coefficientCount`, returns the
  /// earlier samples that predict it.
  private func regressor(_ term: Int, at index: Int) -> Double {
    let sampleIndex =
      term == 0
      ? index : index - Self.predictionHorizonFrameCount - Self.tapSpacingFrames * (term - 1)
    return sampleIndex < 0 ? 0 : samples[sampleIndex]
  }

  /// Adds the products of a sample and its regressors to the covariance.
  ///
  /// If the sign is −1, the products are subtracted.
  private mutating func addToCovariance(_ index: Int, sign: Double) {
    guard index >= 0 else { return }
    let covarianceRowCount = Self.coefficientCount + 1
    for row in 0..<covarianceRowCount {
      let value = sign * regressor(row, at: index)
      guard value != 0 else { continue }
      for column in 0...row {
        regressorCovariance[row * covarianceRowCount + column] +=
          value * regressor(column, at: index)
      }
    }
  }

  /// Returns the least-squares prediction of a sample.
  ///
  /// The normal equations are solved by Cholesky factorization.
  private mutating func predict(at index: Int) -> Double {
    let predictorOrder = Self.coefficientCount
    let covarianceRowCount = predictorOrder + 1
    var covarianceTrace = 0.0
    var regressorEnergy = 0.0
    for row in 1..<covarianceRowCount {
      covarianceTrace += regressorCovariance[row * covarianceRowCount + row]
      regressorEnergy += regressor(row, at: index) * regressor(row, at: index)
    }
    guard covarianceTrace > 1e-9, regressorEnergy > 1e-9 else { return 0 }
    // The ridge bounds coefficients that are not resolved, or that were fitted to a much weaker
    // signal.
    let ridgeRegularization =
      covarianceTrace / Double(predictorOrder) * 1e-6 + regressorEnergy * 1e-2
    for row in 0..<predictorOrder {
      for column in 0...row {
        var sum = regressorCovariance[(row + 1) * covarianceRowCount + column + 1]
        if row == column {
          sum += ridgeRegularization
        }
        for inner in 0..<column {
          sum -=
            covarianceCholeskyFactor[row * predictorOrder + inner]
            * covarianceCholeskyFactor[column * predictorOrder + inner]
        }
        covarianceCholeskyFactor[row * predictorOrder + column] =
          row == column
          ? max(sum, ridgeRegularization * 1e-3).squareRoot()
          : sum / covarianceCholeskyFactor[column * predictorOrder + column]
      }
    }
    for row in 0..<predictorOrder {
      var sum = regressorCovariance[(row + 1) * covarianceRowCount]
      for inner in 0..<row {
        sum -= covarianceCholeskyFactor[row * predictorOrder + inner] * predictorCoefficients[inner]
      }
      predictorCoefficients[row] = sum / covarianceCholeskyFactor[row * predictorOrder + row]
    }
    var predictedSample = 0.0
    for row in (0..<predictorOrder).reversed() {
      var sum = predictorCoefficients[row]
      for inner in stride(from: row + 1, to: predictorOrder, by: 1) {
        sum -= covarianceCholeskyFactor[inner * predictorOrder + row] * predictorCoefficients[inner]
      }
      predictorCoefficients[row] = sum / covarianceCholeskyFactor[row * predictorOrder + row]
      predictedSample += predictorCoefficients[row] * regressor(row + 1, at: index)
    }
    return predictedSample
  }
}
