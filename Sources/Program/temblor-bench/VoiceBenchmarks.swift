import CoreHaptics
import Glibc
import HapticModel
import HapticRender

/// Measures the cost of voices in steady rendering.
enum VoiceBenchmarks {
  /// The duration of the pattern in each run, in seconds.
  private static let patternSeconds = 4.0

  static func run() throws -> [Measurement] {
    var measurements: [Measurement] = []
    for (name, pattern, goal) in [
      ("plain", { continuousPattern(voiceCount: $0) }, 0.4), ("moving", modulatedPattern, 0.45),
    ]
      as [(String, (Int) -> HapticPattern, Double)]
    {
      for count in [1, 8, 64] {
        measurements.append(
          Measurement(
            "\(name) voices, \(count) at once",
            try measureNanoseconds(of: pattern(count), voices: count),
            "ns per voice and sample", targetValue: count == 64 ? goal : nil))
      }
    }
    let patternFrameCount = patternSeconds * 48_000
    let outputNanoseconds = try measureNanoseconds(of: silentPattern, voices: 1)
    measurements.append(
      Measurement(
        "output chain: DC blocker and limiter at rest", outputNanoseconds, "ns per sample",
        targetValue: 1.2))
    let fittedNanoseconds = try measureNanoseconds(
      of: silentPattern, voices: 1,
      routing: OutputRouting().assigningTransducers(of: [shakerProfile]))
    measurements.append(
      Measurement(
        "transducer stage: filters and protection", fittedNanoseconds - outputNanoseconds,
        "ns per sample", targetValue: 3
      ))
    let transientSeconds =
      try measureNanoseconds(of: transientPattern(count: 40_000), voices: 1) * patternFrameCount
      * 1e-9
    measurements.append(Measurement("transients", 40_000 / transientSeconds, "per second"))
    return measurements
  }

  static let shakerProfile = TransducerProfile(
    name: "shaker", summary: "", frequency: FrequencyMapping(lowHertz: 25, highHertz: 80),
    hardware: TransducerHardware(
      product: "shaker", resonanceHertz: 40, qualityFactor: 10, continuousWatts: 50))

  /// Returns a pattern of continuous events that last for the whole run.
  ///
  /// - Parameters:
  ///   - count: The number of events.
  ///   - intensity: The intensity of each event, or nil to keep their sum below the ceiling of the
  ///     limiter.
  static func continuousPattern(voiceCount count: Int, intensity: Float? = nil) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map { index in
        continuousEvent(
          Float(index) / Float(max(1, count)),
          intensity: intensity ?? 0.7 / Float(count).squareRoot())
      })
  }

  static func modulatedPattern(voiceCount count: Int) -> HapticPattern {
    var pattern = continuousPattern(voiceCount: count)
    pattern.curves = [
      zigzagCurve(.hapticIntensityControl, 1, 0.4, seconds: patternSeconds),
      zigzagCurve(.hapticSharpnessControl, 0.3, -0.3, seconds: patternSeconds),
    ]
    return pattern
  }

  static var silentPattern: HapticPattern {
    HapticPattern(events: [continuousEvent(0, intensity: 0)])
  }

  static func transientPattern(count: Int) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map {
        HapticEvent(kind: .hapticTransient, time: Double($0) * patternSeconds / Double(count))
      })
  }

  private static func continuousEvent(_ sharpness: Float, intensity: Float) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: patternSeconds,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  }

  /// Returns a control curve that changes all the time, with a point every tenth of a second.
  static func zigzagCurve(
    _ id: DynamicParameterID, _ first: Float, _ second: Float, seconds: Double
  )
    -> ParameterCurve
  {
    let curvePoints = (0...Int(seconds * 10)).map { index in
      ParameterCurve.ControlPoint(time: Double(index) / 10, value: index % 2 == 0 ? first : second)
    }
    return ParameterCurve(id: id, time: 0, controlPoints: curvePoints)
  }

  /// Returns the time per voice and sample for rendering in blocks of 512 frames, in nanoseconds.
  private static func measureNanoseconds(
    of pattern: HapticPattern, voices: Int, routing: OutputRouting = OutputRouting()
  ) throws
    -> Double
  {
    let renderPlan = try RenderPlan(compiling: pattern)
    let renderingSeconds = Stopwatch.medianSeconds {
      RegressionCheck.renderPlan(renderPlan, frameCount: Int64(patternSeconds * 48_000), routing)
    }
    return renderingSeconds * 1e9 / (patternSeconds * 48_000 * Double(voices))
  }
}

