internal import CoreHaptics
internal import Foundation
internal import HapticModel

extension CHHapticPattern {
  /// One pattern of several, each from its time on, so that their distances are exact to the frame.
  ///
  /// A curve or parameter acts on the whole layer from its time on, as in any pattern.
  static func sequence(_ steps: [(pattern: CHHapticPattern, time: TimeInterval)]) throws
    -> CHHapticPattern
  {
    var layers: [HapticComposition.Layer] = []
    for step in steps {
      for (index, layer) in step.pattern.composition.layers.enumerated() {
        if index == layers.count { layers.append(HapticComposition.Layer(HapticPattern())) }
        let pattern = layer.pattern.moved(by: step.time)
        layers[index].pattern.events += pattern.events
        layers[index].pattern.parameters += pattern.parameters
        layers[index].pattern.curves += pattern.curves
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
            CHHapticEventParameter(
              parameterID: .hapticIntensity, value: intensity.isNaN ? 0 : intensity),
            CHHapticEventParameter(
              parameterID: .hapticSharpness, value: sharpness.isNaN ? 0 : sharpness),
          ], relativeTime: 0)
      ], parameters: [])
  }
}

extension HapticPattern {
  /// The pattern from a time on, in seconds.
  fileprivate func moved(by seconds: Double) -> HapticPattern {
    var pattern = self
    for index in pattern.events.indices { pattern.events[index].time += seconds }
    for index in pattern.parameters.indices { pattern.parameters[index].time += seconds }
    for index in pattern.curves.indices { pattern.curves[index].time += seconds }
    return pattern
  }
}
