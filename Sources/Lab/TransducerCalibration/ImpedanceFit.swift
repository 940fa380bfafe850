internal import CMath

/// The admittance of a resistor and a transducer in series, without its constant gain.
///
/// With x = f/f₀ − f₀/f, the rise ρ = Res / (Rs + Re), the coil's time constant τ = Le / (Rs + Re),
/// and the loaded Q factor Q′:
///
///     Y ∝ (1 + jQ′(1 + ρ)x) / ((1 + jQ′x)(1 + ρ) + jωτ (1 + jQ′(1 + ρ)x))
struct AdmittanceModel: Equatable {
  /// The resonance frequency, in hertz.
  var resonanceHertz: Double
  /// The Q factor of the resonance, including the damping by the measurement's series resistor.
  var loadedQualityFactor: Double
  /// The ratio of the impedance's increase at the resonance to the resistance, Res / (Rs + Re).
  var impedanceRiseRatio: Double
  /// The electrical time constant of the coil in seconds, Le / (Rs + Re).
  var coilTimeConstantSeconds = 1e-4
  /// The delay of the current relative to the signal, in seconds.
  var delaySeconds = 0.0
  /// The high-pass filter of the recorder's input.
  var recorderHighPass = TransferFunction(modes: [], delaySeconds: 0, derivativeOrder: 1)

  /// Returns the complex admittance at a frequency in hertz, without the constant gain.
  func admittance(atHertz hertz: Double) -> Phasor {
    let frequencyDetuning = hertz / resonanceHertz - resonanceHertz / hertz
    let mechanicalFactor = Phasor(
      1, loadedQualityFactor * (1 + impedanceRiseRatio) * frequencyDetuning)
    let inductiveTerm = mechanicalFactor * Phasor(0, 2 * .pi * hertz * coilTimeConstantSeconds)
    let relativeImpedance =
      Phasor(1, loadedQualityFactor * frequencyDetuning) * (1 + impedanceRiseRatio) + inductiveTerm
    let delayAngle = 2 * Double.pi * hertz * delaySeconds
    return mechanicalFactor / relativeImpedance * recorderHighPass.highPassResponse(atHertz: hertz)
      * Phasor(cos(delayAngle), -sin(delayAngle))
  }
}

/// The admittance model that best fits a measured response.
///
/// 1. A grid over all parameters is compared by magnitude; its best distinct resonances are
///    starting points, each with its best delay.
/// 2. From each starting point, the parameters are fitted coarsely to the response near its
///    resonance. Farther away, eddy currents make the coil's inductance decrease with frequency.
/// 3. The fit with the smallest residual, relative to the power of its resonance, is refined.
struct ImpedanceFit {
  /// The best-fitting gain of a model for a response, and the residuals of the fit.
  private struct GainFit {
    let bestGain: Double
    /// The weighted residuals: the real and the imaginary part for each group in turn.
    let weightedResiduals: [Double]
    /// The sum of the squared residuals.
    var squaredResidualSum: Double { weightedResiduals.reduce(0) { $0 + $1 * $1 } }
  }

  /// An admittance model and the cost of its fit.
  private typealias Candidate = (cost: Double, model: AdmittanceModel)

  /// The fitted admittance model, without its gain.
  let admittanceModel: AdmittanceModel
  /// The gain from the model to the response.
  let modelGain: Double
  /// The sum of the squared residuals.
  let squaredResidualSum: Double
  /// The power of the current component that the resonance causes.
  let motionalCurrentPower: Double
  /// The half widths of the 95 % confidence intervals, as fractions of the parameters.
  ///
  /// The parameters are the resonance, the loaded Q factor, and the impedance rise, in this order.
  let parameterIntervalHalfWidths: [Double]

