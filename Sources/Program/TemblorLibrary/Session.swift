internal import HapticModel
internal import HapticOutputs
internal import HapticPlayback
internal import HapticRender
public import StudioCore
internal import SystemSupport

/// A session that plays patterns on a device, for the C interface.
final class DeviceSession {
  /// One playback of a pattern. Its player is released when the playback ends.
  struct PatternPlayback {
    var player: PatternPlayer?
    var startFrame: Int64?
    var endFrame: Int64?
    /// The time at which the start of the playback is heard, in seconds of the monotonic clock.
    /// It is fixed when it is first reached, because the clock of the device drifts.
    var heardStartSeconds: Double?
    /// The state of the playback as text for programs.
    var stateText: String {
      if endFrame != nil { return "ended" }
      return startFrame == nil ? "waiting" : "playing"
    }
    /// The most recently set values of the intensity control and the sharpness control.
    var controlValues: [Float] = [1, 0]
  }

  /// The maximum number of ended playbacks whose state is kept.
  private static let maximumKeptEndedPlaybackCount = 1_024

  let engine: PlaybackEngine
  /// The latency of the limiters and transducer stages, in frames.
  private let processingLatencyFrameCount: Int
  private let clock: PlaybackClock
  /// The live playback that drives the engine, or nil if another object drives the engine.
  private var livePlayback: LivePlayback?
  private let sinkEvents: SharedSinkEvents
  private var playbacksByNumber: [Int32: PatternPlayback] = [:]
  private var lastPlaybackNumber: Int32 = 0
  private var missedFrameCount = 0

  private typealias SharedSinkEvents = Locked<[SinkEvent]>

  convenience init(_ device: String, profile: TransducerProfile, rate: Double, strength: Double)
    throws
  {
    let request = OutputRequest(rate: Int(rate), allowsOtherRate: true, channels: .atLeast(2))
    let openedOutput = try OutputRegistry.standard.open(device, request)
    let outputRouting = OutputRouting(channelCount: openedOutput.format.channelCount)
    let playbackEngine = PlaybackEngine(
      rate: openedOutput.format.rate, routing: outputRouting, profiles: [profile],
      strength: Float(strength))
    let sinkEvents = SharedSinkEvents([])
    let livePlayback = try LivePlayback(
      playbackEngine, sink: openedOutput.sink, wantsRealTime: true
    ) { event in
      if case .sinkEvent(let notice) = event {
        sinkEvents.withLock { $0.append(notice) }
      }
    }
    self.init(playbackEngine, clock: livePlayback.clock, sinkEvents)
    self.livePlayback = livePlayback
  }

  /// Creates a session for an engine that is already driven.
  convenience init(_ engine: PlaybackEngine, clock: PlaybackClock) {
    self.init(engine, clock: clock, SharedSinkEvents([]))
  }

  private init(_ engine: PlaybackEngine, clock: PlaybackClock, _ notices: SharedSinkEvents) {
    self.engine = engine
    self.clock = clock
    self.sinkEvents = notices
    processingLatencyFrameCount =
      Renderer(
        rate: engine.rate, settings: RenderSettings(routing: engine.routing),
        port: RendererPort(channelCount: engine.routing.channels.count)
      ).latencyFrameCount
  }

  /// Plays a compiled plan and returns the number that identifies the playback.
  ///
  /// - Parameters:
  ///   - plan: The plan to play.
  ///   - frame: The frame at which it starts, or a negative number to start immediately.
  func playPlan(_ plan: RenderPlan, at frame: Int64) throws(PlaybackError) -> Int32 {
    updatePlaybacks()
    let patternPlayer = try engine.player(
      for: [plan], duration: Double(plan.frameCount) / plan.rate)
    try patternPlayer.start(at: frame < 0 ? .now : .frame(frame))
    lastPlaybackNumber &+= 1
    playbacksByNumber[lastPlaybackNumber] = PatternPlayback(player: patternPlayer)
    return lastPlaybackNumber
  }

  /// A control of a playback. Its raw value is its number in the C interface.
  enum PlaybackControl: Int32, CaseIterable {
    case intensity = 0
    case sharpness = 1
    case gain = 2
    case stop = 3

    /// The range of values of the control. A stop has no value.
    var range: ClosedRange<Double> {
      switch self {
      case .intensity: 0...1
      case .sharpness: -1...1
      case .gain: 0...1_000
      case .stop: 0...0
      }
    }
  }

