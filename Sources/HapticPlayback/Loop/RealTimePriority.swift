internal import Glibc

/// Asks the system to let the calling thread go first, and its memory stay.
enum RealTimePriority {
  /// The priority asked for: above ordinary threads, below the kernel's interrupt threads at 50.
  private static let priority: Int32 = 20

  /// Asks; answers why it was refused, as a line for the user, or nothing.
  static func ask() -> String? {
    var parameters = sched_param()
    parameters.sched_priority = priority
    let result = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
    // Only what is there now: memory to come is not the render thread's, and may be much.
    let isLocked = mlockall(MCL_CURRENT) == 0
    if result == 0 && isLocked { return nil }
    let refused =
      result != 0
      ? (isLocked ? "real-time priority was" : "real-time priority and locked memory were")
      : "locked memory was"
    return "\(refused) refused; playback continues without it. "
      + "To allow it, add your user to the group 'audio' with rtprio and memlock limits"
  }
}
