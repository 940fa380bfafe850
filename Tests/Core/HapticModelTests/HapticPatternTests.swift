import HapticModel
import Testing

@Suite struct HapticPatternTests {
  @Test func anEmptyPatternHasNoDuration() { #expect(HapticPattern().durationSeconds == 0) }

  @Test func durationExtendsToTheLastEndOrStart() {
    var pattern = HapticPattern(events: [
      HapticEvent(kind: .hapticContinuous, time: 1, duration: 2),
      HapticEvent(kind: .hapticTransient, time: 2.5),
    ])
    #expect(pattern.durationSeconds == 3)
    pattern.parameters = [DynamicParameter(id: .audioPanControl, value: 0, time: 4)]
    #expect(pattern.durationSeconds == 4)
    // Only the start of a curve counts, not its last point.
    pattern.curves = [
      ParameterCurve(
        id: .audioPanControl, time: 4.5,
        controlPoints: [.init(time: 0, value: 0), .init(time: 9, value: 1)])
    ]
    #expect(pattern.durationSeconds == 4.5)
  }

  @Test func durationOfATransientCounts() {
    let tap = HapticEvent(kind: .hapticTransient, time: 1, duration: 0.5)
    #expect(HapticPattern(events: [tap]).durationSeconds == 1.5)
  }
}

@Suite struct HapticEventTests {
  @Test func missingValuesHaveAppleDefaults() {
    let tap = HapticEvent(kind: .hapticTransient, time: 0)
    let hum = HapticEvent(kind: .hapticContinuous, time: 0)
    #expect(tap.value(of: .hapticIntensity) == 0.75)
    #expect(tap.value(of: .hapticSharpness) == 0.5)
    #expect(hum.value(of: .hapticIntensity) == 0.6)
    #expect(hum.value(of: .hapticSharpness) == 0.422601)
    for id in EventParameterID.allCases {
      let parametersWithDefaultOne: Set<EventParameterID> = [
        .sustained, .audioVolume, .audioBrightness,
      ]
      guard id != .hapticIntensity, id != .hapticSharpness else { continue }
      #expect(hum.value(of: id) == (parametersWithDefaultOne.contains(id) ? 1 : 0))
    }
  }

  @Test(arguments: EventParameterID.allCases) func valuesAreClampedToTheirRange(
    id: EventParameterID
  ) {
    let isSigned = id == .audioPan || id == .audioPitch
    #expect(id.range == (isSigned ? -1 : 0)...1)
    for (value, expected) in [
      (5, 1), (-5, id.range.lowerBound), (0.25, 0.25), (.infinity, 1),
      (-.infinity, id.range.lowerBound),
    ] as [(Float, Float)] {
      let event = HapticEvent(kind: .audioContinuous, time: 0, parameters: [id: value])
      #expect(event.value(of: id) == expected)
    }
  }

  @Test(arguments: EventParameterID.allCases) func nanCountsAsMissing(id: EventParameterID) {
    let event = HapticEvent(kind: .hapticTransient, time: 0, parameters: [id: .nan])
    #expect(event.value(of: id) == id.defaultValue(for: .hapticTransient))
  }
}

@Suite struct EventParametersTests {
  @Test func newParametersAreEmpty() {
    let parameters = EventParameters()
    #expect(parameters.identifiers.isEmpty)
    for id in EventParameterID.allCases {
      #expect(parameters[id] == nil)
    }
  }

  @Test(arguments: EventParameterID.allCases) func settingAValueChangesNoOtherValue(
    id: EventParameterID
  ) {
    var parameters = EventParameters()
    parameters[id] = 7.5
    #expect(parameters.identifiers == [id])
    #expect(parameters[id] == 7.5)
    parameters[id] = nil
    #expect(parameters == EventParameters())
  }

  @Test func zeroDiffersFromAMissingValue() {
    let zero: EventParameters = [.audioPan: 0]
    #expect(zero[.audioPan] == 0)
    #expect(zero != EventParameters())
  }

  @Test func lastOfTwoEqualKeysApplies() {
    let parameters: EventParameters = [.attackTime: 0.1, .attackTime: 0.2]
    #expect(parameters[.attackTime] == 0.2)
    #expect(parameters == EventParameters([.attackTime: 0.2]))
  }

  @Test func identifiersComeInDeclarationOrder() {
    let parameters: EventParameters = [.audioPan: 0, .hapticIntensity: 1, .sustained: 0]
    #expect(parameters.identifiers == [.hapticIntensity, .sustained, .audioPan])
  }
}

@Suite struct DynamicParameterIDTests {
  @Test func onlyIntensityAndVolumeMultiply() {
    #expect(
      DynamicParameterID.allCases.filter(\.isMultiplier) == [
        .hapticIntensityControl, .audioVolumeControl,
      ])
  }

  @Test(arguments: DynamicParameterID.allCases) func neutralValuesChangeNothing(
    id: DynamicParameterID
  ) {
    #expect(id.neutralValue == (id.isMultiplier ? 1 : 0))
    #expect(id.range == (id.isMultiplier ? 0...1 : -1...1))
  }

  @Test(arguments: DynamicParameterID.allCases) func nameConsistsOfTargetAndControl(
    id: DynamicParameterID
  ) {
    let name = id.rawValue
    let target = id.eventParameter.rawValue
    #expect(name.hasSuffix("Control"))
    #expect(name == "\(target)Control" || name.hasSuffix("\(target)Control"))
  }
}

@Suite struct HapticTimeTests {
  @Test func timesAreRoundedToTheNearestFrame() {
    #expect(FrameConversion.frame(seconds: 0.1, rate: 44_100) == 4_410)
    #expect(FrameConversion.frame(seconds: 0.5, rate: 3) == 2)
    #expect(FrameConversion.frame(seconds: -0.5, rate: 3) == -2)
    #expect(FrameConversion.frame(seconds: 1.0 / 3, rate: 48_000) == 16_000)
  }

  @Test func extremeNumbersAreLimitedToFrames() {
    #expect(FrameConversion.frame(seconds: .infinity, rate: 48_000) == 4_147_200_000)
    #expect(FrameConversion.frame(seconds: -.infinity, rate: 48_000) == -4_147_200_000)
    #expect(FrameConversion.frame(seconds: 1e300, rate: 192_000) == 16_588_800_000)
    #expect(FrameConversion.frame(seconds: .nan, rate: 48_000) == 0)
  }
}
