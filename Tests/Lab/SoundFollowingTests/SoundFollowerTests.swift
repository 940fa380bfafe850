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
    let low = Self.follow(Self.sine(50, 0.4, seconds: 1), options)
    // A second-order Butterworth low-pass at 100 Hz has −0.26 dB at 50 Hz, and the high-pass at 20
    // Hz has −0.11 dB.
    #expect(abs(20 * log10(Self.level(low[24_000...]) / (0.4 / 2.0.squareRoot())) + 0.37) < 0.05)
    let high = Self.follow(Self.sine(1_000, 0.4, seconds: 1), options)
    #expect(Self.level(high[24_000...]) < 0.4 * 0.0075)
  }

  @Test(arguments: FollowingOptions.ConversionStyle.allCases)
  func blocksOfAnyLengthGiveEqualSamples(
    _ style: FollowingOptions.ConversionStyle
  ) {
    var chance = SeededGenerator(seed: 3)
    let samples = (0..<24_000).map { _ in Float.random(in: -0.5...0.5, using: &chance) }
    let options = FollowingOptions(conversionStyle: style)
    let whole = Self.follow(samples, options)
    var follower = SoundFollower(options, sampleRate: Self.rate)
    var parts: [Float] = []
    for start in stride(from: 0, to: samples.count, by: 171) {
      parts += follower.follow(samples.span.extracting(start..<min(samples.count, start + 171)))
    }
    #expect(parts == whole)
    #expect(whole.allSatisfy { $0.isFinite })
  }

  @Test(arguments: FollowingOptions.ConversionStyle.allCases)
  func silenceAndNonFiniteSamplesAreSilent(
    _ style: FollowingOptions.ConversionStyle
  ) {
    let bad: [Float] = [.nan, .infinity, -.infinity, 0]
    let output = Self.follow(
      (0..<9_600).map { bad[$0 % 4] }, FollowingOptions(conversionStyle: style))
    #expect(output.allSatisfy { abs($0) < 1e-9 })
  }

  /// The time from the start of a transient to a tenth of the vibration's peak.
  @Test(arguments: [
    (FollowingOptions.ConversionStyle.bass, 5.0), (.impacts, 5), (.engine, 5), (.full, 5),
    (.android, 5),
  ])
  func transientCausesVibrationWithinMilliseconds(
    _ style: FollowingOptions.ConversionStyle, most: Double
  ) {
    var chance = SeededGenerator(seed: 11)
    var onsets: [Double] = []
    for _ in 0..<9 {
      let blast = SimulatedBlast(&chance).samples(rate: Self.rate)
      let output = Self.follow(
        [Float](repeating: 0, count: 9_600) + blast, FollowingOptions(conversionStyle: style))
      let peak = output.reduce(0) { max($0, abs($1)) }
      let first = output.firstIndex { abs($0) > 0.1 * peak } ?? 0
      onsets.append(Double(first - 9_600) / Self.rate * 1_000)
    }
    onsets.sort()
    #expect(onsets[4] <= most, "\(onsets)")
  }

  @Test func levelControlHoldsAfterATransient() {
    // A tone 20 dB below the target level, with a transient.
    var samples = Self.sine(50, 0.05, seconds: 4)
    for index in 96_000..<98_400 {
      samples[index] *= 8
    }
    let options = FollowingOptions(conversionStyle: .bass, keepsVoices: true)
    let plain = Self.follow(
      samples, FollowingOptions(conversionStyle: .bass, keepsVoices: true, keepsLevel: true))
    let ridden = Self.follow(samples, options)
    func gain(_ range: Range<Int>) -> Double {
      20 * log10(Self.level(ridden[range]) / Self.level(plain[range]))
    }
    // The gain rises by 2 dB per second after the first 0.4 s.
    #expect(abs(gain(94_000..<96_000) - 3.1) < 0.3)
    #expect(abs(gain(96_500..<97_500) - gain(104_000..<105_600)) < 0.5)
  }

  /// Explosions that no constant was tuned with, compared with speech-like sounds of the same
  /// level.
  @Test(arguments: [
    (FollowingOptions.ConversionStyle.bass, 26.0), (.impacts, 20), (.engine, 20), (.full, 22),
  ]) func speechIsSuppressed(_ style: FollowingOptions.ConversionStyle, least: Double) {
    var chance = SeededGenerator(seed: 2_026)
    func felt(_ samples: [Float]) -> Double {
      let scale = Float(0.1 / Self.level(samples))
      let options = FollowingOptions(conversionStyle: style, keepsLevel: true)
      return 20 * log10(Self.level(Self.follow(samples.map { $0 * scale }, options)) + 1e-9)
    }
    let blasts = (0..<9).map { _ in felt(SimulatedBlast(&chance).samples(rate: Self.rate)) }
      .sorted()
    let voices = (0..<5).map { _ in felt(SimulatedSpeech(&chance).samples(rate: Self.rate)) }
      .sorted()
    #expect(blasts[4] - voices[2] >= least, "\(blasts) \(voices)")
  }
}

