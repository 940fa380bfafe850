internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// The resonances that explain most of a measured response.
///
/// 1. For each kind of sensor, a single resonance is fitted from several starting points. Another
///    sensor is preferred only if it halves the residual.
/// 2. The coil's low-pass and the recorder's high-pass are added if they explain enough of the
///    residual.
/// 3. Further resonances are added one at a time, at the peaks of the residual, until it is small
///    or near the noise. Then coil and high-pass are tried again.
/// 4. The main resonance is selected, and the confidence intervals follow from the curvature of the
///    cost.
///
/// All parameters but the gains are searched by Levenberg–Marquardt (`LevenbergMarquardt`); the
/// gains are linear (`TransferFunction.fitGains(to:)`).
struct ResonanceFit {
  /// The fitted transfer function, with the main resonance first.
  let transferFunction: TransferFunction
  /// The gain of each resonance; negative for inverted polarity.
  let gainsByResonance: [Double]
  /// The cost of the fit: the sum of its squared residuals.
  let squaredResidualSum: Double
  /// The cost of the fit relative to the power of the response, in decibels.
  let residualDecibels: Double
  /// A Boolean value that indicates whether the main resonance is at a bound of the fit.
  ///
  /// The bounds are the edges of the band and the limits of the quality factor.
  let hasMainResonanceAtBound: Bool
  /// The half widths of the 95 % confidence intervals, as fractions, for each resonance.
  let intervalHalfWidths: [(resonance: Double, qualityFactor: Double)]

  /// The range of quality factors that the fit allows.
  static let qualityFactorRange = 0.2...100.0
  /// The allowed range of the coil's time constant, in seconds.
  static let coilTimeConstantSecondsRange = 1e-6...5e-3
  /// The allowed range of the corner frequency of the recorder's high-pass, in hertz.
  static let highPassHertzRange = 0.5...200.0
  /// The maximum number of resonances that are fitted.
  static let maximumResonanceCount = 3

  /// The maximum ratio of the extended model's cost to the previous model's cost: −3 dB.
  ///
  /// An extended model has a different sensor type, a coil, or a further resonance. It is accepted
  /// only up to this ratio.
  private static let maximumExtendedModelCostRatio = 0.5
  /// The maximum ratio of the costs with and without a high-pass.
  ///
  /// The high-pass is accepted only up to this ratio.
  private static let maximumHighPassCostRatio = 0.6
  /// The minimum residual of a doubtful fit, in decibels.
  ///
  /// Above it, the search for a high-pass begins at all starting points.
  private static let minimumDoubtfulResidualDecibels = -20.0
  /// The maximum residual of a clean fit, in decibels.
  ///
  /// Below it, the fit does not search for further resonances.
  private static let maximumCleanResidualDecibels = -36.0
  /// The minimum level of the residual above the noise, in decibels, for a further resonance.
  private static let minimumResidualAboveNoiseDecibels = 2.0
  /// The minimum gain of a further resonance relative to the strongest: −30 dB.
  private static let minimumFurtherResonanceGainRatio = 0.03
  /// The minimum quality factor of a resonance other than the main resonance.
  private static let minimumFurtherResonanceQualityFactor = 1.0
  /// The minimum gain of the main resonance, relative to the strongest resonance.
  private static let minimumMainResonanceGainRatio = 0.5
  /// The minimum distance of the main resonance from the edges of the band, in octaves.
  static let minimumBandEdgeDistanceOctaves = 1.0 / 6
  /// The unit of the delay parameter, in seconds.
  ///
  /// With this unit, steps of the delay are similar in effect to steps of the logarithmic
  /// parameters.
  static let delayParameterUnitSeconds = 1.0 / 48_000

  /// Fits up to three resonances to a measured response.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - band: The band of the sweep.
  ///   - sensors: The kinds of sensors to consider, in order of preference.
  ///   - noise: The power of the noise relative to the response.
  init(
    _ response: MeasuredResponse, band: ClosedRange<Double>,
    sensors: [TransducerMeasurement.SensorQuantity], noise: Double = 0
  ) {
    let search = ResonanceSearch(response: response, bandHertz: band)
    var fittedFunction = Self.bestSingleModeFit(search: search, sensors: sensors)
    fittedFunction = Self.addingCoil(to: fittedFunction, search: search)
    fittedFunction = Self.addingHighPass(to: fittedFunction, search: search, sensors: sensors)
    let sufficientCost = max(
      response.responsePower * pow(10, Self.maximumCleanResidualDecibels / 10),
      response.responsePower * noise * pow(10, Self.minimumResidualAboveNoiseDecibels / 10))
    while fittedFunction.modes.count < Self.maximumResonanceCount,
      fittedFunction.fitGains(to: response).squaredResidualSum > sufficientCost,
      let extended = Self.addingMode(to: fittedFunction, search: search)
    {
      fittedFunction = extended
    }
    if fittedFunction.modes.count > 1 {
      // A resonance can resemble a coil or a high-pass, and vice versa.
      if fittedFunction.coilTimeConstantSeconds == 0 {
        fittedFunction = Self.addingCoil(to: fittedFunction, search: search)
      }
      if fittedFunction.highPassOrder == 0 {
        fittedFunction = Self.addingHighPass(to: fittedFunction, search: search, sensors: [])
      }
      fittedFunction = Self.sortingModes(
        of: fittedFunction, by: fittedFunction.fitGains(to: response).gainsByResonance)
    }
    self.init(fittedFunction, response, band: band)
  }

