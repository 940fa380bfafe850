#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

/// A filter of second order that computes two frames at a time.
///
/// A recursion that reaches one frame back makes each frame wait for the one before. With both sides of the
/// transfer function multiplied by its denominator at −z, it reaches two and four frames back: two neighbouring
/// frames do not wait for each other, and what the filter does is the same.
///
/// In Double: at 20 Hz and 48 kHz poles lie 0.003 from 1, where the steps of Float move them by percents.
struct DriveFilter: Equatable, Sendable, BitwiseCopyable {
  /// The polynomial 1 + first · z⁻¹ + second · z⁻² of a resonance.
  struct Resonance {
    var first: Double
    var second: Double

    /// The polynomial whose zeros lie where a resonance decays and turns between two frames.
    init(_ model: TransducerModel, rate: Double) {
      let turn = 2 * Double.pi * model.resonance / rate
      let decay = exp(-turn / (2 * model.quality))
      let rest = 1 - 1 / (4 * model.quality * model.quality)
      let middle = rest >= 0 ? cos(turn * rest.squareRoot()) : cosh(turn * (-rest).squareRoot())
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

  /// Frames before a block that `process` reads.
  static var history: Int {
    @_noLocks get { 4 }
  }

  /// A filter that lets everything through.
  init() {
    inputs = (1, 0, 0, 0, 0)
    outputs = (0, 0)
  }

  /// A filter that undoes one resonance and puts another in its place.
  init(gain: Double, undoing zeros: Resonance, making poles: Resonance) {
    let (n1, n2, a1, a2) = (zeros.first, zeros.second, poles.first, poles.second)
    inputs = (
      gain, gain * (n1 - a1), gain * (n2 - a1 * n1 + a2), gain * (a2 * n1 - a1 * n2),
      gain * a2 * n2
    )
    outputs = (a1 * a1 - 2 * a2, -a2 * a2)
  }

  /// A Butterworth high-pass of second order with unit gain at the highest frequency.
  init(highPassHertz hertz: Double, rate: Double) {
    let poles = Resonance(
      TransducerModel(resonance: hertz, quality: 0.5.squareRoot()), rate: rate)
    self.init(gain: (1 - poles.first + poles.second) / 4, undoing: Resonance(), making: poles)
  }

  /// The magnitude of the output for a steady sine of full scale.
  func response(atHertz hertz: Double, rate: Double) -> Double {
    let turn = 2 * Double.pi * hertz / rate
    let (along, across) = (cos(turn), -sin(turn))
    /// The magnitude of a polynomial of z⁻¹, by Horner's rule.
    func magnitude(_ weights: [Double]) -> Double {
      let sum = weights.reversed().reduce((real: 0.0, imaginary: 0.0)) { sum, weight in
        (
          sum.real * along - sum.imaginary * across + weight,
          sum.real * across + sum.imaginary * along
        )
      }
      return (sum.real * sum.real + sum.imaginary * sum.imaginary).squareRoot()
    }
    return magnitude([inputs.0, inputs.1, inputs.2, inputs.3, inputs.4])
      / magnitude([1, 0, -outputs.0, 0, -outputs.1])
  }

  /// Filters frames from one buffer into another.
  ///
  /// Behind an odd count one more frame of the output is overwritten. What a frame comes out as does not depend
  /// on where blocks begin.
  ///
  /// - Parameters:
  ///   - input: The first frame; the four before it are read.
  ///   - output: Where the first frame goes; the four before it are read.
  @_noLocks
  func process(
    _ input: UnsafeMutablePointer<Double>, to output: UnsafeMutablePointer<Double>, count: Int
  ) {
    var older = unsafe SIMD2(output[-4], output[-3])
    var newer = unsafe SIMD2(output[-2], output[-1])
    var frame = 0
    while frame < count {
      let place = unsafe input + frame
      let ahead =
        unsafe (SIMD2(place[0], place[1]) * inputs.0 + SIMD2(place[-1], place[0]) * inputs.1)
        + (SIMD2(place[-2], place[-1]) * inputs.2 + SIMD2(place[-3], place[-2]) * inputs.3)
        + SIMD2(place[-4], place[-3]) * inputs.4
      let next = (ahead + older * outputs.1) + newer * outputs.0
      unsafe output[frame] = next.x
      unsafe output[frame &+ 1] = next.y
      older = newer
      newer = next
      frame &+= 2
    }
  }

  static func == (a: DriveFilter, b: DriveFilter) -> Bool {
    a.inputs == b.inputs && a.outputs == b.outputs
  }
}
