internal import CMath
internal import SystemSupport

/// A psychometric function: the probability of a correct answer as a function of stimulus level.
///
/// The function is a logistic curve between the guess rate γ and one minus the lapse rate λ:
///
///     ψ(x) = γ + (1 − γ − λ) F(x),   F(x) = 1 / (1 + exp(−β (x − α)))
///
/// α is the midpoint and β the slope of the curve. The rates are fixed, and maximum likelihood
/// determines α and β. A small fixed lapse rate prevents single slips of attention at high levels
/// from flattening the curve (Wichmann and Hill 2001, "The psychometric function: I. Fitting,
/// sampling, and goodness of fit", Perception & Psychophysics 63).
package struct PsychometricFunction: Equatable, Sendable {
  /// The answers to stimuli at one level.
  package struct Block: Equatable, Sendable {
    /// The level of the stimulus.
    package var stimulusValue: Double
    /// The number of answers that count as successes.
    package var successCount: Int
    /// The number of answers.
    package var trialCount: Int

    /// Creates the answers at one level.
    package init(stimulusValue: Double, successCount: Int, trialCount: Int) {
      self.stimulusValue = stimulusValue
      self.successCount = successCount
      self.trialCount = trialCount
    }
  }

  /// The lapse rate λ of all fits.
  package static let lapseRate = 0.02
  /// The minimum number of different stimulus levels for a fit.
  package static let minimumBlockCount = 3
  /// The number of simulated experiments for a confidence interval.
  private static let bootstrapCount = 1_000
  /// The seed of the simulated experiments, which is fixed so that reports are reproducible.
  private static let bootstrapSeed: UInt64 = 1
  /// The fraction of the simulated experiments beyond each bound of a confidence interval.
  private static let tailProbability = 0.025

  /// The probability γ of a success far below the midpoint.
  package let guessRate: Double
  /// The midpoint: the level α at which F is one half.
  package let midpoint: Double
  /// The slope β, per unit of the level.
  package let slope: Double

  /// Creates a function from its parameters.
  package init(guessRate: Double, midpoint: Double, slope: Double) {
    self.guessRate = guessRate
    self.midpoint = midpoint
    self.slope = slope
  }

  /// Fits a psychometric function to answers by maximum likelihood.
  ///
  /// Returns nil if the answers do not determine the function: with fewer than three levels, if the
  /// answers do not improve with the level, or if they change from guesses to certainty between two
  /// adjacent levels.
  ///
  /// - Parameters:
  ///   - blocks: The answers by level. The levels are different.
  ///   - guessRate: The guess rate of the procedure.
  package init?(fitting blocks: [Block], guessRate: Double) {
    guard let fit = PsychometricFit(blocks, guessRate: guessRate) else { return nil }
    let bestFunction = fit.refined(from: fit.bestGridPoint())
    guard fit.isDeterminedByAnswers(bestFunction) else { return nil }
    self = bestFunction
  }

  /// Returns the probability of a success at a stimulus level.
  package func proportion(at value: Double) -> Double {
    let logisticValue = 1 / (1 + exp(-slope * (value - midpoint)))
    return guessRate + (1 - guessRate - Self.lapseRate) * logisticValue
  }

  /// Returns the stimulus level at which successes have a given probability.
  ///
  /// The probability is between the guess rate and one minus the lapse rate.
  package func value(atProportion proportion: Double) -> Double {
    let logisticValue = (proportion - guessRate) / (1 - guessRate - Self.lapseRate)
    return midpoint + log(logisticValue / (1 - logisticValue)) / slope
  }

  /// Returns the log likelihood of answers, without the binomial coefficients.
  func logLikelihood(of blocks: [Block]) -> Double {
    blocks.reduce(0) { sum, block in
      let probability = proportion(at: block.stimulusValue)
      let failureCount = block.trialCount - block.successCount
      return sum + Double(block.successCount) * log(probability)
        + Double(failureCount) * log(1 - probability)
    }
  }

  /// Returns the deviance of the function from the observed proportions.
  ///
  /// The deviance is twice the difference between the log likelihoods of the observed proportions
  /// and of this function. For a valid model, the expected deviance is about the number of levels
  /// minus 2.
  package func deviance(of blocks: [Block]) -> Double {
    let saturatedLogLikelihood = blocks.reduce(0.0) { sum, block in
      let counts = [block.successCount, block.trialCount - block.successCount]
      return counts.reduce(sum) { partialSum, count in
        guard count > 0 else { return partialSum }
        return partialSum + Double(count) * log(Double(count) / Double(block.trialCount))
      }
    }
    return 2 * (saturatedLogLikelihood - logLikelihood(of: blocks))
  }

  /// Returns the 95 % confidence interval of the level with a given success probability.
  ///
  /// The method is the parametric bootstrap (Wichmann and Hill 2001, part II): experiments with the
  /// same levels and numbers of trials are simulated with this function and fitted, and the
  /// interval excludes 2.5 % of these fits on each side.
  package func confidenceInterval(
    ofValueAt proportion: Double, blocks: [Block]
  ) -> ClosedRange<Double>? {
    guard var fit = PsychometricFit(blocks, guessRate: guessRate) else { return nil }
    var generator = SplitMix64(seed: Self.bootstrapSeed)
    var simulatedValues: [Double] = []
    for _ in 0..<Self.bootstrapCount {
      fit.blocks = blocks.map { block in
        simulatedBlock(like: block, using: &generator)
      }
      let repetition = fit.refined(from: self)
      simulatedValues.append(repetition.value(atProportion: proportion))
    }
    simulatedValues.sort()
    let outsideCount = Int(Double(Self.bootstrapCount) * Self.tailProbability)
    return simulatedValues[outsideCount]...simulatedValues[simulatedValues.count - 1 - outsideCount]
  }

  /// Returns random answers at a stimulus level, with this function's success probability.
  private func simulatedBlock(like block: Block, using generator: inout SplitMix64) -> Block {
    let successProbability = proportion(at: block.stimulusValue)
    var resampledBlock = block
    resampledBlock.successCount = 0
    for _ in 0..<block.trialCount where generator.nextFraction() < successProbability {
      resampledBlock.successCount += 1
    }
    return resampledBlock
  }
}

