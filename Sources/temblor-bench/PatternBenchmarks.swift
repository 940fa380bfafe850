import HapticFormats
import HapticModel
import HapticRender
import ShippedFiles

/// The cost of reading AHAP text.
enum ReadingBenchmarks {
  static func run() throws -> [Measurement] {
    let text = try AHAPDocument(pattern: pattern()).formatted()
    let megabytes = Double(text.count) / 1e6
    let parsing = try Stopwatch.median { _ = try AHAPDocument(text: text, name: "bench") }
    let reading = try Stopwatch.median { _ = try AHAPDocument(text: text, name: "bench").read() }
    let document = try AHAPDocument(text: text, name: "bench")
    let writing = Stopwatch.median { _ = document.formatted() }
    return [
      Measurement(
        name: "AHAP text to document", value: megabytes / parsing, unit: "MB/s", goal: 100, isBetterWhenGreater: true),
      Measurement(name: "AHAP text to pattern", value: megabytes / reading, unit: "MB/s", isBetterWhenGreater: true),
      Measurement(name: "AHAP document to text", value: megabytes / writing, unit: "MB/s", isBetterWhenGreater: true),
    ]
  }

  /// Every kind of haptic entry, about 12 MB in the canonical form with its indentation.
  static func pattern() -> HapticPattern {
    var pattern = HapticPattern()
    for index in 0..<30_000 {
      let isLong = index % 3 == 0
      pattern.events.append(
        HapticEvent(
          kind: isLong ? .hapticContinuous : .hapticTransient, time: Double(index) * 0.05,
          duration: isLong ? 0.04 : nil, parameters: [.hapticIntensity: Float(index % 10) / 10, .hapticSharpness: 0.5]))
    }
    for index in 0..<1_000 {
      pattern.curves.append(
        ParameterCurve(
          id: .hapticIntensityControl, time: Double(index) * 1.5,
          controlPoints: (0..<15).map { .init(time: Double($0) * 0.1, value: 0.5) }))
    }
    return pattern
  }
}

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
        Measurement(name: "compile \(count) events", value: time * 1e9 / Double(count), unit: "ns per event"))
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
          controlPoints: (0..<100_000).map { .init(time: Double($0) * 0.0002, value: Float($0 % 2)) })
      ])
    let time = try Stopwatch.median(runs: 3) { _ = try RenderPlan(compiling: points) }
    figures.append(
      Measurement(name: "compile a curve of 100,000 points", value: time * 1e9 / 100_000, unit: "ns per point"))
    return figures
  }
}

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
          name: "\(name), text to samples", value: seconds / time, unit: "times real time", isBetterWhenGreater: true))
    }
    return figures
  }
}
