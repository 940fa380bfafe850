public import HapticModel
internal import RealtimeMemory

extension RenderPlan {
  /// The sample rates a plan can have, in hertz.
  public static let supportedSampleRates: ClosedRange<Double> = 8_000...192_000

  /// Seconds a continuous event without a duration lasts: the documented limit of Core Haptics.
  public static let unlimitedDuration = HapticEvent.unlimitedDuration

  /// The most layers of a composition.
  public static let maximumLayerCount = 65_535

  /// Compiles a pattern: O(n log n) in events and control points, off the render thread.
  ///
  /// - Parameters:
  ///   - pattern: Any pattern; values are clamped to their ranges.
  ///   - profile: The laws of frequency, level and waveform.
  ///   - rate: Frames per second, 8,000–192,000.
  ///   - samples: The sound files of the pattern by the path it names, at this rate.
  /// - Throws: A `RenderError` that names the event.
  public convenience init(
    compiling pattern: HapticPattern, profile: TransducerProfile = .phone, rate: Double = 48_000,
    samples: [String: AudioBuffer] = [:]
  ) throws(RenderError) {
    try self.init(compiling: HapticComposition(pattern), profile: profile, rate: rate, samples: samples)
  }

  /// Compiles the layers of a composition side by side: each layer's controls act on its own events.
  public convenience init(
    compiling composition: HapticComposition, profile: TransducerProfile = .phone, rate: Double = 48_000,
    samples: [String: AudioBuffer] = [:]
  ) throws(RenderError) {
    try Self.check(rate: rate)
    try Self.check(composition)
    var draft = RenderPlanBuilder(profile: profile, rate: rate)
    let layers = composition.layers.map { $0.pattern }
    draft.eventCount = composition.layers.reduce(0) { $0 + $1.pattern.events.count + $1.signals.count }
    draft.voices = GrowingBuffer(minimumCapacity: draft.eventCount)
    draft.loopLength = FrameConversion.frame(seconds: composition.duration, rate: rate)
    var tracks: [[ControlTimeline]] = []
    for (layer, pattern) in layers.enumerated() {
      draft.layer = UInt16(layer)
      var controls = EventControls(of: pattern, rate: rate)
      try draft.add(eventsOf: pattern, controls: &controls, samples: samples) { event in
        Self.name(of: "event", event, layer: layers.count > 1 ? layer : nil)
      }
      for signal in composition.layers[layer].signals { draft.addSignal(signal) }
      tracks.append(controls.moving)
    }
    let hasSignals = composition.layers.contains { !$0.signals.isEmpty }
    if layers.count > 1 || hasSignals { draft.sortVoices() }
    // Bursts of every layer duck the intensity of all.
    for tracks in tracks { draft.add(tracks: tracks) }
    if let loop = composition.loop {
      let start = max(0, FrameConversion.frame(seconds: loop.start, rate: rate))
      let end = loop.end.map { FrameConversion.frame(seconds: $0, rate: rate) } ?? draft.loopLength
      // Points that enclose nothing are none.
      if end > start { draft.loopRange = start..<end }
    }
    self.init(draft)
  }

  /// Refuses a frame rate that no plan can have.
  static func check(rate: Double) throws(RenderError) {
    guard supportedSampleRates.contains(rate) else {
      throw RenderError(
        kind: .rateOutOfRange,
        description: "invalid sample rate \(rate) Hz; must be "
          + "\(Int(supportedSampleRates.lowerBound)) to \(Int(supportedSampleRates.upperBound))")
    }
  }

