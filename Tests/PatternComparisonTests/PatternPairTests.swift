import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

/// Pairs of patterns with one known difference: it is named, and nothing else is.
struct PatternPairTests {
  /// Compares two patterns whose one difference is known.
  private func one(_ pattern: HapticPattern, _ other: HapticPattern) throws -> Difference {
    let comparison = Comparison(try take(pattern), try take(other))
    #expect(comparison.differences.count == 1, "\(comparison.sentences)")
    #expect(comparison.equality == .different)
    #expect(comparison.verdict == nil)
    return try #require(comparison.differences.first)
  }

  @Test func aTapMovedBy8Milliseconds() throws {
    let found = try one(fiveTaps, fiveTaps.with { $0.events[2].time = 0.508 })
    #expect(found.kind == .time && found.unit == .seconds)
    #expect(abs(found.amount - 0.008) < 1e-9)
    #expect(found.referenceEvents == [2] && found.otherEvents == [2])
    #expect(abs(found.range.lowerBound - 0.5) < 1e-9)
    #expect(found.sentence == "B's third transient comes 8 ms later, at 0.508 s.")
    #expect(found.isNoticeable)
  }

  @Test func aLevelOneDecibelLower() throws {
    // The phone's amplitude is the square of intensity.
    let intensity: Float = 0.8 * 0.944_061
    let found = try one(fiveTaps, fiveTaps.with { $0.events[2].parameters[.hapticIntensity] = intensity })
    #expect(found.kind == .level && found.unit == .decibels)
    #expect(abs(found.amount + 1) < 1e-4)
    #expect(found.sentence == "B's third transient, at 0.5 s, is 1 dB weaker: intensity 0.755 instead of 0.8.")
    #expect(!found.isNoticeable)
  }

