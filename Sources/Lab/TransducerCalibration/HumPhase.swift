internal import CMath

/// The phase of mains hum over time.
///
/// The frequency of the hum is constant or a polynomial of time, up to degree two.
///
/// Within each silence, the frequency is known only to some hundredths of a hertz. Between
/// silences, the phase shows the mean frequency to millihertz, except for whole cycles:
///
/// 1. The amplitudes of all silences are equal, so the phase of each silence relative to the first
///    is the phase at which the combined fit explains the most.
/// 2. The frequencies within the silences select the number of whole cycles between them.
/// 3. A polynomial is fitted to the frequencies within the silences and the mean frequencies
///    between them, weighted by their accuracy.
struct HumPhase {
  /// An observed hum frequency, as a linear equation for the frequency polynomial's coefficients.
  private struct FrequencyObservation {
    /// The factors of the polynomial's coefficients in the equation.
    var polynomialTermFactors: SIMD3<Double>
    /// The observed frequency, in hertz.
    var hertz: Double
    /// The standard deviation of the observed frequency, in hertz.
    var standardDeviationHertz: Double
  }

  /// The coefficients of the frequency polynomial: constant term in hertz, slope, and curvature.
  private var frequencyPolynomial = SIMD3<Double>()
  /// The origin of the polynomial's time axis, in seconds from the start of the recording.
  private var originSeconds = 0.0

  /// The number of candidate phases that are compared for each silence.
  private static let candidatePhaseCount = 32
  /// The number of step halvings that refine the best candidate phase of a silence.
  private static let phaseRefinementStepCount = 8
  /// The standard deviation of a frequency measured within one silence, in hertz.
  private static let silenceHertzStandardDeviation = 0.02
  /// The standard deviation of a mean frequency measured between two silences, in hertz.
  private static let meanHertzStandardDeviation = 0.002

  /// Creates the phase of a constant frequency.
  init(hertz: Double) { frequencyPolynomial.x = hertz }

  /// Tracks the phase of the hum through the silences of a recording.
  ///
  /// Returns nil for fewer than two silences.
  ///
  /// - Parameter silences: The silences with the frequencies of their separate fits.
  init?(through silences: [(silence: HumSilence, hertz: Double)]) {
    guard silences.count > 1 else { return nil }
    let phasesCycles = Self.relativePhases(of: silences)
    let silenceCenterSeconds = silences.map(\.silence.centerSeconds)
    let meanCenterSeconds = silenceCenterSeconds.reduce(0, +) / Double(silenceCenterSeconds.count)
    originSeconds = meanCenterSeconds
    let secondsFromCenter = silenceCenterSeconds.map { $0 - meanCenterSeconds }
    var frequencyObservations = zip(secondsFromCenter, silences).map { time, entry in
      FrequencyObservation(
        polynomialTermFactors: Self.polynomialTerms(at: time), hertz: entry.hertz,
        standardDeviationHertz: Self.silenceHertzStandardDeviation)
    }
    frequencyPolynomial = Self.polynomialCoefficients(
      fitting: frequencyObservations, count: min(3, secondsFromCenter.count))
    for index in secondsFromCenter.indices.dropFirst() {
      let interval = secondsFromCenter[index] - secondsFromCenter[index - 1]
      let expectedCycles =
        cycles(at: silenceCenterSeconds[index]) - cycles(at: silenceCenterSeconds[index - 1])
      let fraction = phasesCycles[index] - phasesCycles[index - 1]
      let wholeCycles = (expectedCycles - fraction).rounded()
      frequencyObservations.append(
        FrequencyObservation(
          polynomialTermFactors: Self.meanPolynomialTerms(
            from: secondsFromCenter[index - 1], to: secondsFromCenter[index]),
          hertz: (wholeCycles + fraction) / interval,
          standardDeviationHertz: Self.meanHertzStandardDeviation))
    }
    frequencyPolynomial = Self.polynomialCoefficients(
      fitting: frequencyObservations, count: min(3, frequencyObservations.count - 1))
  }

  /// The frequency of the hum at the polynomial's origin, in hertz.
  var originHertz: Double { frequencyPolynomial.x }

  /// Returns the number of hum cycles from the origin to a time: the integral of the frequency.
  func cycles(at seconds: Double) -> Double {
    let secondsFromOrigin = seconds - originSeconds
    let frequencySlope = frequencyPolynomial.y
    let frequencyCurvature = frequencyPolynomial.z
    let meanFrequencyChange =
      secondsFromOrigin * (frequencySlope / 2 + secondsFromOrigin * frequencyCurvature / 3)
    return secondsFromOrigin * (frequencyPolynomial.x + meanFrequencyChange)
  }

  // MARK: - Phases

  /// Returns the phase of the hum in each silence relative to the first silence, in cycles.
  private static func relativePhases(of silences: [(silence: HumSilence, hertz: Double)])
    -> [Double]
  {
    let silenceEquations = silences.map { entry in
      entry.silence.normalEquations { ($0 - entry.silence.centerSeconds) * entry.hertz }
    }
    var combinedEquations = silenceEquations[0]
    var phasesCycles = [0.0]
    for next in silenceEquations.dropFirst() {
      // The combined equations of the preceding silences determine the amplitudes.
      let (phase, sum) = bestPhase(of: next, relativeTo: combinedEquations)
      combinedEquations = sum
      phasesCycles.append(phase)
    }
    return phasesCycles
  }

