internal import CMath

/// A second-order filter that computes two frames at a time.
///
/// 1. The transfer function is (n₀ + n₁z⁻¹ + n₂z⁻²) / (1 + a₁z⁻¹ + a₂z⁻²). Its recursion depends on
///    the previous frame, so that frames can't be computed in parallel.
/// 2. Multiplying the numerator and the denominator by 1 − a₁z⁻¹ + a₂z⁻², the denominator at −z,
///    leaves only z⁻² and z⁻⁴ in the denominator. The filter is the same, but its recursion depends
///    on the frames two and four before, so that two neighboring frames are independent.
///
/// Double precision is necessary: at 20 Hz and 48 kHz, poles lie 0.003 from 1, where the resolution
/// of `Float` moves them by percents.
struct Biquad: Equatable, Sendable, BitwiseCopyable {
  /// The numerator or denominator polynomial of the filter: 1 + first · z⁻¹ + second · z⁻².
  struct Polynomial {
    var firstDelayCoefficient: Double
    var secondDelayCoefficient: Double

    init(firstDelayCoefficient first: Double, secondDelayCoefficient second: Double) {
      self.firstDelayCoefficient = first
      self.secondDelayCoefficient = second
    }

    /// Creates the polynomial of a resonance: its zeros are the resonance's poles.
    init(_ model: TransducerModel, rate: Double) {
      let omega = 2 * Double.pi * model.resonanceHertz / rate
      let decay = exp(-omega / (2 * model.qualityFactor))
      let dampedRatioSquare = 1 - 1 / (4 * model.qualityFactor * model.qualityFactor)
      let rotation =
        dampedRatioSquare >= 0
        ? cos(omega * dampedRatioSquare.squareRoot())
        : cosh(omega * (-dampedRatioSquare).squareRoot())
      firstDelayCoefficient = -2 * decay * rotation
      secondDelayCoefficient = decay * decay
    }
  }

  /// The weights of five inputs: that of the current frame, then those of the four preceding
  /// frames.
  private let feedforwardCoefficients: (Double, Double, Double, Double, Double)
  /// The weights of the outputs two frames and four frames earlier.
  private let feedbackCoefficients: (Double, Double)

  /// The state of the filter: its previous inputs and outputs.
  struct State: BitwiseCopyable, Sendable {
    /// Three pairs of previous inputs: two and one frames before, three and two, and four and
    /// three.
    fileprivate var inputHistory = (SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>())
    /// Two pairs of previous outputs: two and one frames before, and four and three.
    fileprivate var outputHistory = (SIMD2<Double>(), SIMD2<Double>())

    @_noLocks init() {}
  }

  /// Creates a filter that passes its input unchanged.
  init() {
    feedforwardCoefficients = (1, 0, 0, 0, 0)
    feedbackCoefficients = (0, 0)
  }

  /// Creates a filter from a gain, the polynomial of its zeros, and the polynomial of its poles.
  init(gain: Double, zeros: Polynomial, poles: Polynomial) {
    let firstZeroCoefficient = zeros.firstDelayCoefficient
    let secondZeroCoefficient = zeros.secondDelayCoefficient
    let firstPoleCoefficient = poles.firstDelayCoefficient
    let secondPoleCoefficient = poles.secondDelayCoefficient
    let secondDelaySum =
      secondZeroCoefficient - firstPoleCoefficient * firstZeroCoefficient + secondPoleCoefficient
    let thirdDelaySum =
      secondPoleCoefficient * firstZeroCoefficient - firstPoleCoefficient * secondZeroCoefficient
    feedforwardCoefficients = (
      gain, gain * (firstZeroCoefficient - firstPoleCoefficient), gain * secondDelaySum,
      gain * thirdDelaySum, gain * secondPoleCoefficient * secondZeroCoefficient
    )
    feedbackCoefficients = (
      firstPoleCoefficient * firstPoleCoefficient - 2 * secondPoleCoefficient,
      -secondPoleCoefficient * secondPoleCoefficient
    )
  }

