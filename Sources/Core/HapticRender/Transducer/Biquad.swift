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
  /// A polynomial 1 + first · z⁻¹ + second · z⁻².
  struct Polynomial {
    var first: Double
    var second: Double

    init(first: Double, second: Double) {
      self.first = first
      self.second = second
    }

    /// Creates the polynomial of a resonance: its zeros are the resonance's poles.
    init(_ model: TransducerModel, rate: Double) {
      let omega = 2 * Double.pi * model.resonance / rate
      let decay = exp(-omega / (2 * model.qualityFactor))
      let dampedRatioSquare = 1 - 1 / (4 * model.qualityFactor * model.qualityFactor)
      let rotation =
        dampedRatioSquare >= 0
        ? cos(omega * dampedRatioSquare.squareRoot())
        : cosh(omega * (-dampedRatioSquare).squareRoot())
      first = -2 * decay * rotation
      second = decay * decay
    }
  }

  /// The weights of the input, from the current frame to four frames before.
  private let feedforward: (Double, Double, Double, Double, Double)
  /// The weights of the output two and four frames before.
  private let feedback: (Double, Double)

  /// The previous inputs and outputs.
  struct State: BitwiseCopyable, Sendable {
    /// The inputs two and one frames before, three and two, and four and three.
    fileprivate var inputHistory = (SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>())
    /// The outputs two and one frames before, and four and three.
    fileprivate var outputHistory = (SIMD2<Double>(), SIMD2<Double>())

    @_noLocks init() {}
  }

  /// Creates a filter that passes its input.
  init() {
    feedforward = (1, 0, 0, 0, 0)
    feedback = (0, 0)
  }

  /// Creates a filter with a gain, zeros, and poles.
  init(gain: Double, zeros: Polynomial, poles: Polynomial) {
    let n1 = zeros.first
    let n2 = zeros.second
    let a1 = poles.first
    let a2 = poles.second
    feedforward = (
      gain, gain * (n1 - a1), gain * (n2 - a1 * n1 + a2), gain * (a2 * n1 - a1 * n2),
      gain * a2 * n2
    )
    feedback = (a1 * a1 - 2 * a2, -a2 * a2)
  }

  /// Creates a Butterworth high-pass.
  init(highPassHertz hertz: Double, rate: Double) {
    let poles = Polynomial(
      TransducerModel(resonance: hertz, qualityFactor: 0.5.squareRoot()), rate: rate)
    self.init(
      gain: (1 - poles.first + poles.second) / 4, zeros: Polynomial(first: -2, second: 1),
      poles: poles)
  }

  /// Returns the magnitude of the frequency response.
  func response(atHertz hertz: Double, rate: Double) -> Double {
    let omega = 2 * Double.pi * hertz / rate
    let cosine = cos(omega)
    let sine = -sin(omega)
    func magnitude(_ weights: [Double]) -> Double {
      let sum = weights.reversed().reduce((real: 0.0, imaginary: 0.0)) { sum, weight in
        (
          sum.real * cosine - sum.imaginary * sine + weight,
          sum.real * sine + sum.imaginary * cosine
        )
      }
      return (sum.real * sum.real + sum.imaginary * sum.imaginary).squareRoot()
    }
    return magnitude([feedforward.0, feedforward.1, feedforward.2, feedforward.3, feedforward.4])
      / magnitude([1, 0, -feedback.0, 0, -feedback.1])
  }

  /// Filters two frames.
  @_noLocks @inline(__always) func process(
    _ pair: SIMD2<Double>, state: inout State
  ) -> SIMD2<Double> {
    let delayed = SIMD2(state.inputHistory.0.y, pair.x)
    let output = output(of: pair, delayed: delayed, state)
    state.inputHistory = (pair, delayed, state.inputHistory.0)
    state.outputHistory = (output, state.outputHistory.0)
    return output
  }

  /// Filters one frame.
  @_noLocks @inline(__always) func process(_ sample: Double, state: inout State) -> Double {
    let delayed = SIMD2(state.inputHistory.0.y, sample)
    let (newer, older) = state.outputHistory
    let output = output(of: SIMD2(sample, 0), delayed: delayed, state).x
    state.inputHistory = (delayed, state.inputHistory.0, state.inputHistory.1)
    state.outputHistory = (SIMD2(newer.y, output), SIMD2(older.y, newer.x))
    return output
  }

  @_noLocks @inline(__always) private func output(
    of pair: SIMD2<Double>, delayed: SIMD2<Double>, _ state: State
  ) -> SIMD2<Double> {
    let newerTerms = pair * feedforward.0 + delayed * feedforward.1
    let olderTerms =
      state.inputHistory.0 * feedforward.2 + state.inputHistory.1 * feedforward.3
    let forward = newerTerms + olderTerms + state.inputHistory.2 * feedforward.4
    return (forward + state.outputHistory.1 * feedback.1) + state.outputHistory.0 * feedback.0
  }

  static func == (lhs: Biquad, rhs: Biquad) -> Bool {
    lhs.feedforward == rhs.feedforward && lhs.feedback == rhs.feedback
  }
}