  /// The bandwidth of the fit on each side of the resonance, in octaves.
  private static let fittedOctavesBesideResonance = 2.0
  /// The maximum ratio of the costs with a higher and a lower high-pass order.
  ///
  /// A fit with the higher order is accepted only up to this ratio.
  private static let maximumHigherOrderCostRatio = 0.6
  /// The initial corner frequency of the recorder's high-pass in a fit, in hertz.
  private static let initialHighPassHertz = 8.0
  /// The step of each parameter in numerical derivatives; the high-pass corner is last.
  private static let parameterDerivativeSteps = [1e-5, 1e-4, 1e-4, 1e-4, 1e-3, 1e-4]
  /// The maximum number of starting points.
  private static let maximumStartingPointCount = 5
  /// The minimum distance between the resonances of two starting points, in octaves.
  private static let minimumStartDistanceOctaves = 1.0 / 3

  /// Returns the model that best fits a response, or nil if no resonance is inside of the band.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - band: The band of the sweep.
  ///   - highPassOrders: The orders of the recorder's high-pass to consider.
  static func bestFit(
    for response: MeasuredResponse, band: ClosedRange<Double>, highPassOrders: ClosedRange<Int>
  ) -> ImpedanceFit? {
    func responseNearResonance(_ model: AdmittanceModel) -> MeasuredResponse {
      let ratio = pow(2, fittedOctavesBesideResonance)
      return response.limited(to: model.resonanceHertz / ratio...model.resonanceHertz * ratio)
    }

    let edgeFrequencyRatio = pow(2, ResonanceFit.minimumBandEdgeDistanceOctaves)
    let resonanceRangeHertz =
      band.lowerBound * edgeFrequencyRatio...band.upperBound / edgeFrequencyRatio
    let coarseHighPassOrders = 0...min(1, highPassOrders.upperBound)
    let startingModels = startingModels(for: response, band: band, highPassOrders: highPassOrders)
    let coarseFits = startingModels.map {
      ImpedanceFit(
        $0, responseNearResonance($0).subsampled(by: 3), highPassOrders: coarseHighPassOrders,
        .coarse)
    }.filter { resonanceRangeHertz.contains($0.admittanceModel.resonanceHertz) }
    return coarseFits.min {
      $0.squaredResidualSum / $0.motionalCurrentPower < $1.squaredResidualSum
        / $1.motionalCurrentPower
    }.map {
      ImpedanceFit(
        $0.admittanceModel, responseNearResonance($0.admittanceModel),
        highPassOrders: highPassOrders, .full)
    }
  }

  private init(
    _ start: AdmittanceModel, _ response: MeasuredResponse, highPassOrders: ClosedRange<Int>,
    _ termination: LevenbergMarquardt.TerminationCriteria
  ) {
    var bestCandidate: Candidate?
    for order in highPassOrders {
      let candidate = Self.refinedCandidate(start, response, highPassOrder: order, termination)
      if candidate.cost
        < (bestCandidate.map { $0.cost * Self.maximumHigherOrderCostRatio } ?? .infinity)
      {
        bestCandidate = candidate
      }
    }
    let fittedModel = bestCandidate?.model ?? start
    self.admittanceModel = fittedModel
    let gainFit = Self.fitGain(of: fittedModel, to: response)
    modelGain = gainFit.bestGain
    squaredResidualSum = gainFit.squaredResidualSum
    motionalCurrentPower = Self.motionalCurrentPower(
      of: fittedModel, gain: gainFit.bestGain, response)
    let highPassOrder = fittedModel.recorderHighPass.highPassOrder
    let parameterValues = Self.parameters(of: fittedModel)
    let jacobian = LevenbergMarquardt.jacobian(
      at: parameterValues, steps: parameterValues.map { _ in 1e-4 },
      residuals: gainFit.weightedResiduals
    ) {
      Self.fitGain(of: Self.model(at: $0, highPassOrder: highPassOrder), to: response)
        .weightedResiduals
    }
    let halfWidths = ResonanceFit.parameterIntervalHalfWidths(
      jacobian: jacobian, residuals: gainFit.weightedResiduals, gainCount: 1)
    self.parameterIntervalHalfWidths = halfWidths ?? [1, 1, 1]
  }

