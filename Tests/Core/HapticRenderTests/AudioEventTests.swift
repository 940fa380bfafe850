import Glibc
import HapticModel
import Testing

@testable import HapticRender

@Suite struct AudioEventTests {
  private func tone(_ parameters: EventParameters = [:], duration: Double = 0.5) -> HapticEvent {
    HapticEvent(kind: .audioContinuous, time: 0, duration: duration, parameters: parameters)
  }

  private func file(
    _ duration: Double? = nil, _ parameters: EventParameters = [:], envelope: Bool = false,
    loop: Bool = false
  ) -> HapticPattern {
    HapticPattern(events: [
      HapticEvent(
        kind: .audioCustom, time: 0, duration: duration, parameters: parameters,
        waveform: AudioWaveform(path: "a", usesVolumeEnvelope: envelope, isLooping: loop))
    ])
  }

  /// A quarter second at 8 kHz that begins and ends at full level.
  private let cosine = (0..<2_000).map {
    Float(0.5 * cos(2 * Double.pi * 200 * Double($0) / 8_000))
  }

  private func played(_ pattern: HapticPattern, settings: RenderSettings = RenderSettings()) throws
    -> [Float]
  {
    try render(
      pattern, rate: 8_000, samples: ["a": AudioBuffer(interleaved: cosine, channelCount: 1)],
      settings: settings)
  }

  @Test(arguments: [-1, -0.5, 0, 0.3, 1]) func aTonesPitchIsInOctaves(pitch: Float) throws {
    let samples = try render(
      HapticPattern(events: [tone([.audioPitch: pitch, .audioBrightness: 0])]))
    let measured = frequency(of: samples, rate: 48_000, from: 0.1, to: 0.4)
    #expect(abs(measured / (460 * pow(2, Double(pitch))) - 1) < 1e-4)
  }

  @Test(arguments: [0, 0.5, 1]) func brightnessAddsHarmonics(brightness: Float) throws {
    let samples = try render(HapticPattern(events: [tone([.audioBrightness: brightness])]))
    for harmonic in 1...5 {
      let expected =
        harmonic > 4 ? 0 : 0.5 * pow(Double(brightness), Double(harmonic - 1)) / Double(harmonic)
      let measured = amplitude(
        of: samples[4_800..<14_400], hertz: 460 * Double(harmonic), rate: 48_000)
      #expect(abs(measured - expected) < 0.001)
    }
  }

  @Test(arguments: [0, 0.25, 1]) func volumeIsAFactor(volume: Float) throws {
    let samples = try render(
      HapticPattern(events: [tone([.audioVolume: volume, .audioBrightness: 0])]))
    #expect(abs(peak(samples) - 0.5 * volume) < 0.001)
  }

  @Test(arguments: [-1, -0.5, 0, 0.5, 1]) func panBalancesTwoChannelsAndDoesNotChangeMono(
    pan: Float
  )
    throws
  {
    let centered = try render(HapticPattern(events: [tone()]), rate: 8_000)
    let pattern = HapticPattern(events: [tone([.audioPan: pan])])
    #expect(try render(pattern, rate: 8_000) == centered)
    let stereo = try render(pattern, rate: 8_000, settings: RenderSettings(channelCount: 2))
    for (channel, gain) in [(0, min(1, 1 - pan)), (1, min(1, 1 + pan))] {
      let channelSamples = stride(from: channel, to: stereo.count, by: 2).map { stereo[$0] }
      #expect(maximumDifference(channelSamples, centered.map { $0 * gain }) < 1e-6)
    }
  }

  @Test func channelsBeyondTwoCarryOnlyHaptics() throws {
    let pattern = HapticPattern(events: [tone([.audioPan: -1]), humEvent(0, 0.5)])
    let fourChannels = try render(pattern, rate: 8_000, settings: RenderSettings(channelCount: 4))
    let haptics = try render(HapticPattern(events: [humEvent(0, 0.5)]), rate: 8_000)
    for channel in [1, 2, 3] {
      let channelSamples = stride(from: channel, to: fourChannels.count, by: 4).map {
        fourChannels[$0]
      }
      #expect(channelSamples == haptics)
    }
  }

  @Test func hapticsAndAudioAddUpToTheMix() throws {
    let pattern = HapticPattern(events: [
      tone([.audioVolume: 0.4]), humEvent(0, 0.5, intensity: 0.5), tapEvent(0.2, intensity: 0.5),
    ])
    let mix = try render(pattern, rate: 8_000)
    let haptics = try render(pattern, rate: 8_000, settings: RenderSettings(buses: .haptics))
    let audio = try render(pattern, rate: 8_000, settings: RenderSettings(buses: .audio))
    #expect(maximumDifference(mix, zip(haptics, audio).map { $0 + $1 }) < 1e-6)
    #expect(maximumDifference(haptics, audio) > 0.1)
  }

  @Test func hapticControlsDoNotChangeAudio() throws {
    let pattern = HapticPattern(events: [tone()])
    var controlled = pattern
    for id in DynamicParameterID.allCases where id.rawValue.hasPrefix("Haptic") {
      controlled.parameters.append(controlStep(id, 0.3, at: 0.1))
    }
    #expect(try render(controlled, rate: 8_000) == render(pattern, rate: 8_000))
  }

  @Test func volumeAndPitchFollowTheirControls() throws {
    let pattern = HapticPattern(
      events: [tone([.audioBrightness: 0], duration: 1)],
      parameters: [
        controlStep(.audioVolumeControl, 0.5, at: 0.5), controlStep(.audioPitchControl, 1, at: 0.5),
      ])
    let samples = try render(pattern)
    #expect(abs(peak(samples[..<23_000]) - 0.5) < 0.001)
    #expect(abs(peak(samples[24_200...]) - 0.25) < 0.001)
    #expect(abs(frequency(of: samples, rate: 48_000, from: 0.55, to: 0.95) - 920) < 0.1)
  }

