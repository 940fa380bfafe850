public import HapticModel
internal import RealtimeMemory

/// A pattern compiled for one profile and frame rate: sorted voices and control lines, ready to
/// render.
///
/// Immutable, and shared freely between threads; several renderers can play one plan. Memory is
/// about 110 bytes for each sine and 24 for each corner of a curve.
public final class RenderPlan: @unchecked Sendable {
  /// The version of the rendering model: it grows when equal patterns would sound different.
  ///
  /// In version 2 a profile's hardware decides frequencies and levels; without hardware all is as
  /// in 1.
  public static let modelVersion = 3

  /// Frames per second.
  public let rate: Double
  /// The frame at which a loop returns to the beginning: the pattern's duration, or the end of the
  /// last burst or of the last event without a duration where that is later.
  public let loopLength: Int64
  /// The frames that further passes of a loop play, where the composition has loop points; nil for
  /// all.
  public let loopRange: Range<Int64>?
  /// The frame from which on nothing sounds, releases included.
  public let soundEnd: Int64
  /// How many events the pattern had.
  public let eventCount: Int
  /// How many places the pattern has, whether all or one of them sound; 0 for none.
  public private(set) var bodyLocationCount = 0
  /// The most voices that sound within one sub-block of a renderer.
  public let maximumVoiceCount: Int
  /// Whether any event sounds on the haptic bus, or on the audio bus.
  public let hasHaptics, hasAudio: Bool

  /// What the render path reads; `memory` keeps what it refers to alive.
  let view: Cell<PlanView>
  private let memory: PlanMemory
  /// How many voices a player needs that may be sent other envelope times, where that is known
  /// already.
  private let storedVoiceCapacity: Int?

  /// The number of sines and sounds the pattern became.
  public var voiceCount: Int { view.value.voices.count }
  /// The length of a rendering in frames: the pattern's duration or all that sounds, if that is
  /// longer.
  public var length: Int64 { max(loopLength, soundEnd) }
  /// The length of a rendering in seconds, which is what lists and reports give for a pattern.
  public var duration: Double { Double(length) / rate }

  init(_ draft: consuming RenderPlanBuilder) {
    rate = draft.rate
    eventCount = draft.eventCount
    loopLength = draft.loopLength
    loopRange = draft.loopRange
    soundEnd = draft.soundEnd
    hasHaptics = draft.hasHaptics
    hasAudio = draft.hasAudio
    memory = PlanMemory(draft)
    maximumVoiceCount = Self.maximumSimultaneousCount(of: memory.view.voices) { $0.envelope.end }
    storedVoiceCapacity = nil
    view = Cell(memory.view)
  }

  init(_ header: PlanHeader, _ memory: PlanMemory) {
    rate = header.rate
    eventCount = Int(header.eventCount)
    loopLength = header.loopLength
    soundEnd = header.soundEnd
    loopRange = header.loopEnd > header.loopStart ? header.loopStart..<header.loopEnd : nil
    maximumVoiceCount = Int(header.maximumVoiceCount)
    storedVoiceCapacity = Int(header.voiceCapacity)
    hasHaptics = header.hasHaptics
    hasAudio = header.hasAudio
    self.memory = memory
    view = Cell(memory.view)
  }

  /// The frames that each further pass of a loop adds.
  public var passLength: Int64 { loopRange.map { $0.upperBound - $0.lowerBound } ?? loopLength }

  /// Where the passes of plans that run in step end: the longest's, or 0 where each has the same.
  public static func commonLoopLength(of plans: [RenderPlan]) -> Int64 {
    let longest = plans.map { $0.loopLength }.max() ?? 0
    return plans.allSatisfy { $0.loopLength == longest } ? 0 : longest
  }

  /// The most voices that overlapping passes of a loop may have together.
  private static let maximumLoopedVoiceCount = 1 << 18

