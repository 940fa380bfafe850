internal import HapticRender
internal import Synchronization

/// When a device may rest, and since when it could.
struct RestingState {
  /// Frames of quiet before a rest; nil where there is none.
  let delay: Int?
  /// Frames before what is planned at which a rest is over: a sound server takes its time to start.
  let lead: Int64
  /// Frames of quiet so far.
  private(set) var quietCount = 0
  /// The wake signal, to wait for.
  var watched: [PollDescriptor]

  /// Nothing was quiet yet.
  init(delay: Duration?, rate: Double, descriptor: Int32) {
    self.delay = delay.map { Int($0 / .seconds(1) * rate) }
    lead = Int64(rate)
    watched = [PollDescriptor(descriptor)]
  }

  /// Whether it has been quiet for long enough.
  var isDue: Bool { delay.map { quietCount >= $0 } ?? false }

  /// Counts frames, where there are rests at all.
  mutating func note(_ frameCount: Int, isQuiet: @autoclosure () -> Bool) {
    if delay == nil { return }
    quietCount = isQuiet() ? quietCount + frameCount : 0
  }
}

/// The frames that go by while a device rests, by the clock.
struct RestingClock {
  private let start: Int64
  private let moment: Duration
  private let rate: Double
  private let time: any TimeSource
  private var held: Int64?

  /// A rest that begins now, at a frame.
  init(at position: Int64, rate: Double, time: any TimeSource) {
    start = position
    moment = time.now
    self.rate = rate
    self.time = time
  }

  /// The frame that comes next.
  var position: Int64 {
    // A time that came from frames may be a little shorter than they are.
    held ?? start + Int64((time.now - moment) / .seconds(1) * rate + 0.01)
  }

  /// Holds the position, while the renderer comes to it; it never goes back.
  mutating func hold() -> Int64 {
    let position = position
    held = position
    return position
  }

  /// Lets the position go on.
  mutating func release() { held = nil }
}

extension RenderLoop {
  /// The longest time between two looks during a rest.
  private static let restInterval = Duration.milliseconds(500)

  /// Lets the device rest where nothing has sounded for long enough and nothing is about to; returns whether
  /// the loop still belongs to this thread.
  func restIfQuiet() -> Bool {
    // A recording has all frames of time.
    guard resting.isDue, recording == nil, !stopRequest.load(ordering: .relaxed) else { return true }
    resting.note(0, isQuiet: false)
    let position = engine.link.position
    guard renderer.beginIdle() - position > resting.lead else {
      renderer.endIdle()
      return true
    }
    let sink = sink
    let call = beginCall()
    let rests = sink.rest()
    guard endCall(call) else { return false }
    guard rests else {
      renderer.endIdle()
      return true
    }
    engine.rest.withLock { $0 = RestingClock(at: position, rate: engine.rate, time: time) }
    isResting.store(true, ordering: .releasing)
    return true
  }

  /// One look during a rest.
  func restOn() -> Bool {
    let planned = renderer.quietEnd
    let position = engine.link.position
    let left = min(planned - position - resting.lead, Int64(engine.rate))
    time.wait(for: &resting.watched, timeout: min(Self.restInterval, .seconds(Double(max(1, left)) / engine.rate)))
    if resting.watched[0].received != 0 { wake.lower() }
    let now = time.now
    let reached = engine.rest.withLock { $0?.hold() } ?? position
    let quietEnd = renderer.skipIdle(frameCount: Int(reached - position))
    clock.note(position: reached, delay: 0, moment: now)
    let isStopping = stopRequest.load(ordering: .acquiring)
    if !isStopping, quietEnd - reached > resting.lead {
      engine.rest.withLock { $0?.release() }
      noteChanges(always: false)
      return true
    }
    renderer.endIdle()
    engine.rest.withLock { $0 = nil }
    isResting.store(false, ordering: .releasing)
    guard isStopping else {
      noteChanges(always: true)
      return true
    }
    // Nothing sounds, so there is nothing to fade.
    let sink = sink
    let finishing = beginCall()
    sink.finish(draining: false)
    guard endCall(finishing) else { return false }
    noteChanges(always: true)
    return false
  }
}
