internal import CMath
import SignalAnalysis

/// The linear response of a playback and recording chain, with unknown coefficients.
///
/// A recording y is the reference x through the response, plus white noise of unknown power. The
/// response is a sum of basis functions: taps at some lags, and the outputs of resonators. Its
/// coefficients have a normal prior with mean zero and are integrated out, so the evidence of the
/// response's kind is that of a Bayesian linear regression (D. MacKay, "Bayesian interpolation",
/// Neural Computation 4, 1992):
///
/// log p(y) = −n/2 log(r/n) − 1/2 log |I + S XᵀX S| − k/2 log n + constant
///
/// with n samples, the regularized residual energy r, the prior's standard deviations S, the basis
/// functions X applied to x, and k selected parameters.
struct RecordingResponse: Equatable, Sendable {
  /// The kind of a response.
  enum Kind: Equatable, Sendable {
    /// An arbitrary response of 16 ms, for example of a microphone or a loudspeaker.
    case filter
    /// One or two decaying oscillations and an arbitrary response of 8 ms, as of a transducer.
    ///
    /// The oscillations may have any phase.
    case resonance([Mode])
    /// Exponentially decaying reflections, and an arbitrary response of 8 ms.
    ///
    /// The gain relates the reflections to that response.
    case room(decaySeconds: Double, reflectionGain: Double)
    /// An arbitrary response of 44 ms, only for finding delays.
    case unconstrained
  }

  /// A resonance of the chain: its frequency and quality factor.
  struct Mode: Equatable, Sendable {
    var hertz: Double
    var qualityFactor: Double

    /// The frequencies and quality factors that a search for modes starts with.
    static let searchGrid = (0..<15).flatMap { number in
      [1.2, 3, 6, 12, 24].map { Mode(hertz: 25 * pow(16, Double(number) / 14), qualityFactor: $0) }
    }
    /// The initial step sizes in the refinement of modes.
    static let refinementSteps = Steps(logFrequency: 0.12, logQuality: 0.4)

    /// Returns the pole of the resonator in the z-plane.
    func pole(rate: Double) -> (real: Double, imaginary: Double) {
      let radius = exp(-.pi * hertz / qualityFactor / rate)
      let angle = 2 * .pi * hertz / rate
      return (radius * cos(angle), radius * sin(angle))
    }
  }

  /// The step sizes in frequency and quality factor, as natural logarithms of ratios.
  struct Steps {
    var logFrequency: Double
    var logQuality: Double
  }

  var kind: Kind
  /// The prior variance of the strongest coefficient, in multiples of the noise power.
  var priorVarianceScale: Double

  /// The duration of a response before its main peak, in seconds.
  ///
  /// A response starts before the peak because the latency of the chain is unknown.
  private static let leadSeconds = 0.004
  /// The decay time constants of the candidate rooms, in seconds.
  private static let roomDecaySeconds = [0.02, 0.06]
  /// The decay of an oscillation at its end in the model, in nepers: 60 dB.
  private static let ringingDecayNepers = log(1_000.0)

  /// The number of optimized parameters, which are not integrated out.
  ///
  /// Each parameter costs half the logarithm of the number of samples.
  var parameterCount: Double {
    switch kind {
    case .filter, .unconstrained: 2
    case .room: 3
    case .resonance(let modes): 2 + 2 * Double(modes.count)
    }
  }

  /// The prior distribution of the response's taps.
  private struct TapPrior {
    /// The lag of the first tap, in samples.
    var firstLagInSamples: Int
    /// The prior variance of the tap at each lag.
    ///
    /// The prior variance of a resonator's coefficients is `priorVarianceScale`.
    var variancesByLag: [Double]
    /// The lags of the taps, in samples.
    var lags: Range<Int> { firstLagInSamples..<firstLagInSamples + variancesByLag.count }
  }

