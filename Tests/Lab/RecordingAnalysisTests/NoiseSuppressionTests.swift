import ComparisonFixtures
import Glibc
import HapticModel
import PatternComparison
import RecordingAnalysis
import SignalAnalysis
import Testing

/// Patterns compared with recordings whose noise was suppressed by spectral subtraction.
struct NoiseSuppressionTests {
  /// A noise suppressor that subtracts twice the median power of each frequency.
  ///
  /// A hum that lasts for more than half of the recording is also noise to the suppressor.
  private enum Suppressor {
    /// The number of samples of a block: 20 ms.
    static let blockSampleCount = 960
    /// The ratio of the subtracted power to the power of the noise.
    static let oversubtraction: Float = 2
    /// The minimum gain: −18 dB.
    static let minimumGain = Float(pow(10, -18.0 / 20))

    /// Returns the sound after the suppressor.
    ///
    /// The sum of the windows of overlapping blocks is 1.
    static func output(for sound: [Float]) -> [Float] {
      let hopSampleCount = blockSampleCount / 2
      let window = (0..<blockSampleCount).map {
        Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(blockSampleCount)))
      }
      var transform = FourierTransform(length: blockSampleCount)
      let starts = Array(stride(from: 0, to: sound.count - blockSampleCount, by: hopSampleCount))
      var spectra = starts.map { start in
        transform.forward(zip(sound[start...], window).map { $0 * $1 })
      }
      for bin in 0..<transform.binCount {
        let noisePower = Statistics.median(of: spectra.map { Double($0[bin].power) })
        for index in spectra.indices {
          let value = spectra[index][bin]
          let ratio = oversubtraction * Float(noisePower) / max(value.power, 1e-20)
          let gain = max(minimumGain, max(0, 1 - ratio).squareRoot())
          spectra[index][bin] = ComplexNumber(gain * value.real, gain * value.imaginary)
        }
      }
      var output = [Float](repeating: 0, count: sound.count)
      for (start, spectrum) in zip(starts, spectra) {
        for (offset, sample) in transform.backward(spectrum).enumerated() {
          output[start + offset] += sample
        }
      }
      return output
    }
  }

  /// Compares a pattern with a recording.
  ///
  /// The noise is 45 dB below the peak before the suppressor, and 50 dB below the peak after it.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - recordedPattern: The recorded pattern.
  ///   - polarity: The sign of the recording.
  ///   - processing: The processing of the recorded sound.
  private func comparison(
    of pattern: HapticPattern, withRecordingOf recordedPattern: HapticPattern, polarity: Float = 1,
    processing: ([Float]) -> [Float] = Suppressor.output
  ) throws -> Comparison {
    var generator = LinearCongruentialGenerator(seed: 7)
    func addingNoise(to sound: [Float], decibels: Double) -> [Float] {
      let amplitude = Float(3.0.squareRoot() * pow(10, decibels / 20)) * (sound.map(abs).max() ?? 0)
      return sound.map { $0 + amplitude * Float.random(in: -1...1, using: &generator) }
    }
    let sound =
      try take(recordedPattern).signal.mono + [Float](repeating: 0, count: Int(0.6 * 48_000))
    let processed = processing(addingNoise(to: sound, decibels: -45))
    let silence = [Float](repeating: 0, count: 24_000)
    let recording = addingNoise(to: silence + processed + silence, decibels: -50)
    return Comparison(
      try take(pattern), ComparisonFixtures.sound([recording.map { polarity * $0 }]))
  }

  /// Returns a sound after soft clipping.
  ///
  /// The distortion is an error that a linear fit cannot explain.
  private func saturated(_ sound: [Float]) -> [Float] {
    let peak = sound.map(abs).max() ?? 1
    return sound.map { peak * tanh($0 / peak) }
  }

  @Test(
    "A hum that a noise suppressor attenuates is not reported as a difference",
    arguments: ["capacitor_charge", "earthquake-splash"], [Float(1), -1])
  func suppressedHumIsNoDifference(name: String, polarity: Float) throws {
    let pattern = try shipped(name)
    let comparison = try comparison(of: pattern, withRecordingOf: pattern, polarity: polarity)
    #expect(comparison.recordingMatch?.outcome == .found)
    #expect(comparison.recordingMatch?.isInverted == (polarity < 0))
    #expect(comparison.differences.allSatisfy { $0.isOverall }, "\(comparison.sentences)")
    #expect(!comparison.sentences.contains { $0.contains("cannot be evaluated") })
  }

  @Test("Events that a noise suppressor may have removed are not evaluated")
  func removableEventsAreNotEvaluated() throws {
    let pattern = try shipped("earthquake-splash")
    var changed = pattern
    changed.events.removeLast()
    let comparison = try comparison(of: pattern, withRecordingOf: changed)
    #expect(comparison.recordingMatch?.outcome == .found)
    #expect(comparison.differences.allSatisfy { $0.isOverall }, "\(comparison.sentences)")
    #expect(
      comparison.limitations.first
        == "2 of A's 6 events are too weak to evaluate in this recording.")
  }

  @Test("A missing quiet event in a distorted recording is reported, or counted as too weak")
  func missingQuietEventIsNotHidden() throws {
    // The last tap is 28 dB below the loudest event. The phone's amplitude is the square of
    // intensity.
    let quietIntensity = Float(pow(10, -28.0 / 40))
    let pattern = HapticPattern(events: [
      tap(0, intensity: 1, sharpness: 0.5), tap(0.3, intensity: 0.8, sharpness: 0.3),
      tap(0.6, intensity: 1, sharpness: 0.7), tap(0.9, intensity: quietIntensity, sharpness: 0.5),
    ])
    var changed = pattern
    changed.events.removeLast()
    let comparison = try comparison(of: pattern, withRecordingOf: changed, processing: saturated)
    let eventDifferences = comparison.differences.filter { !$0.isOverall }
    let isCountedAsTooWeak = comparison.limitations.contains {
      $0 == "1 of A's 4 events is too weak to evaluate in this recording."
    }
    #expect(
      eventDifferences.map(\.kind) == [.missing] || isCountedAsTooWeak,
      "\(comparison.sentences), \(comparison.limitations)")
  }

  @Test(
    "A missing loud event in a recording with suppressed noise is reported",
    arguments: [("capacitor_charge", 1), ("earthquake-splash", 3)])
  func missingEventIsReported(name: String, index: Int) throws {
    let pattern = try shipped(name)
    var changed = pattern
    let seconds = changed.events.remove(at: index).time
    let comparison = try comparison(of: pattern, withRecordingOf: changed)
    let eventDifferences = comparison.differences.filter { !$0.isOverall }
    #expect(eventDifferences.map(\.kind) == [.missing], "\(comparison.sentences)")
    #expect(eventDifferences.allSatisfy { abs($0.timeRange.lowerBound - seconds) < 0.03 })
  }
}
