internal import CMath
internal import SignalAnalysis

/// A tone at the center of a window: `amplitude · cos(phase + 2π · hertz · t)`.
struct WindowTone {
  var hertz: Double
  var amplitude: Double
  /// The phase at the center of the window, in radians.
  var centerPhase: Double

  /// Returns the phase of the tone at a time after the center of its window, in radians.
  func phase(after seconds: Double, hertz: Double) -> Double {
    centerPhase + 2 * .pi * hertz * seconds
  }
}

/// A short part of a signal that consists only of steady tones.
struct ToneWindow {
  /// The sample index of the window's center.
  var centerSample: Int
  /// The number of samples on each side of the window's center.
  var halfLengthSamples: Int
  /// The tones of the window; empty for silence.
  var tones: [WindowTone]

  /// The range of samples that the window covers.
  var samples: Range<Int> {
    centerSample - halfLengthSamples..<centerSample + halfLengthSamples + 1
  }
}

/// The fit of up to three tones to a short window.
///
/// 1. The window is folded at its center. Its even part consists of cosines, its odd part of sines,
///    so that each part has one dimension for each tone.
/// 2. The signal subspace of each part is the span of the strongest eigenvectors of its covariance,
///    by orthogonal iteration. A cosine and a sine have the same recurrence,
///    `x[n − 1] + x[n + 1] = 2 cos ω · x[n]`, which is invariant under rotations of the subspace:
///    the eigenvalues of the matrix that solves it are 2 cos ω of each tone (R. Roy, T. Kailath,
///    "ESPRIT", IEEE Transactions on Acoustics, Speech, and Signal Processing 37, 1989).
/// 3. Amplitudes that vary as polynomials are fitted by least squares. The Bayesian information
///    criterion selects the number of tones and the degree.
/// 4. A window is accepted if the residual is small everywhere. Around an edge or a burst, it is
///    not.
struct ToneWindowFit {
  /// The number of samples on each side of the window's center.
  let halfLengthSamples: Int
  private let sampleRate: Double
  private let maximumToneCount: Int
  private let permittedHertz: ClosedRange<Double>
  /// The number of statistically independent samples in a window.
  private let independentSampleCount: Double
  /// The signal subspaces of the even and the odd part of the previous window.
  ///
  /// These subspaces are the starting values for the next window.
  private var subspaces: [SignalSubspace]
  private var evenPart: [Double]
  private var oddPart: [Double]

  /// The maximum residual of an accepted window, relative to its power.
  private static let maximumResidualPowerFraction = 0.003
  /// The residual power that counts as zero, relative to the power of the window.
  private static let negligibleResidualPowerFraction = 1e-4
  /// The maximum residual power of a block, relative to the limit for the whole window.
  ///
  /// The block has eight samples. The limit detects a short gap between two tones.
  private static let maximumBlockToLimitRatio = 3.5
  /// The number of consecutive samples in a block.
  private static let blockSampleCount = 8
  /// The minimum frequency difference between two tones, in cycles per window.
  private static let minimumToneDistanceCyclesPerWindow = 0.2
  /// The number of statistically independent samples per second, for each hertz of bandwidth.
  ///
  /// The bandwidth is the profile's highest frequency.
  private static let independentSamplesPerHertz = 3.2
  /// The maximum degree of the amplitude polynomials for one, two, and three tones.
  private static let maximumAmplitudeDegrees = [2, 1, 0]

  /// Prepares the fit of windows of a fixed length at a sample rate.
  ///
  /// - Parameters:
  ///   - duration: The duration of a window, in seconds.
  ///   - maximumToneCount: The maximum number of tones, up to 3.
  ///   - rate: The sample rate, in hertz.
  ///   - band: The frequencies of the profile, in hertz.
  init(duration: Double, maximumToneCount: Int, sampleRate rate: Double, band: ClosedRange<Double>)
  {
    halfLengthSamples = max(8, Int(duration * rate) / 2)
    self.sampleRate = rate
    self.maximumToneCount = maximumToneCount
    permittedHertz = 0.85 * band.lowerBound...1.18 * band.upperBound
    let windowSampleCount = Double(2 * halfLengthSamples + 1)
    independentSampleCount = max(
      8, Self.independentSamplesPerHertz * band.upperBound * windowSampleCount / rate)
    let foldedLength = halfLengthSamples / 2
    subspaces = [
      SignalSubspace(describesEvenPart: true, foldedLength: foldedLength),
      SignalSubspace(describesEvenPart: false, foldedLength: foldedLength),
    ]
    evenPart = [Double](repeating: 0, count: halfLengthSamples + 1)
    oddPart = evenPart
  }

