import Glibc
import Testing

@testable import HapticRender

@Suite struct DCBlockerTests {
  private func filtered(_ input: [Float], rate: Double, split: Int = 1_000) -> [Float] {
    var blocker = DCBlocker(rate: rate)
    var output: [Float] = []
    var rest = input[...]
    while !rest.isEmpty {
      var block = Array(rest.prefix(split))
      rest = rest.dropFirst(split)
      var span = block.mutableSpan
      blocker.process(&span, count: span.count)
      output += block
    }
    return output
  }

  @Test(arguments: [8_000, 44_100, 48_000, 192_000])
  func anOffsetIsGoneAfterThreeSeconds(rate: Double) {
    let output = filtered([Float](repeating: 0.5, count: Int(rate * 3)), rate: rate)
    #expect(output[0] == 0.5)
    #expect(abs(output[output.count - 1]) < 0.5 * 0.001)
  }

  @Test(arguments: [8_000, 44_100, 48_000, 192_000])
  func twentyHertzPass(rate: Double) {
    let input = (0..<Int(rate * 4)).map { Float(sin(2 * Double.pi * 20 * Double($0) / rate)) }
    let last = filtered(input, rate: rate)[Int(rate * 3)...]
    #expect(abs(decibels(amplitude(of: last, hertz: 20, rate: rate), 1)) < 0.006)
  }

  @Test func silenceStaysSilence() {
    #expect(filtered([Float](repeating: 0, count: 1_000), rate: 48_000).allSatisfy { $0 == 0 })
  }

  @Test func blocksOfAnyLengthGiveEqualSamples() {
    let input = (0..<2_000).map { Float(sin(Double($0) * 0.1)) + 0.3 }
    let expected = filtered(input, rate: 48_000)
    for split in [1, 7, 64] { #expect(filtered(input, rate: 48_000, split: split) == expected) }
  }

  @Test func theGreatestNumbersDoNotOverflow() {
    let input = (0..<100_000).map { $0 < 50_000 ? Float.greatestFiniteMagnitude : -1e30 }
    #expect(filtered(input, rate: 8_000).allSatisfy { $0.isFinite })
  }
}