  private func tapPrior(rate: Double) -> TapPrior {
    func makeTapPrior(
      lead: Double, end: Double, _ variance: (Double) -> Double
    ) -> TapPrior {
      let first = -Int(lead * rate)
      let lags = first..<Int(end * rate)
      return TapPrior(
        firstLagInSamples: first,
        variancesByLag: lags.map { priorVarianceScale * variance(Double($0) / rate) })
    }
    /// Returns the variance at a time for a peak at time 0 with exponential slopes.
    ///
    /// The time constants apply to the amplitude.
    func peakVariance(_ time: Double, rise: Double, decay: Double) -> Double {
      exp(2 * (time < 0 ? time / rise : -time / decay))
    }
    switch kind {
    case .filter:
      return makeTapPrior(lead: Self.leadSeconds, end: 0.012) {
        peakVariance($0, rise: 0.001_5, decay: 0.003)
      }
    case .resonance:
      return makeTapPrior(lead: Self.leadSeconds / 2, end: 0.006) {
        peakVariance($0, rise: 0.001, decay: 0.002)
      }
    case .unconstrained:
      return makeTapPrior(lead: Self.leadSeconds, end: 0.04) {
        peakVariance($0, rise: 0.002, decay: 0.02)
      }
    case .room(let decaySeconds, let reflectionGain):
      return makeTapPrior(lead: Self.leadSeconds, end: 3 * decaySeconds) {
        peakVariance($0, rise: 0.001, decay: 0.002)
          + reflectionGain * reflectionGain * peakVariance($0, rise: 0.001_5, decay: decaySeconds)
      }
    }
  }

  private var modes: [Mode] {
    if case .resonance(let modes) = kind { return modes }
    return []
  }

  // MARK: - Signals

  /// A signal with an offset from time 0. It is zero before its first and after its last sample.
  struct OffsetSignal {
    var firstSampleIndex = 0
    var samples: [Double] = []

    /// Adds a multiple of the signal to samples that start at time 0.
    func add(to sum: inout [Double], times factor: Double = 1) {
      Vector.add(samples, times: factor, to: &sum, at: firstSampleIndex)
    }

    /// Returns the convolution with an impulse response.
    func filtered(by taps: [Double]) -> OffsetSignal {
      guard !samples.isEmpty else { return self }
      var output = [Double](repeating: 0, count: samples.count + taps.count - 1)
      for (index, tap) in taps.enumerated() {
        Vector.add(samples, times: tap, to: &output, at: index)
      }
      return OffsetSignal(firstSampleIndex: firstSampleIndex, samples: output)
    }
  }

  /// The input of a response, the recording, and the correlations between them.
  ///
  /// The correlations are the same for all responses with the same taps.
  struct Correlations {
    private(set) var input: [Double]
    let recorded: [Double]
    let recordedEnergy: Double
    /// The lags of the taps, in samples.
    let tapLags: Range<Int>
    /// The autocorrelation of the input at lags from 0.
    private(set) var autocorrelation: [Double]
    /// The correlation of the input with the recording at the lags of the taps.
    private(set) var tapProducts: [Double]

    init(of input: [Double], with recorded: [Double], tapLags: Range<Int>) {
      self.input = input
      self.recorded = recorded
      self.tapLags = tapLags
      recordedEnergy = Vector.energy(recorded)
      autocorrelation = Vector.crossCorrelation(input, input, lags: 0..<tapLags.count)
      tapProducts = Vector.crossCorrelation(input, recorded, lags: tapLags)
    }