  /// Creates a second-order Butterworth high-pass from a corner frequency in hertz.
  init(highPassHertz hertz: Double, rate: Double) {
    let poles = Polynomial(
      TransducerModel(resonanceHertz: hertz, qualityFactor: 0.5.squareRoot()), rate: rate)
    self.init(
      gain: (1 - poles.firstDelayCoefficient + poles.secondDelayCoefficient) / 4,
      zeros: Polynomial(firstDelayCoefficient: -2, secondDelayCoefficient: 1),
      poles: poles)
  }

  /// Returns the magnitude of the filter's frequency response at a frequency in hertz.
  func magnitude(atHertz hertz: Double, rate: Double) -> Double {
    let (numerator, denominator) = transferPolynomials(atHertz: hertz, rate: rate)
    return (numerator * numerator).sum().squareRoot()
      / (denominator * denominator).sum().squareRoot()
  }

  /// Returns the filter's frequency response at a frequency in hertz.
  ///
  /// The result is a real and an imaginary part.
  func frequencyResponse(atHertz hertz: Double, rate: Double) -> SIMD2<Double> {
    let (numerator, denominator) = transferPolynomials(atHertz: hertz, rate: rate)
    return SIMD2(
      (numerator * denominator).sum(),
      numerator.y * denominator.x - numerator.x * denominator.y)
      / (denominator * denominator).sum()
  }

  /// Returns the complex values of the transfer function's polynomials at a frequency.
  private func transferPolynomials(
    atHertz hertz: Double, rate: Double
  ) -> (numerator: SIMD2<Double>, denominator: SIMD2<Double>) {
    let angularFrequency = 2 * Double.pi * hertz / rate
    let cosine = cos(angularFrequency)
    let negatedSine = -sin(angularFrequency)
    func polynomialValue(_ weights: [Double]) -> SIMD2<Double> {
      weights.reversed().reduce(SIMD2()) { sum, weight in
        SIMD2(
          sum.x * cosine - sum.y * negatedSine + weight,
          sum.x * negatedSine + sum.y * cosine
        )
      }
    }
    return (
      polynomialValue([
        feedforwardCoefficients.0, feedforwardCoefficients.1, feedforwardCoefficients.2,
        feedforwardCoefficients.3, feedforwardCoefficients.4,
      ]),
      polynomialValue([1, 0, -feedbackCoefficients.0, 0, -feedbackCoefficients.1])
    )
  }

  /// Filters a pair of consecutive frames, and updates the state.
  @_noLocks @inline(__always) func process(
    _ pair: SIMD2<Double>, state: inout State
  ) -> SIMD2<Double> {
    let delayedInputs = SIMD2(state.inputHistory.0.y, pair.x)
    let filteredFrames = filteredPair(of: pair, delayed: delayedInputs, state)
    state.inputHistory = (pair, delayedInputs, state.inputHistory.0)
    state.outputHistory = (filteredFrames, state.outputHistory.0)
    return filteredFrames
  }

  /// Filters a single frame, and updates the state.
  @_noLocks @inline(__always) func process(_ sample: Double, state: inout State) -> Double {
    let delayedInputs = SIMD2(state.inputHistory.0.y, sample)
    let (newer, older) = state.outputHistory
    let filteredSample = filteredPair(of: SIMD2(sample, 0), delayed: delayedInputs, state).x
    state.inputHistory = (delayedInputs, state.inputHistory.0, state.inputHistory.1)
    state.outputHistory = (SIMD2(newer.y, filteredSample), SIMD2(older.y, newer.x))
    return filteredSample
  }

  @_noLocks @inline(__always) private func filteredPair(
    of pair: SIMD2<Double>, delayed: SIMD2<Double>, _ state: State
  ) -> SIMD2<Double> {
    let newerTerms = pair * feedforwardCoefficients.0 + delayed * feedforwardCoefficients.1
    let olderTerms =
      state.inputHistory.0 * feedforwardCoefficients.2 + state.inputHistory.1
      * feedforwardCoefficients.3
    let feedforwardSum = newerTerms + olderTerms + state.inputHistory.2 * feedforwardCoefficients.4
    return (feedforwardSum + state.outputHistory.1 * feedbackCoefficients.1) + state.outputHistory.0
      * feedbackCoefficients.0
  }

  static func == (lhs: Biquad, rhs: Biquad) -> Bool {
    lhs.feedforwardCoefficients == rhs.feedforwardCoefficients
      && lhs.feedbackCoefficients == rhs.feedbackCoefficients
  }
}
