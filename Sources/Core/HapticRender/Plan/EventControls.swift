internal import HapticModel

/// The control values at an event's onset. Call `advance(to:)` for each event in sorted order.
struct EventControls {
  /// The timelines of the controls that act on sounding voices, in the order of `LiveControlID`.
  let liveTimelines: [ControlTimeline]
  private let changingTimelineIndices: [Int]
  private let envelopeTimelines: [DynamicParameterID: ControlTimeline]
  private var liveSegmentIndices: [Int]
  private var envelopeSegmentIndices: [DynamicParameterID: Int] = [:]
  private var liveValues: [Double]
  private var envelopeValues: [DynamicParameterID: Double] = [:]

  /// Creates the controls that act on the events of a layer.
  ///
  /// - Parameters:
  ///   - layer: The layer.
  ///   - rate: The sample rate, in hertz.
  init(of layer: HapticComposition.Layer, rate: Double) {
    let frameGrid = ControlTimeline.TimeGrid.frames(rate: rate)
    let liveIDs = LiveControlID.allCases.map { $0.parameterID }
    let liveTimelines = liveIDs.map { ControlTimeline(of: $0, in: layer, grid: frameGrid) }
    self.liveTimelines = liveTimelines
    changingTimelineIndices = liveTimelines.indices.filter { liveTimelines[$0].segments.count > 1 }
    liveSegmentIndices = Array(repeating: 0, count: liveTimelines.count)
    liveValues = liveTimelines.map { $0.value(at: 0) }
    var envelopeTimelines: [DynamicParameterID: ControlTimeline] = [:]
    let pattern = layer.pattern
    let usedControlIDs = Set(pattern.parameters.map { $0.id }).union(pattern.curves.map { $0.id })
    for id in usedControlIDs.subtracting(liveIDs) {
      envelopeTimelines[id] = ControlTimeline(of: id, in: layer, grid: frameGrid)
    }
    self.envelopeTimelines = envelopeTimelines
  }

  /// Advances to an onset that isn't before the previous one.
  mutating func advance(to frame: Int64) {
    let framePosition = Double(frame)
    for index in changingTimelineIndices {
      liveValues[index] = liveTimelines[index].value(
        at: framePosition, cursor: &liveSegmentIndices[index])
    }
    for (id, timeline) in envelopeTimelines {
      var cursor = envelopeSegmentIndices[id] ?? 0
      envelopeValues[id] = timeline.value(at: framePosition, cursor: &cursor)
      envelopeSegmentIndices[id] = cursor
    }
  }

  /// Returns true if a control changes over time.
  func isChanging(_ id: LiveControlID) -> Bool { changingTimelineIndices.contains(id.rawValue) }

  /// Returns the value of a control at the current onset.
  func value(of id: LiveControlID) -> Double { liveValues[id.rawValue] }

  /// Returns an event's normalized envelope time, and its control value at the current onset.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - id: The parameter of the event.
  ///   - control: The control that is added to the parameter.
  func envelopeTime(
    of event: HapticEvent, parameter id: EventParameterID, control: DynamicParameterID
  ) -> PlannedEnvelope.NormalizedTime {
    let activeSegmentIndex = envelopeSegmentIndices[control] ?? 0
    let sourceStartFrame = envelopeTimelines[control]?.segments[activeSegmentIndex]
      .sourceStartPosition
    return PlannedEnvelope.NormalizedTime(
      specifiedTime: event.value(of: id), controlOffset: Float(envelopeValues[control] ?? 0),
      controlStartFrame: sourceStartFrame.map { Int64($0) } ?? ControlSegment.noSourceFrame)
  }
}
