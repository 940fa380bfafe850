import Glibc
import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

@Suite struct TransientTests {
  /// Returns the samples of a burst from its onset, before the output chain.
  private func burst(_ event: HapticEvent, rate: Double = 48_000, controls: [DynamicParameter] = [])
    throws -> [Float]
  {
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [event], parameters: controls), rate: rate)
    guard plan.plannedVoiceCount > 0 else { return [] }
    let plannedVoice = plan.planView.value.voices[0]
    var voice = Voice(
      plannedVoiceIndex: 0, plannedVoice, passOriginFrame: 0,
      onsetOutputFrame: plannedVoice.onsetFrame,
      envelope: plannedVoice.envelope, cursors: plan.planView.value.layerTracks[0].hapticCursors)
    let player = RenderPlayer(plan: plan)
    let context = player.playerCell.value.voiceContext(isStereo: true)
    var bus = [Float](repeating: 0, count: Int(plannedVoice.envelope.endFrame) + 1)
    var span = bus.mutableSpan
    while voice.nextFrameToMix < plannedVoice.envelope.endFrame {
      voice.beginSegment(plannedVoice, in: context)
      let count = Int(voice.segmentEndFrame - voice.nextFrameToMix)
      voice.sine.add(
        level: voice.leftLevel, first: 0, to: &span,
        at: Int(voice.nextFrameToMix)..<Int(voice.segmentEndFrame))
      voice.sine.advance(by: count)
      voice.nextFrameToMix = voice.segmentEndFrame
    }
    return bus
  }

  static let sharpnesses: [Float] = [0, 0.25, 0.5, 0.75, 1]

  @Test(arguments: [8_000, 48_000, 192_000], sharpnesses)
  func burstIsShortWithoutMeanAndStartsAndEndsAtZero(
    rate: Double, sharpness: Float
  ) throws {
    let samples = try burst(tapEvent(sharpness: sharpness), rate: rate)
    let seconds = Double(samples.count - 1) / rate
    #expect(seconds >= 0.008 && seconds <= 0.040)
    #expect(samples.first == 0)
    #expect(samples.last == 0)
    let mean = samples.reduce(0.0) { $0 + Double($1) } / Double(samples.count)
    #expect(abs(mean) < 1e-6)
    let expectedHertz = TransducerProfile.phone.frequency.hertz(atSharpness: Double(sharpness))
    #expect(abs(seconds * expectedHertz - 2) < 2 * expectedHertz / rate)
  }

  @Test(arguments: sharpnesses, [0.05, 0.3, 0.7, 1] as [Float]) func thePeakIsTheSquareOfIntensity(
    sharpness: Float, intensity: Float
  ) throws {
    let samples = try render(
      HapticPattern(events: [tapEvent(0.01, intensity: intensity, sharpness: sharpness)]))
    #expect(abs(decibels(Double(peak(samples)), Double(0.44 * intensity * intensity))) < 0.05)
  }

  @Test("The energy of a burst is that of its envelope")
  func energyOfTheEnvelope() {
    var shape = TransientShape(
      frequency: FrequencyMapping(lowHertz: 80, highHertz: 230), fullIntensityAmplitude: 1)
    // Each eighth has a third of its energy.
    #expect(
      abs(shape.squaredEnvelopeIntegral(burstSeconds: 0.03) - 0.03 * (0.75 + 0.25 / 3)) < 1e-12)
    shape.attackSeconds = 0.001
    shape.releaseSeconds = 0.020
    #expect(abs(shape.squaredEnvelopeIntegral(burstSeconds: 0.03) - (0.009 + 0.021 / 3)) < 1e-12)
    shape.releaseSeconds = 1
    shape.partials = [
      .init(amplitudeToBurstRatio: 0.5),
      .init(amplitudeToBurstRatio: 0.5, durationToBurstRatio: 0.5),
    ]
    let partialEnergy = 0.25 * 0.03 / 3
    #expect(abs(shape.squaredEnvelopeIntegral(burstSeconds: 0.03) - 1.5 * partialEnergy) < 1e-12)
  }

  @Test func aGlideEndsBelowHalfTheRate() throws {
    var profile = TransducerProfile(
      name: "x", summary: "x", frequency: FrequencyMapping(lowHertz: 20, highHertz: 20_000))
    profile.transient.durationRule = .seconds(low: 0.001, high: 0.001)
    profile.transient.partials = [.init(endToStartFrequencyRatio: 100)]
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [tapEvent(sharpness: 1)]), profile: profile)
    let voice = plan.planView.value.voices[0]
    var sine = voice.initialSine
    sine.advance(by: Int(voice.envelope.endFrame))
    #expect(abs(Double(sine.phaseIncrement) / 4_294_967_296 - 0.45) < 1e-6)
  }

  @Test(arguments: [0, 1] as [Float], [0.5, 1]) func squarenessIsAMixOfSineAndSquare(
    sharpness: Float, squareness: Double
  ) throws {
    var profile = TransducerProfile.phone
    profile.transient.fullIntensityAmplitude = 0.3
    profile.transient.squareWaveFractions = squareness...squareness
    let samples = try render(
      HapticPattern(events: [tapEvent(sharpness: sharpness)]), profile: profile)
    let hertz = profile.frequency.hertz(atSharpness: Double(sharpness))
    let length = Int((2 / hertz * 48_000).rounded())
    let eighth = Double((length + 4) / 8)
    // The Fourier series of a square wave, rising in the middle of the burst.
    var maximumError = 0.0
    var blocker = DCBlocker(rate: 48_000)
    for frame in 0..<length {
      let phase = 2 * Double.pi * hertz * (Double(frame) - Double(length) / 2) / 48_000
      var square = 0.0
      for harmonic in stride(from: 1.0, through: 15, by: 2) {
        square += 4 / Double.pi * sin(harmonic * phase) / harmonic
      }
      let envelope = min(1, Double(frame) / eighth, Double(length - frame) / eighth)
      let unfiltered = 0.3 * envelope * (squareness * square + (1 - squareness) * sin(phase))
      let expected = Double(blocker.process(Float(unfiltered)))
      maximumError = max(maximumError, abs(Double(samples[frame]) - expected))
    }
    #expect(maximumError < 0.006)
  }

  @Test func energyGrowsWithIntensity() throws {
    let energies = try stride(from: Float(0), through: 1, by: 0.05).map { intensity in
      try burst(tapEvent(intensity: intensity)).reduce(0.0) { $0 + Double($1 * $1) }
    }
    for (lower, higher) in zip(energies, energies.dropFirst()) {
      #expect(lower < higher)
    }
    #expect(energies[0] == 0)
  }

  @Test func theCentroidGrowsWithSharpness() throws {
    let centroids = try stride(from: Float(0), through: 1, by: 0.1).map { sharpness in
      let samples = try burst(tapEvent(sharpness: sharpness), rate: 8_000)
      var powerSum = 0.0
      var weightedSum = 0.0
      for hertz in stride(from: 10.0, to: 1_500, by: 10) {
        let power =
          pow(amplitude(of: samples[...], hertz: hertz, rate: 8_000), 2)
          * pow(Double(samples.count), 2)
        powerSum += power
        weightedSum += power * hertz
      }
      return weightedSum / powerSum
    }
    for (lower, higher) in zip(centroids, centroids.dropFirst()) {
      #expect(lower + 3 < higher)
    }
  }

  @Test func burstUsesTheControlValuesAtItsOnset() throws {
    let controlledPattern = HapticPattern(
      events: [tapEvent(0.5, intensity: 0.8, sharpness: 0.5)],
      curves: [
        curve(.hapticIntensityControl, [(0, 1), (1, 0)]),
        curve(.hapticSharpnessControl, [(0, -0.5), (1, 0.5)]),
      ])
    let constantPattern = HapticPattern(events: [tapEvent(0.5, intensity: 0.4, sharpness: 0.5)])
    #expect(maximumDifference(try render(controlledPattern), try render(constantPattern)) < 1e-6)
  }

  @Test func stepAtTheOnsetActsAndLaterStepDoesNot() throws {
    let event = tapEvent(0.5, intensity: 0.8)
    let uncontrolled = try burst(event)
    let halved = try burst(event, controls: [controlStep(.hapticIntensityControl, 0.5, at: 0.5)])
    #expect(abs(peak(halved) / peak(uncontrolled) - 0.25) < 1e-6)
    #expect(
      try burst(event, controls: [controlStep(.hapticIntensityControl, 0.5, at: 0.500_02)])
        == uncontrolled
    )
  }

  @Test func attackAndReleaseDoNotChangeABurst() throws {
    var tapWithTimes = tapEvent(0.1)
    tapWithTimes.parameters[.attackTime] = 0.9
    tapWithTimes.parameters[.decayTime] = 0.9
    tapWithTimes.parameters[.releaseTime] = 0.9
    tapWithTimes.parameters[.sustained] = 0
    #expect(try burst(tapWithTimes) == burst(tapEvent(0.1)))
  }

  @Test func aBurstIsNoSteeperThanItsSine() throws {
    let samples = try render(HapticPattern(events: [tapEvent(0.1, sharpness: 1)]))
    #expect(maximumStep(samples) < 0.44 * 2 * Float.pi * 230 / 48_000 * 1.001)
  }
}
