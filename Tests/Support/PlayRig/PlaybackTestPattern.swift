internal import HapticFormats
package import HapticModel
internal import ShippedFiles

/// The patterns that playback is tested with, by name.
package enum PlaybackTestPattern {
  /// Nothing has this name.
  struct UnknownPattern: Error { let name: String }

  /// The pattern of a name: one that is shipped, or `hum-SECONDS`, `taps-COUNT` or `voices-COUNT`.
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

  /// One even vibration, which a gap or a click cannot hide in.
  private static func hum(seconds: Double) -> HapticPattern {
    HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: seconds,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.4])
    ])
  }

  /// When a tap comes, in seconds: every gap differs from those around it, so that a place is known
  /// by it.
  package static func tapTime(_ index: Int) -> Double {
    // The mixing of SplitMix64: anything more regular repeats its gaps.
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

  /// As much as a renderer is built for: voices for ten seconds, intensity and sharpness always
  /// moving.
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