  /// A model of a window, with its residual.
  private struct Model {
    var toneHertz: [Double]
    var amplitudeDegree: Int
    /// The least-squares coefficients of the even part, by tone and degree.
    var evenCoefficients: [Double]
    var oddCoefficients: [Double]
    /// The mean square of the model's residual.
    var residualPower: Double
    var informationCriterion: Double
  }

  /// Returns the tones of a window, or nil if tones do not explain it.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - center: The center of the window.
  ///   - minimumPower: The power below which a window is silent.
  ///   - noisePower: The power of the noise.
  mutating func tones(
    in samples: [Float], at center: Int, minimumPower: Double, noisePower: Double
  ) -> [WindowTone]? {
    let windowSamples = (center - halfLengthSamples...center + halfLengthSamples).map { index in
      samples.indices.contains(index) ? Double(samples[index]) : 0
    }
    let windowPower = Vector.energy(windowSamples) / Double(windowSamples.count)
    guard windowPower >= minimumPower else { return [] }
    setEvenAndOddParts(from: windowSamples)
    let residualFloor = Self.negligibleResidualPowerFraction * windowPower + noisePower + 1e-14
    let scoreWithoutTones = independentSampleCount * log(windowPower + residualFloor)
    var bestModel: Model?
    for index in subspaces.indices {
      subspaces[index].update(with: windowSamples)
    }
    for toneCount in 1...maximumToneCount {
      guard let hertz = frequencies(count: toneCount) else { continue }
      let maximumDegree = Self.maximumAmplitudeDegrees[toneCount - 1]
      let columns = designColumns(hertz, maximumDegree: maximumDegree)
      for degree in 0...maximumDegree {
        let model = fittedModel(
          hertz, columns: columns, degree: degree, residualFloor: residualFloor)
        let isPlausible = (0..<toneCount).allSatisfy {
          tone(model, $0).amplitude < 3 * (2 * windowPower).squareRoot()
        }
        if isPlausible,
          model.informationCriterion < bestModel?.informationCriterion ?? scoreWithoutTones
        {
          bestModel = model
        }
      }
      if let bestModel, bestModel.residualPower < Self.negligibleResidualPowerFraction * windowPower
      {
        break
      }
    }
    let maximumResidualPower = max(Self.maximumResidualPowerFraction * windowPower, 4 * noisePower)
    guard let bestModel, bestModel.residualPower < maximumResidualPower,
      maximumBlockPower(of: bestModel) < Self.maximumBlockToLimitRatio * maximumResidualPower
    else { return nil }
    return bestModel.toneHertz.indices.map { tone(bestModel, $0) }
  }

  private mutating func setEvenAndOddParts(from window: [Double]) {
    for offset in 0...halfLengthSamples {
      let after = window[halfLengthSamples + offset]
      let before = window[halfLengthSamples - offset]
      evenPart[offset] = (after + before) / 2
      oddPart[offset] = (after - before) / 2
    }
  }

  /// Estimates the frequencies of a number of tones.
  ///
  /// Returns nil if the frequencies are not distinct or are outside of the profile's band.
  private func frequencies(count: Int) -> [Double]? {
    guard let evenHertz = subspaces[0].frequencies(count: count, rate: sampleRate),
      let oddHertz = subspaces[1].frequencies(count: count, rate: sampleRate)
    else { return nil }
    let toneHertz = zip(evenHertz, oddHertz).map { ($0 + $1) / 2 }
    let minimumDistanceHertz =
      Self.minimumToneDistanceCyclesPerWindow * sampleRate / Double(2 * halfLengthSamples + 1)
    let areTonesDistinct = zip(toneHertz, toneHertz.dropFirst()).allSatisfy {
      $1 - $0 > minimumDistanceHertz
    }
    return areTonesDistinct && toneHertz.allSatisfy(permittedHertz.contains) ? toneHertz : nil
  }