  /// Refines the parameters of a model that has a high-pass of a given order.
  private static func refinedCandidate(
    _ start: AdmittanceModel, _ response: MeasuredResponse, highPassOrder: Int,
    _ termination: LevenbergMarquardt.TerminationCriteria
  ) -> Candidate {
    var filteredStart = start
    filteredStart.recorderHighPass.highPassOrder = highPassOrder
    if filteredStart.recorderHighPass.highPassHertz == 0 {
      filteredStart.recorderHighPass.highPassHertz = initialHighPassHertz
    }
    let unusedParameterCount = highPassOrder > 0 ? 0 : 1
    let fittedPoint = LevenbergMarquardt.fit(
      from: parameters(of: filteredStart),
      steps: parameterDerivativeSteps.dropLast(unusedParameterCount),
      bounds: parameterBounds.dropLast(unusedParameterCount), termination: termination
    ) { fitGain(of: model(at: $0, highPassOrder: highPassOrder), to: response).weightedResiduals }
    let refinedModel = model(at: fittedPoint, highPassOrder: highPassOrder)
    return (fitGain(of: refinedModel, to: response).squaredResidualSum, refinedModel)
  }

  /// Returns the power of the modeled current component that the resonance causes.
  ///
  /// The component is the difference between the responses with and without the resonance.
  private static func motionalCurrentPower(
    of model: AdmittanceModel, gain: Double, _ response: MeasuredResponse
  ) -> Double {
    var blockedModel = model
    blockedModel.impedanceRiseRatio = 0
    return response.groups.reduce(0) {
      $0 + $1.sweepPower
        * ($1.recordedToPlayedRatio - blockedModel.admittance(atHertz: $1.meanHertz) * gain).power
    }
  }

  // MARK: - Parameters

  private static func parameters(of model: AdmittanceModel) -> [Double] {
    var parameterValues = [
      log(model.resonanceHertz), log(model.loadedQualityFactor), log(model.impedanceRiseRatio),
      log(model.coilTimeConstantSeconds),
      model.delaySeconds / ResonanceFit.delayParameterUnitSeconds,
    ]
    if model.recorderHighPass.highPassOrder > 0 {
      parameterValues.append(log(model.recorderHighPass.highPassHertz))
    }
    return parameterValues
  }

  private static func model(at point: [Double], highPassOrder: Int) -> AdmittanceModel {
    var parameterizedModel = AdmittanceModel(
      resonanceHertz: exp(point[0]), loadedQualityFactor: exp(point[1]),
      impedanceRiseRatio: exp(point[2]),
      coilTimeConstantSeconds: exp(point[3]),
      delaySeconds: point[4] * ResonanceFit.delayParameterUnitSeconds
    )
    if highPassOrder > 0 {
      parameterizedModel.recorderHighPass.highPassHertz = exp(point[5])
      parameterizedModel.recorderHighPass.highPassOrder = highPassOrder
    }
    return parameterizedModel
  }

  private static var parameterBounds: [ClosedRange<Double>] {
    func logarithmicRange(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
      log(range.lowerBound)...log(range.upperBound)
    }

    return [
      logarithmicRange(SweepSignal.supportedHertz),
      logarithmicRange(ResonanceFit.qualityFactorRange),
      logarithmicRange(1e-3...1e3), logarithmicRange(1e-7...5e-3), -1e7...1e7,
      logarithmicRange(ResonanceFit.highPassHertzRange),
    ]
  }

  // MARK: - Starting points

