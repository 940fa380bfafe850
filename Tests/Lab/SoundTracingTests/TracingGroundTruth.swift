import Foundation
import HapticModel
import HapticRender
import SignalAnalysis
import TestSupport

@testable import SoundTracing

/// A pattern, its rendering, and the transients that a trace of the rendering should find.
struct TracingGroundTruth {
  struct Transient: Equatable {
    var time: Double
    var intensity: Float
    /// A Boolean value that indicates whether the transient is 6 dB above the simultaneous
    /// continuous event, and no other transient begins within its burst.
    var isClear = true
  }

  /// The maximum distance of a traced transient from an expected transient, in seconds.
  static let onsetToleranceSeconds = 0.010

  var pattern: HapticPattern
  var transients: [Transient]
  var durationSeconds: Double

  init(_ pattern: HapticPattern) {
    self.pattern = pattern
    let controls = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    let continuous = pattern.events.filter { $0.kind == .hapticContinuous }
    var expected: [Transient] = []
    for event in pattern.events.sorted(by: { $0.time < $1.time })
    where event.kind == .hapticTransient {
      let intensity = event.value(of: .hapticIntensity) * Float(controls.value(at: event.time))
      guard intensity >= 0.1 else { continue }
      let continuousIntensity =
        continuous.filter {
          $0.time - 0.005 <= event.time && event.time < $0.time + ($0.duration ?? 0)
        }
        .map { $0.value(of: .hapticIntensity) * Float(controls.value(at: event.time + 0.01)) }.max()
        ?? 0
      // Level follows the square of intensity.
      let transient = Transient(
        time: event.time, intensity: intensity,
        isClear: intensity * intensity > 2 * continuousIntensity * continuousIntensity
      )
      // Transients closer than 9 ms are expected as one transient.
      if let last = expected.last, transient.time - last.time < 0.009 {
        if transient.intensity > last.intensity {
          expected[expected.count - 1] = transient
        }
      } else {
        expected.append(transient)
      }
    }
    for index in expected.indices.dropFirst()
    where expected[index].time - expected[index - 1].time < 0.028 {
      expected[index].isClear = false
      expected[index - 1].isClear = false
    }
    transients = expected
    durationSeconds = pattern.durationSeconds
  }

  /// Returns the pattern of a seed: only transients, steady or modulated continuous events with
  /// transients, trains of transients, or a mixture.
  static func generated(_ seed: Int) -> TracingGroundTruth {
    var generator = SplitMixGenerator(state: UInt64(seed))
    func randomValue(_ low: Double, _ high: Double) -> Double {
      Double.random(in: low..<high, using: &generator)
    }
    var pattern = HapticPattern()
    func tap(_ time: Double, _ intensity: Double, _ sharpness: Double) {
      pattern.events.append(
        HapticEvent(
          kind: .hapticTransient, time: time,
          parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)]))
    }
    func hum(_ time: Double, _ duration: Double, _ intensity: Double, _ sharpness: Double) {
      pattern.events.append(
        HapticEvent(
          kind: .hapticContinuous, time: time, duration: duration,
          parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)]))
    }
    var time = 0.05
    switch seed % 5 {
    case 0:
      for _ in 0..<Int(randomValue(4, 16)) {
        tap(time, randomValue(0.25, 1), randomValue(0, 1))
        time += randomValue(0.06, 0.4)
      }
    case 1, 2:
      for _ in 0..<Int(randomValue(1, 4)) {
        let duration = randomValue(0.25, 1.2)
        hum(time, duration, randomValue(0.3, 0.8), randomValue(0, 1))
        if seed % 5 == 2 {
          let times =
            [0] + (0..<3).map { _ in randomValue(0.1, 0.9) * duration }.sorted() + [duration]
          pattern.curves.append(
            ParameterCurve(
              id: .hapticIntensityControl, time: time,
              controlPoints: times.map { .init(time: $0, value: Float(randomValue(0.2, 1))) }))
        }
        for _ in 0..<Int(randomValue(0, 5)) {
          tap(time + randomValue(0.03, duration - 0.05), randomValue(0.3, 1), randomValue(0, 1))
        }
        time += duration + randomValue(0.05, 0.4)
        if seed % 5 == 2 {
          pattern.parameters.append(
            DynamicParameter(id: .hapticIntensityControl, value: 1, time: time - 0.02))
        }
      }
    case 3:
      for _ in 0..<Int(randomValue(1, 4)) {
        let gap = randomValue(0.02, 0.09)
        let sharpness = randomValue(0.2, 1)
        let intensity = randomValue(0.4, 1)
        for _ in 0..<Int(randomValue(4, 20)) {
          tap(time, intensity * randomValue(0.7, 1), sharpness)
          time += gap
        }
        time += randomValue(0.15, 0.5)
      }
    default:
      for _ in 0..<Int(randomValue(3, 9)) {
        if randomValue(0, 1) < 0.5 {
          tap(time, randomValue(0.3, 1), randomValue(0, 1))
          time += randomValue(0.08, 0.3)
        } else {
          let duration = randomValue(0.08, 0.5)
          hum(time, duration, randomValue(0.3, 1), randomValue(0, 1))
          if randomValue(0, 1) < 0.5 {
            tap(time, randomValue(0.6, 1), randomValue(0.3, 1))
          }
          time += duration + randomValue(0.03, 0.3)
        }
      }
    }
    return TracingGroundTruth(pattern)
  }

  /// Returns the rendering with a profile, as `temblor render` renders it.
  func sound(_ profile: TransducerProfile = .phone, rate: Double = 8_000) throws -> [Float] {
    let plan = try RenderPlan(compiling: pattern, profile: profile, rate: rate)
    var settings = RenderSettings(outputFrameCount: plan.frameCount + Int64(0.05 * rate))
    settings.routing = settings.routing.assigningTransducers(of: [profile])
    var renderer = OfflineRenderer(plan: plan, settings: settings)
    return renderer.samples()
  }
}