  /// Fits the resonances and filters of a transfer function to another response.
  ///
  /// - Parameters:
  ///   - start: The transfer function at which the search starts.
  ///   - response: The measured response.
  ///   - band: The band of the sweep.
  init(refining start: TransferFunction, _ response: MeasuredResponse, band: ClosedRange<Double>) {
    let search = ResonanceSearch(response: response, bandHertz: band)
    self.init(search.refine(start), response, band: band)
  }

  private init(_ model: TransferFunction, _ response: MeasuredResponse, band: ClosedRange<Double>) {
    transferFunction = model
    let gainFit = model.fitGains(to: response)
    gainsByResonance = gainFit.gainsByResonance
    squaredResidualSum = gainFit.squaredResidualSum
    intervalHalfWidths = Self.modeIntervals(of: model, in: response)
    residualDecibels = Decibels.of(power: squaredResidualSum / max(response.responsePower, 1e-300))
    let mainResonance = model.mainMode
    let edgeDistanceOctaves = min(
      log2(mainResonance.resonanceHertz / band.lowerBound),
      log2(band.upperBound / mainResonance.resonanceHertz))
    hasMainResonanceAtBound =
      edgeDistanceOctaves < Self.minimumBandEdgeDistanceOctaves
      || mainResonance.qualityFactor < Self.qualityFactorRange.lowerBound * 1.001
      || mainResonance.qualityFactor > Self.qualityFactorRange.upperBound * 0.999
  }

  /// Returns the fitted response at a frequency, without the delay.
  func undelayedResponse(atHertz hertz: Double) -> Phasor {
    var resonanceSum = Phasor.zero
    for (index, gain) in gainsByResonance.enumerated() {
      resonanceSum =
        resonanceSum + transferFunction.undelayedModeResponse(index, atHertz: hertz) * gain
    }
    return resonanceSum * transferFunction.filterResponse(atHertz: hertz)
  }

  /// Returns the fitted response at a frequency, including the delay.
  func modeledResponse(atHertz hertz: Double) -> Phasor {
    undelayedResponse(atHertz: hertz) * transferFunction.delayPhaseFactor(atHertz: hertz)
  }

  // MARK: - Structure

  /// Returns the best fit of a single resonance among all sensor types.
  private static func bestSingleModeFit(
    search: ResonanceSearch, sensors: [TransducerMeasurement.SensorQuantity]
  ) -> TransferFunction {
    var bestCandidate: ResonanceSearch.Candidate?
    for sensor in sensors {
      let starts = InitialResonanceEstimates.estimates(
        for: search.response, derivativeOrder: sensor.derivativeOrder, band: search.bandHertz)
      guard let candidate = search.bestFit(from: starts) else { continue }
      if candidate.squaredResidualSum
        < (bestCandidate.map { $0.squaredResidualSum * maximumExtendedModelCostRatio } ?? .infinity)
      {
        bestCandidate = candidate
      }
    }
    return bestCandidate?.transferFunction
      ?? TransferFunction(
        modes: [.init(resonanceHertz: search.bandHertz.lowerBound, qualityFactor: 1)],
        delaySeconds: 0,
        derivativeOrder: 2)
  }

  /// Adds the low-pass of the coil to a fit if it explains enough of the residual.
  ///
  /// Otherwise, returns the unchanged transfer function.
  private static func addingCoil(
    to model: TransferFunction, search: ResonanceSearch
  ) -> TransferFunction {
    let startingFunctions = [1e-4, 5e-4, 1.5e-3].map { timeConstant in
      var start = model
      start.coilTimeConstantSeconds = timeConstant
      // The fit without a coil represents most of its phase as delay.
      start.delaySeconds -= 0.7 * timeConstant
      return start
    }
    guard let candidate = search.bestFit(from: startingFunctions),
      candidate.squaredResidualSum < maximumExtendedModelCostRatio
        * model.fitGains(to: search.response).squaredResidualSum
    else { return model }
    return candidate.transferFunction
  }

