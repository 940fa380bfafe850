import Foundation
import HapticModel
import HapticRender
import SignalAnalysis
import TestSupport

@testable import SoundTracing

/// A pattern, its rendering, and what a trace of that should find.
struct TracingGroundTruth {
  struct Transient: Equatable {
    var time: Double
    var intensity: Float
    /// Whether it is 6 dB above the continuous event beside it and no other begins within its
    /// burst.
    var isClear = true
  }

  /// Transients within this time of a found one count as found, in seconds.
  static let onsetToleranceSeconds = 0.010

  var pattern: HapticPattern
  var transients: [Transient]
  var durationSeconds: Double

  init(_ pattern: HapticPattern) {
    self.pattern = pattern
    let controls = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    let continuous = pattern.events.filter { $0.kind == .hapticContinuous }
    var found: [Transient] = []
    for event in pattern.events.sorted(by: { $0.time < $1.time })
    where event.kind == .hapticTransient {
      let intensity = event.value(of: .hapticIntensity) * Float(controls.value(at: event.time))
      guard intensity >= 0.1 else { continue }
      let beside =
        continuous.filter {
          $0.time - 0.005 <= event.time && event.time < $0.time + ($0.duration ?? 0)
        }
        .map { $0.value(of: .hapticIntensity) * Float(controls.value(at: event.time + 0.01)) }.max()
        ?? 0
      // Level follows the square of intensity.
      let transient = Transient(
        time: event.time, intensity: intensity, isClear: intensity * intensity > 2 * beside * beside
      )
      // Closer than 9 ms they are one.
      if let last = found.last, transient.time - last.time < 0.009 {
        if transient.intensity > last.intensity {
          found[found.count - 1] = transient
        }
      } else {
        found.append(transient)
      }
    }
    for index in found.indices.dropFirst() where found[index].time - found[index - 1].time < 0.028 {
      found[index].isClear = false
      found[index - 1].isClear = false
    }
    transients = found
    durationSeconds = pattern.durationSeconds
  }

