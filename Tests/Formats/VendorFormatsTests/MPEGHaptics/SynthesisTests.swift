import Foundation
import HapticModel
import Reading
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// A comparison with the reference software's synthesizer, sample by sample, for files that are
/// written here.
@Suite struct ReferenceSynthesisTests {
  /// Keys at 0, 20, 50, 80 and 100 ms.
  private static let keys: [(Int, Double?, Double?)] = [
    (0, 0, nil), (20, 0.8, nil), (50, 0.3, nil), (80, 0.9, nil), (100, 0, nil),
  ]
  private static let frames = [0, 80, 160, 280, 400, 520, 640, 720, 799]

  private func referenceSamples(_ text: String) throws -> [Int] {
    try ReferenceSynthesis.samples(hjif: Array(text.utf8))
  }

  @Test(arguments: [
    ("Linear", [0, 13107, 26214, 18022, 9830, 19661, 29491, 14746, 184]),
    ("Cubic", [0, 13107, 26214, 18022, 9830, 19661, 29491, 14746, 3]),
    ("Unknown", [0, 13107, 26214, 18022, 9830, 19661, 29491, 14746, 3]),
    ("Akima", [0, 18247, 26214, 18659, 9830, 20134, 29491, 20812, 317]),
    ("Bezier", [0, 10003, 14960, 15485, 9830, 16750, 16581, 11185, 184]),
    ("Bspline", [0, 11249, 18221, 18020, 14337, 19666, 20316, 12600, 177]),
    ("BSpline", [0, 11249, 18221, 18020, 14337, 19666, 20316, 12600, 177]),
  ]) func curvesEqualTheReference(kind: String, expected: [Int]) throws {
    let text = MPEGFixtures.text(MPEGFixtures.curve(kind), effects: MPEGFixtures.effect(Self.keys))
    let samples = try referenceSamples(text)
    #expect(samples.count == 800)
    for (frame, value) in zip(Self.frames, expected) {
      #expect(abs(samples[frame] - value) <= 1, "\(kind) \(frame)")
    }
    // At six times the rate, the correct curve equals the reference except for its errors.
    let signal = try MPEGFixtures.signal(text)
    #expect(
      signal.sampleRate == 48_000 && signal.startSeconds == 0 && signal.samples.count == 4_801)
    for (frame, value) in zip(Self.frames, expected) {
      #expect(
        abs(MPEGFixtures.quantized(signal.samples[frame * 6]) - value) <= 60, "\(kind) \(frame)")
    }
  }

  private static let block =
    "axmAJlJjUMcZz6JtfUM1NetBABW9q+qGMJDAY8M4vGmM4T0QYbVPHcxIId8BeudfuACSBLX8fcPgwYzxg8O7h7DIAB9Ye/"
      + """
      xzL9VOcSdDYGm6mga/MOTvxe+VDEOTaa3gxzuDJMdRrMl3AAAAAAAg2FyQmliUwCUKkCq+UK31N5bur1lCzTzRripSS2Ys
      """
    + "jiyuE76AMAAAAAC50/YrfU6eroxX4"

  @Test func waveletsAreDecoded() throws {
    let text = MPEGFixtures.text(
      "\"band_type\": \"WaveletWave\", \"block_length\": 128",
      effects: """
        {"effect_type": "Basis", "position": 0, "wavelet_stream": "\(Self.block)"}
        """
    ).replacing("\"upper_frequency_limit\": 1000", with: "\"upper_frequency_limit\": 8000")
      .replacing(
        "\"gain\": 1.0", with: "\"gain\": 1.0, \"frequency_sampling\": 8000, \"sample_count\": 1024"
      )
    let signal = try MPEGFixtures.signal(text)
    #expect(signal.sampleRate == 8_000)
    let reference = try referenceSamples(text)
    for samples in [reference, signal.samples.map(MPEGFixtures.quantized)] {
      #expect(
        stride(from: 0, to: samples.count, by: 64).map { samples[$0] } == [
          -3630, 13305, 12265, -10183, -15381, 3198, 11324, 7925, -6406, -15851, 2124, 12540, 4519,
          -4191, -11786,
          -2145,
        ])
      #expect(samples.count == 1_024 && samples.max() == 18_125 && samples.min() == -19_096)
      // The reference reads some samples from the previous position.
      let sum = samples.reduce(0) { $0 + abs($1) }
      #expect(samples == reference ? sum == 8_977_285 : abs(sum - 8_977_285) < 2_000)
    }
  }

  @Test("The last block of wavelets ends with the recording")
  func recordingLength() throws {
    let text = MPEGFixtures.text(
      "\"band_type\": \"WaveletWave\", \"block_length\": 128",
      effects: """
        {"effect_type": "Basis", "position": 0, "wavelet_stream": "\(Self.block)"}
        """
    ).replacing("\"upper_frequency_limit\": 1000", with: "\"upper_frequency_limit\": 8000")
    let textWithRecordingLength = text.replacing(
      "\"gain\": 1.0", with: "\"gain\": 1.0, \"frequency_sampling\": 4000, \"sample_count\": 450")
    let samples = try MPEGFixtures.signal(textWithRecordingLength).samples
    #expect(samples.count == 900)
    #expect(try MPEGFixtures.signal(text).samples.starts(with: samples))
  }

  @Test func faultsOfTheReferenceAreNotReproduced() throws {
    let twoKeyText = MPEGFixtures.text(
      MPEGFixtures.curve("Linear"), effects: MPEGFixtures.effect([(0, 0, nil), (100, 0.9, nil)]))
    #expect(try referenceSamples(twoKeyText).allSatisfy { $0 == 0 })
    let risingSamples = try MPEGFixtures.signal(twoKeyText).samples
    #expect(abs(MPEGFixtures.quantized(risingSamples[2_400]) - 14_746) <= 1)
    let lateText = MPEGFixtures.text(
      MPEGFixtures.curve("Linear"), effects: MPEGFixtures.effect(at: 50, Self.keys))
    #expect(try referenceSamples(lateText).allSatisfy { $0 == 0 })
    let lateSignal = try MPEGFixtures.signal(lateText)
    #expect(
      lateSignal.startSeconds == 0.05
        && abs(MPEGFixtures.quantized(lateSignal.samples[960]) - 26_214) <= 1)
    // The first key may come later than the effect.
    let offsetText = MPEGFixtures.text(
      MPEGFixtures.curve("Linear"),
      effects: MPEGFixtures.effect(at: 50, [(10, 0.2, nil), (30, 0.4, nil), (40, 0, nil)]))
    #expect(try MPEGFixtures.signal(offsetText).startSeconds == 0.06)
  }

  /// Beyond the profile, with amplitudes below 0, effects that meet at a frame, and keys between
  /// frames.
  @Test func signalsEqualTheReference() throws {
    var options = ReadingOptions()
    options.signalSampleRate = 8_000
    let adjacentEffects = [
      MPEGFixtures.effect([(0, 0.9, 50), (60, 1, 50)]),
      MPEGFixtures.effect(at: 60, [(0, 0.7, 400), (40, -0.3, 500), (80, 0.1, 340)]),
    ].joined(separator: ",")
    for text in [
      MPEGFixtures.text(
        MPEGFixtures.wave,
        effects: MPEGFixtures.effect([(0, -1 / 255, 83), (250, 0.294, nil), (500, -1 / 255, 83)])),
      MPEGFixtures.text(MPEGFixtures.wave, effects: adjacentEffects, gain: 0.5),
      MPEGFixtures.text(MPEGFixtures.curve("Akima"), effects: MPEGFixtures.effect(Self.keys)),
      MPEGFixtures.text(
        MPEGFixtures.tap, effects: MPEGFixtures.effect(at: 5, [(0, 0.9, 65), (15, -0.5, nil)])),
      MPEGFixtures.text(
        MPEGFixtures.tap, effects: MPEGFixtures.effect(at: 17, [(0, 0.9, nil), (310, 0.4, nil)]),
        timescale: 11_025),
    ] {
      let file = SourceFile(Array(text.utf8), name: "t")
      let layers = try HapticFormat.hjif.examine(file, options: options).get().layers
      #expect(layers.count == 1 && layers[0].signals.count == 1 && layers[0].pattern.events.isEmpty)
      let samples = layers[0].signals[0].samples.map(MPEGFixtures.quantized)
      let expected = try referenceSamples(text)
      #expect(
        samples.count == expected.count && zip(samples, expected).allSatisfy { abs($0 - $1) <= 1 },
        "\(text)")
    }
  }

  @Test func ticksOfTheTimescaleCountForPhases() throws {
    func text(_ timescale: Int, _ factor: Int) -> String {
      MPEGFixtures.text(
        MPEGFixtures.wave,
        effects: MPEGFixtures.effect(
          [(0, 0.5, 80), (47 * factor, 0.2, 120), (120 * factor, 0.7, 60)],
          attributes: ", \"base_signal\": \"Triangle\""),
        timescale: timescale)
    }
    let samplesAt1000Ticks = try MPEGFixtures.signal(text(1_000, 1)).samples
    let samplesAt2000Ticks = try MPEGFixtures.signal(text(2_000, 2)).samples
    #expect(
      samplesAt1000Ticks.count == 5_761 && samplesAt1000Ticks.count == samplesAt2000Ticks.count)
    #expect(zip(samplesAt1000Ticks, samplesAt2000Ticks).allSatisfy { abs($0 - $1) < 1e-5 })
    let referenceAt2000Ticks = try referenceSamples(text(2_000, 2))
    #expect(
      zip(referenceAt2000Ticks, try referenceSamples(text(1_000, 1))).contains {
        abs($0 - $1) > 1_000
      })
  }

  @Test(arguments: ["Sine", "Square", "Triangle", "SawToothUp", "SawToothDown"])
  func shapesHaveTheirFrequency(
    shape: String
  ) throws {
    let text = MPEGFixtures.text(
      MPEGFixtures.wave,
      effects: MPEGFixtures.effect(
        [(0, 0.5, 100), (200, 0.5, 100)],
        attributes: ", \"base_signal\": \"\(shape)\", \"phase\": 0.5"))
    let samples = try MPEGFixtures.signal(text).samples.map { Double($0) * 0.6138 }
    #expect(samples.count == 9_601)
    // 20 periods, each of 480 samples.
    #expect(zip(samples, samples.dropFirst(480)).count { abs($0 - $1) > 1e-4 } <= 40)
    let peak = samples.map(abs).max() ?? 0
    #expect(abs(peak - 0.5) < 0.003)
    let power = samples.dropLast().reduce(0) { $0 + $1 * $1 } / 9_600
    let expected =
      switch shape {
      case "Sine": 0.125
      case "Square": 0.25
      default: 0.25 / 3
      }
    #expect(abs(power - expected) < 0.001)
  }
}