    /// Returns the correlations after a short signal d is added to the input u.
    ///
    /// The autocorrelation at lag k grows by Σ d[n] (u[n + k] + u[n − k] + d[n + k]), so the cost
    /// is proportional to the length of d.
    func adding(_ signal: OffsetSignal) -> Correlations {
      let skippedSampleCount = max(0, -signal.firstSampleIndex)
      let firstSample = max(0, signal.firstSampleIndex)
      let added = Array(
        signal.samples.dropFirst(skippedSampleCount).prefix(max(0, input.count - firstSample)))
      guard !added.isEmpty else { return self }
      var sum = self
      let maximumLag = tapLags.count - 1
      let inputWindow = Self.window(
        of: input, from: firstSample - maximumLag, count: added.count + 2 * maximumLag)
      let inputProducts = Vector.crossCorrelation(
        added, inputWindow, lags: 0..<2 * maximumLag + 1)
      let ownProducts = Vector.crossCorrelation(added, added, lags: 0..<maximumLag + 1)
      for lag in 0...maximumLag {
        sum.autocorrelation[lag] +=
          inputProducts[maximumLag + lag] + inputProducts[maximumLag - lag] + ownProducts[lag]
      }
      let recordedWindow = Self.window(
        of: recorded, from: firstSample + tapLags.lowerBound, count: added.count + tapLags.count)
      let recordedProducts = Vector.crossCorrelation(
        added, recordedWindow, lags: 0..<tapLags.count)
      Vector.add(recordedProducts, times: 1, to: &sum.tapProducts, at: 0)
      Vector.add(added, times: 1, to: &sum.input, at: firstSample)
      return sum
    }

    /// Returns a window of a signal, padded with zeros beyond its ends.
    private static func window(of signal: [Double], from start: Int, count: Int) -> [Double] {
      var windowSamples = [Double](repeating: 0, count: count)
      Vector.add(signal, times: 1, to: &windowSamples, at: -start)
      return windowSamples
    }
  }

  /// Returns the correlations of a signal with a recording at the lags of the taps.
  func correlations(of input: [Double], with recorded: [Double], rate: Double) -> Correlations {
    Correlations(of: input, with: recorded, tapLags: tapPrior(rate: rate).lags)
  }

  /// Returns the in-phase and quadrature outputs of each resonator.
  ///
  /// A resonator is a complex one-pole filter, zₙ = p zₙ₋₁ + xₙ.
  private func resonatorOutputs(of input: [Double], rate: Double) -> [[Double]] {
    modes.flatMap { mode -> [[Double]] in
      let pole = mode.pole(rate: rate)
      var inPhase = input
      var quadrature = input
      var real = 0.0
      var imaginary = 0.0
      for index in input.indices {
        let nextReal = pole.real * real - pole.imaginary * imaginary + input[index]
        imaginary = pole.real * imaginary + pole.imaginary * real
        real = nextReal
        inPhase[index] = real
        quadrature[index] = imaginary
      }
      return [inPhase, quadrature]
    }
  }

  /// Returns the correlation of the input with each resonator output at the lags of the taps.
  ///
  /// A resonator z with the input x has the recursion zₙ = p zₙ₋₁ + xₙ, so its correlation C with
  /// the input follows from the autocorrelation R of the input: C(k) = p C(k − 1) + R(k).
  private func resonatorTapProducts(
    _ resonatorOutputs: [[Double]], input: [Double], autocorrelation: [Double], rate: Double
  ) -> [[Double]] {
    let tapLags = tapPrior(rate: rate).lags
    return modes.enumerated().flatMap { number, mode -> [[Double]] in
      let pole = mode.pole(rate: rate)
      let skippedSampleCount = max(0, -tapLags.lowerBound)
      func firstProduct(_ resonance: [Double]) -> Double {
        Vector.dot(
          input, from: skippedSampleCount, resonance, from: max(0, tapLags.lowerBound),
          count: max(0, input.count - abs(tapLags.lowerBound)))
      }
      var realProducts = [firstProduct(resonatorOutputs[2 * number])]
      var imaginaryProducts = [firstProduct(resonatorOutputs[2 * number + 1])]
      for lag in tapLags.dropFirst() {
        let real = realProducts[realProducts.count - 1]
        let imaginary = imaginaryProducts[imaginaryProducts.count - 1]
        realProducts.append(
          pole.real * real - pole.imaginary * imaginary + autocorrelation[abs(lag)])
        imaginaryProducts.append(pole.real * imaginary + pole.imaginary * real)
      }
      return [realProducts, imaginaryProducts]
    }
  }

