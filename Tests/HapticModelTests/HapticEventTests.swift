import HapticModel
import Testing

@Suite struct HapticEventTests {
  @Test func valuesThatWereNotGivenTakeAppleDefaults() {
    let tap = HapticEvent(kind: .hapticTransient, time: 0)
    let hum = HapticEvent(kind: .hapticContinuous, time: 0)
    #expect(tap.value(of: .hapticIntensity) == 0.75)
    #expect(tap.value(of: .hapticSharpness) == 0.5)
    #expect(hum.value(of: .hapticIntensity) == 0.6)
    #expect(hum.value(of: .hapticSharpness) == 0.422601)
    for id in EventParameterID.allCases {
      let others: Set<EventParameterID> = [.sustained, .audioVolume, .audioBrightness]
      guard id != .hapticIntensity, id != .hapticSharpness else { continue }
      #expect(hum.value(of: id) == (others.contains(id) ? 1 : 0))
    }
  }

  @Test(arguments: EventParameterID.allCases)
  func valuesAreClampedToTheirRange(id: EventParameterID) {
    let isSigned = id == .audioPan || id == .audioPitch
    #expect(id.range == (isSigned ? -1 : 0)...1)
    for (given, expected) in [
      (5, 1), (-5, id.range.lowerBound), (0.25, 0.25), (.infinity, 1),
      (-.infinity, id.range.lowerBound),
    ] as [(Float, Float)] {
      let event = HapticEvent(kind: .audioContinuous, time: 0, parameters: [id: given])
      #expect(event.value(of: id) == expected)
    }
  }

  @Test(arguments: EventParameterID.allCases)
  func notANumberCountsAsNotGiven(id: EventParameterID) {
    let event = HapticEvent(kind: .hapticTransient, time: 0, parameters: [id: .nan])
    #expect(event.value(of: id) == id.defaultValue(for: .hapticTransient))
  }
}
