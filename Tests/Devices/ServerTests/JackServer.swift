import PlayRig
import SoundFile
import Glibc

/// A JACK of a test's own on a device that only keeps time.
final class JackServer: Sendable {
  /// ALSA's name for the way to it.
  static let device = "temblor-jack"

  let folder: FreshFolder
  private let name: String
  private let process: ChildProcess

  /// Starts a server and waits until it can be played on.
  ///
  /// It waits for its clients before it goes on to the next cycle, so that a machine that is late
  /// loses nothing.
  ///
  /// - Parameter folder: A folder in which another server may have been before; this one is found
  ///   in its stead.
  init(period: Int, in folder: FreshFolder = FreshFolder()) throws {
    self.folder = folder
    name = "temblor-" + folder.path.suffix(6)
    folder.write(
      """
      </usr/share/alsa/alsa.conf>
      pcm.\(Self.device) {
        type jack
        name "temblor"
        playback_ports { 0 "system:playback_1" 1 "system:playback_2" }
      }
      """, to: "asound.conf")
    // A server that nobody ended ends by itself. Where the system refuses real-time priority, it
    // does without.
    process = try ChildProcess(
      "jackd", Programs.path("timeout"),
      ["120", Programs.path("jackd"), "--name", name, "--realtime", "--no-mlock"] + [
        "--sync", "--timeout", "2000", "-d", "dummy", "--rate", "48000", "--period", "\(period)",
        "--capture", "0",
        "--playback", "2",
      ], environment: Self.environment(folder, name), folder: folder)
    let ready = try run("jack_wait", ["--server", name, "--wait", "--timeout", "15"])
    guard try ready.waitForEnd(within: .seconds(20)) == 0 else {
      throw UnmetRequirement(description: "JACK did not start: \(process.output)\(process.errors)")
    }
  }

  private static func environment(_ folder: FreshFolder, _ name: String) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path,
      "XDG_RUNTIME_DIR": folder.path,
      "JACK_DEFAULT_SERVER": name, "JACK_NO_START_SERVER": "1", "JACK_NO_AUDIO_RESERVATION": "1",
      "ALSA_CONFIG_PATH": folder.path + "/asound.conf",
    ]
  }

  /// What a program needs to find it.
  var environment: [String: String] { Self.environment(folder, name) }

  /// Cycles the server lost by itself: it came too late, or a client did.
  var lostCycleCount: Int {
    (process.output + process.errors).split(separator: "\n").count { $0.contains("XRun") }
  }

  /// Ends; those who play on it are not notified by ALSA.
  func stop() { process.stop() }

  private func run(_ program: String, _ words: [String]) throws -> ChildProcess {
    try ChildProcess(
      program, Programs.path(program), words, environment: environment, folder: folder)
  }

  /// Records what the probe plays for some seconds, from now on.
  func record(seconds: Int) throws -> JackRecording {
    let process = try run(
      "jack_rec",
      [
        "-f", folder.path + "/heard.wav", "-d", "\(seconds)", "-b", "32", "-B", "262144",
        "temblor:out_000",
        "temblor:out_001",
      ])
    // Every look takes the tool its time; a recorder that is connected records.
    for _ in 0..<200 {
      let look = try run("jack_lsp", ["--server", name, "--connections"])
      _ = try look.waitForEnd(within: .seconds(10))
      if look.output.contains("   jackrec:") || look.output.contains("   jack_rec:") {
        return JackRecording(process, in: folder)
      }
    }
    throw UnmetRequirement(
      description: "the recorder was not connected: \(process.output)\(process.errors)")
  }
}

/// A recording that ends by itself.
final class JackRecording: Sendable {
  private let process: ChildProcess
  private let folder: FreshFolder

  fileprivate init(_ process: ChildProcess, in folder: FreshFolder) {
    self.process = process
    self.folder = folder
  }

  /// Waits for the end: one channel; the other is the same, or nothing.
  func samples() throws -> [Float] {
    let status = try process.waitForEnd(within: .seconds(60))
    let descriptor = unsafe open(folder.path + "/heard.wav", O_RDONLY | O_CLOEXEC)
    guard status == 0, descriptor >= 0 else {
      throw UnmetRequirement(description: "jack_rec ended with \(status): \(process.errors)")
    }
    defer { close(descriptor) }
    guard !process.errors.contains("overrun"), !process.output.contains("overrun") else {
      throw UnmetRequirement(description: "the recorder was too slow")
    }
    let sound = try Sound(readingDescriptor: descriptor, path: "heard.wav")
    let samples = sound.interleaved
    let frames = stride(from: 0, to: samples.count, by: 2)
    guard sound.channelCount == 2, frames.allSatisfy({ samples[$0] == samples[$0 + 1] }) else {
      throw UnmetRequirement(description: "the channels differ")
    }
    return frames.map { samples[$0] }
  }
}
