import Glibc
import Testing

@testable import HapticRender

struct TransducerSettingsTests {
  /// Returns a transducer with a resonance of 40 Hz and frequencies of 25 to 80 Hz by default.
  private func profile(
    resonance: Double? = 40, qualityFactor: Double? = 10, low: Double = 25,
    drive: DriveSettings = DriveSettings()
  ) -> TransducerProfile {
    TransducerProfile(
      name: "test", summary: "", frequency: FrequencyMapping(lowHertz: low, highHertz: 80),
      hardware: TransducerHardware(
        product: "test", resonanceHertz: resonance, qualityFactor: qualityFactor,
        uncertainty: TransducerUncertainty.exact),
      driveSettings: drive)
  }

  @Test func profileWithoutHardwareHasNoSettings() {
    #expect(TransducerProfile.phone.transducerSettings(rate: 48_000) == nil)
  }

  @Test func hardwareWithoutQualityFactorHasOnlyAHighPass() throws {
    let settings = try #require(profile(qualityFactor: nil).transducerSettings(rate: 48_000))
    #expect(settings.highPassHertz == 12.5)
    #expect(settings.equalizer == nil && settings.protectionModel == nil)
    #expect(
      settings.limits.excursionLimitToFullScaleRatio == nil
        && settings.limits.fullScaleToContinuousPowerRatio == nil)
    #expect(abs(settings.driveResponse(atHertz: 500) - 1) < 1e-4)
  }

  @Test("The frequency response of the drive has its magnitude, and the phase of its filters")
  func driveFrequencyResponse() throws {
    let settings = try #require(profile().transducerSettings(rate: 48_000))
    for hertz in [10.0, 25, 40, 80, 300] {
      let response = settings.driveFrequencyResponse(atHertz: hertz)
      let magnitude = (response * response).sum().squareRoot()
      #expect(abs(magnitude / settings.driveResponse(atHertz: hertz) - 1) < 1e-9)
    }
    // A high-pass of second order is a quarter period ahead at its corner.
    let highPass = try #require(profile(qualityFactor: nil).transducerSettings(rate: 48_000))
    let corner = highPass.driveFrequencyResponse(atHertz: highPass.highPassHertz)
    #expect(abs(corner.x) < 1e-3 && abs(corner.y - 0.5.squareRoot()) < 1e-3)
  }

  @Test func settingsCanTurnTheEqualizerOff() throws {
    let driveSettings = DriveSettings(isEqualized: false, highPassHertz: 5)
    let settings = try #require(profile(drive: driveSettings).transducerSettings(rate: 48_000))
    #expect(settings.equalizer == nil && settings.protectionModel != nil)
    #expect(settings.highPassHertz == 5)
  }

  @Test func equalizedTransducerEqualsTheTargetModel() throws {
    let settings = try #require(profile().transducerSettings(rate: 48_000))
    let design = try #require(settings.equalizer)
    #expect(design.targetModel.qualityFactor == 2)
    #expect(abs(design.targetModel.resonanceHertz - 40 / raised(2, to: 0.5)) < 0.1)
    for hertz in [20.0, 25, 30, 40, 60, 80, 200] {
      let drive = design.filter(rate: 48_000).magnitude(atHertz: hertz, rate: 48_000)
      let acceleration =
        drive * design.canceledModel.accelerationMagnitude(atHertz: hertz)
        * design.canceledModel.qualityFactor
      let targetAcceleration =
        design.highFrequencyGain * design.targetModel.accelerationMagnitude(atHertz: hertz)
        * design.targetModel.qualityFactor
      #expect(abs(decibels(acceleration, targetAcceleration)) < 0.02)
    }
  }

  @Test(arguments: [8_000.0, 48_000, 192_000]) func driveResponseStaysBelowTheMaximumBoost(
    rate: Double
  )
    throws
  {
    for resonance in [20.0, 40, 65, 175, 320] {
      for qualityFactor in [0.5, 3, 40] {
        for damping in [1.0, 5, 20] {
          for boost in [0.0, 6, 12] {
            let driveSettings = DriveSettings(maximumBoostDecibels: boost, dampingFactor: damping)
            let profile = profile(
              resonance: resonance, qualityFactor: qualityFactor, drive: driveSettings)
            let settings = try #require(profile.transducerSettings(rate: rate))
            let maximumResponse = (0...300).map {
              settings.driveResponse(atHertz: raised(rate / 2, to: Double($0) / 300))
            }
            .max()
            #expect(decibels(maximumResponse ?? 0, 1) < boost + 0.001)
            #expect(settings.driveResponse(atHertz: resonance) < 1.000_001)
          }
        }
      }
    }
  }

  @Test func powerIsRelativeToTheContinuousPower() {
    func power(_ continuous: Double?, _ peak: Double?, amplifier: Double? = nil) -> Double? {
      let hardware = TransducerHardware(product: "", continuousWatts: continuous, peakWatts: peak)
      return TransducerLimits(hardware, amplifier: AmplifierParameters(fullScaleWatts: amplifier))
        .fullScaleToContinuousPowerRatio
    }
    #expect(power(50, nil) == 2)
    #expect(power(nil, 100) == 2)
    #expect(power(20, 100) == 5)
    #expect(power(20, 100, amplifier: 10) == 0.5)
    #expect(power(nil, nil, amplifier: 10) == nil)
  }

  @Test func excursionLimitFollowsPeakPowerUnlessMeasured() throws {
    var hardware = TransducerHardware(
      product: "", bandHertz: 60...200, resonanceHertz: 40, qualityFactor: 10, continuousWatts: 50)
    let limits = TransducerLimits(hardware, amplifier: AmplifierParameters(fullScaleWatts: 400))
    let model = try #require(hardware.model)
    #expect(
      abs(
        try #require(limits.excursionLimitToFullScaleRatio) - model.displacementMagnitude(
          atHertz: 60) / 2)
        < 1e-12)
    // 2 g at 40 Hz and 50 W are 0.31 mm, and at full scale, of twice the power, 0.44 mm.
    hardware.maximumAccelerationInG = 2
    hardware.maximumExcursionMillimeters = 1
    let measuredLimits = TransducerLimits(hardware, amplifier: AmplifierParameters())
    #expect(abs(try #require(measuredLimits.excursionLimitToFullScaleRatio) - 1 / 0.4392) < 0.001)
  }
}

