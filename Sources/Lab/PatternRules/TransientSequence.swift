import HapticModel

/// A transient with its intensity and sharpness after the controls of its layer.
struct EffectiveTransient {
  var event: EventReference
  var time: Double
  var intensity: Float
  var sharpness: Float

  /// A Boolean value that indicates whether the transient is heavy.
  ///
  /// A heavy transient should be reserved for important events.
  var isHeavy: Bool { intensity >= 0.95 }

  /// Returns the transients of all layers, sorted by time.
  static func all(of composition: HapticComposition) -> [EffectiveTransient] {
    var transients: [EffectiveTransient] = []
    for (layer, content) in composition.layers.enumerated() {
      let intensityControl = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      let sharpnessControl = ControlTimeline(of: .hapticSharpnessControl, in: content.pattern)
      for (index, event) in content.pattern.events.enumerated() where event.kind.isTransient {
        let effectiveSharpness =
          event.value(of: .hapticSharpness) + Float(sharpnessControl.value(at: event.time))
        let effectiveIntensity =
          event.value(of: .hapticIntensity) * Float(intensityControl.value(at: event.time))
        transients.append(
          EffectiveTransient(
            event: EventReference(layerIndex: layer, eventIndex: index), time: event.time,
            intensity: effectiveIntensity,
            sharpness: min(max(effectiveSharpness, 0), 1)))
      }
    }
    return transients.sorted { ($0.time, $0.event) < ($1.time, $1.event) }
  }
}

/// A sequence of transients that each follow the previous transient within 250 ms.
struct TransientSequence {
  /// The maximum gap between transients of a sequence, in seconds.
  static let maximumGapSeconds = 0.25
  /// The maximum rounding error of decimal times in binary, in seconds.
  static let timeToleranceSeconds = 1e-6

  let transients: ArraySlice<EffectiveTransient>

  /// Divides sorted transients into sequences.
  static func all(of transients: [EffectiveTransient]) -> [TransientSequence] {
    var sequences: [TransientSequence] = []
    var sequenceStart = 0
    for index in transients.indices
    where index + 1 == transients.count
      || transients[index + 1].time - transients[index].time > maximumGapSeconds
        + timeToleranceSeconds
    {
      sequences.append(TransientSequence(transients: transients[sequenceStart...index]))
      sequenceStart = index + 1
    }
    return sequences
  }

  /// A Boolean value that indicates whether the spacing of the transients is regular.
  ///
  /// One of these conditions is sufficient:
  ///
  /// - There are fewer than four transients.
  /// - All gaps are similar: the largest is at most 25 % longer than the smallest.
  /// - The gaps only grow or only shrink, within 1 ms.
  /// - A group of 2 to 8 gaps repeats at least once with similar gaps, up to the last transient.
  var hasRegularSpacing: Bool {
    guard transients.count >= 4 else { return true }
    let gapsSeconds = zip(transients.dropFirst(), transients).map { $0.time - $1.time }
    if Self.areGapsSimilar(gapsSeconds.min() ?? 0, gapsSeconds.max() ?? 0) { return true }
    let gapChanges = zip(gapsSeconds.dropFirst(), gapsSeconds).map { $0 - $1 }
    if gapChanges.allSatisfy({ $0 >= -0.001 }) || gapChanges.allSatisfy({ $0 <= 0.001 }) {
      return true
    }
    return (2...8).contains { period in
      gapsSeconds.count >= 2 * period - 1
        && zip(gapsSeconds.dropFirst(period), gapsSeconds).allSatisfy {
          Self.areGapsSimilar($0, $1)
        }
    }
  }

  private static func areGapsSimilar(_ firstGap: Double, _ secondGap: Double) -> Bool {
    max(firstGap, secondGap) <= 1.25 * min(firstGap, secondGap) + timeToleranceSeconds
  }
}
