public import HapticModel

extension RenderPlan {
  /// The frame rates a plan can have, in hertz.
  public static let rates: ClosedRange<Double> = 8_000...192_000

  /// Seconds a continuous event without a duration lasts: the documented limit of Core Haptics.
  public static let unlimitedDuration = 30.0

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
    try self.init(
      compiling: HapticComposition(pattern), profile: profile, rate: rate, samples: samples)
  }

  /// Compiles the layers of a composition side by side: each layer's controls act on its own events.
  public convenience init(
    compiling composition: HapticComposition, profile: TransducerProfile = .phone,
    rate: Double = 48_000, samples: [String: AudioBuffer] = [:]
  ) throws(RenderError) {
    try Self.check(rate: rate)
    for layer in composition.layers { try Self.check(layer.pattern) }
    var draft = RenderPlanBuilder(profile: profile, rate: rate)
    let layers = composition.layers.map(\.pattern)
    draft.eventCount = layers.reduce(0) { $0 + $1.events.count }
    draft.voices.reserveCapacity(draft.eventCount)
    draft.loopLength = FrameConversion.frame(seconds: composition.duration, rate: rate)
    var tracks: [[ControlTrack]] = []
    for (layer, pattern) in layers.enumerated() {
      draft.layer = UInt16(clamping: layer)
      var controls = EventControls(of: pattern, rate: rate)
      try draft.add(eventsOf: pattern, controls: &controls, samples: samples)
      tracks.append(controls.moving)
    }
    if layers.count > 1 { draft.sortVoices() }
    // Bursts of every layer duck the intensity of all.
    for tracks in tracks { draft.add(tracks: tracks) }
    draft.countVoices()
    self.init(draft)
  }

  /// Refuses a frame rate that no plan can have.
  static func check(rate: Double) throws(RenderError) {
    guard rates.contains(rate) else {
      throw RenderError(
        kind: .rateOutOfRange,
        description: "invalid sample rate \(rate) Hz; must be 8000 to 192000")
    }
  }

  /// A path as part of one line: what would break the line, or steer a terminal, is escaped.
  fileprivate static func line(_ path: String) -> String {
    path.unicodeScalars.map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: scalar.escaped(asASCII: true)
      default: String(scalar)
      }
    }.joined()
  }

  /// Refuses what no frame can hold.
  static func check(_ pattern: HapticPattern) throws(RenderError) {
    for (index, event) in pattern.events.enumerated() {
      let duration = event.duration ?? 0
      guard event.time.isFinite, event.time >= 0, duration.isFinite, duration >= 0 else {
        throw RenderError(
          kind: .timeOutOfRange, eventIndex: index,
          description: "event \(index): time or duration is negative or NaN")
      }
      guard event.time + duration <= FrameConversion.longest else {
        throw RenderError(
          kind: .patternTooLong, eventIndex: index,
          description:
            "event \(index) ends at \(event.time + duration) s; patterns are limited to one day (86400 s)"
        )
      }
    }
    for (index, parameter) in pattern.parameters.enumerated() {
      try check(controlTime: parameter.time, of: "parameter \(index)")
    }
    for (index, curve) in pattern.curves.enumerated() {
      try check(controlTime: curve.time, of: "curve \(index)")
    }
  }

  /// A control may start before the pattern does, but not behind the longest one.
  private static func check(controlTime time: Double, of name: String) throws(RenderError) {
    guard time.isFinite else {
      throw RenderError(
        kind: .timeOutOfRange, description: "\(name): time is NaN or infinite")
    }
    guard time <= FrameConversion.longest else {
      throw RenderError(
        kind: .patternTooLong,
        description: "\(name) starts at \(time) s; patterns are limited to one day (86400 s)")
    }
  }
}

extension RenderPlanBuilder {
  /// Adds the events of one layer in order of time.
  fileprivate mutating func add(
    eventsOf pattern: HapticPattern, controls: inout EventControls, samples: [String: AudioBuffer]
  ) throws(RenderError) {
    let order = pattern.events.indices.sorted {
      (pattern.events[$0].time, $0) < (pattern.events[$1].time, $1)
    }
    for index in order {
      let event = pattern.events[index]
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      controls.move(to: onset)
      switch event.kind {
      case .hapticTransient: addBurst(event, onset: onset, controls: controls)
      case .hapticContinuous: addVibration(event, onset: onset, controls: controls)
      case .audioContinuous: addTone(event, onset: onset, controls: controls)
      case .audioCustom:
        let path = event.waveform?.path ?? ""
        guard let sample = samples[path] else {
          throw RenderError(
            kind: .sampleMissing, eventIndex: index,
            description: "event \(index): sound file \"\(RenderPlan.line(path))\" was not loaded")
        }
        let place = sampleIndices[path] ?? Int32(clamping: self.samples.count)
        if sampleIndices.updateValue(place, forKey: path) == nil { self.samples.append(sample) }
        addSample(event, onset: onset, controls: controls, sample: sample, index: place)
      }
    }
  }

  /// Puts the voices of several layers in order of onset, those of one onset in order of layers.
  fileprivate mutating func sortVoices() {
    let order = voices.indices.sorted { (voices[$0].onset, $0) < (voices[$1].onset, $1) }
    voices = order.map { voices[$0] }
  }
}

/// The controls in force at an onset, swept forward with the sorted events.
struct EventControls {
  /// The tracks that act while a voice sounds, in `Track` order.
  let moving: [ControlTrack]
  private let times: [DynamicParameterID: ControlTrack]
  private var movingCursors: [Int]
  private var timeCursors: [DynamicParameterID: Int] = [:]
  private var movingValues: [Double]
  private var timeValues: [DynamicParameterID: Double] = [:]

  /// Sorts a pattern's controls into tracks.
  init(of pattern: HapticPattern, rate: Double) {
    moving = Track.allCases.map { ControlTrack($0.id, of: pattern, rate: rate) }
    movingCursors = Array(repeating: 0, count: moving.count)
    movingValues = Track.allCases.map { Double($0.id.neutralValue) }
    var times: [DynamicParameterID: ControlTrack] = [:]
    let used = Set(pattern.parameters.map(\.id)).union(pattern.curves.map(\.id))
    let moved = Set(Track.allCases.map(\.id))
    for id in used.subtracting(moved) { times[id] = ControlTrack(id, of: pattern, rate: rate) }
    self.times = times
  }

  /// Moves to an onset, which must not lie before the last one.
  mutating func move(to frame: Int64) {
    for index in moving.indices {
      movingValues[index] = moving[index].value(at: frame, cursor: &movingCursors[index])
    }
    for (id, track) in times {
      var cursor = timeCursors[id] ?? 0
      timeValues[id] = track.value(at: frame, cursor: &cursor)
      timeCursors[id] = cursor
    }
  }

  /// Whether anything in the pattern sets a control.
  func isMoving(_ track: Track) -> Bool { moving[track.rawValue].lines.count > 1 }

  /// The value of a moving control.
  func value(_ track: Track) -> Double { movingValues[track.rawValue] }

  /// Seconds of one of an event's envelope times, with the control of its bus added.
  func seconds(_ event: HapticEvent, _ id: EventParameterID, _ control: DynamicParameterID)
    -> Double
  {
    EnvelopeTimes.seconds(
      normalised: event.value(of: id) + Float(timeValues[control] ?? 0))
  }
}