  /// Returns the output of the response for an input signal.
  ///
  /// - Parameters:
  ///   - input: The signal.
  ///   - coefficients: The coefficients of the taps, followed by those of the resonators.
  ///   - rate: The sample rate, in hertz.
  ///   - count: The maximum end of the output of the resonators, in samples.
  func output(
    for input: OffsetSignal, coefficients: [Double], rate: Double, count: Int
  ) -> OffsetSignal {
    let responsePrior = tapPrior(rate: rate)
    let firstTapLag = responsePrior.firstLagInSamples
    let tapCount = responsePrior.variancesByLag.count
    var outputSignal = input.filtered(by: Array(coefficients.prefix(tapCount)))
    outputSignal.firstSampleIndex += firstTapLag
    let maximumDecaySeconds = modes.map { $0.qualityFactor / $0.hertz }.max() ?? 0
    guard maximumDecaySeconds > 0, !input.samples.isEmpty else { return outputSignal }
    let tailSampleCount = Int(Self.ringingDecayNepers * maximumDecaySeconds / .pi * rate)
    let outputSampleCount = min(
      input.samples.count + tailSampleCount, count - input.firstSampleIndex)
    guard outputSampleCount > 0 else { return outputSignal }
    let silence = [Double](repeating: 0, count: max(0, outputSampleCount - input.samples.count))
    let paddedInput = Array(input.samples.prefix(outputSampleCount)) + silence
    outputSignal.samples += [Double](
      repeating: 0, count: max(0, outputSampleCount - firstTapLag - outputSignal.samples.count))
    let resonatorSignals = resonatorOutputs(of: paddedInput, rate: rate)
    for (resonance, coefficient) in zip(resonatorSignals, coefficients.dropFirst(tapCount)) {
      Vector.add(resonance, times: coefficient, to: &outputSignal.samples, at: -firstTapLag)
    }
    return outputSignal
  }

  /// Returns the part of a recording that the output of the response does not explain.
  ///
  /// - Parameters:
  ///   - recorded: The recording.
  ///   - input: The signal before the response, from the first sample of the recording.
  ///   - coefficients: The coefficients of the taps, followed by those of the resonators.
  ///   - rate: The sample rate, in hertz.
  func residual(
    of recorded: [Double], input: [Double], coefficients: [Double], rate: Double
  ) -> [Double] {
    var residual = recorded
    output(
      for: OffsetSignal(samples: input), coefficients: coefficients, rate: rate,
      count: recorded.count
    ).add(to: &residual, times: -1)
    return residual
  }

  // MARK: - Regression

  /// The result of fitting a recording by a regression.
  struct Fit {
    /// The logarithm of the probability density of the recording, up to a constant.
    var logEvidence: Double
    /// The most probable coefficients: taps, followed by resonators.
    var coefficients: [Double]
    /// The regularized energy of the residual.
    var residualEnergy: Double
  }

  /// A linear regression of recordings on the response's basis functions.
  ///
  /// The basis functions are applied to one input signal.
  ///
  /// The matrix depends on the signal alone, so one factorization serves many recordings.
  struct Regression {
    private let response: RecordingResponse
    private let inputSignal: [Double]
    private let resonatorOutputs: [[Double]]
    /// The lags of the taps, in samples.
    let tapLags: Range<Int>
    /// The prior standard deviations of the coefficients.
    private let priorStandardDeviations: [Double]
    /// The Cholesky factor of I + S XᵀX S.
    private var choleskyMatrix = SkylineMatrix()

    init(_ response: RecordingResponse, of input: [Double], rate: Double) {
      let tapLags = response.tapPrior(rate: rate).lags
      self.init(
        response, of: input,
        autocorrelation: Vector.crossCorrelation(input, input, lags: 0..<tapLags.count), rate: rate)
    }