  /// How many voices a renderer must hold: the most at once in every pass that can overlap.
  ///
  /// - Parameters:
  ///   - passCount: How often the pattern is played, or nil for endlessly.
  ///   - isSent: Whether a player may be sent other envelope times, up to the longest releases.
  func voiceCapacity(passCount: Int?, allowsLiveEnvelopes isSent: Bool = false) -> Int {
    if let storedVoiceCapacity, isSent, passCount == nil {
      return storedVoiceCapacity
    }
    let voices = memory.view.voices
    let envelopes = memory.view.envelopes
    let isLonger = isSent && envelopes.count > 0
    let longestRelease = isLonger ? Int64((EnvelopeTimes.maximumSeconds * rate).rounded()) : 0
    // A renderer starts all passes of a sub-block before it releases those that end in it.
    let reach = soundEnd + longestRelease + Int64(Renderer.subBlockLength)
    var count = maximumVoiceCount
    if isLonger {
      count = Self.maximumSimultaneousCount(of: voices) { voice in
        guard voice.envelopeIndex >= 0 else { return voice.envelope.end }
        return max(
          voice.envelope.end, envelopes[Int(voice.envelopeIndex)].holdLength + longestRelease)
      }
    }
    let overlapping = loopLength > 0 ? Int(reach / loopLength) + 1 : 1
    let passes = min(overlapping, max(1, passCount ?? overlapping))
    // Loops of a few frames with long releases overlap without end; memory must not.
    let (product, overflow) = count.multipliedReportingOverflow(by: passes)
    return max(
      1, count, overflow ? Self.maximumLoopedVoiceCount : min(product, Self.maximumLoopedVoiceCount)
    )
  }

  /// The most voices within one sub-block that last as long as a function says, in frames from
  /// their onset: O(n log n).
  private static func maximumSimultaneousCount(
    of voices: BufferView<PlannedVoice>, length: (PlannedVoice) -> Int64
  ) -> Int {
    // A renderer starts all voices of a sub-block before it releases those that end in it.
    let subBlock = Int64(Renderer.subBlockLength)
    var ends: [Int64] = []
    ends.reserveCapacity(voices.count)
    for index in 0..<voices.count {
      ends.append(voices[index].onset + length(voices[index]) + subBlock)
    }
    ends.sort()
    var greatest = 0
    var ended = 0
    for started in 0..<voices.count {
      while ended < ends.count, ends[ended] <= voices[started].onset {
        ended += 1
      }
      greatest = max(greatest, started + 1 - ended)
    }
    return greatest
  }

  /// Plans a recording on the haptic bus, heard sample for sample: no profile and no control acts
  /// on it.
  ///
  /// - Parameters:
  ///   - recording: A sound at the plan's rate, of which the first channel is heard.
  ///   - rate: Frames per second, 8,000–192,000.
  /// - Throws: A `RenderError` where the rate lies outside.
  public convenience init(recording: AudioBuffer, rate: Double) throws(RenderError) {
    try Self.check(rate: rate)
    var draft = RenderPlanBuilder(profile: .phone, rate: rate)
    let mono = recording.channelCount == 1 ? recording : recording.firstChannel
    let length = Int64(mono.frameCount)
    if length > 0 {
      draft.voices.append(
        PlannedVoice(source: .recording, onset: 0, envelope: .hold(length), gain: 1))
    }
    draft.sounds = [mono]
    draft.eventCount = draft.voices.count
    draft.hasHaptics = true
    draft.loopLength = length
    draft.soundEnd = length
    draft.add(tracks: EventControls(of: HapticPattern(), rate: rate).liveTimelines)
    self.init(draft)
  }

  /// The sample rates a plan can have, in hertz.
  public static let supportedSampleRates: ClosedRange<Double> = 8_000...192_000

  /// Seconds a continuous event without a duration lasts: the documented limit of Core Haptics.
  public static let defaultDuration = HapticEvent.defaultDuration

