internal import HapticModel

/// What a player of the renderer does with the calls that reach it, frame by frame, without sound.
///
/// Frames are those of the engine's session. The rules are those of the renderer: what begins in a frame is what the
/// renderer begins there.
struct PlayerModel {
  /// A control that was sent.
  private struct LiveControl {
    var start: Int64
    var value: Double
    var slope: Double
    /// The position in the pattern at which it came into force; what the pattern sets later replaces it.
    var position: Int64
  }

  private struct PlannedEvent {
    var event: HapticEvent
    var layer: Int
    var onset: Int64
    var length: Int64
  }

  /// An event that sounds, or waits for the end of a pause.
  private struct OpenEvent {
    var planned: Int
    /// The position at which its pass began.
    var origin: Int64
    /// What it has played since its start or the last pause.
    var record: Record?
  }

  private struct Record {
    var start: Int64
    var levels: [(frame: Int64, intensity: Double, sharpness: Double)] = []
  }

  private enum Phase { case idle, playing, paused }

  private let rate: Double
  private let events: [PlannedEvent]
  private let controls: [[DynamicParameterID: ControlTimeline]]
  private var planPassLength: Int64 = 0
  private var planLength: Int64 = 0

  private var frame: Int64 = 0
  private var phase = Phase.idle
  private var tempo = Tempo()
  private var passOrigin: Int64 = 0
  private var nextEvent = 0
  private var isLooping = false
  private var loopEnd: Int64 = 0
  private var entry: Int64?
  private var pauseFrame: Int64 = 0
  /// The frame at which the last burst ends.
  private var burstEnd: Int64 = 0
  private var live: [DynamicParameterID: LiveControl] = [:]
  private var open: [OpenEvent] = []
  /// Whether the player and its engine let haptics and audio be heard.
  var isMuted = false
  var playsHaptics = true
  var playsAudio = true
  /// What has been played, with times in seconds of the session.
  private var played: [PlayedHaptics.Event] = []

  init(_ composition: HapticComposition, rate: Double) {
    self.rate = rate
    var events: [PlannedEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events {
        let length =
          switch event.kind {
          case .hapticTransient: 0.0
          case .hapticContinuous, .audioContinuous: event.duration ?? Self.unlimitedDuration
          case .audioCustom: event.duration ?? 0
          }
        if event.kind == .hapticContinuous || event.kind == .audioContinuous, length == 0 { continue }
        events.append(
          PlannedEvent(
            event: event, layer: layer, onset: FrameConversion.frame(seconds: event.time, rate: rate),
            length: FrameConversion.frame(seconds: length, rate: rate)))
      }
    }
    self.events = events.enumerated().sorted { ($0.element.onset, $0.offset) < ($1.element.onset, $1.offset) }.map(
      \.element)
    controls = composition.layers.map { layer in
      Dictionary(
        uniqueKeysWithValues: Self.followed.map {
          ($0, ControlTimeline(of: $0, in: layer.pattern, grid: .frames(rate: rate)))
        })
    }
  }