struct DriveFilterTests {
  /// Filters frames one by one where `isSingle` returns true, and in pairs otherwise.
  private func filtered(
    _ input: [Double], by filter: Biquad, isSingle: (Int) -> Bool = { _ in false }
  ) -> [Double] {
    var state = Biquad.State()
    var output: [Double] = []
    while output.count < input.count {
      let frame = output.count
      if frame + 1 == input.count || isSingle(frame) {
        output.append(filter.process(input[frame], state: &state))
      } else {
        let pair = filter.process(SIMD2(input[frame], input[frame + 1]), state: &state)
        output += [pair.x, pair.y]
      }
    }
    return output
  }

  private let filter = Biquad(
    gain: 1.5, zeros: .init(TransducerModel(resonanceHertz: 40, qualityFactor: 10), rate: 48_000),
    poles: .init(TransducerModel(resonanceHertz: 30, qualityFactor: 2), rate: 48_000))

  @Test func biquadEqualsItsDifferenceEquation() {
    let input = (0..<20_000).map { sin(Double($0) * 0.005) + sin(Double($0 * $0) * 1e-5) }
    let zeros = Biquad.Polynomial(
      TransducerModel(resonanceHertz: 40, qualityFactor: 10), rate: 48_000)
    let poles = Biquad.Polynomial(
      TransducerModel(resonanceHertz: 30, qualityFactor: 2), rate: 48_000)
    var expected: [Double] = []
    for frame in input.indices {
      func delayedInput(_ delay: Int) -> Double { frame < delay ? 0 : input[frame - delay] }
      func delayedOutput(_ delay: Int) -> Double { frame < delay ? 0 : expected[frame - delay] }
      expected.append(
        1.5
          * (delayedInput(0) + zeros.firstDelayCoefficient * delayedInput(1) + zeros
            .secondDelayCoefficient * delayedInput(2))
          - poles
          .firstDelayCoefficient * delayedOutput(1) - poles.secondDelayCoefficient
          * delayedOutput(2))
    }
    let output = filtered(input, by: filter)
    for (outputSample, expectedSample) in zip(output, expected)
    where abs(outputSample - expectedSample) > 1e-9 {
      Issue.record("\(outputSample) is not \(expectedSample)")
      return
    }
  }

  @Test func singleFramesAndPairsGiveTheSameBits() {
    let input = (0..<5_000).map { sin(Double($0 * $0) * 1e-4) }
    let pairs = filtered(input, by: filter)
    #expect(filtered(input, by: filter) { _ in true } == pairs)
    #expect(filtered(input, by: filter) { $0 % 7 == 0 } == pairs)
  }

  @Test(arguments: [8_000.0, 48_000, 192_000]) func highPassAttenuatesItsCornerByThreeDecibels(
    rate: Double
  ) {
    let filter = Biquad(highPassHertz: 20, rate: rate)
    #expect(abs(decibels(filter.magnitude(atHertz: 20, rate: rate), 0.5.squareRoot())) < 0.001)
    // The lowest frequency of a profile is an octave above the corner.
    #expect(abs(decibels(filter.magnitude(atHertz: 40, rate: rate), 1) + 0.263) < 0.01)
    #expect(abs(filter.magnitude(atHertz: rate / 2, rate: rate) - 1) < 1e-9)
    #expect(filter.magnitude(atHertz: 0, rate: rate) < 1e-9)
  }
}