    /// - Parameters:
    ///   - response: The response.
    ///   - input: The input signal. It ends with silence.
    ///   - autocorrelation: The autocorrelation of the input at as many lags as the response has
    ///     taps.
    ///   - rate: The sample rate, in hertz.
    init(
      _ response: RecordingResponse, of input: [Double], autocorrelation: [Double], rate: Double
    ) {
      self.response = response
      self.inputSignal = input
      let prior = response.tapPrior(rate: rate)
      tapLags = prior.lags
      resonatorOutputs = response.resonatorOutputs(of: input, rate: rate)
      let variances =
        prior.variancesByLag + resonatorOutputs.map { _ in response.priorVarianceScale }
      priorStandardDeviations = variances.map { $0.squareRoot() }
      for row in 0..<tapLags.count {
        append((0...row).map { autocorrelation[row - $0] }, to: row)
      }
      let tapProducts = response.resonatorTapProducts(
        resonatorOutputs, input: input, autocorrelation: autocorrelation, rate: rate)
      for (number, resonance) in resonatorOutputs.enumerated() {
        let products =
          tapProducts[number] + resonatorOutputs[...number].map { Vector.dot(resonance, $0) }
        append(products, to: tapLags.count + number)
      }
      choleskyMatrix.factorize(regularization: 0)
    }

    private mutating func append(_ products: [Double], to row: Int) {
      var normalizedRow = products.indices.map {
        priorStandardDeviations[row] * products[$0] * priorStandardDeviations[$0]
      }
      normalizedRow[row] += 1
      choleskyMatrix.appendRow(normalizedRow, startingAt: 0)
    }

    /// Returns the energy that the regression explains.
    ///
    /// - Parameter products: The inner products of the basis functions with the recording.
    func explainedEnergy(_ products: [Double]) -> Double {
      let scaledProducts = zip(products, priorStandardDeviations).map { $0 * $1 }
      return Vector.energy(choleskyMatrix.forwardSubstitution(of: scaledProducts))
    }

    /// Fits a recording by the regression, and returns the most probable coefficients.
    func fit(_ recorded: [Double]) -> Fit {
      fit(
        recorded, energy: Vector.energy(recorded),
        tapProducts: Vector.crossCorrelation(inputSignal, recorded, lags: tapLags))
    }

    /// Fits a recording with known energy and known products with the taps.
    func fit(_ recorded: [Double], energy recordedEnergy: Double, tapProducts: [Double]) -> Fit {
      let products = tapProducts + resonatorOutputs.map { Vector.dot($0, recorded) }
      let rightSide = zip(products, priorStandardDeviations).map { $0 * $1 }
      let solution = choleskyMatrix.solution(of: rightSide)
      let residualEnergy = max(
        1e-12 * recordedEnergy, recordedEnergy - Vector.dot(rightSide, solution), 1e-300)
      let count = Double(recorded.count)
      let logEvidence =
        -count / 2 * log(residualEnergy / count) - choleskyMatrix.logSquareRootOfDeterminant
        - response.parameterCount / 2 * log(count)
      return Fit(
        logEvidence: logEvidence,
        coefficients: zip(solution, priorStandardDeviations).map { $0 * $1 },
        residualEnergy: residualEnergy)
    }
  }

  /// Fits the response's coefficients to an input signal and a recording.
  func fit(_ input: [Double], to recorded: [Double], rate: Double) -> Fit {
    Regression(self, of: input, rate: rate).fit(recorded)
  }

  /// Fits the response's coefficients to signals with known correlations.
  func fit(_ correlations: Correlations, rate: Double) -> Fit {
    let tapLags = tapPrior(rate: rate).lags
    let offset = tapLags.lowerBound - correlations.tapLags.lowerBound
    return Regression(
      self, of: correlations.input, autocorrelation: correlations.autocorrelation, rate: rate
    ).fit(
      correlations.recorded, energy: correlations.recordedEnergy,
      tapProducts: Array(correlations.tapProducts.dropFirst(offset).prefix(tapLags.count)))
  }

  // MARK: - Selection

