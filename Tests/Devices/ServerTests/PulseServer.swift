import TestSupport

/// A PulseAudio server of a test, with one null sink, whose output can be recorded.
final class PulseServer: Sendable {
  let rate: Int
  let folder: TemporaryFolder
  private let process: ChildProcess

  /// Starts a server and waits until it accepts clients.
  ///
  /// - Parameter existingFolder: The folder of a previous server, or nil for a new folder.
  init(rate: Int = 48_000, in existingFolder: TemporaryFolder? = nil, name: String = "pulse")
    throws
  {
    self.rate = rate
    folder = try existingFolder ?? TemporaryFolder()
    let socket = folder.path + "/native"
    process = try ChildProcess(
      name, Programs.path("pulseaudio"),
      [
        // A server without clients ends soon after the tests.
        "--daemonize=no", "-n", "--use-pid-file=no", "--exit-idle-time=60", "--log-target=stderr",
        "--log-level=info",
        "-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1", "-L",
        "module-null-sink sink_name=temblor rate=\(rate) channels=2 format=float32le",
      ], environment: Self.environment(folder), folder: folder)
    try process.waitForLine(with: "Daemon startup complete")
  }

  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path,
      "XDG_RUNTIME_DIR": folder.path,
      "PULSE_RUNTIME_PATH": folder.path,
    ]
  }

  /// The environment of a client of the server.
  var environment: [String: String] {
    var environment = Self.environment(folder)
    environment["PULSE_SERVER"] = "unix:\(folder.path)/native"
    return environment
  }

  /// Kills the server.
  func crash() { process.crash() }

  /// Starts to record the output of the sink, and waits for the first samples.
  func record(to name: String = "heard") throws -> PulseRecording {
    try PulseRecording(of: self, to: name)
  }
}

/// A continuing recording of the output of the sink, as 32-bit floats.
final class PulseRecording: Sendable {
  static let channelCount = 2

  private let process: ChildProcess
  private let folder: TemporaryFolder
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

  /// The number of frames so far.
  var frameCount: Int { folder.size(file) / (4 * Self.channelCount) }

  /// Waits until the recording is longer by a duration.
  func waitForMore(seconds: Double) throws {
    let requiredFrameCount = frameCount + Int(seconds * Double(rate))
    try FileGrowth.wait(
      in: folder, within: .seconds(15 + seconds), for: "\(seconds) s of recording"
    ) {
      frameCount >= requiredFrameCount
    }
  }

  /// Returns the samples of one channel. Throws an error if the other channel differs.
  func samples() throws -> [Float] {
    let bytes = folder.bytes(file) ?? []
    let frames = (0..<(bytes.count / 8)).map { frame in
      (0..<2).map { channel in
        let byteIndex = frame * 8 + channel * 4
        let bits = (0..<4).reduce(UInt32(0)) {
          $0 | UInt32(bytes[byteIndex + $1]) << UInt32(8 * $1)
        }
        return Float(bitPattern: bits)
      }
    }
    guard frames.allSatisfy({ $0[0] == $0[1] }) else {
      throw UnmetRequirement(description: "the channels differ")
    }
    return frames.map { $0[0] }
  }
}
