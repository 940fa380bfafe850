/// What a voice follows: its plan, the pace of its player, and the controls the player was sent.
@unsafe
struct Surroundings: BitwiseCopyable {
  let plan: UnsafeMutablePointer<PlanView>
  let live: UnsafeMutablePointer<LiveControls>
  let pace: Pace
  /// Whether there are two sides; one channel hears all of a voice at any pan.
  let isPanned: Bool

  /// What a voice of a player follows.
  @_noLocks
  init(
    plan: UnsafeMutablePointer<PlanView>, live: UnsafeMutablePointer<LiveControls>, pace: Pace,
    isPanned: Bool
  ) {
    unsafe self.plan = plan
    unsafe self.live = live
    unsafe self.pace = pace
    unsafe self.isPanned = isPanned
  }
}