  /// Returns the grid models with the best-fitting magnitudes, each with its best delay.
  private static func startingModels(
    for response: MeasuredResponse, band: ClosedRange<Double>, highPassOrders: ClosedRange<Int>
  ) -> [AdmittanceModel] {
    let coarseGroups = response.subsampled(by: 6).groups
    let parameterGrid = gridModels(highPassOrders: highPassOrders)
    var candidates: [Candidate] = []
    for step in 1..<max(2, Int(12 * log2(band.upperBound / band.lowerBound))) {
      for gridModel in parameterGrid {
        var model = gridModel
        model.resonanceHertz = band.lowerBound * pow(2, Double(step) / 12)
        candidates.append((magnitudeCost(of: model, coarseGroups), model))
      }
    }
    var distinctModels: [AdmittanceModel] = []
    for (_, candidate) in candidates.sorted(by: { $0.cost < $1.cost })
    where distinctModels.count < maximumStartingPointCount {
      let isDistinct = distinctModels.allSatisfy {
        abs(log2(candidate.resonanceHertz / $0.resonanceHertz)) > minimumStartDistanceOctaves
      }
      guard isDistinct else { continue }
      var model = candidate
      let terms = response.groups.map { group in
        (
          group.meanHertz,
          group.recordedToPlayedRatio * model.admittance(atHertz: group.meanHertz).conjugate
            * group.sweepPower
        )
      }
      model.delaySeconds = DelaySearch.delay(
        of: terms, within: 0.5 / band.lowerBound, ignoresSign: true)
      distinctModels.append(model)
    }
    return distinctModels
  }

  /// Returns a grid of models with all combinations of the parameters, except the resonance.
  private static func gridModels(highPassOrders: ClosedRange<Int>) -> [AdmittanceModel] {
    var models: [AdmittanceModel] = []
    for quality in [0.5, 1.5, 5] {
      for timeConstant in [1e-5, 1e-4, 4e-4] {
        for order in 0...min(1, highPassOrders.upperBound) {
          for rise in [0.5, 3] {
            var model = AdmittanceModel(
              resonanceHertz: 1, loadedQualityFactor: quality, impedanceRiseRatio: rise,
              coilTimeConstantSeconds: timeConstant)
            model.recorderHighPass.highPassHertz = initialHighPassHertz
            model.recorderHighPass.highPassOrder = order
            models.append(model)
          }
        }
      }
    }
    return models
  }

  /// Returns the cost of the difference between the magnitudes of a model and a response.
  ///
  /// The model has the best-fitting gain. A constant is omitted from the cost.
  private static func magnitudeCost(
    of model: AdmittanceModel, _ groups: [MeasuredResponse.FrequencyGroup]
  ) -> Double {
    var crossProduct = 0.0
    var modelPower = 1e-300
    for group in groups {
      let magnitude = model.admittance(atHertz: group.meanHertz).magnitude
      crossProduct += group.sweepPower * magnitude * group.recordedToPlayedRatio.magnitude
      modelPower += group.sweepPower * magnitude * magnitude
    }
    return -crossProduct * crossProduct / modelPower
  }

  /// Returns the gain with the smallest squared residuals between a model and a response.
  private static func fitGain(
    of model: AdmittanceModel, to response: MeasuredResponse
  ) -> GainFit {
    let weightedModelValues = zip(response.groups, response.groupWeightSquareRoots).map {
      model.admittance(atHertz: $0.meanHertz) * $1
    }
    var crossProduct = 0.0
    var modelPower = 1e-300
    for (value, measured) in zip(weightedModelValues, response.weightedRecordedToPlayedRatios) {
      crossProduct += value.real * measured.real + value.imaginary * measured.imaginary
      modelPower += value.power
    }
    let bestGain = crossProduct / modelPower
    let weightedResiduals = zip(weightedModelValues, response.weightedRecordedToPlayedRatios)
      .flatMap {
        value, measured in
        let residual = measured - value * bestGain
        return [residual.real, residual.imaginary]
      }
    return GainFit(bestGain: bestGain, weightedResiduals: weightedResiduals)
  }
}