/// The degradations of a recording.
enum Degradation: String, CaseIterable {
  case clean, noise, music, room, inverted

  func applied(to samples: [Float], rate: Double, seed: Int) -> [Float] {
    var generator = SplitMixGenerator(state: UInt64(seed))
    let audibleSamples = samples.filter { abs($0) > 1e-4 }
    let level =
      (audibleSamples.reduce(0) { $0 + Double($1 * $1) } / Double(max(1, audibleSamples.count)))
      .squareRoot()
    switch self {
    case .clean:
      return samples
    case .inverted:
      return samples.map { -$0 }
    case .noise:
      // White noise up to 24 kHz, 20 dB below the sound, of which the sample rate represents a
      // fraction.
      let noiseAmplitude = 0.1 * level * (rate / 48_000).squareRoot()
      return samples.map { $0 + Float(noiseAmplitude * generator.normalValue()) }
    case .music:
      // Five tones with vibrato from 220 Hz on, 12 dB below the sound.
      let tones = [220, 277.2, 329.6, 440, 554.4]
      return samples.indices.map { index in
        let time = Double(index) / rate
        let music = tones.reduce(0.0) { sum, hertz in
          sum
            + sin(2 * .pi * hertz * time + 2 * sin(2 * .pi * 5 * time + hertz))
            * (0.6 + 0.4 * sin(2 * .pi * time * (0.5 + hertz / 900)))
        }
        return samples[index] + Float(0.25 * level * music / 1.6)
      }
    case .room:
      // Six early reflections within 28 ms, and 60 late reflections that decay by 60 dB in 0.3 s.
      let earlyReflections = (0..<6).map { _ -> (Int, Double) in
        (Int((0.003 + 0.025 * generator.fraction()) * rate), 0.35 * (2 * generator.fraction() - 1))
      }
      let lateReflections = (0..<60).map { _ -> (Int, Double) in
        let time = 0.01 + 0.25 * generator.fraction()
        return (Int(time * rate), 0.06 * generator.normalValue() * exp(-6.9 * time / 0.3))
      }
      var output = samples
      for (delay, gain) in earlyReflections + lateReflections {
        for index in delay..<max(delay, samples.count) {
          output[index] += Float(gain) * samples[index - delay]
        }
      }
      return output
    }
  }
}

/// The found, false, and missed transients of traces, summed over patterns.
struct TracingScore {
  private(set) var foundCount = 0, falseCount = 0, missedCount = 0, clearFoundCount = 0,
    clearMissedCount = 0
  private(set) var onsetErrors: [Double] = []
  private(set) var agreements: [SoundTrace.Agreement] = []

  mutating func add(_ trace: SoundTrace, against truth: TracingGroundTruth) {
    let times = trace.pattern.events.filter { $0.kind == .hapticTransient }.map(\.time)
    let expected = truth.transients
    add(times, expected)
    agreements.append(trace.agreement)
  }

  mutating func add(_ times: [Double], _ expected: [TracingGroundTruth.Transient]) {
    // Pairs are matched in the order of their distances, and each transient once.
    var candidatePairs: [(distance: Double, timeIndex: Int, expectedIndex: Int)] = []
    for (timeIndex, time) in times.enumerated() {
      for (expectedIndex, transient) in expected.enumerated()
      where abs(transient.time - time) <= TracingGroundTruth.onsetToleranceSeconds {
        candidatePairs.append((abs(transient.time - time), timeIndex, expectedIndex))
      }
    }
    var matchedTimeIndices = Set<Int>()
    var matchedExpectedIndices = Set<Int>()
    for pair in candidatePairs.sorted(by: { $0.distance < $1.distance })
    where !matchedTimeIndices.contains(pair.timeIndex)
      && !matchedExpectedIndices.contains(pair.expectedIndex)
    {
      matchedTimeIndices.insert(pair.timeIndex)
      matchedExpectedIndices.insert(pair.expectedIndex)
      onsetErrors.append(pair.distance)
    }
    foundCount += matchedExpectedIndices.count
    falseCount += times.count - matchedTimeIndices.count
    missedCount += expected.count - matchedExpectedIndices.count
    clearFoundCount += matchedExpectedIndices.count { expected[$0].isClear }
    clearMissedCount += expected.indices.count {
      expected[$0].isClear && !matchedExpectedIndices.contains($0)
    }
  }

  var precision: Double { Double(foundCount) / Double(max(1, foundCount + falseCount)) }
  private static func harmonicMean(_ precision: Double, _ recall: Double) -> Double {
    2 * precision * recall / max(precision + recall, 1e-9)
  }
  /// The harmonic mean of precision and recall, of all transients and of those that are clear.
  var f1Score: Double {
    Self.harmonicMean(precision, Double(foundCount) / Double(max(1, foundCount + missedCount)))
  }
  var clearF1Score: Double {
    Self.harmonicMean(
      precision, Double(clearFoundCount) / Double(max(1, clearFoundCount + clearMissedCount)))
  }
  /// The median onset error, in seconds.
  var medianOnsetError: Double {
    onsetErrors.isEmpty ? 0 : onsetErrors.sorted()[onsetErrors.count / 2]
  }
  /// The median and the worst tenth of the correlations of renderings, and the median of their
  /// distances in decibels.
  var correlationQuantiles: (median: Double, tenth: Double) {
    let sorted = agreements.map(\.correlation).sorted()
    return (sorted[sorted.count / 2], sorted[sorted.count / 10])
  }
  var medianDifferenceDecibels: Double {
    agreements.map(\.differenceDecibels).sorted()[agreements.count / 2]
  }
}
