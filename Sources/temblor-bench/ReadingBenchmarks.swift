import HapticFormats
import HapticModel

/// The cost of reading AHAP text.
enum ReadingBenchmarks {
  static func run() throws -> [Measurement] {
    let text = try AHAPDocument(pattern: pattern()).formatted()
    let megabytes = Double(text.count) / 1e6
    let parsing = try Stopwatch.median { _ = try AHAPDocument(text: text, name: "bench") }
    let reading = try Stopwatch.median {
      _ = try AHAPDocument(text: text, name: "bench").read()
    }
    let document = try AHAPDocument(text: text, name: "bench")
    let writing = Stopwatch.median { _ = document.formatted() }
    return [
      Measurement(
        name: "AHAP text to document", value: megabytes / parsing, unit: "MB/s", goal: 100,
        isBetterWhenGreater: true),
      Measurement(
        name: "AHAP text to pattern", value: megabytes / reading, unit: "MB/s",
        isBetterWhenGreater: true),
      Measurement(
        name: "AHAP document to text", value: megabytes / writing, unit: "MB/s",
        isBetterWhenGreater: true),
    ]
  }

  /// Every kind of haptic entry, about 12 MB in the canonical form with its indentation.
  private static func pattern() -> HapticPattern {
    var pattern = HapticPattern()
    for index in 0..<30_000 {
      let isLong = index % 3 == 0
      pattern.events.append(
        HapticEvent(
          kind: isLong ? .hapticContinuous : .hapticTransient, time: Double(index) * 0.05,
          duration: isLong ? 0.04 : nil,
          parameters: [.hapticIntensity: Float(index % 10) / 10, .hapticSharpness: 0.5]))
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
