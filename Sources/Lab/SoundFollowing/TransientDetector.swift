import SignalAnalysis

/// Detects transients: the level within 1 ms is twice that of the preceding 40 ms.
struct TransientDetector {
  /// The minimum ratio of the level to the preceding average.
  private static let minimumRiseRatio = 2.0
  /// The minimum level of a transient.
  private static let minimumLevel = 2e-3
  /// The time in which the strength is measured, in seconds.
  private static let measurementTime = 0.002
  /// The time in which no other transient is detected, in seconds.
  private static let holdOffTime = 0.05

  /// The levels of an earlier control step.
  private struct Levels {
    var average = 0.0
    var peak = 0.0
  }

  private var lowBand: BandLevelMeter
  private var highBand: BandLevelMeter
  private var averageLevel: EnvelopeFollower
  private var peakLevel: EnvelopeFollower
  /// The levels of the last 10 ms.
  private var history: [Levels]
  private var peakStrength = 0.0
  private var stepsSinceOnset: Int
  private let controlRate: Double

  /// Creates a detector.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - framesPerStep: The number of frames of a control step.
  init(rate: Double, framesPerStep: Int) {
    controlRate = rate / Double(framesPerStep)
    func band(_ low: Double, _ high: Double) -> BandLevelMeter {
      BandLevelMeter(
        BiquadCascade(.highPass, order: 1, hertz: low, rate: rate),
        BiquadCascade(.lowPass, order: 1, hertz: high, rate: rate))
    }
    lowBand = band(25, 250)
    highBand = band(250, 5_000)
    averageLevel = EnvelopeFollower(rise: 0.04, fall: 0.04, rate: controlRate)
    peakLevel = EnvelopeFollower(rise: 0.0005, fall: 0.2, rate: controlRate)
    history = Array(repeating: Levels(), count: Int(0.01 * controlRate))
    stepsSinceOnset = Int(controlRate)
  }

  /// Adds a sample.
  mutating func add(_ sample: Double) {
    lowBand.add(sample)
    highBand.add(sample)
  }

  /// Ends a control step, and returns the strength of a transient once it is measured.
  ///
  /// - Parameter count: The number of frames of the control step.
  mutating func next(count: Int) -> Double? {
    let lowBandLevel = lowBand.drainLevel(count: count)
    let highBandLevel = highBand.drainLevel(count: count)
    let level = (lowBandLevel * lowBandLevel + 0.25 * highBandLevel * highBandLevel).squareRoot()
    history.append(Levels(average: averageLevel.next(level), peak: peakLevel.next(level)))
    let delay = min(history.count, Int(0.002 * controlRate) + 1)
    let earlierAverage = history[history.count - delay].average
    let earlierPeak = history.removeFirst().peak
    stepsSinceOnset += 1
    if stepsSinceOnset > Int(Self.holdOffTime * controlRate), level > Self.minimumLevel,
      level > Self.minimumRiseRatio * max(earlierAverage, 0.25 * earlierPeak)
    {
      stepsSinceOnset = 0
      peakStrength = 0
    }
    peakStrength = max(peakStrength, level)
    return stepsSinceOnset == Int(Self.measurementTime * controlRate) ? peakStrength : nil
  }
}
