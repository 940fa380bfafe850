import CoreHaptics
import Glibc
import HapticModel
import HapticRender

/// Measures the cost of voices in steady rendering.
enum VoiceBenchmarks {
  /// The duration of the pattern in each run, in seconds.
  private static let soundSeconds = 4.0

  static func run() throws -> [Measurement] {
    var figures: [Measurement] = []
    for (name, pattern, goal) in [
      ("plain", { continuousVoices($0) }, 0.4), ("moving", modulatedVoices, 0.45),
    ]
      as [(String, (Int) -> HapticPattern, Double)]
    {
      for count in [1, 8, 64] {
        figures.append(
          Measurement(
            "\(name) voices, \(count) at once", try cost(of: pattern(count), voices: count),
            "ns per voice and sample", target: count == 64 ? goal : nil))
      }
    }
    let frames = soundSeconds * 48_000
    let output = try cost(of: silentPattern, voices: 1)
    figures.append(
      Measurement(
        "output chain: DC blocker and limiter at rest", output, "ns per sample", target: 1.2))
    let fitted = try cost(
      of: silentPattern, voices: 1, routing: OutputRouting().fitted(to: [shaker]))
    figures.append(
      Measurement(
        "transducer stage: filters and protection", fitted - output, "ns per sample", target: 3))
    let time = try cost(of: transients(40_000), voices: 1) * frames * 1e-9
    figures.append(Measurement("transients", 40_000 / time, "per second"))
    return figures
  }

  static let shaker = TransducerProfile(
    name: "shaker", summary: "", frequency: FrequencyMapping(lowHertz: 25, highHertz: 80),
    hardware: TransducerHardware(
      product: "shaker", resonanceHertz: 40, qualityFactor: 10, continuousWatts: 50))

  /// Returns a pattern of continuous events that last for the whole run.
  ///
  /// - Parameters:
  ///   - count: The number of events.
  ///   - intensity: The intensity of each event, or nil to keep their sum below the ceiling of the
  ///     limiter.
  static func continuousVoices(_ count: Int, intensity: Float? = nil) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map { index in
        continuousEvent(
          Float(index) / Float(max(1, count)),
          intensity: intensity ?? 0.7 / Float(count).squareRoot())
      })
  }

  static func modulatedVoices(_ count: Int) -> HapticPattern {
    var pattern = continuousVoices(count)
    pattern.curves = [
      zigzag(.hapticIntensityControl, 1, 0.4, seconds: soundSeconds),
      zigzag(.hapticSharpnessControl, 0.3, -0.3, seconds: soundSeconds),
    ]
    return pattern
  }

  static var silentPattern: HapticPattern {
    HapticPattern(events: [continuousEvent(0, intensity: 0)])
  }

  static func transients(_ count: Int) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map {
        HapticEvent(kind: .hapticTransient, time: Double($0) * soundSeconds / Double(count))
      })
  }

  private static func continuousEvent(_ sharpness: Float, intensity: Float) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: soundSeconds,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  }

  /// Returns a control curve that moves all the time, with a point every tenth of a second.
  static func zigzag(_ id: DynamicParameterID, _ first: Float, _ second: Float, seconds: Double)
    -> ParameterCurve
  {
    let points = (0...Int(seconds * 10)).map { index in
      ParameterCurve.ControlPoint(time: Double(index) / 10, value: index % 2 == 0 ? first : second)
    }
    return ParameterCurve(id: id, time: 0, controlPoints: points)
  }

  /// Returns the time per voice and sample for rendering in blocks of 512 frames, in nanoseconds.
  private static func cost(
    of pattern: HapticPattern, voices: Int, routing: OutputRouting = OutputRouting()
  ) throws
    -> Double
  {
    let plan = try RenderPlan(compiling: pattern)
    let time = Stopwatch.median {
      RegressionCheck.render(plan, frameCount: Int64(soundSeconds * 48_000), routing)
    }
    return time * 1e9 / (soundSeconds * 48_000 * Double(voices))
  }
}