/// An explosion: decaying noise and a low thud.
struct SimulatedBlast {
  private var generator: SeededGenerator
  init(_ chance: inout SeededGenerator) { self.generator = SeededGenerator(seed: chance.next()) }

  func samples(rate: Double) -> [Float] {
    var chance = generator
    let decay = Double.random(in: 0.04...0.2, using: &chance)
    let tail = Double.random(in: 0.15...0.6, using: &chance)
    let hertz = Double.random(in: 30...60, using: &chance)
    let share = Double.random(in: 0.1...0.6, using: &chance)
    return (0..<Int(1.5 * rate)).map { index in
      let time = Double(index) / rate
      let noise = Double.random(in: -1...1, using: &chance) * exp(-time / decay)
      let thud = sin(2 * .pi * (hertz * time + 3 * (1 - exp(-time / 0.1)))) * exp(-time / tail)
      return Float(min(1, time / 0.001) * (noise + share * 2 * thud))
    }
  }
}

/// Syllables: harmonics of a moving pitch through two formants, and pauses.
struct SimulatedSpeech {
  private var generator: SeededGenerator
  init(_ chance: inout SeededGenerator) { self.generator = SeededGenerator(seed: chance.next()) }

  func samples(rate: Double) -> [Float] {
    var chance = generator
    let pitch = Double.random(in: 85...240, using: &chance)
    var samples: [Float] = []
    for _ in 0..<6 {
      let length = Double.random(in: 0.12...0.3, using: &chance)
      let formants = [
        Double.random(in: 300...800, using: &chance),
        Double.random(in: 900...2_200, using: &chance),
      ]
      let bend = Double.random(in: 0.85...1.15, using: &chance)
      var phase = 0.0
      for index in 0..<Int(length * rate) {
        let time = Double(index) / rate
        phase += pitch * (1 + (bend - 1) * time / length) / rate
        var sample = 0.0
        for harmonic in 1...14 {
          let hertz = Double(harmonic) * pitch
          let weight = formants.reduce(0.02) { $0 + 1 / (1 + pow((hertz - $1) / 120, 2)) }
          sample += weight * sin(2 * .pi * Double(harmonic) * phase) / Double(harmonic).squareRoot()
        }
        samples.append(Float(sample * min(1, min(time / 0.02, (length - time) / 0.03))))
      }
      // A consonant: noise without low frequencies.
      var last = 0.0
      for index in 0..<Int(0.06 * rate) {
        let noise = Double.random(in: -1...1, using: &chance)
        samples.append(Float(0.15 * (noise - last) * min(1, Double(index) / 0.005 / rate)))
        last = noise
      }
      samples += [Float](
        repeating: 0, count: Int(Double.random(in: 0...0.15, using: &chance) * rate))
    }
    return samples
  }
}