  /// Seconds of a continuous event that was given no duration.
  private static let unlimitedDuration = 30.0
  private static let followed: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl,
  ]

  // MARK: Time

  /// Goes on to a frame.
  mutating func advance(to end: Int64) {
    defer { frame = max(frame, end) }
    guard phase == .playing else { return }
    while frame < end {
      while nextWrap <= frame {
        cut()
        passOrigin += passLength
        nextEvent = 0
      }
      let next = min(end, nextWrap)
      beginEvents(before: next)
      follow(to: next)
      frame = next
      if isOver {
        stop()
        return
      }
    }
  }

  /// Whether the last pass is over, and the bursts that keep their own time.
  private var isOver: Bool {
    isLastPass && nextEvent >= events.count && open.isEmpty && frame >= burstEnd
      && tempo.frame(at: passOrigin + planLength) <= frame
  }

  private var passLength: Int64 { loopEnd > 0 ? loopEnd : planPassLength }

  private var isLastPass: Bool { !isLooping || passLength <= 0 }

  /// The frame at which a loop that ends before its pattern cuts off what sounds.
  private var nextWrap: Int64 {
    guard phase == .playing, !isLastPass, passLength < planPassLength else { return .max }
    return tempo.frame(at: passOrigin + passLength)
  }

  private mutating func beginEvents(before end: Int64) {
    let reached = tempo.position(at: end - 1)
    while true {
      if nextEvent < events.count {
        let onset = events[nextEvent].onset
        if passOrigin + onset > reached { return }
        if isLastPass || onset < passLength { begin(nextEvent, at: max(frame, tempo.frame(at: passOrigin + onset))) }
        nextEvent += 1
        continue
      }
      let next = passOrigin + passLength
      if isLastPass || next > reached { return }
      passOrigin = next
      nextEvent = 0
    }
  }

  private mutating func begin(_ index: Int, at start: Int64) {
    let planned = events[index]
    if planned.length == 0 {
      burstEnd = max(burstEnd, start + max(0, planLength - (events.last?.onset ?? 0)))
      let level = level(of: planned, at: start, origin: passOrigin)
      note(planned, Record(start: start, levels: [(start, level.0, level.1)]), end: start)
    } else {
      open.append(OpenEvent(planned: index, origin: passOrigin, record: Record(start: start)))
    }
  }

  /// Writes down the levels of what sounds up to a frame, and what ends before it.
  private mutating func follow(to end: Int64) {
    var kept: [OpenEvent] = []
    for var event in open {
      let planned = events[event.planned]
      let last = tempo.frame(at: event.origin + planned.onset + planned.length)
      if var record = event.record {
        let from = record.levels.last.map { max($0.frame, frame) } ?? record.start
        sample(planned, into: &record, from: from, to: min(end, last), origin: event.origin)
        event.record = record
        if last <= end { note(planned, record, end: last) }
      }
      if last > end { kept.append(event) }
    }
    open = kept
  }

  /// Adds the corners of an event's levels between two frames.
  private func sample(_ planned: PlannedEvent, into record: inout Record, from: Int64, to end: Int64, origin: Int64) {
    guard end > from else { return }
    var frames = [from]
    let (low, high) = (tempo.position(at: from) - origin, tempo.position(at: end) - origin)
    for control in controls[planned.layer].values {
      var index = control.index(at: Double(low)) + 1
      while index < control.segments.count, control.segments[index].start < Double(high) {
        frames.append(tempo.frame(at: origin + Int64(control.segments[index].start)))
        index += 1
      }
    }
    frames = Array(Set(frames)).sorted()
    for (index, frame) in frames.enumerated() {
      let next = index + 1 < frames.count ? frames[index + 1] : end
      append(planned, frame, origin, to: &record)
      // The line ends where the next one starts, from the left.
      if next - 1 > frame { append(planned, next - 1, origin, to: &record) }
    }
  }

  private func append(_ planned: PlannedEvent, _ frame: Int64, _ origin: Int64, to record: inout Record) {
    let (intensity, sharpness) = level(of: planned, at: frame, origin: origin)
    let count = record.levels.count
    // Three points of one height are a line of two.
    if count >= 2, record.levels[count - 1].intensity == intensity, record.levels[count - 1].sharpness == sharpness,
      record.levels[count - 2].intensity == intensity, record.levels[count - 2].sharpness == sharpness
    {
      record.levels[count - 1].frame = frame
    } else {
      record.levels.append((frame, intensity, sharpness))
    }
  }

  /// Intensity and sharpness of an event at a frame.
  private func level(of planned: PlannedEvent, at frame: Int64, origin: Int64) -> (Double, Double) {
    let position = tempo.position(at: frame)
    func control(_ id: DynamicParameterID) -> Double {
      guard let timeline = controls[planned.layer][id] else { return Double(id.neutralValue) }
      let segment = timeline.segments[timeline.index(at: Double(position - origin))]
      if let sent = live[id], segment.origin.map({ origin + Int64($0) <= sent.position }) ?? true {
        return sent.value + sent.slope * Double(frame - sent.start)
      }
      return segment.value(at: Double(position - origin))
    }
    let event = planned.event
    switch event.kind {
    case .hapticTransient, .hapticContinuous:
      let intensity = Double(event.value(of: .hapticIntensity)) * control(.hapticIntensityControl)
      let sharpness = Double(event.value(of: .hapticSharpness)) + control(.hapticSharpnessControl)
      return (isMuted || !playsHaptics ? 0 : Self.tidy(min(max(intensity, 0), 1)), Self.tidy(min(max(sharpness, 0), 1)))
    case .audioContinuous, .audioCustom:
      let volume = Double(event.value(of: .audioVolume)) * control(.audioVolumeControl)
      return (isMuted || !playsAudio ? 0 : Self.tidy(min(max(volume, 0), 1)), 0)
    }
  }

  /// A value without the digits that `Float` adds: 0.32, not 0.3199999928.
  private static func tidy(_ value: Double) -> Double { (value * 1e6).rounded() / 1e6 }

  private mutating func note(_ planned: PlannedEvent, _ record: Record, end: Int64) {
    let kind: PlayedHaptics.Event.Kind =
      switch planned.event.kind {
      case .hapticTransient: .transient
      case .hapticContinuous: .continuous
      case .audioContinuous, .audioCustom: .audio
      }
    var levels = record.levels.map {
      PlayedHaptics.Event.Level(
        time: Double($0.frame - record.start) / rate, intensity: $0.intensity, sharpness: $0.sharpness)
    }
    guard let first = levels.first else { return }
    if levels.allSatisfy({ $0.intensity == first.intensity && $0.sharpness == first.sharpness }) { levels = [first] }
    played.append(
      PlayedHaptics.Event(
        kind: kind, time: Double(record.start) / rate, duration: Double(max(0, end - record.start)) / rate,
        levels: levels))
  }

  /// Ends what sounds, now; pauses keep it for later.
  private mutating func cut(keepsEvents: Bool = false) {
    for index in open.indices {
      if let record = open[index].record { note(events[open[index].planned], record, end: frame) }
      open[index].record = nil
    }
    if !keepsEvents { open = [] }
  }

  /// Ends what sounds, so that it counts as played up to now.
  mutating func finish() { cut() }

  /// Takes what has been played, with times in seconds of the session.
  mutating func takePlayed() -> [PlayedHaptics.Event] {
    defer { played = [] }
    return played
  }

  // MARK: Calls

  /// Loads the player into a session.
  mutating func load(passLength: Double, length: Double) {
    planPassLength = Int64((passLength * rate).rounded())
    planLength = Int64((length * rate).rounded())
    phase = .idle
    entry = nil
    live = [:]
    open = []
    let playbackRate = tempo.rate
    tempo = Tempo()
    tempo.setRate(playbackRate, at: 0)
    frame = 0
  }

  mutating func start() {
    cut()
    let begin = entry ?? 0
    entry = nil
    moveLive(to: -1)
    phase = .playing
    enter(!isLastPass && begin >= passLength ? 0 : begin)
  }

  mutating func stop() {
    cut()
    phase = .idle
  }

  mutating func pause() {
    guard phase == .playing else { return }
    cut(keepsEvents: true)
    pauseFrame = frame
    phase = .paused
  }

  mutating func resume() {
    guard phase == .paused else { return }
    tempo.shift(from: pauseFrame, to: frame)
    phase = .playing
    for index in open.indices { open[index].record = Record(start: frame) }
  }

  mutating func seek(to seconds: Double) {
    let wanted = FrameConversion.frame(seconds: seconds, rate: rate)
    guard phase != .idle else {
      entry = wanted
      return
    }
    cut()
    let isBeyond = wanted >= (isLastPass ? planLength : passLength)
    if isBeyond, isLastPass {
      phase = .idle
      return
    }
    let target = isBeyond ? 0 : wanted
    moveLive(to: target)
    if phase == .paused { pauseFrame = frame }
    enter(target)
  }

  mutating func loop(_ isOn: Bool, end: Double?) {
    isLooping = isOn
    loopEnd = end.map { FrameConversion.frame(seconds: max($0, Self.shortestLoop), rate: rate) } ?? 0
    guard phase != .idle, !isLastPass else { return }
    let position = tempo.position(at: phase == .paused ? pauseFrame : frame)
    if passOrigin + passLength < position { passOrigin = position - passLength }
  }

  private static let shortestLoop = 0.01

  mutating func setRate(_ rate: Double) { tempo.setRate(rate, at: phase == .paused ? pauseFrame : frame) }

  mutating func send(_ id: DynamicParameterID, _ value: Double, slope: Double = 0) {
    let position = phase == .idle ? -1 : tempo.position(at: phase == .paused ? pauseFrame : frame)
    live[id] = LiveControl(start: frame, value: value, slope: slope, position: position)
  }

  private mutating func moveLive(to position: Int64) { for id in live.keys { live[id]?.position = position } }

  /// Goes on at a place of the pattern.
  private mutating func enter(_ place: Int64) {
    passOrigin = 0
    open = []
    tempo.anchor(position: place, at: frame)
    nextEvent = events.firstIndex { $0.onset >= place } ?? events.count
    for index in 0..<nextEvent where events[index].length > 0 && events[index].onset + events[index].length > place {
      open.append(OpenEvent(planned: index, origin: 0, record: phase == .playing ? Record(start: frame) : nil))
    }
  }
}

