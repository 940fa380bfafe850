internal import Synchronization

/// A pattern in play on the render thread: its voices, and where it is on its line.
///
/// The memory belongs to the control side, the contents to the render thread.
@unsafe
struct Player: BitwiseCopyable {
  let plan: UnsafeMutablePointer<PlanView>
  let live: UnsafeMutablePointer<LiveControls>
  let status: UnsafeMutablePointer<PlayerStatus>
  let voices: UnsafeMutableBufferPointer<Voice>
  /// The haptic bus it sounds on, or −1.
  let bus: Int
  /// Whether its audio events sound.
  let laysAudio: Bool

  var phase = PlayerStatus.Phase.idle
  var pace = Pace()
  var activeCount = 0
  var nextVoice = 0
  /// The place on the line of the running pass's beginning.
  var passOrigin: Int64 = 0
  /// Passes to come, the running one included.
  var passesLeft = 1
  /// How often a new start runs through the pattern.
  var passCount = 1
  /// The frame of the pattern at which a loop returns, or 0 for the plan's own.
  var loopEnd: Int64 = 0
  /// Where a loop returns to, or nothing for the beginning.
  var loopEntry: UnsafeMutablePointer<PlanEntry>?
  /// The frame at which it was paused.
  var pauseFrame: Int64 = 0
  /// Where the next start begins, or nothing for the beginning.
  var entry: UnsafeMutablePointer<PlanEntry>?
  var gain = GainRamp(1)
  /// A factor on the haptics that was sent.
  var share = GainRamp(1)
  /// The order that last moved it.
  var shareSerial: Int64 = 0
  /// A factor on the haptics over the pattern; empty for none.
  let shareLine: UnsafeMutableBufferPointer<ControlPiece>
  var shareCursor = 0
  /// Commands of an older generation were cancelled.
  var generation: UInt32 = 0

  /// A player that has not started.
  init(
    plan: UnsafeMutablePointer<PlanView>, live: UnsafeMutablePointer<LiveControls>,
    status: UnsafeMutablePointer<PlayerStatus>, voices: UnsafeMutableBufferPointer<Voice>, bus: Int,
    laysAudio: Bool, shareLine: UnsafeMutableBufferPointer<ControlPiece>
  ) {
    unsafe self.plan = plan
    unsafe self.live = live
    unsafe self.status = status
    unsafe self.voices = voices
    unsafe self.bus = bus
    unsafe self.laysAudio = laysAudio
    unsafe self.shareLine = shareLine
  }

  /// Frames of one pass.
  var passLength: Int64 {
    @_noLocks get { unsafe loopEnd > 0 ? loopEnd : plan.pointee.loopLength }
  }

  /// Whether no further pass follows.
  var isLastPass: Bool {
    @_noLocks get { unsafe passesLeft <= 1 || passLength <= 0 }
  }

  /// What the player's voices follow.
  @_noLocks
  func surroundings(isPanned: Bool) -> Surroundings {
    unsafe Surroundings(plan: plan, live: live, pace: pace, isPanned: isPanned)
  }
}