  /// A path as part of one line: what would break the line, or steer a terminal, is escaped.
  fileprivate static func escaped(_ path: String) -> String {
    path.unicodeScalars.map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: scalar.escaped(asASCII: true)
      default: String(scalar)
      }
    }.joined()
  }

  /// Refuses what no frame can hold, and more layers than can be distinguished.
  static func check(_ composition: HapticComposition) throws(RenderError) {
    let count = composition.layers.count
    guard count <= maximumLayerCount else {
      throw RenderError(
        kind: .tooManyLayers, description: "the composition has \(count) layers; at most \(maximumLayerCount)")
    }
    for (layer, each) in composition.layers.enumerated() {
      let number = count > 1 ? layer : nil
      for (index, event) in each.pattern.events.enumerated() {
        try check(event, EventReference(layer: layer, event: index), layer: number)
      }
      for (index, parameter) in each.pattern.parameters.enumerated() {
        try check(controlTime: parameter.time, of: "parameter", index, layer: number)
      }
      for (index, curve) in each.pattern.curves.enumerated() {
        try check(controlTime: curve.time, of: "curve", index, layer: number)
      }
      try check(each.signals, layer: number)
    }
  }

  /// Refuses signals that no frames can hold.
  private static func check(_ signals: [SampledSignal], layer: Int?) throws(RenderError) {
    var seconds = 0.0
    for (index, signal) in signals.enumerated() {
      let name = name(of: "signal", index, layer: layer)
      guard signal.time.isFinite, signal.time >= 0 else {
        throw RenderError(kind: .timeOutOfRange, description: "\(name): time is negative or not finite")
      }
      guard SampledSignal.rates.contains(signal.rate) else {
        throw RenderError(
          kind: .rateOutOfRange,
          description: "\(name): invalid sample rate \(signal.rate) Hz; must be "
            + "\(Int(SampledSignal.rates.lowerBound)) to \(Int(SampledSignal.rates.upperBound))")
      }
      seconds += signal.duration
      guard signal.time + signal.duration <= FrameConversion.longest, seconds <= SampledSignal.longestTotal else {
        throw RenderError(
          kind: .patternTooLong,
          description: "\(name): the signals of a layer may last "
            + "\(Int(SampledSignal.longestTotal)) s together, within one day (86400 s)")
      }
    }
  }

  private static func check(_ event: HapticEvent, _ reference: EventReference, layer: Int?) throws(RenderError) {
    let duration = event.duration ?? 0
    guard event.time.isFinite, event.time >= 0, duration.isFinite, duration >= 0 else {
      throw RenderError(
        kind: .timeOutOfRange, event: reference,
        description: "\(name(of: "event", reference.event, layer: layer)): time or duration is negative or NaN")
    }
    guard event.time + duration <= FrameConversion.longest else {
      throw RenderError(
        kind: .patternTooLong, event: reference,
        description: "\(name(of: "event", reference.event, layer: layer)) ends at "
          + "\(event.time + duration) s; patterns are limited to one day (86400 s)")
    }
  }

  /// A control may start before the pattern does, but not behind the longest one.
  private static func check(controlTime time: Double, of noun: String, _ index: Int, layer: Int?) throws(RenderError) {
    guard time.isFinite else {
      throw RenderError(
        kind: .timeOutOfRange, description: "\(name(of: noun, index, layer: layer)): time is NaN or infinite")
    }
    guard time <= FrameConversion.longest else {
      throw RenderError(
        kind: .patternTooLong,
        description: "\(name(of: noun, index, layer: layer)) starts at \(time) s; "
          + "patterns are limited to one day (86400 s)")
    }
  }

  /// What a message calls an element, counted from 1, and its layer where there are several.
  private static func name(of noun: String, _ index: Int, layer: Int?) -> String {
    "\(layer.map { "layer \($0 + 1), " } ?? "")\(noun) \(index + 1)"
  }
}