  /// Adds the high-pass of the recorder's input to a fit if it explains enough of the residual.
  ///
  /// Otherwise, returns the unchanged transfer function.
  ///
  /// - Parameters:
  ///   - model: The transfer function without a high-pass.
  ///   - search: The search in the response.
  ///   - sensors: The kinds of sensors to consider again if the residual is large.
  private static func addingHighPass(
    to model: TransferFunction, search: ResonanceSearch,
    sensors: [TransducerMeasurement.SensorQuantity]
  ) -> TransferFunction {
    let response = search.response
    var bestFunction = model
    var minimumCost = model.fitGains(to: response).squaredResidualSum
    let isFitDoubtful =
      Decibels.of(power: minimumCost / max(response.responsePower, 1e-300))
      > minimumDoubtfulResidualDecibels
    var startingFunctions = [model]
    if isFitDoubtful {
      startingFunctions += sensors.flatMap {
        InitialResonanceEstimates.estimates(
          for: response, derivativeOrder: $0.derivativeOrder, band: search.bandHertz
        ).prefix(2)
      }
    }
    let cornerHertz = isFitDoubtful ? [15.0, 50] : [15]
    for order in 1...2 {
      var filteredStarts: [TransferFunction] = []
      for start in startingFunctions {
        for corner in cornerHertz {
          var filtered = start
          filtered.highPassHertz = corner
          filtered.highPassOrder = order
          // The phase of a high-pass resembles a delay.
          let needsDelay = isFitDoubtful && start.modes.count == 1
          filteredStarts.append(
            needsDelay
              ? InitialResonanceEstimates.fittingDelay(
                of: filtered, to: response, band: search.bandHertz)
              : filtered)
        }
      }
      guard let candidate = search.bestFit(from: filteredStarts),
        candidate.squaredResidualSum < maximumHighPassCostRatio * minimumCost
      else { continue }
      bestFunction = candidate.transferFunction
      minimumCost = candidate.squaredResidualSum
    }
    return bestFunction
  }

  /// Returns a fit with one more resonance, or nil if no additional resonance is significant.
  private static func addingMode(
    to model: TransferFunction, search: ResonanceSearch
  ) -> TransferFunction? {
    let response = search.response
    let previousFit = model.fitGains(to: response)
    var unfilteredFunction = model
    unfilteredFunction.coilTimeConstantSeconds = 0
    unfilteredFunction.highPassOrder = 0
    let candidateHertz =
      residualPeaks(of: previousFit.weightedResiduals, in: response)
      + [0.5, 0.7, 1.4, 2].map { $0 * model.mainMode.resonanceHertz }
    var startingFunctions: [TransferFunction] = []
    for base in unfilteredFunction == model ? [model] : [model, unfilteredFunction] {
      for hertz in candidateHertz where search.bandHertz.contains(hertz) {
        var start = base
        start.modes.append(.init(resonanceHertz: hertz, qualityFactor: 7))
        startingFunctions.append(start)
      }
    }
    guard let candidate = search.bestFit(from: startingFunctions),
      candidate.squaredResidualSum < maximumExtendedModelCostRatio * previousFit.squaredResidualSum,
      hasSignificantModes(candidate.transferFunction, search: search)
    else { return nil }
    return candidate.transferFunction
  }

  /// Returns true if all resonances are strong enough, inside the band, and not degenerate.
  private static func hasSignificantModes(
    _ model: TransferFunction, search: ResonanceSearch
  ) -> Bool {
    let absoluteGains = model.fitGains(to: search.response).gainsByResonance.map(abs)
    let maximumGain = absoluteGains.max() ?? 0
    let allowedQualityFactors =
      minimumFurtherResonanceQualityFactor...qualityFactorRange.upperBound * 0.99
    return zip(model.modes, absoluteGains).allSatisfy { mode, gain in
      gain >= minimumFurtherResonanceGainRatio * maximumGain
        && search.bandHertz.contains(mode.resonanceHertz)
        && (allowedQualityFactors.contains(mode.qualityFactor) || mode == model.mainMode)
    }
  }

