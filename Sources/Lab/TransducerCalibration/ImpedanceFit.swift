internal import CMath

/// The admittance of a resistor and a transducer in series, up to a gain.
///
/// With x = f/f₀ − f₀/f, the rise ρ = Res / (Rs + Re), the coil's time constant τ = Le / (Rs + Re),
/// and the loaded Q factor Q′:
///
///     Y ∝ (1 + jQ′(1 + ρ)x) / ((1 + jQ′x)(1 + ρ) + jωτ (1 + jQ′(1 + ρ)x))
struct AdmittanceModel: Equatable {
  /// The resonance frequency, in hertz.
  var resonance: Double
  /// The Q factor with the resistor in the circuit.
  var loadedQuality: Double
  /// The rise of the impedance at resonance, Res / (Rs + Re).
  var impedanceRiseRatio: Double
  /// The electrical time constant in seconds, Le / (Rs + Re).
  var coilTimeConstant = 1e-4
  /// The delay of the current, in seconds.
  var delaySeconds = 0.0
  /// The high-pass of the recorder's input.
  var inputFilter = TransferFunction(modes: [], delay: 0, derivativeOrder: 1)

  /// Returns the value at a frequency.
  func value(atHertz hertz: Double) -> Phasor {
    let detuning = hertz / resonance - resonance / hertz
    let mechanical = Phasor(1, loadedQuality * (1 + impedanceRiseRatio) * detuning)
    let inductive = mechanical * Phasor(0, 2 * .pi * hertz * coilTimeConstant)
    let impedance = Phasor(1, loadedQuality * detuning) * (1 + impedanceRiseRatio) + inductive
    let angle = 2 * Double.pi * hertz * delaySeconds
    return mechanical / impedance * inputFilter.highPassValue(atHertz: hertz)
      * Phasor(cos(angle), -sin(angle))
  }
}

/// The admittance model that fits a response best.
///
/// 1. A grid over all parameters is compared by magnitude; its best distinct resonances are
///    starting points, each with its best delay.
/// 2. From each starting point, the parameters are fitted coarsely to the response near its
///    resonance. Farther away, eddy currents make the coil's inductance decrease with frequency.
/// 3. The fit with the smallest residual, relative to the power of its resonance, is refined.
struct ImpedanceFit {
  /// The best gain of a model for a response.
  private struct GainFit {
    let gain: Double
    /// The weighted real and imaginary residuals of each group in turn.
    let residuals: [Double]
    /// The sum of the squared residuals.
    var cost: Double { residuals.reduce(0) { $0 + $1 * $1 } }
  }

  /// An admittance model and the cost of its fit.
  private typealias Candidate = (cost: Double, model: AdmittanceModel)

  /// The model with the gain 1.
  let model: AdmittanceModel
  /// The gain of the model.
  let gain: Double
  /// The sum of the squared residuals.
  let cost: Double
  /// The power of the change in the current that the resonance causes.
  let motionalPower: Double
  /// The half widths of the 95 % intervals of resonance, loaded Q factor, and rise, as fractions.
  let parameterHalfWidths: [Double]

  /// The bandwidth of the fit to each side of the resonance, in octaves.
  private static let fittedOctaves = 2.0
  /// The maximum ratio of costs at which a high-pass of a higher order is accepted.
  private static let maximumCostRatio = 0.6
  /// The initial corner of a high-pass, in hertz.
  private static let initialHighPassHertz = 8.0
  /// The steps of the numerical derivative by each parameter; the last is the high-pass corner.
  private static let parameterSteps = [1e-5, 1e-4, 1e-4, 1e-4, 1e-3, 1e-4]
  /// The maximum number of starting points.
  private static let maximumStartCount = 5
  /// The minimum distance of the resonances of two starting points, in octaves.
  private static let minimumStartDistance = 1.0 / 3