  /// Moves a control of a playback to a value. Returns false if the playback has ended.
  ///
  /// - Parameters:
  ///   - number: The number of the playback.
  ///   - control: The control.
  ///   - value: The new value of the control.
  ///   - seconds: The duration of the change.
  ///   - frame: The frame at which the change starts, or a negative number to start immediately.
  func setControl(
    ofPlay number: Int32, _ control: PlaybackControl, to value: Double, over seconds: Double,
    at frame: Int64
  )
    throws(PlaybackError) -> Bool
  {
    updatePlaybacks()
    let commandTime: PlaybackTime = frame < 0 ? .now : .frame(frame)
    guard let player = playbacksByNumber[number]?.player else { return false }
    switch control {
    case .intensity, .sharpness:
      let index = Int(control.rawValue)
      let id: DynamicParameterID =
        control == .intensity ? .hapticIntensityControl : .hapticSharpnessControl
      let from = playbacksByNumber[number]?.controlValues[index] ?? id.neutralValue
      if seconds > 0 {
        let points = [
          ParameterCurve.ControlPoint(time: 0, value: from),
          ParameterCurve.ControlPoint(time: seconds, value: Float(value)),
        ]
        try player.schedule(ParameterCurve(id: id, time: 0, controlPoints: points), at: commandTime)
      } else {
        try player.set(id, to: Float(value), at: commandTime)
      }
      playbacksByNumber[number]?.controlValues[index] = Float(value)
    case .gain:
      try player.setGain(value, over: seconds > 0 ? seconds : nil, at: commandTime)
    case .stop:
      try player.stop(at: commandTime)
    }
    return true
  }

  private func updatePlaybacks() {
    engine.update()
    for (number, play) in playbacksByNumber {
      guard let player = play.player else { continue }
      playbacksByNumber[number]?.startFrame = player.startFrame
      guard player.endCount > 0, player.phase == .idle, !player.isWaitingToStart else { continue }
      playbacksByNumber[number]?.endFrame = player.endFrame
      playbacksByNumber[number]?.player = nil
    }
    guard playbacksByNumber.count > 2 * Self.maximumKeptEndedPlaybackCount else { return }
    playbacksByNumber = playbacksByNumber.filter {
      $0.value.player != nil
        || $0.key > lastPlaybackNumber - Int32(Self.maximumKeptEndedPlaybackCount)
    }
  }

  /// Returns the state of the session as JSON. Each event is reported once.
  func statusJSON() -> [UInt8] {
    updatePlaybacks()
    let clockReading = clock.reading
    // The relation between frames and the times at which they are heard, in seconds of the
    // monotonic clock.
    let heardPosition =
      Double(clockReading.position)
      - Double(clockReading.delayFrameCount + processingLatencyFrameCount)
    func heardSeconds(_ frame: Int64) -> Double {
      clockReading.readingTime / .seconds(1) + (Double(frame) - heardPosition) / engine.rate
    }
    for (number, play) in playbacksByNumber {
      if let start = play.startFrame, play.heardStartSeconds == nil, Double(start) <= heardPosition
      {
        playbacksByNumber[number]?.heardStartSeconds = heardSeconds(start)
      }
    }
    let recentEvents = sinkEvents.withLock { events in
      defer { events = [] }
      return events
    }
    missedFrameCount += recentEvents.reduce(0) { $0 + $1.missedFrameCount }
    let statusFields: JSONObject = [
      "rate": engine.rate, "latency": processingLatencyFrameCount,
      "channels": engine.routing.channels.count,
      "rendered": Int(engine.position), "heard": Int(clock.heardFrame),
      "time": SystemTimeSource().now / .seconds(1),
      "isOver": livePlayback?.hasEnded == true, "missed": missedFrameCount,
      "events": recentEvents.map { event -> JSONObject in
        ["kind": "\(event.kind)", "missed": event.missedFrameCount, "text": event.text]
      },
      "plays": playbacksByNumber.sorted { $0.key < $1.key }.map { number, play -> JSONObject in
        [
          "id": Int(number),
          "state": play.stateText,
          "start": play.startFrame,
          "onset": play.startFrame.map { play.heardStartSeconds ?? heardSeconds($0) },
          "end": play.endFrame,
        ]
      },
    ]
    return Array((statusFields.compactLine + "\n").utf8)
  }
}

extension StudioInstance {
  fileprivate var session: DeviceSession? { retainedSession as? DeviceSession }

