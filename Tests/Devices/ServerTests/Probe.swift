import PlayRig
import TestSupport

/// The program that plays a script on a server.
final class Probe: Sendable {
  /// An event of the sink.
  struct Notice: Equatable {
    /// The time of the machine's monotonic clock.
    var seconds: Double
    /// The position of the engine, in frames.
    var frame: Int64
    var kind: String
    var missedFrameCount: Int
  }

  /// A frame and the time at which it is heard.
  struct Clock: Equatable {
    var frame: Int64
    var seconds: Double
  }

  private let process: ChildProcess

  /// Starts the program, and waits until it has opened a device.
  init(
    device: String, rate: Int = 48_000, channels: Int = 2, period: Int, buffer: Int,
    environment: [String: String],
    folder: TemporaryFolder
  ) throws {
    process = try ChildProcess(
      "probe", Programs.probe,
      [device, "\(rate)", "\(channels)", "\(period)", "\(buffer)", "realtime"],
      environment: environment, folder: folder)
    try process.waitForLine(with: "granted")
  }

  /// Starts a script, and returns the frame of the engine at which it begins.
  @discardableResult func begin(_ script: PlaybackScript) throws -> Int64 {
    process.send(script.text + "\ngo\n")
    let line = try process.waitForLine(with: "began")
    return line.split(separator: " ").last.flatMap { Int64($0) } ?? 0
  }

  /// Waits until the script has ended.
  func waitForEnd(within timeout: Duration) throws {
    let status = try process.waitForEnd(within: timeout)
    guard status == 0, process.output.hasSuffix("over\n") else {
      throw UnmetRequirement(description: "the probe ended with \(status): \(process.output)")
    }
  }

  /// Waits for a notice.
  func waitForNotice(_ kind: String, within timeout: Duration) throws {
    try process.waitForLine(with: " \(kind) ", within: timeout)
  }

  /// Waits until the program has printed a number of clock readings.
  func waitForClock(count: Int, within timeout: Duration) throws {
    try FileGrowth.wait(in: process.folder, within: timeout, for: "the clock of the probe") {
      clocks.count >= count
    }
  }

  /// The names of the threads and their scheduling policies.
  var policies: [(name: String, policy: Int32)] { process.threadPolicies }

  /// The events of the sink so far.
  var notices: [Notice] {
    lines("notice").compactMap { fields in
      guard fields.count > 4, let seconds = Double(fields[1]), let frame = Int64(fields[2]),
        let missedFrameCount = Int(fields[4])
      else { return nil }
      return Notice(
        seconds: seconds, frame: frame, kind: fields[3], missedFrameCount: missedFrameCount)
    }
  }

  /// The interruptions: all events except a refused priority, which loses no frames.
  var interruptions: [Notice] { notices.filter { $0.kind != "degraded" } }

  /// The clock readings, oldest first.
  var clocks: [Clock] {
    lines("clock").compactMap { fields in
      guard fields.count == 3, let frame = Int64(fields[1]), let seconds = Double(fields[2]) else {
        return nil
      }
      return Clock(frame: frame, seconds: seconds)
    }
  }

  /// The number of blocks that were late because rendering took too long; nil before the end.
  var lateRenderCount: Int? {
    guard let fields = lines("judged").first,
      let keyIndex = fields.firstIndex(of: "late-by-rendering"),
      keyIndex + 1 < fields.count
    else { return nil }
    return Int(fields[keyIndex + 1])
  }

  /// The standard output, for messages.
  var report: String { process.output }

  private func lines(_ firstField: String) -> [[String]] {
    process.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }.filter {
      $0.first == firstField
    }
  }
}
