internal import HapticFormats
import HapticModel

/// A corner of a level and a sharpness that move along straight lines; two corners at one time are a
/// jump.
struct EnvelopePoint: Equatable {
  /// Seconds from the start of the composition.
  var time: Double
  /// Intensity or amplitude, 0…1.
  var level: Double
  /// 0…1.
  var sharpness: Double

  /// The point between two at a time.
  static func between(_ from: EnvelopePoint, _ to: EnvelopePoint, at time: Double) -> EnvelopePoint {
    let span = to.time - from.time
    guard span > 0 else { return to }
    let share = (time - from.time) / span
    return EnvelopePoint(
      time: time, level: from.level + (to.level - from.level) * share,
      sharpness: from.sharpness + (to.sharpness - from.sharpness) * share)
  }
}

/// What one haptic event is over its time, with everything that acts on it: its envelope times, the
/// parameters and the curves of its layer.
struct EventEnvelope {
  /// The event.
  var event: EventReference
  /// What the event does.
  var kind: HapticEvent.Kind
  /// The corners by rising time; one for a transient, at least two for a continuous event.
  var points: [EnvelopePoint]

  /// The second of the onset.
  var start: Double { points[0].time }
  /// The second at which it is over; the onset of a transient.
  var end: Double { points[points.count - 1].time }
}

/// How the level of envelopes is measured.
struct EnvelopeScale: Equatable {
  /// What the level is.
  enum Quantity { case intensity, amplitude }

  /// What the level is.
  var quantity: Quantity
  /// How intensity and amplitude follow from each other.
  var law: AmplitudeLaw

  /// The level of an event whose intensity is changed by a factor on amplitude.
  func level(intensity: Double, gain: Double) -> Double {
    switch quantity {
    case .intensity: intensity * (gain == 1 ? 1 : law.intensity(ofAmplitude: gain))
    case .amplitude: law.amplitude(ofIntensity: intensity) * gain
    }
  }

  /// The amplitude of a level.
  func amplitude(ofLevel level: Double) -> Double { quantity == .amplitude ? level : law.amplitude(ofIntensity: level) }

  /// The level of an amplitude.
  func level(ofAmplitude amplitude: Double) -> Double {
    quantity == .amplitude ? amplitude : law.intensity(ofAmplitude: amplitude)
  }

  /// Whether the level is linear where intensity is.
  var isLinearInIntensity: Bool { quantity == .intensity || law == .linear }
}
