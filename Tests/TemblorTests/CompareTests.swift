import Testing

@Suite struct CompareTests {
  let place = Workplace()

  /// Taps at times in seconds, each with an intensity.
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
    try place.write(taps([(0, 0.8), (0.25, 0.6), (0.5, 1)]), to: "a.ahap")
    try place.write(taps([(0, 0.8), (0.25, 0.6), (0.512, 1)]), to: "b.ahap")
  }

  @Test func differencesAreToldInWordsThenFigures() throws {
    try writePair()
    #expect(
      try place.temblor("compare", "a.ahap", "b.ahap")
        == .init(
          0,
          output: """
            A  a.ahap (pattern, profile phone)
            B  b.ahap (pattern, profile phone)

            B's third transient comes 12 ms later, at 0.512 s.

                                      A      B   B − A
            length         s      0.535  0.547  +0.012
            peak           dBFS    -7.1   -7.1       =
            RMS            dBFS   -24.4  -24.5    -0.1
            loudness       LUFS   -31.2  -31.2       =
            weighted level dB     -24.7  -24.8    -0.1
            dominant       Hz       135    136      +1
            centroid       Hz       137    137       =
            onsets                    3      3       =

            """))
  }

  @Test func equalTakesAreCalledEqual() throws {
    #expect(try place.temblor("render", "heartbeat", "--sample-format", "float") == .init(0))
    for other in ["heartbeat", "heartbeat.wav"] {
      let run = try place.temblor("compare", "--tolerance", "0", "heartbeat", other)
      #expect(run.status == 0 && run.error == "")
      let lines = run.output.split(separator: "\n").map(String.init)
      #expect(lines[2] == "B is identical to A, sample for sample.")
      #expect(lines.last == "B is within the tolerance of 0 dB, 0 ms and 0 %.")
    }
  }

  @Test func aGoldenRecordingOfAnyFormatIsEqual() throws {
    for words in [
      ["--sample-format", "s16"], ["--sample-format", "s24"], ["--rate", "44100"],
      ["--sample-format", "s16", "--rate", "96000"],
    ] {
      #expect(try place.temblor(["render", "swipe-up", "-o", "golden.wav"] + words).status == 0)
      let run = try place.temblor("compare", "--tolerance", "0", "golden.wav", "swipe-up")
      #expect(run.status == 0, "\(run.output)")
      #expect(run.output.contains("\nB is equal to A except for a residual at −"))
    }
  }

  @Test func theStatusTellsWhetherATakeIsWithinTheTolerance() throws {
    try writePair()
    func status(_ tolerance: String) throws -> Int32 {
      try place.temblor("compare", "--tolerance", tolerance, "a.ahap", "b.ahap").status
    }
    #expect(try status("0") == 3)
    #expect(try status("5ms") == 3)
    #expect(try status("12ms") == 0)
    #expect(try status("0.5dB,20ms,2%") == 0)
    #expect(try status("1 dB, 2 %") == 3)
    let three = try place.temblor(
      "compare", "--tolerance", "5ms", "a.ahap", "a.ahap", "b.ahap")
    #expect(three.status == 3)
    #expect(
      three.output.hasSuffix(
        """
        B is within the tolerance of 0 dB, 5 ms and 0 %.
        C is beyond the tolerance of 0 dB, 5 ms and 0 %.

        """))
  }

  @Test func aMissingTapIsNeverTolerated() throws {
    try place.write(taps([(0, 0.8), (0.25, 0.6)]), to: "a.ahap")
    try place.write(taps([(0, 0.8)]), to: "b.ahap")
    let run = try place.temblor(
      "compare", "--tolerance", "100dB,9999ms,100%", "a.ahap", "b.ahap")
    #expect(run.status == 3)
    #expect(run.output.contains("\nB lacks A's second transient, at 0.25 s.\n"))
  }

  @Test func jsonHasEverything() throws {
    try writePair()
    let run = try place.temblor("compare", "--json", "--tolerance", "5ms", "a.ahap", "b.ahap")
    #expect(run.status == 3 && run.error == "")
    for line in [
      #"    "name": "a.ahap","#, #"  "profile": "phone","#, #"  "rate": 48000.0,"#,
      #"    "seconds": 0.005,"#, #"      "label": "B","#, #"      "equality": "different","#,
      #"          "kind": "time","#, #"          "throughout": false,"#,
      #"          "unit": "s","#, #"          "before": 0.5,"#, #"          "after": 0.512,"#,
      #"          "referenceEvents": [2],"#,
      #"          "sentence": "B's third transient comes 12 ms later, at 0.512 s.""#,
      #"      "withinTolerance": false"#,
    ] {
      #expect(run.output.split(separator: "\n").contains { $0 == line }, "\(line)")
    }
    let silent = try place.bash(
      "$TEMBLOR render light --strength 0 -o s.wav -q && $TEMBLOR compare --json light s.wav")
    #expect(silent.status == 0 && silent.output.contains("\"peakDecibels\": null"))
  }

  @Test func aShiftAndALevelAreTakenOutAndSaid() throws {
    let run = try place.bash(
      """
      $TEMBLOR render heartbeat --strength 0.5 --sample-format float -q -o half.wav
      $TEMBLOR compare --match felt heartbeat half.wav | sed -n 4,5p
      """)
    #expect(
      run.output == """
        A was attenuated by 6 dB to match weighted energy.
        B is equal to A.

        """)
  }

  @Test func wrongWordsAreRefused() throws {
    func refusal(_ words: String...) throws -> String {
      let run = try place.temblor(["compare"] + words)
      #expect(run.status == 64 && run.output == "")
      return run.error.split(separator: "\n").first.map(String.init) ?? ""
    }
    #expect(
      try refusal("--tolerance", "5", "light", "heavy")
        == "temblor: '--tolerance' takes limits such as 0.5dB,5ms,2%, not '5'")
    #expect(
      try refusal("--tolerance", "1dB,2dB", "light", "heavy")
        == "temblor: '--tolerance' has two limits in dB")
    #expect(try refusal("light") == "temblor: missing TAKE to compare with 'light'")
    #expect(
      try refusal("--match", "rms", "light", "heavy")
        == "temblor: '--match' takes none, loudness or felt, not 'rms'")
  }

  @Test func aBrokenTakeIsTwoAndAMissingOneIsOne() throws {
    try place.write(Patterns.broken, to: "a.ahap")
    #expect(
      try place.temblor("compare", "light", "a.ahap")
        == .init(
          2, error: "a.ahap:2:1: error: the text ends inside the object that begins at 1:1\n"))
    #expect(
      try place.temblor("compare", "light", "none.wav")
        == .init(1, error: "none.wav: no such file, and no shipped pattern has this name\n"))
    try place.write("RIFF but no sound", to: "c.wav")
    let run = try place.temblor("compare", "light", "c.wav")
    #expect(run.status == 2 && run.error.hasPrefix("c.wav: "))
  }
}
