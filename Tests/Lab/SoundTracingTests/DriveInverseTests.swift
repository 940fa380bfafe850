import HapticModel
import HapticRender
import SignalAnalysis
import Testing
import TransducerProfiles

@testable import SoundTracing

/// Recordings of the drive signal of equalized transducers.
struct DriveInverseTests {
  @Test("A profile without hardware has no drive filters")
  func noHardware() {
    #expect(DriveInverse(.phone) == nil)
  }

  @Test("Restored bursts of an equalized shaker are as short as synthesized bursts")
  func burstLength() throws {
    let profile = try #require(ProfileCatalog.profile(named: "dayton-bst-1"))
    let dictionary = try AtomDictionary(profile, soundRate: 8_000)
    #expect(Double(dictionary.maximumAtomSampleCount) / dictionary.sampleRate < 0.075)
  }

  @Test(
    "Overlapping transients of equalized shakers are found",
    arguments: ["dayton-bst-1", "aura-ast-2b-4"])
  func overlappingTransients(_ name: String) throws {
    let profile = try #require(ProfileCatalog.profile(named: name))
    let times = (0..<9).map { 0.1 + 0.038 * Double($0) }
    let events = times.map { time in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: 0.7, .hapticSharpness: 0.5])
    }
    let samples = try TracingGroundTruth(HapticPattern(events: events)).sound(profile)
    let trace = try SoundTrace(
      of: Signal(samples, rate: 8_000), profile: profile,
      options: TracingOptions(interpretation: .vibration))
    let tracedTimes = trace.pattern.events.filter { $0.kind == .hapticTransient }.map(\.time)
    #expect(tracedTimes.count == times.count)
    for time in times {
      #expect(tracedTimes.contains { abs($0 - time) < TracingGroundTruth.onsetToleranceSeconds })
    }
  }

  @Test("A transient on a continuous event of an equalized shaker is found")
  func transientOnTone() throws {
    let profile = try #require(ProfileCatalog.profile(named: "dayton-bst-1"))
    let times = [0.3, 0.52, 0.8]
    var events = times.map { time in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.2])
    }
    events.append(
      HapticEvent(
        kind: .hapticContinuous, time: 0.05, duration: 1.1,
        parameters: [.hapticIntensity: 0.4, .hapticSharpness: 0.2]))
    let samples = try TracingGroundTruth(HapticPattern(events: events)).sound(profile)
    let trace = try SoundTrace(
      of: Signal(samples, rate: 8_000), profile: profile,
      options: TracingOptions(interpretation: .vibration))
    let tracedTimes = trace.pattern.events.filter { $0.kind == .hapticTransient }.map(\.time)
    #expect(tracedTimes.count == times.count && trace.continuousEventCount == 1)
    for time in times {
      #expect(tracedTimes.contains { abs($0 - time) < TracingGroundTruth.onsetToleranceSeconds })
    }
  }
}
