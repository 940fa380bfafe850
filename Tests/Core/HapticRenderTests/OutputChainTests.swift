import Glibc
import HapticModel
import Testing

@testable import HapticRender

/// Properties of the final output chain: DC offset, ducking, distortion, and true peak.
struct OutputChainTests {
  /// Patterns of many simultaneous events.
  enum OverlapPattern: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case sharpnesses, shortSharpnesses, taps, evenPartials, staggered

    var testDescription: String { rawValue }

    var pattern: HapticPattern {
      switch self {
      case .sharpnesses:
        HapticPattern(events: spreadEvents(200, seconds: 1))
      case .shortSharpnesses:
        HapticPattern(events: spreadEvents(200, seconds: 0.3))
      case .taps:
        HapticPattern(events: (0..<1_000).map { tapEvent(sharpness: Float($0) / 999) })
      case .evenPartials:
        HapticPattern(events: (0..<200).map { _ in humEvent(0, 2) })
      case .staggered:
        HapticPattern(
          events: (0..<50).map { humEvent(Double($0) * 0.01, 1, sharpness: Float($0) / 49) })
      }
    }

    var profile: TransducerProfile {
      var profile = TransducerProfile.phone
      if self == .evenPartials {
        profile.partials = [.init(), .init(frequencyToEventRatio: 2, amplitudeToEventRatio: 0.5)]
      }
      return profile
    }

