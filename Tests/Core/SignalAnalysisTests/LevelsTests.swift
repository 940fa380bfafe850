import CEBUR128
import Glibc
import Testing

@testable import SignalAnalysis

struct LevelsTests {
  private func levels(_ samples: [Float], rate: Double = 48_000) throws -> Levels {
    try Levels(of: Signal(samples, rate: rate))
  }

  @Test func sineHasItsFigures() throws {
    let levels = try levels(TestSignal.sine(hertz: 1_000))
    #expect(abs(levels.rmsDecibels + 3.0103) < 0.0001)
    #expect(abs(levels.samplePeakAmplitude - 1) < 1e-6)
    #expect(abs(levels.dcOffset) < 1e-7)
    #expect(abs((levels.crestFactorDecibels ?? 0) - 3.0103) < 0.0001)
    #expect(levels.invalidSampleCount == 0)
  }

  /// All samples of a sine at a quarter of the rate can lie 3 dB below its peak.
  @Test func truePeakIsFoundBetweenSamples() throws {
    let levels = try levels(TestSignal.sine(hertz: 12_000, amplitude: 0.5, phase: .pi / 4))
    #expect(abs(levels.samplePeakDecibels + 9.0309) < 0.0001)
    // BS.1770 lets a meter of four times the rate read up to 0.55 dB high and 0.17 dB low here; the
    // start of the tone adds its own overshoot.
    #expect(abs(levels.truePeakDecibels + 6.0206) < 0.6)
  }

  @Test(arguments: [44_100.0, 48_000, 96_000, 176_400, 192_000]) func truePeakIsThatOfLibebur128(
    rate: Double
  ) throws {
    let noise = TestSignal.noise(seconds: 0.5, rate: rate, amplitude: 0.7)
    let quiet = TestSignal.sine(hertz: 61, rate: rate, seconds: 0.5, amplitude: 0.1)
    let burst = TestSignal.mix(quiet, [(0.2, Array(noise.prefix(333)))], rate: rate)
    let highTone = TestSignal.sine(
      hertz: rate / 4.7, rate: rate, seconds: 0.5, amplitude: 0.3, phase: 0.4)
    for samples in [noise, quiet, burst, highTone, Array(noise.prefix(5)), [0, 0, 1]] {
      let mode = Int32(EBUR128_MODE_TRUE_PEAK.rawValue)
      var state: UnsafeMutablePointer<ebur128_state>? = unsafe ebur128_init(1, UInt(rate), mode)
      // The library itself does not interpolate after the last samples.
      let padded = samples + [Float](repeating: 0, count: 64)
      _ = unsafe ebur128_add_frames_float(state, padded, padded.count)
      var expected = 0.0
      _ = unsafe ebur128_true_peak(state, 0, &expected)
      unsafe ebur128_destroy(&state)
      #expect(abs(try levels(samples, rate: rate).truePeakAmplitude / expected - 1) < 1e-6)
    }
  }

  /// EBU Tech 3341: a stereo sine of 1 kHz at −23 dBFS reads −23 LUFS; one channel reads 3 dB less.
  @Test func loudnessIsThatOfTheStandard() throws {
    let tone = TestSignal.sine(hertz: 1_000, seconds: 5, amplitude: pow(10, -23.0 / 20))
    let stereo = try Levels(of: Signal(channels: [tone, tone], rate: 48_000))
    #expect(abs((stereo.integratedLoudnessLUFS ?? 0) + 23) < 0.05)
    #expect(abs((try levels(tone).integratedLoudnessLUFS ?? 0) + 26.01) < 0.05)
  }

  /// BS.1770: 0 dBFS at 997 Hz on one channel reads −3.01 LKFS.
  @Test func fullScaleReadsMinusThree() throws {
    let tone = TestSignal.sine(hertz: 997, seconds: 5)
    #expect(abs((try levels(tone).integratedLoudnessLUFS ?? 0) + 3.01) < 0.02)
  }

  /// K-weighting attenuates the low frequencies of haptics.
  @Test func loudnessUnderReadsLowTones() throws {
    let lowToneLoudness =
      try levels(TestSignal.sine(hertz: 40, seconds: 2)).integratedLoudnessLUFS ?? 0
    let highToneLoudness =
      try levels(TestSignal.sine(hertz: 200, seconds: 2)).integratedLoudnessLUFS ?? 0
    #expect(lowToneLoudness < highToneLoudness - 4)
  }

