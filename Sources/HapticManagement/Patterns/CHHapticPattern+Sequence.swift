internal import CoreHaptics
internal import Foundation

extension CHHapticPattern {
  /// One pattern of several, each from its time on, so that their distances are exact to the frame.
  ///
  /// A curve or parameter acts on the whole from its time on, as in any pattern.
  static func sequence(_ steps: [(pattern: CHHapticPattern, time: TimeInterval)]) throws
    -> CHHapticPattern
  {
    var entries: [[Key: Any]] = []
    for step in steps {
      let dictionary = try step.pattern.exportDictionary()
      for entry in dictionary[.pattern] as? [[Key: Any]] ?? [] {
        entries.append(
          entry.mapValues { content in
            guard var content = content as? [Key: Any] else { return content }
            content[.time] = (content[.time] as? Double ?? 0) + step.time
            return content
          })
      }
    }
    return try CHHapticPattern(dictionary: [.version: 1.0, .pattern: entries])
  }

  /// One tap; values outside 0…1 are moved to the nearest bound, what is no number counts as 0.
  static func tap(intensity: Float, sharpness: Float) throws -> CHHapticPattern {
    try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [
            CHHapticEventParameter(
              parameterID: .hapticIntensity, value: intensity.isNaN ? 0 : intensity),
            CHHapticEventParameter(
              parameterID: .hapticSharpness, value: sharpness.isNaN ? 0 : sharpness),
          ], relativeTime: 0)
      ], parameters: [])
  }
}
