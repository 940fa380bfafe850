internal import HapticModel
package import HapticFormats
import VendorFormats
package import HapticPlayback
internal import HapticRender
internal import SystemSupport
package import TransducerProfiles

/// Does what commands ask for on an engine, and reports what becomes of it.
///
/// Answers at once and never waits; belongs to one thread. In virtual time it does the same as in real time.
package final class ListenSession {
  package let engine: PlaybackEngine
  /// What was started and has not ended, as of the last look, in the order it was asked for.
  var voices: [ListenPlayer] = []
  let loader: PatternLoader
  var taps = TapSchedule()
  var ducking = Ducking()
  var client = 0
  var nameCount = 0
  let array: TransducerArray?
  private let device: String
  private let wake: WakeSignal?
  private var events: [ListenReply] = []
  /// The frame of the last end.
  private var endFrame: Int64 = 0
  var trouble = SinkEventFolding()

  /// A session in which nothing plays.
  ///
  /// - Parameters:
  ///   - device: What `status` calls the device.
  ///   - array: The transducers that the engine's haptic buses drive, where a file said so.
  ///   - wake: Raised on another thread when there may be events to take.
  ///   - formats: The formats of the patterns.
  ///   - folder: The only folder of which files are opened, as a real path; nil for any.
  ///   - loadsAside: Whether patterns are read on threads of their own; else at once.
  ///   - message: One line about why a pattern cannot be read.
  package init(
    _ engine: PlaybackEngine, device: String, array: TransducerArray? = nil, wake: WakeSignal? = nil,
    formats: FormatRegistry = .standard, folder: String? = nil, loadsAside: Bool = false,
    message: @escaping @Sendable (any Error) -> String = { "\($0)" }
  ) {
    self.engine = engine
    self.device = device
    self.array = array
    self.wake = wake
    loader = PatternLoader(
      profiles: engine.profiles, rate: engine.rate, formats: formats, folder: folder, loadsAside: loadsAside,
      message: message)
  }

  /// Starts to load the pattern of a request, where it has one.
  func load(for request: ListenRequest) throws(ListenError) -> PatternLoader.Job? {
    guard case .success(let command) = request.command else { return nil }
    switch command {
    case .play(let play): return try loader.begin(play.pattern, wake: wake)
    case .preload(let pattern): return try loader.begin(pattern, wake: wake)
    case .noise(let noise): return try loader.begin(noise, wake: wake)
    default: return nil
    }
  }

  /// Does what a request asks for; `quit` and `shutdown` are for the owner of the connection.
  ///
  /// - Parameters:
  ///   - client: Whose request it is.
  ///   - piece: Its pattern, where it has one; loaded here where it is nil.
  func answer(
    _ request: ListenRequest, client: Int = 0, with piece: Result<PatternLoader.CachedPattern, ListenError>? = nil
  ) -> ListenReply {
    do throws(ListenError) { return .ok(try perform(request, client, piece), tag: request.tag) } catch {
      return .error(error, tag: request.tag)
    }
  }

  /// The same, or nothing where there may be space for it a period later.
  ///
  /// What was done of it by then does no harm when it is done again.
  func answerIfRoom(
    _ request: ListenRequest, client: Int, with piece: Result<PatternLoader.CachedPattern, ListenError>? = nil
  ) -> ListenReply? {
    do throws(ListenError) { return .ok(try perform(request, client, piece), tag: request.tag) } catch {
      return error.kind == .busy ? nil : .error(error, tag: request.tag)
    }
  }

  private func perform(
    _ request: ListenRequest, _ client: Int, _ piece: Result<PatternLoader.CachedPattern, ListenError>?
  ) throws(ListenError) -> [ListenReply.Field] {
    collect()
    self.client = client
    return try perform(request.command.get(), piece)
  }

  /// Takes what happened since the last call, in the order it happened.
  package func takeEvents() -> [ListenReply] {
    collect()
    defer { events = [] }
    return events
  }

  /// Lets what plays come to its end: loops end with the running pass, and what is paused is stopped.
  ///
  /// What was asked to end at a time does so then.
  /// - Returns: Whether there was space to ask for all that; if not, ask again a period later.
  package func finishPlaying() -> Bool {
    collect()
    do throws(PlaybackError) {
      for voice in voices where voice.stopFrame == nil && voice.successionFrame == nil {
        if voice.isPaused { try end(voice, at: moment(.now)) } else { try voice.player.loop(passCount: 1) }
      }
      return true
    } catch { return false }
  }

  /// Seconds until all has been heard; nothing while something plays or waits for its time.
  ///
  /// - Parameter tail: Seconds behind the last end; absent: those in which hardware comes to rest.
  package func secondsLeft(tail: Double? = nil) -> Double? {
    collect()
    guard voices.isEmpty, taps.count == 0 else { return nil }
    let delay = engine.routing.channels.map(\.delay).max() ?? 0
    let left =
      Double(endFrame + Int64(delay) - engine.position) / engine.rate + (tail ?? engine.routing.tail(rate: engine.rate))
    return max(0, left)
  }

  // MARK: -

  private func perform(_ command: ListenCommand, _ piece: Result<PatternLoader.CachedPattern, ListenError>?)
    throws(ListenError) -> [ListenReply.Field]
  {
    switch command {
    case .play(let play): return try start(play, try self.piece(piece, play.pattern))
    case .tap(let intensity, let sharpness, let time):
      return try tap(intensity: intensity, sharpness: sharpness, at: time)
    case .hum(let hum): return try start(hum)
    case .noise(let noise): return try start(noise, try self.piece(piece, noise))
    case .set(let setting): try set(setting)
    case .stop(let name, let time): try stop(name, at: time)
    case .pause(let name): try pause(name)
    case .resume(let name): try resume(name)
    case .seek(let name, let position): try seek(name, to: position)
    case .loop(let name, let isOn, let end): try loop(name, isOn: isOn, end: end)
    case .rate(let name, let rate): try setPlaybackRate(rate, of: name)
    case .pan(let name, let position, let ramp): try pan(name, to: position, over: ramp)
    case .mute(let name, let isOn): try setMuted(isOn, name)
    case .preload(let pattern): return [.number("duration", try self.piece(piece, pattern).duration)]
    case .duck(let duck): try self.duck(duck)
    case .status: return status
    case .list: return names.map { .text($0) }
    case .help(let verb): return try ListenGrammar.help(verb)
    case .quit, .shutdown: break
    }
    return []
  }

  private func piece(_ loaded: Result<PatternLoader.CachedPattern, ListenError>?, _ word: String) throws(ListenError)
    -> PatternLoader.CachedPattern
  {
    guard let loaded else { return try loader.piece(word) }
    return try loaded.get()
  }

  private func piece(_ made: Result<PatternLoader.CachedPattern, ListenError>?, _ noise: ListenCommand.Noise)
    throws(ListenError) -> PatternLoader.CachedPattern
  {
    guard let made else { return try loader.piece(noise) }
    return try made.get()
  }

  private var status: [ListenReply.Field] {
    let unstarted = voices.count { !$0.isPaused && !$0.hasStarted }
    let waiting = unstarted + taps.count
    let paused = voices.count { $0.isPaused }
    let peak = engine.routing.channels.indices.map { engine.takePeak(ofChannel: $0) }.max() ?? 0
    return [
      .number("time", engine.seconds), .count("playing", voices.count - unstarted - paused), .count("waiting", waiting),
      .count("paused", paused), .count("voices", engine.voiceCount), .number("strength", Double(engine.strength)),
      .pair("muted", engine.isMuted ? "yes" : "no"), .number("peak", Double(peak)),
      .number("limited", Double(engine.limitedFrameCount) / engine.rate), .count("underruns", trouble.underrunCount),
      .number("missed", Double(trouble.missedFrameCount) / engine.rate), .pair("device", device),
      .count("rate", Int(engine.rate)),
    ]
  }

  package enum Activity { case playing, paused, idle }

  package var activity: Activity {
    if voices.contains(where: { $0.hasStarted && !$0.isPaused }) { return .playing }
    return voices.contains { $0.isPaused } ? .paused : .idle
  }

  /// The names of what plays or is to play, each once, in the order they came.
  var names: [String] {
    var names: [String] = []
    for case let name? in voices.map(\.name) where !names.contains(name) { names.append(name) }
    return names
  }

  func moment(_ time: ListenTime) -> ScheduledTime {
    let now = engine.position
    let frame =
      switch time {
      case .now: now
      case .after(let seconds): now + FrameConversion.frame(seconds: seconds, rate: engine.rate)
      case .at(let seconds): Int64((seconds * engine.rate).rounded())
      }
    return frame > now ? ScheduledTime(time: .frame(frame), frame: frame) : ScheduledTime(time: .now, frame: now)
  }

  /// How long until something is to be done without a request; nil where there is nothing.
  package func timeout() -> Duration? {
    taps.firstFrame.map { frame in
      let left = Double(frame - engine.position) / engine.rate - Self.nearSeconds / 2
      return .seconds(max(0.001, left))
    }
  }

  func keep(_ voice: ListenPlayer) {
    if let wake { voice.player.endHandler = { wake.raise() } }
    voices.append(voice)
  }

  /// Releases something before it started.
  func drop(_ voice: ListenPlayer) {
    voices.removeAll { $0 === voice }
    guard voice.successionFrame == nil else { return }
    tellEnd(of: voice, "stopped", at: engine.position)
  }

  /// Releases what has ended, and reports it; starts taps whose time is near.
  private func collect() {
    sendTaps()
    let ended = voices.filter(\.hasEnded)
    if ended.isEmpty { return }
    defer { adjustDucking() }
    voices.removeAll { voice in ended.contains { $0 === voice } }
    // Sorting keeps the order of what ended together.
    for voice in ended.sorted(by: { $0.player.endFrame < $1.player.endFrame }) {
      let frame = voice.player.endFrame
      // What waits for its time would keep the player loaded; without space now, it goes then.
      if voice.lastFrame > frame { try? voice.player.cancel() }
      endFrame = max(endFrame, frame)
      if let succession = voice.successionFrame, frame >= succession { continue }
      let isStopped = voice.stopFrame.map { frame >= $0 } ?? false
      tellEnd(of: voice, isStopped ? "stopped" : "finished", at: frame)
    }
  }

  private func tellEnd(of voice: ListenPlayer, _ event: String, at frame: Int64) {
    guard let name = voice.name else { return }
    events.append(.event(event, [.pair("name", name), .number("time", Double(frame) / engine.rate)]))
  }

  func tell(_ event: String, _ fields: [ListenReply.Field]) {
    events.append(.event(event, [.number("time", engine.seconds)] + fields))
  }

  /// Reports something that happened at the device.
  ///
  /// - Parameter now: When, on the clock that `reportFolded` goes by.
  package func note(_ event: SinkEvent, at now: Duration) { for report in trouble.add(event, at: now) { tell(report) } }

  /// How long until events of the device that repeat are to be reported; nil where there are none.
  package func foldedTimeout(at now: Duration) -> Duration? { trouble.timeout(at: now) }

  /// Reports what was held back and is due; all of it without a time.
  package func reportFolded(at now: Duration?) { for report in trouble.takeDue(at: now) { tell(report) } }

  private func tell(_ report: SinkEventFolding.Report) {
    let event = report.event
    let name: String
    switch event.kind {
    case .underrun: name = "underrun"
    case .suspended: name = "suspended"
    case .disconnected: name = "disconnected"
    case .unresponsive: name = "unresponsive"
    case .reconnected: name = "reconnected"
    case .failed: name = "failed"
    // Nothing a script could act on; standard error has it.
    case .degraded: return
    }
    let missed = ListenReply.Field.number("missed", Double(event.missedFrameCount) / engine.rate)
    let count = ListenReply.Field.count("count", report.count)
    if event.kind == .underrun { return tell(name, [missed, count] + cause(of: event)) }
    tell(name, [missed] + (report.count > 1 ? [count] : []) + [.pair("text", event.text)])
  }

  private func cause(of event: SinkEvent) -> [ListenReply.Field] {
    switch event.cause {
    case nil: []
    case .lateDelivery: [.pair("cause", "late-delivery")]
    case .stoppedProcess: [.pair("cause", "stopped-process")]
    case .lateDevice: [.pair("cause", "late-device")]
    case .droppedBuffer: [.pair("cause", "dropped-buffer")]
    }
  }
}
