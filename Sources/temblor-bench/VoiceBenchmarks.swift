import HapticModel
import HapticRender

/// The cost of sounding voices.
enum VoiceBenchmarks {
  /// Seconds of pattern in each run.
  private static let seconds = 4.0

  static func run() throws -> [Measurement] {
    var figures: [Measurement] = []
    for count in [1, 8, 64] {
      figures.append(
        Measurement(
          name: "plain voices, \(count) at once", value: try cost(of: humming(count), voices: count),
          unit: "ns per voice and sample", goal: count == 64 ? 0.4 : nil))
    }
    for count in [1, 8, 64] {
      figures.append(
        Measurement(
          name: "moving voices, \(count) at once", value: try cost(of: moving(count), voices: count),
          unit: "ns per voice and sample", goal: count == 64 ? 0.45 : nil))
    }
    let frames = seconds * 48_000
    let output = try cost(of: silence, voices: 1)
    figures.append(
      Measurement(name: "output chain: DC blocker and limiter at rest", value: output, unit: "ns per sample", goal: 1.2)
    )
    let fitted = try cost(of: silence, voices: 1, routing: OutputRouting().fitted(to: [shaker]))
    figures.append(
      Measurement(
        name: "transducer stage: filters and protection", value: fitted - output, unit: "ns per sample", goal: 3))
    let time = try cost(of: transients(40_000), voices: 1) * frames * 1e-9
    figures.append(Measurement(name: "transients", value: 40_000 / time, unit: "per second", isBetterWhenGreater: true))
    return figures
  }

  /// A profile whose channels have every filter and all protection.
  static let shaker = TransducerProfile(
    name: "shaker", summary: "", frequency: FrequencyMapping(low: 25, high: 80),
    hardware: TransducerHardware(product: "shaker", resonance: 40, qualityFactor: 10, continuousPower: 50))

  /// A number of continuous events that last the whole run.
  ///
  /// Without an intensity they are together below the ceiling, so that voices and not the limiter are measured.
  static func humming(_ count: Int, intensity: Float? = nil) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map { index in
        hum(Float(index) / Float(max(1, count)), intensity: intensity ?? 0.7 / Float(count).squareRoot())
      })
  }

  /// The same with intensity and sharpness that always move.
  static func moving(_ count: Int) -> HapticPattern {
    var pattern = humming(count)
    pattern.curves = movement()
    return pattern
  }

  /// An event that nothing is heard of.
  static var silence: HapticPattern { HapticPattern(events: [hum(0, intensity: 0)]) }

  /// A number of transients, evenly over the run.
  static func transients(_ count: Int) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map { HapticEvent(kind: .hapticTransient, time: Double($0) * seconds / Double(count)) })
  }

  private static func hum(_ sharpness: Float, intensity: Float) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: seconds,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  }

  /// Intensity and sharpness that always move: a corner every tenth of a second.
  private static func movement() -> [ParameterCurve] {
    let corners = (0...Int(seconds * 10)).map { Double($0) / 10 }
    return [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: corners.enumerated().map { .init(time: $1, value: $0 % 2 == 0 ? 1 : 0.4) }),
      ParameterCurve(
        id: .hapticSharpnessControl, time: 0,
        controlPoints: corners.enumerated().map { .init(time: $1, value: $0 % 2 == 0 ? 0.3 : -0.3) }),
    ]
  }

  /// Nanoseconds for each voice and sample of rendering in 512-frame blocks.
  private static func cost(of pattern: HapticPattern, voices: Int, routing: OutputRouting = OutputRouting()) throws
    -> Double
  {
    let plan = try RenderPlan(compiling: pattern)
    var block = [Float](repeating: 0, count: 512)
    let frames = Int(seconds * 48_000)
    let time = Stopwatch.median {
      var renderer = Renderer(plan: plan, settings: RenderSettings(routing: routing))
      for _ in 0..<(frames / block.count) {
        var span = block.mutableSpan
        renderer.render(into: &span)
      }
    }
    return time * 1e9 / Double(frames * voices)
  }
}