  /// A response together with its fit to a recording.
  struct FittedResponse {
    var response: RecordingResponse
    var fit: Fit
  }

  /// Returns the response with the prior variance of its coefficients fitted to a recording.
  ///
  /// The estimate is the square of the strongest coefficient, relative to the noise power.
  private func fittingPriorVarianceScale(
    _ correlations: Correlations, rate: Double, rounds: Int
  ) -> FittedResponse {
    var rescaledResponse = self
    let minimumCoefficientPower =
      0.1 * correlations.recordedEnergy / max(1e-30, correlations.autocorrelation[0])
    for _ in 0..<rounds {
      let fit = rescaledResponse.fit(correlations, rate: rate)
      let strongestPower = fit.coefficients.map { $0 * $0 }.max() ?? 0
      rescaledResponse.priorVarianceScale =
        max(strongestPower, minimumCoefficientPower)
        / (fit.residualEnergy / Double(correlations.recorded.count))
    }
    return FittedResponse(
      response: rescaledResponse, fit: rescaledResponse.fit(correlations, rate: rate))
  }

  /// Returns the most probable response among several kinds.
  private func bestResponse(
    of kinds: [Kind], for correlations: Correlations, rate: Double, rounds: Int = 0
  ) -> FittedResponse {
    let fittedResponses = kinds.map { kind in
      RecordingResponse(kind: kind, priorVarianceScale: priorVarianceScale)
        .fittingPriorVarianceScale(correlations, rate: rate, rounds: rounds)
    }
    let mostProbableFit = fittedResponses.max { $0.fit.logEvidence < $1.fit.logEvidence }
    return mostProbableFit
      ?? FittedResponse(response: self, fit: fit(correlations, rate: rate))
  }

  /// Returns the most probable response of the same kind as this response.
  ///
  /// A resonance is refined near its modes. If the scale is still 0, all modes are searched.
  ///
  /// - Parameters:
  ///   - input: The signal before the response.
  ///   - recorded: The recording.
  ///   - rate: The sample rate, in hertz.
  func mostProbableResponse(for input: [Double], recorded: [Double], rate: Double) -> FittedResponse
  {
    var widestResponse = self
    if case .room = kind, priorVarianceScale == 0 {
      widestResponse.kind = .room(decaySeconds: Self.roomDecaySeconds.max() ?? 0, reflectionGain: 0)
    }
    return mostProbableResponse(
      for: widestResponse.correlations(of: input, with: recorded, rate: rate), rate: rate)
  }

  /// Returns the most probable response of the same kind for signals with known correlations.
  func mostProbableResponse(for correlations: Correlations, rate: Double) -> FittedResponse {
    let isUnfitted = priorVarianceScale == 0
    var initialResponse = self
    if isUnfitted {
      // Assume that a hundredth of the recording is noise.
      let hasSignal = correlations.recordedEnergy > 0
      initialResponse.priorVarianceScale =
        100 * Double(correlations.recorded.count) / max(1e-30, correlations.autocorrelation[0])
        * (hasSignal ? 1 : 0)
    }
    switch kind {
    case .filter, .unconstrained:
      return initialResponse.fittingPriorVarianceScale(
        correlations, rate: rate, rounds: isUnfitted ? 3 : 1)
    case .room:
      guard isUnfitted else {
        return initialResponse.fittingPriorVarianceScale(correlations, rate: rate, rounds: 1)
      }
      let rooms = Self.roomDecaySeconds.flatMap { decaySeconds in
        [0.3, 0.1, 0.03].map { Kind.room(decaySeconds: decaySeconds, reflectionGain: $0) }
      }
      return initialResponse.bestResponse(of: rooms, for: correlations, rate: rate, rounds: 1)
    case .resonance:
      guard isUnfitted else {
        let steps = Steps(
          logFrequency: Mode.refinementSteps.logFrequency / 4,
          logQuality: Mode.refinementSteps.logQuality / 2)
        return initialResponse.refiningModes(correlations, rate: rate, steps: steps)
      }
      return initialResponse.selectedResonance(for: correlations, rate: rate)
    }
  }

