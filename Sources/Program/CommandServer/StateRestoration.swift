internal import HapticModel
internal import HapticPlayback
internal import SystemSupport

/// Restores the state of a session: loads its patterns in the background, and then performs its
/// commands, so that its loops start together.
///
/// The commands of clients wait until the state is restored. The restored sounds belong to no
/// client, and do not count toward the quota of a client.
package struct StateRestoration {
  /// The time from the first command to the start of all loops, in seconds.
  private static let secondsUntilLoopsStart = 0.05
  /// The commands that are skipped in a state, because they would end the session.
  private static let excludedVerbs = [CommandGrammar.reloadVerb, "quit", "shutdown"]

  private let stateText: String
  private let reportFailure: (String) -> Void
  /// The commands that remain to be executed to preload the patterns of the saved state.
  private var remainingPreloadCommands: ArraySlice<String>
  /// The commands of the saved state that remain to be executed.
  private var remainingStateCommands: ArraySlice<String>
  /// The queue that executes the commands of the saved state one at a time.
  private var commandQueue = CommandQueue()
  package private(set) var isFinished = false

  /// - Parameters:
  ///   - text: The commands of the state, one in each line.
  ///   - report: A closure that receives each command that failed, with the reason.
  package init(_ text: String, report: @escaping (String) -> Void) {
    self.stateText = text
    self.reportFailure = report
    remainingStateCommands = text.split(separator: "\n").map(String.init)[...]
    var loadingLines: [String] = []
    for line in remainingStateCommands {
      guard let command = try? CommandGrammar.parseRequest(line)?.command.get(),
        let pattern = command.textValue(of: "PATTERN")
      else { continue }
      let loadLine = "preload \(CommandWord.quotedIfNecessary(pattern))"
      if !loadingLines.contains(loadLine) {
        loadingLines.append(loadLine)
      }
    }
    self.remainingPreloadCommands = loadingLines[...]
  }

  /// Returns the time at which the next command can run, or nil if a pattern is loading. A time in
  /// the past, such as zero, means at once.
  ///
  /// - Parameter period: The delay before a request that failed with `busy` is repeated.
  package func nextRequestTime(period: Duration) -> Duration? {
    commandQueue.nextRequestTime(period: period)
  }

  /// Executes further commands of the state, as far as possible without waiting.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - now: The current time.
  ///   - period: The delay before a command that failed with `busy` is repeated.
  package mutating func advance(on session: CommandSession, at now: Duration, period: Duration) {
    guard !isFinished else { return }
    session.stateTextToRestore = stateText
    // A pattern that cannot be loaded is reported by the command that plays it.
    let isLoadingComplete = Self.performLines(
      &remainingPreloadCommands, &commandQueue, on: session, at: now, period: period,
      answer: { _, _ in })
    guard isLoadingComplete else { return }
    if session.earliestRestorationFrame == nil {
      session.earliestRestorationFrame =
        session.engine.position
        + FrameConversion.frame(seconds: Self.secondsUntilLoopsStart, rate: session.engine.rate)
    }
    let reportError = reportFailure
    let isRestorationOver = Self.performLines(
      &remainingStateCommands, &commandQueue, on: session, at: now, period: period
    ) {
      line, reply in
      if reply.errorKind != nil {
        reportError("'\(line.printable)': \(reply.line)")
      }
    }
    guard isRestorationOver else { return }
    session.earliestRestorationFrame = nil
    session.stateTextToRestore = nil
    isFinished = true
  }

  /// Executes lines until a line waits for its pattern or fails with `busy`. Returns true if no
  /// line remains.
  private static func performLines(
    _ lines: inout ArraySlice<String>, _ queue: inout CommandQueue, on session: CommandSession,
    at now: Duration, period: Duration, answer: (_ line: String, CommandReply) -> Void
  ) -> Bool {
    while let nextLine = lines.first {
      if queue.isEmpty {
        if let verb = try? CommandGrammar.parseRequest(nextLine)?.command.get().syntax.verb,
          excludedVerbs.contains(verb)
        {
          lines.removeFirst()
          continue
        }
        queue.addLines([.text(nextLine)])
      }
      _ = queue.execute(by: session, client: nil, at: now, period: period) { answer(nextLine, $0) }
      guard queue.isEmpty else { return false }
      lines.removeFirst()
    }
    return true
  }
}
