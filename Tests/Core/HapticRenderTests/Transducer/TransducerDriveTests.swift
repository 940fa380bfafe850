import Glibc
import HapticModel
import Testing

@testable import HapticRender

/// The effect of the drive filters on transients and steady tones of a simulated transducer.
struct TransducerDriveTests {
  /// Returns the time from the end of a transient until the acceleration stays 20 dB below its peak,
  /// and the peak of the drive.
  private func ringingAfterTap(_ profile: TransducerProfile, isFitted: Bool, sharpness: Float)
    throws -> (
      milliseconds: Double, drivePeak: Double
    )
  {
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [tapEvent(sharpness: sharpness)]), profile: profile)
    var routing = OutputRouting()
    if isFitted {
      routing = routing.assigningTransducers(of: [profile])
    }
    let settings = RenderSettings(routing: routing, outputFrameCount: 96_000)
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    var block = [Float](repeating: 0, count: 512)
    var transducer = TransducerSimulation(try #require(profile.hardware?.model), rate: 48_000)
    var acceleration: [Float] = []
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { break }
      acceleration += block[..<count].map { transducer.nextAcceleration(drive: $0) }
    }
    let peakAcceleration = acceleration.map(abs).max() ?? 0
    let lastLoudIndex = acceleration.lastIndex { abs($0) >= peakAcceleration / 10 } ?? 0
    let ringFrameCount = Double(lastLoudIndex) - Double(plan.soundEndFrame)
    return (ringFrameCount / 48, Double(rendering.statistics.peakMagnitudeBeforeLimiter))
  }

  @Test(arguments: [Float(0), 0.5, 1]) func equalizerShortensTheRingingBySeventyPercent(
    sharpness: Float
  ) throws {
    let fixture = TransducerFixture(lowHertz: 25)
    var profile = fixture.profile
    // The range within 6 dB of the maximum after the filters.
    profile.frequency.highHertz = 46
    profile.transient = TransientShape(frequency: profile.frequency, fullIntensityAmplitude: 0.44)
    let unequalized = try ringingAfterTap(profile, isFitted: false, sharpness: sharpness)
    let equalized = try ringingAfterTap(profile, isFitted: true, sharpness: sharpness)
    #expect(unequalized.milliseconds > 150)
    #expect(equalized.milliseconds < 0.3 * unequalized.milliseconds)
    // Twice the level of a full event, at most.
    #expect(equalized.drivePeak < 0.88)
  }

  @Test(arguments: [8_000.0, 44_100, 48_000, 192_000])
  func steadyTonesFollowTheFilterResponse(rate: Double)
    throws
  {
    let fixture = TransducerFixture(rate: rate)
    let settings = try #require(fixture.profile.transducerSettings(rate: rate))
    for hertz in [25.0, 40, 80] {
      let output = fixture.output(
        frameCount: Int(2 * rate), signal: fixture.sine(hertz, level: 0.3))
      let level = amplitude(of: output, rate: rate, at: 1.5, hertz: hertz, cycles: hertz / 2)
      #expect(abs(decibels(level, 0.3 * settings.driveResponse(atHertz: hertz))) < 0.02)
    }
  }

  @Test func profilesWithoutHardwareDoNotChangeTheMix() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.2), tapEvent(0.3)])
    let routing = OutputRouting().assigningTransducers(of: [.phone])
    #expect(routing == OutputRouting())
    #expect(try render(pattern, settings: RenderSettings(routing: routing)) == render(pattern))
  }

  @Test func channelsOfOneTransducerShareAMix() {
    let fixture = TransducerFixture()
    let channel = OutputRouting.Channel(hapticBus: 0)
    var driven = channel
    driven.transducer = fixture.profile
    var inverted = driven
    inverted.isInverted = true
    #expect(!driven.hasSameMix(as: channel))
    #expect(driven.hasSameMix(as: inverted))
    #expect(
      OutputRouting(channels: [channel]).assigningTransducers(of: [fixture.profile]).channels == [
        driven
      ])
  }
}
