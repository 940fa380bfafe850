internal import HapticFormats
package import HapticModel
internal import ShippedFiles

/// The patterns of playback tests, by name.
package enum PlaybackTestPattern {
  /// An error for an unknown name.
  struct UnknownPattern: Error { let name: String }

  /// Returns the pattern with a name: a shipped pattern, `hum-SECONDS`, `taps-COUNT`, or
  /// `voices-COUNT`.
  package static func named(_ name: String) throws -> HapticPattern {
    if let text = ShippedPatterns.text(named: name) {
      return try AHAPDocument(text: text, name: name).read().pattern
    }
    let parts = name.split(separator: "-")
    guard parts.count == 2, let number = Int(parts[1]) else { throw UnknownPattern(name: name) }
    switch parts[0] {
    case "hum": return hum(seconds: Double(number))
    case "taps": return taps(number)
    case "voices": return voices(number)
    default: throw UnknownPattern(name: name)
    }
  }

  /// Returns a constant vibration, in which every gap or click is detectable.
  private static func hum(seconds: Double) -> HapticPattern {
    HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: seconds,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.4])
    ])
  }

  /// Returns the time of a tap, in seconds. The intervals of adjacent taps differ, so that an
  /// interval identifies its position.
  package static func tapTime(_ index: Int) -> Double {
    // The mixing function of SplitMix64, because a more regular sequence would repeat intervals.
    var bits = UInt64(index + 1) &* 0x9e37_79b9_7f4a_7c15
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    return Double(index) * 0.08 + Double((bits >> 32) % 400) * 0.00006
  }

  private static func taps(_ count: Int) -> HapticPattern {
    HapticPattern(
      events: (0..<count).map {
        HapticEvent(
          kind: .hapticTransient, time: tapTime($0),
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
      })
  }

  /// Returns a pattern with a given number of voices for ten seconds, whose intensity and sharpness
  /// always change.
  private static func voices(_ count: Int) -> HapticPattern {
    let events = (0..<count).map { index in
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 10,
        parameters: [.hapticIntensity: 0.2, .hapticSharpness: Float(index) / Float(max(1, count))])
    }
    let ids: [DynamicParameterID] = [.hapticIntensityControl, .hapticSharpnessControl]
    let curves = ids.map { id in
      ParameterCurve(
        id: id, time: 0,
        controlPoints: (0...10).map {
          .init(time: Double($0), value: $0.isMultiple(of: 2) ? 0.2 : 0.9)
        })
    }
    return HapticPattern(events: events, curves: curves)
  }
}
