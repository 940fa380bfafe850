internal import CMath

/// The ratio of two clocks, from how many frames are between them: a control loop of 0.02 Hz,
/// critically damped.
public struct DriftLoop: Sendable {
  /// Frames of the source for one of the output, 1 ± 0.001.
  public private(set) var ratio = 1.0
  /// Parts per million by which the source runs faster.
  public var partsPerMillion: Double { (ratio - 1) * 1e6 }

  /// The loop's frequency in hertz, the greatest deviation, the greatest step of an update, and
  /// seconds of smoothing, twice.
  private static let bandwidthHertz = 0.02
  private static let maximumDeviation = 1e-3
  private static let maximumStep = 2e-6
  private static let smoothingTime = 0.5

  private let rate: Double
  /// The frames that wait, smoothed once and twice; nil before any.
  private var smoothedFrames: (once: Double, twice: Double)?
  private var integral = 0.0

  /// A loop at a ratio of 1, for frames per second.
  public init(rate: Double) { self.rate = rate }

  /// Takes note of how many frames wait.
  ///
  /// - Parameter frames: At moments that do not lie alike in the periods of the devices, which
  ///   would beat with the drift.
  public mutating func update(
    waitingFrames frames: Double, target: Double, elapsedSeconds seconds: Double
  ) {
    var (once, twice) = smoothedFrames ?? (frames, frames)
    let share = 1 - exp(-seconds / Self.smoothingTime)
    once += (frames - once) * share
    twice += (once - twice) * share
    smoothedFrames = (once, twice)
    let omega = 2 * .pi * Self.bandwidthHertz
    func bounded(_ value: Double) -> Double {
      min(Self.maximumDeviation, max(-Self.maximumDeviation, value))
    }
    integral = bounded(integral + omega * omega / rate * (twice - target) * seconds)
    let wanted = 1 + bounded(2 * omega / rate * (twice - target) + integral)
    ratio += max(-Self.maximumStep, min(Self.maximumStep, wanted - ratio))
  }

  /// Forgets how many waited, and keeps the ratio: behind a gap.
  public mutating func holdRatio() { smoothedFrames = nil }
}

/// Samples at another rate, by cubics through four of them: for what lies far below both rates, as
/// vibration does.
public struct VariableRateResampler {
  private var history = SIMD4<Float>()
  /// The place of the next output behind the second of the four.
  private var fraction = 0.0

  /// A resampler that begins in silence.
  public init() {}

  /// The output for the next samples.
  ///
  /// - Parameter step: Samples for each of the output, above 0; it may change from call to call.
  public mutating func resample(_ samples: [Float], step: Double) -> [Float] {
    var output: [Float] = []
    output.reserveCapacity(Int(Double(samples.count) / step) + 2)
    for sample in samples {
      history = SIMD4(history[1], history[2], history[3], sample)
      while fraction < 1 {
        let time = Float(fraction)
        let slope = (history[2] - history[0]) / 2
        let next = (history[3] - history[1]) / 2
        let rise = history[2] - history[1]
        output.append(
          history[1] + time
            * (slope + time * (3 * rise - 2 * slope - next + time * (slope + next - 2 * rise))))
        fraction += step
      }
      fraction -= 1
    }
    return output
  }
}
