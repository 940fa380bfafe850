internal import HapticFormats
internal import Reading
internal import HapticModel

/// Makes a document into layers: one of events without curves for each vibrator, and as few as
/// possible for those with curves, which bend all events of their layer.
struct RichTapComposition {
  /// The layers with the words of the file.
  let composition: HapticComposition
  /// The place of each event of the document in the composition, group by group.
  private(set) var references: [[EventReference]]
  /// What was not kept.
  let losses: [Loss]

  /// The layers of a document.
  init(_ document: RichTapDocument) {
    var log = LossLog()
    var layers: [HapticComposition.Layer] = []
    references = document.groups.map { Array(repeating: EventReference(event: 0), count: $0.events.count) }
    let hasOffsets = document.groups.contains { group in
      group.events.contains { event in event.curve.contains { $0.offset != 0 } }
    }
    for vibrator in RichTapDocument.Vibrator.allCases {
      var builder = LayerBuilder()
      var sources: [(group: Int, event: Int, time: Int)] = []
      for (group, content) in document.groups.enumerated() {
        for (index, event) in content.events.enumerated()
        where (content.vibrator == .both ? event.vibrator : content.vibrator) == vibrator {
          sources.append((group, index, content.time + event.time))
        }
      }
      sources.sort { ($0.time, $0.group, $0.event) < ($1.time, $1.group, $1.event) }
      for source in sources {
        Self.add(
          document.groups[source.group].events[source.event], at: source.time, withOffsets: hasOffsets, to: &builder)
      }
      guard !sources.isEmpty else { continue }
      let (own, places) = builder.build()
      for (source, place) in zip(sources, places) {
        let reference = EventReference(layer: layers.count + place.layer, event: place.event)
        references[source.group][source.event] = reference
        let frequency = document.groups[source.group].events[source.event].frequency
        let excess = frequency - Self.sharpness(of: frequency)
        if excess != 0 {
          log.add(
            .approximated, .event(reference),
            "frequencies outside 0 to 100 become the nearest sharpness, up to # of full scale away",
            size: PercentLaw.share(ofPercent: Double(abs(excess))))
        }
      }
      layers += own.map { .init($0.pattern, name: vibrator.rawValue, place: vibrator.place) }
    }
    if layers.isEmpty { layers = [.init(HapticPattern())] }
    composition = HapticComposition(layers: layers, notes: document.notes)
    losses = log.finish()
  }

  /// The frequency within the range of sharpness.
  private static func sharpness(of frequency: Int) -> Int { min(max(frequency, 0), 100) }

  private static func add(
    _ event: RichTapDocument.Event, at time: Int, withOffsets hasOffsets: Bool, to builder: inout LayerBuilder
  ) {
    let start = Double(time) / 1000
    let made = HapticEvent(
      kind: event.isTransient ? .hapticTransient : .hapticContinuous, time: start,
      duration: event.isTransient ? nil : Double(event.duration) / 1000,
      parameters: [
        .hapticIntensity: Float(event.intensity) / 100, .hapticSharpness: Float(sharpness(of: event.frequency)) / 100,
      ])
    guard !event.curve.isEmpty, event.curve != RichTapDialect.plateau(duration: event.duration) else {
      builder.add(made)
      return
    }
    func curve(_ id: DynamicParameterID, _ value: (RichTapDocument.CurvePoint) -> Float) -> ParameterCurve {
      ParameterCurve(
        id: id, time: start, controlPoints: event.curve.map { .init(time: Double($0.time) / 1000, value: value($0)) })
    }
    // The last value of a curve holds, so where one event has offsets all need them.
    var curves = [curve(.hapticIntensityControl) { $0.gain }]
    if hasOffsets { curves.append(curve(.hapticSharpnessControl) { Float($0.offset) / 100 }) }
    builder.add(made, curves: curves, until: Double(time + event.duration) / 1000)
  }
}

/// Where the parts of a composition stand in the text of its file.
struct RichTapPlaces: Sendable {
  let json: JSONDocument
  /// The numbers of the values that the events of each layer were read from.
  private var events: [[Int]]

  init(_ json: JSONDocument, references: [[EventReference]], values: [[Int]]) {
    self.json = json
    events = []
    for (references, values) in zip(references, values) {
      for (reference, value) in zip(references, values) {
        while events.count <= reference.layer { events.append([]) }
        let count = max(events[reference.layer].count, reference.event + 1)
        events[reference.layer] += Array(repeating: 0, count: count - events[reference.layer].count)
        events[reference.layer][reference.event] = value
      }
    }
  }

  func place(of element: CompositionElement) -> SourcePlace {
    guard case .event(let event) = element, events.indices.contains(event.layer),
      events[event.layer].indices.contains(event.event)
    else { return json.root.place }
    return JSONValue(document: json, index: events[event.layer][event.event]).place
  }
}
