import Glibc
import TestSupport
import Testing

@testable import HapticRender

/// The search for the drive with the maximum excursion: at random, and by hill climbing from the
/// worst case.
///
/// `TEMBLOR_TEST_EXCURSION_TRIES` sets the number of tries of each kind, and
/// `TEMBLOR_TEST_EXCURSION_SEED` sets the seed. Ten thousand tries take about an hour in a debug
/// build.
struct ExcursionSearchTests {
  private static let tryCount = setting("TEMBLOR_TEST_EXCURSION_TRIES") ?? 120
  private static let seed = setting("TEMBLOR_TEST_EXCURSION_SEED") ?? 41

  private static func setting(_ name: String) -> Int? {
    unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
  }

  @Test(arguments: [
    TransducerUncertainty.exact,
    TransducerUncertainty(resonanceDeviationFraction: 0.1, trueToStatedQualityFactorRatio: 1.5),
    .estimated, .measured,
  ]) func noDriveMovesAnyTransducerBeyondTheLimit(uncertainty: TransducerUncertainty) {
    var generator = SplitMixGenerator(state: UInt64(clamping: Self.seed))
    var maximum = (excursion: 0.0, excursionCase: ExcursionCase?.none, drive: [Float]())
    // With uncertainty, each try simulates thirty transducers.
    let count = uncertainty == .exact ? Self.tryCount : Self.tryCount / 4
    for attempt in 0..<count {
      let rates = attempt % 8 == 7 ? [96_000.0, 192_000] : [8_000, 8_000, 16_000, 48_000]
      let excursionCase = ExcursionCase(
        rate: rates[attempt % rates.count],
        resonance: exp(Double.random(in: log(25)...log(200), using: &generator)),
        qualityFactor: exp(Double.random(in: log(0.5)...log(20), using: &generator)),
        limit: exp(Double.random(in: log(0.05)...log(1), using: &generator)),
        uncertainty: uncertainty
      )
      let drive = excursionCase.randomDrive(&generator)
      let excursion = excursionCase.peakExcursion(drive)
      if excursion > maximum.excursion {
        maximum = (excursion, excursionCase, drive)
      }
    }
    // Hill climbing keeps a change that increases the excursion.
    if let excursionCase = maximum.excursionCase {
      for _ in 0..<count / 2 {
        let drive = ExcursionCase.mutated(maximum.drive, &generator)
        let excursion = excursionCase.peakExcursion(drive)
        if excursion > maximum.excursion {
          maximum = (excursion, excursionCase, drive)
        }
      }
    }
    print("worst excursion of \(count + count / 2) tries, \(uncertainty): \(maximum.excursion)")
    #expect(maximum.excursion <= 1)
    #expect(maximum.excursion > 0.5)
  }

  /// The cases of the grid with exact figures: rate, resonance, quality, limit.
  static let grid: [(Double, Double, Double, Double)] = [8_000.0, 48_000, 192_000].flatMap { rate in
    [
      (200.0, 1.0, 0.05), (60, 1, 0.05), (200, 3, 0.2), (25, 1, 0.05), (100, 1, 0.05),
      (200, 20, 0.05), (25, 0.5, 1),
      (40, 3, 0.4), (65, 20, 1),
    ].map { (rate, $0.0, $0.1, $0.2) }
  }

  @Test(arguments: grid.indices) func stackedHumsAndFlipsStayWithinTheLimit(index: Int) {
    let (rate, resonance, quality, limit) = Self.grid[index]
    let excursionCase = ExcursionCase(
      rate: rate, resonance: resonance, qualityFactor: quality, limit: limit)
    let count = min(Int(rate), Int(16 * rate / resonance))
    for ratio in [0.5, 1, 1.4] {
      let drive = (0..<count).map { frame -> Float in
        let phase = 2 * Double.pi * resonance * ratio * Double(frame) / rate
        let sign: Double = frame > count / 2 ? -1 : 1
        return Float(0.891 * sign * min(1, max(-1, 6 * sin(phase))))
      }
      #expect(excursionCase.peakExcursion(drive) <= 1)
    }
  }

  @Test(arguments: [TransducerUncertainty.exact, .estimated]) func fullEventIsHardlyLimited(
    uncertainty: TransducerUncertainty
  ) {
    for quality in [3.0, 6] {
      for ratio in [0.5, 0.8, 1, 1.25, 2] {
        let excursionCase = ExcursionCase(
          rate: 8_000, resonance: 40, qualityFactor: quality, limit: 1, uncertainty: uncertainty)
        let drive = (0..<8_000).map {
          Float(0.44 * sin(2 * Double.pi * 40 * ratio * Double($0) / 8_000))
        }
        let output = excursionCase.protectedOutput(drive)[4_000..<8_000].map(Float.init)
        let gain = amplitude(of: output[...], hertz: 40 * ratio, rate: 8_000) / 0.44
        #expect(decibels(gain, 1) > (uncertainty == .exact ? -0.001 : -0.5))
      }
    }
  }
}
