internal import Glibc

/// A voltage-driven moving coil on a spring, simulated by the classical Runge–Kutta method: a
/// system of third order, whose spring can be nonlinear.
public struct SimulatedCoil: Sendable {
  /// The resonance of the spring and the mass without the coil's inductance, in hertz.
  public var resonance: Double
  /// The quality factor without the inductance. A fifth of the damping is mechanical.
  public var qualityFactor: Double
  /// The electrical time constant: the coil's inductance divided by its resistance, in seconds.
  public var coilTimeConstant = 0.0
  /// The linear coefficient of the relative stiffness at a displacement x, which is
  /// 1 + asymmetry·x + stiffening·x².
  public var springAsymmetry = 0.0
  /// The quadratic coefficient of the relative stiffness.
  public var springStiffening = 0.0

  /// Creates a coil on a linear spring.
  public init(resonance: Double, qualityFactor: Double, coil: Double = 0) {
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.coilTimeConstant = coil
  }

  private var omega: Double { 2 * .pi * resonance }
  private var mechanicalQuality: Double { 5 * qualityFactor }
  private var electricalQuality: Double { 1.25 * qualityFactor }

  /// The resonance and the quality factor of the pole pair for small displacements, computed by
  /// Newton's method.
  ///
  /// (s² + s·ω/Qm + ω²)(1 + τs) + s·ω/Qe = 0.
  public var polePair: (resonance: Double, qualityFactor: Double) {
    let width = omega / (2 * qualityFactor)

    var s = (real: -width, imaginary: max(omega * omega - width * width, 1e-9).squareRoot())
    func times(_ a: (real: Double, imaginary: Double), _ b: (real: Double, imaginary: Double)) -> (
      real: Double, imaginary: Double
    ) { (a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real) }
    // As a polynomial: τs³ + (1 + τω/Qm)s² + (ω/Qm + ω/Qe + τω²)s + ω².
    let coefficients = [
      coilTimeConstant, 1 + coilTimeConstant * omega / mechanicalQuality,
      omega / qualityFactor + coilTimeConstant * omega * omega,
      omega * omega,
    ]
    for _ in 0..<50 {
      var value = (real: 0.0, imaginary: 0.0)
      var slope = (real: 0.0, imaginary: 0.0)
      for coefficient in coefficients {
        slope = times(slope, s)
        slope = (slope.real + value.real, slope.imaginary + value.imaginary)
        value = times(value, s)
        value.real += coefficient
      }
      let squaredSlope = slope.real * slope.real + slope.imaginary * slope.imaginary
      let step = times(value, (slope.real / squaredSlope, -slope.imaginary / squaredSlope))
      s = (s.real - step.real, s.imaginary - step.imaginary)
    }
    let poleMagnitude = (s.real * s.real + s.imaginary * s.imaginary).squareRoot()
    return (poleMagnitude / (2 * .pi), poleMagnitude / (-2 * s.real))
  }

  /// Returns the acceleration for an input voltage, scaled to 1 at the resonance without
  /// inductance.
  public func acceleration(for input: [Double], rate: Double) -> [Double] {
    // Steps are short compared with the electrical time constant and the sample period.
    let stepCount = max(2, Int((3 / rate / max(coilTimeConstant, 1e-4)).rounded(.up)))
    let step = 1 / rate / Double(stepCount)
    let omega = omega
    let mechanical = mechanicalQuality
    let electrical = electricalQuality
    let coil = coilTimeConstant
    let asymmetry = springAsymmetry
    let stiffening = springStiffening
    let quality = qualityFactor
    // The state is the displacement relative to its amplitude at resonance, the velocity relative
    // to that amplitude times ω, and the current.
    func slope(_ state: SIMD3<Double>, _ drive: Double) -> SIMD3<Double> {
      let displacement = state.x
      let velocity = state.y
      let settledCurrent = drive - quality / electrical * velocity
      let current = coil > 0 ? state.z : settledCurrent
      let stiffness = 1 + asymmetry * displacement + stiffening * displacement * displacement
      let spring = displacement * stiffness
      return [
        omega * velocity, omega * (current / quality - spring - velocity / mechanical),
        coil > 0 ? (settledCurrent - state.z) / coil : 0,
      ]
    }
    var state = SIMD3<Double>.zero
    var lastSample = 0.0
    return input.map { sample in
      for stepIndex in 0..<stepCount {
        let drive = { (fraction: Double) in
          lastSample + (sample - lastSample) * (Double(stepIndex) + fraction) / Double(stepCount)
        }
        let first = slope(state, drive(0))
        let second = slope(state + step / 2 * first, drive(0.5))
        let third = slope(state + step / 2 * second, drive(0.5))
        let fourth = slope(state + step * third, drive(1))
        state += step / 6 * (first + 2 * second + 2 * third + fourth)
      }
      lastSample = sample
      return slope(state, sample).y / omega
    }
  }
}