  /// The same pattern for the same seed: transients alone, steady events with transients, moving
  /// ones, trains, mixtures.
  static func generated(_ seed: Int) -> TracingGroundTruth {
    var chance = SplitMixGenerator(state: UInt64(seed))
    func between(_ low: Double, _ high: Double) -> Double {
      Double.random(in: low..<high, using: &chance)
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
      for _ in 0..<Int(between(4, 16)) {
        tap(time, between(0.25, 1), between(0, 1))
        time += between(0.06, 0.4)
      }
    case 1, 2:
      for _ in 0..<Int(between(1, 4)) {
        let duration = between(0.25, 1.2)
        hum(time, duration, between(0.3, 0.8), between(0, 1))
        if seed % 5 == 2 {
          let times = [0] + (0..<3).map { _ in between(0.1, 0.9) * duration }.sorted() + [duration]
          pattern.curves.append(
            ParameterCurve(
              id: .hapticIntensityControl, time: time,
              controlPoints: times.map { .init(time: $0, value: Float(between(0.2, 1))) }))
        }
        for _ in 0..<Int(between(0, 5)) {
          tap(time + between(0.03, duration - 0.05), between(0.3, 1), between(0, 1))
        }
        time += duration + between(0.05, 0.4)
        if seed % 5 == 2 {
          pattern.parameters.append(
            DynamicParameter(id: .hapticIntensityControl, value: 1, time: time - 0.02))
        }
      }
    case 3:
      for _ in 0..<Int(between(1, 4)) {
        let gap = between(0.02, 0.09)
        let sharpness = between(0.2, 1)
        let intensity = between(0.4, 1)
        for _ in 0..<Int(between(4, 20)) {
          tap(time, intensity * between(0.7, 1), sharpness)
          time += gap
        }
        time += between(0.15, 0.5)
      }
    default:
      for _ in 0..<Int(between(3, 9)) {
        if between(0, 1) < 0.5 {
          tap(time, between(0.3, 1), between(0, 1))
          time += between(0.08, 0.3)
        } else {
          let duration = between(0.08, 0.5)
          hum(time, duration, between(0.3, 1), between(0, 1))
          if between(0, 1) < 0.5 {
            tap(time, between(0.6, 1), between(0.3, 1))
          }
          time += duration + between(0.03, 0.3)
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
    var chance = SplitMixGenerator(state: UInt64(seed))
    let loud = samples.filter { abs($0) > 1e-4 }
    let level = (loud.reduce(0) { $0 + Double($1 * $1) } / Double(max(1, loud.count))).squareRoot()
    switch self {
    case .clean:
      return samples
    case .inverted:
      return samples.map { -$0 }
    case .noise:
      // White up to 24 kHz and 20 dB below, of which the rate holds a part.
      let own = 0.1 * level * (rate / 48_000).squareRoot()
      return samples.map { $0 + Float(own * chance.normalValue()) }
    case .music:
      // Five tones with vibrato from 220 Hz on, 12 dB below.
      let tones = [220, 277.2, 329.6, 440, 554.4]
      return samples.indices.map { index in
        let time = Double(index) / rate
        let bed = tones.reduce(0.0) { sum, hertz in
          sum
            + sin(2 * .pi * hertz * time + 2 * sin(2 * .pi * 5 * time + hertz))
            * (0.6 + 0.4 * sin(2 * .pi * time * (0.5 + hertz / 900)))
        }
        return samples[index] + Float(0.25 * level * bed / 1.6)
      }
    case .room:
      // Six early reflections within 28 ms and 60 late ones, 60 dB down after 0.3 s.
      let early = (0..<6).map { _ -> (Int, Double) in
        (Int((0.003 + 0.025 * chance.fraction()) * rate), 0.35 * (2 * chance.fraction() - 1))
      }
      let late = (0..<60).map { _ -> (Int, Double) in
        let time = 0.01 + 0.25 * chance.fraction()
        return (Int(time * rate), 0.06 * chance.normalValue() * exp(-6.9 * time / 0.3))
      }
      var output = samples
      for (delay, gain) in early + late {
        for index in delay..<max(delay, samples.count) {
          output[index] += Float(gain) * samples[index - delay]
        }
      }
      return output
    }
  }
}

/// Found, false and missed transients, added up over patterns.
struct TracingScore {
  private(set) var foundCount = 0, falseCount = 0, missedCount = 0, clearFoundCount = 0,
    clearMissedCount = 0
  private(set) var onsetErrors: [Double] = []
  private(set) var agreements: [SoundTrace.Agreement] = []

  mutating func add(_ trace: SoundTrace, against truth: TracingGroundTruth) {
    let times = trace.pattern.events.filter { $0.kind == .hapticTransient }.map(\.time)
    let wanted = truth.transients
    add(times, wanted)
    agreements.append(trace.agreement)
  }

  mutating func add(_ times: [Double], _ wanted: [TracingGroundTruth.Transient]) {
    // The nearest pairs first, each once.
    var pairs: [(distance: Double, found: Int, wanted: Int)] = []
    for (index, time) in times.enumerated() {
      for (other, transient) in wanted.enumerated()
      where abs(transient.time - time) <= TracingGroundTruth.onsetToleranceSeconds {
        pairs.append((abs(transient.time - time), index, other))
      }
    }
    var used = Set<Int>()
    var hit = Set<Int>()
    for pair in pairs.sorted(by: { $0.distance < $1.distance })
    where !used.contains(pair.found) && !hit.contains(pair.wanted) {
      used.insert(pair.found)
      hit.insert(pair.wanted)
      onsetErrors.append(pair.distance)
    }
    foundCount += hit.count
    falseCount += times.count - used.count
    missedCount += wanted.count - hit.count
    clearFoundCount += hit.count { wanted[$0].isClear }
    clearMissedCount += wanted.indices.count { wanted[$0].isClear && !hit.contains($0) }
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
  /// The median of the onsets' errors, in seconds.
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
