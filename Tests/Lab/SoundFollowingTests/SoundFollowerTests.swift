import Foundation
import SoundFollowing
import TestSupport
import Testing

struct SoundFollowerTests {
  static let rate = 48_000.0

  static func sine(_ hertz: Double, _ amplitude: Double, seconds: Double) -> [Float] {
    (0..<Int(seconds * rate)).map { Float(amplitude * sin(2 * .pi * hertz * Double($0) / rate)) }
  }

  static func follow(_ samples: [Float], _ options: FollowingOptions = FollowingOptions())
    -> [Float]
  {
    var follower = SoundFollower(options, sampleRate: rate)
    return follower.follow(samples.span)
  }

  static func level(_ samples: some Collection<Float>) -> Double {
    (samples.reduce(0) { $0 + Double($1 * $1) } / Double(max(1, samples.count))).squareRoot()
  }

  @Test func bassPassesUnchangedAndTrebleDoesNot() {
    let options = FollowingOptions(conversionStyle: .bass, keepsVoices: true, keepsLevel: true)
    let bassOutput = Self.follow(Self.sine(50, 0.4, seconds: 1), options)
    // A second-order Butterworth low-pass at 100 Hz has −0.26 dB at 50 Hz, and the high-pass at 20
    // Hz has −0.11 dB.
    #expect(
      abs(20 * log10(Self.level(bassOutput[24_000...]) / (0.4 / 2.0.squareRoot())) + 0.37) < 0.05)
    let trebleOutput = Self.follow(Self.sine(1_000, 0.4, seconds: 1), options)
    #expect(Self.level(trebleOutput[24_000...]) < 0.4 * 0.0075)
  }

  @Test(arguments: FollowingOptions.ConversionStyle.allCases)
  func blocksOfAnyLengthGiveEqualSamples(
    _ style: FollowingOptions.ConversionStyle
  ) {
    var generator = SplitMixGenerator(state: 3)
    let samples = (0..<24_000).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
    let options = FollowingOptions(conversionStyle: style)
    let undividedOutput = Self.follow(samples, options)
    var follower = SoundFollower(options, sampleRate: Self.rate)
    var blockwiseOutput: [Float] = []
    for start in stride(from: 0, to: samples.count, by: 171) {
      blockwiseOutput += follower.follow(
        samples.span.extracting(start..<min(samples.count, start + 171)))
    }
    #expect(blockwiseOutput == undividedOutput)
    #expect(undividedOutput.allSatisfy { $0.isFinite })
  }

  @Test(arguments: FollowingOptions.ConversionStyle.allCases)
  func silenceAndNonFiniteSamplesAreSilent(
    _ style: FollowingOptions.ConversionStyle
  ) {
    let nonFiniteSamples: [Float] = [.nan, .infinity, -.infinity, 0]
    let output = Self.follow(
      (0..<9_600).map { nonFiniteSamples[$0 % 4] }, FollowingOptions(conversionStyle: style))
    #expect(output.allSatisfy { abs($0) < 1e-9 })
  }

  /// The time from the start of a transient to a tenth of the vibration's peak.
  @Test(arguments: [
    (FollowingOptions.ConversionStyle.bass, 5.0), (.impacts, 5), (.engine, 5), (.full, 5),
    (.android, 5),
  ])
  func transientCausesVibrationWithinMilliseconds(
    _ style: FollowingOptions.ConversionStyle, maximumMilliseconds: Double
  ) {
    var generator = SplitMixGenerator(state: 11)
    var onsetMilliseconds: [Double] = []
    for _ in 0..<9 {
      let blast = SimulatedBlast(using: &generator).samples(rate: Self.rate)
      let output = Self.follow(
        [Float](repeating: 0, count: 9_600) + blast, FollowingOptions(conversionStyle: style))
      let peak = output.reduce(0) { max($0, abs($1)) }
      let onsetIndex = output.firstIndex { abs($0) > 0.1 * peak } ?? 0
      onsetMilliseconds.append(Double(onsetIndex - 9_600) / Self.rate * 1_000)
    }
    onsetMilliseconds.sort()
    #expect(onsetMilliseconds[4] <= maximumMilliseconds, "\(onsetMilliseconds)")
  }

  @Test func levelControlHoldsAfterATransient() {
    // A tone 20 dB below the target level, with a transient.
    var samples = Self.sine(50, 0.05, seconds: 4)
    for index in 96_000..<98_400 {
      samples[index] *= 8
    }
    let options = FollowingOptions(conversionStyle: .bass, keepsVoices: true)
    let fixedGainOutput = Self.follow(
      samples, FollowingOptions(conversionStyle: .bass, keepsVoices: true, keepsLevel: true))
    let output = Self.follow(samples, options)
    func gain(_ range: Range<Int>) -> Double {
      20 * log10(Self.level(output[range]) / Self.level(fixedGainOutput[range]))
    }
    // The gain rises by 2 dB per second after the first 0.4 s.
    #expect(abs(gain(94_000..<96_000) - 3.1) < 0.3)
    #expect(abs(gain(96_500..<97_500) - gain(104_000..<105_600)) < 0.5)
  }

  /// Explosions that were not used to tune any constant, compared with speech-like sounds of the
  /// same level.
  @Test(arguments: [
    (FollowingOptions.ConversionStyle.bass, 26.0), (.impacts, 20), (.engine, 20), (.full, 22),
  ]) func speechIsSuppressed(_ style: FollowingOptions.ConversionStyle, minimumDecibels: Double) {
    var generator = SplitMixGenerator(state: 2_026)
    func outputDecibels(_ samples: [Float]) -> Double {
      let scale = Float(0.1 / Self.level(samples))
      let options = FollowingOptions(conversionStyle: style, keepsLevel: true)
      return 20 * log10(Self.level(Self.follow(samples.map { $0 * scale }, options)) + 1e-9)
    }
    let blastDecibels = (0..<9).map { _ in
      outputDecibels(SimulatedBlast(using: &generator).samples(rate: Self.rate))
    }
    .sorted()
    let speechDecibels = (0..<5).map { _ in
      outputDecibels(SimulatedSpeech(using: &generator).samples(rate: Self.rate))
    }
    .sorted()
    #expect(
      blastDecibels[4] - speechDecibels[2] >= minimumDecibels, "\(blastDecibels) \(speechDecibels)")
  }
}