  /// Returns the best fit to a response, or nil if all resonances are at the edges of the band.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - band: The band of the sweep.
  ///   - highPassOrders: The orders of the recorder's high-pass to consider.
  static func best(
    for response: MeasuredResponse, band: ClosedRange<Double>, highPassOrders: ClosedRange<Int>
  ) -> ImpedanceFit? {
    func near(_ model: AdmittanceModel) -> MeasuredResponse {
      let ratio = pow(2, fittedOctaves)
      return response.limited(to: model.resonance / ratio...model.resonance * ratio)
    }

    let edge = pow(2, ResonanceFit.minimumEdgeDistance)
    let resonances = band.lowerBound * edge...band.upperBound / edge
    let coarseOrders = 0...min(1, highPassOrders.upperBound)
    let starts = startingModels(for: response, band: band, highPassOrders: highPassOrders)
    let fits = starts.map {
      ImpedanceFit($0, near($0).subsampled(by: 3), highPassOrders: coarseOrders, .coarse)
    }.filter { resonances.contains($0.model.resonance) }
    return fits.min { $0.cost / $0.motionalPower < $1.cost / $1.motionalPower }.map {
      ImpedanceFit($0.model, near($0.model), highPassOrders: highPassOrders, .full)
    }
  }

  private init(
    _ start: AdmittanceModel, _ response: MeasuredResponse, highPassOrders: ClosedRange<Int>,
    _ termination: LevenbergMarquardt.Termination
  ) {
    var best: Candidate?
    for order in highPassOrders {
      let candidate = Self.refined(start, response, highPassOrder: order, termination)
      if candidate.cost < (best.map { $0.cost * Self.maximumCostRatio } ?? .infinity) {
        best = candidate
      }
    }
    let model = best?.model ?? start
    self.model = model
    let fit = Self.fitGain(of: model, to: response)
    gain = fit.gain
    cost = fit.cost
    motionalPower = Self.motionalPower(of: model, gain: fit.gain, response)
    let order = model.inputFilter.highPassOrder
    let point = Self.parameters(of: model)
    let jacobian = LevenbergMarquardt.jacobian(
      at: point, steps: point.map { _ in 1e-4 }, residuals: fit.residuals
    ) {
      Self.fitGain(of: Self.model(at: $0, highPassOrder: order), to: response).residuals
    }
    let intervals = ResonanceFit.intervals(
      jacobian: jacobian, residuals: fit.residuals, gainCount: 1)
    self.parameterHalfWidths = intervals ?? [1, 1, 1]
  }

  /// Returns a model with refined parameters and a high-pass of an order.
  private static func refined(
    _ start: AdmittanceModel, _ response: MeasuredResponse, highPassOrder: Int,
    _ termination: LevenbergMarquardt.Termination
  ) -> Candidate {
    var start = start
    start.inputFilter.highPassOrder = highPassOrder
    if start.inputFilter.highPassCorner == 0 {
      start.inputFilter.highPassCorner = initialHighPassHertz
    }
    let unusedCount = highPassOrder > 0 ? 0 : 1
    let point = LevenbergMarquardt.fit(
      from: parameters(of: start), steps: parameterSteps.dropLast(unusedCount),
      bounds: bounds.dropLast(unusedCount), termination: termination
    ) { fitGain(of: model(at: $0, highPassOrder: highPassOrder), to: response).residuals }
    let refined = model(at: point, highPassOrder: highPassOrder)
    return (fitGain(of: refined, to: response).cost, refined)
  }

  /// Returns the power of the difference between the response and that without a resonance.
  private static func motionalPower(
    of model: AdmittanceModel, gain: Double, _ response: MeasuredResponse
  ) -> Double {
    var blocked = model
    blocked.impedanceRiseRatio = 0
    return response.groups.reduce(0) {
      $0 + $1.weight * ($1.gain - blocked.value(atHertz: $1.hertz) * gain).power
    }
  }

  // MARK: - Parameters

  private static func parameters(of model: AdmittanceModel) -> [Double] {
    var parameters = [
      log(model.resonance), log(model.loadedQuality), log(model.impedanceRiseRatio),
      log(model.coilTimeConstant), model.delaySeconds / ResonanceFit.delayUnitSeconds,
    ]
    if model.inputFilter.highPassOrder > 0 {
      parameters.append(log(model.inputFilter.highPassCorner))
    }
    return parameters
  }

