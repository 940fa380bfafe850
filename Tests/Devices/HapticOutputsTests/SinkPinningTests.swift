import HapticPlayback
import Testing

@testable import HapticOutputs

/// The environment of a process whose streams stay on their sinks.
@Suite struct SinkPinningTests {
  private static let pipeWire =
    """
    node.dont-fallback = true node.dont-move = true node.dont-reconnect = true \
    state.restore-target = false }
    """
  private static let pulse =
    """
    node.dont-fallback=true node.dont-move=true node.dont-reconnect=true \
    state.restore-target=false
    """

  private func variables(_ user: [String: String] = [:], namesSink: Bool = true) throws -> [String:
    String?]
  {
    try SinkPinning.environmentVariables(namesSink: namesSink) { user[$0] }.reduce(into: [:]) {
      $0[$1.name] = .some($1.value)
    }
  }

  @Test func aNamedSinkIsPinned() throws {
    let variables = try variables()
    #expect(Set(variables.keys) == ["PIPEWIRE_ALSA", "PULSE_PROP"])
    #expect((variables["PIPEWIRE_ALSA"] ?? nil)?.hasSuffix(Self.pipeWire) == true)
    #expect(variables["PULSE_PROP"] == Self.pulse)
  }

  @Test func withoutANamedSinkTheStreamHasANameOnly() throws {
    let variables = try variables(["PIPEWIRE_NODE": "a", "PULSE_PROP": "b=c"], namesSink: false)
    #expect(
      variables == [
        "PIPEWIRE_ALSA":
          """
        { application.name = \"Temblor\" media.name = \"Haptics\" node.description = \
        \"Temblor\" node.name = \"temblor\" }
        """
      ])
  }

  @Test(
    "The user's properties stand between the names and the pins, which win",
    arguments: [
      "{ node.latency = 256/48000 node.dont-move = false }",
      "node.latency = 256/48000 node.dont-move = false",
      "  { node.latency = 256/48000 node.dont-move = false } ",
    ])
  func userPropertiesAreMerged(text: String) throws {
    let value = try variables(["PIPEWIRE_ALSA": text])["PIPEWIRE_ALSA"] ?? nil
    #expect(
      value?.hasSuffix("\nnode.latency = 256/48000 node.dont-move = false\n" + Self.pipeWire)
        == true)
  }

  @Test func aCommentDoesNotHideThePins() throws {
    let value = try variables(["PIPEWIRE_ALSA": "{ a = b } # done"])["PIPEWIRE_ALSA"] ?? nil
    #expect(value?.hasSuffix("\na = b\n" + Self.pipeWire) == true)
    let inner = try variables(["PIPEWIRE_ALSA": "a = \"}\" # { not open"])["PIPEWIRE_ALSA"] ?? nil
    #expect(inner?.hasSuffix("# { not open\n" + Self.pipeWire) == true)
  }

  @Test(
    "Properties that would hide the pins, or contradict the device, are refused",
    arguments: [
      "{ a = b", "a = { b = c", "a = \"b", "} a = b", "{ a = ] }", "{ a = b } c = d",
      "{ target.object = desktop }",
      "node.target = 7", "{ node.linger = true }",
    ])
  func propertiesAreRefused(text: String) {
    for name in ["PIPEWIRE_ALSA", "PIPEWIRE_PROPS"] {
      let error = #expect(throws: OutputError.self) { try variables([name: text]) }
      #expect(error?.output == name)
    }
  }

  @Test func variablesThatOutrankTheDeviceAreSetAside() throws {
    let variables = try variables([
      "PIPEWIRE_NODE": "desktop", "PIPEWIRE_PROPS": "{ node.dont-move = false }",
    ])
    #expect(variables["PIPEWIRE_NODE"] == .some(nil))
    #expect(variables["PIPEWIRE_PROPS"] == "{ node.dont-move = false\n" + Self.pipeWire)
  }

  @Test func propertiesOfPulseAudioAreMerged() throws {
    let user = "media.role=test node.dont-move=false application.name='My \\'own\\' program'"
    #expect(try variables(["PULSE_PROP": user])["PULSE_PROP"] == user + " " + Self.pulse)
    for text in ["a", "a=\"b", "=c", "a='b\\'"] {
      #expect(throws: OutputError.self) { try variables(["PULSE_PROP": text]) }
    }
  }

  @Test func variablesThatAreSetAreRecognized() throws {
    let all = try variables(["PIPEWIRE_PROPS": "a = b"])
    let set = all.compactMapValues { $0 }
    for server in NamedSink.Server.allCases {
      #expect(SinkPinning.arePinPropertiesSet(for: server) { set[$0] })
      #expect(!SinkPinning.arePinPropertiesSet(for: server) { _ in nil })
    }
    var other = set
    other["PIPEWIRE_NODE"] = "desktop"
    #expect(!SinkPinning.arePinPropertiesSet(for: .pipeWire) { other[$0] })
  }

  /// The runner of the tests has several threads, whose reading of the environment nothing would
  /// synchronize.
  @Test func aProcessWithThreadsKeepsItsEnvironment() throws {
    #expect(try !SinkPinning.applyVariables(namesSink: true))
    let sink = try #require(NamedSink(device: "pipewire:NODE=shaker"))
    let error = #expect(throws: OutputError.self) {
      try SinkPinning.requirePinning(for: sink, device: "pipewire:NODE=shaker")
    }
    #expect(error?.description.contains("PIPEWIRE_ALSA='{ \(Self.pipeWire)'") == true)
  }
}