/// Measures a single call of the renderer under the conditions of a live device.
enum LiveBenchmarks {
  private static let blockFrameCount = 64
  private static let channelCount = 8
  private static let callCount = 20_000

  static func run() throws -> [Measurement] {
    let periodSeconds = Double(blockFrameCount) / 48_000
    let callPercentages = try measureCallSeconds().map { $0 / periodSeconds * 100 }.sorted()
    let conditionsText = "64 frames, 64 moving voices, 8 channels, with commands"
    return [
      Measurement(
        "\(conditionsText), median call", callPercentages[callCount / 2], "% of the period"),
      Measurement(
        "\(conditionsText), 99.9 % of calls", callPercentages[callCount * 999 / 1_000],
        "% of the period",
        targetValue: 10),
      Measurement(
        "\(conditionsText), worst call", callPercentages[callCount - 1], "% of the period"),
    ]
  }

  /// Returns the duration of each measured call of the renderer, in seconds.
  private static func measureCallSeconds() throws -> [Double] {
    let rendererPort = RendererPort(channelCount: channelCount)
    let routing = RegressionCheck.routingWithDistinctGains(channelCount: channelCount)
    var renderer = Renderer(
      rate: 48_000, settings: RenderSettings(routing: routing), port: rendererPort)
    let totalSeconds = Double(callCount * blockFrameCount) / 48_000
    let patternPlayers = try (0..<8).map { group in
      var pattern = HapticPattern(
        events: (0..<8).map { index in
          HapticEvent(
            kind: .hapticContinuous, time: 0, duration: totalSeconds,
            parameters: [.hapticIntensity: 0.09, .hapticSharpness: Float(group * 8 + index) / 64])
        })
      pattern.curves = [
        VoiceBenchmarks.zigzagCurve(.hapticSharpnessControl, 0.2, -0.2, seconds: totalSeconds)
      ]
      return RenderPlayer(plan: try RenderPlan(compiling: pattern))
    }
    _ = rendererPort.send(patternPlayers.flatMap { [.add($0), .start($0, at: 0)] })
    var outputBlock = [Float](repeating: 0, count: blockFrameCount * channelCount)
    var callSeconds: [Double] = []
    callSeconds.reserveCapacity(callCount)
    for call in 0..<callCount {
      if call % 10 == 0 {
        let player = patternPlayers[call / 10 % patternPlayers.count]
        let intensity = Double(call % 7) / 7 + 0.1
        _ = rendererPort.send([.control(player, .hapticIntensityControl, value: intensity, at: 0)])
      }
      var span = outputBlock.mutableSpan
      let began = Stopwatch.clockSeconds(CLOCK_THREAD_CPUTIME_ID)
      renderer.render(into: &span)
      callSeconds.append(Stopwatch.clockSeconds(CLOCK_THREAD_CPUTIME_ID) - began)
    }
    withExtendedLifetime(patternPlayers) {}
    return callSeconds
  }
}

/// Measures the latencies of a program that uses Core Haptics.
enum CoreHapticsBenchmarks {
  static func run() throws -> [Measurement] {
    // The null device plays no sound and does not depend on the hardware of the machine.
    unsafe setenv("TEMBLOR_OUTPUT", "alsa:null", 1)
    let tapPattern = try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.1)],
          relativeTime: 0)
      ], parameters: [])
    let firstSoundSeconds = try (0..<10).map { _ in
      try Stopwatch.measureSeconds {
        let engine = try CHHapticEngine()
        try engine.start()
        try engine.makePlayer(with: tapPattern).start(atTime: 0)
        while engine.currentTime == 0 {
          usleep(100)
        }
        engine.stop()
      }
    }
    let engine = try CHHapticEngine()
    try engine.start()
    let playerStartSeconds = try (0..<500).map { _ in
      defer { usleep(2_000) }
      return try Stopwatch.measureSeconds {
        try engine.makePlayer(with: tapPattern).start(atTime: 0)
      }
    }
    engine.stop()
    return [
      Measurement(
        "create engine, start, first block of a tap, null device",
        firstSoundSeconds.sorted()[firstSoundSeconds.count / 2] * 1_000, "ms", targetValue: 50),
      Measurement(
        "create and start player, median",
        playerStartSeconds.sorted()[playerStartSeconds.count / 2] * 1e6, "µs",
        targetValue: 50),
    ]
  }
}