  /// Returns the frequency, amplitude, and phase of a model's tone at the center of the window.
  private func tone(_ model: Model, _ index: Int) -> WindowTone {
    let cosineCoefficient = model.evenCoefficients[index * (model.amplitudeDegree + 1)]
    let sineCoefficient = model.oddCoefficients[index * (model.amplitudeDegree + 1)]
    return WindowTone(
      hertz: model.toneHertz[index],
      amplitude: (cosineCoefficient * cosineCoefficient + sineCoefficient * sineCoefficient)
        .squareRoot(),
      centerPhase: atan2(-sineCoefficient, cosineCoefficient))
  }

  // MARK: - Least squares

  /// The columns of the design matrices for the even and the odd part.
  ///
  /// For each tone, there is one column for each power of time.
  private struct DesignColumns {
    var evenColumnsByTone: [[[Double]]] = []
    var oddColumnsByTone: [[[Double]]] = []

    /// Returns the columns of amplitudes of a degree, by tone and power.
    func columns(ofDegree degree: Int) -> (even: [[Double]], odd: [[Double]]) {
      (
        evenColumnsByTone.flatMap { $0.prefix(degree + 1) },
        oddColumnsByTone.flatMap { $0.prefix(degree + 1) }
      )
    }
  }

  /// Returns the columns of the design matrices up to a degree.
  ///
  /// An even power of time keeps the symmetry of a cosine or a sine, and an odd power inverts it.
  private func designColumns(_ hertz: [Double], maximumDegree: Int) -> DesignColumns {
    var columns = DesignColumns()
    for frequency in hertz {
      let increment = 2 * .pi * frequency / sampleRate
      var cosine = (0...halfLengthSamples).map { cos(increment * Double($0)) }
      var sine = (0...halfLengthSamples).map { sin(increment * Double($0)) }
      var evenColumns: [[Double]] = []
      var oddColumns: [[Double]] = []
      for power in 0...maximumDegree {
        if power > 0 {
          for offset in 0...halfLengthSamples {
            let time = Double(offset) / Double(halfLengthSamples)
            cosine[offset] *= time
            sine[offset] *= time
          }
        }
        evenColumns.append(power % 2 == 0 ? cosine : sine)
        oddColumns.append(power % 2 == 0 ? sine : cosine)
      }
      columns.evenColumnsByTone.append(evenColumns)
      columns.oddColumnsByTone.append(oddColumns)
    }
    return columns
  }

  private func fittedModel(
    _ hertz: [Double], columns: DesignColumns, degree: Int, residualFloor: Double
  ) -> Model {
    let columnsByParity = columns.columns(ofDegree: degree)
    let evenFit = Self.leastSquares(columnsByParity.even, of: evenPart)
    let oddFit = Self.leastSquares(columnsByParity.odd, of: oddPart)
    let windowSampleCount = Double(2 * halfLengthSamples + 1)
    let residualPower = max(0, evenFit.residualEnergy + oddFit.residualEnergy) / windowSampleCount
    let parameterCount = Double(hertz.count * (2 * (degree + 1) + 1))
    return Model(
      toneHertz: hertz, amplitudeDegree: degree, evenCoefficients: evenFit.coefficients,
      oddCoefficients: oddFit.coefficients, residualPower: residualPower,
      informationCriterion: independentSampleCount * log(residualPower + residualFloor)
        + parameterCount * log(independentSampleCount))
  }

  /// Returns the inner product over the whole window of two even or two odd parts.
  private static func dotProduct(_ first: [Double], _ second: [Double]) -> Double {
    2 * Vector.dot(first, second) - first[0] * second[0]
  }

  private static func leastSquares(
    _ columns: [[Double]], of part: [Double]
  ) -> (coefficients: [Double], residualEnergy: Double) {
    var normalMatrix = SkylineMatrix()
    for row in columns.indices {
      normalMatrix.appendRow((0...row).map { dotProduct(columns[row], columns[$0]) }, startingAt: 0)
    }
    normalMatrix.factorize(regularization: 1e-9)
    let rightSide = columns.map { dotProduct($0, part) }
    let coefficients = normalMatrix.solution(of: rightSide)
    return (coefficients, dotProduct(part, part) - Vector.dot(coefficients, rightSide))
  }

