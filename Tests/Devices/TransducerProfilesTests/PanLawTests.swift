import HapticRender
import Testing
import TransducerProfiles

/// An array whose transducers are at some places, each on a channel of its own.
private func array(_ layout: TransducerArray.Layout, _ places: ArrayPosition...) -> TransducerArray
{
  TransducerArray(
    name: "seat", layout: layout,
    transducers: places.enumerated().map { .init(channelNumber: $0 + 1, position: $1) })
}

private let lineArray = array(.line, .init(2), .init(-1), .init(0))
private let ringArray = array(.ring, .init(350), .init(10), .init(180))
private let planeArray = array(.plane, .init(0, 0), .init(1, 0), .init(0, 2))

private func areGainsEqual(_ gains: [Double], _ wanted: [Double]) -> Bool {
  gains.count == wanted.count && zip(gains, wanted).allSatisfy { abs($0 - $1) < 1e-12 }
}

@Suite struct PanLawTests {
  private let half = 0.5.squareRoot()

  @Test func neighborsOnALineDivideThePowerAndTheOthersAreSilent() {
    #expect(areGainsEqual(lineArray.transducerGains(at: .init(-0.5)), [0, half, half]))
    #expect(areGainsEqual(lineArray.transducerGains(at: .init(1)), [half, 0, half]))
    let third = lineArray.transducerGains(at: .init(2.0 / 3))
    #expect(areGainsEqual(third, [0.5, 0, 0.75.squareRoot()]))
  }

  @Test func aPlaceOnALineIsHeardThereAlone() {
    #expect(lineArray.transducerGains(at: .init(2)) == [1, 0, 0])
    #expect(lineArray.transducerGains(at: .init(-1)) == [0, 1, 0])
    #expect(lineArray.transducerGains(at: .init(0)) == [0, 0, 1])
  }

  @Test func beyondTheEndsTheEndIsHeardAlone() {
    #expect(lineArray.transducerGains(at: .init(9)) == [1, 0, 0])
    #expect(lineArray.transducerGains(at: .init(-9)) == [0, 1, 0])
    #expect(array(.line, .init(5)).transducerGains(at: .init(-3)) == [1])
  }

  @Test func aRingGoesRoundThroughZeroAndThroughItsGreatestGap() {
    #expect(areGainsEqual(ringArray.transducerGains(at: .init(0)), [half, half, 0]))
    #expect(areGainsEqual(ringArray.transducerGains(at: .init(360)), [half, half, 0]))
    #expect(
      areGainsEqual(
        ringArray.transducerGains(at: .init(-5)), ringArray.transducerGains(at: .init(355))))
    #expect(areGainsEqual(ringArray.transducerGains(at: .init(265)), [half, 0, half]))
    let wide = array(.ring, .init(0), .init(90))
    #expect(areGainsEqual(wide.transducerGains(at: .init(225)), [half, half]))
    #expect(array(.ring, .init(40)).transducerGains(at: .init(300)) == [1])
  }

  @Test func aPlaneFavoursWhatIsNearByItsDistance() {
    // The nearest neighbors are 1, 1, and 2 m away, so the blur is 0.2 · 4/3 m.
    let blur = 0.2 * 4 / 3
    let powers = [1 / (blur * blur), 1 / (1 + blur * blur), 1 / (4 + blur * blur)]
    let total = powers.reduce(0, +)
    #expect(
      areGainsEqual(
        planeArray.transducerGains(at: .init(0, 0)), powers.map { ($0 / total).squareRoot() }))
    #expect(array(.plane, .init(3, 3)).transducerGains(at: .init(0, 0)) == [1])
    let far = planeArray.transducerGains(at: .init(1e300, 1e300)).reduce(0) { $0 + $1 * $1 }
    #expect(abs(far - 1) < 1e-9)
  }

  @Test(arguments: [lineArray, ringArray, planeArray]) func theSquaresSumToOneAndNoStepJumps(
    array: TransducerArray
  ) {
    let span = array.layout == .ring ? 360.0 : 6.0
    var before: [Double]?
    for step in 0...1_000 {
      let place = ArrayPosition(-0.5 * span + span * Double(step) / 1_000, 0.3)
      let gains = array.transducerGains(at: place)
      #expect(abs(gains.reduce(0) { $0 + $1 * $1 } - 1) < 1e-6)
      // The narrowest gap, 20 degrees of the ring, is crossed in 55 steps: a quarter turn of power.
      if let before {
        #expect(zip(before, gains).allSatisfy { abs($0 - $1) < 0.03 })
      }
      before = gains
    }
  }
}
