internal import CMath
import SignalAnalysis

/// A test for whether a sudden step of the sustained tone explains samples as well as a burst.
///
/// The step is a change of the tone's frequency or level.
///
/// A tone that suddenly changes its frequency or level differs from its smoothed track around the
/// step, and the difference resembles a burst. The test compares two hypotheses by their residual
/// energy: a burst on the smoothed tone, and a step at the best position from one tone to another,
/// each with a linear amplitude.
struct ToneStepTest {
  let dictionary: AtomDictionary
  let samples: [Float]
  /// The samples without the sustained tone and the bursts.
  let residualSamples: [Float]
  /// The level of the sustained tone at each sample.
  let toneLevels: [Float]
  /// The frequency of the sustained tone at each sample.
  let toneHertz: [Double]

  /// The maximum residual energy of a kept burst, relative to that of the best step.
  private static let maximumBurstToStepResidualRatio = Float(0.5)
  /// The maximum ratio of the energy after subtracting a kept burst to the energy before.
  private static let maximumBurstToDeviationRatio = Float(0.4)
  /// The minimum level of the tone for a possible step, relative to the burst.
  private static let minimumToneToBurstRatio = Float(0.15)

  /// Returns true if a step explains a burst.
  func isStep(_ burst: FoundBurst) -> Bool {
    let burstSampleCount = dictionary.atoms[burst.atomIndex].sampleCount
    let marginSamples = Int(0.03 * dictionary.analysisDurationFactor * dictionary.sampleRate)
    let burstEndSample = burst.startSample + burstSampleCount
    let comparisonStartSample = max(0, burst.startSample - marginSamples)
    let comparisonEndSample = min(samples.count, burstEndSample + marginSamples)
    let comparisonRange = comparisonStartSample..<comparisonEndSample
    let rangeBeforeBurst = comparisonStartSample..<max(1, min(samples.count, burst.startSample - 4))
    let rangeAfterBurst = min(samples.count, burstEndSample + 4)..<comparisonEndSample
    guard rangeBeforeBurst.lowerBound < rangeBeforeBurst.upperBound else { return false }
    let burstAmplitude = (burst.explainedEnergy * 2 / Float(burstSampleCount)).squareRoot()
    let toneLevelBefore = toneLevels[rangeBeforeBurst].max() ?? 0
    let toneLevelAfter = rangeAfterBurst.isEmpty ? 0 : toneLevels[rangeAfterBurst].max() ?? 0
    guard max(toneLevelBefore, toneLevelAfter) >= Self.minimumToneToBurstRatio * burstAmplitude
    else {
      return false
    }
    let residualEnergyWithBurst = SampleMath.energy(of: residualSamples, in: comparisonRange)
    let residualEnergyWithoutBurst = residualEnergyWithBurst + burst.explainedEnergy
    guard residualEnergyWithBurst <= Self.maximumBurstToDeviationRatio * residualEnergyWithoutBurst
    else {
      return true
    }
    let hertzBefore = medianHertz(in: rangeBeforeBurst)
    let hertzAfter = rangeAfterBurst.isEmpty ? hertzBefore : medianHertz(in: rangeAfterBurst)
    let stepResidualEnergy = bestStepResidual(
      in: comparisonRange, around: burst.startSample..<burstEndSample, before: hertzBefore,
      after: hertzAfter)
    return residualEnergyWithBurst > Self.maximumBurstToStepResidualRatio * stepResidualEnergy
  }

  private func medianHertz(in range: Range<Int>) -> Double {
    Statistics.median(of: Array(toneHertz[range]))
  }

  /// Returns the residual energy of the best step.
  ///
  /// - Parameters:
  ///   - range: The samples to explain.
  ///   - burst: The samples of the burst, near which the step is.
  ///   - hertzBefore: The frequency before the step.
  ///   - hertzAfter: The frequency after the step.
  private func bestStepResidual(
    in range: Range<Int>, around burst: Range<Int>, before hertzBefore: Double,
    after hertzAfter: Double
  ) -> Float {
    var bestResidualEnergy = SampleMath.energy(of: samples, in: range)
    let stepPositions = Set(
      stride(from: burst.lowerBound - 12, to: burst.upperBound + 12, by: max(1, burst.count / 8))
        .filter(range.contains))
    var toneBefore = ToneFit(hertz: hertzBefore, rate: dictionary.sampleRate, range: range)
    var residualEnergiesBefore: [Int: Double] = [:]
    for index in range {
      if stepPositions.contains(index) {
        residualEnergiesBefore[index] = toneBefore.residualEnergy
      }
      toneBefore.add(samples[index], at: index)
    }
    var toneAfter = ToneFit(hertz: hertzAfter, rate: dictionary.sampleRate, range: range)
    for index in range.reversed() {
      toneAfter.add(samples[index], at: index)
      if let residualBefore = residualEnergiesBefore[index] {
        bestResidualEnergy = min(
          bestResidualEnergy, Float(residualBefore + toneAfter.residualEnergy))
      }
    }
    return bestResidualEnergy
  }
}

/// A least-squares fit of a tone of known frequency with a linear amplitude.
///
/// Samples are added to the fit one at a time.
///
/// The basis is cos ωt, sin ωt, t cos ωt, and t sin ωt, with t relative to the center of the range.
private struct ToneFit {
  private let radiansPerSample: Double
  private let centerSample: Double
  /// The scale factor of t, which keeps the equations well conditioned.
  private let timeScaleFactor: Double
  private var normalMatrix = InlineArray<16, Double>(repeating: 0)
  private var rightHandSide = InlineArray<4, Double>(repeating: 0)
  private var sampleEnergy = 0.0

  init(hertz: Double, rate: Double, range: Range<Int>) {
    radiansPerSample = 2 * .pi * hertz / rate
    centerSample = Double(range.lowerBound + range.upperBound) / 2
    timeScaleFactor = 1 / Double(range.count)
  }

  mutating func add(_ sample: Float, at index: Int) {
    let sampleOffset = (Double(index) - centerSample)
    let cosine = cos(radiansPerSample * sampleOffset)
    let sine = sin(radiansPerSample * sampleOffset)
    let basisValues: InlineArray<4, Double> = [
      cosine, sine, cosine * sampleOffset * timeScaleFactor, sine * sampleOffset * timeScaleFactor,
    ]
    let sampleValue = Double(sample)
    for row in 0..<4 {
      for column in 0...row {
        normalMatrix[4 * row + column] += basisValues[row] * basisValues[column]
      }
      rightHandSide[row] += basisValues[row] * sampleValue
    }
    sampleEnergy += sampleValue * sampleValue
  }

  /// The residual energy of the best tone, by Cholesky factorization.
  ///
  /// With L Lᵀ = the normal matrix and L y = the right side, the tone explains |y|².
  var residualEnergy: Double {
    var choleskyFactor = normalMatrix
    var solution = rightHandSide
    for row in 0..<4 {
      for column in 0...row {
        var sum = choleskyFactor[4 * row + column]
        for inner in 0..<column {
          sum -= choleskyFactor[4 * row + inner] * choleskyFactor[4 * column + inner]
        }
        if row == column {
          choleskyFactor[4 * row + row] = (max(0, sum) + 1e-9).squareRoot()
        } else {
          choleskyFactor[4 * row + column] = sum / choleskyFactor[4 * column + column]
        }
      }
      for inner in 0..<row {
        solution[row] -= choleskyFactor[4 * row + inner] * solution[inner]
      }
      solution[row] /= choleskyFactor[4 * row + row]
    }
    return max(0, sampleEnergy - (0..<4).reduce(0) { $0 + solution[$1] * solution[$1] })
  }
}
