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
  let recordedSink: String?
  /// The names of all sinks of the server.
  private let serverSinks: [String]

  /// Determines the device and the sink for a source name, by asking the sound servers.
  ///
  /// - Throws: `FileError` if the source belongs to a sound server that does not answer.
  init(_ name: String, on servers: SoundServers) throws {
    let pulse = "pulse:DEVICE="
    let named = NamedSink(device: name)
    let isDefault = [Self.monitorKeyword, "default", "pulse", "pipewire"].contains(name)
    guard isDefault || named != nil else {
      deviceName = name
      recordedSink = nil
      serverSinks = []
      return
    }
    let server: SoundServers.PulseAudio
    switch servers.pulseAudio(true) {
    case .success(let answer):
      server = answer
    case .failure(let problem):
      guard name == Self.monitorKeyword || named?.server == .pulseAudio else {
        // A server that PulseAudio's clients do not reach cannot be asked for its default source.
        deviceName = name
        recordedSink = named?.sinkName
        serverSinks = []
        return
      }
      throw FileError(name, "\(problem.error(for: name).description); \(Self.monitorAdvice)")
    }
    serverSinks = server.sinks.map(\.name)
    func recorded(by source: String) -> String? {
      server.sinks.first { $0.monitorSource == source }?.name
    }
    switch (name, named?.sinkName) {
    case (Self.monitorKeyword, _), (_, "@DEFAULT_MONITOR@"):
      let monitor = server.sinks.first { $0.name == server.defaultSink }?.monitorSource
      deviceName =
        Self.pipeWireDevice(server, on: servers) ?? pulse + (monitor ?? "@DEFAULT_MONITOR@")
      recordedSink = server.defaultSink
    case (_, "@DEFAULT_SOURCE@"), ("pulse", nil):
      deviceName = pulse + server.defaultSource
      recordedSink = recorded(by: server.defaultSource)
    case (_, let source?):
      deviceName = name
      // PipeWire records the monitor of a sink by the name of the sink.
      recordedSink = recorded(by: source) ?? (serverSinks.contains(source) ? source : nil)
    default:
      deviceName = name
      recordedSink = recorded(by: server.defaultSource)
    }
  }

  /// Returns the name of the device that records the default sink through PipeWire, or nil for
  /// another server.
  private static func pipeWireDevice(
    _ server: SoundServers.PulseAudio, on servers: SoundServers
  ) -> String? {
    guard server.isPipeWire, case .success(let sinks) = servers.pipeWireSinks(nil),
      sinks.contains(where: { $0.name == server.defaultSink })
    else {
      return nil
    }
    return NamedSink.Server.pipeWire.deviceName(server.defaultSink)
  }

  /// Throws an error if an output plays on the recorded sink, or could be moved to that sink.
  ///
  /// - Parameter output: The opened output.
  func checkOutput(_ output: DeviceSummary) throws(UsageError) {
    guard let recordedSink, output.isServerStream else { return }
    let named = NamedSink(device: output.name)
    guard named == nil || named?.sinkName == recordedSink else { return }
    let others = serverSinks.filter { $0 != recordedSink }.map { "pulse:DEVICE=" + $0.printable }
    let remedy =
      others.isEmpty
      ? "use a sound card with '--device', such as plughw:1"
      : "use a different sink with '--device': \(others.joinedWithOr)"
    let reason =
      named == nil
      ? "the device \(output.name.inQuotes) plays on the desktop's default sink"
      : "the device \(output.name.inQuotes) plays on this sink"
    throw UsageError(
      """
      '--source' records the sink \(recordedSink.inQuotes), and \(reason), which would cause \
      feedback; \(remedy)
      """
    )
  }
}
