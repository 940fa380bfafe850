import Glibc
import TestSupport
import Testing

@testable import HapticRender

@Suite struct LimiterTests {
  /// Returns the output without the delay, and the number of frames with gain reduction.
  private func limited(_ input: [Float], rate: Double = 48_000, split: Int = 256) -> (
    output: [Float], count: Int64
  ) {
    var limiter = Limiter(rate: rate)
    var output: [Float] = []
    var remainingInput = (input + [Float](repeating: 0, count: limiter.delayFrameCount))[...]
    while !remainingInput.isEmpty {
      var block = Array(remainingInput.prefix(split))
      remainingInput = remainingInput.dropFirst(split)
      var span = block.mutableSpan
      limiter.process(&span, count: span.count)
      output += block
    }
    return (Array(output.dropFirst(limiter.delayFrameCount)), limiter.limitedFrameCount)
  }

  private func sine(_ count: Int, level: Float = 1, hertz: Double = 100) -> [Float] {
    (0..<count).map { level * Float(sin(2 * Double.pi * hertz * Double($0) / 48_000)) }
  }

  /// Returns the output of the DC blocker alone.
  private func unlimited(_ input: [Float], rate: Double = 48_000) -> [Float] {
    var blocker = DCBlocker(rate: rate)
    return input.map { blocker.process($0) }
  }

  @Test(arguments: [20.0, 80, 500]) func belowTheCeilingOnlyTheOffsetIsRemoved(hertz: Double) {
    var input = sine(20_000, hertz: hertz)
    let unlimitedPeak = peak(unlimited(input))
    for index in input.indices {
      input[index] *= Limiter.ceilingMagnitude * 0.999 / unlimitedPeak
    }
    let (output, count) = limited(input)
    #expect(output == unlimited(input))
    #expect(count == 0)
    #expect(peak(output) > 0.88)
  }

  @Test(arguments: [8_000, 48_000, 192_000]) func peaksOfAHundredDecibelsAreLimited(rate: Double) {
    var input = sine(8_000, level: 0.5)
    for start in [100, 500, 501, 3_000] {
      for index in start..<(start + 200) {
        input[index] = index % 2 == 0 ? 1e5 : -1e5
      }
    }
    let (output, count) = limited(input, rate: rate)
    #expect(peak(output) <= Limiter.ceilingMagnitude)
    #expect(peak(output) > Limiter.ceilingMagnitude * 0.94)
    #expect(count > 0)
  }

  @Test(arguments: [8_000, 48_000, 192_000]) func decayingPeaksAreAllLimited(rate: Double) {
    // Each peak requires less gain reduction than the previous one, so the limiter must keep all
    // of them.
    for decay in [0.999, 0.99, 0.9] as [Float] {
      var level: Float = 1e5
      var input: [Float] = []
      for index in 0..<6_000 {
        input.append(index % 2 == 0 ? level : -level)
        level *= decay
      }
      #expect(peak(limited(input, rate: rate).output) <= Limiter.ceilingMagnitude)
    }
  }

  @Test func theCeilingIsMetByTheGainAndNotByClipping() {
    // A clipped sine would have a third harmonic.
    let output = limited(sine(48_000, level: 4)).output[24_000..<43_200]
    let fundamental = amplitude(of: output, hertz: 100, rate: 48_000)
    let thirdHarmonic = amplitude(of: output, hertz: 300, rate: 48_000)
    #expect(abs(decibels(fundamental, Double(Limiter.ceilingMagnitude))) < 0.2)
    #expect(decibels(thirdHarmonic, fundamental) < -40)
  }

  @Test(arguments: [8_000, 48_000], [1.2, 8.91, 1e5] as [Float])
  func gainIsHeldUntilThePeakIsOutput(
    rate: Double, level: Float
  ) {
    var limiter = Limiter(rate: rate)
    var input = [Float](repeating: 0, count: 4_000)
    for frame in [700, 901, 950, 2_000] {
      input[frame] = level
      input[frame + 1] = -level
    }
    // Measured before the final clipper, which would hide an early release of the gain.
    var maximumOutput: Float = 0
    for frame in input.indices {
      var block = [input[frame]]
      var span = block.mutableSpan
      limiter.process(&span, count: 1)
      let delayedSample =
        frame < limiter.delayFrameCount ? 0 : input[frame - limiter.delayFrameCount]
      maximumOutput = max(maximumOutput, abs(delayedSample * limiter.currentGain))
    }
    #expect(maximumOutput <= Limiter.ceilingMagnitude * 1.005)
  }

