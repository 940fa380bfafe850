internal import HapticFormats
internal import HapticModel

/// A builder that distributes events among layers with different sharpness scales.
///
/// Events with a sharpness are separated from events with a frequency in hertz.
struct ScaledLayerBuilder {
  /// The sharpness scale of layers with events that state a frequency in hertz.
  private let statedHertzScale: SharpnessScale
  private var sharpnessBuilder = LayerBuilder()
  private var hertzBuilder = LayerBuilder()
  /// The builder of each added event, and the event's index in that builder.
  ///
  /// The builder is layer 0 for sharpness or layer 1 for hertz.
  private var eventReferences: [EventReference] = []

  /// Creates a builder with the sharpness scale of events that state hertz.
  init(scale: SharpnessScale) { self.statedHertzScale = scale }

  /// Adds an event with the curves that act only on it. Each curve must start no later than the
  /// event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - curves: The curves of the event.
  ///   - end: The end of the event's release, in seconds.
  ///   - statesHertz: Whether the sharpness denotes frequencies on the scale of the builder.
  /// - Returns: The index of the event in the order of addition.
  @discardableResult mutating func add(
    _ event: HapticEvent, curves: [ParameterCurve] = [], until end: Double = 0,
    statesHertz: Bool = false
  ) -> Int {
    let eventIndex =
      statesHertz
      ? hertzBuilder.add(event, curves: curves, until: end)
      : sharpnessBuilder.add(event, curves: curves, until: end)
    eventReferences.append(EventReference(layerIndex: statesHertz ? 1 : 0, eventIndex: eventIndex))
    return eventReferences.count - 1
  }

  /// Returns the layers, at least one, and the position of each added event in them.
  func build() -> (layers: [HapticComposition.Layer], references: [EventReference]) {
    let (plainLayers, plainReferences) = sharpnessBuilder.build()
    guard eventReferences.contains(where: { $0.layerIndex == 1 }) else {
      return (plainLayers, plainReferences)
    }
    var (layers, hertzReferences) = hertzBuilder.build()
    for index in layers.indices {
      layers[index].sharpnessScale = statedHertzScale
    }
    let firstCurvedLayerIndex = plainReferences.isEmpty ? 0 : plainLayers.count
    for index in hertzReferences.indices {
      hertzReferences[index].layerIndex += firstCurvedLayerIndex
    }
    return (
      plainReferences.isEmpty ? layers : plainLayers + layers,
      eventReferences.map {
        $0.layerIndex == 0 ? plainReferences[$0.eventIndex] : hertzReferences[$0.eventIndex]
      }
    )
  }
}

/// A builder that distributes events with curves among as few layers as possible.
///
/// Each curve acts only on the event to which it belongs.
///
/// All events without curves share the first layer. The others are assigned by greedy interval
/// partitioning: each goes to the layer that became free first, or to a new layer if none is free.
struct LayerBuilder {
  /// An event with its own curves, and the time until which it occupies a layer.
  private struct CurvedEvent {
    var event: HapticEvent
    var curves: [ParameterCurve]
    var layerBusyUntilSeconds: Double
  }

  private var eventsWithoutCurves: [HapticEvent] = []
  private var curvedEvents: [CurvedEvent] = []
  /// The location of each added event: layer 0 with its index in `eventsWithoutCurves`, or layer 1
  /// with its index in `curvedEvents`.
  private var eventReferences: [EventReference] = []

  /// Adds an event without curves.
  ///
  /// - Returns: The index of the event in the order of addition.
  @discardableResult mutating func add(_ event: HapticEvent) -> Int {
    eventReferences.append(EventReference(layerIndex: 0, eventIndex: eventsWithoutCurves.count))
    eventsWithoutCurves.append(event)
    return eventReferences.count - 1
  }

