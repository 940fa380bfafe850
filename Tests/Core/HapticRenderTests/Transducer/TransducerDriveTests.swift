import Glibc
import HapticModel
import Testing

@testable import HapticRender

/// What the drive does to transients and steady tones, on the simulated transducer.
struct TransducerDriveTests {
  /// Milliseconds from a transient's end until what is felt stays 20 dB below its greatest.
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
    var felt: [Float] = []
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { break }
      felt += block[..<count].map { transducer.nextAcceleration(drive: $0) }
    }
    let greatest = felt.map(abs).max() ?? 0
    let last = felt.lastIndex { abs($0) >= greatest / 10 } ?? 0
    let frames = Double(last) - Double(plan.soundEndFrame)
    return (frames / 48, Double(rendering.statistics.peakMagnitudeBeforeLimiter))
  }

  @Test(arguments: [Float(0), 0.5, 1]) func aTransientRingsSeventyPercentShorterAtAQualityOfTen(
    sharpness: Float
  ) throws {
    let rig = TransducerFixture(lowHertz: 25)
    var profile = rig.profile
    // What lies within 6 dB of the best behind the filters.
    profile.frequency.highHertz = 46
    profile.transient = TransientShape(frequency: profile.frequency, fullIntensityAmplitude: 0.44)
    let plain = try ringingAfterTap(profile, isFitted: false, sharpness: sharpness)
    let fitted = try ringingAfterTap(profile, isFitted: true, sharpness: sharpness)
    #expect(plain.milliseconds > 150)
    #expect(fitted.milliseconds < 0.3 * plain.milliseconds)
    // Twice the level of a full event, at most.
    #expect(fitted.drivePeak < 0.88)
  }

  @Test(arguments: [8_000.0, 44_100, 48_000, 192_000])
  func steadyTonesAreDrivenByTheFiltersResponse(rate: Double)
    throws
  {
    let rig = TransducerFixture(rate: rate)
    let settings = try #require(rig.profile.transducerSettings(rate: rate))
    for hertz in [25.0, 40, 80] {
      let output = rig.output(frameCount: Int(2 * rate), signal: rig.sine(hertz, level: 0.3))
      let level = amplitude(of: output, rate: rate, at: 1.5, hertz: hertz, cycles: hertz / 2)
      #expect(abs(decibels(level, 0.3 * settings.driveResponse(atHertz: hertz))) < 0.02)
    }
  }

  @Test func withoutHardwareTheMixIsNotTouched() throws {
    let pattern = HapticPattern(events: [humEvent(0, 0.2), tapEvent(0.3)])
    let routing = OutputRouting().assigningTransducers(of: [.phone])
    #expect(routing == OutputRouting())
    #expect(try render(pattern, settings: RenderSettings(routing: routing)) == render(pattern))
  }

  @Test func channelsOfOneTransducerShareAStripAndOthersDoNot() {
    let rig = TransducerFixture()
    let channel = OutputRouting.Channel(hapticBus: 0)
    var driven = channel
    driven.transducer = rig.profile
    var turned = driven
    turned.isInverted = true
    #expect(!driven.hasSameMix(as: channel))
    #expect(driven.hasSameMix(as: turned))
    #expect(
      OutputRouting(channels: [channel]).assigningTransducers(of: [rig.profile]).channels == [
        driven
      ])
  }
}