/// The maximum-likelihood fit of a psychometric function to answers, with bounded parameters.
private struct PsychometricFit {
  /// The number of midpoints, and of slopes, in the grid of initial values.
  private static let gridPointCountPerParameter = 24
  /// The maximum number of Fisher scoring steps.
  private static let maximumStepCount = 60
  /// The minimum change of the log likelihood that continues the fit.
  private static let convergenceTolerance = 1e-12
  /// The difference in β (x − α) between F = 5 % and F = 95 %.
  private static let normalizedTransitionWidth = 5.888_877_957_332_88
  /// The minimum width of the transition from 5 to 95 %, relative to the level spacing.
  ///
  /// The spacing is the smallest distance between two levels.
  private static let minimumTransitionToSpacingRatio = 0.25
  /// The maximum width of the transition from 5 to 95 %, as a multiple of the range of levels.
  private static let maximumTransitionToRangeRatio = 10.0

  /// The answers at each stimulus level.
  ///
  /// New answers must have the same levels, because the bounds of the parameters follow from them.
  var blocks: [PsychometricFunction.Block]
  private let guessRate: Double
  private let midpointRange: ClosedRange<Double>
  private let slopeRange: ClosedRange<Double>

  init?(_ blocks: [PsychometricFunction.Block], guessRate: Double) {
    let sortedBlockValues = blocks.map(\.stimulusValue).sorted()
    guard sortedBlockValues.count >= PsychometricFunction.minimumBlockCount,
      let minimumBlockValue = sortedBlockValues.first,
      let maximumBlockValue = sortedBlockValues.last
    else { return nil }
    let valueDistances = zip(sortedBlockValues.dropFirst(), sortedBlockValues).map {
      next, previous in next - previous
    }
    guard let minimumDistance = valueDistances.min(), minimumDistance > 0 else { return nil }
    let valueSpan = maximumBlockValue - minimumBlockValue
    self.blocks = blocks
    self.guessRate = guessRate
    midpointRange = (minimumBlockValue - valueSpan)...(maximumBlockValue + valueSpan)
    let minimumSlope =
      Self.normalizedTransitionWidth / (Self.maximumTransitionToRangeRatio * valueSpan)
    let maximumSlope =
      Self.normalizedTransitionWidth / (Self.minimumTransitionToSpacingRatio * minimumDistance)
    slopeRange = minimumSlope...maximumSlope
  }

  private func clampedFunction(midpoint: Double, slope: Double) -> PsychometricFunction {
    PsychometricFunction(
      guessRate: guessRate,
      midpoint: min(max(midpoint, midpointRange.lowerBound), midpointRange.upperBound),
      slope: min(max(slope, slopeRange.lowerBound), slopeRange.upperBound))
  }

