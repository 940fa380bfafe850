import Foundation
import HapticPlayback
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenNoiseTests {
  let fixture = ListenFixture()

  /// The power of samples in a band, by sines of whole cycles, as a share of the whole.
  private func energyFraction(_ samples: ArraySlice<Float>, of band: ClosedRange<Double>) -> Double
  {
    // A rate of 1 kHz is enough for what is rendered here.
    let samples = stride(from: samples.startIndex, to: samples.endIndex, by: 48).map {
      Double(samples[$0])
    }
    let seconds = Double(samples.count) / 1_000
    let all = samples.reduce(0) { $0 + $1 * $1 } / Double(samples.count)
    var inside = 0.0
    for cycles in Int(band.lowerBound * seconds)...Int(band.upperBound * seconds) {
      var real = 0.0
      var imaginary = 0.0
      for (index, sample) in samples.enumerated() {
        let phase = 2 * Double.pi * Double(index * cycles % samples.count) / Double(samples.count)
        real += sample * cos(phase)
        imaginary += sample * sin(phase)
      }
      inside += 2 * (real * real + imaginary * imaginary) / pow(Double(samples.count), 2)
    }
    return inside / all
  }

  @Test func itSoundsInItsBandAndEndsInTime() {
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

  @Test func intensityFollowsTheLawAndSetActsOnIt() {
    fixture.ask("noise 0.5 0.5 1 20 as n")
    fixture.run(1)
    let half = fixture.peakLevel(0.1...1)
    fixture.ask("set intensity 0.5 of n")
    fixture.run(1)
    // The profile squares intensity.
    let ratio = fixture.peakLevel(1.1...2) / half
    #expect(abs(ratio - 0.25) < 0.1)
    fixture.ask("stop n")
    #expect(fixture.run(0.1).first?.hasPrefix("event stopped name=n") == true)
  }

  @Test func seedsDifferAndTheSameSeedIsTheSameNoise() {
    let other = ListenFixture()
    let third = ListenFixture()
    for (studio, seed) in [(fixture, 4), (other, 4), (third, 5)] {
      studio.ask("noise 1 0.5 0.5 2 seed \(seed)")
      studio.run(0.5)
    }
    #expect(fixture.playback.samples() == other.playback.samples())
    #expect(fixture.playback.samples() != third.playback.samples())
  }

  @Test func theirNumberIsBounded() {
    let studio = ListenFixture(rate: 8_000)
    for number in 0..<CommandSession.maximumNoiseCount {
      #expect(studio.ask("noise 0.1 0.5 1 9").hasPrefix("ok name=noise-\(number + 1) "))
    }
    #expect(
      studio.ask("noise 0.1 0.5 1 9")
        == "error busy: 16 noises are playing or waiting; stop one, or wait until it ends")
    // One in the place of another is none more.
    #expect(studio.ask("noise 0.1 0.5 1 9 as noise-3").hasPrefix("ok "))
    studio.ask("stop")
    studio.run(0.1)
    #expect(studio.ask("noise 0.1 0.5 1 9").hasPrefix("ok "))
  }

  @Test func wrongWordsAreRefused() {
    #expect(
      fixture.ask("noise 1 0.5 9 1") == "error invalid-value: OCTAVES must be 0.05 to 6, not '9'")
    #expect(fixture.ask("noise 1 0.5").hasPrefix("error missing-argument"))
  }
}
