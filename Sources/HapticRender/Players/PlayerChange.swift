package import HapticModel
internal import RealtimeMemory

/// What a player does from a frame on: all that decides which events sound when, and how strongly.
///
/// The renderer writes one down wherever this changes, for players whose changes are kept.
package struct PlayerChange: BitwiseCopyable, Sendable {
  /// The frame of the output.
  package var frame: Int64 = 0
  package var phase = PlayerStatus.Phase.playing
  /// Grows with each start, seek and return that cuts off what sounds.
  package var entryCount = 0
  /// The frame of the pattern at which the last of these went on.
  package var entryFrame: Int64 = 0
  /// Grows with each pass that begins while the last one sounds on.
  package var passCount = 0
  /// The pattern position at which the running pass began.
  package var passOrigin: Int64 = 0
  /// Whether no mute keeps its haptic events, or its audio events, from being heard.
  package var hearsHaptics = true
  package var hearsAudio = true
  private var tempoMap = TempoMap()
  private var live = LiveControls()

  /// A player that starts at frame 0.
  package init() {}

  @_noLocks init(_ player: Player, at frame: Int64, in context: MixContext) {
    self.frame = frame
    phase = player.phase
    entryCount = player.entryCount
    entryFrame = player.entryFrame
    passCount = player.overlappingPassCount
    passOrigin = player.passOrigin
    hearsHaptics = context.hearsHaptics && !player.gain.leadsToSilence
    hearsAudio = context.hearsAudio && !player.gain.leadsToSilence
    tempoMap = player.tempoMap
    live = player.live.value
  }

  /// The pattern position at a frame of the output.
  package func position(at frame: Int64) -> Int64 { tempoMap.position(at: frame) }

  /// The first frame of the output at which the pattern has come to a position.
  package func frame(at position: Int64) -> Int64 { tempoMap.frame(at: position) }

  /// What was sent of a control: its value at a frame, and the pattern position at which it came into force.
  package func sent(_ id: DynamicParameterID, at frame: Int64) -> (value: Double, position: Int64)? {
    guard let control = LiveControlID(id).map({ live.control($0) }), control.isSet else { return nil }
    return (Double(control.value) + Double(control.slope) * Double(frame - control.start), control.position)
  }
}

/// The changes of a player that have not been taken yet; no more than it has space for, of one frame the last.
///
/// Written and read by turns, on a device whose time is paused while it is read.
struct PlayerChanges: ~Copyable {
  private let changes: FixedBuffer<PlayerChange>
  private var count = 0

  /// A period of a virtual device has fewer frames than this.
  init(isKept: Bool) { changes = FixedBuffer(repeating: PlayerChange(), count: isKept ? 72 : 0) }

  @_noLocks mutating func add(_ player: Player, at frame: Int64, in context: MixContext) {
    guard changes.count > 0 else { return }
    if count == 0 || (count < changes.count && changes[count &- 1].frame != frame) { count &+= 1 }
    changes[count &- 1] = PlayerChange(player, at: frame, in: context)
  }

  mutating func take() -> [PlayerChange] {
    defer { count = 0 }
    return (0..<count).map { changes[$0] }
  }
}
