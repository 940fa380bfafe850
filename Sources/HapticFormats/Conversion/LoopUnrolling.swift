package import HapticModel
package import Reading

extension HapticComposition {
  /// The most events that passes of a loop are written out to.
  package static let unrolledEventLimit = 1_000_000

  /// The composition with its loop played a number of times in all and no loop points; itself
  /// without them where it has none.
  ///
  /// The first pass begins at 0, each further one at the start of the loop, with what sounds there
  /// and the values that controls have there. Events that reach over the end of a pass are cut.
  ///
  /// - Parameters:
  ///   - count: How many passes; fewer where their events would be too many.
  ///   - losses: Gets a loss, since a loop is endless.
  package func unrolled(passes count: Int, losses: inout LossLog) -> HapticComposition {
    guard let loop else { return self }
    var composition = self
    composition.loop = nil
    let end = loop.end ?? duration
    let start = min(max(loop.start, 0), end)
    let events = max(layers.reduce(0) { $0 + $1.pattern.events.count }, 1)
    let passes = end > start ? min(max(count, 1), max(Self.unrolledEventLimit / events, 1)) : 1
    losses.add(
      .approximated, .composition,
      "the loop from \(start) s to \(end) s is written \(passes == 1 ? "once" : "\(passes) times")")
    guard passes > 1 || loop.end != nil else { return composition }
    for index in layers.indices {
      let pattern = layers[index].pattern
      var controls = LoopControls(of: pattern)
      var events: [HapticEvent] = []
      for pass in 0..<passes {
        let from = pass == 0 ? 0 : start
        let shift = Double(pass) * (end - start)
        events += pattern.events.compactMap { $0.cut(from: from, to: end, isFirst: pass == 0) }.map { event in
          var event = event
          event.time += shift
          return event
        }
        controls.append(from: from, to: end, shift: shift)
      }
      composition.layers[index].pattern = HapticPattern(events: events, curves: controls.curves)
    }
    return composition
  }
}

extension HapticEvent {
  /// The part of the event between two times, or nil where there is none.
  fileprivate func cut(from: Double, to: Double, isFirst: Bool) -> HapticEvent? {
    guard time < to || (time == to && isFirst && kind.isTransient) else { return nil }
    var event = self
    if kind.isContinuous {
      let ends = min(time + (duration ?? Self.unlimitedDuration), to)
      event.time = max(time, from)
      guard ends > event.time else { return nil }
      event.duration = ends - event.time
      if event.time > time { event.parameters[.attackTime] = 0 }
    } else if time < from {
      return nil
    }
    return event
  }
}

/// The controls of one layer, pass by pass, as one curve each.
private struct LoopControls {
  private var tracks: [(timeline: ControlTimeline, curve: ParameterCurve)] = []

  init(of pattern: HapticPattern) {
    let used = Set(pattern.parameters.map { $0.id } + pattern.curves.map { $0.id })
    for id in DynamicParameterID.allCases where used.contains(id) {
      tracks.append((ControlTimeline(of: id, in: pattern), ParameterCurve(id: id, time: 0, controlPoints: [])))
    }
  }

  var curves: [ParameterCurve] { tracks.map { $0.curve } }

  mutating func append(from: Double, to: Double, shift: Double) {
    for index in tracks.indices {
      let segments = tracks[index].timeline.segments
      var place = tracks[index].timeline.index(at: from)
      while place < segments.count, segments[place].start < to {
        let segment = segments[place]
        let begin = max(segment.start, from)
        let end = min(place + 1 < segments.count ? segments[place + 1].start : to, to)
        for time in [begin, end] {
          let point = ParameterCurve.ControlPoint(time: time + shift, value: Float(segment.value(at: time)))
          guard tracks[index].curve.controlPoints.last != point else { continue }
          tracks[index].curve.controlPoints.append(point)
        }
        place += 1
      }
    }
  }
}

// MARK: - Numbers

extension HapticPattern {
  /// The path of the first number that no file can hold, counted within its list, or nothing.
  package var firstInfinity: String? {
    for (index, event) in events.enumerated() {
      let values = event.parameters.identifiers.compactMap { event.parameters[$0] }
      let isFinite = event.time.isFinite && event.duration?.isFinite != false && values.allSatisfy { $0.isFinite }
      if !isFinite { return "events[\(index)]" }
    }
    for (index, parameter) in parameters.enumerated() {
      let isFinite = parameter.time.isFinite && parameter.value.isFinite
      if !isFinite { return "parameters[\(index)]" }
    }
    for (index, curve) in curves.enumerated() {
      let isFinite = curve.time.isFinite && curve.controlPoints.allSatisfy { $0.time.isFinite && $0.value.isFinite }
      if !isFinite { return "curves[\(index)]" }
    }
    return nil
  }
}

extension HapticComposition {
  /// Refuses numbers that are not finite, with the path of the first.
  package func checkFinite(_ rule: Rule) throws(InputError) {
    for (index, layer) in layers.enumerated() {
      guard let path = layer.pattern.firstInfinity else { continue }
      throw InputError(
        Finding(
          rule, severity: .error,
          place: SourcePlace(name: "pattern", path: layers.count > 1 ? "layers[\(index)].\(path)" : path),
          "non-finite numbers (NaN, infinity) cannot be written"))
    }
  }
}
