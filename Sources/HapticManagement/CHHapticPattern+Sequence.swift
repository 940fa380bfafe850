internal import CoreHaptics
internal import Foundation
internal import HapticModel

extension CHHapticPattern {
  /// One pattern of several, each from its time on, so that their distances are exact to the frame.
  ///
  /// A curve or parameter acts on the whole layer from its time on, as in any pattern.
  static func sequence(_ steps: [(pattern: CHHapticPattern, time: TimeInterval)]) throws -> CHHapticPattern {
    var layers: [HapticComposition.Layer] = []
    for step in steps {
      for (index, layer) in step.pattern.composition.layers.enumerated() {
        if index == layers.count { layers.append(HapticComposition.Layer(HapticPattern())) }
        var moved = layer
        moved.delay(by: step.time)
        layers[index].pattern.events += moved.pattern.events
        layers[index].pattern.parameters += moved.pattern.parameters
        layers[index].pattern.curves += moved.pattern.curves
        layers[index].signals += moved.signals
      }
    }
    return CHHapticPattern(HapticComposition(layers: layers))
  }

  /// One tap; values outside 0…1 are moved to the nearest bound, NaN counts as 0.
  static func tap(intensity: Float, sharpness: Float) throws -> CHHapticPattern {
    try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticTransient,
          parameters: [
            CHHapticEventParameter(parameterID: .hapticIntensity, value: intensity.isNaN ? 0 : intensity),
            CHHapticEventParameter(parameterID: .hapticSharpness, value: sharpness.isNaN ? 0 : sharpness),
          ], relativeTime: 0)
      ], parameters: [])
  }
}