    private func spreadEvents(_ count: Int, seconds: Double) -> [HapticEvent] {
      (0..<count).map { humEvent(0, seconds, sharpness: Float($0) / Float(count - 1)) }
    }
  }

  private func samples(_ pattern: HapticPattern, _ profile: TransducerProfile, seconds: Double)
    throws -> [Float]
  {
    try render(
      pattern, profile: profile, rate: 8_000,
      settings: RenderSettings(outputFrameCount: Int64(seconds * 8_000)))
  }

  /// Returns the maximum magnitude of the mean of any second, under a Hann window that suppresses all
  /// audible waves.
  private func maximumOffset(of samples: [Float]) -> Double {
    let windowLength = 8_000
    let window = (0..<windowLength).map {
      (1 - cos(2 * Double.pi * (Double($0) + 0.5) / Double(windowLength))) / Double(windowLength)
    }
    let silence = [Float](repeating: 0, count: windowLength / 2)
    let padded = silence + samples + silence
    var maximumMean = 0.0
    for start in stride(from: 0, through: padded.count - windowLength, by: 160) {
      var mean = 0.0
      for index in 0..<windowLength {
        mean += window[index] * Double(padded[start + index])
      }
      maximumMean = max(maximumMean, abs(mean))
    }
    return maximumMean
  }

  @Test(arguments: OverlapPattern.allCases) func simultaneousEventsLeaveNoOffset(
    overlap: OverlapPattern
  ) throws {
    let samples = try samples(overlap.pattern, overlap.profile, seconds: 3)
    // Each of fifty successive sines starts with a half-wave of the same sign, and the limiter does
    // not act on the first of them.
    #expect(maximumOffset(of: samples) <= (overlap == .staggered ? 1e-2 : 2e-4))
    #expect(peak(samples) > 0.5)
  }

  /// The article on the model states that a sine which starts at zero has an offset of A·0.5 Hz / f,
  /// because it starts with a half-wave. The DC blocker removes the offset with a time constant of
  /// 0.32 s.
  @Test(arguments: [(80.0, 0.44, 1.4e-3), (20, 0.84, 1.1e-2), (20, 0.89, 1.5e-2)])
  func offsetOfAnOnsetFallsToATenthInThreeQuartersOfASecond(
    hertz: Double, level: Double, expectedOffset: Double
  ) throws {
    var profile = TransducerProfile.phone
    profile.frequency = FrequencyMapping(lowHertz: hertz, highHertz: hertz)
    profile.fullIntensityAmplitude = level
    let samples = try samples(HapticPattern(events: [humEvent(0, 3)]), profile, seconds: 5)
    let measuredOffset = maximumOffset(of: samples)
    #expect((0.9 * expectedOffset...expectedOffset).contains(measuredOffset), "\(measuredOffset)")
    let period = Int(8_000 / hertz)
    /// The mean over whole periods from a time on.
    func offset(at seconds: Double) -> Double {
      let start = Int(seconds * 8_000)
      let range = start..<start + max(1, 400 / period) * period
      return samples[range].reduce(0) { $0 + Double($1) } / Double(range.count)
    }
    // The offset is gone half a second after the end.
    #expect(samples[Int(3.5 * 8_000)...].allSatisfy { abs($0) < 1e-4 })
    // An active limiter removes the offset faster.
    guard level < 0.89 else { return }
    let initialOffset = -level * 0.5 / hertz * exp(-2 * Double.pi * 0.5 * 0.1)
    #expect(abs(offset(at: 0.1) / initialOffset - 1) < 0.2, "\(offset(at: 0.1)) \(initialOffset)")
    let decayRatio = offset(at: 0.833) / offset(at: 0.1)
    #expect((0.09...0.11).contains(decayRatio), "\(decayRatio)")
  }

  @Test(arguments: [2, 8]) func tapsDuckAHumForAtMostATenthOfASecond(count: Int) throws {
    let taps = (0..<count).map { _ in tapEvent(1) }
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [humEvent(0, 2)] + taps), rate: 8_000)
    let humOnly = try samples(HapticPattern(events: [humEvent(0, 2)]), .phone, seconds: 2)
    let combined = try samples(HapticPattern(events: [humEvent(0, 2)] + taps), .phone, seconds: 2)
    #expect(plan.frameCount > 0)
    // In windows of one period of the hum, from the end of the burst.
    let burstEndFrame = 8_000 + 128
    let lastDuckedWindow = (0..<80).last { window in
      let range = burstEndFrame + window * 59..<burstEndFrame + (window + 1) * 59
      return decibels(Double(peak(combined[range])), Double(peak(humOnly[range]))) < -0.1
    }
    #expect(Double(((lastDuckedWindow ?? -1) + 1) * 59) / 8 <= 100)
  }

  @Test(arguments: [1.5, 25]) func aLimitedSineOfTwentyHertzIsNotDistorted(level: Double) {
    var limiter = Limiter(rate: 8_000)
    var output: [Float] = []
    var block = [Float](repeating: 0, count: 250)
    for start in stride(from: 0, to: 24_000, by: 250) {
      for index in block.indices {
        block[index] = Float(level * sin(2 * Double.pi * 20 * Double(start + index) / 8_000))
      }
      var span = block.mutableSpan
      limiter.process(&span, count: span.count)
      output += block
    }
    let settledOutput = output[8_000...]
    let fundamental = amplitude(of: settledOutput, hertz: 20, rate: 8_000)
    let harmonics = (2...12).map {
      amplitude(of: settledOutput, hertz: 20 * Double($0), rate: 8_000)
    }
    let distortion = harmonics.reduce(0) { $0 + $1 * $1 }.squareRoot() / fundamental
    #expect(distortion < 0.001)
    #expect(decibels(fundamental, 0.891) > -0.3)
  }

  @Test(arguments: [8_000.0, 16_000, 48_000]) func truePeakStaysBelowTheCeiling(rate: Double) {
    var maximumPeak = 0.0
    for hertz in [80.0, 231, 461, 997] {
      var limiter = Limiter(rate: rate)
      var block = (0..<Int(rate / 2)).map {
        Float(3 * sin(2 * Double.pi * hertz * Double($0) / rate))
      }
      var span = block.mutableSpan
      limiter.process(&span, count: span.count)
      maximumPeak = max(maximumPeak, interpolatedPeak(block, rate: rate))
    }
    #expect(decibels(maximumPeak, 1) <= -1)
  }

  /// Returns the maximum magnitude of the band-limited wave near the highest samples, oversampled
  /// eight times.
  private func interpolatedPeak(_ samples: [Float], rate: Double) -> Double {
    let samplePeak = Double(peak(samples))
    var maximumPeak = samplePeak
    for centerIndex in samples.indices.dropFirst(64).dropLast(64)
    where Double(abs(samples[centerIndex])) > 0.9 * samplePeak {
      for subdivision in 1..<8 {
        var value = 0.0
        for index in centerIndex - 31...centerIndex + 32 {
          let distance = Double(centerIndex) + Double(subdivision) / 8 - Double(index)
          let window = 0.5 + 0.5 * cos(Double.pi * distance / 33)
          value +=
            Double(samples[index]) * window * sin(Double.pi * distance) / (Double.pi * distance)
        }
        maximumPeak = max(maximumPeak, abs(value))
      }
    }
    return maximumPeak
  }
}
