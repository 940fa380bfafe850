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
    var generator = SplitMixGenerator(state: 9)
    var loop = DriftLoop(sourceSampleRate: Self.rate)
    let periodSeconds = 0.01
    let targetFrames = 1_056.0
    var consumedFrames = -targetFrames
    var capturedFrames = 0.0
    var minimumFill = Double.infinity
    var maximumFill = -Double.infinity
    var maximumRatioStep = 0.0
    var maximumRatioError = 0.0
    var previousRatio = 1.0
    for update in 0..<Int(6 * 3_600 / periodSeconds) {
      let time = Double(update) * periodSeconds
      let clockRatio = 1 + 1e-6 * (partsPerMillion + 20 * sin(2 * .pi * time / 1_800))
      capturedFrames += periodSeconds * Self.rate * clockRatio
      let wakeDelaySeconds = min(
        0.004, -0.0004 * log(Double.random(in: 1e-6...1, using: &generator)))
      loop.update(
        waitingFrames: capturedFrames - consumedFrames - wakeDelaySeconds * Self.rate,
        target: targetFrames, elapsedSeconds: periodSeconds)
      consumedFrames += periodSeconds * Self.rate * loop.resamplingRatio
      defer { previousRatio = loop.resamplingRatio }
      guard time > 120 else { continue }
      // A thread that wakes late receives whole periods of 128 frames.
      let waitingFrames =
        ((capturedFrames - wakeDelaySeconds * Self.rate) / 128).rounded(.down) * 128
        - consumedFrames
      minimumFill = min(minimumFill, waitingFrames)
      maximumFill = max(maximumFill, waitingFrames)
      maximumRatioStep = max(maximumRatioStep, abs(loop.resamplingRatio - previousRatio))
      maximumRatioError = max(maximumRatioError, abs(loop.resamplingRatio - clockRatio))
    }
    #expect(minimumFill > 0, "the ring was empty")
    #expect(maximumFill < 2 * targetFrames)
    #expect(maximumRatioStep < 1e-6)
    #expect(maximumRatioError < 40e-6)
  }

  @Test(arguments: [0.9998, 1.0002, 44_100 / 48_000.0, 2]) func sineStaysASine(_ step: Double) {
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
    let curvatures = zip(zip(output, output.dropFirst()), output.dropFirst(2)).dropFirst(8).map {
      abs($0.0 - 2 * $0.1 + $1)
    }
    #expect(Double(curvatures.max() ?? 0) <= 1.1 * 0.5 * phaseIncrement * phaseIncrement)
  }
}
