internal import CMath

/// A filter of second order that computes two frames at a time.
///
/// A recursion that reaches one frame back makes each frame wait for the one before. With both sides of the
/// transfer function multiplied by its denominator at −z, it reaches two and four frames back: two neighbouring
/// frames do not wait for each other, and what the filter does is the same.
///
/// In Double: at 20 Hz and 48 kHz poles lie 0.003 from 1, where the steps of Float move them by percents.
struct Biquad: Equatable, Sendable, BitwiseCopyable {
  /// The polynomial 1 + first · z⁻¹ + second · z⁻² of a resonance.
  struct Resonance {
    var first: Double
    var second: Double

    /// The polynomial whose zeros lie where a resonance decays and rotates between two frames.
    init(_ model: TransducerModel, rate: Double) {
      let omega = 2 * Double.pi * model.resonance / rate
      let decay = exp(-omega / (2 * model.qualityFactor))
      let rest = 1 - 1 / (4 * model.qualityFactor * model.qualityFactor)
      let middle = rest >= 0 ? cos(omega * rest.squareRoot()) : cosh(omega * (-rest).squareRoot())
      first = -2 * decay * middle
      second = decay * decay
    }

    /// Two zeros at frequency 0.
    init() {
      first = -2
      second = 1
    }
  }

  /// Weights of the input, from the frame itself to four frames before.
  private let inputs: (Double, Double, Double, Double, Double)
  /// Weights of the output two and four frames before.
  private let outputs: (Double, Double)

  /// What went in and came out before the frame that is next.
  struct Memory: BitwiseCopyable, Sendable {
    /// The inputs two and one frame back, three and two, four and three.
    fileprivate var inputs = (SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>())
    /// The outputs two and one frame back, four and three.
    fileprivate var outputs = (SIMD2<Double>(), SIMD2<Double>())

    /// Silence.
    @_noLocks init() {}
  }

  /// A filter that lets everything through.
  init() {
    inputs = (1, 0, 0, 0, 0)
    outputs = (0, 0)
  }

  /// A filter that undoes one resonance and puts another in its place.
  init(gain: Double, undoing zeros: Resonance, making poles: Resonance) {
    let (n1, n2, a1, a2) = (zeros.first, zeros.second, poles.first, poles.second)
    inputs = (gain, gain * (n1 - a1), gain * (n2 - a1 * n1 + a2), gain * (a2 * n1 - a1 * n2), gain * a2 * n2)
    outputs = (a1 * a1 - 2 * a2, -a2 * a2)
  }

  /// A Butterworth high-pass of second order with unit gain at the highest frequency.
  init(highPassHertz hertz: Double, rate: Double) {
    let poles = Resonance(TransducerModel(resonance: hertz, qualityFactor: 0.5.squareRoot()), rate: rate)
    self.init(gain: (1 - poles.first + poles.second) / 4, undoing: Resonance(), making: poles)
  }

  /// The magnitude of the output for a steady sine of full scale.
  func response(atHertz hertz: Double, rate: Double) -> Double {
    let omega = 2 * Double.pi * hertz / rate
    let (along, across) = (cos(omega), -sin(omega))
    /// The magnitude of a polynomial of z⁻¹, by Horner's rule.
    func magnitude(_ weights: [Double]) -> Double {
      let sum = weights.reversed().reduce((real: 0.0, imaginary: 0.0)) { sum, weight in
        (sum.real * along - sum.imaginary * across + weight, sum.real * across + sum.imaginary * along)
      }
      return (sum.real * sum.real + sum.imaginary * sum.imaginary).squareRoot()
    }
    return magnitude([inputs.0, inputs.1, inputs.2, inputs.3, inputs.4]) / magnitude([1, 0, -outputs.0, 0, -outputs.1])
  }

  /// Filters two frames.
  @_noLocks @inline(__always) func next(_ pair: SIMD2<Double>, _ memory: inout Memory) -> SIMD2<Double> {
    let between = SIMD2(memory.inputs.0.y, pair.x)
    let output = output(of: pair, between, memory)
    memory.inputs = (pair, between, memory.inputs.0)
    memory.outputs = (output, memory.outputs.0)
    return output
  }

  /// Filters one frame, with the same bits as in a pair.
  @_noLocks @inline(__always) func next(_ sample: Double, _ memory: inout Memory) -> Double {
    let between = SIMD2(memory.inputs.0.y, sample)
    let (newer, older) = memory.outputs
    let output = output(of: SIMD2(sample, 0), between, memory).x
    memory.inputs = (between, memory.inputs.0, memory.inputs.1)
    memory.outputs = (SIMD2(newer.y, output), SIMD2(older.y, newer.x))
    return output
  }

  @_noLocks @inline(__always) private func output(of pair: SIMD2<Double>, _ between: SIMD2<Double>, _ memory: Memory)
    -> SIMD2<Double>
  {
    let ahead =
      (pair * inputs.0 + between * inputs.1) + (memory.inputs.0 * inputs.2 + memory.inputs.1 * inputs.3) + memory.inputs
      .2 * inputs.4
    return (ahead + memory.outputs.1 * outputs.1) + memory.outputs.0 * outputs.0
  }

  static func == (a: Biquad, b: Biquad) -> Bool { a.inputs == b.inputs && a.outputs == b.outputs }
}
