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
    let felt = FeltControls(pattern)
    var writer = JSONWriter(layout: .compact)
    writer.object { file in
      file.member("duration", pattern.duration)
      file.member("name", slots[slot].name)
      if let title = editor.reading.metadata["Project"] { file.member("title", title) }
      file.member("format", slots[slot].origin?.format.id ?? HapticFormat.ahap.id)
      file.array("events") { list in
        for (index, event) in pattern.events.enumerated() {
          list.object { $0.write(event, path: "events[\(index)]", felt) }
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

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent, path: String, _ felt: FeltControls) {
    member("kind", event.kind.rawValue)
    member("path", path)
    member("time", event.time)
    if let duration = event.duration { member("duration", duration) }
    if let waveform = event.waveform { member("file", waveform.path) }
    for field in AHAPField.allCases {
      guard let id = field.parameter, event.kind.responds(to: id) else { continue }
      if event.parameters[id] != nil || id == .hapticIntensity || id == .hapticSharpness {
        member(field.rawValue, event.value(of: id))
      }
    }
    guard event.kind.isHaptic else { return }
    array("felt") { points in
      for point in felt.points(of: event) {
        for number in [point.time, point.intensity, point.sharpness] { points.element(number) }
      }
    }
  }
}
