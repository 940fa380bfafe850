import HapticModel
import HapticRender
import SignalAnalysis
import TestSupport
import Testing
import TransducerProfiles

@testable import SoundTracing

/// Rooms and ducking. Neither a reflection nor a gap in a tone is a transient.
struct RoomTraceTests {
  private static func transient(
    _ time: Double, _ intensity: Float, _ sharpness: Float
  ) -> HapticEvent {
    HapticEvent(
      kind: .hapticTransient, time: time,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  }

  private static func transientTimes(in trace: SoundTrace) -> [Double] {
    trace.pattern.events.filter { $0.kind == .hapticTransient }.map(\.time)
  }

  @Test("The reflections of a room are not transients", arguments: [3, 8, 21])
  func reflections(_ seed: Int) throws {
    let times = [0.1, 0.32, 0.61, 0.87, 1.2, 1.44, 1.83]
    let events = times.enumerated().map { index, time in
      Self.transient(time, 0.8, 0.15 * Float(index % 6))
    }
    let samples = try TracingGroundTruth(HapticPattern(events: events)).sound()
    let recording = Degradation.room.applied(to: samples, rate: 8_000, seed: seed)
    let options = TracingOptions(interpretation: .vibration)
    let tracedTimes = Self.transientTimes(
      in: try SoundTrace(of: Signal(recording, rate: 8_000), options: options))
    for time in times {
      #expect(tracedTimes.contains { abs($0 - time) < TracingGroundTruth.onsetToleranceSeconds })
    }
    #expect(tracedTimes.count <= times.count + 2)
  }

  @Test("Weak transients after strong transients are not reflections without a room")
  func weakTransients() throws {
    let events = (0..<5).flatMap { index in
      let time = 0.1 + 0.3 * Double(index)
      return [Self.transient(time, 0.9, 0.6), Self.transient(time + 0.08, 0.55, 0.6)]
    }
    let samples = try TracingGroundTruth(HapticPattern(events: events)).sound()
    let trace = try SoundTrace(of: Signal(samples, rate: 8_000))
    #expect(trace.transientCount == events.count)
  }

  @Test("The response to a direct sound is estimated with its delay and gain")
  func response() {
    var generator = SplitMixGenerator(state: 5)
    let direct = (0..<4_000).map { $0 % 800 < 40 ? Float(generator.normalValue()) : 0 }
    var recording = direct
    for index in 60..<recording.count {
      recording[index] += 0.3 * direct[index - 60]
    }
    let room = RoomResponse(to: direct, in: recording, sampleRate: 2_000)
    let residual = zip(zip(recording, direct), room.reflectionSamples).map { $0.0 - $0.1 - $1 }
    let reflections = zip(recording, direct).map { $0 - $1 }
    #expect(Statistics.energy(of: residual) < 0.02 * Statistics.energy(of: reflections))
  }

  @Test("Transients that duck a continuous event are found, and at most one that does not exist")
  func ducking() throws {
    let profile = try #require(ProfileCatalog.profile(named: "speaker"))
    let times = [0.3, 0.6, 0.95]
    var events = zip(times, [Float(0.2), 0.7, 0.5]).map { Self.transient($0, 0.8, $1) }
    events.append(
      HapticEvent(
        kind: .hapticContinuous, time: 0.1, duration: 1.2,
        parameters: [.hapticIntensity: 0.7, .hapticSharpness: 0.3]))
    let samples = try TracingGroundTruth(HapticPattern(events: events)).sound(profile)
    let trace = try SoundTrace(of: Signal(samples, rate: 8_000), profile: profile)
    let tracedTimes = Self.transientTimes(in: trace)
    #expect(tracedTimes.count <= times.count + 1)
    for time in times {
      #expect(tracedTimes.contains { abs($0 - time) < TracingGroundTruth.onsetToleranceSeconds })
    }
    #expect(trace.continuousEventCount == 1)
  }
}
