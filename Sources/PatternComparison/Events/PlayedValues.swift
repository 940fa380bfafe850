import HapticModel
import HapticRender

/// What the controls of a composition make of the values of its events.
///
/// What is written can differ where what is played does not: intensity and sharpness end at 0 and 1
/// whatever a control adds.
struct PlayedValues {
  private let timelines: [[DynamicParameterID: ControlTimeline]]

  init(_ composition: HapticComposition) {
    timelines = composition.layers.map { layer in
      var timelines: [DynamicParameterID: ControlTimeline] = [:]
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
        let timeline = ControlTimeline(of: id, in: layer.pattern)
        if timeline.isMoving { timelines[id] = timeline }
      }
      return timelines
    }
  }

  /// How far two values of an event are apart as they are played, where that is most; nil where they
  /// sound the same.
  func amount(
    of attribute: EventAttribute, from before: Double, to after: Double, _ event: ListedEvent, layer: Int,
    _ profile: TransducerProfile
  ) -> Double? {
    let written = attribute.amount(before, after, of: event.kind, profile)
    guard event.isHaptic, attribute == .level || attribute == .frequency, timelines.indices.contains(layer),
      let timeline = timelines[layer][attribute == .level ? .hapticIntensityControl : .hapticSharpnessControl]
    else { return written }
    func played(_ value: Double, _ control: Double) -> Double {
      min(1, max(0, attribute == .level ? value * control : value + control))
    }
    let start = max(0, event.time)
    let end = event.kind.isTransient ? start : max(start, event.end)
    var times = [start, end]
    // A segment ends where the next one begins, with a value of its own.
    for segment in timeline.segments where segment.start > start && segment.start < end {
      times += [segment.start, segment.start.nextDown]
    }
    var greatest = 0.0
    for time in times {
      let control = timeline.value(at: time)
      let amount = attribute.amount(played(before, control), played(after, control), of: event.kind, profile)
      if abs(amount) > abs(greatest) { greatest = amount }
    }
    // What rounding leaves of equal values is nothing.
    guard abs(greatest) > 1e-6 else { return nil }
    return abs(greatest - written) < 1e-6 * abs(written) ? written : greatest
  }
}
