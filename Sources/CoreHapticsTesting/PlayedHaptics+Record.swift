internal import CoreHaptics
internal import HapticModel

extension PlayedHaptics {
  /// Follows the players of a record up to a time of the device.
  init(_ notes: [EngineNote], rate: Double, until now: Double) {
    var reader = RecordReader(rate: rate)
    for call in RecordReader.calls(of: notes, rate: rate) where call.time <= now + 1e-9 { reader.take(call) }
    self.init(reader.finish(at: now))
  }
}

/// Plays a record again, call by call in the order in which calls take effect.
private struct RecordReader {
  /// A call with the time at which it takes effect.
  struct Call {
    var time: Double
    var index: Int
    var engine: Int
    var player: Int?
    var action: EngineNote.Action
    /// The control that a curve moves from here on, in place of the action.
    var line: (id: DynamicParameterID, value: Double, slope: Double)?
  }

  private struct Engine {
    var origin = 0.0
    var playsHaptics = true
    var playsAudio = true
    var isHapticsMuted = false
    var isAudioMuted = false
  }

  private let rate: Double
  private var engines: [Int: Engine] = [:]
  private var players: [Int: (engine: Int, isLoaded: Bool, model: PlayerModel)] = [:]
  private var played: [PlayedHaptics.Event] = []

  init(rate: Double) { self.rate = rate }

  /// The calls of a record that were not cancelled, in the order in which they take effect.
  static func calls(of notes: [EngineNote], rate: Double) -> [Call] {
    var calls: [Call] = []
    for (index, note) in notes.enumerated() {
      guard let time = time(of: note) else { continue }
      switch note.action {
      case .cancelled: calls.removeAll { $0.player == note.player && $0.time >= time && $0.isTransport }
      case .engineStopped: calls.removeAll { $0.engine == note.engine && $0.time > time && $0.isTransport }
      default: break
      }
      let call = Call(time: time, index: index, engine: note.engine ?? 0, player: note.player, action: note.action)
      if case .scheduled(let curve, _) = note.action {
        calls += lines(of: curve, call, rate: rate)
      } else {
        calls.append(call)
      }
    }
    return calls.sorted { ($0.time, $0.index) < ($1.time, $1.index) }
  }

  /// The straight lines of a curve, each from its time on.
  private static func lines(of curve: ParameterCurve, _ call: Call, rate: Double) -> [Call] {
    let points = curve.controlPoints.filter { $0.time.isFinite }.sorted { $0.time < $1.time }.map {
      (frame: FrameConversion.frame(seconds: max(0, $0.time), rate: rate), value: curve.id.clamped($0.value))
    }
    guard let first = points.first, let last = points.last else { return [] }
    var lines = [(frame: Int64(0), value: first.value, slope: 0.0)]
    for (from, to) in zip(points, points.dropFirst()) where to.frame > from.frame {
      lines.append((from.frame, from.value, (to.value - from.value) / Double(to.frame - from.frame)))
    }
    lines.append((last.frame, last.value, 0))
    return lines.map { line in
      var call = call
      call.time += Double(line.frame) / rate
      call.line = (curve.id, line.value, line.slope)
      return call
    }
  }

  private static func time(of note: EngineNote) -> Double? {
    switch note.action {
    case .engineStarted(_, _, let time), .engineStopped(_, let time), .hapticsMuted(_, let time),
      .audioMuted(_, let time), .started(let time), .stopped(let time), .paused(let time), .resumed(let time),
      .cancelled(let time), .sought(_, let time), .looped(_, _, let time), .rateChanged(_, let time),
      .playerMuted(_, let time), .sent(_, _, let time), .scheduled(_, let time), .playerMade(_, let time),
      .playerLoaded(_, _, let time):
      time
    case .engineMade, .engineStartFailed, .engineReset, .handlerCalled, .generatorCalled, .systemSoundPlayed, .breach,
      .ended:
      nil
    }
  }

