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
