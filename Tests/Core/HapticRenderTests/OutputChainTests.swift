import Glibc
import HapticModel
import Testing

@testable import HapticRender

/// Figures of the chain that every output goes through last: offset, ducking, distortion, true
/// peak.
struct OutputChainTests {
  /// Everything that is stacked on one instant.
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

  /// The greatest magnitude of a mean over any second under a Hann window, which no wave passes.
  private func maximumOffset(of samples: [Float]) -> Double {
    let second = 8_000
    let window = (0..<second).map {
      (1 - cos(2 * Double.pi * (Double($0) + 0.5) / Double(second))) / Double(second)
    }
    let silence = [Float](repeating: 0, count: second / 2)
    let padded = silence + samples + silence
    var greatest = 0.0
    for start in stride(from: 0, through: padded.count - second, by: 160) {
      var mean = 0.0
      for index in 0..<second {
        mean += window[index] * Double(padded[start + index])
      }
      greatest = max(greatest, abs(mean))
    }
    return greatest
  }

  @Test(arguments: OverlapPattern.allCases) func noOffsetLastsWhateverIsStacked(
    stack: OverlapPattern
  ) throws {
    let samples = try samples(stack.pattern, stack.profile, seconds: 3)
    // Fifty sines that begin one after the other each begin with a half-wave of one sign, the first
    // ones before the limiter acts.
    #expect(maximumOffset(of: samples) <= (stack == .staggered ? 1e-2 : 2e-4))
    #expect(peak(samples) > 0.5)
  }

  /// What the article on the model states of one event: a sine that starts at zero starts with half
  /// a wave of one sign, of which the remover of offsets takes away what lasts, A·0.5 Hz / f, with
  /// a time constant of 0.32 s.
  @Test(arguments: [(80.0, 0.44, 1.4e-3), (20, 0.84, 1.1e-2), (20, 0.89, 1.5e-2)])
  func theOffsetOfOneOnsetFallsByTenInThreeQuartersOfASecond(
    hertz: Double, level: Double, mean: Double
  ) throws {
    var profile = TransducerProfile.phone
    profile.frequency = FrequencyMapping(lowHertz: hertz, highHertz: hertz)
    profile.fullIntensityAmplitude = level
    let samples = try samples(HapticPattern(events: [humEvent(0, 3)]), profile, seconds: 5)
    let greatest = maximumOffset(of: samples)
    #expect((0.9 * mean...mean).contains(greatest), "\(greatest)")
    let period = Int(8_000 / hertz)
    /// The mean over whole periods from a time on.
    func offset(at seconds: Double) -> Double {
      let start = Int(seconds * 8_000)
      let range = start..<start + max(1, 400 / period) * period
      return samples[range].reduce(0) { $0 + Double($1) } / Double(range.count)
    }
    // Behind the end it is gone within half a second.
    #expect(samples[Int(3.5 * 8_000)...].allSatisfy { abs($0) < 1e-4 })
    // A limiter that acts removes it faster.
    guard level < 0.89 else { return }
    let first = -level * 0.5 / hertz * exp(-2 * Double.pi * 0.5 * 0.1)
    #expect(abs(offset(at: 0.1) / first - 1) < 0.2, "\(offset(at: 0.1)) \(first)")
    let share = offset(at: 0.833) / offset(at: 0.1)
    #expect((0.09...0.11).contains(share), "\(share)")
  }

  @Test(arguments: [2, 8]) func tapsDuckAHumForATenthOfASecond(count: Int) throws {
    let taps = (0..<count).map { _ in tapEvent(1) }
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [humEvent(0, 2)] + taps), rate: 8_000)
    let alone = try samples(HapticPattern(events: [humEvent(0, 2)]), .phone, seconds: 2)
    let both = try samples(HapticPattern(events: [humEvent(0, 2)] + taps), .phone, seconds: 2)
    #expect(plan.frameCount > 0)
    // From the end of the burst on, in windows of a period of the hum.
    let end = 8_000 + 128
    let ducked = (0..<80).last { window in
      let range = end + window * 59..<end + (window + 1) * 59
      return decibels(Double(peak(both[range])), Double(peak(alone[range]))) < -0.1
    }
    #expect(Double(((ducked ?? -1) + 1) * 59) / 8 <= 100)
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
    let whole = output[8_000...]
    let fundamental = amplitude(of: whole, hertz: 20, rate: 8_000)
    let harmonics = (2...12).map { amplitude(of: whole, hertz: 20 * Double($0), rate: 8_000) }
    let distortion = harmonics.reduce(0) { $0 + $1 * $1 }.squareRoot() / fundamental
    #expect(distortion < 0.001)
    #expect(decibels(fundamental, 0.891) > -0.3)
  }

  @Test(arguments: [8_000.0, 16_000, 48_000]) func truePeakStaysBelowTheCeiling(rate: Double) {
    var worst = 0.0
    for hertz in [80.0, 231, 461, 997] {
      var limiter = Limiter(rate: rate)
      var block = (0..<Int(rate / 2)).map {
        Float(3 * sin(2 * Double.pi * hertz * Double($0) / rate))
      }
      var span = block.mutableSpan
      limiter.process(&span, count: span.count)
      worst = max(worst, interpolatedPeak(block, rate: rate))
    }
    #expect(decibels(worst, 1) <= -1)
  }

  /// The greatest magnitude of the band-limited wave around the highest samples, eight times as
  /// dense.
  private func interpolatedPeak(_ samples: [Float], rate: Double) -> Double {
    let highest = Double(peak(samples))
    var greatest = highest
    for centre in samples.indices.dropFirst(64).dropLast(64)
    where Double(abs(samples[centre])) > 0.9 * highest {
      for part in 1..<8 {
        var value = 0.0
        for index in centre - 31...centre + 32 {
          let distance = Double(centre) + Double(part) / 8 - Double(index)
          let window = 0.5 + 0.5 * cos(Double.pi * distance / 33)
          value +=
            Double(samples[index]) * window * sin(Double.pi * distance) / (Double.pi * distance)
        }
        greatest = max(greatest, abs(value))
      }
    }
    return greatest
  }
}
