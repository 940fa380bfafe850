import ComparisonFixtures
import SignalAnalysis
import Testing

@testable import RecordingAnalysis

struct RecordingResponseTests {
  /// Returns pseudo-random samples between zeros.
  private func signal(_ count: Int, zeroCount: Int, seed: UInt64) -> [Double] {
    var generator = LinearCongruentialGenerator(seed: seed)
    return (0..<count).map { _ in Double(generator.next() >> 40) / 8_388_608 - 1 }
      + [Double](repeating: 0, count: zeroCount)
  }

  private static let kinds: [RecordingResponse.Kind] = [
    .filter, .room(decaySeconds: 0.02, reflectionGain: 0.1),
    .resonance([
      RecordingResponse.Mode(hertz: 70, qualityFactor: 6),
      RecordingResponse.Mode(hertz: 180, qualityFactor: 3),
    ]),
  ]

  @Test("The correlations after a signal is added are those of the sum", arguments: kinds)
  func addedSignalUpdatesCorrelations(kind: RecordingResponse.Kind) {
    let response = RecordingResponse(kind: kind, priorVarianceScale: 0.01)
    let input = signal(300, zeroCount: 500, seed: 1)
    let recorded = signal(800, zeroCount: 0, seed: 2)
    for firstSampleIndex in [-20, 40, 780] {
      let added = RecordingResponse.OffsetSignal(
        firstSampleIndex: firstSampleIndex, samples: signal(60, zeroCount: 0, seed: 3))
      var sum = input
      added.add(to: &sum)
      let updated = response.correlations(of: input, with: recorded, rate: 2_000).adding(added)
      let computed = response.correlations(of: sum, with: recorded, rate: 2_000)
      #expect(zip(updated.input, computed.input).allSatisfy { abs($0 - $1) < 1e-9 })
      #expect(
        zip(updated.autocorrelation, computed.autocorrelation).allSatisfy { abs($0 - $1) < 1e-9 })
      #expect(zip(updated.tapProducts, computed.tapProducts).allSatisfy { abs($0 - $1) < 1e-9 })
    }
  }

  @Test("A fit explains a recording by its own response", arguments: kinds)
  func fitFindsOwnResponse(kind: RecordingResponse.Kind) {
    let response = RecordingResponse(kind: kind, priorVarianceScale: 1e6)
    let input = signal(300, zeroCount: 900, seed: 1)
    let coefficientCount = response.fit(input, to: input, rate: 2_000).coefficients.count
    let coefficients = signal(coefficientCount, zeroCount: 0, seed: 4)
    var recorded = [Double](repeating: 0, count: input.count)
    response.output(
      for: RecordingResponse.OffsetSignal(samples: input), coefficients: coefficients,
      rate: 2_000, count: input.count
    ).add(to: &recorded)
    let fit = response.fit(
      response.correlations(of: input, with: recorded, rate: 2_000), rate: 2_000)
    #expect(fit.residualEnergy < 1e-3 * Vector.energy(recorded))
  }
}
