import HapticModel
import HapticPlayback
import HapticRender
import SystemSupport

/// Taps at moments nobody can foresee, and how long each took in transit.
final class LatencyProbe: SessionTask {
  /// The way of one tap, in seconds.
  struct Measurement: Equatable, Sendable {
    /// From the call until the first frame was handed to the device.
    var handing: Double
    /// What was still to be heard before it then.
    var device: Double
    var limiter: Double

    var total: Double { handing + device + limiter }
  }

  /// The pauses between two taps, in seconds: many times a period, and no multiple of one.
  static let pauses = 0.02...0.05
  /// Time after which a tap counts as lost, since the device was away.
  private static let patience = Duration.seconds(2)

  private(set) var measurements: [Measurement] = []
  private let count: Int
  private let engine: PlaybackEngine
  private let player: PatternPlayer
  private let time: any TimeSource
  private var chance: SplitMix64
  private var next = Duration.zero
  private var lastFrame: Int64?
  private var trigger: Duration?
  private var records: [BlockTiming] = []

  /// A probe.
  ///
  /// - Parameter seed: Equal seeds give equal pauses.
  init(_ count: Int, seed: UInt64, on engine: PlaybackEngine, time: any TimeSource) throws {
    self.count = count
    self.engine = engine
    self.time = time
    chance = SplitMix64(seed: seed)
    let tap = TapVerb.taps(1, gap: 1, intensity: 0.5, sharpness: 0.5)
    let piece = try CompiledPattern(name: "tap", tap, for: engine)
    player = try engine.player(for: piece.plans, duration: piece.duration)
  }

  var state: PlaybackStatus.State { .playing }
  var place: (position: Double, duration: Double?) { (engine.seconds, nil) }

  func perform(at now: Duration) throws -> SessionStep {
    if measurements.count >= count { return .over }
    if let trigger {
      if now - trigger > Self.patience { self.trigger = nil }
      return .wait(.milliseconds(1))
    }
    if next == .zero { plan(after: now) }
    guard now >= next else { return .wait(next - now) }
    // The clock is read at the very call.
    trigger = time.now
    try player.start()
    plan(after: now)
    return .wait(.milliseconds(1))
  }

  func note(_ new: [BlockTiming]) {
    records += new
    guard let trigger, let frame = player.startFrame, frame != lastFrame else {
      if self.trigger == nil { records.removeAll() }
      return
    }
    guard let record = records.first(where: { $0.position + Int64($0.frameCount) > frame }) else { return }
    lastFrame = frame
    self.trigger = nil
    records.removeAll()
    let behind = record.frameCount - Int(frame - record.position)
    measurements.append(
      Measurement(
        handing: max(0, (record.handed - trigger).inSeconds),
        device: Double(max(0, record.delay - behind)) / engine.rate, limiter: Renderer.lookahead))
  }

  private func plan(after now: Duration) { next = now + .inSeconds(Double.random(in: Self.pauses, using: &chance)) }
}
