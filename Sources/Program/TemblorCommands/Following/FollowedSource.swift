import CommandLineKit
import HapticOutputs
import HapticPlayback
import PlaybackSessions
import SystemSupport

/// A recording device to follow, and, if it is the monitor of a sink, the sound server's sink that
/// it records.
///
/// Vibration on the recorded sink would be followed again, in an endless loop.
struct FollowedSource: Equatable {
  /// The keyword that selects the monitor of the default sink as the source.
  static let monitorKeyword = "monitor"

  /// The remedy if the sound of the default output cannot be captured.
  static let monitorAdvice = """
    to capture the default output, use PulseAudio or PipeWire, and install libasound2-plugins; \
    otherwise, choose a source with '--source'
    """

  /// The name of the device to open.
  /// A source that follows the server's default has the name of the default at the start, so that
  /// it stays the same source.
  let deviceName: String
  /// The sink that the device records, or nil for other sources.
  let recordedSinkName: String?
  /// The names of all sinks of the server.
  private let serverSinkNames: [String]

  /// Determines the device and the sink for a source name, by asking the sound servers.
  ///
  /// - Throws: `FileError` if the source belongs to a sound server that does not answer.
  init(_ name: String, on servers: SoundServers) throws {
    let pulsePrefix = "pulse:DEVICE="
    let namedSink = NamedSink(device: name)
    let isDefaultSource = [Self.monitorKeyword, "default", "pulse", "pipewire"].contains(name)
    guard isDefaultSource || namedSink != nil else {
      deviceName = name
      recordedSinkName = nil
      serverSinkNames = []
      return
    }
    let pulseServer: SoundServers.PulseAudioServer
    switch servers.pulseAudio(true) {
    case .success(let answer):
      pulseServer = answer
    case .failure(let problem):
      guard name == Self.monitorKeyword || namedSink?.server == .pulseAudio else {
        // A server that PulseAudio's clients do not reach cannot be asked for its default source.
        deviceName = name
        recordedSinkName = namedSink?.sinkName
        serverSinkNames = []
        return
      }
      throw FileError(name, "\(problem.error(for: name).description); \(Self.monitorAdvice)")
    }
    serverSinkNames = pulseServer.sinks.map(\.name)
    func sinkNameRecorded(by source: String) -> String? {
      pulseServer.sinks.first { $0.monitorSourceName == source }?.name
    }
    switch (name, namedSink?.sinkName) {
    case (Self.monitorKeyword, _), (_, "@DEFAULT_MONITOR@"):
      let monitor = pulseServer.sinks.first { $0.name == pulseServer.defaultSinkName }?
        .monitorSourceName
      deviceName =
        Self.pipeWireDevice(pulseServer, on: servers) ?? pulsePrefix
        + (monitor ?? "@DEFAULT_MONITOR@")
      recordedSinkName = pulseServer.defaultSinkName
    case (_, "@DEFAULT_SOURCE@"), ("pulse", nil):
      deviceName = pulsePrefix + pulseServer.defaultSourceName
      recordedSinkName = sinkNameRecorded(by: pulseServer.defaultSourceName)
    case (_, let source?):
      deviceName = name
      // PipeWire records the monitor of a sink by the name of the sink.
      recordedSinkName =
        sinkNameRecorded(by: source) ?? (serverSinkNames.contains(source) ? source : nil)
    default:
      deviceName = name
      recordedSinkName = sinkNameRecorded(by: pulseServer.defaultSourceName)
    }
  }

  /// Returns the name of the device that records the default sink through PipeWire, or nil for
  /// another server.
  private static func pipeWireDevice(
    _ server: SoundServers.PulseAudioServer, on servers: SoundServers
  ) -> String? {
    guard server.isPipeWire, case .success(let sinks) = servers.pipeWireSinks(nil),
      sinks.contains(where: { $0.name == server.defaultSinkName })
    else {
      return nil
    }
    return NamedSink.Server.pipeWire.deviceName(server.defaultSinkName)
  }

  /// Throws an error if an output plays on the recorded sink, or could be moved to that sink.
  ///
  /// - Parameter output: The opened output.
  func checkOutput(_ output: DeviceSummary) throws(UsageError) {
    guard let recordedSinkName, output.isServerStream else { return }
    let namedSink = NamedSink(device: output.name)
    guard namedSink == nil || namedSink?.sinkName == recordedSinkName else { return }
    let otherDeviceNames = serverSinkNames.filter { $0 != recordedSinkName }.map {
      "pulse:DEVICE=" + $0.printable
    }
    let remedyText =
      otherDeviceNames.isEmpty
      ? "use a sound card with '--device', such as plughw:1"
      : "use a different sink with '--device': \(otherDeviceNames.joinedWithOr)"
    let reasonText =
      namedSink == nil
      ? "the device \(output.name.inQuotes) plays on the desktop's default sink"
      : "the device \(output.name.inQuotes) plays on this sink"
    throw UsageError(
      """
      '--source' records the sink \(recordedSinkName.inQuotes), and \(reasonText), which would \
      cause feedback; \(remedyText)
      """
    )
  }
}
