import Foundation
import HapticFormats
import HapticModel
import HapticRender
import ShippedFiles
import SignalAnalysis
import TestSupport
import Testing

@testable import SoundTracing

/// Simultaneous and consecutive continuous events. A beat is not a rhythm of transients.
///
/// With TEMBLOR_TRACING_TABLE set to the first seed, the figures of the article are printed.
struct LayeredTraceTests {
  private static let tableSeed = ProcessInfo.processInfo.environment["TEMBLOR_TRACING_TABLE"]
    .flatMap { Int($0) }
  private static let seeds = tableSeed.map { $0..<$0 + 100 } ?? 5_000..<5_008

  private static func score(
    _ name: String, _ generated: (Int) -> TracingGroundTruth
  ) throws -> ContinuousScore {
    var score = ContinuousScore()
    for seed in seeds {
      let truth = generated(seed)
      let trace = try SoundTrace(of: Signal(try truth.sound(), rate: 8_000))
      score.add(trace, against: truth, profile: .phone)
    }
    if tableSeed != nil {
      let correlations = score.correlations.sorted()
      print(
        """
        \(name): \(score.falseTransientCount) false transients in \(score.falsePatternCount) of \
        \(score.patternCount) patterns, \(score.boundedCount) bounded and \(score.foundCount) \
        found of \(score.expectedCount) events, correlation \
        \(correlations[correlations.count / 2]), tenth \(correlations[correlations.count / 10])
        """)
    }
    return score
  }

  @Test("Two or three simultaneous events are found, and few transients that do not exist")
  func simultaneousEvents() throws {
    let score = try Self.score("simultaneous", TracingGroundTruth.layered)
    #expect(score.foundFraction >= 0.8)
    #expect(score.falseTransientCount <= score.patternCount)
  }

  @Test("Events one after the other are found, and few transients that do not exist")
  func consecutiveEvents() throws {
    let score = try Self.score("consecutive", TracingGroundTruth.melody)
    #expect(score.foundFraction >= 0.6)
    #expect(score.falseTransientCount <= 3 * score.patternCount)
  }

  @Test("The transients of the shipped patterns are found")
  func shippedPatterns() throws {
    var score = TracingScore()
    for name in ShippedPatterns.names {
      let text = try #require(ShippedPatterns.text(named: name))
      let truth = TracingGroundTruth(try AHAPDocument(text: text, name: name).read().pattern)
      let trace = try SoundTrace(of: Signal(try truth.sound(), rate: 8_000))
      score.add(trace, against: truth)
    }
    #expect(score.f1Score >= 0.98, "\(score.f1Score)")
  }

