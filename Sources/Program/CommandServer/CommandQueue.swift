internal import HapticPlayback
internal import PlaybackSessions

/// A check of changed settings, which may have to open a device first.
package struct SettingsCheck {
  /// Returns whether the settings can be applied without waiting.
  let isFinished: () -> Bool
  /// Stores the settings for the next session, and throws an error to refuse them.
  let apply: () throws -> Void

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - isFinished: A closure that returns whether the settings can be applied without waiting.
  ///     A signal that wakes every session must be raised when the result changes, because the
  ///     check may outlast the session in which it began.
  ///   - apply: A closure that stores the settings for the next session.
  package init(
    isFinished: @escaping () -> Bool = { true }, apply: @escaping () throws -> Void
  ) {
    self.isFinished = isFinished
    self.apply = apply
  }
}

/// The work on other threads that a request waits for.
enum RequestPreparation {
  case pattern(PatternLoader.LoadingJob)
  case settings(SettingsCheck)

  var isFinished: Bool {
    switch self {
    case .pattern(let loadingJob): loadingJob.withLock { $0 != nil }
    case .settings(let settingsCheck): settingsCheck.isFinished()
    }
  }
}

/// The lines of a client that have not been performed.
package struct CommandQueue {
  /// The maximum number of lines that are executed before the next connection has its turn.
  static let maximumLineCountPerTurn = 64

  package enum EndingCommand: String, Sendable { case quit, shutdown }

  private var pendingLines: ArraySlice<LineReader.Line> = []
  /// The request whose preparation was interrupted by the end of the previous session. It is
  /// executed before the pending lines, after the new session has loaded its pattern or checked its
  /// settings again.
  private var interruptedRequest: CommandRequest?
  /// The request whose preparation is in progress.
  private var requestInPreparation: (request: CommandRequest, preparation: RequestPreparation)?
  /// The request that failed with `busy`, which is repeated once.
  private var requestToRetry:
    (request: CommandRequest, preparation: RequestPreparation?, since: Duration)?

  package init() {}
  package var isEmpty: Bool {
    pendingLines.isEmpty && interruptedRequest == nil && requestToRetry == nil
      && requestInPreparation == nil
  }

  /// Returns the time at which the next command can run, or nil if no command is queued or the next
  /// one waits for its preparation. A time in the past, such as zero, means at once.
  ///
  /// - Parameter period: The delay before a request that failed with `busy` is repeated.
  package func nextRequestTime(period: Duration) -> Duration? {
    if let requestToRetry { return requestToRetry.since + period }
    if let requestInPreparation { return requestInPreparation.preparation.isFinished ? .zero : nil }
    return isEmpty ? nil : .zero
  }

  package mutating func addLines(_ new: [LineReader.Line]) { pendingLines += new }

  /// Interrupts the request that is in preparation or waits for another attempt, because the
  /// session ends. The next session prepares the request again: it loads the pattern for the new
  /// profiles, or checks the settings of a `reload`.
  package mutating func interruptPreparation() {
    guard let unfinishedRequest = requestInPreparation?.request ?? requestToRetry?.request else {
      return
    }
    interruptedRequest = unfinishedRequest
    requestInPreparation = nil
    requestToRetry = nil
  }

  /// Performs lines and passes on their replies, until a line requests an end, fails with `busy`,
  /// or waits for its preparation.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - client: The ID of the client; nil for the commands of a restored state.
  ///   - now: The current time.
  ///   - period: The delay before a request that failed with `busy` is repeated.
  ///   - answer: A closure that receives the replies.
  /// - Returns: The requested end; nil to continue.
  package mutating func execute(
    by session: CommandSession, client: Int? = 0, at now: Duration, period: Duration,
    answer: (CommandReply) -> Void
  ) -> EndingCommand? {
    // The next session performs the lines that follow a reload.
    guard !session.isReloading else { return nil }
    if let (request, preparation, since) = requestToRetry {
      guard now >= since + period else { return nil }
      requestToRetry = nil
      answer(session.reply(to: request, clientID: client, with: preparation))
    }
    var executedCount = 0
    while executedCount < Self.maximumLineCountPerTurn, !session.isReloading {
      executedCount += 1
      let request: CommandRequest
      var preparation: RequestPreparation?
      if let waiting = requestInPreparation {
        guard waiting.preparation.isFinished else { return nil }
        requestInPreparation = nil
        request = waiting.request
        preparation = waiting.preparation
      } else {
        guard let next = takeNextRequest() else { return nil }
        request = next
        do throws(CommandError) {
          if let begun = try session.beginPreparation(for: request) {
            requestInPreparation = (request, begun)
            continue
          }
        } catch {
          answer(.error(error, tag: request.tag))
          continue
        }
      }
      let reply = session.reply(to: request, clientID: client, with: preparation)
      if reply.errorKind == .busy {
        requestToRetry = (request, preparation, now)
        return nil
      }
      answer(reply)
      if let verb = try? request.command.get().syntax.verb,
        let ending = EndingCommand(rawValue: verb)
      {
        pendingLines = []
        return ending
      }
    }
    return nil
  }

  /// Removes and returns the next request; nil if there is none.
  private mutating func takeNextRequest() -> CommandRequest? {
    if let interruptedRequest {
      self.interruptedRequest = nil
      return interruptedRequest
    }
    while let pendingLine = pendingLines.popFirst() {
      if let request = CommandGrammar.parseRequest(pendingLine) { return request }
    }
    return nil
  }
}