  mutating func take(_ call: Call) {
    switch call.action {
    case .engineStarted(let playsHaptics, let playsAudio, let time):
      engines[call.engine, default: Engine()].origin = time
      engines[call.engine]?.playsHaptics = playsHaptics
      engines[call.engine]?.playsAudio = playsAudio
    case .engineStopped:
      for (number, player) in players where player.engine == call.engine {
        advance(number, to: call.time)
        players[number]?.model.stop()
        collect(number)
        players[number]?.isLoaded = false
      }
    case .hapticsMuted(let isMuted, _):
      engines[call.engine, default: Engine()].isHapticsMuted = isMuted
      updateMutes(of: call.engine, at: call.time)
    case .audioMuted(let isMuted, _):
      engines[call.engine, default: Engine()].isAudioMuted = isMuted
      updateMutes(of: call.engine, at: call.time)
    default:
      guard let number = call.player else { return }
      if case .playerMade(let composition, _) = call.action {
        players[number] = (call.engine, false, PlayerModel(composition, rate: rate))
        return
      }
      advance(number, to: call.time)
      if let line = call.line {
        players[number]?.model.send(line.id, line.value, slope: line.slope)
      } else {
        apply(call.action, to: number)
      }
    }
  }

  private mutating func apply(_ action: EngineNote.Action, to number: Int) {
    guard let engine = players[number]?.engine else { return }
    switch action {
    case .playerLoaded(let passLength, let length, _):
      collect(number)
      players[number]?.model.load(passLength: passLength, length: length)
      players[number]?.isLoaded = true
      updateMutes(of: engine, at: nil)
    case .started: players[number]?.model.start()
    case .stopped, .cancelled: players[number]?.model.stop()
    case .paused: players[number]?.model.pause()
    case .resumed: players[number]?.model.resume()
    case .sought(let offset, _): players[number]?.model.seek(to: offset)
    case .looped(let isOn, let end, _): players[number]?.model.loop(isOn, end: end)
    case .rateChanged(let rate, _): players[number]?.model.setRate(rate)
    case .playerMuted(let isMuted, _): players[number]?.model.isMuted = isMuted
    case .sent(let name, let value, _):
      guard let id = DynamicParameterID(rawValue: name.rawValue) else { return }
      players[number]?.model.send(id, id.clamped(value))
    default: return
    }
  }

  /// Goes on with a player to a time of the device.
  private mutating func advance(_ number: Int, to time: Double) {
    guard let player = players[number], player.isLoaded, let engine = engines[player.engine] else { return }
    let frame = Int64(((time - engine.origin) * rate + 1e-3).rounded(.down))
    players[number]?.model.advance(to: frame)
  }

  private mutating func updateMutes(of number: Int, at time: Double?) {
    guard let engine = engines[number] else { return }
    for (player, entry) in players where entry.engine == number {
      if let time { advance(player, to: time) }
      players[player]?.model.playsHaptics = engine.playsHaptics && !engine.isHapticsMuted
      players[player]?.model.playsAudio = engine.playsAudio && !engine.isAudioMuted
    }
  }

  /// Takes what a player has played in the session that ends.
  private mutating func collect(_ number: Int) {
    guard let player = players[number] else { return }
    let origin = engines[player.engine]?.origin ?? 0
    for event in players[number]?.model.takePlayed() ?? [] {
      var event = event
      event.time = rounded(event.time + origin)
      event.duration = rounded(event.duration)
      played.append(event)
    }
  }

  /// What was played up to a time of the device.
  mutating func finish(at now: Double) -> [PlayedHaptics.Event] {
    for number in players.keys {
      advance(number, to: now)
      players[number]?.model.finish()
      collect(number)
    }
    return played
  }
}

extension RecordReader.Call {
  /// Whether a cancel forgets it: calls of transport and of controls, but no settings.
  fileprivate var isTransport: Bool {
    switch action {
    case .started, .stopped, .paused, .resumed, .sought, .sent, .scheduled: true
    default: false
    }
  }
}
