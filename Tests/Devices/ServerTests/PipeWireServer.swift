import Glibc
import TestSupport

/// A PipeWire server of a test, with a session manager and null sinks.
final class PipeWireServer: Sendable {
  /// The name of the ALSA device that plays on the server.
  static let device = "temblor-pipewire"

  let folder: TemporaryFolder
  /// The names of its sinks.
  let sinks: [String]
  private let process: ChildProcess
  private let manager: ChildProcess

  /// Starts a server and waits until its sinks are available.
  ///
  /// - Parameters:
  ///   - sinks: Names of stereo sinks.
  ///   - modules: Additional entries of the configuration's list of modules.
  ///   - node: The sink to play on; nil is the default.
  init(sinks: [String] = ["temblor"], modules: String = "", node: String? = nil) throws {
    self.sinks = sinks
    folder = try TemporaryFolder()
    try folder.write(Self.configuration(sinks, modules), to: "pipewire.conf")
    for name in ["client.conf", "client-rt.conf"] {
      try folder.write(Self.text("/usr/share/pipewire/" + name), to: name)
    }
    try folder.write(
      """
      </usr/share/alsa/alsa.conf>
      pcm.\(Self.device) { type pipewire \(node.map { "playback_node \"\($0)\"" } ?? "") }
      """, to: "asound.conf")
    process = try ChildProcess(
      "pipewire", Programs.path("timeout"), ["120", Programs.path("pipewire")],
      environment: Self.environment(folder),
      folder: folder)
    try FileGrowth.wait(in: folder, within: .seconds(15), for: "PipeWire") { [folder] in
      unsafe access(folder.path + "/pipewire-0", F_OK) == 0
    }
    // The session manager needs a bus of its own, instead of the user's bus.
    var environment = Self.environment(folder)
    environment["PIPEWIRE_CONFIG_DIR"] = nil
    environment["DBUS_SESSION_BUS_ADDRESS"] = nil
    manager = try ChildProcess(
      "wireplumber", Programs.path("timeout"),
      ["120", Programs.path("dbus-run-session"), "--", Programs.path("wireplumber")],
      environment: environment,
      folder: folder)
    // Every listing takes some time, so that the loop does not spin.
    for _ in 0..<200 {
      let statusListing = try ChildProcess(
        "wpctl", Programs.path("wpctl"), ["status"], environment: Self.environment(folder),
        folder: folder)
      _ = try statusListing.waitForEnd(within: .seconds(10))
      // Streams between sinks are ready when they are linked.
      let expectedLinkCount = node == nil ? 0 : 2 * sinks.count
      if statusListing.output.contains("WirePlumber [export]"), statusListing.output.contains("* "),
        statusListing.output.split(separator: "\n").count(where: { $0.contains(" > ") })
          >= expectedLinkCount
      {
        return
      }
    }
    throw UnmetRequirement(description: "no sink: \(process.errors)\(manager.errors)")
  }

  /// Returns the default configuration with additional sinks and modules.
  private static func configuration(_ sinks: [String], _ modules: String) throws -> String {
    var text = try text("/usr/share/pipewire/pipewire.conf")
    let objects = sinks.map { name in
      """

      { factory = adapter args = { factory.name = support.null-audio-sink node.name = \(name)
        media.class = Audio/Sink object.linger = true audio.position = [ FL FR ] } }
      """
    }
    for (list, entries) in [
      ("context.objects = [", objects.joined()), ("context.modules = [", modules),
    ] {
      // New entries follow the existing ones, on which modules depend.
      guard let start = text.firstRange(of: list),
        let end = text[start.upperBound...].firstRange(of: "\n]")
      else {
        throw UnmetRequirement(description: "an unknown configuration of PipeWire")
      }
      text.insert(contentsOf: entries, at: end.lowerBound)
    }
    return text
  }

  /// Returns the text of a file.
  static func text(_ path: String) throws -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw UnmetRequirement(description: "\(path) is not there") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path,
      "XDG_RUNTIME_DIR": folder.path,
      "PIPEWIRE_RUNTIME_DIR": folder.path, "PIPEWIRE_CONFIG_DIR": folder.path,
      "ALSA_CONFIG_PATH": folder.path + "/asound.conf",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + folder.path + "/none",
    ]
  }

  /// The environment of a client of the server.
  var environment: [String: String] { Self.environment(folder) }

  /// Starts to record the output of a sink, and waits for the first samples.
  func record(sink: Int = 0) throws -> PipeWireRecording {
    try PipeWireRecording(of: self, sink: sinks[sink])
  }
}

/// A continuing recording of the output of a sink, as 32-bit floats.
final class PipeWireRecording: Sendable {
  private let process: ChildProcess
  private let folder: TemporaryFolder
  private let file: String

  fileprivate init(of server: PipeWireServer, sink: String) throws {
    folder = server.folder
    file = sink + ".wav"
    // A recorder without real-time priority would lose frames when it is late.
    process = try ChildProcess(
      "pw-record-" + sink, Programs.path("chrt"),
      [
        "-f", "20", Programs.path("pw-record"), "-P", "{ stream.capture.sink=true }", "--target",
        sink, "--format",
        "f32", "--rate", "48000", "--channels", "2", folder.path + "/" + file,
      ], environment: server.environment, folder: folder)
    try waitForMore(seconds: 0.3)
  }

  /// Waits until the recording is longer by a duration.
  func waitForMore(seconds: Double) throws {
    let requiredSize = folder.size(file) + Int(seconds * 48_000) * 8
    try FileGrowth.wait(
      in: folder, within: .seconds(15 + seconds), for: "\(seconds) s of recording"
    ) {
      [folder, file] in folder.size(file) >= requiredSize
    }
  }

  /// Returns the samples of one channel so far. Throws an error if the other channel differs.
  func samples() throws -> [Float] {
    let fileBytes = folder.bytes(file) ?? []
    // The header of a growing file does not contain its length.
    guard let dataChunkID = fileBytes.firstRange(of: Array("data".utf8)) else { return [] }
    let bytes = fileBytes[(dataChunkID.upperBound + 4)...]
    func sample(_ index: Int) -> Float {
      let byteIndex = bytes.startIndex + index * 4
      return Float(
        bitPattern: (0..<4).reduce(UInt32(0)) {
          $0 | UInt32(bytes[byteIndex + $1]) << UInt32(8 * $1)
        })
    }
    let frames = (0..<(bytes.count / 8)).map { (sample(2 * $0), sample(2 * $0 + 1)) }
    guard frames.allSatisfy({ $0.0 == $0.1 }) else {
      throw UnmetRequirement(description: "the channels differ")
    }
    return frames.map(\.0)
  }
}
