import Foundation
import HapticPlayback
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenNoiseTests {
  let fixture = ListenFixture()

  /// Returns the fraction of the samples' power in a band, from sines of whole cycles.
  private func energyFraction(_ samples: ArraySlice<Float>, of band: ClosedRange<Double>) -> Double
  {
    // A rate of 1 kHz is sufficient for the rendered frequencies.
    let samples = stride(from: samples.startIndex, to: samples.endIndex, by: 48).map {
      Double(samples[$0])
    }
    let seconds = Double(samples.count) / 1_000
    let totalPower = samples.reduce(0) { $0 + $1 * $1 } / Double(samples.count)
    var bandPower = 0.0
    for cycles in Int(band.lowerBound * seconds)...Int(band.upperBound * seconds) {
      var real = 0.0
      var imaginary = 0.0
      for (index, sample) in samples.enumerated() {
        let phase = 2 * Double.pi * Double(index * cycles % samples.count) / Double(samples.count)
        real += sample * cos(phase)
        imaginary += sample * sin(phase)
      }
      bandPower += 2 * (real * real + imaginary * imaginary) / pow(Double(samples.count), 2)
    }
    return bandPower / totalPower
  }

  @Test func noiseStaysInItsBandAndEndsOnTime() {
    #expect(fixture.ask("noise 1 0.422601 1 6 as n") == "ok name=n time=0.0 duration=6.0")
    fixture.run(5.9)
    #expect(fixture.serverSound("n") != nil)
    let events = fixture.run(0.3)
    #expect(events == ["event finished name=n time=6.0"])
    let samples = fixture.playback.samples()
    // The profile's frequency of this sharpness is 125 Hz, and the second pass follows without a
    // seam.
    #expect(energyFraction(samples[48_000..<240_000], of: 88...177.5) > 0.999)
    #expect(samples[(6 * 48_000 + 4_800)...].allSatisfy { abs($0) < 0.01 })
    #expect(abs((samples.map(abs).max() ?? 0) - 0.5) < 0.06)
  }

  @Test func intensityFollowsTheMappingAndCanBeSet() {
    fixture.ask("noise 0.5 0.5 1 20 as n")
    fixture.run(1)
    let initialLevel = fixture.peakLevel(0.1...1)
    fixture.ask("set intensity 0.5 of n")
    fixture.run(1)
    // The profile squares intensity.
    let ratio = fixture.peakLevel(1.1...2) / initialLevel
    #expect(abs(ratio - 0.25) < 0.1)
    fixture.ask("stop n")
    #expect(fixture.run(0.1).first?.hasPrefix("event stopped name=n") == true)
  }

  @Test func noiseDependsOnTheSeed() {
    let equalFixture = ListenFixture()
    let differentFixture = ListenFixture()
    for (currentFixture, seed) in [(fixture, 4), (equalFixture, 4), (differentFixture, 5)] {
      currentFixture.ask("noise 1 0.5 0.5 2 seed \(seed)")
      currentFixture.run(0.5)
    }
    #expect(fixture.playback.samples() == equalFixture.playback.samples())
    #expect(fixture.playback.samples() != differentFixture.playback.samples())
  }

  @Test func numberOfNoisesIsLimited() {
    let lowRateFixture = ListenFixture(rate: 8_000)
    for number in 0..<CommandSession.maximumNoiseCount {
      #expect(lowRateFixture.ask("noise 0.1 0.5 1 9").hasPrefix("ok name=noise-\(number + 1) "))
    }
    #expect(
      lowRateFixture.ask("noise 0.1 0.5 1 9")
        == "error busy: 16 noises are playing or waiting; stop one, or wait until it ends")
    // A noise that replaces another one does not increase the number.
    #expect(lowRateFixture.ask("noise 0.1 0.5 1 9 as noise-3").hasPrefix("ok "))
    lowRateFixture.ask("stop")
    lowRateFixture.run(0.1)
    #expect(lowRateFixture.ask("noise 0.1 0.5 1 9").hasPrefix("ok "))
  }

  @Test func invalidNoiseArgumentsAreRefused() {
    #expect(
      fixture.ask("noise 1 0.5 9 1") == "error invalid-value: OCTAVES must be 0.05 to 6, not '9'")
    #expect(fixture.ask("noise 1 0.5").hasPrefix("error missing-argument"))
  }
}
