internal import HapticModel
internal import RealtimeMemory

/// What the envelope of a continuous event is made of: it is made again at the onset where a player was sent other times.
struct PlannedEnvelope: BitwiseCopyable, Sendable {
  /// One of the event's envelope times, normalised.
  struct Time: BitwiseCopyable, Sendable {
    /// The event's own.
    var event: Float
    /// What the pattern's control adds at the onset.
    var control: Float
    /// The frame at which that came into force, or `ControlSegment.neutral`.
    var origin: Int64
  }

  /// Frames from the onset to the event's end.
  var hold: Int64
  /// Whether the level stays behind the attack, rather than decay.
  var isSustained: Bool
  var attack: Time
  var decay: Time
  var release: Time

  /// The envelope with times in seconds; every edge lasts at least the shortest edge.
  @_noLocks func envelope(attack: Double, decay: Double, release: Double, rate: Double, edge: Int64) -> Envelope {
    let shape = EnvelopeShape(
      hold: Double(hold), attack: Self.frames(attack, rate: rate, edge: edge),
      decay: Self.frames(decay, rate: rate, edge: edge), release: Self.frames(release, rate: rate, edge: edge),
      isSustained: isSustained)
    return Envelope(
      riseEnd: Int64(shape.riseEnd), riseLevel: Float(shape.riseLevel), releaseStart: Int64(shape.releaseStart),
      releaseLevel: Float(shape.releaseLevel), end: Int64(shape.end))
  }

  /// The envelope with what a player was sent in place of the pattern's controls.
  ///
  /// - Parameters:
  ///   - live: What was sent.
  ///   - isHaptic: Whether the event sounds on the haptic bus.
  ///   - frame: The frame of the output at which the event starts.
  ///   - passOrigin: The pattern position of the pass's frame 0.
  ///   - plan: The plan of the event.
  @_noLocks func envelope(
    with live: Reference<LiveControls>, isHaptic: Bool, at frame: Int64, passOrigin: Int64, in plan: Reference<PlanView>
  ) -> Envelope {
    envelope(
      attack: Self.seconds(attack, live.value.time(isHaptic ? .hapticAttack : .audioAttack), at: frame, passOrigin),
      decay: Self.seconds(decay, live.value.time(isHaptic ? .hapticDecay : .audioDecay), at: frame, passOrigin),
      release: Self.seconds(release, live.value.time(isHaptic ? .hapticRelease : .audioRelease), at: frame, passOrigin),
      rate: plan.value.rate, edge: plan.value.edge)
  }

  /// Frames of a time, as a plan counts them.
  @_noLocks private static func frames(_ seconds: Double, rate: Double, edge: Int64) -> Double {
    Double(max(edge, Int64(seconds * rate + 0.5)))
  }

  /// Seconds of a time under what was sent for it, where that is in force.
  @_noLocks private static func seconds(_ time: Time, _ live: LiveControl, at frame: Int64, _ passOrigin: Int64)
    -> Double
  {
    let isSent = live.outranks(origin: time.origin, passOrigin: passOrigin)
    let sum = time.event + (isSent ? live.value(at: frame) : time.control)
    let bounded = sum < 0 ? 0 : (sum > 1 ? 1 : sum)
    return EnvelopeTimes.seconds(ofGrowth: Double(RealtimeMath.exp2(bounded * EnvelopeTimes.growthOctaves)))
  }
}