  /// The most layers of a composition.
  public static let maximumLayerCount = 65_535

  /// Compiles a pattern: O(n log n) in events and control points, off the render thread.
  ///
  /// - Parameters:
  ///   - pattern: Any pattern; values are clamped to their ranges.
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

  /// Compiles the layers of a composition side by side: each layer's controls act on its own
  /// events.
  ///
  /// Haptics of other places than the profile's are left out; the length is that of all.
  ///
  /// With `isRaw`, events begin, end and jump within a frame, as the model has it, which may click.
  public convenience init(
    compiling composition: HapticComposition, profile: TransducerProfile = .phone,
    rate: Double = 48_000,
    samples: [String: AudioBuffer] = [:], isRaw: Bool = false
  ) throws(RenderError) {
    try Self.check(rate: rate)
    try Self.check(composition)
    var draft = RenderPlanBuilder(profile: profile, rate: rate, isRaw: isRaw)
    let layers = composition.layers.map { $0.pattern }
    draft.eventCount = composition.layers.reduce(0) {
      $0 + $1.pattern.events.count + $1.signals.count
    }
    draft.voices.reserveCapacity(draft.eventCount)
    draft.loopLength = FrameConversion.frame(seconds: composition.duration, rate: rate)
    var tracks: [[ControlTimeline]] = []
    for (layer, pattern) in layers.enumerated() {
      draft.layer = UInt16(layer)
      let isFelt = composition.layers[layer].isFelt(at: profile.bodyLocation)
      var controls = EventControls(of: pattern, rate: rate)
      try draft.add(
        eventsOf: pattern, controls: &controls, samples: samples, leavesOutHaptics: !isFelt
      ) { event in
        Self.elementName("event", event, layer: layers.count > 1 ? layer : nil)
      }
      if isFelt {
        for signal in composition.layers[layer].signals {
          draft.addSignal(signal)
        }
      }
      tracks.append(controls.liveTimelines)
    }
    let hasSignals = composition.layers.contains { !$0.signals.isEmpty }
    if layers.count > 1 || hasSignals {
      draft.sortVoices()
    }
    // Bursts of every layer duck the intensity of all.
    for tracks in tracks {
      draft.add(tracks: tracks)
    }
    if let loop = composition.loop {
      let start = max(0, FrameConversion.frame(seconds: loop.start, rate: rate))
      let end = loop.end.map { FrameConversion.frame(seconds: $0, rate: rate) } ?? draft.loopLength
      // Points that enclose nothing are none.
      if end > start {
        draft.loopRange = start..<end
      }
    }
    self.init(draft)
    bodyLocationCount = composition.bodyLocationCount
  }

  static func check(rate: Double) throws(RenderError) {
    guard supportedSampleRates.contains(rate) else {
      throw RenderError(
        kind: .rateOutOfRange,
        description: invalidRateMessage(rate, supportedRates: supportedSampleRates))
    }
  }

  private static func invalidRateMessage(_ rate: Double, supportedRates rates: ClosedRange<Double>)
    -> String
  {
    "invalid sample rate \(rate) Hz; must be \(Int(rates.lowerBound)) to \(Int(rates.upperBound))"
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
        kind: .tooManyLayers,
        description: "the composition has \(count) layers; at most \(maximumLayerCount)")
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

  private static func check(_ signals: [SampledSignal], layer: Int?) throws(RenderError) {
    var seconds = 0.0
    for (index, signal) in signals.enumerated() {
      func refusal(_ kind: RenderError.Kind, _ text: String) -> RenderError {
        RenderError(
          kind: kind, description: "\(elementName("signal", index, layer: layer)): \(text)")
      }
      guard signal.time.isFinite, signal.time >= 0 else {
        throw refusal(.timeOutOfRange, "time is negative or not finite")
      }
      let rates = SampledSignal.supportedRates
      guard rates.contains(signal.rate) else {
        throw refusal(.rateOutOfRange, invalidRateMessage(signal.rate, supportedRates: rates))
      }
      seconds += signal.duration
      guard signal.time + signal.duration <= FrameConversion.maximumSeconds,
        seconds <= SampledSignal.maximumTotalDuration
      else {
        let most = Int(SampledSignal.maximumTotalDuration)
        throw refusal(
          .patternTooLong,
          "the signals of a layer may last \(most) s together, within one day (86400 s)")
      }
    }
  }

