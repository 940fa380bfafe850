import PlayRig

/// The program that plays, beside a server.
final class Probe: Sendable {
  /// What happened at the sink.
  struct Notice: Equatable {
    /// By the machine's steady clock.
    var seconds: Double
    /// The engine's frame.
    var frame: Int64
    var kind: String
    var missedFrameCount: Int
  }

  /// When a frame was, or was to be, heard.
  struct Clock: Equatable {
    var frame: Int64
    var seconds: Double
  }

  private let process: ChildProcess

  /// Opens a device, and waits until it is open.
  init(
    device: String, rate: Int = 48_000, channels: Int = 2, period: Int, buffer: Int,
    environment: [String: String],
    folder: FreshFolder
  ) throws {
    process = try ChildProcess(
      "probe", Programs.probe,
      [device, "\(rate)", "\(channels)", "\(period)", "\(buffer)", "realtime"],
      environment: environment, folder: folder)
    try process.waitForLine(with: "granted")
  }

  /// Plays a script from now on: the engine's frame at which it begins.
  @discardableResult func begin(_ script: PlaybackScript) throws -> Int64 {
    process.send(script.text + "\ngo\n")
    let line = try process.waitForLine(with: "began")
    return line.split(separator: " ").last.flatMap { Int64($0) } ?? 0
  }

  /// Waits until the script is over.
  func waitForEnd(within limit: Duration) throws {
    let status = try process.waitForEnd(within: limit)
    guard status == 0, process.output.hasSuffix("over\n") else {
      throw UnmetRequirement(description: "the probe ended with \(status): \(process.output)")
    }
  }

  /// Waits for a notice.
  func waitForNotice(_ kind: String, within limit: Duration) throws {
    try process.waitForLine(with: " \(kind) ", within: limit)
  }

  /// Waits until it has told a number of times when a frame was heard.
  func waitForClock(count: Int, within limit: Duration) throws {
    try FileGrowth.wait(in: process.folder, within: limit, for: "the clock of the probe") {
      clocks.count >= count
    }
  }

  /// Its threads' scheduling policies.
  var policies: [(name: String, policy: Int32)] { process.threadPolicies }

  /// What happened at the sink so far.
  var notices: [Notice] {
    lines("notice").compactMap { words in
      guard words.count > 4, let seconds = Double(words[1]), let frame = Int64(words[2]),
        let missed = Int(words[4])
      else { return nil }
      return Notice(seconds: seconds, frame: frame, kind: words[3], missedFrameCount: missed)
    }
  }

  /// Interruptions: all but a refused priority, which is not a loss.
  var interruptions: [Notice] { notices.filter { $0.kind != "degraded" } }

  /// When frames were heard, oldest first.
  var clocks: [Clock] {
    lines("clock").compactMap { words in
      guard words.count == 3, let frame = Int64(words[1]), let seconds = Double(words[2]) else {
        return nil
      }
      return Clock(frame: frame, seconds: seconds)
    }
  }

  /// Blocks that were late because rendering them took too long.
  var lateByRendering: Int? {
    guard let words = lines("judged").first, let place = words.firstIndex(of: "late-by-rendering"),
      place + 1 < words.count
    else { return nil }
    return Int(words[place + 1])
  }

  /// All that it printed, for messages.
  var report: String { process.output }

  private func lines(_ word: String) -> [[String]] {
    process.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }.filter {
      $0.first == word
    }
  }
}