  @Test func gainReductionIsCompleteAtThePeak() {
    var input = (0..<2_000).map { $0 % 2 == 0 ? Float(0.25) : -0.25 }
    input[1_000] = 8.91
    let output = limited(input).output
    #expect(abs(output[1_000] - 0.891) < 0.03)
    #expect(output[..<903] == unlimited(input)[..<903])
    let gains = (900..<1_000).map { abs(output[$0] / 0.25) }
    #expect(zip(gains, gains.dropFirst()).allSatisfy { $0 - $1 < 1.0 / 90 })
    #expect(abs(gains[99] - 0.1) < 0.012)
  }

  @Test func peaksReachATenthOfADecibelBelowTheCeilingAndAreHeld() {
    var limiter = Limiter(rate: 48_000)
    var input = [Float](repeating: 0, count: 4_000)
    input[1_000] = 8.91
    var gains: [Float] = []
    for sample in input {
      var block = [sample]
      var span = block.mutableSpan
      limiter.process(&span, count: 1)
      gains.append(limiter.currentGain)
    }
    let minimumGain = gains.min() ?? 1
    #expect(
      abs(decibels(Double(minimumGain) * 8.91, Double(Limiter.ceilingMagnitude)) + 0.105) < 0.01)
    // The hold starts one frame before the output of the peak.
    #expect(gains.firstIndex(of: minimumGain) == 1_000 + limiter.delayFrameCount - 1)
    #expect(gains.lastIndex(of: minimumGain) == 1_000 + limiter.delayFrameCount + 1_248)
  }

  /// The DC estimate before the limiter must be as fast as the DC blocker after it. Otherwise, the
  /// gain would allow for an offset that has been removed.
  @Test func appearingOffsetDoesNotLowerALimitedWave() {
    let input = sine(72_000, level: 1.5).enumerated().map { $1 + ($0 > 24_000 ? 0.3 : 0) }
    let output = limited(input).output
    for start in stride(from: 28_800, to: 67_200, by: 4_800) {
      #expect(
        decibels(Double(peak(output[start..<start + 4_800])), Double(Limiter.ceilingMagnitude))
          > -0.3)
    }
  }

  @Test func gainRecoversCompletely() {
    var input = sine(60_000, level: 0.7, hertz: 1_000)
    input[1_000] = 3
    let (output, count) = limited(input)
    let expected = unlimited(input)
    #expect(output[..<900] == expected[..<900])
    // The gain is held for 26 ms, and then recovers by two thirds within 17 ms.
    let recovered = 1_000 + 1_248 + 816
    let ratio = peak(output[recovered - 24..<recovered + 24]) / 0.7
    let gain = 0.891 / 3 + (1 - 0.891 / 3) * (1 - exp(-1))
    #expect(abs(Double(ratio) - gain) < 0.03)
    #expect(count > 1_248 && count < 24_000)
    #expect(maximumDifference(output[40_000...], expected[40_000...]) < 2e-3)
  }

  @Test func blocksOfAnyLengthGiveEqualSamples() {
    var input = sine(6_000, level: 1.5)
    for index in 3_000..<6_000 {
      input[index] *= 0.1
    }
    let expected = limited(input, split: 6_000).output
    for split in [1, 7, 64, 255] {
      #expect(limited(input, split: split).output == expected)
    }
  }

  /// Blocks of one frame are never processed in groups, so this test compares both code paths.
  @Test(arguments: [8_000.0, 11_025, 44_100, 192_000])
  func blockLengthsDoNotChangeSilenceAndPeaks(
    rate: Double
  ) {
    var input: [Float] = []
    for (level, count) in [
      (0.3, 5_000), (0, 700), (0.8, 3_001), (0, 30_000), (0.2, 500), (1.7, 900), (0.4, 2_000),
      (0, 40_000),
      (0.5, 1_003), (0.85, 77), (0.1, 5_000), (3, 10), (0, 9_000),
    ] as [(Float, Int)] {
      input += sine(count, level: level, hertz: 133)
    }
    let expected = limited(input, rate: rate, split: 1)
    for split in [3, 64, 250, 1_024] {
      let output = limited(input, rate: rate, split: split)
      let difference = zip(output.output, expected.output).enumerated().first { $1.0 != $1.1 }
      #expect(difference == nil, "split \(split)")
      #expect(output.count == expected.count)
    }
    #expect(expected.count > 0)
  }

  @Test func noiseOfAnyLevelIsLimited() {
    var generator = SplitMixGenerator(state: 9)
    var input: [Float] = []
    for _ in 0..<30_000 {
      let magnitude = Glibc.exp2(Float(Int.random(in: -6...9, using: &generator)))
      input.append(Float.random(in: -magnitude...magnitude, using: &generator))
    }
    #expect(peak(limited(input).output) <= Limiter.ceilingMagnitude)
  }
}