  private static func check(_ event: HapticEvent, _ reference: EventReference, layer: Int?)
    throws(RenderError)
  {
    func refusal(_ kind: RenderError.Kind, _ text: String) -> RenderError {
      RenderError(
        kind: kind, event: reference,
        description: elementName("event", reference.event, layer: layer) + text)
    }
    let duration = event.duration ?? 0
    guard event.time.isFinite, event.time >= 0, duration.isFinite, duration >= 0 else {
      throw refusal(.timeOutOfRange, ": time or duration is negative or NaN")
    }
    guard event.time + duration <= FrameConversion.maximumSeconds else {
      throw refusal(
        .patternTooLong,
        " ends at \(event.time + duration) s; patterns are limited to one day (86400 s)")
    }
  }

  /// A control may start before the pattern does, but not behind the longest one.
  private static func check(controlTime time: Double, of noun: String, _ index: Int, layer: Int?)
    throws(RenderError)
  {
    func refusal(_ kind: RenderError.Kind, _ text: String) -> RenderError {
      RenderError(kind: kind, description: elementName(noun, index, layer: layer) + text)
    }
    guard time.isFinite else { throw refusal(.timeOutOfRange, ": time is NaN or infinite") }
    guard time <= FrameConversion.maximumSeconds else {
      throw refusal(
        .patternTooLong, " starts at \(time) s; patterns are limited to one day (86400 s)")
    }
  }

  /// What a message calls an element, counted from 1, and its layer where there are several.
  private static func elementName(_ noun: String, _ index: Int, layer: Int?) -> String {
    "\(layer.map { "layer \($0 + 1), " } ?? "")\(noun) \(index + 1)"
  }
}

extension AudioBuffer {
  fileprivate var firstChannel: AudioBuffer {
    AudioBuffer(interleaved: (0..<frameCount).map { frames[$0 * channelCount] }, channelCount: 1)
  }
}

/// Why a composition cannot be compiled, and where.
public struct RenderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to change.
  public enum Kind: String, Sendable {
    /// A frame rate outside 8–192 kHz.
    case rateOutOfRange
    /// A time or value that is not a finite number, or a negative time or duration.
    case timeOutOfRange
    /// An event that ends more than a day after the start.
    case patternTooLong
    /// A sound file the pattern names and the caller did not provide.
    case sampleMissing
    /// A composition of more layers than can be compiled.
    case tooManyLayers
  }

  /// What to change.
  public var kind: Kind
  /// The event that cannot be compiled, or nil where it is not one event.
  public var event: EventReference?
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, event: EventReference? = nil, description: String) {
    self.kind = kind
    self.event = event
    self.description = description
  }
}

extension RenderPlanBuilder {
  fileprivate mutating func add(
    eventsOf pattern: HapticPattern, controls: inout EventControls, samples: [String: AudioBuffer],
    leavesOutHaptics: Bool, name: (Int) -> String
  ) throws(RenderError) {
    for index in pattern.indicesByTime {
      let event = pattern.events[index]
      if leavesOutHaptics, event.kind.isHaptic { continue }
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      controls.advance(to: onset)
      var file: (sample: AudioBuffer, index: Int32)?
      if event.kind.playsFile {
        let path = event.waveform?.path ?? ""
        guard let sample = samples[path] else {
          throw RenderError(
            kind: .sampleMissing, event: EventReference(layer: Int(layer), event: index),
            description: "\(name(index)): sound file \"\(RenderPlan.escaped(path))\" was not loaded"
          )
        }
        let place = soundIndices[path] ?? Int32(clamping: self.sounds.count)
        if soundIndices.updateValue(place, forKey: path) == nil {
          self.sounds.append(sample)
        }
        file = (sample, place)
      }
      add(event, onset: onset, controls: controls, file: file)
    }
  }

