internal import RealtimeMemory

/// What a voice follows: its plan, the pace of its player, and the controls the player was sent.
struct VoiceContext: BitwiseCopyable {
  let plan: Reference<PlanView>
  let live: Reference<LiveControls>
  let pace: TempoMap
  /// Whether there are two sides; one channel hears all of a voice at any pan.
  let isPanned: Bool

  /// What a voice of a player follows.
  @_noLocks
  init(
    plan: Reference<PlanView>, live: Reference<LiveControls>, pace: TempoMap,
    isPanned: Bool
  ) {
    self.plan = plan
    self.live = live
    self.pace = pace
    self.isPanned = isPanned
  }
}
