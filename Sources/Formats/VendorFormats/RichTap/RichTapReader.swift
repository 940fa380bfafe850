internal import HapticFormats
internal import HapticModel
internal import Reading

/// Converts a RichTap document into the layers of a composition. For each vibrator, all events
/// without curves share one layer, and events with curves use as few layers as possible, because a
/// curve acts on all events of its layer.
struct RichTapReader {
  let composition: HapticComposition
  private(set) var eventReferences: [[EventReference]]
  let losses: [Loss]

  init(_ document: RichTapDocument) {
    var log = LossLog()
    var layers: [HapticComposition.Layer] = []
    eventReferences = document.groups.map {
      Array(repeating: EventReference(eventIndex: 0), count: $0.events.count)
    }
    let hasOffsets = document.groups.contains { group in
      group.events.contains { event in event.curve.contains { $0.frequencyOffsetPercent != 0 } }
    }
    for vibrator in RichTapDocument.Vibrator.allCases {
      var builder = LayerBuilder()
      var sources: [(group: Int, event: Int, time: Int)] = []
      for (group, content) in document.groups.enumerated() {
        for (index, event) in content.events.enumerated()
        where (content.targetVibrator == .both ? event.targetVibrator : content.targetVibrator)
          == vibrator
        {
          sources.append((group, index, content.startMilliseconds + event.startMilliseconds))
        }
      }
      sources.sort { ($0.time, $0.group, $0.event) < ($1.time, $1.group, $1.event) }
      for source in sources {
        Self.addEvent(
          document.groups[source.group].events[source.event], at: source.time,
          withFrequencyOffsets: hasOffsets, to: &builder)
      }
      guard !sources.isEmpty else { continue }
      let (vibratorLayers, positions) = builder.build()
      for (source, position) in zip(sources, positions) {
        let reference = EventReference(
          layerIndex: layers.count + position.layerIndex, eventIndex: position.eventIndex)
        eventReferences[source.group][source.event] = reference
        let frequency = document.groups[source.group].events[source.event].frequencyPercent
        let excess = frequency - Self.clampedFrequencyPercent(frequency)
        if excess != 0 {
          log.add(
            .approximated, .event(reference),
            """
            frequencies outside 0 to 100 are clamped to the nearest sharpness, by up to # of full \
            scale
            """,
            size: PercentConversion.fraction(ofPercent: Double(abs(excess))))
        }
      }
      layers += vibratorLayers.map {
        .init($0.pattern, name: vibrator.rawValue, bodyLocation: vibrator.bodyLocation)
      }
    }
    if layers.isEmpty {
      layers = [.init(HapticPattern())]
    }
    composition = HapticComposition(layers: layers, notes: document.notes)
    losses = log.lossesWithOmittedCounts()
  }

  private static func clampedFrequencyPercent(_ frequency: Int) -> Int {
    min(max(frequency, 0), 100)
  }

  private static func addEvent(
    _ event: RichTapDocument.Event, at time: Int, withFrequencyOffsets hasFrequencyOffsets: Bool,
    to builder: inout LayerBuilder
  ) {
    let startSeconds = Double(time) / 1000
    let hapticEvent = HapticEvent(
      kind: event.isTransient ? .hapticTransient : .hapticContinuous, time: startSeconds,
      duration: event.isTransient ? nil : Double(event.durationMilliseconds) / 1000,
      parameters: [
        .hapticIntensity: Float(event.intensityPercent) / 100,
        .hapticSharpness: Float(clampedFrequencyPercent(event.frequencyPercent)) / 100,
      ])
    guard !event.curve.isEmpty,
      event.curve != RichTapDialect.constantIntensityCurve(duration: event.durationMilliseconds)
    else {
      builder.add(hapticEvent)
      return
    }
    func curve(_ id: DynamicParameterID, _ value: (RichTapDocument.CurvePoint) -> Float)
      -> ParameterCurve
    {
      ParameterCurve(
        id: id, time: startSeconds,
        controlPoints: event.curve.map {
          .init(time: Double($0.timeMilliseconds) / 1000, value: value($0))
        })
    }
    // The last value of a curve holds, so if one event has frequency offsets, every event with
    // curves needs them.
    var eventCurves = [curve(.hapticIntensityControl) { $0.intensityFactor }]
    if hasFrequencyOffsets {
      eventCurves.append(curve(.hapticSharpnessControl) { Float($0.frequencyOffsetPercent) / 100 })
    }
    builder.add(
      hapticEvent, curves: eventCurves, until: Double(time + event.durationMilliseconds) / 1000)
  }
}
