import HapticPlayback
import Testing

@testable import HapticOutputs

/// Sinks of sound servers in the names of devices.
@Suite struct NamedSinkTests {
  private func servers(
    _ names: [String],
    pulse: Result<SoundServers.PulseAudioServer, SoundServers.QueryProblem>? = nil
  )
    -> SoundServers
  {
    let sinks = names.map {
      SoundServers.Sink(name: $0, description: "The \($0)", monitor: $0 + ".monitor")
    }
    return SoundServers(
      pipeWireSinks: { $0 == nil ? .success(sinks) : .failure(.absent) },
      pulseAudio: { _ in pulse ?? .success(SoundServers.PulseAudioServer(sinks: sinks)) })
  }

  private func openError(_ device: String, on servers: SoundServers) throws -> OutputError? {
    let sink = try #require(NamedSink(device: device))
    do throws(OutputError) {
      try sink.findSink(on: servers)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "A device names a sink by its key, by its position, or within another plug-in",
    arguments: [
      ("pipewire:shaker", "shaker"), ("pipewire:NODE=shaker", "shaker"),
      ("pipewire:,shaker", "shaker"), ("pipewire:", ""),
      ("pipewire:NODE=shaker,EXCLUSIVE=1", "shaker"),
      ("plug:'pipewire:NODE=shaker'", "shaker"), ("plug:SLAVE=\"pulse:DEVICE=shaker\"", "shaker"),
      ("pulse:shaker", "shaker"), ("pulse:DEVICE=shaker", "shaker"), ("pulse:DEVICE='a b'", "a b"),
      ("pipewire:NODE=", ""), ("pulse:", ""),
    ]) func deviceNamesSink(device: String, sink: String)
  { #expect(NamedSink(device: device)?.sinkName == sink) }

  @Test(
    "Other devices name no sink",
    arguments: [
      "default", "pipewire", "pulse", "hw:1", "plughw:CARD=pulse", "pipewire:SERVER=other", "jack",
      "mypulse:DEVICE=a",
      "card:pulse",
    ]) func deviceNamesNoSink(device: String)
  { #expect(NamedSink(device: device) == nil) }

  @Test func theServerOfADeviceIsRead() {
    #expect(NamedSink(device: "pipewire:NODE=a,SERVER=other")?.remoteServerName == "other")
    #expect(NamedSink(device: "pipewire:NODE=a")?.remoteServerName == nil)
    #expect(NamedSink(device: "pulse:DEVICE=a")?.server == .pulseAudio)
  }

  @Test(
    "A name that a server reads as any sink, or as an object's number, is refused",
    arguments: [
      "pipewire:NODE=-1", "pipewire:NODE=", "pipewire:NODE=57", "pulse:", "pulse:DEVICE=0",
      "pipewire:{NODE a,x}",
    ])
  func nameIsInvalid(device: String) throws {
    let error = try openError(device, on: servers(["-1", "", "57", "0"]))
    #expect(error?.kind == .invalidName)
    #expect(error?.output == device)
  }

  @Test func aSinkThatExistsIsFound() throws {
    #expect(try openError("pipewire:NODE=shaker", on: servers(["desktop", "shaker"])) == nil)
    #expect(try openError("pulse:DEVICE=shaker", on: servers(["desktop", "shaker"])) == nil)
  }

  @Test func aMissingSinkIsRefusedWithTheSinksThatExist() throws {
    let error = try openError("pipewire:NODE=shakr", on: servers(["shaker", "desktop"]))
    #expect(error?.kind == .notFound)
    #expect(error?.description == "no such PipeWire sink; available: desktop, shaker")
    #expect(error?.alternativeNames == ["desktop", "shaker"])
    let pulseError = try openError("pulse:DEVICE=Shaker", on: servers(["shaker"]))
    #expect(pulseError?.description == "no such PulseAudio sink; available: shaker")
  }

  @Test func twoSinksOfOneNameAreRefused() throws {
    let error = try openError("pipewire:NODE=shaker", on: servers(["shaker", "shaker"]))
    #expect(error?.kind == .other)
    #expect(error?.description.hasPrefix("2 sinks have this name") == true)
  }

  @Test(
    "A server without an answer is an error",
    arguments: zip(
      [SoundServers.QueryProblem.absent, .noReply, .libraryMissing],
      [OutputError.Kind.serverUnavailable, .unresponsive, .serverUnavailable]))
  func serverHasNoAnswer(problem: SoundServers.QueryProblem, kind: OutputError.Kind) throws {
    #expect(
      try openError("pulse:DEVICE=a", on: servers([], pulse: .failure(problem)))?.kind == kind)
    #expect(
      try openError("pipewire:NODE=a,SERVER=other", on: servers(["a"]))?.kind == .serverUnavailable)
  }

  @Test("A sink that has no ports yet may be available later", arguments: [true, false])
  func aSinkMayHaveNoPortsYet(isExact: Bool) {
    let request = OutputRequest(channels: isExact ? .exactly(2) : .atLeast(2))
    let error = #expect(throws: OutputError.self) {
      try PipeWireBackend.streamRequest(
        request, on: SoundServers.Sink(name: "shaker"), named: "shaker", device: "pipewire:shaker")
    }
    #expect(error?.kind == .unresponsive)
    #expect(error?.kind.isTemporary == true)
  }

  @Test func sinksAreListedWithTheirDevices() {
    let bothPlugIns: Set = ["pipewire", "pulse"]
    let pulseServer = SoundServers.PulseAudioServer(sinks: [.init(name: "hdmi")])
    let listings = servers(["shaker"], pulse: .success(pulseServer)).listings(plugIns: bothPlugIns)
    #expect(listings.map(\.name) == ["pulse:DEVICE=hdmi"])
    #expect(listings.map(\.description) == ["PulseAudio sink, hdmi"])
    let sink = SoundServers.Sink(
      name: "shaker", description: "The shaker", channelNames: ["FL", "FR"])
    #expect(sink.listing(as: "sink").name == "pipewire:shaker")
    #expect(sink.listing(as: "sink").description == "PipeWire sink, The shaker, channels FL FR")
    #expect(servers(["shaker"]).listings(plugIns: []) == [])
  }

  @Test func sinksOfPipeWireAreListedOnce() {
    let pipeWirePulseServer = SoundServers.PulseAudioServer(
      name: "PulseAudio (on PipeWire 1.4.2)", sinks: [.init(name: "shaker")])
    let serversWithBoth = servers(["shaker"], pulse: .success(pipeWirePulseServer))
    #expect(serversWithBoth.listings(plugIns: ["pulse"]) == [])
    let serversWithPulseOnly = servers([], pulse: .success(pipeWirePulseServer))
    #expect(
      serversWithPulseOnly.listings(plugIns: ["pulse"]).map(\.name) == ["pulse:DEVICE=shaker"])
  }
}
