import HapticModel
import HapticRender

/// The cost of compiling plans.
enum CompileBenchmarks {
  static func run() throws -> [Measurement] {
    var figures: [Measurement] = []
    var perEvent: [Double] = []
    for count in [1_000, 10_000, 100_000, 1_000_000] {
      let pattern = HapticPattern(
        // A stride that is prime to the count leaves the events unsorted.
        events: (0..<count).map { index in
          HapticEvent(kind: .hapticTransient, time: Double(index &* 7_919 % count) * 0.01)
        })
      let time = try Stopwatch.median(runs: 3) { _ = try RenderPlan(compiling: pattern) }
      perEvent.append(time / Double(count))
      figures.append(
        Measurement(
          name: "compile \(count) events", value: time * 1e9 / Double(count), unit: "ns per event"))
    }
    figures.append(
      Measurement(
        name: "growth from 1,000 to 1,000,000 events, 1 being linear and 2 being n log n",
        value: perEvent[3] / perEvent[0], unit: "times per event", goal: 4))
    let points = HapticPattern(
      events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: 20)],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: (0..<100_000).map {
            .init(time: Double($0) * 0.0002, value: Float($0 % 2))
          })
      ])
    let time = try Stopwatch.median(runs: 3) { _ = try RenderPlan(compiling: points) }
    figures.append(
      Measurement(
        name: "compile a curve of 100,000 points", value: time * 1e9 / 100_000,
        unit: "ns per point"))
    return figures
  }
}