/// An explosion: decaying noise and a low thud.
struct SimulatedBlast {
  private var generator: SplitMixGenerator

  init(using generator: inout SplitMixGenerator) {
    self.generator = SplitMixGenerator(state: generator.next())
  }

  func samples(rate: Double) -> [Float] {
    var generator = self.generator
    let noiseDecaySeconds = Double.random(in: 0.04...0.2, using: &generator)
    let thudDecaySeconds = Double.random(in: 0.15...0.6, using: &generator)
    let thudHertz = Double.random(in: 30...60, using: &generator)
    let thudWeight = Double.random(in: 0.1...0.6, using: &generator)
    return (0..<Int(1.5 * rate)).map { index in
      let time = Double(index) / rate
      let noise = Double.random(in: -1...1, using: &generator) * exp(-time / noiseDecaySeconds)
      let thud =
        sin(2 * .pi * (thudHertz * time + 3 * (1 - exp(-time / 0.1))))
        * exp(-time / thudDecaySeconds)
      return Float(min(1, time / 0.001) * (noise + thudWeight * 2 * thud))
    }
  }
}

/// Syllables: harmonics of a moving pitch through two formants, and pauses.
struct SimulatedSpeech {
  private var generator: SplitMixGenerator

  init(using generator: inout SplitMixGenerator) {
    self.generator = SplitMixGenerator(state: generator.next())
  }

  func samples(rate: Double) -> [Float] {
    var generator = self.generator
    let pitch = Double.random(in: 85...240, using: &generator)
    var samples: [Float] = []
    for _ in 0..<6 {
      let syllableSeconds = Double.random(in: 0.12...0.3, using: &generator)
      let formants = [
        Double.random(in: 300...800, using: &generator),
        Double.random(in: 900...2_200, using: &generator),
      ]
      let pitchRatio = Double.random(in: 0.85...1.15, using: &generator)
      var phase = 0.0
      for index in 0..<Int(syllableSeconds * rate) {
        let time = Double(index) / rate
        phase += pitch * (1 + (pitchRatio - 1) * time / syllableSeconds) / rate
        var sample = 0.0
        for harmonic in 1...14 {
          let hertz = Double(harmonic) * pitch
          let weight = formants.reduce(0.02) { $0 + 1 / (1 + pow((hertz - $1) / 120, 2)) }
          sample += weight * sin(2 * .pi * Double(harmonic) * phase) / Double(harmonic).squareRoot()
        }
        samples.append(Float(sample * min(1, min(time / 0.02, (syllableSeconds - time) / 0.03))))
      }
      // A consonant: noise without low frequencies.
      var previousNoise = 0.0
      for index in 0..<Int(0.06 * rate) {
        let noise = Double.random(in: -1...1, using: &generator)
        samples.append(Float(0.15 * (noise - previousNoise) * min(1, Double(index) / 0.005 / rate)))
        previousNoise = noise
      }
      samples += [Float](
        repeating: 0, count: Int(Double.random(in: 0...0.15, using: &generator) * rate))
    }
    return samples
  }
}
