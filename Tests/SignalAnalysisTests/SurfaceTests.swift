import Glibc
import SignalAnalysis
import Testing

struct FourierTransformTests {
  @Test(arguments: [2, 10, 64, 360, 4_096]) func roundTripKeepsSamples(length: Int) {
    var transform = FourierTransform(length: length)
    let samples = Array(Tone.noise(seconds: 1).prefix(length))
    let again = transform.backward(transform.forward(samples))
    #expect(zip(samples, again).allSatisfy { abs($0 - $1) < 2e-6 })
  }

  @Test func binsHoldTheDefinition() {
    var transform = FourierTransform(length: 6)
    let samples: [Float] = [1, -2, 3, 0.5, 0, 4]
    for (k, bin) in transform.forward(samples).enumerated() {
      var (real, imaginary) = (0.0, 0.0)
      for (n, sample) in samples.enumerated() {
        real += Double(sample) * cos(2 * .pi * Double(k * n) / 6)
        imaginary -= Double(sample) * sin(2 * .pi * Double(k * n) / 6)
      }
      #expect(abs(Double(bin.real) - real) < 1e-5)
      #expect(abs(Double(bin.imaginary) - imaginary) < 1e-5)
    }
  }

  @Test func fastLengthsAreEvenAndSmooth() {
    #expect(FourierTransform.fastLength(atLeast: 0) == 2)
    #expect(FourierTransform.fastLength(atLeast: 7) == 8)
    #expect(FourierTransform.fastLength(atLeast: 4_801) == 4_860)
  }
}

struct LevelsTests {
  @Test func sineHasItsFigures() throws {
    let signal = Signal(channels: [Tone.sine(hertz: 1_000)], rate: 48_000)
    let levels = try signal.levels()
    #expect(abs(levels.rmsDecibels + 3.0103) < 0.0001)
    #expect(abs(levels.samplePeak - 1) < 1e-6)
    #expect(abs(levels.dc) < 1e-7)
    #expect(abs((levels.crestDecibels ?? 0) - 3.0103) < 0.0001)
    #expect(levels.nonFiniteCount == 0)
  }
}

struct EnvelopeTests {
  @Test(arguments: [40.0, 62.5, 80, 125, 230, 400]) func sineHasItsAmplitude(hertz: Double) {
    let envelope = AmplitudeEnvelope(
      of: Tone.sine(hertz: hertz, amplitude: 0.5), rate: 48_000)
    for time in stride(from: 0.06, to: 0.94, by: 0.001) {
      let error = 20 * log10(Double(envelope.value(at: time)) / 0.5)
      #expect(abs(error) < 0.1, "\(time)")
    }
  }
}

struct FrequencyTrackTests {
  @Test(arguments: [30.0, 80, 230, 400]) func sineHasItsFrequency(hertz: Double) {
    let track = FrequencyTrack(of: Tone.sine(hertz: hertz), rate: 48_000)
    let inner = track.points.filter { (0.06...0.94).contains($0.time) }
    #expect(inner.count > 170)
    #expect(inner.allSatisfy { abs($0.hertz / hertz - 1) < 0.005 })
  }

  @Test func noiseHasNone() {
    let track = FrequencyTrack(of: Tone.noise(seconds: 4), rate: 48_000)
    #expect(track.points.count < 8)
  }
}

struct OnsetsTests {
  @Test func tapsAreFound() {
    let times = [0.1, 0.15, 0.25, 0.5, 0.7]
    let taps = times.map { ($0, Tone.tap(hertz: 150, amplitude: 0.4)) }
    let signal = Tone.mix(Tone.silence(seconds: 1), taps)
    let found = Onsets.find(in: signal, rate: 48_000)
    #expect(found.count == times.count)
    for (onset, time) in zip(found, times) { #expect(abs(onset.time - time) < 0.0015, "\(found)") }
  }

  @Test func steadyHumHasItsStartOnly() {
    let found = Onsets.find(in: Tone.sine(hertz: 80, seconds: 2), rate: 48_000)
    #expect(found.map { ($0.time * 1_000).rounded() } == [0])
  }
}

struct SpectrumTests {
  @Test func powersAddUpToTheMeanSquare() {
    let noise = Tone.noise(seconds: 0.7, amplitude: 0.5)
    let square = noise.reduce(0) { $0 + Double($1) * Double($1) } / Double(noise.count)
    #expect(abs(Spectrum(of: noise, rate: 48_000).power / square - 1) < 1e-5)
  }

  @Test func sineHasItsCentroid() {
    let spectrum = Spectrum(of: Tone.sine(hertz: 100, seconds: 3), rate: 48_000)
    #expect(abs((spectrum.centroid ?? 0) - 100) < 1)
    #expect(abs(spectrum.power(in: 80...120) - 0.5) < 0.002)
  }

  @Test func fullScaleSineIsZeroDecibels() {
    let spectrogram = Spectrogram(of: Tone.sine(hertz: 100), rate: 48_000)
    let levels = spectrogram.decibels[100]
    #expect(abs((levels.max() ?? 0)) < 0.2)
  }
}

struct DistanceTests {
  @Test func lagIsFoundBetweenFrames() throws {
    let rate = 48_000.0
    let one = Tone.mix(Tone.silence(seconds: 1), [(0.3, Tone.tap(hertz: 100))])
    let other = Tone.mix(Tone.silence(seconds: 1), [(0.312, Tone.tap(hertz: 100))])
    let alignment = try #require(SignalDistance.alignment(one, other, rate: rate))
    #expect(abs(alignment.lag - 0.012) < 0.000_002)
    #expect(alignment.correlation > 0.999)
    #expect(SignalDistance.residual(one, other, rate: rate, lag: alignment.lag) < -40)
    #expect(SignalDistance.residual(one, one, rate: rate, lag: 0) == -200)
  }
}

struct FeltEnergyTests {
  @Test func sineAtTheReferenceKeepsItsLevel() {
    let felt = FeltEnergy(of: Tone.sine(hertz: 100, seconds: 4), rate: 48_000)
    #expect(abs(felt.decibels + 3.0103) < 0.05)
  }
}
