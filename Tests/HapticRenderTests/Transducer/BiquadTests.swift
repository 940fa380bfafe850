import Glibc
import Testing

@testable import HapticRender

struct DriveFilterTests {
  /// Filters frames one by one where the pattern says so, else in pairs.
  private func filtered(
    _ input: [Double], by filter: Biquad, single: (Int) -> Bool = { _ in false }
  )
    -> [Double]
  {
    var memory = Biquad.Memory()
    var output: [Double] = []
    while output.count < input.count {
      let frame = output.count
      if frame + 1 == input.count || single(frame) {
        output.append(filter.next(input[frame], &memory))
      } else {
        let pair = filter.next(SIMD2(input[frame], input[frame + 1]), &memory)
        output += [pair.x, pair.y]
      }
    }
    return output
  }

  private let filter = Biquad(
    gain: 1.5, undoing: .init(TransducerModel(resonance: 40, quality: 10), rate: 48_000),
    making: .init(TransducerModel(resonance: 30, quality: 2), rate: 48_000))

  @Test func itIsTheFilterOfSecondOrderItStandsFor() {
    let input = (0..<20_000).map { sin(Double($0) * 0.005) + sin(Double($0 * $0) * 1e-5) }
    let zeros = Biquad.Resonance(TransducerModel(resonance: 40, quality: 10), rate: 48_000)
    let poles = Biquad.Resonance(TransducerModel(resonance: 30, quality: 2), rate: 48_000)
    var expected: [Double] = []
    for n in input.indices {
      func x(_ back: Int) -> Double { n < back ? 0 : input[n - back] }
      func y(_ back: Int) -> Double { n < back ? 0 : expected[n - back] }
      expected.append(
        1.5 * (x(0) + zeros.first * x(1) + zeros.second * x(2))
          - poles.first * y(1) - poles.second * y(2))
    }
    let output = filtered(input, by: filter)
    for (a, b) in zip(output, expected) where abs(a - b) > 1e-9 {
      Issue.record("\(a) is not \(b)")
      return
    }
  }

  @Test func framesAloneAndInPairsGiveTheSameBits() {
    let input = (0..<5_000).map { sin(Double($0 * $0) * 1e-4) }
    let pairs = filtered(input, by: filter)
    #expect(filtered(input, by: filter) { _ in true } == pairs)
    #expect(filtered(input, by: filter) { $0 % 7 == 0 } == pairs)
  }

  @Test(arguments: [8_000.0, 48_000, 192_000])
  func theHighPassIsThreeDecibelsDownAtItsCorner(rate: Double) {
    let filter = Biquad(highPassHertz: 20, rate: rate)
    #expect(abs(decibels(filter.response(atHertz: 20, rate: rate), 0.5.squareRoot())) < 0.001)
    // An octave above, where the lowest frequency of a profile lies.
    #expect(abs(decibels(filter.response(atHertz: 40, rate: rate), 1) + 0.263) < 0.01)
    #expect(abs(filter.response(atHertz: rate / 2, rate: rate) - 1) < 1e-9)
    #expect(filter.response(atHertz: 0, rate: rate) < 1e-9)
  }
}
