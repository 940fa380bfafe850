import Synchronization

@testable import CommandLineKit
@testable import TemblorCommands

/// A terminal that records its output, with a clock that only the test advances.
final class RecordedTerminal: Sendable {
  private struct State {
    var output: [UInt8] = []
    var error: [UInt8] = []
    var time = Duration.zero
    var width = 80
    var isForeground = true
  }

  private let state = Mutex(State())
  private let isTerminal: Bool
  private let failure: Int32?

  /// With a failure, every write to standard output ends with that error number.
  init(isTerminal: Bool = false, width: Int = 80, failure: Int32? = nil) {
    self.isTerminal = isTerminal
    self.failure = failure
    state.withLock { $0.width = width }
  }

  var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }
  var error: String { state.withLock { String(decoding: $0.error, as: UTF8.self) } }

  /// Returns the text written to standard error since the last call, and removes it.
  func takeError() -> String {
    state.withLock { state in
      defer { state.error = [] }
      return String(decoding: state.error, as: UTF8.self)
    }
  }

  func advance(by duration: Duration) { state.withLock { $0.time += duration } }

  func resize(to width: Int) { state.withLock { $0.width = width } }

  /// Moves the program to the foreground or the background.
  func setForeground(_ isForeground: Bool) { state.withLock { $0.isForeground = isForeground } }

  private var width: Int { state.withLock { $0.width } }
  private var isForeground: Bool { state.withLock { $0.isForeground } }

  var terminal: Terminal {
    let output = Output(
      isTerminal: isTerminal, columnCount: self.width, allowsColor: isTerminal,
      isForeground: self.isForeground
    ) { [self] bytes throws(StreamError) in
      if let failure {
        throw StreamError(streamName: "standard output", errorNumber: failure)
      }
      let copy = bytes.indices.map { bytes[$0] }
      state.withLock { $0.output += copy }
    }
    let error = Output(
      isTerminal: isTerminal, columnCount: self.width, allowsColor: isTerminal,
      isForeground: self.isForeground
    ) { [self] bytes throws(StreamError) in
      let copy = bytes.indices.map { bytes[$0] }
      state.withLock { $0.error += copy }
    }
    return Terminal(output: output, errorOutput: error) { [self] in state.withLock { $0.time } }
  }
}

extension String {
  /// The lines without those that report written files.
  var withoutWrittenFiles: String {
    let lines = split(separator: "\n").filter {
      !$0.contains(": written, ") && !$0.hasSuffix(" patterns written")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
