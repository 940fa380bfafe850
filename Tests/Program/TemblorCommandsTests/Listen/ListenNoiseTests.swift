import Foundation
import HapticPlayback
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenNoiseTests {
  let studio = ListenStudio()

  /// The power of samples in a band, by sines of whole cycles, as a share of the whole.
  private func share(_ samples: ArraySlice<Float>, of band: ClosedRange<Double>) -> Double {
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
    #expect(studio.ask("noise 1 0.422601 1 6 as n") == "ok name=n time=0.0 duration=6.0")
    studio.run(5.9)
    #expect(studio.voice("n") != nil)
    let events = studio.run(0.3)
    #expect(events == ["event finished name=n time=6.0"])
    let samples = studio.playback.samples()
    // The profile's frequency of this sharpness is 125 Hz, and the second pass follows without a
    // seam.
    #expect(share(samples[48_000..<240_000], of: 88...177.5) > 0.999)
    #expect(samples[(6 * 48_000 + 4_800)...].allSatisfy { abs($0) < 0.01 })
    #expect(abs((samples.map(abs).max() ?? 0) - 0.5) < 0.06)
  }

  @Test func intensityFollowsTheLawAndSetActsOnIt() {
    studio.ask("noise 0.5 0.5 1 20 as n")
    studio.run(1)
    let half = studio.level(0.1...1)
    studio.ask("set intensity 0.5 of n")
    studio.run(1)
    // The profile squares intensity.
    let ratio = studio.level(1.1...2) / half
    #expect(abs(ratio - 0.25) < 0.1)
    studio.ask("stop n")
    #expect(studio.run(0.1).first?.hasPrefix("event stopped name=n") == true)
  }

  @Test func seedsDifferAndTheSameSeedIsTheSameNoise() {
    let other = ListenStudio()
    let third = ListenStudio()
    for (studio, seed) in [(studio, 4), (other, 4), (third, 5)] {
      studio.ask("noise 1 0.5 0.5 2 seed \(seed)")
      studio.run(0.5)
    }
    #expect(studio.playback.samples() == other.playback.samples())
    #expect(studio.playback.samples() != third.playback.samples())
  }

  @Test func theirNumberIsBounded() {
    let studio = ListenStudio(rate: 8_000)
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
      studio.ask("noise 1 0.5 9 1") == "error invalid-value: OCTAVES must be 0.05 to 6, not '9'")
    #expect(studio.ask("noise 1 0.5").hasPrefix("error missing-argument"))
  }
}
