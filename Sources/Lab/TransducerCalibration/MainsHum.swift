internal import CMath

/// The mains hum of a recording, fitted to the silences in it.
///
/// 1. The silences are reduced to the means of short blocks (`HumSilence`).
/// 2. Sines at the mains frequency and its harmonics, and a constant, are fitted to all silences by
///    least squares, over a grid of frequencies. The phase continues from silence to silence, so
///    that one second of each shows the frequency to a millihertz.
/// 3. If separate fits of the silences explain significantly more, the frequency drifts, and its
///    phase is tracked from silence to silence (`HumPhase`).
/// 4. The hum is removed from the whole recording.
struct MainsHum {
  /// The sine and cosine amplitudes of one harmonic.
  private typealias Amplitude = (sine: Double, cosine: Double)

  /// A least-squares fit of the hum's harmonics.
  private struct HumFit {
    /// The fitted mains frequency, in hertz.
    var fittedHertz = 0.0
    /// The signal energy that the fit explains.
    var explainedEnergy = 0.0
    /// The sine and cosine amplitudes of each harmonic, followed by the constant offset.
    var coefficients: [Double] = []
  }

  /// The frequency of the hum, in hertz.
  ///
  /// The value is the frequency at the center of the silences if the frequency drifts.
  let frequencyHertz: Double
  /// A Boolean value that indicates whether the frequency drifts.
  let hasDriftingFrequency: Bool
  private let humPhase: HumPhase
  /// The sine and cosine amplitudes of each harmonic.
  private let amplitudesByHarmonic: [Amplitude]

  /// The number of harmonics, including the fundamental.
  static let harmonicCount = 8
  /// The nominal mains frequencies used worldwide, in hertz.
  private static let nominalHertz = [50.0, 60]
  /// The maximum deviation of a mains frequency, including that of a recorder's clock, in hertz.
  private static let maximumFrequencyDeviationHertz = 0.3
  /// The successive step sizes of the frequency search, in hertz.
  ///
  /// With the first step size, the harmonics of the nearest candidate deviate by a fraction of a
  /// period over 15 s.
  private static let searchStepsHertz = [0.005, 0.001, 0.0002]
  /// The number of sample blocks per second. Each block is averaged before the fit.
  private static let blocksPerSecond = 2_000.0
  /// The minimum fraction of the power in silences due to hum. Weaker hum is not removed.
  private static let minimumHumPowerFraction = 0.1
  /// The minimum total duration of the silences in a recording, in seconds.
  private static let minimumSilenceSeconds = 0.4
  /// The minimum increase in explained energy that indicates drift, as a fraction of the hum's.
  ///
  /// The increase is that of separate fits of the silences over a common fit.
  private static let minimumDriftEnergyFraction = 1e-4
  /// The minimum ratio of the energy increase due to drift to the increase due to noise.
  private static let minimumDriftEnergyToNoiseRatio = 4.0