  /// Returns the maximum residual power of a model in any block of eight samples.
  private func maximumBlockPower(of model: Model) -> Double {
    let columnsByParity = designColumns(model.toneHertz, maximumDegree: model.amplitudeDegree)
      .columns(ofDegree: model.amplitudeDegree)
    var evenResidual = evenPart
    var oddResidual = oddPart
    for index in columnsByParity.even.indices {
      Vector.add(
        columnsByParity.even[index], times: -model.evenCoefficients[index], to: &evenResidual, at: 0
      )
      Vector.add(
        columnsByParity.odd[index], times: -model.oddCoefficients[index], to: &oddResidual, at: 0)
    }
    let windowSampleCount = 2 * halfLengthSamples + 1
    var maximumBlockEnergy = 0.0
    for start in stride(from: 0, to: windowSampleCount, by: Self.blockSampleCount) {
      var energy = 0.0
      for position in start..<min(windowSampleCount, start + Self.blockSampleCount) {
        let offset = position - halfLengthSamples
        let sign = offset < 0 ? -1.0 : 1
        let residual = evenResidual[abs(offset)] + sign * oddResidual[abs(offset)]
        energy += residual * residual
      }
      maximumBlockEnergy = max(maximumBlockEnergy, energy)
    }
    return maximumBlockEnergy / Double(Self.blockSampleCount)
  }
}

/// The span of the strongest eigenvectors of a covariance matrix.
///
/// The covariance is that of a window's even or odd part.
private struct SignalSubspace {
  private let describesEvenPart: Bool
  /// The length of the vectors: half the length of the window parts.
  ///
  /// The parts are folded at their centers.
  private let foldedLength: Int
  /// Three orthonormal vectors that span the subspace, sorted by descending eigenvalue.
  private var orthonormalVectors: [[Double]]
  /// The covariance matrix of the window's folded vectors, in rows.
  private var foldedVectorCovariance: [Double]

  private static let subspaceDimension = 3
  /// The number of orthogonal iterations for each window.
  ///
  /// Few are sufficient, because consecutive windows have similar subspaces.
  private static let iterationCountPerWindow = 4

  init(describesEvenPart isEven: Bool, foldedLength: Int) {
    self.describesEvenPart = isEven
    self.foldedLength = foldedLength
    orthonormalVectors = (0..<Self.subspaceDimension).map { vector in
      (0..<foldedLength).map { cos(Double((2 * $0 + 1) * (vector + 1))) }
    }
    foldedVectorCovariance = [Double](repeating: 0, count: foldedLength * foldedLength)
  }

  /// Updates the subspace from all parts of a window that are twice as long as the vectors.
  mutating func update(with window: [Double]) {
    let mirrorSign = describesEvenPart ? 1.0 : -1
    for index in foldedVectorCovariance.indices {
      foldedVectorCovariance[index] = 0
    }
    var foldedSamples = [Double](repeating: 0, count: foldedLength)
    for center in foldedLength...window.count - foldedLength {
      for offset in 0..<foldedLength {
        foldedSamples[offset] = window[center + offset] + mirrorSign * window[center - 1 - offset]
      }
      for row in 0..<foldedLength {
        Vector.add(
          foldedSamples, times: foldedSamples[row], to: &foldedVectorCovariance,
          at: row * foldedLength,
          count: row + 1)
      }
    }
    for row in 0..<foldedLength {
      for column in 0..<row {
        foldedVectorCovariance[column * foldedLength + row] =
          foldedVectorCovariance[row * foldedLength + column]
      }
    }
    for _ in 0..<Self.iterationCountPerWindow {
      orthonormalVectors = orthonormalVectors.map(covarianceProduct)
      orthonormalize()
    }
    rotateToEigenvectors()
  }

  private func covarianceProduct(_ vector: [Double]) -> [Double] {
    (0..<foldedLength).map { row in
      Vector.dot(
        foldedVectorCovariance, from: row * foldedLength, vector, from: 0, count: foldedLength)
    }
  }

