import CoreHaptics
import Glibc

/// What a program that uses Core Haptics waits for.
enum CoreHapticsBenchmarks {
  static func run() throws -> [Measurement] {
    // Nothing is heard, and nothing else of the environment counts.
    unsafe setenv("TEMBLOR_OUTPUT", "alsa:null", 1)
    let tap = try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.1)],
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
        name: "player made and started, median", value: plays.sorted()[plays.count / 2] * 1e6,
        unit: "µs", goal: 50),
    ]
  }

  private static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }
}
