package import HapticModel

extension HapticComposition {
  /// The maximum number of events that unrolling a loop produces.
  package static let maximumUnrolledEventCount = 1_000_000

  /// Returns the composition with its loop repeated a number of times and its loop points removed.
  ///
  /// The first pass begins at time 0. Later passes begin at the loop start, with the events and
  /// control values at that time. Events that extend past the end of a pass are shortened.
  ///
  /// - Parameters:
  ///   - passCount: The number of passes, which is reduced if they would have too many events.
  ///   - losses: Receives a loss, because the original loop is endless.
  /// - Returns: The unrolled composition, or the same composition if it has no loop.
  package func unrolled(passCount: Int, losses: inout LossLog) -> HapticComposition {
    guard let loop else { return self }
    var unrolledComposition = self
    unrolledComposition.loop = nil
    let loopEndSeconds = loop.endSeconds ?? durationSeconds
    let loopStartSeconds = min(max(loop.startSeconds, 0), loopEndSeconds)
    let eventCount = max(layers.reduce(0) { $0 + $1.pattern.events.count }, 1)
    let maximumPassCount = max(Self.maximumUnrolledEventCount / eventCount, 1)
    let unrolledPassCount =
      loopEndSeconds > loopStartSeconds ? min(max(passCount, 1), maximumPassCount) : 1
    let repetitionText = unrolledPassCount == 1 ? "once" : "\(unrolledPassCount) times"
    losses.add(
      .approximated, .composition,
      "the loop from \(loopStartSeconds) s to \(loopEndSeconds) s is unrolled \(repetitionText)")
    guard unrolledPassCount > 1 || loop.endSeconds != nil else { return unrolledComposition }
    for index in layers.indices {
      unrolledComposition.layers[index].pattern = layers[index].unrolledPattern(
        passCount: unrolledPassCount, from: loopStartSeconds, to: loopEndSeconds)
    }
    return unrolledComposition
  }
}

extension HapticComposition.Layer {
  /// Returns the events and controls of all passes of a loop.
  ///
  /// - Parameters:
  ///   - passCount: The number of passes.
  ///   - start: The loop start, in seconds, where each pass after the first begins.
  ///   - end: The end of a pass, in seconds.
  fileprivate func unrolledPattern(
    passCount: Int, from start: Double, to end: Double
  ) -> HapticPattern {
    var unrolledControls = UnrolledControls(of: self)
    var unrolledEvents: [HapticEvent] = []
    for pass in 0..<passCount {
      let passStart = pass == 0 ? 0 : start
      let shift = Double(pass) * (end - start)
      for event in pattern.events {
        guard var clipped = event.clipped(from: passStart, to: end, isFirstPass: pass == 0) else {
          continue
        }
        clipped.time += shift
        unrolledEvents.append(clipped)
      }
      unrolledControls.appendPass(from: passStart, to: end, shift: shift)
    }
    return HapticPattern(events: unrolledEvents, curves: unrolledControls.curves)
  }
}

extension HapticEvent {
  /// Returns the part of the event within a time interval, or nil if there is none.
  fileprivate func clipped(from start: Double, to end: Double, isFirstPass: Bool) -> HapticEvent? {
    guard time < end || (time == end && isFirstPass && kind.isTransient) else { return nil }
    var clippedEvent = self
    if kind.isContinuous {
      let clippedEnd = min(time + (duration ?? Self.defaultDurationSeconds), end)
      clippedEvent.time = max(time, start)
      guard clippedEnd > clippedEvent.time else { return nil }
      clippedEvent.duration = clippedEnd - clippedEvent.time
      if clippedEvent.time > time {
        clippedEvent.parameters[.attackTime] = 0
      }
    } else if time < start {
      return nil
    }
    return clippedEvent
  }
}

/// The controls of a layer over all passes of a loop, as one curve for each control.
private struct UnrolledControls {
  /// The original timeline and the unrolled curve of each control.
  private var controlTracks: [(timeline: ControlTimeline, curve: ParameterCurve)] = []

  init(of layer: HapticComposition.Layer) {
    let pattern = layer.pattern
    let usedControlIDs = Set(pattern.parameters.map { $0.id } + pattern.curves.map { $0.id })
    for id in DynamicParameterID.allCases where usedControlIDs.contains(id) {
      let timeline = ControlTimeline(of: id, in: layer)
      controlTracks.append((timeline, ParameterCurve(id: id, time: 0, controlPoints: [])))
    }
  }

  /// The unrolled curves of all controls, up to the last appended pass.
  var curves: [ParameterCurve] { controlTracks.map { $0.curve } }

  /// Appends the control points of a time range to the unrolled curves, shifted to a pass.
  mutating func appendPass(from start: Double, to end: Double, shift: Double) {
    for index in controlTracks.indices {
      let segments = controlTracks[index].timeline.segments
      var segmentIndex = controlTracks[index].timeline.segmentIndex(at: start)
      while segmentIndex < segments.count, segments[segmentIndex].startPosition < end {
        let segment = segments[segmentIndex]
        let segmentStart = max(segment.startPosition, start)
        let nextStart =
          segmentIndex + 1 < segments.count ? segments[segmentIndex + 1].startPosition : end
        for time in [segmentStart, min(nextStart, end)] {
          let point = ParameterCurve.ControlPoint(
            time: time + shift, value: Float(segment.value(at: time)))
          guard controlTracks[index].curve.controlPoints.last != point else { continue }
          controlTracks[index].curve.controlPoints.append(point)
        }
        segmentIndex += 1
      }
    }
  }
}