/// How the positions of a pattern follow from the frames of a session.
private struct Tempo {
  private(set) var rate = 1.0
  private var anchorFrame: Int64 = 0
  private var anchorPosition: Int64 = 0
  private var fraction = 0.0

  mutating func anchor(position: Int64, at frame: Int64) {
    (anchorFrame, anchorPosition, fraction) = (frame, position, 0)
  }

  mutating func setRate(_ newRate: Double, at frame: Int64) {
    let place = fraction + Double(frame - anchorFrame) * rate
    let whole = Int64(place)
    anchorPosition += whole
    fraction = place - Double(whole)
    anchorFrame = frame
    rate = min(max(newRate, 1.0 / 64), 64)
  }

  mutating func shift(from frame: Int64, to later: Int64) { anchorFrame += later - frame }

  func position(at frame: Int64) -> Int64 { anchorPosition + Int64(fraction + Double(frame - anchorFrame) * rate) }

  /// The first frame, not before the anchor, at which the pattern has come to a place.
  func frame(at position: Int64) -> Int64 {
    if position <= anchorPosition { return anchorFrame }
    let distance = (Double(position - anchorPosition) - fraction) / rate
    if distance > 4e15 { return .max / 2 }
    var frame = anchorFrame + Int64(distance)
    while self.position(at: frame) < position { frame += 1 }
    return frame
  }
}
