internal import Synchronization

/// One playing of a plan, as the control side holds it: all memory that the render thread needs for it.
///
/// It must live until the render thread has let go of it: `isReleased` after a `remove` command.
@safe
public final class RenderPlayer: @unchecked Sendable {
  /// The most voices that sound together when rendered live; more are dropped and counted.
  public static let mostLiveVoices = 4_096

  /// What is played.
  public let plan: RenderPlan
  let player: UnsafeMutablePointer<Player>
  private let live: UnsafeMutablePointer<LiveControls>
  private let state: UnsafeMutablePointer<PlayerStatus>
  private let voices: UnsafeMutableBufferPointer<Voice>
  private let shareLine: UnsafeMutableBufferPointer<ControlPiece>

  /// A player that has not started.
  ///
  /// - Parameters:
  ///   - hapticBus: The bus its haptics sound on, or nothing for none.
  ///   - laysAudio: Whether its audio events sound.
  ///   - share: What the bus gets of the haptics, or nothing for all.
  public convenience init(
    plan: RenderPlan, hapticBus: Int? = 0, laysAudio: Bool = true, share: ShareLine? = nil
  ) {
    let capacity = min(max(64, plan.voiceCapacity(passCount: nil)), Self.mostLiveVoices)
    self.init(
      plan: plan, hapticBus: hapticBus, laysAudio: laysAudio, share: share,
      voiceCapacity: capacity)
  }

  init(
    plan: RenderPlan, hapticBus: Int?, laysAudio: Bool, share: ShareLine?, voiceCapacity: Int
  ) {
    self.plan = plan
    unsafe live = .allocate(capacity: 1)
    unsafe live.initialize(to: LiveControls())
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: PlayerStatus())
    unsafe voices = .allocate(capacity: voiceCapacity)
    let pieces = share?.pieces ?? []
    unsafe shareLine = .allocate(capacity: pieces.count)
    _ = unsafe shareLine.initialize(from: pieces)
    unsafe player = .allocate(capacity: 1)
    unsafe player.initialize(
      to: Player(
        plan: plan.view, live: live, status: state, voices: voices, bus: hapticBus ?? -1,
        laysAudio: laysAudio, shareLine: shareLine))
  }

  deinit {
    unsafe player.deallocate()
    unsafe voices.deallocate()
    unsafe shareLine.deallocate()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
    unsafe live.deallocate()
  }

  /// Whether the render thread has let go of it for good.
  public var isReleased: Bool { unsafe state.pointee.isReleased.load(ordering: .acquiring) }

  /// Reads what the player last told: [any thread].
  public func withStatus<Result>(_ body: (borrowing PlayerStatus) -> Result) -> Result {
    unsafe body(state.pointee)
  }
}
