import Foundation
import HapticOutputs
import HapticPlayback
import HapticRender
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import PlaybackSessions
@testable import TemblorCommands

extension SoundServers {
  /// No server runs.
  fileprivate static let none = SoundServers(
    pipeWireSinks: { _ in .failure(.absent) }, pulseAudio: { _ in .failure(.absent) })
}

/// `temblor follow`.
@Suite struct FollowVerbTests {
  private let folder: TemporaryFolder

  /// Writes a hum of 80 Hz that starts at 0.5 s and lasts half a second.
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0.5, "EventType": "HapticContinu\
      ous", "EventDuration": 0.5,
        "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 1},
        {"ParameterID": "HapticSharpness", "ParameterValue": 0}]}}]}
      """, to: "hum.ahap")
    let run = TemblorProgram.run("render", folder("hum.ahap"), "-q", "-o", folder("hum.wav"))
    #expect(run.status == .success)
  }

  /// A capture device that delivers silence and reports the given events.
  private final class SilentSource: CaptureSource {
    let rate = 48_000.0
    let channelCount = 1
    var events: [CaptureEvent] = [.interrupted("gone"), .resumed(.seconds(1))]
    private let reads = DispatchSemaphore(value: 0)

    func read(into samples: inout [Float]) -> CaptureEvent? {
      samples += [Float](repeating: 0, count: 96)
      reads.signal()
      return events.isEmpty ? nil : events.removeFirst()
    }

    /// Waits until the program has received the frames of a new read. The reading thread passes
    /// frames on before its next read.
    func waitForDelivery() {
      while reads.wait(timeout: .now()) == .success {}
      for _ in 0..<2 {
        _ = reads.wait(timeout: .now() + HangLimit.seconds)
      }
    }
  }

  private func follow(
    _ arguments: [String], on environment: ScriptedEnvironment, servers: SoundServers = .none,
    source: @escaping () throws -> any CaptureSource = { SilentSource() }
  ) throws -> CommandLineKit.ExitStatus {
    try FollowCommand.run(
      FollowCommand.definition.parseArguments(arguments), environment.recordedTerminal.terminal,
      on: environment,
      servers: servers
    ) {
      _, _, _ in
      try source()
    }
  }

  /// PulseAudio with two sinks, the first of which is the default.
  private static let desktop = SoundServers(
    pipeWireSinks: { _ in .failure(.absent) },
    pulseAudio: { _ in
      let sinks = ["desktop", "shaker"].map {
        SoundServers.Sink(name: $0, monitor: $0 + ".monitor")
      }
      let server = SoundServers.PulseAudioServer(
        defaultSinkName: "desktop", defaultSourceName: "desktop.monitor", sinks: sinks)
      return .success(server)
    })

  private func feedbackError(from source: String, device: String, isServerStream: Bool = true)
    -> String?
  {
    var output = DeviceSummary(
      OpenedOutput(sink: NullSink(OutputRequest().requestedFormat), name: device))
    output.isServerStream = isServerStream
    do {
      try FollowedSource(source, on: Self.desktop).checkOutput(output)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func monitorSelectsTheDefaultSink() throws {
    let source = try FollowedSource("monitor", on: Self.desktop)
    #expect(source.deviceName == "pulse:DEVICE=desktop.monitor")
    #expect(source.recordedSinkName == "desktop")
    #expect(try FollowedSource("hw:2", on: .none).deviceName == "hw:2")
    #expect(throws: FileError.self) { try FollowedSource("monitor", on: .none) }
    #expect(throws: FileError.self) { try FollowedSource("pulse:DEVICE=shaker.monitor", on: .none) }
  }

  @Test("On PipeWire, the monitor is recorded by the name of its sink")
  func monitorOfPipeWire() throws {
    let sinks = [SoundServers.Sink(name: "desktop", monitor: "desktop.monitor")]
    let pulse = SoundServers.PulseAudioServer(
      name: "PulseAudio (on PipeWire 1.4.2)", defaultSinkName: "desktop", sinks: sinks)
    let servers = SoundServers(
      pipeWireSinks: { _ in .success(sinks) }, pulseAudio: { _ in .success(pulse) })
    let source = try FollowedSource("monitor", on: servers)
    #expect(source.deviceName == "pipewire:desktop")
    #expect(source.recordedSinkName == "desktop")
  }

  @Test(
    "A sink that is recorded is not played on",
    arguments: [
      ("monitor", "pulse:DEVICE=desktop"), ("monitor", "pipewire:desktop"),
      ("monitor", "default"),
      ("monitor", "pulse"), ("pulse:DEVICE=shaker.monitor", "pipewire:NODE=shaker"),
      ("pulse", "pulse:DEVICE=desktop"),
      ("pulse:DEVICE=@DEFAULT_MONITOR@", "pulse:DEVICE=desktop"),
      ("default", "pulse:DEVICE=desktop"),
      ("pulse:DEVICE=@DEFAULT_SOURCE@", "pulse:DEVICE=desktop"),
      ("pipewire:NODE=shaker", "pulse:DEVICE=shaker"),
    ])
  func recordedSinkIsRefused(source: String, device: String) {
    #expect(
      feedbackError(from: source, device: device)?.contains(
        "which would cause feedback; use a different sink")
        == true)
  }

  @Test(
    "Another sink, a card and a source that records no sink are accepted",
    arguments: [
      ("monitor", "pulse:DEVICE=shaker", true), ("monitor", "pipewire:NODE=shaker", true),
      ("monitor", "default", false),
      ("monitor", "plughw:1", false), ("pulse:DEVICE=microphone", "default", true),
      ("hw:2", "default", true),
      ("pulse:DEVICE=shaker.monitor", "pulse:DEVICE=desktop", true),
    ])
  func otherOutputsAreAccepted(source: String, device: String, isServerStream: Bool) {
    #expect(feedbackError(from: source, device: device, isServerStream: isServerStream) == nil)
  }

  @Test func refusalNamesTheRemedy() {
    #expect(
      feedbackError(from: "monitor", device: "default")
        == """
        '--source' records the sink 'desktop', and the device 'default' plays on the desktop's \
        default sink, which 
        """
        + "would cause feedback; use a different sink with '--device': pulse:DEVICE=shaker")
  }

  private func onset(_ samples: [Float]) -> Double {
    Double(samples.firstIndex { abs($0) > 0.05 } ?? 0) / 48_000
  }

  @Test func fileSourceIsPlayedAsVibration() throws {
    let environment = ScriptedEnvironment()
    #expect(
      try follow(["--source", folder("hum.wav"), "--json", "--no-config"], on: environment)
        == .success)
    #expect(abs(onset(environment.samples()) - 0.505) < 0.01)
    #expect(environment.samples()[30_000..<40_000].reduce(0) { max($0, $1) } > 0.3)
    #expect(environment.engine?.positionSeconds ?? 0 < 1.5)
    #expect(environment.recordedTerminal.output.contains("\"style\": \"full\""))
  }

  @Test func delayShiftsTheVibration() throws {
    let environment = ScriptedEnvironment()
    #expect(
      try follow(["--source", folder("hum.wav"), "--delay", "250", "--no-config"], on: environment)
        == .success)
    #expect(abs(onset(environment.samples()) - 0.755) < 0.01)
  }

  @Test func silentSourceAndItsGapsAreReportedOnce() throws {
    let environment = ScriptedEnvironment(limit: 12)
    let source = SilentSource()
    // The source delivers in real time, so the virtual time waits for it every half second.
    var nextDelivery = 0.0
    environment.keyResponder = { _, seconds in
      if seconds >= nextDelivery {
        source.waitForDelivery()
        nextDelivery = seconds + 0.5
      }
      return nil
    }
    #expect(
      try follow(["--source", "hw:7", "--no-config"], on: environment, source: { source })
        == .success)
    let messages = environment.recordedTerminal.error
    #expect(messages.components(separatedBy: "hw:7 is silent; check its volume").count == 2)
    #expect(messages.components(separatedBy: "hw:7: gone").count == 2)
    #expect(messages.contains("hw:7: reconnected after 1 s"))
  }

  @Test(
    "The name of a sink is not a number and not empty",
    arguments: ["pipewire:NODE=-1", "alsa:pipewire:NODE=", "pulse:DEVICE=3"])
  func invalidSinkIsAnErrorOfUsage(device: String) {
    let run = TemblorProgram.run("play", "light", "-d", device)
    #expect(run.status == .usageError)
    #expect(run.error.contains("run 'temblor devices' to list sinks"))
  }

  @Test func missingSinkIsReportedWithAlternatives() {
    let error = OutputError(
      .notFound, output: "pulse:DEVICE=a", "no such PulseAudio sink; available: b",
      alternativeNames: ["b"])
    #expect(
      ErrorReporting.messageText(error) == "pulse:DEVICE=a: no such PulseAudio sink; available: b")
    #expect(
      ErrorReporting.messageText(OutputError(.notFound, output: "a", "no such device"))
        == "a: no such device; run 'temblor devices' to list devices")
  }

  @Test func deviceListEndsWithTheOptionOfEachSink() {
    let sink = OutputListing(name: "pipewire:NODE=shaker", description: "PipeWire sink, The shaker")
    #expect(
      DevicesCommand.playCommandAdvice([sink])
        == "To play on a sink, use its option, or save it with 'temblor setup':\n"
        + "  --device pipewire:NODE=shaker  PipeWire sink, The shaker\n")
  }

  @Test("The list of devices ends with the option of each source")
  func devicesListSources() {
    let servers = SoundServers(
      pipeWireSinks: { _ in .success([]) },
      pipeWireSources: { _ in
        .success([SoundServers.Sink(name: "mic", description: "Microphone", channelNames: ["MONO"])]
        )
      },
      pulseAudio: { _ in .failure(.absent) })
    #expect(
      DevicesCommand.sourceAdvice(servers.sourceListings)
        == "\nTo follow a source with 'temblor follow', use its option:\n"
        + "  --source pipewire:mic  PipeWire source, Microphone, channels MONO\n")
    #expect(DevicesCommand.sourceAdvice([]) == "")
  }

  @Test func unusableSourcesAreReported() {
    let arguments = ["--source", "hw:9", "--no-config"]
    let refusal = OutputError(.notFound, output: "hw:9", "no such device")
    #expect {
      try follow(arguments, on: ScriptedEnvironment(), source: { throw refusal })
    } throws: { ErrorReporting.messageText($0) == "hw:9: no such device" }
    #expect {
      try follow(
        ["--source", folder("hum.wav"), "--low", "90", "--high", "60", "--no-config"],
        on: ScriptedEnvironment())
    } throws: {
      ($0 as? UsageError)?.description == "'--low' must be below '--high' (60 Hz), not '90'"
    }
    let run = TemblorProgram.run("follow", "--source", folder("no.wav"), "-d", "null")
    #expect(run.status != .success)
    #expect(run.error.contains("no.wav"))
  }
}