  @Test(
    "Two steady events whose beat resembles a rhythm are two events",
    arguments: [(0.75, 0.35, 1.0), (0.8, 0.4, 1), (0.6, 0.3, 0.9), (0.5, 0.4, 1)])
  func beat(_ firstSharpness: Double, _ secondSharpness: Double, _ intensity: Double) throws {
    let events = [firstSharpness, secondSharpness].map { sharpness in
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 2,
        parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)])
    }
    let truth = TracingGroundTruth(HapticPattern(events: events))
    let trace = try SoundTrace(of: Signal(try truth.sound(), rate: 8_000))
    #expect(trace.transientCount == 0 && trace.continuousEventCount == 2)
    let sharpnesses = trace.pattern.events.map { Double($0.value(of: .hapticSharpness)) }.sorted()
    for (traced, expected) in zip(sharpnesses, [firstSharpness, secondSharpness].sorted()) {
      #expect(abs(traced - expected) < 0.002)
    }
    #expect(trace.agreement.correlation > 0.99)
  }

  @Test(
    "Successive steady events are traced with their edges and without transients",
    arguments: [
      [(0.05, 0.172, 0.67, 0.13), (0.226, 0.108, 0.73, 0.5), (0.34, 0.199, 0.46, 0.73)]
        + [(0.543, 0.163, 0.8, 0.52)],
      [(0.05, 0.152, 0.64, 0.67), (0.217, 0.134, 0.45, 0.9), (0.376, 0.192, 0.54, 0.99)]
        + [(0.568, 0.246, 0.51, 0.79)],
      [(0.05, 0.119, 0.56, 0.88), (0.191, 0.129, 0.76, 0.93), (0.328, 0.236, 0.53, 0.56)]
        + [(0.572, 0.167, 0.78, 0.57)],
      [(0.05, 0.156, 0.71, 0.44), (0.225, 0.155, 0.74, 0.6), (0.39, 0.101, 0.99, 0.58)]
        + [(0.502, 0.169, 0.72, 0.84)],
    ])
  func successiveEvents(_ expected: [(Double, Double, Double, Double)]) throws {
    let events = expected.map { time, duration, intensity, sharpness in
      HapticEvent(
        kind: .hapticContinuous, time: time, duration: duration,
        parameters: [.hapticIntensity: Float(intensity), .hapticSharpness: Float(sharpness)])
    }
    let truth = TracingGroundTruth(HapticPattern(events: events))
    let trace = try SoundTrace(of: Signal(try truth.sound(), rate: 8_000))
    #expect(trace.transientCount == 0)
    let traced = trace.pattern.events.sorted { $0.time < $1.time }
    try #require(traced.count == events.count)
    for (tracedEvent, event) in zip(traced, events) {
      let tracedEnd = tracedEvent.time + (tracedEvent.duration ?? 0)
      #expect(abs(tracedEvent.time - event.time) < 0.02)
      #expect(abs(tracedEnd - event.time - (event.duration ?? 0)) < 0.02)
    }
  }

  @Test("A tone continues the path of the previous window, not a louder path that has ended")
  func currentPath() {
    let rate = 2_000.0
    let hop = 8
    let hertz = 121.0
    let windows = (0...8).map { index in
      // The phase of the second tone approaches that of the first tone.
      let phaseOffset = index == 0 ? 0 : max(0, 1 - 0.2 * Double(index - 1))
      let tone = WindowTone(
        hertz: hertz, amplitude: index == 0 ? 0.4 : 0.3,
        centerPhase: 2 * .pi * hertz * Double(index * hop) / rate + phaseOffset)
      return ToneWindow(centerSample: index * hop, halfLengthSamples: 64, tones: [tone])
    }
    let linker = ToneLinker(sampleRate: rate, hopSampleCount: hop, durationFactor: 1)
    #expect(linker.paths(of: windows).map { $0.count }.sorted() == [1, 8])
  }

  @Test("Simultaneous events share the curve that moves all of them")
  func sharedMovement() {
    let levels = (0..<100).map { 0.5 + 0.4 * Double($0) / 99 }
    let events = [0.4, 0.8].map { scale in
      TracedContinuousEvent(
        startSeconds: 0, stepSeconds: 0.01, intensities: levels.map { scale * $0 },
        sharpnesses: levels.map { 0.1 * $0 + scale })
    }
    var intensity = SharedMovement(events, step: 0.01, isRelative: true)
    intensity.normalize()
    #expect(abs(intensity.eventBases[1] / intensity.eventBases[0] - 2) < 1e-6)
    #expect(intensity.sharedValues.max() == 1)
    let product = intensity.eventBases[1] * intensity.sharedValues[50]
    #expect(abs(product - 0.8 * levels[50]) < 0.01)
    let sharpness = SharedMovement(events, step: 0.01, isRelative: false)
    #expect(abs(sharpness.eventBases[1] - sharpness.eventBases[0] - 0.4) < 1e-6)
  }

  @Test("A window yields the frequencies, amplitudes, and phases of its tones", arguments: 1...3)
  func toneWindow(_ count: Int) throws {
    let tones = [(95.0, 0.3, 0.4), (140, 0.2, -1.2), (205, 0.25, 2.0)].prefix(count)
    let rate = 1_000.0
    let samples = (0..<200).map { index in
      tones.reduce(Float(0)) { sum, tone in
        let phase = 2 * .pi * tone.0 * Double(index - 100) / rate + tone.2
        return sum + Float(tone.1 * cos(phase))
      }
    }
    var fit = ToneWindowFit(duration: 0.064, maximumToneCount: 3, sampleRate: rate, band: 80...230)
    let windowTones = fit.tones(in: samples, at: 100, minimumPower: 1e-6, noisePower: 0)
    let foundTones = try #require(windowTones)
    #expect(foundTones.count == count)
    for (tone, expected) in zip(foundTones, tones) {
      #expect(abs(tone.hertz - expected.0) < 0.05)
      #expect(abs(tone.amplitude - expected.1) < 0.001)
      #expect(abs(tone.centerPhase - expected.2) < 0.01)
    }
  }

  @Test("A window with an edge is not accepted")
  func edgeWithinAWindow() {
    let samples = (0..<200).map { index in
      index < 100 ? Float(0.3 * sin(2 * .pi * 0.12 * Double(index))) : 0
    }
    var fit = ToneWindowFit(duration: 0.064, maximumToneCount: 3, sampleRate: 1_000, band: 80...230)
    let tones = fit.tones(in: samples, at: 100, minimumPower: 1e-6, noisePower: 0)
    #expect(tones == nil)
  }
}
