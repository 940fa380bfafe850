import Foundation
import HapticModel
import HapticRender
import Testing
import TransducerProfiles

private let rate = 48_000.0

/// Returns a pattern with a continuous event of 1 s.
private func hum(intensity: Float = 1, sharpness: Float) -> HapticPattern {
  HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 1,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  ])
}

/// Returns a pattern with a transient.
private func tap(intensity: Float = 1, sharpness: Float) -> HapticPattern {
  HapticPattern(events: [
    HapticEvent(
      kind: .hapticTransient, time: 0,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
  ])
}

private func plan(_ pattern: HapticPattern, _ name: String) throws -> RenderPlan {
  let profile = try #require(ProfileCatalog.profile(named: name))
  return try RenderPlan(compiling: pattern, profile: profile, rate: rate)
}

private func render(_ pattern: HapticPattern, _ name: String) throws -> [Float] {
  var rendering = OfflineRenderer(plan: try plan(pattern, name))
  return rendering.samples()
}

/// Returns the amplitude of a frequency within the middle half second, which contains complete
/// cycles if the frequency is an even number of hertz.
private func amplitude(of samples: [Float], hertz: Double) -> Double {
  var sine = 0.0
  var cosine = 0.0
  for index in 12_000..<36_000 {
    let phase = 2 * Double.pi * hertz * Double(index) / rate
    sine += Double(samples[index]) * sin(phase)
    cosine += Double(samples[index]) * cos(phase)
  }
  return (sine * sine + cosine * cosine).squareRoot() / 12_000
}

/// Returns the frequency, from the first and the last rising zero crossing of the middle half
/// second.
private func frequency(of samples: [Float]) -> Double {
  var crossings: [Double] = []
  for index in 12_000..<36_000 where samples[index] < 0 && samples[index + 1] >= 0 {
    crossings.append(Double(index) + Double(samples[index] / (samples[index] - samples[index + 1])))
  }
  guard let first = crossings.first, let last = crossings.last, last > first else { return 0 }
  return Double(crossings.count - 1) * rate / (last - first)
}

private func peak(_ samples: [Float]) -> Double { Double(samples.map(abs).max() ?? 0) }

@Suite struct ShippedSoundTests {
  @Test(arguments: [
    ("mpeg", 182.5, 0.6138), ("meta-quest", 127.5, 0.5), ("phone", 135.6466, 0.44),
    ("android", 155, 0.3658),
    ("buttkicker-lfe", 44.7214, 0.44),
  ]) func middleSharpnessHasThePublishedFrequencyAndLevel(
    name: String, hertz: Double, level: Double
  ) throws {
    let samples = try render(hum(sharpness: 0.5), name)
    #expect(abs(frequency(of: samples) / hertz - 1) < 1e-4)
    #expect(abs(peak(Array(samples[12_000..<36_000])) / level - 1) < 0.01)
  }

  /// The taps of every shipped profile with an equalizer, played on a transducer with exactly the
  /// values of the profile.
  @Test func equalizedTapsAreNotWeakerThanUnequalizedTaps() throws {
    var equalizedProfileCount = 0
    for name in ProfileCatalog.names {
      let profile = try #require(ProfileCatalog.profile(named: name))
      guard let settings = profile.transducerSettings(rate: rate), settings.equalizer != nil,
        let model = settings.protectionModel
      else { continue }
      equalizedProfileCount += 1
      var profileWithoutEqualizer = profile
      profileWithoutEqualizer.driveSettings = DriveSettings(
        limitsToUsableBand: false, isEqualized: false, hasEqualSensation: false)
      func peakAcceleration(_ profile: TransducerProfile) throws -> Double {
        let plan = try RenderPlan(compiling: tap(sharpness: 0.5), profile: profile, rate: rate)
        var rendering = OfflineRenderer(
          plan: plan,
          settings: RenderSettings(routing: OutputRouting().assigningTransducers(of: [profile])))
        let drive = rendering.samples()
        var simulation = TransducerSimulation(model, rate: rate)
        return drive.map { abs(Double(simulation.nextAcceleration(drive: $0))) }.max() ?? 0
      }
      let equalizedPeak = try peakAcceleration(profile)
      let barePeak = try peakAcceleration(profileWithoutEqualizer)
      #expect(equalizedPeak >= barePeak, "\(name): \(20 * log10(equalizedPeak / barePeak)) dB")
    }
    #expect(equalizedProfileCount > 10)
  }

  @Test func allTransientsOfMPEGAreEqual() throws {
    let dullTransient = try render(tap(sharpness: 0), "mpeg")
    #expect(try render(tap(sharpness: 1), "mpeg") == dullTransient)
    #expect(try plan(tap(sharpness: 0), "mpeg").soundEndFrame == 1_056)
    #expect(abs(peak(dullTransient) / 0.792 - 1) < 0.05)
  }

  @Test(arguments: [(0, 1_747), (0.5, 1_164), (1, 581)] as [(Float, Int64)])
  func transientsOfMetaQuestShortenLinearly(
    sharpness: Float, frameCount: Int64
  ) throws {
    #expect(try plan(tap(sharpness: sharpness), "meta-quest").soundEndFrame == frameCount)
  }

  @Test func pulsarPlaysThreePartials() throws {
    let samples = try render(hum(sharpness: 0.8), "pulsar")
    // The base frequency is 80 + 150 · 0.8 = 200 Hz.
    for (hertz, level) in [(160.0, 0.3), (80, 0.08105), (240, 0.009), (200, 0.25)] {
      #expect(abs(amplitude(of: samples, hertz: hertz) / level - 1) < 0.02, "\(hertz) Hz")
    }
  }

  @Test func transientsOfPulsarHaveTheirLongestPartialAndAFloor() throws {
    #expect(try plan(tap(sharpness: 0.5), "pulsar").soundEndFrame == 1_104)
    let weakPeak = peak(try render(tap(intensity: 0.001, sharpness: 0.5), "pulsar"))
    let strongPeak = peak(try render(tap(intensity: 1, sharpness: 0.5), "pulsar"))
    #expect(abs(weakPeak / strongPeak - 0.1009) < 0.001)
  }

  @Test func androidSpacesIntensityEvenlyAboveThreshold() throws {
    let fullPeak = peak(try render(hum(sharpness: 1), "android"))
    #expect(abs(fullPeak - 0.44) < 0.01)
    let halfIntensityPeak = peak(try render(hum(intensity: 0.5, sharpness: 1), "android"))
    #expect(abs(20 * log10(halfIntensityPeak / fullPeak) + 14.88) < 0.01)
    // The perception threshold is −31.77 dB at 80 Hz, and −29.74 dB at 230 Hz.
    let lowFrequencyPeak = peak(try render(hum(sharpness: 0), "android"))
    #expect(abs(20 * log10(lowFrequencyPeak / fullPeak) + 2.03) < 0.3)
  }

  @Test(arguments: [0, 0.25, 0.5, 0.75, 1] as [Float]) func singleEventOfSpeakerLeavesHeadroom(
    sharpness: Float
  ) throws {
    #expect(peak(try render(hum(sharpness: sharpness), "speaker")) <= 0.53)
    #expect(peak(try render(tap(sharpness: sharpness), "speaker")) <= 0.83)
  }

  @Test func speakerUsesFrequenciesOfSmallSpeakers() throws {
    let samples = try render(hum(sharpness: 0), "speaker")
    #expect(abs(amplitude(of: samples, hertz: 200) / 0.252 - 1) < 0.01)
    #expect(abs(amplitude(of: samples, hertz: 400) / 0.168 - 1) < 0.01)
    #expect(abs(amplitude(of: samples, hertz: 600) / 0.105 - 1) < 0.01)
  }

  /// After the filters for the hardware and before the limiter, the peak is at most twice the level
  /// of 0.44.
  @Test(arguments: ProfileCatalog.names) func singleEventIsBelowTheCeilingAtAnySharpness(
    name: String
  ) throws {
    let profile = try #require(ProfileCatalog.profile(named: name))
    guard profile.hardware != nil else { return }
    let routing = OutputRouting().assigningTransducers(of: [profile])
    for step in 0...8 {
      let sharpness = Float(step) / 8
      for pattern in [hum(sharpness: sharpness), tap(sharpness: sharpness)] {
        let plan = try RenderPlan(compiling: pattern, profile: profile, rate: 8_000)
        var rendering = OfflineRenderer(plan: plan, settings: RenderSettings(routing: routing))
        var block = [Float](repeating: 0, count: 4_096)
        var span = block.mutableSpan
        while rendering.read(into: &span) > 0 {}
        #expect(rendering.statistics.peakMagnitudeBeforeLimiter < 0.8833, "\(step)")
        #expect(rendering.statistics.limitedFrameCount == 0, "\(step)")
      }
    }
  }

  @Test(arguments: ProfileCatalog.names) func singleEventsAreAudibleBelowTheCeiling(
    name: String
  ) throws {
    for pattern in [hum(sharpness: 0.3), tap(sharpness: 0.3), tap(sharpness: 1)] {
      let samples = try render(pattern, name)
      #expect((0.1...0.89).contains(peak(samples)))
    }
  }
}
