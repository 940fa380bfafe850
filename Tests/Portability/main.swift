// Renders random patterns, which are the same on every system, and prints a hash of the samples of
// each pattern. Two systems that print the same lines render the same bits. Tests/Portability/run
// compiles this file.
import HapticModel
import HapticRender

/// A SplitMix64 generator (Steele, Lea, and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
///
/// It repeats `SplitMixGenerator` of TestSupport, which cannot be compiled without a system library.
struct SplitMixGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number of the uniform distribution from 0 to 1, without 1.
  mutating func fraction() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}

func randomPattern(_ generator: inout SplitMixGenerator) -> HapticPattern {
  var events: [HapticEvent] = []
  for _ in 0..<(1 + Int(generator.next() % 12)) {
    let isTransient = generator.next() % 2 == 0
    var parameters = EventParameters()
    parameters[.hapticIntensity] = Float(generator.fraction())
    parameters[.hapticSharpness] = Float(generator.fraction())
    if !isTransient, generator.next() % 3 == 0 {
      parameters[.attackTime] = Float(generator.fraction())
      parameters[.releaseTime] = Float(generator.fraction())
    }
    events.append(
      HapticEvent(
        kind: isTransient ? .hapticTransient : .hapticContinuous, time: generator.fraction(),
        duration: isTransient ? nil : 0.02 + generator.fraction() / 2, parameters: parameters))
  }
  var curves: [ParameterCurve] = []
  for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl]
  where generator.next() % 2 == 0 {
    let points = (0..<4).map { index in
      ParameterCurve.ControlPoint(
        time: Double(index) * (0.05 + generator.fraction() / 4), value: Float(generator.fraction()))
    }
    curves.append(ParameterCurve(id: id, time: generator.fraction() / 2, controlPoints: points))
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
  var generator = SplitMixGenerator(state: 1)
  for number in 0..<60 {
    let rate = [8_000.0, 44_100, 48_000][number % 3]
    let pattern = randomPattern(&generator)
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
