/// Lines of one connection on their way to be obeyed.
package struct ListenQueue {
  /// Lines that are obeyed before the next connection has its turn.
  static let turn = 64

  package enum Ending: Equatable, Sendable { case quit, shutdown }

  private var lines: ArraySlice<LineReader.Line> = []
  private var loading: (request: ListenRequest, job: PatternLoader.Job)?
  /// The request that found no space, to be tried once more.
  private var waiting:
    (request: ListenRequest, piece: Result<PatternLoader.CachedPattern, ListenError>?, since: Duration)?

  package init() {}

  /// Whether all lines have been obeyed, so that more can be taken.
  package var isEmpty: Bool { lines.isEmpty && waiting == nil && loading == nil }

  /// When there is something to do again; nothing where there are no lines.
  package func next(period: Duration) -> Duration? {
    if let waiting { return waiting.since + period }
    if let loading { return loading.job.result == nil ? nil : .zero }
    return lines.isEmpty ? nil : .zero
  }

  package mutating func add(_ new: [LineReader.Line]) { lines += new }

  /// Obeys some lines and hands on the answers, until one asks for an end, finds no space, or waits for its
  /// pattern.
  ///
  /// - Parameters:
  ///   - client: Whose lines they are.
  ///   - period: Time in which space is freed.
  /// - Returns: What the owner is to end.
  package mutating func execute(
    by session: ListenSession, client: Int = 0, at now: Duration, period: Duration, answer: (ListenReply) -> Void
  ) -> Ending? {
    if let (request, piece, since) = waiting {
      guard now >= since + period else { return nil }
      waiting = nil
      answer(session.answer(request, client: client, with: piece))
    }
    var count = 0
    while count < Self.turn {
      count += 1
      let request: ListenRequest
      var piece: Result<PatternLoader.CachedPattern, ListenError>?
      if let (loaded, job) = loading {
        guard let result = job.result else { return nil }
        loading = nil
        (request, piece) = (loaded, result)
      } else {
        guard let line = lines.popFirst() else { return nil }
        guard let read = ListenGrammar.read(line) else { continue }
        request = read
        do throws(ListenError) {
          if let job = try session.load(for: request) {
            loading = (request, job)
            continue
          }
        } catch {
          answer(.error(error, tag: request.tag))
          continue
        }
      }
      guard let reply = session.answerIfRoom(request, client: client, with: piece) else {
        waiting = (request, piece, now)
        return nil
      }
      answer(reply)
      switch request.command {
      case .success(.quit): return end(.quit)
      case .success(.shutdown): return end(.shutdown)
      default: break
      }
    }
    return nil
  }

  private mutating func end(_ ending: Ending) -> Ending {
    lines = []
    return ending
  }
}
