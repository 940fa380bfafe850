import HapticRender
import Testing
import TransducerProfiles

/// Returns an array with transducers at the given positions, each on its own channel.
private func array(_ layout: TransducerArray.Layout, _ positions: ArrayPosition...)
  -> TransducerArray
{
  TransducerArray(
    name: "seat", layout: layout,
    transducers: positions.enumerated().map { .init(channelNumber: $0 + 1, position: $1) })
}

private let lineArray = array(.line, .init(2), .init(-1), .init(0))
private let ringArray = array(.ring, .init(350), .init(10), .init(180))
private let planeArray = array(.plane, .init(0, 0), .init(1, 0), .init(0, 2))

private func areGainsEqual(_ gains: [Double], _ expected: [Double]) -> Bool {
  gains.count == expected.count && zip(gains, expected).allSatisfy { abs($0 - $1) < 1e-12 }
}

@Suite struct PanLawTests {
  private let halfPowerGain = 0.5.squareRoot()

  @Test func neighborsOnALineShareThePower() {
    #expect(
      areGainsEqual(lineArray.transducerGains(at: .init(-0.5)), [0, halfPowerGain, halfPowerGain]))
    #expect(
      areGainsEqual(lineArray.transducerGains(at: .init(1)), [halfPowerGain, 0, halfPowerGain]))
    let gainsAtTwoThirds = lineArray.transducerGains(at: .init(2.0 / 3))
    #expect(areGainsEqual(gainsAtTwoThirds, [0.5, 0, 0.75.squareRoot()]))
  }

  @Test func positionOfATransducerUsesOnlyThatTransducer() {
    #expect(lineArray.transducerGains(at: .init(2)) == [1, 0, 0])
    #expect(lineArray.transducerGains(at: .init(-1)) == [0, 1, 0])
    #expect(lineArray.transducerGains(at: .init(0)) == [0, 0, 1])
  }

  @Test func positionsBeyondTheEndsUseOnlyTheLastTransducer() {
    #expect(lineArray.transducerGains(at: .init(9)) == [1, 0, 0])
    #expect(lineArray.transducerGains(at: .init(-9)) == [0, 1, 0])
    #expect(array(.line, .init(5)).transducerGains(at: .init(-3)) == [1])
  }

  @Test func ringWrapsAroundThroughZeroAndItsLargestGap() {
    #expect(
      areGainsEqual(ringArray.transducerGains(at: .init(0)), [halfPowerGain, halfPowerGain, 0]))
    #expect(
      areGainsEqual(ringArray.transducerGains(at: .init(360)), [halfPowerGain, halfPowerGain, 0]))
    #expect(
      areGainsEqual(
        ringArray.transducerGains(at: .init(-5)), ringArray.transducerGains(at: .init(355))))
    #expect(
      areGainsEqual(ringArray.transducerGains(at: .init(265)), [halfPowerGain, 0, halfPowerGain]))
    let wideRing = array(.ring, .init(0), .init(90))
    #expect(
      areGainsEqual(wideRing.transducerGains(at: .init(225)), [halfPowerGain, halfPowerGain]))
    #expect(array(.ring, .init(40)).transducerGains(at: .init(300)) == [1])
  }

  @Test func planeWeightsTransducersByTheirDistance() {
    // The nearest neighbors are 1, 1, and 2 m away, so the blur is 0.2 · 4/3 m.
    let blur = 0.2 * 4 / 3
    let powers = [1 / (blur * blur), 1 / (1 + blur * blur), 1 / (4 + blur * blur)]
    let total = powers.reduce(0, +)
    #expect(
      areGainsEqual(
        planeArray.transducerGains(at: .init(0, 0)), powers.map { ($0 / total).squareRoot() }))
    #expect(array(.plane, .init(3, 3)).transducerGains(at: .init(0, 0)) == [1])
    let distantPower = planeArray.transducerGains(at: .init(1e300, 1e300)).reduce(0) {
      $0 + $1 * $1
    }
    #expect(abs(distantPower - 1) < 1e-9)
  }

  @Test(arguments: [lineArray, ringArray, planeArray]) func powersSumToOneWithoutJumps(
    array: TransducerArray
  ) {
    let span = array.layout == .ring ? 360.0 : 6.0
    var previousGains: [Double]?
    for step in 0...1_000 {
      let position = ArrayPosition(-0.5 * span + span * Double(step) / 1_000, 0.3)
      let gains = array.transducerGains(at: position)
      #expect(abs(gains.reduce(0) { $0 + $1 * $1 } - 1) < 1e-6)
      // The path crosses the narrowest gap, 20 degrees of the ring, in 55 steps, during which the
      // gains change from 0 to 1.
      if let previousGains {
        #expect(zip(previousGains, gains).allSatisfy { abs($0 - $1) < 0.03 })
      }
      previousGains = gains
    }
  }
}