  /// A sound of a quarter of a block has a level that is 6 dB lower.
  @Test func shortSoundsAreFollowedBySilence() throws {
    let loudnessOfFullBlock =
      try levels(TestSignal.sine(hertz: 1_000, seconds: 0.4)).integratedLoudnessLUFS ?? 0
    let loudnessOfQuarterBlock =
      try levels(TestSignal.sine(hertz: 1_000, seconds: 0.1)).integratedLoudnessLUFS ?? 0
    #expect(abs(loudnessOfFullBlock - loudnessOfQuarterBlock - 6.02) < 0.1)
  }

  @Test func silenceHasNoLoudnessAndNoCrest() throws {
    let levels = try levels(TestSignal.silence(seconds: 1))
    #expect(levels.integratedLoudnessLUFS == nil)
    #expect(levels.crestFactor == nil)
    #expect(levels.rmsDecibels == -200)
    #expect(levels.truePeakAmplitude == 0)
  }

  @Test func emptySignalIsSilent() throws {
    #expect(try levels([]) == levels([]))
    #expect(try levels([]).samplePeakAmplitude == 0)
    #expect(try levels([]).integratedLoudnessLUFS == nil)
  }

  @Test func badSamplesAreCountedAndSilent() throws {
    let tone = TestSignal.sine(hertz: 100)
    var samplesWithInvalid = tone
    var samplesWithSilence = tone
    for (index, value) in [(5, Float.nan), (4_100, .infinity), (4_101, -.infinity), (9, 2e12)] {
      samplesWithInvalid[index] = value
      samplesWithSilence[index] = 0
    }
    var expected = try levels(samplesWithSilence)
    expected.invalidSampleCount = 4
    #expect(try levels(samplesWithInvalid) == expected)
  }

  @Test func onlyInvalidSamplesAreSilence() throws {
    let levels = try levels([Float](repeating: .nan, count: 1_000))
    #expect(levels.invalidSampleCount == 1_000)
    #expect(levels.samplePeakAmplitude == 0)
    #expect(levels.integratedLoudnessLUFS == nil)
  }

  @Test func offsetIsMeasured() throws {
    let levels = try levels([Float](repeating: -0.25, count: 777))
    #expect(levels.dcOffset == -0.25)
    #expect(levels.rmsAmplitude == 0.25)
  }

  @Test func levelsOfAllChannelsAreCombined() throws {
    let signal = Signal(
      channels: [TestSignal.sine(hertz: 100, amplitude: 0.5), TestSignal.silence(seconds: 1)],
      rate: 48_000)
    let wholeLevels = try Levels(of: signal)
    let channels = try signal.channels.map { try levels($0) }
    #expect(abs(wholeLevels.rmsAmplitude - 0.25) < 1e-6)
    #expect(wholeLevels.samplePeakAmplitude == channels[0].samplePeakAmplitude)
    #expect(channels[1].samplePeakAmplitude == 0)
    #expect(wholeLevels.integratedLoudnessLUFS == channels[0].integratedLoudnessLUFS)
  }

  @Test(arguments: [1, 7, 4_096, 5_000]) func levelsAreIndependentOfTheBlockLength(length: Int)
    throws
  {
    let noise = TestSignal.noise(seconds: 0.5, amplitude: 0.8)
    let interleaved = zip(noise, noise.reversed()).flatMap { [$0, $1] }
    var measurement = try LevelMeasurement(channelCount: 2, rate: 48_000)
    for start in stride(from: 0, to: interleaved.count, by: 2 * length) {
      let end = min(interleaved.count, start + 2 * length)
      measurement.add(interleaved.span.extracting(start..<end))
    }
    let signal = Signal(interleaved: interleaved, channelCount: 2, rate: 48_000)
    #expect(try measurement.measuredLevels().whole == Levels(of: signal))
  }

  @Test func impossibleRatesAndChannelsAreRefused() {
    #expect(
      throws: AnalysisError(
        .unsupportedRate,
        "loudness requires an integer sample rate from 16 to 2822400 Hz, not 44100.5 Hz")
    ) { try levels([0], rate: 44_100.5) }
    #expect(
      throws: AnalysisError(.unsupportedChannelCount, "loudness requires 1 to 64 channels, not 0")
    ) { try Levels(of: Signal(channels: [], rate: 48_000)) }
  }
}
