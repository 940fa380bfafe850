internal import RealtimeMemory
internal import Synchronization

/// A pattern in play on the render thread: its voices, and where it is on its line.
///
/// The memory belongs to the control side, the contents to the render thread.
struct Player: BitwiseCopyable {
  let plan: Reference<PlanView>
  let live: Reference<LiveControls>
  let status: Reference<PlayerStatus>
  let voices: BufferView<Voice>
  /// The haptic bus it sounds on, or −1.
  let bus: Int
  /// Whether its audio events sound.
  let rendersAudio: Bool

  var phase = PlayerStatus.Phase.idle
  var pace = TempoMap()
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
  var loopEntry: CuePointReference?
  /// The frame at which it was paused.
  var pauseFrame: Int64 = 0
  /// Where the next start begins, or nothing for the beginning.
  var entry: CuePointReference?
  var gain = GainRamp(1)
  /// A factor on the haptics that was sent.
  var share = GainRamp(1)
  /// The order that last moved it.
  var shareSerial: Int64 = 0
  /// A factor on the haptics over the pattern; empty for none.
  let shareLine: BufferView<ControlSegment>
  var shareCursor = 0

  /// A player that has not started.
  init(
    plan: Reference<PlanView>, live: Reference<LiveControls>,
    status: Reference<PlayerStatus>, voices: BufferView<Voice>, bus: Int,
    rendersAudio: Bool, shareLine: BufferView<ControlSegment>
  ) {
    self.plan = plan
    self.live = live
    self.status = status
    self.voices = voices
    self.bus = bus
    self.rendersAudio = rendersAudio
    self.shareLine = shareLine
  }

  /// Frames of one pass.
  var passLength: Int64 {
    @_noLocks get { loopEnd > 0 ? loopEnd : plan.value.loopLength }
  }

  /// Whether no further pass follows.
  var isLastPass: Bool {
    @_noLocks get { passesLeft <= 1 || passLength <= 0 }
  }

  /// What the player's voices follow.
  @_noLocks
  func voiceContext(isPanned: Bool) -> VoiceContext {
    VoiceContext(plan: plan, live: live, pace: pace, isPanned: isPanned)
  }
}
