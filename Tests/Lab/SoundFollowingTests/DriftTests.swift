import Foundation
import SoundFollowing
import TestSupport
import Testing

/// Two different clocks in virtual time.
struct DriftTests {
  private static let rate = 48_000.0

  /// Six hours of a source that is faster or slower and drifts with temperature, and of a thread
  /// that wakes late.
  @Test(arguments: [-200.0, 200]) func sourceWithAnotherClockIsFollowedForHours(
    _ partsPerMillion: Double
  ) {
    var chance = SeededGenerator(seed: 9)
    var loop = DriftLoop(sourceSampleRate: Self.rate)
    let period = 0.01
    let reserve = 1_056.0
    var taken = -reserve
    var captured = 0.0
    var minimum = Double.infinity
    var maximum = -Double.infinity
    var maximumStep = 0.0
    var worst = 0.0
    var last = 1.0
    for update in 0..<Int(6 * 3_600 / period) {
      let time = Double(update) * period
      let speed = 1 + 1e-6 * (partsPerMillion + 20 * sin(2 * .pi * time / 1_800))
      captured += period * Self.rate * speed
      let late = min(0.004, -0.0004 * log(Double.random(in: 1e-6...1, using: &chance)))
      loop.update(
        waitingFrames: captured - taken - late * Self.rate, target: reserve, elapsedSeconds: period)
      taken += period * Self.rate * loop.resamplingRatio
      defer { last = loop.resamplingRatio }
      guard time > 120 else { continue }
      // A thread that wakes late receives whole periods of 128 frames.
      let fill = ((captured - late * Self.rate) / 128).rounded(.down) * 128 - taken
      minimum = min(minimum, fill)
      maximum = max(maximum, fill)
      maximumStep = max(maximumStep, abs(loop.resamplingRatio - last))
      worst = max(worst, abs(loop.resamplingRatio - speed))
    }
    #expect(minimum > 0, "the ring was empty")
    #expect(maximum < 2 * reserve)
    #expect(maximumStep < 1e-6)
    #expect(worst < 40e-6)
  }

  @Test(arguments: [0.9998, 1.0002, 44_100 / 48_000.0, 2]) func aSineStaysASine(_ step: Double) {
    let hertz = 80.0
    var resampler = VariableRateResampler()
    var output: [Float] = []
    for block in 0..<400 {
      let samples = (0..<240).map {
        Float(0.5 * sin(2 * .pi * hertz * Double(block * 240 + $0) / Self.rate))
      }
      output += resampler.resample(samples, step: step * (1 + 1e-7 * Double(block % 7)))
    }
    #expect(abs(Double(output.count) - 96_000 / step) < 3)
    // The curvature of a pure sine at this rate.
    let phaseIncrement = 2 * .pi * hertz * step / Self.rate
    let bends = zip(zip(output, output.dropFirst()), output.dropFirst(2)).dropFirst(8).map {
      abs($0.0 - 2 * $0.1 + $1)
    }
    #expect(Double(bends.max() ?? 0) <= 1.1 * 0.5 * phaseIncrement * phaseIncrement)
  }
}
