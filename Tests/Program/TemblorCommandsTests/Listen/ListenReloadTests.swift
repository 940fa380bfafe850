import CommandServer
import Glibc
import HapticPlayback
import TestSupport
import Testing
import TransducerProfiles

@testable import CommandLineKit
@testable import TemblorCommands

/// A reload of the settings while a device hangs, in virtual time: clients are served meanwhile.
@Suite struct ListenReloadTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A line of the server and its time in seconds.
  private struct Line {
    let time: Double
    let text: String
  }

  /// The lines of a run of the server.
  private struct Transcript {
    /// The replies to the client of the socket, which asks for the status each second.
    var statuses: [Line] = []
    /// The replies to standard input.
    var replies: [Line] = []
    /// The events that were sent to standard output.
    var events: [Line] = []
    /// The messages on standard error.
    var messages = ""
    var openingTimeouts: [Duration] = []
  }

  /// Plays a loop, reloads at 2 s while devices hang, and ends after 20 s.
  ///
  /// - Parameters:
  ///   - device: The device in the settings that are reloaded; the initial device is `first`.
  ///   - hangEnd: The time in seconds at which devices open again.
  private func reload(to device: String, hangingUntil hangEnd: Int) throws -> Transcript {
    try saveSettings(device: "first")
    var commands = [
      ReloadEnvironment.TimedCommand(time: .seconds(1), command: "play heartbeat loop as bed"),
      ReloadEnvironment.TimedCommand(time: .seconds(2), command: "reload"),
    ]
    for second in 3...19 {
      commands.append(
        ReloadEnvironment.TimedCommand(
          time: .seconds(second), command: "status", isFromClient: true))
    }
    commands.append(ReloadEnvironment.TimedCommand(time: .milliseconds(19_500), command: "list"))
    commands.append(ReloadEnvironment.TimedCommand(time: .seconds(20), command: "quit"))
    let script = commands
    let environment = try ReloadEnvironment { now in
      if now >= .seconds(1) {
        try? saveSettings(device: device)
      }
      return script.first { $0.time > now }
    }
    environment.hangPeriod = .seconds(2)..<(.seconds(hangEnd))
    var transcript = Transcript()
    environment.lineHandler = { time, text, isToClient in
      let line = Line(time: time / .seconds(1), text: String(text))
      switch (text.hasPrefix("event "), isToClient) {
      case (true, false): transcript.events.append(line)
      case (true, true): break
      case (false, false): transcript.replies.append(line)
      case (false, true): transcript.statuses.append(line)
      }
    }
    let messages = try runServer(in: environment)
    transcript.messages = messages
    transcript.openingTimeouts = environment.openingTimeouts
    return transcript
  }

  private var settings: Settings {
    Settings(settingsPath: folder("config.json"), environmentVariables: [:])
  }

  private func saveSettings(device: String) throws {
    var saved = SavedSettings()
    saved.deviceName = device
    _ = try settings.saveSettings(saved)
  }

  /// Runs the server until its last command, and returns the messages on standard error.
  private func runServer(in environment: ReloadEnvironment) throws -> String {
    let socketPath = folder("s")
    environment.socketPath = socketPath
    let terminal = RecordedTerminal()
    var arguments = try ListenCommand.definition().parseArguments([
      "--rate", "8000", "--profile", "phone", "--socket", socketPath,
    ])
    try settings.applyDefaults(to: &arguments, on: terminal.terminal)
    _ = try ListenCommand.run(
      arguments, terminal.terminal, on: environment,
      standard: LineConnection(
        input: environment.input.readDescriptor, output: environment.output.writeDescriptor),
      settings: settings)
    return terminal.error
  }

  /// Checks that the client was served each second.
  private func expectService(_ transcript: Transcript) {
    #expect(transcript.statuses.count == 17)
    for (index, status) in transcript.statuses.enumerated() {
      let delay = status.time - Double(3 + index)
      #expect(delay >= 0 && delay < 0.1, "\(status)")
      #expect(status.text.hasPrefix("ok time="), "\(status)")
    }
  }

  @Test("A reload that names a device that hangs is refused, and the old device plays meanwhile")
  func aDeviceThatHangsIsRefused() throws {
    let transcript = try reload(to: "second", hangingUntil: 3_600)
    expectService(transcript)
    #expect(transcript.statuses.allSatisfy { $0.text.contains(" playing=1 ") })
    #expect(
      transcript.statuses.allSatisfy { $0.text.contains(" device=first present=yes ") })
    // A probe ends after ten seconds.
    let reply = try #require(transcript.replies.first { $0.text.hasPrefix("error ") })
    #expect(reply.time >= 12 && reply.time < 12.1)
    #expect(reply.text.hasPrefix("error failed: second: the device does not respond"))
    #expect(transcript.replies.contains { $0.text == "ok bed" })
  }

  @Test("A reload takes effect when a slow device has opened, and the old device plays until then")
  func aSlowDeviceIsAwaited() throws {
    let transcript = try reload(to: "second", hangingUntil: 6)
    expectService(transcript)
    for (index, status) in transcript.statuses.enumerated() {
      let device = index + 3 < 6 ? "first" : "second"
      #expect(status.text.contains(" device=\(device) present=yes "), "\(status)")
    }
    let reply = try #require(transcript.replies.first { $0.text == "ok" })
    #expect(reply.time >= 6 && reply.time < 6.1)
    #expect(transcript.replies.contains { $0.text == "ok bed" })
  }

  @Test("A device that hangs while a reload opens it again is awaited in the background")
  func theSameDeviceIsAwaitedInTheBackground() throws {
    let transcript = try reload(to: "first", hangingUntil: 10)
    expectService(transcript)
    // The server waits only briefly.
    #expect(transcript.openingTimeouts == [.milliseconds(250)])
    for (index, status) in transcript.statuses.enumerated() {
      let isPresent = index + 3 > 10
      if index + 3 != 10 {
        #expect(
          status.text.contains(" device=first present=\(isPresent ? "yes" : "no") "), "\(status)")
      }
      // The restored loop starts as soon as its pattern is loaded.
      let hasLoop = [" playing=1 ", " waiting=1 "].contains { status.text.contains($0) }
      #expect(hasLoop, "\(status)")
    }
    #expect(transcript.messages.contains("first: the device has not opened yet; waiting"))
    let event = try #require(transcript.events.first { $0.text.contains("event reconnected") })
    #expect(event.time >= 10 && event.time < 10.6)
    #expect(transcript.replies.contains { $0.text == "ok bed" })
  }

  @Test("A reload that continues in the next session is performed when its device has opened")
  func probesWakeTheNextSession() throws {
    try saveSettings(device: "first")
    // The client waits for the second device, while a reload without changes begins a session.
    // In it, the reload of the client is checked again, and waits for the same probe.
    let script = [
      ReloadEnvironment.TimedCommand(time: .seconds(2), command: "reload", isFromClient: true),
      ReloadEnvironment.TimedCommand(time: .seconds(4), command: "reload"),
      ReloadEnvironment.TimedCommand(time: .seconds(20), command: "quit"),
    ]
    let environment = try ReloadEnvironment { now in
      // The settings at the time of each command.
      if now >= .seconds(2) {
        try? saveSettings(device: now < .seconds(4) ? "second" : "first")
      }
      return script.first { $0.time > now }
    }
    environment.hangPeriod = .seconds(2)..<(.seconds(8))
    environment.hangingOutput = "second"
    environment.openHandler = { now in
      if now >= .seconds(4) {
        try? saveSettings(device: "second")
      }
    }
    var clientReplies: [Line] = []
    environment.lineHandler = { time, text, isToClient in
      if isToClient, !text.hasPrefix("event ") {
        clientReplies.append(Line(time: time / .seconds(1), text: String(text)))
      }
    }
    _ = try runServer(in: environment)
    #expect(environment.sessionCount == 3)
    let reply = try #require(clientReplies.first)
    #expect(clientReplies.count == 1 && reply.text == "ok")
    #expect(reply.time >= 8 && reply.time < 8.1)
  }

  /// A backend whose devices use up the descriptors of the process.
  private final class ExhaustingOutput: OutputBackend {
    var scheme: String { "exhausting" }
    var addressPlaceholder: String? { "NAME" }
    func outputs(probing: Bool) -> [OutputListing] { [] }

    func open(
      _ name: String, _ request: OutputRequest, time: any TimeSource
    ) throws(OutputError) -> sending OpenedOutput {
      while unsafe Glibc.open("/dev/null", O_RDONLY) >= 0 {}
      return OpenedOutput(sink: NullSink(request.requestedFormat, time: time), name: name)
    }
  }

  @Test("A probe without a thread that closes its device fails")
  func probesNeedAThreadToClose() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let environment = SimulatedEnvironment(
        outputRegistry: OutputRegistry([ExhaustingOutput()], defaultScheme: "exhausting"))
      let wake = try WakeSignal()
      let probe = try environment.beginProbe(of: "x", OutputRequest(), wake: wake)
      var watched = [PollDescriptor(wake.descriptor)]
      SystemTimeSource().wait(for: &watched, timeout: HangLimit.duration)
      guard case .failure(let error) = probe.result else { exit(1) }
      exit(error.description.contains("ulimit -n") ? 0 : 2)
    }
  }
}