  /// Returns the session, or throws an error if no device is open.
  fileprivate func requireSession() throws(CallError) -> DeviceSession {
    guard let session else {
      throw .invalidState("no device is open", suggestion: "call temblor_session_open first")
    }
    return session
  }
}

/// The maximum frame number that a call may specify. The clock of a session never reaches it.
private let maximumFrame: Int64 = 1 << 53

private func checkFrame(_ frame: Int64) throws(CallError) {
  guard frame <= maximumFrame else {
    throw .invalidArgument("the frame is \(frame)", suggestion: "use at most \(maximumFrame)")
  }
}

/// Runs an operation of the playback engine, and converts its error to a `CallError`.
private func convertingPlaybackErrors<Result>(_ body: () throws(PlaybackError) -> Result)
  throws(CallError)
  -> Result
{
  do throws(PlaybackError) {
    return try body()
  } catch {
    throw .deviceFailure(error.description)
  }
}

/// Opens a device by its name, as for `--device`, and plays on all its channels.
///
/// - Returns: 1, or 0 if the device cannot be opened, or if the instance has a device already; the
///   output is then the reason.
@_cdecl("temblor_session_open")
public func temblorSessionOpen(
  _ host: StudioHandle?, _ device: BytePointer?, _ length: Int32, _ profile: Int32, _ rate: Double,
  _ strength: Double
) -> Int32 {
  unsafe runCall(host) { host throws(CallError) in
    let device = try unsafe decodeText(device, length, of: "the device")
    try checkSampleRate(rate)
    try checkNumber(strength, 0...1, "the strength")
    let profile = try host.profile(profile)
    guard host.session == nil else {
      throw .invalidState(
        "a device is open",
        suggestion: "call temblor_session_close first, or open the other device with another host")
    }
    do {
      host.retainedSession = try DeviceSession(
        device, profile: profile, rate: rate, strength: strength)
    } catch {
      throw .deviceFailure("\(error)", name: device)
    }
    return 1
  }
}

/// Plays a slot at a frame of the session, or immediately if the frame is negative or past.
///
/// - Returns: The number of the playback, or −1 if the slot cannot be played; the output is then
///   the reason.
@_cdecl("temblor_session_play")
public func temblorSessionPlay(
  _ host: StudioHandle?, _ slot: Int32, _ profile: Int32, _ frame: Int64
)
  -> Int32
{
  unsafe runCall(host, failureResult: -1) { host throws(CallError) in
    let session = try host.requireSession()
    try checkFrame(frame)
    let plan = try host.compilePlan(slot, profile: profile, rate: session.engine.rate)
    return try convertingPlaybackErrors { () throws(PlaybackError) in
      try session.playPlan(plan, at: frame)
    }
  }
}

/// Moves a control of a playback to a value: 0 for intensity, 1 for sharpness, 2 for gain, or 3 to
/// stop.
///
/// - Returns: 1, or 0 if the playback has ended; the output is then the reason.
@_cdecl("temblor_session_control")
public func temblorSessionControl(
  _ host: StudioHandle?, _ play: Int32, _ control: Int32, _ value: Double, _ seconds: Double,
  _ frame: Int64
) -> Int32 {
  unsafe runCall(host) { host throws(CallError) in
    let session = try host.requireSession()
    guard let control = DeviceSession.PlaybackControl(rawValue: control) else {
      throw .invalidArgument("the control is \(control)", suggestion: "use 0 to 3")
    }
    if control != .stop {
      try checkNumber(value, control.range, "the value")
    }
    try checkNumber(seconds, 0...86_400, "the duration")
    try checkFrame(frame)
    let isPlaybackFound = try convertingPlaybackErrors { () throws(PlaybackError) in
      try session.setControl(ofPlay: play, control, to: value, over: seconds, at: frame)
    }
    guard isPlaybackFound else {
      throw .invalidState("playback \(play) has ended, or does not exist")
    }
    return 1
  }
}

/// Sets the output to the state of the session as JSON.
///
/// - Returns: The number of bytes, or 0 if no device is open.
@_cdecl("temblor_session_status")
public func temblorSessionStatus(_ host: StudioHandle?) -> Int32 {
  unsafe runCall(host) { host throws(CallError) in
    host.setOutput(try host.requireSession().statusJSON())
  }
}

/// Fades out, plays the tail, and closes the device. Does nothing if no device is open.
@_cdecl("temblor_session_close")
public func temblorSessionClose(_ host: StudioHandle?) {
  _ = unsafe runCall(host) { host throws(CallError) in
    host.retainedSession = nil
    return 1
  }
}
