import HapticPlayback
import Testing

@testable import HapticOutputs

/// The environment of a process whose streams stay on their sinks.
@Suite struct SinkPinningTests {
  private static let pipeWirePins =
    """
    node.dont-fallback = true node.dont-move = true node.dont-reconnect = true \
    state.restore-target = false }
    """
  private static let pulsePins =
    """
    node.dont-fallback=true node.dont-move=true node.dont-reconnect=true \
    state.restore-target=false
    """

  private func variables(_ userVariables: [String: String] = [:], namesSink: Bool = true) throws
    -> [String:
    String?]
  {
    try SinkPinning.environmentVariables(namesSink: namesSink) { userVariables[$0] }.reduce(
      into: [:]) {
        $0[$1.name] = .some($1.value)
      }
  }

  @Test func aNamedSinkIsPinned() throws {
    let variables = try variables()
    #expect(Set(variables.keys) == ["PIPEWIRE_ALSA", "PULSE_PROP"])
    #expect((variables["PIPEWIRE_ALSA"] ?? nil)?.hasSuffix(Self.pipeWirePins) == true)
    #expect(variables["PULSE_PROP"] == Self.pulsePins)
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
    "The user's properties are between the names and the pins, which take precedence",
    arguments: [
      "{ node.latency = 256/48000 node.dont-move = false }",
      "node.latency = 256/48000 node.dont-move = false",
      "  { node.latency = 256/48000 node.dont-move = false } ",
    ])
  func userPropertiesAreMerged(text: String) throws {
    let value = try variables(["PIPEWIRE_ALSA": text])["PIPEWIRE_ALSA"] ?? nil
    #expect(
      value?.hasSuffix("\nnode.latency = 256/48000 node.dont-move = false\n" + Self.pipeWirePins)
        == true)
  }

  @Test func aCommentDoesNotHideThePins() throws {
    let value = try variables(["PIPEWIRE_ALSA": "{ a = b } # done"])["PIPEWIRE_ALSA"] ?? nil
    #expect(value?.hasSuffix("\na = b\n" + Self.pipeWirePins) == true)
    let valueWithInnerComment =
      try variables(["PIPEWIRE_ALSA": "a = \"}\" # { not open"])["PIPEWIRE_ALSA"] ?? nil
    #expect(valueWithInnerComment?.hasSuffix("# { not open\n" + Self.pipeWirePins) == true)
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
    #expect(variables["PIPEWIRE_PROPS"] == "{ node.dont-move = false\n" + Self.pipeWirePins)
  }

  @Test func propertiesOfPulseAudioAreMerged() throws {
    let userProperties =
      "media.role=test node.dont-move=false application.name='My \\'own\\' program'"
    #expect(
      try variables(["PULSE_PROP": userProperties])["PULSE_PROP"] == userProperties + " "
        + Self.pulsePins)
    for text in ["a", "a=\"b", "=c", "a='b\\'"] {
      #expect(throws: OutputError.self) { try variables(["PULSE_PROP": text]) }
    }
  }

  @Test func variablesThatAreSetAreRecognized() throws {
    let allVariables = try variables(["PIPEWIRE_PROPS": "a = b"])
    let setVariables = allVariables.compactMapValues { $0 }
    for server in NamedSink.Server.allCases {
      #expect(SinkPinning.arePinPropertiesSet(for: server) { setVariables[$0] })
      #expect(!SinkPinning.arePinPropertiesSet(for: server) { _ in nil })
    }
    var changedVariables = setVariables
    changedVariables["PIPEWIRE_NODE"] = "desktop"
    #expect(!SinkPinning.arePinPropertiesSet(for: .pipeWire) { changedVariables[$0] })
  }

  /// The test process has several threads, whose access to the environment would not be
  /// synchronized.
  @Test func aProcessWithThreadsKeepsItsEnvironment() throws {
    #expect(try !SinkPinning.applyVariables(namesSink: true))
    let sink = try #require(NamedSink(device: "pipewire:NODE=shaker"))
    let error = #expect(throws: OutputError.self) {
      try SinkPinning.requirePinning(for: sink, device: "pipewire:NODE=shaker")
    }
    #expect(error?.description.contains("PIPEWIRE_ALSA='{ \(Self.pipeWirePins)'") == true)
  }
}