  /// Fits mains hum to the silences of a recording. Returns nil if the recording has no hum.
  ///
  /// - Parameters:
  ///   - samples: The recording.
  ///   - rate: The sample rate, in hertz.
  ///   - silences: The ranges of frames without a signal.
  init?(in samples: [Float], rate: Double, silences: [Range<Int>]) {
    let blockLength = max(1, Int(rate / Self.blocksPerSecond))
    var humSilences = silences.map {
      HumSilence(samples, rate: rate, range: $0, blockLength: blockLength)
    }
    let blockMeanCount = humSilences.reduce(0) { $0 + $1.blockMeans.count }
    guard Double(blockMeanCount * blockLength) >= Self.minimumSilenceSeconds * rate else {
      return nil
    }
    let meanBlockValue =
      humSilences.reduce(0) { $0 + $1.blockMeans.reduce(0, +) } / Double(blockMeanCount)
    for index in humSilences.indices {
      humSilences[index].subtractMean(meanBlockValue)
    }
    let silenceEnergy = humSilences.reduce(0) { $0 + $1.meanSquareSum }
    guard silenceEnergy > 0 else { return nil }

    let steadyFit = Self.constantFrequencyFit(of: humSilences)
    let separateFits = humSilences.compactMap { segment in
      segment.blockMeans.isEmpty
        ? nil : (segment: segment, fit: Self.constantFrequencyFit(of: [segment]))
    }
    let separateEnergy = separateFits.reduce(0) { $0 + $1.fit.explainedEnergy }
    // The fraction of white noise that the parameters of the separate fits explain.
    let explainedNoiseFraction =
      Double(separateFits.count * (2 * Self.harmonicCount + 2)) / Double(blockMeanCount)
    let minimumEnergyGain =
      Self.minimumDriftEnergyFraction * separateEnergy + Self.minimumDriftEnergyToNoiseRatio
      * explainedNoiseFraction
      * (silenceEnergy - separateEnergy)
    hasDriftingFrequency =
      separateFits.count > 1 && separateEnergy > 0.5 * silenceEnergy
      && separateEnergy - steadyFit.explainedEnergy > minimumEnergyGain
    let driftPhase =
      hasDriftingFrequency
      ? HumPhase(through: separateFits.map { ($0.segment, $0.fit.fittedHertz) }) : nil
    let driftingFit = driftPhase.flatMap { phase in
      Self.fit(to: humSilences) { phase.cycles(at: $0) }.map { (phase: phase, fit: $0) }
    }
    let humCoefficients: [Double]
    let minimumHumEnergy = Self.minimumHumPowerFraction * silenceEnergy
    if let driftingFit, driftingFit.fit.explainedEnergy > steadyFit.explainedEnergy {
      guard driftingFit.fit.explainedEnergy >= minimumHumEnergy else { return nil }
      humPhase = driftingFit.phase
      humCoefficients = driftingFit.fit.coefficients
    } else {
      guard steadyFit.explainedEnergy >= minimumHumEnergy || hasDriftingFrequency else {
        return nil
      }
      humPhase = HumPhase(hertz: steadyFit.fittedHertz)
      humCoefficients = steadyFit.coefficients
    }
    frequencyHertz = humPhase.originHertz
    amplitudesByHarmonic = Self.amplitudes(
      humCoefficients, hertz: humPhase.originHertz, rate: rate, blockLength: blockLength)
  }

  /// Returns the hum's amplitudes in the samples, computed from its amplitudes in the block means.
  ///
  /// The mean of a sine over a block is a sine of the same frequency, attenuated by the Dirichlet
  /// kernel.
  private static func amplitudes(
    _ coefficients: [Double], hertz: Double, rate: Double, blockLength: Int
  ) -> [Amplitude] {
    (0..<harmonicCount).map { index in
      let angle = Double.pi * hertz * Double(index + 1) / rate
      let length = Double(blockLength)
      let attenuation = blockLength == 1 ? 1 : sin(angle * length) / (length * sin(angle))
      return (coefficients[2 * index] / attenuation, coefficients[2 * index + 1] / attenuation)
    }
  }

  /// Returns the samples of a recording without the hum.
  ///
  /// - Parameters:
  ///   - samples: The recording.
  ///   - rate: The sample rate, in hertz.
  func removingHum(from samples: [Float], rate: Double) -> [Float] {
    samples.indices.map { frame in
      let angle = 2 * Double.pi * humPhase.cycles(at: Double(frame) / rate)
      let fundamental = Phasor(cos(angle), sin(angle))
      var harmonic = fundamental
      var hum = 0.0
      for amplitude in amplitudesByHarmonic {
        hum += amplitude.sine * harmonic.imaginary + amplitude.cosine * harmonic.real
        harmonic = harmonic * fundamental
      }
      return Float(Double(samples[frame]) - hum)
    }
  }

  // MARK: - Least squares

  /// Returns the best fit of hum with a constant frequency.
  ///
  /// The frequency is found on a grid that is refined in two steps.
  private static func constantFrequencyFit(of segments: [HumSilence]) -> HumFit {
    var bestFit = HumFit()

    func considerFrequency(_ hertz: Double) {
      guard let fit = fit(atHertz: hertz, to: segments),
        fit.explainedEnergy > bestFit.explainedEnergy
      else { return }
      bestFit = fit
    }

    for nominal in nominalHertz {
      let count = Int((maximumFrequencyDeviationHertz / searchStepsHertz[0]).rounded())
      for step in -count...count {
        considerFrequency(nominal + Double(step) * searchStepsHertz[0])
      }
    }
    for step in searchStepsHertz.dropFirst() {
      let center = bestFit.fittedHertz
      for index in -4...4 where index != 0 {
        considerFrequency(center + Double(index) * step)
      }
    }
    return bestFit
  }

