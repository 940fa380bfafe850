internal import CMath

/// Starting points for a resonance fit.
///
/// A least-squares search finds only the nearest minimum, so it starts from the best points of a
/// grid over resonance and quality factor. The grid is compared by magnitude only: without phase,
/// the cost has few local minima. Then each starting point receives the delay that fits it best.
enum InitialResonanceEstimates {
  /// The number of grid steps of the resonance frequency per octave.
  private static let resonanceStepsPerOctave = 24.0
  /// The quality factors in the grid, from 0.4 to 40.
  private static let qualityFactorGrid = (0..<13).map { 0.4 * pow(100, Double($0) / 12) }
  /// The number of response groups per averaged magnitude.
  private static let groupCountPerMagnitude = 3
  /// The maximum number of starting points.
  private static let maximumEstimateCount = 4

  /// The minimum distance between the resonances of two starting points, in octaves.
  ///
  /// Closer points lead to the same minimum.
  private static let minimumResonanceDistanceOctaves = 1.0 / 6
  /// The minimum difference between the logarithms of the quality factors of two starting points.
  private static let minimumLogQualityDistance = 0.8

  /// A magnitude of the response, averaged over several groups.
  private struct AveragedMagnitude {
    var hertz: Double
    var meanMagnitude: Double
    var magnitudeWeight: Double
  }

  /// Returns starting points for a fit with one type of sensor, the best first.
  ///
  /// Each starting point has its best delay.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - derivativeOrder: The order of the derivative that the sensor measures.
  ///   - band: The band of the sweep.
  static func estimates(
    for response: MeasuredResponse, derivativeOrder: Int, band: ClosedRange<Double>
  ) -> [TransferFunction] {
    let groupMagnitudes = magnitudes(of: response)
    let stepCount = Int(resonanceStepsPerOctave * log2(band.upperBound / band.lowerBound))
    var candidates: [(cost: Double, transferFunction: TransferFunction)] = []
    for step in 0...max(1, stepCount) {
      let hertz = band.lowerBound * pow(2, Double(step) / resonanceStepsPerOctave)
      for qualityFactor in qualityFactorGrid {
        let candidate = TransferFunction(
          modes: [.init(resonanceHertz: hertz, qualityFactor: qualityFactor)], delaySeconds: 0,
          derivativeOrder: derivativeOrder)
        candidates.append((magnitudeCost(of: candidate, groupMagnitudes), candidate))
      }
    }
    var distinctEstimates: [TransferFunction] = []
    for (_, candidate) in candidates.sorted(by: { $0.cost < $1.cost })
    where distinctEstimates.count < maximumEstimateCount {
      let isDistinct = distinctEstimates.allSatisfy { areDistinct(candidate.mainMode, $0.mainMode) }
      if isDistinct {
        distinctEstimates.append(candidate)
      }
    }
    return distinctEstimates.map { fittingDelay(of: $0, to: response, band: band) }
  }

  /// Returns a transfer function with one resonance and the best-fitting delay for a response.
  ///
  /// - Parameters:
  ///   - transferFunction: The transfer function; its own delay is ignored.
  ///   - response: The measured response.
  ///   - band: The band of the sweep, half of whose longest period is the maximum delay.
  static func fittingDelay(
    of transferFunction: TransferFunction, to response: MeasuredResponse, band: ClosedRange<Double>
  ) -> TransferFunction {
    let delayTerms = response.groups.map { group in
      let value =
        transferFunction.undelayedModeResponse(0, atHertz: group.meanHertz)
        * transferFunction.filterResponse(atHertz: group.meanHertz)
      return (
        hertz: group.meanHertz,
        value: value.conjugate * group.recordedToPlayedRatio * group.sweepPower
      )
    }
    var alignedFunction = transferFunction
    alignedFunction.delaySeconds = DelaySearch.delay(
      of: delayTerms, within: 0.5 / band.lowerBound, ignoresSign: true)
    return alignedFunction
  }

  private static func magnitudes(of response: MeasuredResponse) -> [AveragedMagnitude] {
    stride(from: 0, to: response.groups.count, by: groupCountPerMagnitude).map { start in
      let groups = response.groups[
        start..<min(start + groupCountPerMagnitude, response.groups.count)]
      let weight = groups.reduce(0) { $0 + $1.sweepPower }
      return AveragedMagnitude(
        hertz: groups.reduce(0) { $0 + $1.sweepPower * $1.meanHertz } / weight,
        meanMagnitude: groups.reduce(0) { $0 + $1.sweepPower * $1.recordedToPlayedRatio.magnitude }
          / weight,
        magnitudeWeight: weight)
    }
  }

  private static func areDistinct(
    _ first: TransferFunction.Mode, _ second: TransferFunction.Mode
  ) -> Bool {
    abs(log2(first.resonanceHertz / second.resonanceHertz)) > minimumResonanceDistanceOctaves
      || abs(log(first.qualityFactor / second.qualityFactor)) > minimumLogQualityDistance
  }

  /// Returns the cost of fitting a single resonance to magnitudes: −(Σ w m r)² / Σ w m².
  ///
  /// The resonance has the best-fitting gain. A constant is omitted from the cost.
  private static func magnitudeCost(
    of transferFunction: TransferFunction, _ magnitudes: [AveragedMagnitude]
  ) -> Double {
    var amplitudeProduct = 0.0
    var modelPower = 0.0
    for magnitude in magnitudes {
      let power = transferFunction.undelayedModeResponse(0, atHertz: magnitude.hertz).power
      amplitudeProduct += magnitude.magnitudeWeight * power.squareRoot() * magnitude.meanMagnitude
      modelPower += magnitude.magnitudeWeight * power
    }
    return modelPower > 0 ? -amplitudeProduct * amplitudeProduct / modelPower : 0
  }
}
