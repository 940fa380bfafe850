import Foundation
import HapticModel
import HapticRender
import SignalAnalysis
import TestSupport
import Testing

@testable import SoundTracing

struct SoundTraceTests {
  private static func tone(
    _ hertz: Double, _ amplitude: Double, seconds: Double, rate: Double = 8_000
  ) -> [Float] {
    (0..<Int(seconds * rate)).map { Float(amplitude * sin(2 * .pi * hertz * Double($0) / rate)) }
  }

  private static func trace(
    _ samples: [Float], rate: Double = 8_000, _ options: TracingOptions = TracingOptions()
  )
    throws -> SoundTrace
  {
    try SoundTrace(of: Signal(samples, rate: rate), options: options)
  }

  @Test func oneTransientIsOneTransient() throws {
    let event = HapticEvent(
      kind: .hapticTransient, time: 0.25,
      parameters: [.hapticIntensity: 0.6, .hapticSharpness: 0.7])
    let truth = TracingGroundTruth(HapticPattern(events: [event]))
    let trace = try Self.trace(truth.sound())
    #expect(trace.interpretation == .vibration && trace.pattern.curves.isEmpty)
    let tracedEvent = try #require(trace.pattern.events.first)
    #expect(trace.pattern.events.count == 1 && tracedEvent.kind == .hapticTransient)
    #expect(abs(tracedEvent.time - 0.25) < 0.000_5)
    #expect(abs(tracedEvent.value(of: .hapticIntensity) - 0.6) < 0.01)
    #expect(abs(tracedEvent.value(of: .hapticSharpness) - 0.7) < 0.03)
  }