  /// Fits the harmonics of hum with a constant frequency.
  ///
  /// Returns nil if the equations are singular.
  ///
  /// The products of two sines are sines at the sum and the difference of their frequencies, so
  /// that the normal equations follow from sums of exponentials in closed form.
  private static func fit(atHertz hertz: Double, to segments: [HumSilence]) -> HumFit? {
    let exponentialSums = (0...2 * harmonicCount).map { harmonic in
      segments.reduce(Phasor.zero) { $0 + $1.exponentialSum(atHertz: Double(harmonic) * hertz) }
    }
    let constantIndex = 2 * harmonicCount
    let rightSideIndex = constantIndex + 1
    var equationRows = [[Double]](
      repeating: [Double](repeating: 0, count: constantIndex + 2), count: constantIndex + 1)
    for first in 1...harmonicCount {
      let sine = 2 * first - 2
      let cosine = 2 * first - 1
      for second in 1...harmonicCount {
        let sum = exponentialSums[first + second]
        let difference = exponentialSums[abs(first - second)]
        equationRows[sine][2 * second - 2] = (difference.real - sum.real) / 2
        equationRows[cosine][2 * second - 1] = (difference.real + sum.real) / 2
        let sign = Double((first - second).signum())
        equationRows[sine][2 * second - 1] = (sum.imaginary + sign * difference.imaginary) / 2
        equationRows[2 * second - 1][sine] = equationRows[sine][2 * second - 1]
      }
      equationRows[sine][constantIndex] = exponentialSums[first].imaginary
      equationRows[cosine][constantIndex] = exponentialSums[first].real
      equationRows[constantIndex][sine] = exponentialSums[first].imaginary
      equationRows[constantIndex][cosine] = exponentialSums[first].real
      let correlation = segments.reduce(Phasor.zero) {
        $0 + $1.correlation(atHertz: Double(first) * hertz)
      }
      equationRows[sine][rightSideIndex] = correlation.imaginary
      equationRows[cosine][rightSideIndex] = correlation.real
    }
    equationRows[constantIndex][constantIndex] = exponentialSums[0].real
    return fit(solvingNormalEquations: equationRows, hertz: hertz)
  }

  /// Fits the harmonics of a fundamental with an arbitrary phase over time.
  ///
  /// Returns nil if the equations are singular.
  ///
  /// - Parameters:
  ///   - segments: The silences.
  ///   - cycles: The number of cycles of the fundamental at a time in seconds.
  private static func fit(to segments: [HumSilence], cycles: (Double) -> Double) -> HumFit? {
    var summedEquations: [[Double]]?
    for segment in segments {
      let rows = segment.normalEquations(cycles: cycles)
      summedEquations = summedEquations.map { HumPhase.sumOfNormalEquations($0, rows) } ?? rows
    }
    return summedEquations.flatMap { fit(solvingNormalEquations: $0, hertz: 0) }
  }

  private static func fit(solvingNormalEquations equations: [[Double]], hertz: Double) -> HumFit? {
    guard let coefficients = LevenbergMarquardt.solveLinearSystem(equations) else { return nil }
    return HumFit(
      fittedHertz: hertz,
      explainedEnergy: HumPhase.explainedEnergy(by: coefficients, of: equations),
      coefficients: coefficients)
  }
}

/// A silent range of a recording, reduced to the means of blocks of samples.
struct HumSilence {
  /// The time of the first block's center, in seconds.
  let startSeconds: Double
  /// The interval between blocks, in seconds.
  let blockSpacingSeconds: Double
  private(set) var blockMeans: [Double]