  /// Returns the signal energy that a solution of the normal equations explains.
  ///
  /// - Parameters:
  ///   - coefficients: The solution.
  ///   - rows: The normal equations, each with its right side at the end.
  static func explainedEnergy(by coefficients: [Double], of rows: [[Double]]) -> Double {
    zip(coefficients, rows).reduce(0) { $0 + $1.0 * ($1.1.last ?? 0) }
  }

  /// Returns the phase shift with which two systems of normal equations explain the most energy.
  ///
  /// The first system is shifted, and then added to the second system. The result includes the sum.
  private static func bestPhase(
    of rows: [[Double]], relativeTo combined: [[Double]]
  ) -> (phase: Double, sum: [[Double]]) {
    var bestCandidate = (explainedEnergy: -Double.infinity, phase: 0.0, sum: combined)

    func considerPhase(_ phase: Double) {
      let sum = sumOfNormalEquations(combined, phaseShifted(rows, by: phase))
      guard let coefficients = LevenbergMarquardt.solveLinearSystem(sum) else { return }
      let explainedEnergy = explainedEnergy(by: coefficients, of: sum)
      if explainedEnergy > bestCandidate.explainedEnergy {
        bestCandidate = (explainedEnergy, phase, sum)
      }
    }

    for step in 0..<candidatePhaseCount {
      considerPhase(Double(step) / Double(candidatePhaseCount))
    }
    var phaseStep = 0.5 / Double(candidatePhaseCount)
    for _ in 0..<phaseRefinementStepCount {
      let center = bestCandidate.phase
      considerPhase(center - phaseStep)
      considerPhase(center + phaseStep)
      phaseStep /= 2
    }
    return (bestCandidate.phase, bestCandidate.sum)
  }

  /// Returns the elementwise sum of two systems of normal equations.
  static func sumOfNormalEquations(_ first: [[Double]], _ second: [[Double]]) -> [[Double]] {
    zip(first, second).map { zip($0, $1).map(+) }
  }

  /// Returns the normal equations after an advance of the fundamental's phase, in cycles.
  ///
  /// Each harmonic's sine and cosine are rotated.
  private static func phaseShifted(_ rows: [[Double]], by cycles: Double) -> [[Double]] {
    var shiftedRows = rows
    for harmonic in 0..<MainsHum.harmonicCount {
      let angle = 2 * Double.pi * cycles * Double(harmonic + 1)
      let cosine = cos(angle)
      let sine = sin(angle)
      let first = 2 * harmonic
      let second = 2 * harmonic + 1
      for column in shiftedRows[first].indices {
        let sineTerm = shiftedRows[first][column]
        let cosineTerm = shiftedRows[second][column]
        shiftedRows[first][column] = cosine * sineTerm + sine * cosineTerm
        shiftedRows[second][column] = cosine * cosineTerm - sine * sineTerm
      }
      for row in shiftedRows.indices {
        let sineTerm = shiftedRows[row][first]
        let cosineTerm = shiftedRows[row][second]
        shiftedRows[row][first] = cosine * sineTerm + sine * cosineTerm
        shiftedRows[row][second] = cosine * cosineTerm - sine * sineTerm
      }
    }
    return shiftedRows
  }

  // MARK: - Polynomial

  /// Returns the factors of the polynomial's coefficients in the hum frequency at a time.
  private static func polynomialTerms(at time: Double) -> SIMD3<Double> { [1, time, time * time] }

  /// Returns the factors of the polynomial's coefficients in an interval's mean hum frequency.
  private static func meanPolynomialTerms(from start: Double, to end: Double) -> SIMD3<Double> {
    [1, (start + end) / 2, (start * start + start * end + end * end) / 3]
  }

  /// Returns the coefficients of the frequency polynomial that fits observed frequencies best.
  ///
  /// - Parameters:
  ///   - observations: The observed frequencies.
  ///   - count: The number of coefficients to fit; the others are 0.
  private static func polynomialCoefficients(
    fitting observations: [FrequencyObservation], count: Int
  ) -> SIMD3<Double> {
    var equationRows = [[Double]](repeating: [Double](repeating: 0, count: count + 1), count: count)
    for observation in observations {
      let weight = 1 / (observation.standardDeviationHertz * observation.standardDeviationHertz)
      let terms = observation.polynomialTermFactors
      for row in 0..<count {
        for column in 0..<count {
          equationRows[row][column] += weight * terms[row] * terms[column]
        }
        equationRows[row][count] += weight * terms[row] * observation.hertz
      }
    }
    var solvedCoefficients = SIMD3<Double>()
    for (index, coefficient) in (LevenbergMarquardt.solveLinearSystem(equationRows) ?? [])
      .enumerated()
    {
      solvedCoefficients[index] = coefficient
    }
    return solvedCoefficients
  }
}
