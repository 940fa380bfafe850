import HapticModel
import HapticRender
import SignalAnalysis
import TestSupport

@testable import SoundTracing

/// Patterns of continuous events that sound together or follow each other, without transients.
extension TracingGroundTruth {
  /// Returns groups of two or three simultaneous events, which differ by more than a tenth of the
  /// range of sharpness. In half of the patterns, curves move all events.
  static func layered(_ seed: Int) -> TracingGroundTruth {
    var pattern = HapticPattern()
    var generator = SplitMixGenerator(state: UInt64(seed))
    var time = 0.05
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let sharpnesses = distinctSharpnesses(Int.random(in: 2...3, using: &generator), &generator)
      var groupEnd = time
      for sharpness in sharpnesses.shuffled(using: &generator) {
        let delay = generator.fraction() < 0.6 ? 0.3 * generator.fraction() : 0
        let duration = 0.3 + 0.9 * generator.fraction()
        pattern.events.append(
          continuousEvent(
            time + delay, duration, intensity: 0.45 + 0.5 * generator.fraction(),
            sharpness: sharpness)
        )
        groupEnd = max(groupEnd, time + delay + duration)
      }
      time = groupEnd + (generator.fraction() < 0.3 ? 0 : 0.25 * generator.fraction())
    }
    if generator.fraction() < 0.5 {
      addCurves(to: &pattern, until: time, &generator)
    }
    return TracingGroundTruth(pattern)
  }

  /// Returns 8 to 21 events of 80 to 250 ms, one after the other, with gaps of up to 25 ms.
  static func melody(_ seed: Int) -> TracingGroundTruth {
    var pattern = HapticPattern()
    var generator = SplitMixGenerator(state: UInt64(seed))
    let gaps = [0, 0.004, 0.008, 0.012, 0.016, 0.02, 0.025]
    let usualGap = gaps[Int.random(in: gaps.indices, using: &generator)]
    var time = 0.05
    for _ in 0..<Int.random(in: 8...21, using: &generator) {
      let duration = 0.08 + 0.17 * generator.fraction()
      pattern.events.append(
        continuousEvent(
          time, duration, intensity: 0.4 + 0.6 * generator.fraction(),
          sharpness: generator.fraction()))
      time += duration + (generator.fraction() < 0.7 ? usualGap : 0.025 * generator.fraction())
    }
    return TracingGroundTruth(pattern)
  }

  private static func continuousEvent(
    _ time: Double, _ duration: Double, intensity: Double, sharpness: Double
  ) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)])
  }

  private static func distinctSharpnesses(_ count: Int, _ generator: inout SplitMixGenerator)
    -> [Double]
  {
    while true {
      let sharpnesses = (0..<count).map { _ in generator.fraction() }.sorted()
      if zip(sharpnesses, sharpnesses.dropFirst()).allSatisfy({ $1 - $0 > 0.1 }) {
        return sharpnesses
      }
    }
  }

  private static func addCurves(
    to pattern: inout HapticPattern, until end: Double, _ generator: inout SplitMixGenerator
  ) {
    if generator.fraction() < 0.6 {
      addCurve(.hapticIntensityControl, 0.55...1, every: 0.4, to: &pattern, until: end, &generator)
    }
    if generator.fraction() < 0.6 {
      addCurve(
        .hapticSharpnessControl, -0.1...0.1, every: 0.5, to: &pattern, until: end, &generator)
    }
  }

  private static func addCurve(
    _ id: DynamicParameterID, _ values: ClosedRange<Float>, every stepSeconds: Double,
    to pattern: inout HapticPattern, until end: Double, _ generator: inout SplitMixGenerator
  ) {
    let points = stride(from: 0, to: end + stepSeconds, by: stepSeconds).map { time in
      ParameterCurve.ControlPoint(time: time, value: Float.random(in: values, using: &generator))
    }
    pattern.curves.append(ParameterCurve(id: id, time: 0, controlPoints: points))
  }
}

/// The continuous events of patterns that traces reproduce, and transients that the patterns do not
/// contain.
struct ContinuousScore {
  private(set) var patternCount = 0
  /// The number of continuous events in the patterns.
  private(set) var expectedCount = 0
  /// The number of these events whose start and end a trace finds within 20 ms.
  private(set) var boundedCount = 0
  /// The number of these events with, in addition, frequency within 2 % and level within 1 dB.
  private(set) var foundCount = 0
  private(set) var falseTransientCount = 0
  /// The number of patterns whose trace has false transients.
  private(set) var falsePatternCount = 0
  private(set) var correlations: [Double] = []

  private static let edgeTolerance = 0.02
  private static let frequencyTolerance = 0.02
  private static let levelTolerance = 1.0

  /// The fraction of events that were found.
  var foundFraction: Double { Double(foundCount) / Double(max(1, expectedCount)) }

  /// Adds the trace of a pattern without transients.
  mutating func add(
    _ trace: SoundTrace, against truth: TracingGroundTruth, profile: TransducerProfile
  ) {
    patternCount += 1
    falseTransientCount += trace.transientCount
    falsePatternCount += trace.transientCount > 0 ? 1 : 0
    correlations.append(trace.agreement.correlation)
    let expected = PlayedEvent.events(of: truth.pattern, profile: profile)
    var candidates = PlayedEvent.events(of: trace.pattern, profile: profile)
    expectedCount += expected.count
    for event in expected {
      let bounded = candidates.indices.filter {
        abs(candidates[$0].start - event.start) <= Self.edgeTolerance
          && abs(candidates[$0].end - event.end) <= Self.edgeTolerance
      }
      guard
        let best = bounded.min(by: {
          candidates[$0].frequencyError(from: event) < candidates[$1].frequencyError(from: event)
        })
      else { continue }
      boundedCount += 1
      guard candidates[best].frequencyError(from: event) <= Self.frequencyTolerance else {
        continue
      }
      if candidates[best].levelError(from: event) <= Self.levelTolerance {
        foundCount += 1
      }
      candidates.remove(at: best)
    }
  }

  /// A continuous event with its controls applied.
  private struct PlayedEvent {
    let start: Double
    let end: Double
    private let intensity: (Double) -> Double
    private let hertz: (Double) -> Double

    static func events(of pattern: HapticPattern, profile: TransducerProfile) -> [PlayedEvent] {
      let intensities = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      let sharpnesses = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
      return pattern.events.filter { $0.kind == .hapticContinuous }.map { event in
        PlayedEvent(
          start: event.time, end: event.time + (event.duration ?? 0),
          intensity: {
            max(1e-3, Double(event.value(of: .hapticIntensity)) * intensities.value(at: $0))
          },
          hertz: {
            profile.frequency.hertz(
              atSharpness: Double(event.value(of: .hapticSharpness)) + sharpnesses.value(at: $0))
          })
      }
    }

    /// Returns the median relative error of the frequency.
    func frequencyError(from truth: PlayedEvent) -> Double {
      medianError(from: truth) { abs(hertz($0) / truth.hertz($0) - 1) }
    }

    /// Returns the median error of the level, in decibels; the level follows the square of
    /// intensity.
    func levelError(from truth: PlayedEvent) -> Double {
      medianError(from: truth) { time in
        abs(2 * Decibels.of(amplitude: intensity(time) / truth.intensity(time)))
      }
    }

    private func medianError(from truth: PlayedEvent, _ errorAtTime: (Double) -> Double) -> Double {
      let errors = (0..<9).map { index in
        errorAtTime(truth.start + 0.02 + (truth.end - truth.start - 0.04) * Double(index) / 8)
      }
      return errors.sorted()[4]
    }
  }
}
