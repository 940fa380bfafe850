import Glibc
import SignalAnalysis
import Testing

struct SpectrumTests {
  /// Parseval's theorem: the powers add up to the mean square for any length.
  @Test(arguments: [0.001, 0.2, 0.7, 2]) func powersAddUpToTheMeanSquare(seconds: Double) {
    let noise = TestSignal.noise(seconds: seconds, amplitude: 0.5)
    let meanSquare = noise.reduce(0) { $0 + Double($1) * Double($1) } / Double(noise.count)
    #expect(abs(Spectrum(of: Signal(noise, rate: 48_000)).totalPower / meanSquare - 1) < 1e-5)
  }

  @Test func sineHasItsCentroidAndBand() {
    let spectrum = Spectrum(of: Signal(TestSignal.sine(hertz: 100, seconds: 3), rate: 48_000))
    #expect(abs((spectrum.centroidHertz ?? 0) - 100) < 1)
    #expect(abs(spectrum.power(in: 80...120) - 0.5) < 0.002)
    #expect(abs(spectrum.energy(in: 80...120) - 1.5) < 0.006)
    #expect(spectrum.power(in: 300...1_000) < 1e-5)
  }

  @Test func twoTonesHaveTheMeanOfTheirPowers() {
    let tones = TestSignal.mix(
      TestSignal.sine(hertz: 100, seconds: 3, amplitude: 0.6),
      [(0, TestSignal.sine(hertz: 400, seconds: 3, amplitude: 0.3))])
    // (0.36 · 100 + 0.09 · 400) / 0.45
    #expect(abs((Spectrum(of: Signal(tones, rate: 48_000)).centroidHertz ?? 0) - 160) < 1.5)
  }

  @Test(arguments: [0, 0.2, -0.1] as [Float]) func anOffsetIsNoVibration(offset: Float) {
    let sine = TestSignal.sine(hertz: 50, seconds: 3, amplitude: 0.3).map { $0 + offset }
    let spectrum = Spectrum(of: Signal(sine, rate: 48_000))
    // The residual is the step at the ends of the sound.
    #expect(abs((spectrum.centroidHertz ?? 0) - 50) < 1.5)
    #expect(abs(spectrum.totalPower - (0.045 + Double(offset * offset))) < 1e-4)
  }

  @Test func bandsAddUpToTheWhole() {
    let noise = TestSignal.noise(seconds: 1).map { $0 + 0.5 }
    let spectrum = Spectrum(of: Signal(noise, rate: 48_000))
    let bands = [0.0...20, 20...101, 101...5_000, 5_000...24_000].map { spectrum.power(in: $0) }
    #expect(abs(bands.reduce(0, +) / spectrum.totalPower - 1) < 1e-9)
    #expect(abs(bands[0] - 0.25) < 0.005)
  }

  @Test func silenceHasNoCentroid() {
    #expect(Spectrum(of: Signal(TestSignal.silence(seconds: 1), rate: 48_000)).centroidHertz == nil)
    #expect(Spectrum(of: Signal([], rate: 48_000)).totalPower == 0)
  }

  @Test func averageIsTheMeanOfChannels() throws {
    let loud = Spectrum(of: Signal(TestSignal.sine(hertz: 100), rate: 48_000))
    let silent = Spectrum(of: Signal(TestSignal.silence(seconds: 1), rate: 48_000))
    let mean = try #require(Spectrum(averaging: [loud, silent]))
    #expect(abs(mean.totalPower - loud.totalPower / 2) < 1e-12)
    #expect(Spectrum(averaging: []) == nil)
  }
}

struct SpectrogramTests {
  @Test(arguments: [60.0, 100, 233, 450]) func fullScaleSineIsZeroDecibels(hertz: Double) {
    let spectrogram = Spectrogram(of: Signal(TestSignal.sine(hertz: hertz), rate: 48_000))
    #expect(spectrogram.frameCenterSeconds.count == 200)
    let levels = spectrogram.levelsDecibels[100]
    let peak = levels.indices.max { levels[$0] < levels[$1] } ?? 0
    #expect(abs(levels[peak]) < 0.4)
    #expect(abs(spectrogram.binHertz[peak] - hertz) < 10)
    #expect((spectrogram.binHertz.last ?? 0) <= 500)
  }

  @Test func offsetReadsItsAmplitude() {
    let spectrogram = Spectrogram(of: Signal([Float](repeating: 1, count: 48_000), rate: 48_000))
    #expect(abs(spectrogram.levelsDecibels[100][0]) < 0.01)
  }

  @Test func tapLightsItsTimeOnly() {
    let signal = TestSignal.mix(TestSignal.silence(seconds: 1), [(0.5, TestSignal.tap(hertz: 150))])
    let spectrogram = Spectrogram(of: Signal(signal, rate: 48_000))
    #expect(spectrogram.levelsDecibels[20].allSatisfy { $0 == Spectrogram.minimumDecibels })
    #expect((spectrogram.levelsDecibels[101].max() ?? -140) > -20)
  }

  @Test func allFrequenciesCanBeAskedFor() {
    let spectrogram = Spectrogram(
      of: Signal(TestSignal.sine(hertz: 10_000, seconds: 0.2), rate: 48_000), window: 0.01,
      upTo: 24_000)
    let levels = spectrogram.levelsDecibels[20]
    let peak = levels.indices.max { levels[$0] < levels[$1] } ?? 0
    #expect(abs(spectrogram.binHertz[peak] - 10_000) < 60)
  }
}

struct FourierTransformTests {
  @Test(arguments: [2, 10, 64, 360, 4_096]) func roundTripKeepsSamples(length: Int) {
    var transform = FourierTransform(length: length)
    let samples = Array(TestSignal.noise(seconds: 1).prefix(length))
    let restored = transform.backward(transform.forward(samples))
    #expect(zip(samples, restored).allSatisfy { abs($0 - $1) < 2e-6 })
  }

  @Test func binsHoldTheDefinition() {
    var transform = FourierTransform(length: 6)
    let samples: [Float] = [1, -2, 3, 0.5, 0, 4]
    for (binIndex, bin) in transform.forward(samples).enumerated() {
      var real = 0.0
      var imaginary = 0.0
      for (sampleIndex, sample) in samples.enumerated() {
        real += Double(sample) * cos(2 * .pi * Double(binIndex * sampleIndex) / 6)
        imaginary -= Double(sample) * sin(2 * .pi * Double(binIndex * sampleIndex) / 6)
      }
      #expect(abs(Double(bin.real) - real) < 1e-5)
      #expect(abs(Double(bin.imaginary) - imaginary) < 1e-5)
    }
  }

  @Test func shortSamplesAreFollowedBySilence() {
    var transform = FourierTransform(length: 4)
    #expect(transform.forward([1]) == [ComplexNumber(1), ComplexNumber(1), ComplexNumber(1)])
  }

  @Test func fastLengthsAreEvenAndSmooth() {
    #expect(FourierTransform.fastLength(atLeast: 0) == 2)
    #expect(FourierTransform.fastLength(atLeast: 7) == 8)
    #expect(FourierTransform.fastLength(atLeast: 4_801) == 4_860)
  }
}