  /// Orthonormalizes the vectors by the Gram–Schmidt process, twice for accuracy.
  private mutating func orthonormalize() {
    for index in orthonormalVectors.indices {
      for _ in 0..<2 {
        for previous in 0..<index {
          let projection = Vector.dot(orthonormalVectors[index], orthonormalVectors[previous])
          Vector.add(
            orthonormalVectors[previous], times: -projection, to: &orthonormalVectors[index], at: 0)
        }
        let norm = max(Vector.energy(orthonormalVectors[index]).squareRoot(), 1e-150)
        for position in 0..<foldedLength {
          orthonormalVectors[index][position] /= norm
        }
      }
    }
  }

  /// Rotates the vectors to diagonalize the covariance in their span, and sorts them.
  ///
  /// The vectors are sorted by their eigenvalues. The method is a sequence of Jacobi rotations.
  ///
  /// The rotations are computed with the covariance in the span, VᵀCV, which is a small matrix.
  private mutating func rotateToEigenvectors() {
    let covarianceProducts = orthonormalVectors.map(covarianceProduct)
    var spanCovariance = orthonormalVectors.map { vector in
      covarianceProducts.map { Vector.dot(vector, $0) }
    }
    for _ in 0..<4 {
      for first in 0..<Self.subspaceDimension - 1 {
        for second in first + 1..<Self.subspaceDimension {
          rotateVectors(first, second, &spanCovariance)
        }
      }
    }
    let descendingOrder = orthonormalVectors.indices.sorted {
      spanCovariance[$0][$0] > spanCovariance[$1][$1]
    }
    orthonormalVectors = descendingOrder.map { orthonormalVectors[$0] }
  }

  /// Rotates two vectors so that their mutual covariance becomes 0.
  ///
  /// Their rows and columns of the covariance matrix are rotated as well.
  private mutating func rotateVectors(
    _ first: Int, _ second: Int, _ spanCovariance: inout [[Double]]
  ) {
    let coupling = spanCovariance[first][second]
    let firstVariance = spanCovariance[first][first]
    let secondVariance = spanCovariance[second][second]
    guard abs(coupling) > 1e-14 * (firstVariance + secondVariance) else { return }
    let rotationAngle = atan2(2 * coupling, firstVariance - secondVariance) / 2
    let cosine = cos(rotationAngle)
    let sine = sin(rotationAngle)

    func rotate(_ firstElement: inout Double, _ secondElement: inout Double) {
      let rotatedElement = cosine * firstElement + sine * secondElement
      secondElement = cosine * secondElement - sine * firstElement
      firstElement = rotatedElement
    }

    for position in 0..<foldedLength {
      var firstElement = orthonormalVectors[first][position]
      var secondElement = orthonormalVectors[second][position]
      rotate(&firstElement, &secondElement)
      orthonormalVectors[first][position] = firstElement
      orthonormalVectors[second][position] = secondElement
    }
    for column in spanCovariance.indices {
      var firstElement = spanCovariance[first][column]
      var secondElement = spanCovariance[second][column]
      rotate(&firstElement, &secondElement)
      spanCovariance[first][column] = firstElement
      spanCovariance[second][column] = secondElement
    }
    for row in spanCovariance.indices {
      var firstElement = spanCovariance[row][first]
      var secondElement = spanCovariance[row][second]
      rotate(&firstElement, &secondElement)
      spanCovariance[row][first] = firstElement
      spanCovariance[row][second] = secondElement
    }
  }

  /// Returns the frequencies of the sinusoids that span the subspace, in ascending order.
  ///
  /// Returns nil if sinusoids do not span it.
  func frequencies(count: Int, rate: Double) -> [Double]? {
    let toneSubspaceBasis = orthonormalVectors.prefix(count)
    // With A = the vectors without their last elements and B = the sums of the neighbors of these
    // elements, the frequencies are the eigenvalues of the solution Ψ of A Ψ = B.
    let neighborSums = toneSubspaceBasis.map { vector in
      (0..<foldedLength - 1).map { index -> Double in
        let mirrored = describesEvenPart ? vector[0] : -vector[0]
        return (index == 0 ? mirrored : vector[index - 1]) + vector[index + 1]
      }
    }
    let shortenedVectors = toneSubspaceBasis.map { Array($0.dropLast()) }
    var normalMatrix = SkylineMatrix()
    for row in 0..<count {
      normalMatrix.appendRow(
        (0...row).map { Vector.dot(shortenedVectors[row], shortenedVectors[$0]) }, startingAt: 0)
    }
    normalMatrix.factorize(regularization: 1e-12)
    let recurrenceColumns = neighborSums.map { sum in
      normalMatrix.solution(of: shortenedVectors.map { Vector.dot($0, sum) })
    }
    guard let eigenvalues = Self.realEigenvalues(ofColumns: recurrenceColumns) else { return nil }
    guard eigenvalues.allSatisfy({ abs($0) < 2 }) else { return nil }
    return eigenvalues.sorted(by: >).map { eigenvalue in
      let cosine = eigenvalue / 2
      return atan2((1 - cosine * cosine).squareRoot(), cosine) * rate / (2 * .pi)
    }
  }