  @Test func oneContinuousEventIsOneEventWithoutCurves() throws {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0.1, duration: 0.5,
      parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.3])
    let trace = try Self.trace(TracingGroundTruth(HapticPattern(events: [event])).sound())
    let tracedEvent = try #require(trace.pattern.events.first)
    #expect(
      trace.pattern.events.count == 1 && trace.pattern.curves.isEmpty
        && tracedEvent.kind == .hapticContinuous)
    #expect(
      abs(tracedEvent.time - 0.1) < 0.003
        && abs(tracedEvent.time + (tracedEvent.duration ?? 0) - 0.6) < 0.004)
    #expect(abs(tracedEvent.value(of: .hapticIntensity) - 0.5) < 0.01)
    #expect(abs(tracedEvent.value(of: .hapticSharpness) - 0.3) < 0.02)
  }

  /// A pattern that is traced, rendered, and traced again stays the same.
  @Test func traceOfItsOwnRenderingIsTheSame() throws {
    var score = TracingScore()
    for seed in 9_000..<9_020 {
      let firstTrace = try Self.trace(TracingGroundTruth.generated(seed).sound())
      let truth = TracingGroundTruth(firstTrace.pattern)
      score.add(try Self.trace(truth.sound()), against: truth)
    }
    #expect(score.f1Score >= 0.93, "\(score.f1Score)")
    #expect(score.correlationQuantiles.median > 0.99)
  }

  @Test func emptyAndFlatSoundsGiveEmptyPatterns() throws {
    for samples in [
      [], [0], [Float](repeating: 0, count: 8_000), [Float](repeating: 0.5, count: 16_000),
    ] {
      let trace = try Self.trace(samples)
      #expect(
        trace.pattern.events.isEmpty && trace.agreement.correlation == 0, "\(samples.count) samples"
      )
    }
    #expect(try SoundTrace(of: Signal(channels: [], rate: 48_000)).pattern.events.isEmpty)
  }

  @Test func invalidSamplesAreSilence() throws {
    var samples = Self.tone(150, 0.3, seconds: 0.5) + [Float](repeating: 0, count: 4_000)
    samples[6_000] = .nan
    samples[6_001] = .infinity
    samples[6_002] = -1e30
    let trace = try Self.trace(samples)
    #expect(trace.continuousEventCount == 1 && trace.transientCount == 0)
  }

  @Test func bangInALongSilenceIsOneTransient() throws {
    var generator = SplitMixGenerator(state: 5)
    let bang = (0..<4_800).map { Float(0.5 * generator.normalValue() * exp(-Double($0) / 1_200)) }
    func quietNoise(_ seconds: Int) -> [Float] {
      (0..<48_000 * seconds).map { _ in Float(1e-4 * generator.normalValue()) }
    }
    let trace = try Self.trace(quietNoise(20) + bang + quietNoise(20), rate: 48_000)
    #expect(
      trace.interpretation == .sound && trace.transientCount == 1
        && trace.pattern.durationSeconds < 20.3)
    #expect(trace.pattern.events.allSatisfy { abs($0.time - 20) < 0.02 })
  }

  @Test func imperceptiblySlowToneIsSilent() throws {
    let samples = (0..<480_000).map { Float(0.9 * sin(2 * .pi * 0.1 * Double($0) / 48_000)) }
    #expect(try Self.trace(samples, rate: 48_000).pattern.events.isEmpty)
  }

  @Test func longTransientTrainIsTransients() throws {
    let events = (0..<733).map { index in
      HapticEvent(
        kind: .hapticTransient, time: 0.1 + 0.03 * Double(index),
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.6])
    }
    let trace = try Self.trace(TracingGroundTruth(HapticPattern(events: events)).sound())
    #expect(trace.transientCount == 733 && trace.continuousEventCount == 0)
  }

  @Test func longEventsAndCurvesAreDivided() throws {
    let rate = 8_000.0
    let samples = (0..<Int(40 * rate)).map { index -> Float in
      let time = Double(index) / rate
      return Float(0.2 * (1 + 0.8 * sin(2 * .pi * 0.7 * time)) * sin(2 * .pi * 120 * time))
    }
    let pattern = try Self.trace(samples).pattern
    #expect(pattern.events.allSatisfy { $0.kind == .hapticContinuous && ($0.duration ?? 31) <= 30 })
    #expect(pattern.curves.count > 2 && pattern.curves.allSatisfy { $0.controlPoints.count <= 16 })
    for curve in pattern.curves {
      let times = curve.controlPoints.map(\.time)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  @Test func oneClickIsAtMostOneTransient() throws {
    var samples = [Float](repeating: 0, count: 8_000)
    samples[4_000] = 1
    let trace = try Self.trace(samples)
    #expect(trace.pattern.events.count <= 1)
    #expect(trace.pattern.events.allSatisfy { abs($0.time - 0.5) < 0.02 })
  }

  @Test(arguments: [500.0, 3_000, 8_000, 11_025, 16_000, 44_100, 96_000, 192_000])
  func ratesGiveTheSameEvents(_ rate: Double) throws {
    let samples =
      [Float](repeating: 0, count: Int(0.1 * rate)) + Self.tone(120, 0.2, seconds: 0.4, rate: rate)
      + [Float](repeating: 0, count: Int(0.2 * rate))
    let trace = try Self.trace(samples, rate: rate)
    let event = try #require(trace.pattern.events.first)
    #expect(trace.pattern.events.count == 1 && event.kind == .hapticContinuous)
    #expect(abs(event.time - 0.1) < 0.006)
    let hertz = TransducerProfile.phone.frequency.hertz(
      atSharpness: Double(event.value(of: .hapticSharpness)))
    #expect(abs(hertz - 120) < 2)
  }

  @Test func channelsAreAveraged() throws {
    let tone = Self.tone(120, 0.2, seconds: 0.4)
    let averagedTrace = try SoundTrace(
      of: Signal(channels: [[Float]](repeating: tone, count: 64), rate: 8_000))
    #expect(averagedTrace.pattern == (try Self.trace(tone).pattern))
  }

  @Test func soundsThatCannotBeTracedAreRefused() {
    let longSignal = Signal([Float](repeating: 0, count: 3_700 * 500), rate: 500)
    #expect(throws: AnalysisError(.unsupportedLength, "lasts 3700 s; the limit is 3600 s")) {
      try SoundTrace(of: longSignal)
    }
    #expect(
      throws: AnalysisError(
        .unsupportedRate, "has a sample rate of 100.0 Hz; supported: 500 to 1000000 Hz")
    ) {
      try SoundTrace(of: Signal([0, 1], rate: 100))
    }
  }

  @Test(arguments: [1, 3, 8]) func eventCountIsLimited(_ limit: Int) throws {
    for seed in 9_100..<9_110 {
      let samples = try TracingGroundTruth.generated(seed).sound()
      let completeTrace = try Self.trace(samples)
      let limitedTrace = try Self.trace(samples, TracingOptions(maximumEventCount: limit))
      #expect(limitedTrace.pattern.events.count <= limit)
      #expect(
        limitedTrace.pattern.events.count + limitedTrace.omittedEventCount
          == completeTrace.pattern.events.count)
    }
  }

  @Test func unselectedEventsAreOmitted() throws {
    let samples = try TracingGroundTruth.generated(9_001).sound()
    let transients = try Self.trace(samples, TracingOptions(eventSelection: .transients))
    #expect(transients.continuousEventCount == 0 && transients.pattern.curves.isEmpty)
    #expect(
      try Self.trace(samples, TracingOptions(eventSelection: .continuous)).transientCount == 0)
  }

  @Test func noiseBurstsAreASound() throws {
    var generator = SplitMixGenerator(state: 3)
    var samples = [Float](repeating: 0, count: 48_000)
    for start in [4_800, 24_000, 38_400] {
      for index in 0..<6_000 {
        samples[start + index] = Float(0.3 * generator.normalValue() * exp(-Double(index) / 900))
      }
    }
    let trace = try Self.trace(samples, rate: 48_000)
    #expect(trace.interpretation == .sound && trace.agreement.correlation > 0.9)
    let times = trace.pattern.events.filter { $0.kind == .hapticTransient }.map(\.time)
    #expect(
      times.count == 3 && zip(times, [0.1, 0.5, 0.8]).allSatisfy { abs($0 - $1) < 0.005 },
      "\(times)")
  }

  @Test func everyStyleGivesAPatternOfSpeechLikeSound() throws {
    let samples = (0..<48_000).map { index -> Float in
      let time = Double(index) / 48_000
      return Float(0.3 * sin(2 * .pi * 700 * time) * max(0, sin(2 * .pi * 4 * time)))
    }
    for style in TracingOptions.FollowedPart.allCases {
      let trace = try Self.trace(
        samples, rate: 48_000, TracingOptions(interpretation: .sound, followedPart: style))
      #expect(!trace.pattern.events.isEmpty && trace.pattern.durationSeconds < 1.1, "\(style)")
    }
  }

  @Test func twoTracesAreEqual() throws {
    let samples = try TracingGroundTruth.generated(9_004).sound()
    #expect(try Self.trace(samples).pattern == Self.trace(samples).pattern)
  }
}