  private static func model(at point: [Double], highPassOrder: Int) -> AdmittanceModel {
    var model = AdmittanceModel(
      resonance: exp(point[0]), loadedQuality: exp(point[1]), impedanceRiseRatio: exp(point[2]),
      coilTimeConstant: exp(point[3]), delaySeconds: point[4] * ResonanceFit.delayUnitSeconds)
    if highPassOrder > 0 {
      model.inputFilter.highPassCorner = exp(point[5])
      model.inputFilter.highPassOrder = highPassOrder
    }
    return model
  }

  private static var bounds: [ClosedRange<Double>] {
    func logarithms(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
      log(range.lowerBound)...log(range.upperBound)
    }

    return [
      logarithms(SweepSignal.frequencyRange), logarithms(ResonanceFit.qualityFactorRange),
      logarithms(1e-3...1e3), logarithms(1e-7...5e-3), -1e7...1e7,
      logarithms(ResonanceFit.highPassCornerRange),
    ]
  }

  // MARK: - Starting points

  /// Returns the best models of a grid by magnitude, each with its best delay.
  private static func startingModels(
    for response: MeasuredResponse, band: ClosedRange<Double>, highPassOrders: ClosedRange<Int>
  ) -> [AdmittanceModel] {
    let groups = response.subsampled(by: 6).groups
    let grid = gridModels(highPassOrders: highPassOrders)
    var candidates: [Candidate] = []
    for step in 1..<max(2, Int(12 * log2(band.upperBound / band.lowerBound))) {
      for gridModel in grid {
        var model = gridModel
        model.resonance = band.lowerBound * pow(2, Double(step) / 12)
        candidates.append((magnitudeCost(of: model, groups), model))
      }
    }
    var models: [AdmittanceModel] = []
    for (_, candidate) in candidates.sorted(by: { $0.cost < $1.cost })
    where models.count < maximumStartCount {
      let isDistinct = models.allSatisfy {
        abs(log2(candidate.resonance / $0.resonance)) > minimumStartDistance
      }
      guard isDistinct else { continue }
      var model = candidate
      let terms = response.groups.map { group in
        (group.hertz, group.gain * model.value(atHertz: group.hertz).conjugate * group.weight)
      }
      model.delaySeconds = DelaySearch.delay(
        of: terms, within: 0.5 / band.lowerBound, ignoresSign: true)
      models.append(model)
    }
    return models
  }

  /// Returns the grid over all parameters but the resonance.
  private static func gridModels(highPassOrders: ClosedRange<Int>) -> [AdmittanceModel] {
    var models: [AdmittanceModel] = []
    for quality in [0.5, 1.5, 5] {
      for timeConstant in [1e-5, 1e-4, 4e-4] {
        for order in 0...min(1, highPassOrders.upperBound) {
          for rise in [0.5, 3] {
            var model = AdmittanceModel(
              resonance: 1, loadedQuality: quality, impedanceRiseRatio: rise,
              coilTimeConstant: timeConstant)
            model.inputFilter.highPassCorner = initialHighPassHertz
            model.inputFilter.highPassOrder = order
            models.append(model)
          }
        }
      }
    }
    return models
  }

  /// Returns the cost of a model's magnitude with its best gain, up to a constant.
  private static func magnitudeCost(
    of model: AdmittanceModel, _ groups: [MeasuredResponse.Group]
  ) -> Double {
    var product = 0.0
    var modelPower = 1e-300
    for group in groups {
      let magnitude = model.value(atHertz: group.hertz).magnitude
      product += group.weight * magnitude * group.gain.magnitude
      modelPower += group.weight * magnitude * magnitude
    }
    return -product * product / modelPower
  }

  /// Returns the gain that minimizes the squared residuals of a response.
  private static func fitGain(
    of model: AdmittanceModel, to response: MeasuredResponse
  ) -> GainFit {
    let values = zip(response.groups, response.rootWeights).map {
      model.value(atHertz: $0.hertz) * $1
    }
    var product = 0.0
    var modelPower = 1e-300
    for (value, measured) in zip(values, response.weightedGains) {
      product += value.real * measured.real + value.imaginary * measured.imaginary
      modelPower += value.power
    }
    let gain = product / modelPower
    let residuals = zip(values, response.weightedGains).flatMap { value, measured in
      let residual = measured - value * gain
      return [residual.real, residual.imaginary]
    }
    return GainFit(gain: gain, residuals: residuals)
  }
}