  /// Returns the eigenvalues of a matrix of up to three columns.
  ///
  /// The eigenvalues are the roots of the characteristic polynomial. Returns nil if they are not
  /// real.
  private static func realEigenvalues(ofColumns matrix: [[Double]]) -> [Double]? {
    switch matrix.count {
    case 1:
      return [matrix[0][0]]
    case 2:
      let mean = (matrix[0][0] + matrix[1][1]) / 2
      let halfDifference = (matrix[0][0] - matrix[1][1]) / 2
      let discriminant = halfDifference * halfDifference + matrix[0][1] * matrix[1][0]
      guard discriminant >= 0 else { return nil }
      return [mean - discriminant.squareRoot(), mean + discriminant.squareRoot()]
    default:
      return realEigenvaluesOfThree(matrix)
    }
  }

  /// Returns the real eigenvalues of a matrix with three columns.
  ///
  /// Solves the cubic equation of a matrix without its mean eigenvalue, λ³ + linear · λ −
  /// determinant = 0, by Newton's method from above, and the remaining quadratic equation. A
  /// negative determinant is reflected first, so that the largest root is positive.
  private static func realEigenvaluesOfThree(_ matrix: [[Double]]) -> [Double]? {
    let meanDiagonal = (matrix[0][0] + matrix[1][1] + matrix[2][2]) / 3
    var centeredMatrix = matrix
    for index in 0..<3 {
      centeredMatrix[index][index] -= meanDiagonal
    }

    func principalMinor(_ first: Int, _ second: Int) -> Double {
      centeredMatrix[first][first] * centeredMatrix[second][second]
        - centeredMatrix[first][second] * centeredMatrix[second][first]
    }

    let linearCoefficient = principalMinor(0, 1) + principalMinor(0, 2) + principalMinor(1, 2)
    let determinant =
      centeredMatrix[0][0] * principalMinor(1, 2)
      - centeredMatrix[1][0]
      * (centeredMatrix[0][1] * centeredMatrix[2][2] - centeredMatrix[2][1] * centeredMatrix[0][2])
      + centeredMatrix[2][0]
      * (centeredMatrix[0][1] * centeredMatrix[1][2] - centeredMatrix[1][1] * centeredMatrix[0][2])
    guard linearCoefficient < 0 else { return nil }
    // All roots are within this bound, above which the polynomial is convex.
    let rootBound = 2 * (-linearCoefficient / 3).squareRoot() * (1 + 1e-9)
    let determinantSign = determinant < 0 ? -1.0 : 1
    var largestRoot = rootBound
    for _ in 0..<40 {
      let value =
        largestRoot * largestRoot * largestRoot + linearCoefficient * largestRoot - determinantSign
        * determinant
      let slope = 3 * largestRoot * largestRoot + linearCoefficient
      guard slope > 0 else { return nil }
      let step = value / slope
      largestRoot -= step
      if abs(step) < 1e-14 * rootBound {
        break
      }
    }
    largestRoot *= determinantSign
    // λ² + root λ + (root² + linear) = 0
    let discriminant =
      largestRoot * largestRoot / 4 - (largestRoot * largestRoot + linearCoefficient)
    guard discriminant >= 0 else { return nil }
    return [
      largestRoot, -largestRoot / 2 - discriminant.squareRoot(),
      -largestRoot / 2 + discriminant.squareRoot(),
    ]
    .map { $0 + meanDiagonal }
  }
}
