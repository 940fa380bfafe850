import CoreHaptics
import Glibc
import HapticModel
import HapticRender

/// The cost of one call of the renderer as a live device makes it.
enum LiveBenchmarks {
  private static let frameCount = 64
  private static let channelCount = 8
  private static let callCount = 20_000

  static func run() throws -> [Measurement] {
    let period = Double(frameCount) / 48_000
    var shares = try calls().map { $0 / period * 100 }
    shares.sort()
    let name = "64 frames, 64 moving voices, 8 channels, with commands"
    return [
      Measurement(name: "\(name), median call", value: shares[callCount / 2], unit: "% of the period"),
      Measurement(
        name: "\(name), 99.9 % of calls", value: shares[callCount * 999 / 1_000], unit: "% of the period", goal: 10),
      Measurement(name: "\(name), worst call", value: shares[callCount - 1], unit: "% of the period"),
    ]
  }

  private static func threadSeconds() -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Seconds of each call.
  private static func calls() throws -> [Double] {
    let link = RendererPort(channelCount: channelCount)
    let routing = OutputRouting(
      channels: (0..<channelCount).map { .init(hapticBus: 0, hapticGain: 1 - Float($0) / 20) })
    var renderer = Renderer(rate: 48_000, settings: RenderSettings(routing: routing), link: link)
    let seconds = Double(callCount * frameCount) / 48_000
    let corners = (0...Int(seconds * 10)).map { Double($0) / 10 }
    let players = try (0..<8).map { group in
      var pattern = HapticPattern(
        events: (0..<8).map { index in
          HapticEvent(
            kind: .hapticContinuous, time: 0, duration: seconds,
            parameters: [.hapticIntensity: 0.09, .hapticSharpness: Float(group * 8 + index) / 64])
        })
      pattern.curves = [
        ParameterCurve(
          id: .hapticSharpnessControl, time: 0,
          controlPoints: corners.enumerated().map { .init(time: $1, value: $0 % 2 == 0 ? 0.2 : -0.2) })
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
      // The thread's own time: what other programs take is not the renderer's.
      let began = threadSeconds()
      renderer.render(into: &span)
      times.append(threadSeconds() - began)
    }
    withExtendedLifetime(players) {}
    return times
  }
}

/// What a program that uses Core Haptics waits for.
enum CoreHapticsBenchmarks {
  static func run() throws -> [Measurement] {
    // Nothing is heard, and nothing else of the environment counts.
    unsafe setenv("TEMBLOR_OUTPUT", "alsa:null", 1)
    let tap = try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient, parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.1)],
          relativeTime: 0)
      ], parameters: [])
    let clock = ContinuousClock()
    var firsts: [Double] = []
    for _ in 0..<10 {
      let time = try clock.measure {
        let engine = try CHHapticEngine()
        try engine.start()
        try engine.makePlayer(with: tap).start(atTime: 0)
        while engine.currentTime == 0 { usleep(100) }
        engine.stop()
      }
      firsts.append(seconds(time))
    }
    let engine = try CHHapticEngine()
    try engine.start()
    var plays: [Double] = []
    for _ in 0..<500 {
      let time = try clock.measure { try engine.makePlayer(with: tap).start(atTime: 0) }
      plays.append(seconds(time))
      usleep(2_000)
    }
    engine.stop()
    return [
      Measurement(
        name: "engine made, started, first block of a tap, null device",
        value: firsts.sorted()[firsts.count / 2] * 1_000, unit: "ms", goal: 50),
      Measurement(
        name: "player made and started, median", value: plays.sorted()[plays.count / 2] * 1e6, unit: "µs", goal: 50),
    ]
  }

  private static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }
}
