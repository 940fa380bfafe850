import HapticModel
import Testing

@testable import CoreHaptics

/// The ranges and defaults that a device reports.
@Suite struct ValuesCapabilityTests {
  private let device: any CHHapticDeviceCapability = DeviceCapability(
    supportsHaptics: true, supportsAudio: false)

  private func figures(_ attributes: any CHHapticParameterAttributes) -> [Float] {
    [attributes.minValue, attributes.defaultValue, attributes.maxValue]
  }

  @Test func capabilitiesAreReported() {
    #expect(device.supportsHaptics)
    #expect(!device.supportsAudio)
    #expect("\(device)" == "CHHapticDeviceCapability(haptics true, audio false)")
  }

  /// Source: the constant table of Apple's Unity wrapper, `Sustained` by Apple's header.
  @Test func eventParametersHaveRangeAndDefault() throws {
    let transient: [CHHapticEvent.ParameterID: [Float]] = [
      .hapticIntensity: [0, 0.75, 1], .hapticSharpness: [0, 0.5, 1],
    ]
    let continuous: [CHHapticEvent.ParameterID: [Float]] = [
      .hapticIntensity: [0, 0.6, 1], .hapticSharpness: [0, 0.422601, 1], .attackTime: [0, 0, 1],
      .decayTime: [0, 0, 1],
      .releaseTime: [0, 0, 1], .sustained: [0, 1, 1],
    ]
    let audio: [CHHapticEvent.ParameterID: [Float]] = [
      .attackTime: [0, 0, 1], .decayTime: [0, 0, 1], .releaseTime: [0, 0, 1],
      .sustained: [0, 1, 1],
      .audioVolume: [0, 1, 1], .audioPitch: [-1, 0, 1], .audioPan: [-1, 0, 1],
      .audioBrightness: [0, 1, 1],
    ]
    let tables: [(CHHapticEvent.EventType, [CHHapticEvent.ParameterID: [Float]])] = [
      (.hapticTransient, transient), (.hapticContinuous, continuous), (.audioContinuous, audio),
      (.audioCustom, audio),
    ]
    for (type, table) in tables {
      for parameterID in EventParameterID.allCases {
        let id = CHHapticEvent.ParameterID(rawValue: parameterID.rawValue)
        if let expected = table[id] {
          let attributes = try device.attributes(forEventParameter: id, eventType: type)
          #expect(figures(attributes) == expected, "\(id) of \(type)")
        } else {
          #expect(throws: CHHapticError.self, "\(id) of \(type)") {
            try device.attributes(forEventParameter: id, eventType: type)
          }
        }
      }
    }
  }

  @Test func dynamicParametersHaveRangeAndNeutralValue() throws {
    for parameterID in DynamicParameterID.allCases {
      let id = CHHapticDynamicParameter.ID(rawValue: parameterID.rawValue)
      let expected: [Float] =
        id == .hapticIntensityControl || id == .audioVolumeControl ? [0, 1, 1] : [-1, 0, 1]
      #expect(figures(try device.attributes(forDynamicParameter: id)) == expected, "\(id)")
    }
    let attributes = try device.attributes(forDynamicParameter: .audioPanControl)
    #expect("\(attributes)" == "CHHapticParameterAttributes(-1.0 to 1.0, default 0.0)")
  }

  @Test func unknownIdentifiersAreRefused() {
    #expect(
      failure { try device.attributes(forEventParameter: .attackTime, eventType: .hapticTransient) }
        == "-4820: HapticTransient events do not respond to AttackTime")
    #expect(
      failure {
        try device.attributes(
          forEventParameter: .hapticIntensity, eventType: .init(rawValue: "Buzz"))
      }
        == "-4821: unknown event type \"Buzz\"")
    #expect(
      failure {
        try device.attributes(
          forEventParameter: .init(rawValue: "Force"), eventType: .hapticTransient)
      }
        == "-4820: unknown event parameter \"Force\"")
    #expect(
      failure { try device.attributes(forDynamicParameter: .init(rawValue: "Force")) }
        == "-4820: unknown dynamic parameter \"Force\"")
  }
}
