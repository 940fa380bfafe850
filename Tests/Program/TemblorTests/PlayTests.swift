import Glibc
import HapticRender
import SoundFile
import Testing

/// The live verbs on ALSA's own devices that need no sound card.
@Suite struct PlayTests {
  let folder = WorkingFolder()

  /// Reads a sound file.
  private func sound(_ name: String) throws -> Sound {
    let descriptor = unsafe open(folder.path + "/" + name, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return try Sound(readingDescriptor: descriptor, path: name)
  }

  /// Returns the samples of a raw file of floating-point samples.
  private func rawSamples(_ name: String) -> [Float] {
    let bytes = folder.bytes(name) ?? []
    return stride(from: 0, to: bytes.count / 4 * 4, by: 4).map { offset in
      Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) })
    }
  }

  /// The frames from the start of the device to the start of the pattern: 3 ms of silence and 2 ms
  /// of look-ahead.
  private let leadIn = 144 + Int(Renderer.lookaheadSeconds * 48_000)

  @Test(arguments: ["heartbeat", "light", "success"]) func playedSamplesEqualTheRendering(
    pattern: String
  ) throws {
    // A buffer of one second prevents underruns on a busy machine.
    let playRun = try folder.temblor(
      "play", pattern, "--channels", "1", "--sample-format", "float", "--buffer-size", "48000",
      "--device",
      "file:FILE=\(folder.path)/a.raw,FORMAT=raw", "--record", "b.wav")
    #expect(playRun == .init(0))
    #expect(
      try folder.temblor(
        "render", pattern, "--sample-format", "float", "--tail", "0", "-o", "a.wav", "-q")
        == .init(0))
    let expected = try sound("a.wav").interleaved
    let played = rawSamples("a.raw").dropFirst(leadIn).prefix(expected.count)
    #expect(expected.contains { abs($0) > 0.01 })
    #expect(played.count == expected.count)
    // A file ends with a fade of a millisecond over the residual of the DC blocker.
    #expect(Array(played.dropLast(48)) == Array(expected.dropLast(48)))
    let recorded = try sound("b.wav").interleaved
    #expect(recorded.count == rawSamples("a.raw").count)
    #expect(zip(recorded, rawSamples("a.raw")).allSatisfy { abs($0 - $1) < 1.3e-7 })
  }

  @Test(arguments: ["none", "usb:ffff:ffff"]) func missingDeviceNamesTheRemedy(device: String)
    throws
  {
    let run = try folder.temblor("play", "heartbeat", "--device", device)
    #expect(
      run
        == .init(
          1, error: "temblor: \(device): no such device; run 'temblor devices' to list devices\n"))
    #expect(folder.fileNames() == [])
  }

  @Test func aPipeIsNotPlayedTo() throws {
    let run = try folder.bash("mkfifo pipe.wav; $TEMBLOR play light --device wav:pipe.wav")
    #expect(
      run == .init(1, error: "temblor: pipe.wav: is a device or a pipe; specify a file\n"))
  }

  /// An empty configuration defines no default.
  @Test(arguments: [
    "play heartbeat light", "play mine.ahap --record heard.wav", "tap 1 0.5", "watch mine.ahap",
    "latency --count 1",
    "audition light medium --record heard.wav",
  ]) func withoutADefaultNothingIsWritten(line: String) throws {
    try folder.write(Patterns.tap(), to: "mine.ahap")
    try folder.write("a take", to: "mine.wav")
    let run = try folder.bash("ALSA_CONFIG_PATH=/dev/null $TEMBLOR \(line)")
    #expect(
      run
        == .init(
          1,
          error:
            "temblor: default: no such device; run 'temblor devices' to list devices; nothing was "
            + "played or written; for a sound file, use '--device wav:FILE' or 'temblor render'\n"))
    #expect(folder.fileNames() == ["mine.ahap", "mine.wav"])
    #expect(folder.text("mine.wav") == "a take")
  }

  @Test func invalidPatternIsReportedAndOthersPlay() throws {
    try folder.write(Patterns.brokenText, to: "bad.ahap")
    let run = try folder.temblor("play", "bad.ahap", "light", "--device", "null", "--json")
    #expect(run.status == 2)
    #expect(run.error.hasPrefix("bad.ahap:2:1: "))
    #expect(run.output.contains(#""pattern": "light""#))
    #expect(run.output.contains(#""error": "bad.ahap:2:1: "#))
    #expect(run.output.contains(#""underruns": "#))
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalFadesOutAndCompletesTheRecording(
    signal: Int32
  ) throws {
    var running: RunningProgram?
    #expect(
      try folder.fileAppears {
        running = try folder.start([
          "play", "pulse", "--loop", "0", "--device", "null", "--record", "a.wav",
        ])
      })
    let program = try #require(running)
    kill(program.process, signal)
    #expect(try folder.finish(program) == .init(-signal))
    #expect(folder.fileNames() == ["a.wav"])
    let frames = try sound("a.wav").interleaved
    #expect(frames.suffix(2) == [0, 0])
  }

  @Test func invalidRecordingPathIsAnError() throws {
    #expect(
      try folder.temblor("play", "light", "--device", "null", "--record", "no/a.wav")
        == .init(
          64,
          error: """
            temblor: cannot write 'no/a.wav': the folder 'no' does not exist
            See 'temblor play --help'.

            """))
    #expect(try folder.temblor("play", "light", "--record", "a.mp3").status == 64)
  }

  @Test func tapsPlayAtTheirInterval() throws {
    let run = try folder.temblor(
      "tap", "1", "0.5", "--count", "3", "--interval", "0.05", "--channels", "1", "--sample-format",
      "float",
      "--buffer-size", "48000", "--device", "file:FILE=\(folder.path)/a.raw,FORMAT=raw")
    #expect(run == .init(0))
    let samples = rawSamples("a.raw")
    for tap in 0..<3 {
      let start = leadIn + tap * 2_400
      #expect(samples.dropFirst(start).prefix(1_200).contains { abs($0) > 0.2 })
    }
    #expect(try folder.temblor("tap", "2", "0.5", "--device", "null").status == 64)
  }

  @Test func latencyListsEachStage() throws {
    let run = try folder.temblor("latency", "--count", "3", "--device", "null", "--json")
    #expect(run.status == 0)
    for key in ["taps", "handing", "device", "limiter", "total", "p99", "peakRenderLoad"] {
      #expect(run.output.contains("\"\(key)\": "))
    }
    let text = try folder.temblor("latency", "--count", "2", "--device", "null")
    #expect(text.output.hasPrefix("2 taps on null: 2 channels at 48000 Hz, "))
    #expect(text.output.contains("limiter              2.00     2.00     2.00     2.00     2.00\n"))
  }

  @Test func devicesAreListedWithTheDefaultFirst() throws {
    let run = try folder.bash("$TEMBLOR devices 2> /dev/null")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("default"))
    #expect(run.output.contains("\nnull  "))
    #expect(
      run.output.hasSuffix(
        "\n\nNo sound card found. Connect a sound card, or write a file with --device wav:FILE.\n")
        || run.output.contains("\n  --device plughw:"))
    let json = try folder.bash("$TEMBLOR devices --json 2> /dev/null")
    #expect(
      json.output.hasPrefix(
        "{\n  \"formatVersion\": 1,\n  \"devices\": [\n    {\n      \"name\": \"default\","))
  }

  @Test func renderAppliesTheRouting() throws {
    #expect(
      try folder.temblor(
        "render", "light", "--haptics", "3:-20", "--sample-format", "float", "-o", "a.wav", "-q")
        == .init(0))
    let sound = try sound("a.wav")
    #expect(sound.channelCount == 3)
    for channel in 0..<3 {
      let peak =
        stride(from: channel, to: sound.interleaved.count, by: 3).map { abs(sound.interleaved[$0]) }
        .max() ?? 0
      #expect(channel == 2 ? peak > 0.001 : peak == 0)
    }
    #expect(
      try folder.temblor(
        "render", "light", "--channel", "2=profile=speaker", "--sample-format", "float", "-o",
        "two.wav", "-q")
        == .init(0))
    #expect(
      try folder.temblor(
        "render", "light", "--profile", "speaker", "--sample-format", "float", "-o", "one.wav", "-q"
      )
        == .init(0))
    let stereo = try self.sound("two.wav").interleaved
    let mono = try self.sound("one.wav").interleaved
    #expect(stride(from: 1, to: stereo.count, by: 2).map { stereo[$0] }.starts(with: mono))
    #expect(stride(from: 0, to: stereo.count, by: 2).map { stereo[$0] } != mono)
  }
}
