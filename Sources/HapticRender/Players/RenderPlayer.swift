internal import RealtimeMemory
internal import Synchronization

/// One playing of a plan, as the control side holds it: all memory that the render thread needs for it.
///
/// It must live until the render thread has let go of it: `isReleased` after a `remove` command.
public final class RenderPlayer: @unchecked Sendable {
  /// The most voices that sound together when rendered live; more are dropped and counted.
  public static let maximumVoiceCount = 4_096

  /// How fast a pattern can run, as a multiple of its own speed.
  public static let playbackRates = TempoMap.slowest...TempoMap.fastest

  /// What is played.
  public let plan: RenderPlan
  let player: Cell<Player>
  /// The player, as commands refer to it.
  var reference: PlayerReference { unsafe player.reference }
  private let live = Cell(LiveControls())
  private let state = Cell(PlayerStatus())
  private let voices: FixedBuffer<Voice>
  private let shareLine: FixedBuffer<ControlSegment>

  /// A player that has not started.
  ///
  /// - Parameters:
  ///   - hapticBus: The bus its haptics sound on, or nothing for none.
  ///   - laysAudio: Whether its audio events sound.
  ///   - share: What the bus gets of the haptics, or nothing for all.
  public convenience init(
    plan: RenderPlan, hapticBus: Int? = 0, rendersAudio: Bool = true, share: SendAutomation? = nil
  ) {
    let capacity = min(max(64, plan.voiceCapacity(passCount: nil)), Self.maximumVoiceCount)
    self.init(
      plan: plan, hapticBus: hapticBus, rendersAudio: rendersAudio, share: share,
      voiceCapacity: capacity)
  }

  init(
    plan: RenderPlan, hapticBus: Int?, rendersAudio: Bool, share: SendAutomation?,
    voiceCapacity: Int
  ) {
    self.plan = plan
    voices = FixedBuffer(repeating: Voice.unused, count: voiceCapacity)
    shareLine = FixedBuffer(share?.pieces ?? [])
    unsafe player = Cell(
      Player(
        plan: plan.view.reference, live: live.reference, status: state.reference,
        voices: voices.view, bus: hapticBus ?? -1, rendersAudio: rendersAudio,
        shareLine: shareLine.view))
  }

  /// Whether the render thread has let go of it for good.
  public var isReleased: Bool { state.value.isReleased.load(ordering: .acquiring) }

  /// Reads what the player last told: [any thread].
  public func withStatus<Result>(_ body: (borrowing PlayerStatus) -> Result) -> Result {
    body(state.value)
  }
}
