import PlayRig
import Testing

/// Live playback through ALSA's way to a PipeWire of our own, recorded behind it.
@Suite(
  .enabled(
    if: Programs.hasPipeWire, "not asked for by TEMBLOR_TEST_SERVERS, or PipeWire is not installed"
  ),
  .serialized) struct PipeWireTests
{
  /// Whatever PipeWire does to samples that it passes on as they are.
  private static let exact: Float = 2e-4

  @Test(arguments: [64, 256, 1_024]) func everyPeriodIsHeardTheSame(period: Int) throws {
    let script = try PlaybackScript("0 start taps-10\n20000 start earthquake-splash\n140000 end")
    let (heard, expected) = try play(script, period: period, buffer: max(4_800, 4 * period))
    #expect(AlignedRecording.onsets(heard.samples) == AlignedRecording.onsets(expected))
    #expect(heard.difference(above: Self.exact) == nil)
  }

  @Test func aLongHumHasNoGapAndNoClick() throws {
    let script = try PlaybackScript("0 start hum-12\n600000 end")
    let (heard, expected) = try play(script, period: 256, buffer: 4_096)
    #expect(AlignedRecording.onsets(heard.samples) == AlignedRecording.onsets(expected))
    #expect(heard.difference(above: Self.exact) == nil)
  }

  /// The configuration of the article on several devices: each sink plays its channels, at the same
  /// time.
  @Test func oneSessionPlaysOnTwoDevices() throws {
    let article = try Self.article()
    let script = try PlaybackScript("0 start taps-10\n20000 start earthquake-splash\n140000 end")
    let expected = try ScriptPlayers.samples(of: script)
    for _ in 0..<4 {
      let server = try PipeWireServer(
        sinks: ["alsa_output.usb-Front", "alsa_output.usb-Rear"], modules: article, node: "both")
      let recordings = [try server.record(sink: 0), try server.record(sink: 1)]
      let probe = try Probe(
        device: PipeWireServer.device, channels: 4, period: 256, buffer: 4_800,
        environment: server.environment,
        folder: server.folder)
      try probe.begin(script)
      try probe.waitForEnd(within: .seconds(40))
      for recording in recordings {
        try recording.waitForMore(seconds: 0.5)
      }
      #expect(probe.lateByRendering == 0)
      guard probe.interruptions == [] else { continue }
      let heard = try recordings.map { try AlignedRecording(try $0.samples(), beside: expected) }
      guard heard.allSatisfy({ $0.difference(above: Self.exact) == nil }) else { continue }
      for one in heard {
        #expect(AlignedRecording.onsets(one.samples) == AlignedRecording.onsets(expected))
      }
      return
    }
    try Test.cancel("the machine was too busy four times")
  }

  /// The modules of the article's configuration.
  private static func article() throws -> String {
    let package = try #require(#filePath.firstRange(of: "Tests/Devices/ServerTests/"))
    let text = try PipeWireServer.text(
      #filePath[..<package.lowerBound]
        + "Sources/Devices/HapticOutputs/HapticOutputs.docc/SoundServers.md")
    let start = try #require(text.firstRange(of: "context.modules = ["))
    let end = try #require(text[start.upperBound...].firstRange(of: "\n]\n"))
    return String(text[start.upperBound..<end.lowerBound])
  }

  /// Again where the machine was too busy for an uninterrupted run: PipeWire tells no client of
  /// ALSA about cycles that it lost itself.
  private func play(_ script: PlaybackScript, period: Int, buffer: Int) throws -> (
    AlignedRecording, [Float]
  ) {
    var last: (AlignedRecording, [Float])?
    for _ in 0..<4 {
      let server = try PipeWireServer()
      let recording = try server.record()
      let probe = try Probe(
        device: PipeWireServer.device, period: period, buffer: buffer,
        environment: server.environment,
        folder: server.folder)
      try probe.begin(script)
      try probe.waitForEnd(within: .seconds(30 + Double(script.endFrame) / 48_000))
      try recording.waitForMore(seconds: 0.5)
      #expect(probe.lateByRendering == 0)
      // Interruptions that are not ours say nothing about what is tested.
      guard probe.interruptions == [] else { continue }
      let expected = try ScriptPlayers.samples(of: script)
      let heard = try AlignedRecording(try recording.samples(), beside: expected)
      last = (heard, expected)
      if heard.difference(above: Self.exact) == nil { break }
    }
    if let last { return last }
    try Test.cancel("the machine was too busy four times")
  }
}
