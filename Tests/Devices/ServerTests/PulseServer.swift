import PlayRig

/// A PulseAudio of a test's own, with one sink that nobody hears and whose sound can be recorded.
final class PulseServer: Sendable {
  let rate: Int
  let folder: FreshFolder
  private let process: ChildProcess

  /// Starts a server and waits until it can be played on.
  ///
  /// - Parameter folder: A folder in which another server may have been before.
  init(rate: Int = 48_000, in folder: FreshFolder = FreshFolder(), name: String = "pulse") throws {
    self.rate = rate
    self.folder = folder
    let socket = folder.path + "/native"
    process = try ChildProcess(
      name, Programs.path("pulseaudio"),
      [
        // Without anybody who uses it, it does not outlive the tests for long.
        "--daemonize=no", "-n", "--use-pid-file=no", "--exit-idle-time=60", "--log-target=stderr",
        "--log-level=info",
        "-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1", "-L",
        "module-null-sink sink_name=temblor rate=\(rate) channels=2 format=float32le",
      ], environment: Self.environment(folder), folder: folder)
    try process.waitForLine(with: "Daemon startup complete")
  }

  private static func environment(_ folder: FreshFolder) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path,
      "XDG_RUNTIME_DIR": folder.path,
      "PULSE_RUNTIME_PATH": folder.path,
    ]
  }

  /// What a program needs to find it.
  var environment: [String: String] {
    var environment = Self.environment(folder)
    environment["PULSE_SERVER"] = "unix:\(folder.path)/native"
    return environment
  }

  /// Ends without a farewell.
  func crash() { process.crash() }

  /// Begins to record all that is played, and waits until something has arrived.
  func record(to name: String = "heard") throws -> PulseRecording {
    try PulseRecording(of: self, to: name)
  }
}

/// A recording that goes on: what the sink was given, as 32-bit floats.
final class PulseRecording: Sendable {
  static let channelCount = 2

  private let process: ChildProcess
  private let folder: FreshFolder
  private let file: String
  private let rate: Int

  fileprivate init(of server: PulseServer, to name: String) throws {
    folder = server.folder
    file = name + ".out"
    rate = server.rate
    process = try ChildProcess(
      name, Programs.path("parec"),
      [
        "--device=temblor.monitor", "--format=float32le", "--rate=\(server.rate)", "--channels=2",
        "--latency-msec=20",
        "--raw",
      ], environment: server.environment, folder: server.folder)
    try waitForMore(seconds: 0.1)
  }

  /// Frames recorded so far.
  var frameCount: Int { folder.size(file) / (4 * Self.channelCount) }

  /// Waits until it has become longer by a time.
  func waitForMore(seconds: Double) throws {
    let wanted = frameCount + Int(seconds * Double(rate))
    try FileGrowth.wait(
      in: folder, within: .seconds(15 + seconds), for: "\(seconds) s of recording"
    ) {
      frameCount >= wanted
    }
  }

  /// All that was recorded, one channel; the other is the same, or nothing.
  func samples() throws -> [Float] {
    let bytes = folder.bytes(file)
    let all = (0..<(bytes.count / 8)).map { frame in
      (0..<2).map { channel in
        let place = frame * 8 + channel * 4
        let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
        return Float(bitPattern: bits)
      }
    }
    guard all.allSatisfy({ $0[0] == $0[1] }) else {
      throw UnmetRequirement(description: "the channels differ")
    }
    return all.map { $0[0] }
  }
}
