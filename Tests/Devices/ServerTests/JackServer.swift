import Glibc
import SoundFile
import TestSupport

/// A JACK server of a test, on a dummy device that only provides a clock.
final class JackServer: Sendable {
  /// The name of the ALSA device that plays on the server.
  static let device = "temblor-jack"

  let folder: TemporaryFolder
  private let name: String
  private let process: ChildProcess

  /// Starts a server and waits until it accepts clients.
  ///
  /// The server waits for its clients before every cycle, so that a busy machine loses no frames.
  ///
  /// - Parameter existingFolder: The folder of a previous server, which the new server replaces, or
  ///   nil for a new folder.
  init(period: Int, in existingFolder: TemporaryFolder? = nil) throws {
    folder = try existingFolder ?? TemporaryFolder()
    name = "temblor-" + folder.path.suffix(6)
    try folder.write(
      """
      </usr/share/alsa/alsa.conf>
      pcm.\(Self.device) {
        type jack
        name "temblor"
        playback_ports { 0 "system:playback_1" 1 "system:playback_2" }
      }
      """, to: "asound.conf")
    // A server that is not stopped ends after two minutes. If the system refuses real-time
    // priority, the server runs without it.
    process = try ChildProcess(
      "jackd", Programs.path("timeout"),
      ["120", Programs.path("jackd"), "--name", name, "--realtime", "--no-mlock"] + [
        "--sync", "--timeout", "2000", "-d", "dummy", "--rate", "48000", "--period", "\(period)",
        "--capture", "0",
        "--playback", "2",
      ], environment: Self.environment(folder, name), folder: folder)
    let waiter = try run("jack_wait", ["--server", name, "--wait", "--timeout", "15"])
    guard try waiter.waitForEnd(within: .seconds(20)) == 0 else {
      throw UnmetRequirement(description: "JACK did not start: \(process.output)\(process.errors)")
    }
  }

  private static func environment(_ folder: TemporaryFolder, _ name: String) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path,
      "XDG_RUNTIME_DIR": folder.path,
      "JACK_DEFAULT_SERVER": name, "JACK_NO_START_SERVER": "1", "JACK_NO_AUDIO_RESERVATION": "1",
      "ALSA_CONFIG_PATH": folder.path + "/asound.conf",
    ]
  }

  /// The environment of a client of the server.
  var environment: [String: String] { Self.environment(folder, name) }

  /// The number of cycles that the server lost because it or a client was late.
  var lostCycleCount: Int {
    (process.output + process.errors).split(separator: "\n").count { $0.contains("XRun") }
  }

  /// Stops the server. ALSA does not notify its clients.
  func stop() { process.stop() }

  private func run(_ program: String, _ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(
      program, Programs.path(program), arguments, environment: environment, folder: folder)
  }

  /// Starts to record the output of the probe, for a number of seconds.
  func record(seconds: Int) throws -> JackRecording {
    let process = try run(
      "jack_rec",
      [
        "-f", folder.path + "/heard.wav", "-d", "\(seconds)", "-b", "32", "-B", "262144",
        "temblor:out_000",
        "temblor:out_001",
      ])
    // Every listing takes some time, so that the loop does not spin. A connected recorder records.
    for _ in 0..<200 {
      let listing = try run("jack_lsp", ["--server", name, "--connections"])
      _ = try listing.waitForEnd(within: .seconds(10))
      if listing.output.contains("   jackrec:") || listing.output.contains("   jack_rec:") {
        return JackRecording(process, in: folder)
      }
    }
    throw UnmetRequirement(
      description: "the recorder was not connected: \(process.output)\(process.errors)")
  }
}

/// A recording that ends after its duration.
final class JackRecording: Sendable {
  private let process: ChildProcess
  private let folder: TemporaryFolder

  fileprivate init(_ process: ChildProcess, in folder: TemporaryFolder) {
    self.process = process
    self.folder = folder
  }

  /// Waits for the end of the recording, and returns the samples of one channel. Throws an error if
  /// the other channel differs.
  func samples() throws -> [Float] {
    let exitStatus = try process.waitForEnd(within: .seconds(60))
    let descriptor = unsafe open(folder.path + "/heard.wav", O_RDONLY | O_CLOEXEC)
    guard exitStatus == 0, descriptor >= 0 else {
      throw UnmetRequirement(description: "jack_rec ended with \(exitStatus): \(process.errors)")
    }
    defer { close(descriptor) }
    guard !process.errors.contains("overrun"), !process.output.contains("overrun") else {
      throw UnmetRequirement(description: "the recorder was too slow")
    }
    let sound = try Sound(readingDescriptor: descriptor, path: "heard.wav")
    let samples = sound.interleaved
    let leftIndices = stride(from: 0, to: samples.count, by: 2)
    guard sound.channelCount == 2, leftIndices.allSatisfy({ samples[$0] == samples[$0 + 1] }) else {
      throw UnmetRequirement(description: "the channels differ")
    }
    return leftIndices.map { samples[$0] }
  }
}
