// Renders patterns by chance, the same on every system, and prints a hash of the samples of each:
// equal lines are equal bits. Part of Tests/Portability/run.
import HapticModel
import HapticRender

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Chance {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// From 0 up to but without 1.
  mutating func share() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}

func pattern(_ chance: inout Chance) -> HapticPattern {
  var events: [HapticEvent] = []
  for _ in 0..<(1 + Int(chance.next() % 12)) {
    let isTap = chance.next() % 2 == 0
    var parameters = EventParameters()
    parameters[.hapticIntensity] = Float(chance.share())
    parameters[.hapticSharpness] = Float(chance.share())
    if !isTap, chance.next() % 3 == 0 {
      parameters[.attackTime] = Float(chance.share())
      parameters[.releaseTime] = Float(chance.share())
    }
    events.append(
      HapticEvent(
        kind: isTap ? .hapticTransient : .hapticContinuous, time: chance.share(),
        duration: isTap ? nil : 0.02 + chance.share() / 2, parameters: parameters))
  }
  var curves: [ParameterCurve] = []
  for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl]
  where chance.next() % 2 == 0 {
    let points = (0..<4).map { index in
      ParameterCurve.ControlPoint(
        time: Double(index) * (0.05 + chance.share() / 4), value: Float(chance.share()))
    }
    curves.append(ParameterCurve(id: id, time: chance.share() / 2, controlPoints: points))
  }
  return HapticPattern(events: events, curves: curves)
}

func printHashes() {
  let shaker = TransducerProfile(
    name: "shaker", summary: "A bass shaker.",
    frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
    hardware: TransducerHardware(
      product: "Shaker", bandHertz: 20...80, resonanceHertz: 40, qualityFactor: 3,
      impedanceOhms: 4, continuousWatts: 50, maximumAccelerationInG: 5,
      maximumExcursionMillimeters: 2))
  var chance = Chance(state: 1)
  for number in 0..<60 {
    let rate = [8_000.0, 44_100, 48_000][number % 3]
    let pattern = pattern(&chance)
    do {
      let plan = try RenderPlan(
        compiling: pattern, profile: number % 2 == 0 ? .phone : shaker, rate: rate)
      var renderer = OfflineRenderer(plan: plan)
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      let samples = renderer.samples()
      for sample in samples {
        hash = (hash ^ UInt64(sample.bitPattern)) &* 0x100_0000_01B3
      }
      print("\(number) \(samples.count) \(hash)")
    } catch {
      print("\(number) is refused")
    }
  }
}

printHashes()
