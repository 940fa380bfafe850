import ComparisonFixtures
import HapticModel
import HapticRender
import PatternComparison
import ShippedFiles
import SignalAnalysis
import SoundFile
import Testing

/// Pairs without a difference are equal.
struct EqualPairTests {
  private let sentence = "B is identical to A, sample for sample."

  @Test(arguments: ["heartbeat", "earthquake-splash", "swipe-up", "capacitor_charge"])
  func patternEqualsItself(
    _ name: String
  ) throws {
    let take = try take(try shipped(name))
    let comparison = Comparison(take, take)
    #expect(comparison.equality == .identical && comparison.differences.isEmpty)
    #expect(comparison.sentences == [sentence])
    #expect(comparison.isEqual(within: Tolerance()))
  }

  @Test func orderOfEventsInAFileDoesNotMatter() throws {
    let pattern = try shipped("earthquake-splash")
    let reordered = pattern.with { $0.events.reverse() }
    // Sums of many voices round differently in another order.
    let comparison = Comparison(try take(pattern), try take(reordered))
    #expect(comparison.differences.isEmpty, "\(comparison.sentences)")
    #expect(comparison.equality != .different)
  }

  @Test func explicitDefaultsAreEqualToOmittedOnes() throws {
    let omitted = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0.1)])
    let explicit = HapticPattern(events: [tap(0.1, intensity: 0.75, sharpness: 0.5)])
    #expect(Comparison(try take(omitted), try take(explicit)).sentences == [sentence])
  }

  @Test func controlPointOnALineIsNoDifference() throws {
    let subdivided = swellingPattern.with {
      $0.curves[0].controlPoints.insert(.init(time: 0.2, value: 0.65), at: 1)
    }
    let comparison = Comparison(try take(swellingPattern), try take(subdivided))
    #expect(comparison.differences.isEmpty, "\(comparison.sentences)")
    #expect(comparison.equality != .different)
  }

  @Test func controlWithoutEventsIsNoDifference() throws {
    let withUnusedControl = fiveTapPattern.with {
      $0.parameters.append(DynamicParameter(id: .audioPanControl, value: 0.5, time: 0))
    }
    let comparison = Comparison(try take(fiveTapPattern), try take(withUnusedControl))
    #expect(
      comparison.sentences == ["B renders identically to A, but its file is different."])
    #expect(comparison.notationDifferences == ["B has 1 dynamic parameter, A has 0."])
  }

  @Test func unusedEnvelopeRendersIdentically() throws {
    let pattern = HapticPattern(events: [hum(0, 0.5)])
    let withDecay = HapticPattern(events: [hum(0, 0.5, [.decayTime: 0.5])])
    let comparison = Comparison(try take(pattern), try take(withDecay))
    #expect(comparison.equality == .identical)
    #expect(
      comparison.sentences == ["B renders identically to A, but its file is different."])
    #expect(comparison.notationDifferences == ["B's continuous event has decay 0.5 instead of 0."])
    #expect(comparison.isEqual(within: Tolerance()))
  }

  @Test func renderEqualsItsFloatRecording() throws {
    let take = try take(swellingPattern)
    #expect(Comparison(take, take.recorded()).sentences == [sentence])
  }

  @Test(arguments: ["heartbeat", "swipe-up", "light", "earthquake-splash"])
  func sixteenBitRoundingIsAResidual(
    _ name: String
  ) throws {
    let take = try take(try shipped(name))
    var generator = LinearCongruentialGenerator()
    let sixteenBitTake = take.recorded { samples in
      for index in samples.indices {
        let dither =
          Float.random(in: 0..<1, using: &generator) - Float.random(in: 0..<1, using: &generator)
        samples[index] = ((samples[index] * 32_768) + dither).rounded() / 32_768
      }
    }
    let comparison = Comparison(take, sixteenBitTake)
    #expect(comparison.sentences == ["B is identical to A except for a residual at −96 dBFS."])
    #expect(comparison.isEqual(within: Tolerance()))
  }

  @Test func twentyFourAndSixteenBitsAreEqual() throws {
    let take = try take(swellingPattern)
    let twentyFourBitTake = take.recorded {
      for index in $0.indices {
        $0[index] = rounded($0[index], 8_388_608)
      }
    }
    let sixteenBitTake = take.recorded {
      for index in $0.indices {
        $0[index] = rounded($0[index], 32_768)
      }
    }
    let comparison = Comparison(twentyFourBitTake, sixteenBitTake)
    #expect(comparison.differences.isEmpty)
    #expect(comparison.sentences == ["B is identical to A except for a residual at −102 dBFS."])
  }

  private func rounded(_ sample: Float, _ stepsPerUnit: Float) -> Float {
    (sample * stepsPerUnit).rounded() / stepsPerUnit
  }

  @Test(arguments: ["heartbeat", "swipe-up", "earthquake-splash"])
  func resamplingThereAndBackIsEqual(
    _ name: String
  ) throws {
    let take = try take(try shipped(name))
    let original = Sound(interleaved: take.signal.mono, channelCount: 1, rate: 48_000)
    let downsampled = try original.resampled(to: 44_100, path: "downsampled")
    let restored = try downsampled.resampled(to: 48_000, path: "restored")
    let comparison = Comparison(take, sound([restored.interleaved]))
    #expect(comparison.differences.isEmpty, "\(comparison.sentences)")
    #expect(comparison.verdict?.hasPrefix("B is identical to A except for ") == true)
  }

  @Test func hundredthOfADecibelIsEqualAndReported() throws {
    let take = try take(fiveTapPattern)
    let louder = take.recorded {
      for index in $0.indices {
        $0[index] *= 1.001_152
      }
    }
    #expect(
      Comparison(take, louder).sentences.first?.hasPrefix("B is identical to A except for 0.01 dB")
        == true)
  }

  @Test func silenceEqualsSilence() throws {
    let silent = sound([[Float](repeating: 0, count: 4_800)])
    #expect(Comparison(silent, silent).sentences == [sentence])
    let empty = sound([[]])
    #expect(Comparison(empty, empty).sentences == [sentence])
    let longerSilence = sound([[Float](repeating: 0, count: 9_600)])
    #expect(
      Comparison(silent, longerSilence).sentences == [
        "B's recording is 100 ms longer: 0.2 instead of 0.1 s."
      ])
  }
}