  /// Adds an event with the curves that act only on it. Each curve must start no later than the
  /// event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - curves: The curves of the event.
  ///   - end: The end of the event's release, in seconds; curves of other events may follow from
  ///     then on.
  /// - Returns: The index of the event in the order of addition.
  @discardableResult mutating func add(
    _ event: HapticEvent, curves: [ParameterCurve], until end: Double
  ) -> Int {
    if curves.isEmpty { return add(event) }
    eventReferences.append(EventReference(layerIndex: 1, eventIndex: curvedEvents.count))
    curvedEvents.append(
      CurvedEvent(event: event, curves: curves, layerBusyUntilSeconds: max(event.time, end)))
    return eventReferences.count - 1
  }

  /// Returns the layers, at least one, and the position of each added event in them.
  func build() -> (layers: [HapticComposition.Layer], references: [EventReference]) {
    let curvedOrder = curvedEventIndicesByTime
    let (curvedReferences, counts) = assignLayersToCurvedEvents(in: curvedOrder)
    var layerPatterns =
      eventsWithoutCurves.isEmpty ? [] : [HapticPattern(events: eventsWithoutCurves)]
    for count in counts {
      layerPatterns.append(HapticPattern())
      layerPatterns[layerPatterns.count - 1].events.reserveCapacity(count)
      layerPatterns[layerPatterns.count - 1].curves.reserveCapacity(count)
    }
    for index in curvedOrder {
      layerPatterns[curvedReferences[index].layerIndex].events.append(curvedEvents[index].event)
      layerPatterns[curvedReferences[index].layerIndex].curves += curvedEvents[index].curves
    }
    if layerPatterns.isEmpty {
      layerPatterns.append(HapticPattern())
    }
    return (
      layerPatterns.map { HapticComposition.Layer($0) },
      eventReferences.map { $0.layerIndex == 0 ? $0 : curvedReferences[$0.eventIndex] }
    )
  }

  /// The indices of the events with curves, sorted by time.
  private var curvedEventIndicesByTime: [Int] {
    var indicesByTime = Array(curvedEvents.indices)
    let isSortedByTime = zip(indicesByTime, indicesByTime.dropFirst()).allSatisfy {
      curvedEvents[$0].event.time <= curvedEvents[$1].event.time
    }
    if !isSortedByTime {
      indicesByTime.sort { (curvedEvents[$0].event.time, $0) < (curvedEvents[$1].event.time, $1) }
    }
    return indicesByTime
  }

  /// Returns the layer and index of each event with curves.
  ///
  /// Also returns the number of events in each layer that has curves.
  private func assignLayersToCurvedEvents(in order: [Int]) -> (
    references: [EventReference], counts: [Int]
  ) {
    let firstCurvedLayerIndex = eventsWithoutCurves.isEmpty ? 0 : 1
    var eventReferences = Array(repeating: EventReference(eventIndex: 0), count: curvedEvents.count)
    var eventCountsByLayer: [Int] = []
    // The layers with the times at which they become free, in descending order.
    var layerFreeTimes: [(end: Double, layer: Int)] = []
    for index in order {
      var layer = eventCountsByLayer.count
      if let earliest = layerFreeTimes.last, earliest.end <= curvedEvents[index].event.time {
        layer = earliest.layer
        layerFreeTimes.removeLast()
      } else {
        eventCountsByLayer.append(0)
      }
      // The layer that becomes free first is the last of the list; of several, the one with the
      // lowest index.
      let entry = (end: curvedEvents[index].layerBusyUntilSeconds, layer: layer)
      let entryIndex = layerFreeTimes.prefixEndIndex {
        ($0.end, $0.layer) > (entry.end, entry.layer)
      }
      layerFreeTimes.insert(entry, at: entryIndex)
      eventReferences[index] = EventReference(
        layerIndex: firstCurvedLayerIndex + layer, eventIndex: eventCountsByLayer[layer])
      eventCountsByLayer[layer] += 1
    }
    return (eventReferences, eventCountsByLayer)
  }
}