  /// Reduces a range of a recording to the means of blocks of samples.
  ///
  /// - Parameters:
  ///   - samples: The recording.
  ///   - rate: The sample rate, in hertz.
  ///   - range: The frames of the silence.
  ///   - blockLength: The length of a block, in frames.
  init(_ samples: [Float], rate: Double, range: Range<Int>, blockLength: Int) {
    let clampedRange = range.clamped(to: samples.indices)
    startSeconds = (Double(clampedRange.lowerBound) + Double(blockLength - 1) / 2) / rate
    blockSpacingSeconds = Double(blockLength) / rate
    blockMeans = (0..<clampedRange.count / blockLength).map { index in
      let first = clampedRange.lowerBound + index * blockLength
      let sum = samples[first..<(first + blockLength)].reduce(0) { $0 + Double($1) }
      return sum / Double(blockLength)
    }
  }

  /// The time of the silence's center, in seconds.
  var centerSeconds: Double {
    startSeconds + blockSpacingSeconds * Double(blockMeans.count - 1) / 2
  }

  /// The signal energy in the silence: the sum of the squared block means.
  var meanSquareSum: Double { blockMeans.reduce(0) { $0 + $1 * $1 } }

  mutating func subtractMean(_ mean: Double) {
    for index in blockMeans.indices {
      blockMeans[index] -= mean
    }
  }

  /// Returns the sum of exp(jωt) over the times t of all blocks, for the angular frequency ω.
  func exponentialSum(atHertz hertz: Double) -> Phasor {
    let halfStepAngle = Double.pi * hertz * blockSpacingSeconds
    let blockCount = Double(blockMeans.count)
    let sumMagnitude =
      abs(sin(halfStepAngle)) < 1e-12
      ? blockCount : sin(halfStepAngle * blockCount) / sin(halfStepAngle)
    let centerAngle = 2 * Double.pi * hertz * startSeconds + halfStepAngle * (blockCount - 1)
    return Phasor(cos(centerAngle), sin(centerAngle)) * sumMagnitude
  }

  /// Returns Σ mean · exp(jωt) over the blocks.
  func correlation(atHertz hertz: Double) -> Phasor {
    let startAngle = 2 * Double.pi * hertz * startSeconds
    let stepAngle = 2 * Double.pi * hertz * blockSpacingSeconds
    var rotatingPhasor = Phasor(cos(startAngle), sin(startAngle))
    let stepRotation = Phasor(cos(stepAngle), sin(stepAngle))
    var correlationSum = Phasor.zero
    for mean in blockMeans {
      correlationSum = correlationSum + rotatingPhasor * mean
      rotatingPhasor = rotatingPhasor * stepRotation
    }
    return correlationSum
  }

  /// Returns the normal equations for hum with any phase over time, as an augmented matrix.
  ///
  /// The unknowns are the sine and cosine amplitudes of each harmonic, and a constant. Each row is
  /// followed by its right side.
  ///
  /// - Parameter cycles: The number of cycles of the fundamental at a time in seconds.
  func normalEquations(cycles: (Double) -> Double) -> [[Double]] {
    let unknownCount = 2 * MainsHum.harmonicCount + 1
    var equationRows = [[Double]](
      repeating: [Double](repeating: 0, count: unknownCount + 1), count: unknownCount)
    var harmonicTerms = [Double](repeating: 1, count: unknownCount + 1)
    for (index, mean) in blockMeans.enumerated() {
      let angle = 2 * Double.pi * cycles(startSeconds + Double(index) * blockSpacingSeconds)
      let fundamental = Phasor(cos(angle), sin(angle))
      var harmonic = fundamental
      for number in 0..<MainsHum.harmonicCount {
        harmonicTerms[2 * number] = harmonic.imaginary
        harmonicTerms[2 * number + 1] = harmonic.real
        harmonic = harmonic * fundamental
      }
      harmonicTerms[unknownCount] = mean
      for row in 0..<unknownCount {
        for column in row...unknownCount {
          equationRows[row][column] += harmonicTerms[row] * harmonicTerms[column]
        }
      }
    }
    for row in 0..<unknownCount {
      for column in 0..<row {
        equationRows[row][column] = equationRows[column][row]
      }
    }
    return equationRows
  }
}
