import CommandLineKit
import HapticOutputs
import HapticPlayback
import PlaybackSessions
import SystemSupport

/// A recording device to follow, and the sink of a sound server that it records.
///
/// Vibration on the recorded sink would be followed again, in an endless loop.
struct FollowedSource: Equatable {
  /// The keyword for the monitor of the default sink.
  static let monitorKeyword = "monitor"

  /// The remedy if the sound of the default output cannot be captured.
  static let monitorAdvice = """
    to capture the default output, use PulseAudio or PipeWire, and install libasound2-plugins; \
    otherwise, choose a source with '--source'
    """

  /// The name of the device to open.
  /// A source that follows the server's default has the name of the default at the start, so that
  /// it stays the same source.
  let device: String
  /// The sink that the device records, or nil for other sources.
  let sink: String?
  /// The names of all sinks of the server.
  private let sinks: [String]

  /// Finds a source through the sound server.
  ///
  /// - Throws: `FileError` if the source belongs to a sound server that does not answer.
  init(_ name: String, on servers: SoundServers) throws {
    let pulse = "pulse:DEVICE="
    let named = NamedSink(device: name)
    let isDefault = [Self.monitorKeyword, "default", "pulse", "pipewire"].contains(name)
    guard isDefault || named != nil else {
      device = name
      sink = nil
      sinks = []
      return
    }
    let server: SoundServers.PulseAudio
    switch servers.pulseAudio(true) {
    case .success(let answer):
      server = answer
    case .failure(let problem):
      guard name == Self.monitorKeyword || named?.server == .pulseAudio else {
        // A server that PulseAudio's clients do not reach cannot be asked for its default source.
        device = name
        sink = named?.sink
        sinks = []
        return
      }
      throw FileError(name, "\(problem.error(for: name).description); \(Self.monitorAdvice)")
    }
    sinks = server.sinks.map(\.name)
    func recorded(by source: String) -> String? {
      server.sinks.first { $0.monitor == source }?.name
    }
    switch (name, named?.sink) {
    case (Self.monitorKeyword, _), (_, "@DEFAULT_MONITOR@"):
      let monitor = server.sinks.first { $0.name == server.defaultSink }?.monitor
      device =
        Self.pipeWireDevice(server, on: servers) ?? pulse + (monitor ?? "@DEFAULT_MONITOR@")
      sink = server.defaultSink
    case (_, "@DEFAULT_SOURCE@"), ("pulse", nil):
      device = pulse + server.defaultSource
      sink = recorded(by: server.defaultSource)
    case (_, let source?):
      device = name
      // PipeWire records the monitor of a sink by the name of the sink.
      sink = recorded(by: source) ?? (sinks.contains(source) ? source : nil)
    default:
      device = name
      sink = recorded(by: server.defaultSource)
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
    return NamedSink.Server.pipeWire.device(server.defaultSink)
  }

  /// Throws an error for an output that plays on the recorded sink, or may come to play there.
  ///
  /// - Parameter output: The opened output.
  func check(_ output: DeviceSummary) throws(UsageError) {
    guard let sink, output.isServerStream else { return }
    let named = NamedSink(device: output.name)
    guard named == nil || named?.sink == sink else { return }
    let others = sinks.filter { $0 != sink }.map { "pulse:DEVICE=" + $0.printable }
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
      '--source' records the sink \(sink.inQuotes), and \(reason), which would cause feedback; \
      \(remedy)
      """
    )
  }
}