  @Test func aSharpnessATenthHigher() throws {
    let found = try one(fiveTaps, fiveTaps.with { $0.events[1].parameters[.hapticSharpness] = 0.6 })
    #expect(found.kind == .frequency && found.unit == .percent)
    #expect(abs(found.amount - 11.14) < 0.01)
    #expect(
      found.sentence == "B's second transient, at 0.25 s, is 11 % sharper: 151 instead of 136 Hz "
        + "(sharpness 0.6 instead of 0.5).")
  }

  @Test func aTapMissing() throws {
    let found = try one(fiveTaps, fiveTaps.with { $0.events.remove(at: 3) })
    #expect(found.kind == .missing && found.referenceEvents == [3] && found.otherEvents == [])
    #expect(found.sentence == "B lacks A's fourth transient, at 0.75 s.")
  }

  @Test func aTapAdded() throws {
    let found = try one(fiveTaps, fiveTaps.with { $0.events.append(tap(0.6)) })
    #expect(found.kind == .added && found.otherEvents == [5])
    #expect(found.sentence == "B has an extra transient at 0.6 s.")
  }

  @Test func aHum50MillisecondsLonger() throws {
    let found = try one(swell, swell.with { $0.events[1].duration = 0.85 })
    #expect(found.kind == .duration && abs(found.amount - 0.05) < 1e-9)
    #expect(found.sentence == "B's continuous event is 50 ms longer: 0.85 instead of 0.8 s.")
  }

  @Test func theWholeAtFourFifthsOfItsIntensity() throws {
    let quieter = fiveTaps.with { pattern in
      for index in pattern.events.indices {
        let value = pattern.events[index].parameters[.hapticIntensity] ?? 0
        pattern.events[index].parameters[.hapticIntensity] = value * 0.8
      }
    }
    let found = try one(fiveTaps, quieter)
    #expect(found.kind == .level && found.isThroughout)
    #expect(abs(found.amount + 3.876) < 1e-3)
    #expect(found.sentence == "B is 3.9 dB weaker throughout: intensity × 0.8.")
  }

  @Test func theWholeATenthSharper() throws {
    let sharper = fiveTaps.with { pattern in
      for index in pattern.events.indices {
        let value = pattern.events[index].parameters[.hapticSharpness] ?? 0
        pattern.events[index].parameters[.hapticSharpness] = value + 0.1
      }
    }
    let found = try one(fiveTaps, sharper)
    #expect(found.kind == .frequency && found.isThroughout)
    #expect(found.sentence == "B is 11 % sharper throughout: sharpness + 0.1.")
  }

  @Test func anAttackChanged() throws {
    let found = try one(swell, swell.with { $0.events[1].parameters[.attackTime] = 0.5 })
    #expect(found.kind == .attack && abs(found.amount - 0.1381) < 1e-3)
    #expect(found.sentence == "B's continuous event takes 138 ms longer to rise: attack 0.5 instead of 0.25.")
  }

  @Test func aReleaseChanged() throws {
    let found = try one(swell, swell.with { $0.events[1].parameters[.releaseTime] = 0 })
    #expect(found.kind == .release && abs(found.amount + 0.03055) < 1e-4)
    #expect(found.sentence == "B's continuous event has a 31 ms shorter release: release 0 instead of 0.2.")
  }

  @Test func aDecayInsteadOfAHold() throws {
    let found = try one(swell, swell.with { $0.events[1].parameters[.sustained] = 0 })
    #expect(found.kind == .sustain)
    #expect(found.sentence == "B's continuous event decays instead of sustaining.")
  }

  @Test func aCurvePointLower() throws {
    let found = try one(swell, swell.with { $0.curves[0].controlPoints[1].value = 0.7 })
    #expect(found.kind == .curve && abs(found.amount + 4.366) < 1e-3)
    #expect(abs(found.range.lowerBound - 0.2) < 1e-9 && abs(found.range.upperBound - 1) < 1e-9)
    #expect(
      found.sentence == "The second point of B's intensity curve, at 0.6 s, is 0.7 instead of 0.9: "
        + "up to 4.4 dB weaker.")
  }

  @Test func aCurvePointLater() throws {
    let found = try one(swell, swell.with { $0.curves[0].controlPoints[1].time = 0.5 })
    #expect(found.kind == .curve && found.unit == .seconds && abs(found.amount - 0.1) < 1e-6)
    #expect(
      found.sentence == "The second point of B's intensity curve comes 100 ms later, at 0.7 s: " + "up to 2 dB apart.")
  }

  @Test func aDynamicParameterAdded() throws {
    let found = try one(
      fiveTaps,
      fiveTaps.with { $0.parameters.append(DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.6)) })
    #expect(found.kind == .parameter && abs(found.amount + 12.04) < 0.01)
    #expect(found.sentence == "B sets intensity to 0.5 at 0.6 s: 12 dB weaker.")
  }

  @Test func aDynamicParameterGone() throws {
    let steered = fiveTaps.with {
      $0.parameters.append(DynamicParameter(id: .hapticSharpnessControl, value: 0.2, time: 0.4))
    }
    let found = try one(steered, fiveTaps)
    #expect(found.kind == .parameter)
    #expect(found.sentence == "B does not set sharpness to 0.2 at 0.4 s: 19 % lower.")
  }

  @Test func allLaterByTheSame() throws {
    let later = fiveTaps.with { pattern in for index in pattern.events.indices { pattern.events[index].time += 0.012 } }
    let found = try one(fiveTaps, later)
    #expect(found.kind == .time && found.isThroughout && abs(found.amount - 0.012) < 1e-9)
    #expect(found.sentence == "B as a whole comes 12 ms later.")
  }

  @Test func theEndLaterByTheSame() throws {
    let later = fiveTaps.with { pattern in for index in 3...4 { pattern.events[index].time += 0.05 } }
    let found = try one(fiveTaps, later)
    #expect(found.kind == .time && found.referenceEvents == [3, 4])
    #expect(found.sentence == "From its fourth transient on, at 0.8 s, all of B comes 50 ms later.")
  }

  @Test func allAtASlowerPace() throws {
    let slower = swell.with { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time *= 1.1
        pattern.events[index].duration? *= 1.1
      }
      pattern.curves[0].time *= 1.1
      for index in pattern.curves[0].controlPoints.indices { pattern.curves[0].controlPoints[index].time *= 1.1 }
    }
    let found = try one(swell, slower)
    #expect(found.kind == .tempo && abs(found.amount - 10) < 1e-6)
    #expect(found.sentence == "B runs 10 % slower.")
  }

  @Test func tapsInReverseOrder() throws {
    let reversed = fiveTaps.with { pattern in
      let times = pattern.events.map(\.time)
      pattern.events.reverse()
      for (index, time) in times.enumerated() { pattern.events[index].time = time }
    }
    let found = try one(fiveTaps, reversed)
    #expect(found.kind == .order && found.isThroughout)
    #expect(found.sentence == "B's transients are in reverse order.")
  }

  @Test func twoTapsThatChangedPlaces() throws {
    let swapped = fiveTaps.with { pattern in
      let parameters = pattern.events[1].parameters
      pattern.events[1].parameters = pattern.events[3].parameters
      pattern.events[3].parameters = parameters
    }
    let found = try one(fiveTaps, swapped)
    #expect(found.sentence == "B's transients 2 and 4 are swapped.")
  }

  /// Two sharpnesses that a curve holds at 1 sound the same, however they are written.
  @Test func whatIsPlayedIsJudged() throws {
    func pattern(_ sharpness: Float, _ control: Float) -> HapticPattern {
      HapticPattern(
        events: [hum(0, 0.5, sharpness: sharpness)],
        curves: [
          ParameterCurve(
            id: .hapticSharpnessControl, time: 0,
            controlPoints: [.init(time: 0, value: control), .init(time: 0.5, value: control)])
        ])
    }
    let same = Comparison(try take(pattern(0.6, 0.9)), try take(pattern(0.3, 0.9)))
    #expect(same.sentences == ["B is identical to A, sample for sample."])
    // 0.9 and 1 are heard where 0.9 and 1.2 would be.
    let found = try one(pattern(0.4, 0.5), pattern(0.7, 0.5))
    #expect(found.kind == .frequency && abs(found.amount - 11.14) < 0.01)
    let plain = try one(pattern(0.1, 0.2), pattern(0.4, 0.2))
    #expect(abs(plain.amount - 37.27) < 0.01)
  }
}
