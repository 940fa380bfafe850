import HapticFormats
import HapticRender
import ShippedPatterns

/// The cost of whole renderings in memory, from text to samples.
enum WholeBenchmarks {
  static func run() throws -> [Measurement] {
    var figures: [Measurement] = []
    for name in ["earthquake-splash", "earthquake-simulation", "heartbeat"] {
      let text = ShippedPatterns.text(named: name) ?? []
      var seconds = 0.0
      let time = try Stopwatch.median(runs: 11) {
        let reading = try AHAPDocument(text: text, name: name).read()
        let plan = try RenderPlan(compiling: reading.pattern)
        seconds = Double(plan.length) / plan.rate
        var rendering = OfflineRenderer(plan: plan)
        var block = [Float](repeating: 0, count: 4_096)
        var count = 1
        while count > 0 {
          var span = block.mutableSpan
          count = rendering.read(into: &span)
        }
      }
      figures.append(
        Measurement(
          name: "\(name), text to samples", value: seconds / time, unit: "times real time",
          isBetterWhenGreater: true))
    }
    return figures
  }
}
