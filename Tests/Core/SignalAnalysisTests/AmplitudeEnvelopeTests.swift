import Glibc
import SignalAnalysis
import Testing

struct AmplitudeEnvelopeTests {
  @Test(arguments: [40.0, 62.5, 80, 125, 230, 400], [8_000.0, 48_000]) func sineHasItsAmplitude(
    hertz: Double, rate: Double
  ) {
    let envelope = AmplitudeEnvelope(
      of: Signal(TestSignal.sine(hertz: hertz, rate: rate, amplitude: 0.5), rate: rate))
    for time in stride(from: 0.06, to: 0.94, by: 0.001) {
      #expect(abs(20 * log10(Double(envelope.amplitude(atSeconds: time)) / 0.5)) < 0.1)
    }
  }

  /// Swells as quick as four times a second are followed.
  @Test func swellIsFollowed() {
    let tone = TestSignal.sine(hertz: 80, seconds: 2)
    let swelling = tone.enumerated().map { index, sample in
      sample * Float(0.5 + 0.4 * sin(2 * .pi * 4 * Double(index) / 48_000))
    }
    let envelope = AmplitudeEnvelope(of: Signal(swelling, rate: 48_000))
    for time in stride(from: 0.1, to: 1.9, by: 0.001) {
      let expected = 0.5 + 0.4 * sin(2 * .pi * 4 * time)
      #expect(abs(Double(envelope.amplitude(atSeconds: time)) - expected) < 0.01)
    }
  }

  @Test func tapHasItsPeakAndItsPlace() {
    let signal = TestSignal.mix(
      TestSignal.silence(seconds: 0.5), [(0.2, TestSignal.tap(hertz: 150, amplitude: 0.4))])
    let envelope = AmplitudeEnvelope(of: Signal(signal, rate: 48_000))
    #expect(abs(envelope.peakAmplitude - 0.4) < 0.03)
    for (index, value) in envelope.amplitudes.enumerated() {
      let time = Double(index) * envelope.stepSeconds
      if time < 0.187 || time > 0.2265 {
        #expect(value == 0)
      }
      if time > 0.203, time < 0.210 {
        #expect(value > 0.3)
      }
    }
  }

  /// Noise has the amplitude of the sine that is as powerful.
  @Test func noiseHasTheAmplitudeOfItsPower() {
    let noise = TestSignal.noise(seconds: 2, amplitude: 0.5)
    let envelope = AmplitudeEnvelope(of: Signal(noise, rate: 48_000))
    let meanSquare = noise.reduce(0) { $0 + Double($1) * Double($1) } / Double(noise.count)
    let meanSquareAmplitude =
      envelope.amplitudes.reduce(0) { $0 + Double($1) * Double($1) }
      / Double(envelope.amplitudes.count)
    #expect(abs(10 * log10(meanSquareAmplitude / (2 * meanSquare))) < 0.3)
  }

  @Test func offsetIsNoAmplitude() {
    let tone = TestSignal.sine(hertz: 100, amplitude: 0.2).map { $0 + 0.5 }
    #expect(
      abs(AmplitudeEnvelope(of: Signal(tone, rate: 48_000)).amplitude(atSeconds: 0.5) - 0.2) < 0.002
    )
  }

  @Test func envelopeHasTheLengthOfTheSignalAndIsZeroOutside() {
    let envelope = AmplitudeEnvelope(
      of: Signal(TestSignal.sine(hertz: 100, seconds: 0.5), rate: 48_000))
    #expect(envelope.amplitudes.count == 500)
    #expect(envelope.amplitude(atSeconds: -0.001) == 0)
    #expect(envelope.amplitude(atSeconds: 0.6) == 0)
    #expect(AmplitudeEnvelope(of: Signal([], rate: 48_000)).amplitudes.isEmpty)
    #expect(AmplitudeEnvelope(of: Signal([.nan, .infinity], rate: 48_000)).amplitudes == [0])
  }

  @Test func slowRateKeepsAFramesStep() {
    #expect(AmplitudeEnvelope(of: Signal([0, 0, 0], rate: 100)).stepSeconds == 0.01)
  }
}

struct FrequencyTrackTests {
  @Test(arguments: [30.0, 47, 80, 125, 230, 400]) func sineHasItsFrequency(hertz: Double) {
    let track = FrequencyTrack(
      of: Signal(TestSignal.sine(hertz: hertz, amplitude: 0.3), rate: 48_000))
    let inner = track.points.filter { (0.06...0.94).contains($0.seconds) }
    #expect(inner.count > 170)
    #expect(inner.allSatisfy { abs($0.hertz / hertz - 1) < 0.005 })
    #expect(inner.allSatisfy { abs($0.amplitude / 0.3 - 1) < 0.03 })
  }

  @Test func glideIsFollowed() {
    let track = FrequencyTrack(
      of: Signal(TestSignal.glide(from: 30, to: 400, seconds: 2), rate: 48_000))
    let inner = track.points.filter { (0.1...1.9).contains($0.seconds) }
    #expect(inner.count > 355)
    for point in inner {
      #expect(abs(point.hertz / (30 + 185 * point.seconds) - 1) < 0.005, "\(point.seconds)")
    }
  }

  @Test func tapHasItsFrequencyInTheMiddle() {
    let signal = TestSignal.mix(
      TestSignal.silence(seconds: 0.3), [(0.1, TestSignal.tap(hertz: 150))])
    let track = FrequencyTrack(of: Signal(signal, rate: 48_000), step: 0.001)
    let middle = track.points.min { abs($0.seconds - 0.1067) < abs($1.seconds - 0.1067) }
    #expect(abs((middle?.hertz ?? 0) / 150 - 1) < 0.05)
    #expect(track.points.allSatisfy { (0.07...0.15).contains($0.seconds) })
  }

  @Test func noiseAndSilenceHaveNone() {
    let noise = FrequencyTrack(of: Signal(TestSignal.noise(seconds: 4), rate: 48_000))
    #expect(noise.points.count < 8)
    #expect(FrequencyTrack(of: Signal(TestSignal.silence(seconds: 1), rate: 48_000)).points.isEmpty)
    #expect(FrequencyTrack(of: Signal([], rate: 48_000)).points.isEmpty)
  }
}