extension RenderPlanBuilder {
  /// Adds the events of one layer in order of time.
  fileprivate mutating func add(
    eventsOf pattern: HapticPattern, controls: inout EventControls, samples: [String: AudioBuffer],
    name: (Int) -> String
  ) throws(RenderError) {
    for index in pattern.orderOfTime {
      let event = pattern.events[index]
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      controls.move(to: onset)
      var file: (sample: AudioBuffer, index: Int32)?
      if event.kind.playsFile {
        let path = event.waveform?.path ?? ""
        guard let sample = samples[path] else {
          throw RenderError(
            kind: .sampleMissing, event: EventReference(layer: Int(layer), event: index),
            description: "\(name(index)): sound file \"\(RenderPlan.escaped(path))\" was not loaded")
        }
        let place = sampleIndices[path] ?? Int32(clamping: self.samples.count)
        if sampleIndices.updateValue(place, forKey: path) == nil { self.samples.append(sample) }
        file = (sample, place)
      }
      add(event, onset: onset, controls: controls, file: file)
    }
  }

  /// Puts the voices of several layers in order of onset, those of one onset in order of layers.
  fileprivate mutating func sortVoices() {
    let onsets = (0..<voices.count).map { voices[$0].onset }
    var sorted = GrowingBuffer<PlannedVoice>(minimumCapacity: voices.count)
    for index in onsets.indices.sorted(by: { (onsets[$0], $0) < (onsets[$1], $1) }) { sorted.append(voices[index]) }
    voices = sorted
  }
}

extension HapticPattern {
  /// The indices of the events in order of time, and of the pattern where times are equal.
  var orderOfTime: [Int] {
    let order = Array(events.indices)
    // As most patterns are written.
    if zip(events, events.dropFirst()).allSatisfy({ $0.time <= $1.time }) { return order }
    return order.sorted { (events[$0].time, $0) < (events[$1].time, $1) }
  }
}

/// The controls in force at an onset, swept forward with the sorted events.
struct EventControls {
  /// The controls that act while a voice sounds, in the order of `LiveControlID`.
  let moving: [ControlTimeline]
  /// The places of those that change behind the start of the pattern.
  private let changing: [Int]
  private let times: [DynamicParameterID: ControlTimeline]
  private var movingCursors: [Int]
  private var timeCursors: [DynamicParameterID: Int] = [:]
  private var movingValues: [Double]
  private var timeValues: [DynamicParameterID: Double] = [:]

  /// Sorts a pattern's controls.
  init(of pattern: HapticPattern, rate: Double) {
    let grid = ControlTimeline.Grid.frames(rate: rate)
    let live = LiveControlID.allCases.map { $0.id }
    let moving = live.map { ControlTimeline(of: $0, in: pattern, grid: grid) }
    self.moving = moving
    changing = moving.indices.filter { moving[$0].segments.count > 1 }
    movingCursors = Array(repeating: 0, count: moving.count)
    movingValues = moving.map { $0.value(at: 0) }
    var times: [DynamicParameterID: ControlTimeline] = [:]
    let used = Set(pattern.parameters.map { $0.id }).union(pattern.curves.map { $0.id })
    for id in used.subtracting(live) { times[id] = ControlTimeline(of: id, in: pattern, grid: grid) }
    self.times = times
  }

  /// Moves to an onset, which must not lie before the last one.
  mutating func move(to frame: Int64) {
    let frame = Double(frame)
    for index in changing { movingValues[index] = moving[index].value(at: frame, cursor: &movingCursors[index]) }
    for (id, track) in times {
      var cursor = timeCursors[id] ?? 0
      timeValues[id] = track.value(at: frame, cursor: &cursor)
      timeCursors[id] = cursor
    }
  }

  /// Whether a control changes behind the start of the pattern.
  func isMoving(_ id: LiveControlID) -> Bool { changing.contains(id.index) }

  func value(_ id: LiveControlID) -> Double { movingValues[id.index] }

  /// One of an event's envelope times, and what the control of its bus adds.
  func time(_ event: HapticEvent, _ id: EventParameterID, _ control: DynamicParameterID) -> PlannedEnvelope.Time {
    let origin = times[control]?.segments[timeCursors[control] ?? 0].origin
    return PlannedEnvelope.Time(
      event: event.value(of: id), control: Float(timeValues[control] ?? 0),
      origin: origin.map { Int64($0) } ?? ControlSegment.neutral)
  }
}