/// Measures a single call of the renderer under the conditions of a live device.
enum LiveBenchmarks {
  private static let frameCount = 64
  private static let channelCount = 8
  private static let callCount = 20_000

  static func run() throws -> [Measurement] {
    let period = Double(frameCount) / 48_000
    let shares = try measureCalls().map { $0 / period * 100 }.sorted()
    let name = "64 frames, 64 moving voices, 8 channels, with commands"
    return [
      Measurement("\(name), median call", shares[callCount / 2], "% of the period"),
      Measurement(
        "\(name), 99.9 % of calls", shares[callCount * 999 / 1_000], "% of the period", target: 10),
      Measurement("\(name), worst call", shares[callCount - 1], "% of the period"),
    ]
  }

  /// Returns the duration of each call, in seconds.
  private static func measureCalls() throws -> [Double] {
    let link = RendererPort(channelCount: channelCount)
    let routing = RegressionCheck.routing(channelCount: channelCount)
    var renderer = Renderer(rate: 48_000, settings: RenderSettings(routing: routing), port: link)
    let seconds = Double(callCount * frameCount) / 48_000
    let players = try (0..<8).map { group in
      var pattern = HapticPattern(
        events: (0..<8).map { index in
          HapticEvent(
            kind: .hapticContinuous, time: 0, duration: seconds,
            parameters: [.hapticIntensity: 0.09, .hapticSharpness: Float(group * 8 + index) / 64])
        })
      pattern.curves = [
        VoiceBenchmarks.zigzag(.hapticSharpnessControl, 0.2, -0.2, seconds: seconds)
      ]
      return RenderPlayer(plan: try RenderPlan(compiling: pattern))
    }
    _ = link.send(players.flatMap { [.add($0), .start($0, at: 0)] })
    var block = [Float](repeating: 0, count: frameCount * channelCount)
    var times: [Double] = []
    times.reserveCapacity(callCount)
    for call in 0..<callCount {
      if call % 10 == 0 {
        let player = players[call / 10 % players.count]
        let intensity = Double(call % 7) / 7 + 0.1
        _ = link.send([.control(player, .hapticIntensityControl, value: intensity, at: 0)])
      }
      var span = block.mutableSpan
      let began = Stopwatch.now(CLOCK_THREAD_CPUTIME_ID)
      renderer.render(into: &span)
      times.append(Stopwatch.now(CLOCK_THREAD_CPUTIME_ID) - began)
    }
    withExtendedLifetime(players) {}
    return times
  }
}

/// Measures the latencies of a program that uses Core Haptics.
enum CoreHapticsBenchmarks {
  static func run() throws -> [Measurement] {
    // The null device plays no sound and does not depend on the hardware of the machine.
    unsafe setenv("TEMBLOR_OUTPUT", "alsa:null", 1)
    let tap = try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.1)],
          relativeTime: 0)
      ], parameters: [])
    let firsts = try (0..<10).map { _ in
      try Stopwatch.seconds {
        let engine = try CHHapticEngine()
        try engine.start()
        try engine.makePlayer(with: tap).start(atTime: 0)
        while engine.currentTime == 0 {
          usleep(100)
        }
        engine.stop()
      }
    }
    let engine = try CHHapticEngine()
    try engine.start()
    let plays = try (0..<500).map { _ in
      defer { usleep(2_000) }
      return try Stopwatch.seconds { try engine.makePlayer(with: tap).start(atTime: 0) }
    }
    engine.stop()
    return [
      Measurement(
        "create engine, start, first block of a tap, null device",
        firsts.sorted()[firsts.count / 2] * 1_000, "ms", target: 50),
      Measurement(
        "create and start player, median", plays.sorted()[plays.count / 2] * 1e6, "µs", target: 50),
    ]
  }
}
