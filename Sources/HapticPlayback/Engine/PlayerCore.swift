internal import HapticModel
internal import HapticRender
internal import Synchronization

/// A loaded pattern as the engine keeps it: one part for each haptic bus, always commanded together.
final class PlayerCore: Sendable {
  /// The first lays the audio.
  let parts: [RenderPlayer]
  /// The pattern's duration in seconds.
  let duration: Double
  private let state = Locked(State())

  struct State {
    var endHandler: (@Sendable () -> Void)?
    var toldEndCount = 0
    /// Who waits for an end, with the number of ends before it, by their number.
    var waiters: [Int: (after: Int, resume: @Sendable () -> Void)] = [:]
    var waiterSerial = 0
    /// Whether no end comes any more, because nothing drives the engine.
    var isStopped = false
    var commandCount = 1
    var startCount = 0
    /// Whether the player was released by its owner.
    var isOrphaned = false
    var isRemoved = false
    var isEndless = false
    var gain = 1.0
    var isMuted = false
    var sendSerial: Int64 = 0
  }

  init(plans: [RenderPlan], duration: Double, shares: [SendAutomation], keepsChanges: Bool) {
    parts = plans.enumerated().map { bus, plan in
      RenderPlayer(
        plan: plan, hapticBus: bus, rendersAudio: bus == 0, share: bus < shares.count ? shares[bus] : nil,
        keepsChanges: keepsChanges && bus == 0)
    }
    self.duration = duration
  }

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }

  /// A place in the middle, for each part: a look at every event before it.
  func entries(at frame: Int64) -> [SharedCuePoint] { parts.map { SharedCuePoint(of: $0.plan, at: frame) } }

  var isReleased: Bool { parts.allSatisfy { $0.isReleased } }

  func resumeWaiters() {
    let count = endCount
    let due = state.withLock { state in
      let due = state.waiters.filter { state.isStopped || $0.value.after < count }
      for serial in due.keys { state.waiters[serial] = nil }
      return due.values.map(\.resume)
    }
    for resume in due { resume() }
  }

  func noteStopped() {
    withState { $0.isStopped = true }
    resumeWaiters()
  }

  var endCount: Int { parts.map { $0.withStatus { $0.endCount.load(ordering: .acquiring) } }.min() ?? 0 }

  var endFrame: Int64 { parts.map { $0.withStatus { $0.endFrame.load(ordering: .relaxed) } }.max() ?? 0 }

  /// The frame of the last start, or nothing before the first.
  var startFrame: Int64? {
    parts.first?.withStatus { status in
      status.startCount.load(ordering: .acquiring) == 0 ? nil : status.startFrame.load(ordering: .relaxed)
    }
  }

  var phase: PlayerStatus.Phase {
    let phases = parts.map { $0.withStatus { $0.phase } }
    return phases.first { $0 != .idle } ?? .idle
  }

  var position: Double {
    guard let first = parts.first else { return 0 }
    return Double(first.withStatus { $0.position.load(ordering: .relaxed) }) / first.plan.rate
  }

  var isWaitingToStart: Bool {
    let sent = withState { $0.startCount }
    return parts.contains { part in
      part.withStatus { status in
        status.startCount.load(ordering: .acquiring) + status.droppedStartCount.load(ordering: .acquiring) < sent
      }
    }
  }

  var droppedVoiceCount: Int {
    parts.reduce(0) { $0 + $1.withStatus { $0.droppedVoiceCount.load(ordering: .relaxed) } }
  }

  /// Whether the player was released, has no command to come, and does not play.
  var isOver: Bool {
    let (isOrphaned, isRemoved, sent) = withState { ($0.isOrphaned, $0.isRemoved, $0.commandCount) }
    guard isOrphaned, !isRemoved else { return false }
    return parts.allSatisfy { part in
      part.withStatus { status in status.commandCount.load(ordering: .acquiring) >= sent && status.phase != .playing }
    }
  }

  func noteRemoval() { withState { $0.isRemoved = true } }

  /// Calls the end handler once for each end since the last call.
  func tellEnds() {
    resumeWaiters()
    let (count, handler) = withState { state in
      // Counted under the lock: several threads report, and an older count must not follow a newer one.
      let ended = endCount
      let count = ended - state.toldEndCount
      state.toldEndCount = ended
      return (count, state.endHandler)
    }
    guard count > 0, let handler else { return }
    for _ in 0..<count { handler() }
  }
}

/// The part of a pattern that a loop repeats, in frames, with the places where its passes begin.
struct LoopRegion {
  /// The frame at which a pass ends, or 0 for the pattern's own end, where all parts have the same.
  let end: Int64
  /// Where further passes begin, one for each part; none for the pattern's beginning.
  let entries: [SharedCuePoint]

  /// A region in seconds; one that is shorter than the shortest loop is made as long. Without a start or an end it has
  /// that of the composition's loop points, if there are any.
  init(from start: Double?, end: Double?, of core: PlayerCore, rate: Double) {
    let range = core.parts.first?.plan.loopRange
    let begin = start ?? range.map { Double($0.lowerBound) / rate } ?? 0
    let start = begin.isFinite ? max(0, begin) : 0
    let close = end ?? range.map { Double($0.upperBound) / rate }
    let last = close.map { max($0, start + PatternPlayer.shortestLoop) }
    self.end =
      last.map { FrameConversion.frame(seconds: $0, rate: rate) }
      ?? RenderPlan.commonLoopLength(of: core.parts.map(\.plan))
    entries = start > 0 ? core.entries(at: FrameConversion.frame(seconds: start, rate: rate)) : []
  }

  func entry(_ part: Int) -> SharedCuePoint? { entries.isEmpty ? nil : entries[part] }
}

/// How warm transducers were when they were last driven, for whatever drives them next in this process. A transducer is
/// known by its profile and its channel. Those of other processes are not known.
final class ThermalStateStore: Sendable {
  static let shared = ThermalStateStore()

  private struct Entry {
    var profile: TransducerProfile
    var channel: Int
    var temperatureRise: TransducerThermalState
    var moment: Duration
  }

  private let entries = Locked<[Entry]>([])

  func keep(_ temperatureRise: [TransducerThermalState], of routing: OutputRouting, at moment: Duration) {
    entries.withLock { entries in
      for (channel, (route, temperatureRise)) in zip(routing.channels, temperatureRise).enumerated() {
        guard let profile = route.transducer else { continue }
        entries.removeAll { $0.channel == channel && $0.profile == profile }
        entries.append(Entry(profile: profile, channel: channel, temperatureRise: temperatureRise, moment: moment))
      }
    }
  }

  func temperatureRise(of routing: OutputRouting, at moment: Duration) -> [TransducerThermalState] {
    entries.withLock { entries in
      routing.channels.enumerated().map { channel, route in
        guard let profile = route.transducer,
          let entry = entries.first(where: { $0.channel == channel && $0.profile == profile })
        else { return TransducerThermalState() }
        let seconds = max(0, (moment - entry.moment) / .seconds(1))
        let thermal = profile.hardware?.thermal ?? ThermalParameters()
        return entry.temperatureRise.cooled(for: seconds, by: thermal)
      }
    }
  }
}