  /// Returns the frequencies of up to three peaks in the residual power.
  ///
  /// The power is summed over a sixth of an octave.
  private static func residualPeaks(
    of residuals: [Double], in response: MeasuredResponse
  ) -> [Double] {
    let halfWidthGroups = Int(MeasuredResponse.groupsPerOctave / 12)
    var smoothedPowers = response.groups.indices.map { index in
      let range =
        max(0, index - halfWidthGroups)...min(response.groups.count - 1, index + halfWidthGroups)
      return range.reduce(0) {
        $0 + residuals[2 * $1] * residuals[2 * $1]
          + residuals[2 * $1 + 1] * residuals[2 * $1 + 1]
      }
    }
    var peakHertz: [Double] = []
    for _ in 0..<3 {
      guard let peak = smoothedPowers.indices.max(by: { smoothedPowers[$0] < smoothedPowers[$1] }),
        smoothedPowers[peak] > 0
      else { break }
      peakHertz.append(response.groups[peak].meanHertz)
      for index in max(
        0, peak - 2 * halfWidthGroups)...min(smoothedPowers.count - 1, peak + 2 * halfWidthGroups)
      {
        smoothedPowers[index] = 0
      }
    }
    return peakHertz
  }

  /// Returns a transfer function with the main resonance first.
  ///
  /// The main resonance is the lowest of the strong resonances. The other resonances follow in the
  /// order of their gains.
  private static func sortingModes(
    of model: TransferFunction, by gains: [Double]
  ) -> TransferFunction {
    let maximumGain = gains.map(abs).max() ?? 0
    let strongIndices = model.modes.indices.filter {
      abs(gains[$0]) >= minimumMainResonanceGainRatio * maximumGain
    }
    guard
      let mainIndex = strongIndices.min(by: {
        model.modes[$0].resonanceHertz < model.modes[$1].resonanceHertz
      })
    else { return model }
    let otherIndices = model.modes.indices.filter { $0 != mainIndex }.sorted {
      abs(gains[$0]) > abs(gains[$1])
    }
    var sortedFunction = model
    sortedFunction.modes = ([mainIndex] + otherIndices).map { model.modes[$0] }
    return sortedFunction
  }

  // MARK: - Confidence intervals

  private static func modeIntervals(
    of model: TransferFunction, in response: MeasuredResponse
  ) -> [(resonance: Double, qualityFactor: Double)] {
    let parameters = ResonanceParameters(model)
    let residuals = model.fitGains(to: response).weightedResiduals
    let jacobian = LevenbergMarquardt.jacobian(
      at: parameters.parameterValues, steps: parameters.parameterDerivativeSteps,
      residuals: residuals
    ) {
      parameters.transferFunction(at: $0).fitGains(to: response).weightedResiduals
    }
    guard
      let halfWidths = parameterIntervalHalfWidths(
        jacobian: jacobian, residuals: residuals, gainCount: model.modes.count)
    else {
      return model.modes.map { _ in (1, 1) }
    }
    return model.modes.indices.map { (halfWidths[2 * $0], halfWidths[2 * $0 + 1]) }
  }

  /// Returns the half widths of the parameters' 95 % confidence intervals.
  ///
  /// They follow from the curvature of the cost at its minimum.
  ///
  /// The covariance of the parameters is σ² (JᵀJ)⁻¹. The variance σ² of the residuals is widened by
  /// the correlation ρ of neighboring groups, (1 + ρ) / (1 − ρ): a model error is not independent
  /// from group to group.
  ///
  /// - Parameters:
  ///   - jacobian: The derivatives of the residuals, a column for each parameter.
  ///   - residuals: The real and imaginary residuals in turn.
  ///   - gainCount: The number of gains that were fitted besides the parameters.
  /// - Returns: An interval for each parameter, or nil if the normal equations are singular.
  static func parameterIntervalHalfWidths(
    jacobian: [[Double]], residuals: [Double], gainCount: Int
  ) -> [Double]? {
    guard let inverseDiagonal = LevenbergMarquardt.inverseDiagonal(of: jacobian) else { return nil }
    var residualEnergy = 0.0
    var neighborProduct = 0.0
    for index in residuals.indices {
      residualEnergy += residuals[index] * residuals[index]
      if index >= 2 {
        neighborProduct += residuals[index] * residuals[index - 2]
      }
    }
    let neighborCorrelation = min(0.97, max(0, neighborProduct / max(residualEnergy, 1e-300)))
    let degreesOfFreedom = Double(max(1, residuals.count - jacobian.count - gainCount))
    let residualVariance =
      residualEnergy / degreesOfFreedom * (1 + neighborCorrelation) / (1 - neighborCorrelation)
    return inverseDiagonal.map { 1.96 * (residualVariance * $0).squareRoot() }
  }
}

/// The search for the transfer functions that best fit a response.
struct ResonanceSearch {
  /// A transfer function and its cost.
  struct Candidate {
    let transferFunction: TransferFunction
    let squaredResidualSum: Double
  }