  @Test func aFileAtItsOwnRateIsUnchanged() throws {
    let samples = try played(file())
    var blocker = DCBlocker(rate: 8_000)
    let blocked = cosine.map { blocker.process($0) }
    #expect(samples.count == 2_000)
    #expect(samples.dropLast(1) == blocked.dropLast(1)[...])
  }

  @Test func theVolumeEnvelopeRampsBothEnds() throws {
    for duration in [nil, 0.1, 0.9] {
      let samples = try played(file(duration, envelope: true))
      #expect(samples[0] == 0)
      // The maximum slope of the cosine, plus that of a ramp of 1 ms.
      #expect(maximumStep(samples) < 0.5 * 2 * Float.pi * 200 / 8_000 + 0.5 / 8)
    }
  }

  @Test func shorterDurationCutsAndLongerDurationPads() throws {
    let expected = try played(file(envelope: true))
    let shortened = try played(file(0.1, envelope: true))
    #expect(shortened.count == 808)
    #expect(shortened[..<800] == expected[..<800])
    let padded = try played(file(1, envelope: true))
    #expect(padded.count == 8_000)
    #expect(padded[..<2_000] == expected[..<2_000])
    #expect(peak(padded[2_000...]) < 0.01)
  }

  @Test func aLoopedFileRepeatsForTheDuration() throws {
    let samples = try played(file(1, loop: true))
    #expect(samples.count == 8_008)
    #expect(maximumDifference(samples[2_000..<4_000], samples[4_000..<6_000]) < 0.001)
    // The file is whole cycles, so its seam has no step.
    #expect(maximumStep(samples) < 0.5 * 2 * Float.pi * 200 / 8_000 * 1.01)
  }

  @Test(arguments: [-1, -0.5, 0.3, 1]) func loopedFileIsInterpolatedAcrossItsSeam(
    pitch: Float
  ) throws {
    // Not a whole number of cycles, so that every seam is a step.
    let loopSamples = (0..<13).map { Float(0.4 * sin(Double($0) * 0.37) - 0.2) }
    let samples = try render(
      file(1, [.audioPitch: pitch], loop: true), rate: 8_000,
      samples: ["a": AudioBuffer(interleaved: loopSamples, channelCount: 1)])
    let speed = pow(2, Double(pitch))
    var expected = (0..<8_000).map { frame in
      let position = (Double(frame) * speed).truncatingRemainder(dividingBy: 13)
      let index = Int(position)
      let fraction = Float(position - position.rounded(.down))
      return loopSamples[index] + (loopSamples[(index + 1) % 13] - loopSamples[index]) * fraction
    }
    var blocker = DCBlocker(rate: 8_000)
    // The first millisecond rises.
    for frame in 0..<8 {
      expected[frame] *= Float(frame) / 8
    }
    for frame in 0..<8_000 {
      expected[frame] = blocker.process(expected[frame])
    }
    #expect(maximumDifference(samples[..<8_000], expected[...]) < 2e-3)
  }

  @Test(arguments: [-1, -0.5, 0.5, 1]) func pitchIsTheSpeedOfAFileThatStillEnds(pitch: Float) throws
  {
    let ratio = pow(2, Double(pitch))
    let samples = try played(file(nil, [.audioPitch: pitch], envelope: true))
    try #require(samples.count == Int((2_000 / ratio).rounded(.up)) + 8)
    let end = 0.25 / ratio
    let measured = frequency(of: samples, rate: 8_000, from: 0.02, to: end - 0.02)
    #expect(abs(measured / (200 * ratio) - 1) < 0.002)
    #expect(peak(samples[Int((end - 0.01) * 8_000)...]) > 0.4)
    #expect(maximumStep(samples) < Float(0.5 * 2 * Double.pi * 200 * ratio / 8_000) + 0.5 / 4)
  }

  @Test func darkerFilesLoseTheirTreble() throws {
    let levels = try ([0, 0.2, 0.4, 1] as [Float]).map { brightness in
      let samples = try played(file(nil, [.audioBrightness: brightness]))
      return amplitude(of: samples[800..<1_600], hertz: 200, rate: 8_000)
    }
    for (darker, brighter) in zip(levels, levels.dropFirst()) {
      #expect(darker < brighter)
    }
    #expect(abs(levels[0] - 0.35) < 0.05)
  }

  @Test func twoChannelFilesKeepTheirSides() throws {
    let audioBuffer = AudioBuffer(interleaved: cosine.flatMap { [$0, 0, 0.7] }, channelCount: 3)
    #expect(audioBuffer.channelCount == 2)
    let samples = try render(
      file(), rate: 8_000, samples: ["a": audioBuffer], settings: RenderSettings(channelCount: 2))
    #expect(peak(stride(from: 0, to: samples.count, by: 2).map { samples[$0] }) > 0.49)
    #expect(peak(stride(from: 1, to: samples.count, by: 2).map { samples[$0] }) == 0)
  }

  @Test func emptyAndNonFiniteFilesAreSilent() throws {
    for interleaved in [[], [Float.nan], [.infinity, .nan, -.infinity]] as [[Float]] {
      for loop in [false, true] {
        let samples = try render(
          file(0.1, loop: loop), rate: 8_000,
          samples: ["a": AudioBuffer(interleaved: interleaved, channelCount: 1)])
        #expect(samples.allSatisfy { $0 == 0 })
      }
    }
  }
}
