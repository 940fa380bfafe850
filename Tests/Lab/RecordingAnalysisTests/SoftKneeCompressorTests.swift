import Foundation
import Testing

@testable import RecordingAnalysis

@Suite struct SoftKneeCompressorTests {
  private static let compressor = SoftKneeCompressor(
    thresholdAmplitude: 0.06, kneeDecibels: 30, reductionSlope: 11.0 / 12, attackSeconds: 0.003,
    releaseSeconds: 0.25, lookAheadSeconds: 0.006)
  private static let sampleRate = 4_000.0

  /// A tone of 100 Hz that begins at 0.1 s and decays with a time constant of 50 ms.
  private static let burst = (0..<2_000).map { index -> Double in
    let seconds = Double(index) / sampleRate - 0.1
    return seconds < 0 ? 0 : 0.8 * exp(-seconds / 0.05) * sin(2 * .pi * 100 * seconds)
  }

  @Test func quietSignalKeepsUnityGain() {
    let undone = Self.compressor.undone(in: [Double](repeating: 0.05, count: 400), rate: 4_000)
    #expect(undone.logGains.allSatisfy { $0 == 0 })
    #expect(undone.samples.allSatisfy { $0 == 0.05 })
  }

  @Test(
    "Undoing restores a compressed signal with a soft and with a hard knee",
    arguments: [30.0, 6, 0.1])
  func undoingRestoresCompressedSignal(kneeDecibels: Double) {
    var compressor = Self.compressor
    compressor.kneeDecibels = kneeDecibels
    let gains = compressor.gains(for: Self.burst, rate: Self.sampleRate)
    // The gain decreases by 2 dB or more.
    #expect((gains.min() ?? 1) < 0.8)
    let compressed = zip(Self.burst, gains).map { $0 * $1 }
    let restored = compressor.undone(in: compressed, rate: Self.sampleRate).samples
    let errors = zip(restored, Self.burst).map { abs($0 - $1) }
    // 1.5 % of the peak
    #expect((errors.max() ?? 1) < 0.012)
  }

  @Test("A steady level above the knee is reduced by the slope")
  func steadyReductionMatchesSlope() {
    var compressor = Self.compressor
    compressor.kneeDecibels = 6
    compressor.reductionSlope = 0.5
    let samples = [Double](repeating: 0.6, count: 4_000)
    let gains = compressor.gains(for: samples, rate: Self.sampleRate)
    // The level is 20 dB above the threshold, and 17 dB above the center of the knee.
    #expect(abs(20 * log10(gains[3_000]) + 8.5) < 0.01)
  }

  @Test("The gain decreases before the sound by the look-ahead")
  func gainPrecedesSound() {
    let gains = Self.compressor.gains(for: Self.burst, rate: Self.sampleRate)
    let firstReduced = gains.firstIndex { $0 < 0.99 } ?? 0
    // The sound begins at 400 and exceeds the threshold after one sample.
    #expect((376...385).contains(firstReduced))
  }
}