@Suite struct DCBlockerTests {
  private func filtered(_ input: [Float], rate: Double, isFast: Bool = false) -> [Float] {
    var blocker = DCBlocker(rate: rate)
    return input.enumerated().map { index, sample in
      if isFast, index % 1_000 == 0 {
        blocker.beginFastMode(from: blocker.frameIndex)
      }
      return blocker.process(sample)
    }
  }

  @Test(arguments: [8_000, 44_100, 48_000, 192_000])
  func offsetIsRemovedWithinThreeSecondsOrOneInFastMode(
    rate: Double
  ) {
    for (seconds, isFast) in [(3.0, false), (1, true)] {
      let input = [Float](repeating: 0.5, count: Int(rate * seconds))
      let output = filtered(input, rate: rate, isFast: isFast)
      #expect(output[0] == 0.5)
      #expect(abs(output[output.count - 1]) < 0.5 * 0.001)
    }
  }

  @Test(arguments: [8_000, 44_100, 48_000, 192_000]) func twentyHertzPass(rate: Double) {
    let input = (0..<Int(rate * 4)).map { Float(sin(2 * Double.pi * 20 * Double($0) / rate)) }
    for (loss, isFast) in [(0.003, false), (0.13, true)] {
      let lastSecond = filtered(input, rate: rate, isFast: isFast)[Int(rate * 3)...]
      #expect(
        abs(decibels(amplitude(of: lastSecond, hertz: 20, rate: rate), 1) + loss)
          < (isFast ? 0.02 : 0.006))
    }
  }

  @Test func tapLeavesLittleOffsetAndThenDigitalSilence() {
    let burst = (0..<768).map { Float(0.44 * sin(2 * Double.pi * Double($0) / 384)) }
    let output = filtered(burst + [Float](repeating: 0, count: 48_000), rate: 48_000)
    #expect(peak(output[768...]) < 3e-4)
    #expect(output[1_000...].contains { $0 != 0 })
    #expect(output[(768 + 24_000)...].allSatisfy { $0 == 0 })
  }

  @Test func fastModeActsOnlyFromItsStart() {
    let input = [Float](repeating: 0.5, count: 96_000)
    let slowOutput = filtered(input, rate: 48_000)
    var blocker = DCBlocker(rate: 48_000)
    blocker.beginFastMode(from: 24_000)
    let fastOutput = input.map { blocker.process($0) }
    #expect(fastOutput[...24_000] == slowOutput[...24_000])
    // A fifth of the offset remains after half a second. It is removed in the next half.
    #expect(slowOutput[24_000] > 0.09 && abs(fastOutput[48_000]) < 0.002)
  }

  @Test func silenceStaysSilence() {
    #expect(filtered([Float](repeating: 0, count: 1_000), rate: 48_000).allSatisfy { $0 == 0 })
  }

  @Test func maximumNumbersDoNotOverflow() {
    let input = (0..<100_000).map { $0 < 50_000 ? Float.greatestFiniteMagnitude : -1e30 }
    #expect(filtered(input, rate: 8_000).allSatisfy { $0.isFinite })
  }
}
