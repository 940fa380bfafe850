internal import HapticFormats
internal import HapticModel
internal import Reading

extension Studio {
  /// What is drawn of a slot: events as they are written and as they are felt, curves and parameters.
  ///
  /// `felt` has time, intensity and sharpness of each corner, one behind the other; `points` time and value. The
  /// numbers of points in paths are `order`, where the text does not have them by time.
  func score(_ slot: Int) -> [UInt8] {
    guard let editor = slots[slot].editor else { return [] }
    let pattern = editor.pattern
    var felt = FeltControls(pattern)
    var writer = JSONWriter(layout: .compact)
    writer.object { file in
      file.member("duration", pattern.duration)
      file.member("name", slots[slot].name)
      if let title = editor.reading.metadata["Project"] { file.member("title", title) }
      file.member("format", slots[slot].origin?.format.id ?? HapticFormat.ahap.id)
      file.array("events") { list in
        for (index, event) in pattern.events.enumerated() {
          list.object { $0.write(event, path: "events[\(index)]", &felt) }
        }
      }
      file.array("curves") { list in
        for (index, curve) in pattern.curves.enumerated() {
          list.object { object in
            object.member("id", curve.id.rawValue)
            object.member("path", "curves[\(index)]")
            object.member("time", curve.time)
            object.array("points") { points in
              for point in curve.controlPoints {
                points.element(point.time)
                points.element(Double(point.value))
              }
            }
            let order = editor.pointOrder(ofCurve: index)
            if order != Array(order.indices) {
              object.array("order") { list in for number in order { list.element(number) } }
            }
          }
        }
      }
      file.array("parameters") { list in
        for (index, parameter) in pattern.parameters.enumerated() {
          list.object { object in
            object.member("id", parameter.id.rawValue)
            object.member("path", "parameters[\(index)]")
            object.member("time", parameter.time)
            object.member("value", parameter.value)
          }
        }
      }
    }
    return writer.finish()
  }
}

/// The controls that bend what is felt of a pattern.
private struct FeltControls {
  /// Seconds before a step at which the value in front of it is shown, and before the end of an event.
  private static let instant = 1e-6

  let intensity: ControlTimeline
  let sharpness: ControlTimeline

  init(_ pattern: HapticPattern) {
    intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    sharpness = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
  }

  /// The corners of what is felt of an event.
  func times(of event: HapticEvent) -> [Double] {
    guard let length = event.length, length > 0 else { return [event.time] }
    let end = event.time + length
    var inner: [Double] = []
    for control in [intensity, sharpness] {
      var index = control.index(at: event.time)
      while index < control.segments.count, control.segments[index].start < end {
        if control.segments[index].start > event.time { inner.append(control.segments[index].start) }
        index += 1
      }
    }
    // Both sides of a step.
    return [event.time] + inner.sorted().flatMap { [$0 - Self.instant, $0] } + [max(event.time, end - Self.instant)]
  }
}

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent, path: String, _ felt: inout FeltControls) {
    member("kind", event.kind.rawValue)
    member("path", path)
    member("time", event.time)
    if let duration = event.duration { member("duration", duration) }
    if let waveform = event.waveform { member("file", waveform.path) }
    let (intensity, sharpness) = (event.value(of: .hapticIntensity), event.value(of: .hapticSharpness))
    for field in AHAPField.allCases {
      guard let id = field.parameter, event.kind.responds(to: id) else { continue }
      if event.parameters[id] != nil || id == .hapticIntensity || id == .hapticSharpness {
        member(field.rawValue, event.value(of: id))
      }
    }
    guard event.kind.isHaptic else { return }
    array("felt") { points in
      for time in felt.times(of: event) {
        points.element(time)
        points.element(Double(intensity) * felt.intensity.value(at: time))
        points.element(min(max(Double(sharpness) + felt.sharpness.value(at: time), 0), 1))
      }
    }
  }
}