  let response: MeasuredResponse
  let bandHertz: ClosedRange<Double>
  /// Every third group of the response, for a fast comparison of starting points.
  private let subsampledResponse: MeasuredResponse

  init(response: MeasuredResponse, bandHertz band: ClosedRange<Double>) {
    self.response = response
    self.bandHertz = band
    subsampledResponse = response.subsampled(by: 3)
  }

  /// Returns the best fit from several starting points.
  ///
  /// Each starting point is fitted coarsely, and the best fit is refined.
  func bestFit(from starts: [TransferFunction]) -> Candidate? {
    var bestCandidate: Candidate?
    for start in starts {
      let coarse = refine(start, in: subsampledResponse, .coarse)
      let cost = coarse.fitGains(to: subsampledResponse).squaredResidualSum
      if cost < bestCandidate?.squaredResidualSum ?? .infinity {
        bestCandidate = Candidate(transferFunction: coarse, squaredResidualSum: cost)
      }
    }
    return bestCandidate.map {
      let refined = refine($0.transferFunction)
      return Candidate(
        transferFunction: refined,
        squaredResidualSum: refined.fitGains(to: response).squaredResidualSum)
    }
  }

  /// Returns a transfer function with refined parameters and the same structure.
  func refine(_ start: TransferFunction) -> TransferFunction { refine(start, in: response, .full) }

  private func refine(
    _ start: TransferFunction, in response: MeasuredResponse,
    _ termination: LevenbergMarquardt.TerminationCriteria
  ) -> TransferFunction {
    let parameters = ResonanceParameters(start, band: bandHertz)
    let fittedPoint = LevenbergMarquardt.fit(
      from: parameters.parameterValues, steps: parameters.parameterDerivativeSteps,
      bounds: parameters.parameterBounds,
      termination: termination
    ) { parameters.transferFunction(at: $0).fitGains(to: response).weightedResiduals }
    return parameters.transferFunction(at: fittedPoint)
  }
}

/// The conversion between a transfer function and the parameter vector of a search.
///
/// The parameters are the logarithms of each resonance and quality factor, the delay, and, if
/// present, the logarithms of the coil's time constant and the high-pass corner.
private struct ResonanceParameters {
  private let startingFunction: TransferFunction
  /// The values of the search's parameters.
  private(set) var parameterValues = [Double]()
  /// The step of each parameter in numerical derivatives.
  private(set) var parameterDerivativeSteps = [Double]()
  /// The allowed ranges of the search's parameters.
  private(set) var parameterBounds = [ClosedRange<Double>]()

  init(_ start: TransferFunction, band: ClosedRange<Double> = 1e-3...1e6) {
    self.startingFunction = start
    for mode in start.modes {
      add(mode.resonanceHertz, step: 1e-5, within: band.lowerBound / 2...band.upperBound * 2)
      add(mode.qualityFactor, step: 1e-4, within: ResonanceFit.qualityFactorRange)
    }
    parameterValues.append(start.delaySeconds / ResonanceFit.delayParameterUnitSeconds)
    parameterDerivativeSteps.append(1e-3)
    parameterBounds.append(-1e7...1e7)
    if start.coilTimeConstantSeconds > 0 {
      add(
        start.coilTimeConstantSeconds, step: 1e-4, within: ResonanceFit.coilTimeConstantSecondsRange
      )
    }
    if start.highPassOrder > 0 {
      add(start.highPassHertz, step: 1e-4, within: ResonanceFit.highPassHertzRange)
    }
  }

  private mutating func add(_ value: Double, step: Double, within range: ClosedRange<Double>) {
    parameterValues.append(log(value))
    parameterDerivativeSteps.append(step)
    parameterBounds.append(log(range.lowerBound)...log(range.upperBound))
  }

  /// Returns the transfer function for the values of the parameters.
  func transferFunction(at point: [Double]) -> TransferFunction {
    var updatedFunction = startingFunction
    for index in updatedFunction.modes.indices {
      updatedFunction.modes[index] = .init(
        resonanceHertz: exp(point[2 * index]), qualityFactor: exp(point[2 * index + 1]))
    }
    let delayIndex = 2 * updatedFunction.modes.count
    updatedFunction.delaySeconds = point[delayIndex] * ResonanceFit.delayParameterUnitSeconds
    if startingFunction.coilTimeConstantSeconds > 0 {
      updatedFunction.coilTimeConstantSeconds = exp(point[delayIndex + 1])
    }
    if startingFunction.highPassOrder > 0 {
      updatedFunction.highPassHertz = exp(point[point.count - 1])
    }
    return updatedFunction
  }
}
