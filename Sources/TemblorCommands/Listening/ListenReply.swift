import SystemSupport

/// A line that is sent: the one answer to a command, or an event.
struct ListenReply: Equatable, Sendable {
  /// A piece of a line.
  enum Field: Equatable, Sendable {
    case text(String)
    case pair(String, String)

    /// Seconds and the like, to a millionth.
    static func number(_ name: String, _ value: Double) -> Field {
      .pair(name, "\((value * 1e6).rounded() / 1e6)")
    }

    static func count(_ name: String, _ value: Int) -> Field { .pair(name, "\(value)") }
  }

  /// The line, without its end.
  let line: String

  /// `@7 ok name=heartbeat time=1.5`
  static func ok(_ fields: [Field] = [], tag: String? = nil) -> ListenReply {
    ListenReply(tag, "ok", fields)
  }

  /// `@7 error bad-value: …`
  static func error(_ error: ListenError, tag: String? = nil) -> ListenReply {
    ListenReply(line: (tag.map { "@\($0) " } ?? "") + "error \(error)")
  }

  /// `event finished name=heartbeat time=3.25`
  static func event(_ name: String, _ fields: [Field] = []) -> ListenReply {
    ListenReply(nil, "event " + name, fields)
  }

  private init(line: String) { self.line = line }

  private init(_ tag: String?, _ start: String, _ fields: [Field]) {
    let words = fields.map { field in
      switch field {
      case .text(let text): ListenWord.written(text)
      case .pair(let name, let value): name + "=" + ListenWord.written(value)
      }
    }
    line = ([tag.map { "@" + $0 }, start].compactMap(\.self) + words).joined(separator: " ")
  }
}