  /// Returns the most probable resonance with one mode or two modes.
  ///
  /// Two modes are returned only if the evidence increases enough.
  private func selectedResonance(
    for correlations: Correlations, rate: Double
  ) -> FittedResponse {
    let initialSteps = Mode.refinementSteps
    let singleModeResponse = bestResponse(
      of: Mode.searchGrid.map { .resonance([$0]) }, for: correlations, rate: rate)
    let oneModeResponse = singleModeResponse.response
      .fittingPriorVarianceScale(correlations, rate: rate, rounds: 2).response
      .refiningModes(correlations, rate: rate, steps: initialSteps)
    let twoModeResponse = oneModeResponse.response.bestResponse(
      of: Mode.searchGrid.map { .resonance(oneModeResponse.response.modes + [$0]) },
      for: correlations, rate: rate)
    guard
      twoModeResponse.fit.logEvidence > oneModeResponse.fit.logEvidence
        + RecordingModel.minimumLogEvidenceGain
    else {
      return oneModeResponse
    }
    return twoModeResponse.response.refiningModes(
      correlations, rate: rate, steps: initialSteps)
  }

  /// Refines the modes' frequencies and quality factors to maximize the evidence of the fit.
  ///
  /// A pattern search changes one value by one step, and halves the steps when no change helps.
  private func refiningModes(
    _ correlations: Correlations, rate: Double, steps firstSteps: Steps
  ) -> FittedResponse {
    var bestFittedResponse = FittedResponse(
      response: self, fit: fit(correlations, rate: rate))
    var modeSteps = firstSteps
    let modeChanges = modes.indices.flatMap(ModeChange.changes(ofModeAt:))
    // The opposite of an accepted change leads back to a response with less evidence.
    var rejectedChange: ModeChange?
    for _ in 0..<9 {
      let acceptedChange = modeChanges.first { change in
        guard change != rejectedChange else { return false }
        let variant = bestFittedResponse.response.applying(change, steps: modeSteps)
        let fit = variant.fit(correlations, rate: rate)
        guard fit.logEvidence > bestFittedResponse.fit.logEvidence else { return false }
        bestFittedResponse = FittedResponse(response: variant, fit: fit)
        return true
      }
      rejectedChange = acceptedChange?.opposite
      if acceptedChange == nil {
        modeSteps.logFrequency /= 2
        modeSteps.logQuality /= 2
      }
    }
    return bestFittedResponse.response.fittingPriorVarianceScale(
      correlations, rate: rate, rounds: 1)
  }

  /// A change of one mode by one step in frequency or quality factor.
  private struct ModeChange: Equatable {
    var modeIndex: Int
    /// The signed number of steps in frequency.
    var frequencySteps = 0.0
    /// The signed number of steps in quality factor.
    var qualitySteps = 0.0

    var opposite: ModeChange {
      ModeChange(
        modeIndex: modeIndex, frequencySteps: -frequencySteps, qualitySteps: -qualitySteps)
    }

    /// Returns all changes of a mode.
    static func changes(ofModeAt index: Int) -> [ModeChange] {
      [
        ModeChange(modeIndex: index, frequencySteps: 1),
        ModeChange(modeIndex: index, frequencySteps: -1),
        ModeChange(modeIndex: index, qualitySteps: 1),
        ModeChange(modeIndex: index, qualitySteps: -1),
      ]
    }
  }

  /// Returns the response with one mode changed by one step.
  private func applying(_ change: ModeChange, steps: Steps) -> RecordingResponse {
    var changedModes = modes
    changedModes[change.modeIndex].hertz *= exp(change.frequencySteps * steps.logFrequency)
    changedModes[change.modeIndex].qualityFactor *= exp(change.qualitySteps * steps.logQuality)
    return RecordingResponse(
      kind: .resonance(changedModes), priorVarianceScale: priorVarianceScale)
  }
}
