import Glibc
import SoundFile
import TestSupport
import Testing

@Suite struct CompareTests {
  let folder = WorkingFolder()

  /// Returns a pattern of taps with times in seconds and intensities.
  private func taps(_ taps: [(time: Double, intensity: Double)]) -> String {
    let events = taps.map { tap in
      """
        {"Event": {"Time": \(tap.time), "EventType": "HapticTransient", "EventParameters": [
          {"ParameterID": "HapticIntensity", "ParameterValue": \(tap.intensity)}]}}
      """
    }
    return "{\"Version\": 1.0, \"Pattern\": [\n\(events.joined(separator: ",\n"))\n]}\n"
  }

  private func writePair() throws {
    try folder.write(taps([(0, 0.8), (0.25, 0.6), (0.5, 1)]), to: "a.ahap")
    try folder.write(taps([(0, 0.8), (0.25, 0.6), (0.512, 1)]), to: "b.ahap")
  }

  @Test func differencesAreReportedAsSentencesAndMeasurements() throws {
    try writePair()
    #expect(
      try folder.temblor("compare", "a.ahap", "b.ahap")
        == .init(
          0,
          output: """
            A  a.ahap (pattern, profile phone)
            B  b.ahap (pattern, profile phone)

            B's third transient starts 12 ms later, at 0.512 s.

                                          A      B   B − A
            length             s      0.535  0.547  +0.012
            peak               dBFS    -7.1   -7.1       =
            RMS                dBFS   -24.4  -24.5    -0.1
            loudness           LUFS   -31.2  -31.2       =
            weighted level     dB     -24.7  -24.8    -0.1
            dominant frequency Hz       135    136      +1
            spectral centroid  Hz       137    137       =
            onsets                        3      3       =

            """))
  }

  @Test func identicalTakesAreReportedAsIdentical() throws {
    #expect(try folder.temblor("render", "heartbeat", "--sample-format", "float", "-q") == .init(0))
    for take in ["heartbeat", "heartbeat.wav"] {
      let run = try folder.temblor("compare", "--tolerance", "0", "heartbeat", take)
      #expect(run.status == 0 && run.error == "")
      let lines = run.output.split(separator: "\n").map(String.init)
      #expect(lines[2] == "B is identical to A, sample for sample.")
      #expect(lines.last == "B is within the tolerance of 0 dB, 0 ms and 0 %.")
    }
  }

  @Test func aGoldenRecordingOfAnyFormatIsEqual() throws {
    for options in [
      ["--sample-format", "s16"], ["--sample-format", "s24"], ["--rate", "44100"],
      ["--sample-format", "s16", "--rate", "96000"],
    ] {
      #expect(try folder.temblor(["render", "swipe-up", "-o", "golden.wav"] + options).status == 0)
      let run = try folder.temblor("compare", "--tolerance", "0", "golden.wav", "swipe-up")
      #expect(run.status == 0, "\(run.output)")
      #expect(run.output.contains("\nB is identical to A except for a residual at −"))
    }
  }

  @Test func exitStatusDependsOnTheTolerance() throws {
    try writePair()
    func status(_ tolerance: String) throws -> Int32 {
      try folder.temblor("compare", "--tolerance", tolerance, "a.ahap", "b.ahap").status
    }
    #expect(try status("0") == 3)
    #expect(try status("5ms") == 3)
    #expect(try status("12ms") == 0)
    #expect(try status("0.5dB,20ms,2%") == 0)
    #expect(try status("1 dB, 2 %") == 3)
    let threeTakesRun = try folder.temblor(
      "compare", "--tolerance", "5ms", "a.ahap", "a.ahap", "b.ahap")
    #expect(threeTakesRun.status == 3)
    #expect(
      threeTakesRun.output.hasSuffix(
        """
        B is within the tolerance of 0 dB (default), 5 ms and 0 % (default).
        C exceeds the tolerance of 0 dB (default), 5 ms and 0 % (default):
          time +12 ms > 5 ms: third transient at 0.5 s

        """))
  }

  @Test func aMissingTapIsNeverTolerated() throws {
    try folder.write(taps([(0, 0.8), (0.25, 0.6)]), to: "a.ahap")
    try folder.write(taps([(0, 0.8)]), to: "b.ahap")
    let run = try folder.temblor("compare", "--tolerance", "100dB,9999ms,100%", "a.ahap", "b.ahap")
    #expect(run.status == 3)
    #expect(run.output.contains("\nB is missing A's second transient, at 0.25 s.\n"))
  }

  @Test func jsonHasEverything() throws {
    try writePair()
    let run = try folder.temblor("compare", "--json", "--tolerance", "5ms", "a.ahap", "b.ahap")
    #expect(run.status == 3 && run.error == "")
    for line in [
      #"  "formatVersion": 1,"#, #"    "name": "a.ahap","#, #"  "profile": "phone","#,
      #"  "rate": 48000.0,"#,
      #"    "seconds": 0.005,"#, #"      "label": "B","#, #"      "equality": "different","#,
      #"          "kind": "time","#, #"          "throughout": false,"#, #"          "unit": "s","#,
      #"          "before": 0.5,"#, #"          "after": 0.512,"#,
      #"          "referenceEvents": [2],"#,
      #"          "sentence": "B's third transient starts 12 ms later, at 0.512 s.""#,
      #"      "withinTolerance": false,"#,
      #"          "text": "time +12 ms > 5 ms: third transient at 0.5 s""#,
    ] {
      #expect(run.output.split(separator: "\n").contains { $0 == line }, "\(line)")
    }
    let silentRun = try folder.bash(
      "$TEMBLOR render light --strength 0 -o s.wav -q && $TEMBLOR compare --json light s.wav")
    #expect(silentRun.status == 0 && silentRun.output.contains("\"peakDecibels\": null"))
  }

  @Test func jsonFollowsItsSchema() throws {
    let schema = try JSONSchema("Documentation/comparison.schema.json")
    try writePair()
    try writeRecording()
    for arguments in [
      ["a.ahap", "b.ahap"], ["a.ahap", "a.ahap", "b.ahap", "--tolerance", "5ms"],
      ["a.ahap", "take.wav", "--tolerance", "0.1dB,0.5ms"], ["take.wav", "take.wav"],
    ] {
      let run = try folder.temblor(["compare", "--json"] + arguments)
      #expect(run.error == "" && run.output.hasPrefix("{\n  \"formatVersion\": 1,\n"))
      #expect(try schema.violations(in: run.output) == [])
    }
    let violations = try schema.violations(in: "{\"formatVersion\": 2}")
    #expect(violations.contains("$.formatVersion is not 1"))
  }

  /// Writes a recording of the first pattern: 0.4 s later, 6 dB weaker, and with noise 40 dB below
  /// its peak.
  private func writeRecording() throws {
    _ = try folder.temblor("render", "a.ahap", "-o", "clean.wav", "-q", "--sample-format", "float")
    let source = unsafe open(folder.path + "/clean.wav", O_RDONLY | O_CLOEXEC)
    defer { close(source) }
    let clean = try Sound(readingDescriptor: source, path: "clean.wav").interleaved
    let peak = clean.reduce(0) { max($0, abs($1)) }
    var state: UInt64 = 5
    var samples: [Float] = []
    for index in 0..<clean.count + 33_600 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let noise = Float(state >> 40) / 8_388_608 - 1
      let sourceFrame = index - 19_200
      let sample = clean.indices.contains(sourceFrame) ? clean[sourceFrame] : 0
      samples.append(0.5 * (sample + 0.017 * peak * noise))
    }
    let target = unsafe open(
      folder.path + "/take.wav", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(target) }
    var writer = try SoundFileWriter(
      descriptor: target, path: "take.wav",
      format: SoundFileFormat(container: .wav, sampleFormat: .float), rate: 48_000,
      channelCount: 1, frameCount: Int64(samples.count))
    try writer.write(samples.span)
    try writer.close()
  }

  @Test func aRecordingIsComparedWithItsPattern() throws {
    try writePair()
    try writeRecording()
    let run = try folder.temblor("compare", "--tolerance", "0.1dB,1000ms,5%", "a.ahap", "take.wav")
    #expect(run.status == 3)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("B as a whole starts 400 ms later."))
    #expect(lines.contains("B is 6 dB weaker throughout."))
    #expect(
      lines.contains { $0.hasPrefix("  B has noise at −5") || $0.hasPrefix("B has noise at −5") })
    #expect(lines.contains { $0.hasPrefix("  cannot be verified: level ±0.") })
    #expect(!run.output.contains("extra") && !run.output.contains("lacks"))
    let json = try folder.temblor("compare", "--json", "a.ahap", "take.wav").output
    #expect(json.contains("\"match\": \"found\"") && json.contains("\"judgedEvents\": 3"))
    let refusedRun = try folder.temblor("compare", "--search", "-1", "a.ahap", "take.wav")
    #expect(refusedRun.status == 64 && refusedRun.error.contains("'--search'"))
  }

  @Test func matchedLevelIsReported() throws {
    let run = try folder.bash(
      """
      $TEMBLOR render heartbeat --strength 0.5 --sample-format float -q -o half.wav
      $TEMBLOR compare --match felt heartbeat half.wav | sed -n 4,5p
      """)
    #expect(
      run.output == """
        A was attenuated by 6 dB to match weighted energy.
        B is identical to A.

        """)
  }

  @Test func invalidArgumentsAreRefused() throws {
    func refusal(_ arguments: String...) throws -> String {
      let run = try folder.temblor(["compare"] + arguments)
      #expect(run.status == 64 && run.output == "")
      return run.error.split(separator: "\n").first.map(String.init) ?? ""
    }
    #expect(
      try refusal("--tolerance", "5", "light", "heavy")
        == "temblor: invalid value '5' for '--tolerance': expected limits such as 0.5dB,5ms,2%")
    #expect(
      try refusal("--tolerance", "1dB,2dB", "light", "heavy")
        == "temblor: '--tolerance' has two limits in dB")
    #expect(try refusal("light") == "temblor: missing TAKE to compare with 'light'")
    #expect(
      try refusal("--match", "rms", "light", "heavy")
        == "temblor: invalid value 'rms' for '--match': expected none, loudness, or felt")
  }

  @Test func invalidTakesExitWithTwoAndMissingTakesWithOne() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    #expect(
      try folder.temblor("compare", "light", "a.ahap")
        == .init(
          2, error: "a.ahap:2:1: error: \(ExpectedMessage.unclosedObject)\n"))
    #expect(
      try folder.temblor("compare", "light", "none.wav")
        == .init(1, error: "none.wav: \(ExpectedMessage.unknownPattern)\n"))
    try folder.write("RIFF but no sound", to: "c.wav")
    let run = try folder.temblor("compare", "light", "c.wav")
    #expect(run.status == 2 && run.error.hasPrefix("c.wav: "))
  }
}
