/// Lines of one connection on their way to be obeyed.
package struct ListenQueue {
  /// Lines that are obeyed before the next connection has its turn.
  static let turn = 64

  private var lines: ArraySlice<LineReader.Line> = []
  /// The request that found no space, to be tried once more.
  private var waiting: (request: ListenRequest, since: Duration)?

  /// No lines.
  package init() {}

  /// Whether all lines have been obeyed, so that more can be taken.
  package var isEmpty: Bool { lines.isEmpty && waiting == nil }

  /// When there is something to do again; nothing where there are no lines.
  package func next(period: Duration) -> Duration? {
    if let waiting { return waiting.since + period }
    return lines.isEmpty ? nil : .zero
  }

  /// Puts lines behind those that wait.
  package mutating func add(_ new: [LineReader.Line]) { lines += new }

  /// Obeys some lines and hands on the answers, until one asks to quit or finds no space.
  ///
  /// - Parameter period: Time in which space is freed.
  /// - Returns: Whether one asked to quit.
  package mutating func execute(
    by session: ListenSession, at now: Duration, period: Duration, answer: (ListenReply) -> Void
  ) -> Bool {
    if let (request, since) = waiting {
      guard now >= since + period else { return false }
      waiting = nil
      answer(session.answer(request))
    }
    var count = 0
    while count < Self.turn, let line = lines.popFirst() {
      count += 1
      guard let request = ListenGrammar.read(line) else { continue }
      guard let reply = session.answerIfRoom(request) else {
        waiting = (request, now)
        return false
      }
      answer(reply)
      if case .success(.quit) = request.command {
        lines = []
        return true
      }
    }
    return false
  }
}
