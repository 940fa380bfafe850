import Glibc
import SignalAnalysis
import Testing

struct FrequencyTrackTests {
  @Test(arguments: [30.0, 47, 80, 125, 230, 400]) func sineHasItsFrequency(hertz: Double) {
    let track = FrequencyTrack(of: Signal(Tone.sine(hertz: hertz, amplitude: 0.3), rate: 48_000))
    let inner = track.points.filter { (0.06...0.94).contains($0.time) }
    #expect(inner.count > 170)
    #expect(inner.allSatisfy { abs($0.hertz / hertz - 1) < 0.005 })
    #expect(inner.allSatisfy { abs($0.amplitude / 0.3 - 1) < 0.03 })
  }

  @Test func glideIsFollowed() {
    let track = FrequencyTrack(of: Signal(Tone.glide(from: 30, to: 400, seconds: 2), rate: 48_000))
    let inner = track.points.filter { (0.1...1.9).contains($0.time) }
    #expect(inner.count > 355)
    for point in inner {
      #expect(abs(point.hertz / (30 + 185 * point.time) - 1) < 0.005, "\(point.time)")
    }
  }

  @Test func tapHasItsFrequencyInTheMiddle() {
    let signal = Tone.mix(Tone.silence(seconds: 0.3), [(0.1, Tone.tap(hertz: 150))])
    let track = FrequencyTrack(of: Signal(signal, rate: 48_000), step: 0.001)
    let middle = track.points.min { abs($0.time - 0.1067) < abs($1.time - 0.1067) }
    #expect(abs((middle?.hertz ?? 0) / 150 - 1) < 0.05)
    #expect(track.points.allSatisfy { (0.07...0.15).contains($0.time) })
  }

  @Test func noiseAndSilenceHaveNone() {
    let noise = FrequencyTrack(of: Signal(Tone.noise(seconds: 4), rate: 48_000))
    #expect(noise.points.count < 8)
    #expect(FrequencyTrack(of: Signal(Tone.silence(seconds: 1), rate: 48_000)).points.isEmpty)
    #expect(FrequencyTrack(of: Signal([], rate: 48_000)).points.isEmpty)
  }
}