  /// Returns the most likely function in a grid of midpoints and slopes.
  ///
  /// The grid is necessary because the likelihood can have several maxima.
  func bestGridPoint() -> PsychometricFunction {
    var bestFunction = clampedFunction(
      midpoint: midpointRange.lowerBound, slope: slopeRange.lowerBound)
    var bestLogLikelihood = -Double.infinity
    let midpointStep =
      (midpointRange.upperBound - midpointRange.lowerBound)
      / Double(Self.gridPointCountPerParameter - 1)
    let slopeRatio = slopeRange.upperBound / slopeRange.lowerBound
    for row in 0..<Self.gridPointCountPerParameter {
      let slope =
        slopeRange.lowerBound
        * pow(slopeRatio, Double(row) / Double(Self.gridPointCountPerParameter - 1))
      for column in 0..<Self.gridPointCountPerParameter {
        let candidate = clampedFunction(
          midpoint: midpointRange.lowerBound + midpointStep * Double(column), slope: slope)
        let likelihood = candidate.logLikelihood(of: blocks)
        if likelihood > bestLogLikelihood {
          bestFunction = candidate
          bestLogLikelihood = likelihood
        }
      }
    }
    return bestFunction
  }

  /// Returns the most likely function near an initial function.
  ///
  /// The method is Fisher scoring with step halving.
  func refined(from start: PsychometricFunction) -> PsychometricFunction {
    var bestFunction = start
    var bestLogLikelihood = start.logLikelihood(of: blocks)
    for _ in 0..<Self.maximumStepCount {
      guard let step = scoringStep(at: bestFunction) else { break }
      var scale = 1.0
      var improvement = 0.0
      // A full step can pass the maximum.
      while scale > 1e-6, improvement <= 0 {
        let candidate = clampedFunction(
          midpoint: bestFunction.midpoint + scale * step.midpoint,
          slope: bestFunction.slope + scale * step.slope)
        let likelihood = candidate.logLikelihood(of: blocks)
        if likelihood > bestLogLikelihood {
          improvement = likelihood - bestLogLikelihood
          bestFunction = candidate
          bestLogLikelihood = likelihood
        }
        scale /= 2
      }
      if improvement < Self.convergenceTolerance { break }
    }
    return bestFunction
  }

  /// Returns the next step of Fisher scoring, or nil if the information matrix is singular.
  ///
  /// The step is the inverse of the information matrix times the gradient of the log likelihood.
  ///
  /// With p = ψ(x) and its derivatives a by α and b by β, a block of n trials with k successes adds
  /// (k − n p) / (p (1 − p)) · (a, b) to the gradient, and n / (p (1 − p)) · (a², a b, b²) to the
  /// matrix.
  private func scoringStep(at current: PsychometricFunction) -> (
    midpoint: Double, slope: Double
  )? {
    var midpointGradient = 0.0
    var slopeGradient = 0.0
    var midpointInformation = 0.0
    var mixedInformation = 0.0
    var slopeInformation = 0.0
    let curveHeight = 1 - guessRate - PsychometricFunction.lapseRate
    for block in blocks {
      let distance = block.stimulusValue - current.midpoint
      let logistic = 1 / (1 + exp(-current.slope * distance))
      let probability = guessRate + curveHeight * logistic
      let density = curveHeight * logistic * (1 - logistic)
      let midpointDerivative = -current.slope * density
      let slopeDerivative = distance * density
      let weight = 1 / (probability * (1 - probability))
      let count = Double(block.trialCount)
      let excess = Double(block.successCount) - count * probability
      midpointGradient += excess * weight * midpointDerivative
      slopeGradient += excess * weight * slopeDerivative
      midpointInformation += count * weight * midpointDerivative * midpointDerivative
      mixedInformation += count * weight * midpointDerivative * slopeDerivative
      slopeInformation += count * weight * slopeDerivative * slopeDerivative
    }
    let determinant =
      midpointInformation * slopeInformation - mixedInformation * mixedInformation
    guard determinant > 1e-12 * midpointInformation * slopeInformation else { return nil }
    return (
      (slopeInformation * midpointGradient - mixedInformation * slopeGradient) / determinant,
      (midpointInformation * slopeGradient - mixedInformation * midpointGradient) / determinant
    )
  }

  /// Returns whether the answers determine a fitted function.
  ///
  /// Otherwise, the bounds of the parameters determine it.
  func isDeterminedByAnswers(_ function: PsychometricFunction) -> Bool {
    let slopeLimitMarginRatio = 1.001
    return function.slope > slopeRange.lowerBound * slopeLimitMarginRatio
      && function.slope < slopeRange.upperBound / slopeLimitMarginRatio
      && function.midpoint > midpointRange.lowerBound
      && function.midpoint < midpointRange.upperBound
  }
}
