internal import HapticPlayback
internal import PlaybackSessions

/// The lines that a client has sent and the server has not yet executed.
package struct CommandQueue {
  /// The maximum number of lines that are executed before the next connection has its turn.
  static let maximumBatchCount = 64

  package enum Ending: String, Sendable { case quit, shutdown }

  private var pendingLines: ArraySlice<LineReader.Line> = []
  /// The request to execute before the pending lines, after its pattern has been loaded again for
  /// the new session.
  private var restartedRequest: CommandRequest?
  private var loadingRequest: (request: CommandRequest, job: PatternLoader.Job)?
  /// The request that failed with `busy` and will be retried once.
  private var deferredRequest:
    (request: CommandRequest, pattern: Result<CompiledPattern, CommandError>?, since: Duration)?

  package init() {}
  package var isEmpty: Bool {
    pendingLines.isEmpty && restartedRequest == nil && deferredRequest == nil
      && loadingRequest == nil
  }

  /// Returns the time until the next command can run, or nil if no command is queued.
  package func timeUntilNextRequest(period: Duration) -> Duration? {
    if let deferredRequest { return deferredRequest.since + period }
    if let loadingRequest { return loadingRequest.job.withLock { $0 } == nil ? nil : .zero }
    return isEmpty ? nil : .zero
  }

  package mutating func add(_ new: [LineReader.Line]) { pendingLines += new }

  /// Prepares the queue for the next session, in which patterns are loaded again for the new
  /// profiles.
  package mutating func restartLoading() {
    guard let request = loadingRequest?.request ?? deferredRequest?.request else { return }
    restartedRequest = request
    loadingRequest = nil
    deferredRequest = nil
  }

  /// Executes lines and passes on their replies, until a line ends the connection or the server,
  /// fails with `busy`, or waits for its pattern.
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
  ) -> Ending? {
    // The next session performs the lines that follow a reload.
    guard !session.isReloading else { return nil }
    if let (request, pattern, since) = deferredRequest {
      guard now >= since + period else { return nil }
      deferredRequest = nil
      answer(session.reply(to: request, clientID: client, with: pattern))
    }
    var count = 0
    while count < Self.maximumBatchCount, !session.isReloading {
      count += 1
      let request: CommandRequest
      var pattern: Result<CompiledPattern, CommandError>?
      if let (loaded, job) = loadingRequest {
        guard let result = job.withLock({ $0 }) else { return nil }
        loadingRequest = nil
        request = loaded
        pattern = result
      } else {
        guard let next = takeNextRequest() else { return nil }
        request = next
        do throws(CommandError) {
          if let job = try session.load(for: request) {
            loadingRequest = (request, job)
            continue
          }
        } catch {
          answer(.error(error, tag: request.tag))
          continue
        }
      }
      let reply = session.reply(to: request, clientID: client, with: pattern)
      if reply.errorKind == .busy {
        deferredRequest = (request, pattern, now)
        return nil
      }
      answer(reply)
      if let verb = try? request.command.get().syntax.verb, let ending = Ending(rawValue: verb) {
        pendingLines = []
        return ending
      }
    }
    return nil
  }

  /// Removes and returns the next request; nil if there is none.
  private mutating func takeNextRequest() -> CommandRequest? {
    if let restartedRequest {
      self.restartedRequest = nil
      return restartedRequest
    }
    while let line = pendingLines.popFirst() {
      if let request = CommandGrammar.read(line) { return request }
    }
    return nil
  }
}
