internal import CMath
internal import HapticRender

/// The transfer function from the played signal to the recording.
///
/// The gain of each resonance is not included.
///
///     signal → coil → Σ gain · resonance → delay → sensor (jω)ⁿ → recorder's high-pass → recording
///
/// Each resonance is a second-order band-pass of displacement, 1 / (1 − r² + j r/Q) with
/// r = f / f₀. The sensor multiplies it by (jr)ⁿ, where n is the order of the derivative that it
/// measures. The coil is a first-order low-pass; the high-pass is of first order, or a Butterworth
/// filter of second order.
struct TransferFunction: Equatable {
  /// A resonance of the transducer.
  struct Mode: Equatable, BitwiseCopyable {
    /// The frequency of the resonance, in hertz.
    var resonanceHertz: Double
    var qualityFactor: Double
  }

  /// The best-fitting gains of the resonances for a response, and the residuals of the fit.
  struct GainFit {
    /// The gain of each resonance; negative for inverted polarity.
    let gainsByResonance: [Double]
    /// The cost of the fit: the sum of its squared residuals.
    let squaredResidualSum: Double
    /// The weighted residuals: the real and the imaginary part for each group in turn.
    ///
    /// Each residual is multiplied by the square root of the group's weight.
    let weightedResiduals: [Double]
  }

  var modes: [Mode]
  /// The delay of the whole response, in seconds.
  var delaySeconds: Double
  /// The order of the derivative of displacement that the sensor measures.
  ///
  /// The order is 2 for acceleration, 1 for velocity, and 0 for displacement.
  var derivativeOrder: Int
  /// The electrical time constant of the coil, in seconds; 0 for no effect.
  var coilTimeConstantSeconds = 0.0
  /// The corner frequency of the high-pass at the recorder's input, in hertz.
  var highPassHertz = 0.0
  /// The order of the recorder's high-pass: 0 (no filter), 1, or 2.
  var highPassOrder = 0

  /// The main resonance of the transducer.
  var mainMode: Mode { modes[0] }

  /// Returns the response of a resonance at a frequency, without filters and delay.
  ///
  /// The response is scaled to magnitude 1 at the resonance.
  ///
  /// - Parameters:
  ///   - index: The index of the resonance.
  ///   - hertz: The frequency.
  func undelayedModeResponse(_ index: Int, atHertz hertz: Double) -> Phasor {
    let mode = modes[index]
    let frequencyRatio = hertz / mode.resonanceHertz
    let numerator =
      switch derivativeOrder {
      case 2: Phasor(-frequencyRatio * frequencyRatio, 0)
      case 1: Phasor(0, frequencyRatio)
      default: Phasor(1, 0)
      }
    let scaledNumerator = numerator * (1 / mode.qualityFactor)
    return scaledNumerator
      / Phasor(1 - frequencyRatio * frequencyRatio, frequencyRatio / mode.qualityFactor)
  }

  /// Returns the response of the coil's low-pass and the recorder's high-pass at a frequency.
  func filterResponse(atHertz hertz: Double) -> Phasor {
    let highPassFactor = highPassResponse(atHertz: hertz)
    guard coilTimeConstantSeconds > 0 else { return highPassFactor }
    return highPassFactor / Phasor(1, 2 * .pi * hertz * coilTimeConstantSeconds)
  }

  /// Returns the response of the recorder's high-pass at a frequency.
  func highPassResponse(atHertz hertz: Double) -> Phasor {
    let cornerFrequencyRatio = hertz / max(highPassHertz, 1e-9)
    switch highPassOrder {
    case 1: return Phasor(0, cornerFrequencyRatio) / Phasor(1, cornerFrequencyRatio)
    case 2:
      return Phasor(-cornerFrequencyRatio * cornerFrequencyRatio, 0)
        / Phasor(
          1 - cornerFrequencyRatio * cornerFrequencyRatio, 2.0.squareRoot() * cornerFrequencyRatio)
    default: return Phasor(1, 0)
    }
  }

  /// Returns the complex phase factor of the delay at a frequency, exp(−jωτ).
  func delayPhaseFactor(atHertz hertz: Double) -> Phasor {
    let delayAngle = 2 * Double.pi * hertz * delaySeconds
    return Phasor(cos(delayAngle), -sin(delayAngle))
  }

  /// Returns the gains of the resonances with the smallest squared residuals for a response.
  ///
  /// The gains are linear parameters, so they follow from the normal equations. Only the other
  /// parameters require a search.
  func fitGains(to response: MeasuredResponse) -> GainFit {
    let designColumns = designMatrix(for: response)
    let measuredGains = response.weightedRecordedToPlayedRatios
    let equationRows = designColumns.indices.map { row in
      designColumns.indices.map { column in
        // A minimal ridge keeps two equal resonances solvable.
        Self.realDotProduct(designColumns[row], designColumns[column])
          * (row == column ? 1 + 1e-12 : 1)
      } + [Self.realDotProduct(designColumns[row], measuredGains)]
    }
    let fittedGains =
      LevenbergMarquardt.solveLinearSystem(equationRows) ?? designColumns.map { _ in 0 }
    var weightedResiduals: [Double] = []
    weightedResiduals.reserveCapacity(2 * measuredGains.count)
    var squaredResidualSum = 0.0
    for index in measuredGains.indices {
      var residual = measuredGains[index]
      for mode in designColumns.indices {
        residual = residual - designColumns[mode][index] * fittedGains[mode]
      }
      weightedResiduals.append(residual.real)
      weightedResiduals.append(residual.imaginary)
      squaredResidualSum += residual.power
    }
    return GainFit(
      gainsByResonance: fittedGains, squaredResidualSum: squaredResidualSum,
      weightedResiduals: weightedResiduals)
  }

  /// Returns the design matrix: the weighted response of each resonance with gain 1.
  private func designMatrix(for response: MeasuredResponse) -> [[Phasor]] {
    let groups = response.groups
    var matrixColumns = [[Phasor]](
      repeating: [Phasor](repeating: .zero, count: groups.count), count: modes.count)
    for index in groups.indices {
      let hertz = groups[index].meanHertz
      let common =
        filterResponse(atHertz: hertz) * delayPhaseFactor(atHertz: hertz)
        * response.groupWeightSquareRoots[index]
      for mode in modes.indices {
        matrixColumns[mode][index] = undelayedModeResponse(mode, atHertz: hertz) * common
      }
    }
    return matrixColumns
  }

  /// Returns the real part of the inner product of two columns of the design matrix.
  private static func realDotProduct(_ first: [Phasor], _ second: [Phasor]) -> Double {
    var productSum = 0.0
    for index in first.indices {
      let real = first[index].real * second[index].real
      let imaginary = first[index].imaginary * second[index].imaginary
      productSum += real + imaginary
    }
    return productSum
  }
}

extension TransducerMeasurement.SensorQuantity {
  /// The order of the derivative of displacement that the sensor measures.
  var derivativeOrder: Int {
    switch self {
    case .acceleration: 2
    case .velocity: 1
    case .displacement: 0
    }
  }
}
