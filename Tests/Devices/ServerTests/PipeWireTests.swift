import PlayRig
import Testing

/// Live playback through ALSA on a PipeWire server of the test, recorded at its sinks.
@Suite(
  .enabled(
    if: Programs.hasPipeWire, "not asked for by TEMBLOR_TEST_SERVERS, or PipeWire is not installed"
  ),
  .serialized) struct PipeWireTests
{
  /// The error of samples that PipeWire passes on without resampling.
  private static let exactTolerance: Float = 2e-4

  @Test(arguments: [64, 256, 1_024]) func everyPeriodSizePlaysTheSameSamples(period: Int) throws {
    let script = try PlaybackScript("0 start taps-10\n20000 start earthquake-splash\n140000 end")
    let (recording, expected) = try play(script, period: period, buffer: max(4_800, 4 * period))
    #expect(AlignedRecording.onsets(recording.samples) == AlignedRecording.onsets(expected))
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  @Test func aLongHumHasNoGapAndNoClick() throws {
    let script = try PlaybackScript("0 start hum-12\n600000 end")
    let (recording, expected) = try play(script, period: 256, buffer: 4_096)
    #expect(AlignedRecording.onsets(recording.samples) == AlignedRecording.onsets(expected))
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  /// With the configuration of the article about several devices, each sink plays its channels at
  /// the same time.
  @Test func oneSessionPlaysOnTwoDevices() throws {
    let articleModules = try Self.articleModules()
    let script = try PlaybackScript("0 start taps-10\n20000 start earthquake-splash\n140000 end")
    let expected = try ScriptPlayers.samples(of: script)
    for _ in 0..<4 {
      let server = try PipeWireServer(
        sinks: ["alsa_output.usb-Front", "alsa_output.usb-Rear"], modules: articleModules,
        node: "both")
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
      #expect(probe.lateRenderCount == 0)
      guard probe.interruptions == [] else { continue }
      let alignedRecordings = try recordings.map {
        try AlignedRecording(try $0.samples(), expecting: expected)
      }
      guard alignedRecordings.allSatisfy({ $0.difference(above: Self.exactTolerance) == nil })
      else { continue }
      for alignedRecording in alignedRecordings {
        #expect(
          AlignedRecording.onsets(alignedRecording.samples) == AlignedRecording.onsets(expected))
      }
      return
    }
    try Test.cancel("the machine was too busy four times")
  }

  /// Returns the modules of the article's configuration.
  private static func articleModules() throws -> String {
    let package = try #require(#filePath.firstRange(of: "Tests/Devices/ServerTests/"))
    let text = try PipeWireServer.text(
      #filePath[..<package.lowerBound]
        + "Sources/Devices/HapticOutputs/HapticOutputs.docc/SoundServers.md")
    let start = try #require(text.firstRange(of: "context.modules = ["))
    let end = try #require(text[start.upperBound...].firstRange(of: "\n]\n"))
    return String(text[start.upperBound..<end.lowerBound])
  }

  /// Plays a script, and returns the aligned recording and the expected samples.
  ///
  /// Repeats the run if the recording differs, because PipeWire does not notify ALSA clients of
  /// cycles that it lost on a busy machine.
  private func play(_ script: PlaybackScript, period: Int, buffer: Int) throws -> (
    AlignedRecording, [Float]
  ) {
    var lastResult: (AlignedRecording, [Float])?
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
      #expect(probe.lateRenderCount == 0)
      // Interruptions by other load say nothing about the tested code.
      guard probe.interruptions == [] else { continue }
      let expected = try ScriptPlayers.samples(of: script)
      let alignedRecording = try AlignedRecording(try recording.samples(), expecting: expected)
      lastResult = (alignedRecording, expected)
      if alignedRecording.difference(above: Self.exactTolerance) == nil { break }
    }
    if let lastResult { return lastResult }
    try Test.cancel("the machine was too busy four times")
  }
}