  /// Puts the voices of several layers in order of onset, those of one onset in order of layers.
  fileprivate mutating func sortVoices() {
    let order = voices.indices.sorted { (voices[$0].onset, $0) < (voices[$1].onset, $1) }
    voices = order.map { voices[$0] }
  }
}

extension HapticComposition.Layer {
  fileprivate func isFelt(at place: String?) -> Bool {
    guard let place, let own = self.bodyLocation else { return true }
    return own.matches(place)
  }
}

extension HapticPattern {
  /// The indices of the events in order of time, and of the pattern where times are equal.
  var indicesByTime: [Int] {
    let order = Array(events.indices)
    // As most patterns are written.
    if zip(events, events.dropFirst()).allSatisfy({ $0.time <= $1.time }) {
      return order
    }
    return order.sorted { (events[$0].time, $0) < (events[$1].time, $1) }
  }
}

/// The controls in force at an onset, swept forward with the sorted events.
struct EventControls {
  /// The controls that act while a voice sounds, in the order of `LiveControlID`.
  let liveTimelines: [ControlTimeline]
  private let changingIndices: [Int]
  private let envelopeTimelines: [DynamicParameterID: ControlTimeline]
  private var liveCursors: [Int]
  private var envelopeCursors: [DynamicParameterID: Int] = [:]
  private var liveValues: [Double]
  private var envelopeValues: [DynamicParameterID: Double] = [:]

  init(of pattern: HapticPattern, rate: Double) {
    let grid = ControlTimeline.TimeGrid.frames(rate: rate)
    let live = LiveControlID.allCases.map { $0.parameterID }
    let moving = live.map { ControlTimeline(of: $0, in: pattern, grid: grid) }
    self.liveTimelines = moving
    changingIndices = moving.indices.filter { moving[$0].segments.count > 1 }
    liveCursors = Array(repeating: 0, count: moving.count)
    liveValues = moving.map { $0.value(at: 0) }
    var times: [DynamicParameterID: ControlTimeline] = [:]
    let used = Set(pattern.parameters.map { $0.id }).union(pattern.curves.map { $0.id })
    for id in used.subtracting(live) {
      times[id] = ControlTimeline(of: id, in: pattern, grid: grid)
    }
    self.envelopeTimelines = times
  }

  /// Moves to an onset, which must not lie before the last one.
  mutating func advance(to frame: Int64) {
    let frame = Double(frame)
    for index in changingIndices {
      liveValues[index] = liveTimelines[index].value(at: frame, cursor: &liveCursors[index])
    }
    for (id, track) in envelopeTimelines {
      var cursor = envelopeCursors[id] ?? 0
      envelopeValues[id] = track.value(at: frame, cursor: &cursor)
      envelopeCursors[id] = cursor
    }
  }

  func isChanging(_ id: LiveControlID) -> Bool { changingIndices.contains(id.rawValue) }

  func value(_ id: LiveControlID) -> Double { liveValues[id.rawValue] }

  func envelopeTime(
    of event: HapticEvent, parameter id: EventParameterID, control: DynamicParameterID
  )
    -> PlannedEnvelope.Time
  {
    let origin = envelopeTimelines[control]?.segments[envelopeCursors[control] ?? 0].sourceStart
    return PlannedEnvelope.Time(
      eventValue: event.value(of: id), controlValue: Float(envelopeValues[control] ?? 0),
      sourceStart: origin.map { Int64($0) } ?? ControlSegment.noSource)
  }
}
