import TestSupport
import Testing

@Suite struct PlotTests {
  let folder = WorkingFolder()

  @Test func aPatternIsDrawnWithCharacters() throws {
    try folder.write(Patterns.tap(at: 0.1), to: "a.ahap")
    let run = try folder.temblor("plot", "a.ahap", "--panels", "score", "--width", "60")
    #expect(
      run
        == .init(
          0,
          output: """
            a.ahap
            0.11 s · 1 transient · profile phone

            Intensity  ● transient  █ continuous
              1 ┤
                │
                │                                               ●
                │                                               ┃
                │                                               ┃
            0.5 ┤                                               ┃
                │                                               ┃
                │                                               ┃
                │                                               ┃
              0 ┤                                               ┃

            Sharpness
              1 ┤
                │
                │                                               ●
              0 ┤
                └┬────────┬─────────┬────────┬─────────┬────────┬───────
                 0       20        40       60        80       100  ms

            """))
  }

  @Test func asciiIsUsedInTheCLocale() throws {
    let run = try folder.bash("LC_ALL=C $TEMBLOR plot earthquake-splash --width 60")
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(run.output.utf8.allSatisfy { $0 < 128 })
    #expect(run.output.contains("Spectrogram  Hz, -60 to 0 dBFS"))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.utf8.count <= 60 })
  }

  @Test func pipesReceiveNoColors() throws {
    #expect(!(try folder.temblor("plot", "heartbeat").output.contains("\u{1B}")))
  }

  @Test(.enabled(if: CommandLineTests.hasTerminals, "no terminals can be made here"))
  func terminalsReceiveColorsUnlessDisabled() throws {
    let script = "script -qec '$TEMBLOR plot heartbeat' /dev/null"
    #expect(try folder.bash("export TERM=xterm; " + script).output.contains("\u{1B}[38;5;"))
    let uncolored = try folder.bash("export TERM=xterm NO_COLOR=1; " + script)
    #expect(uncolored.output.contains("heartbeat") && !uncolored.output.contains("\u{1B}["))
  }

  @Test func extensionSelectsTheFormat() throws {
    for (name, signature) in [("a.png", "\u{FFFD}PNG"), ("a.SVG", "<svg"), ("a.pdf", "%PDF")] {
      #expect(try folder.temblor("plot", "heartbeat", "-q", "-o", name) == .init(0))
      #expect(folder.text(name)?.hasPrefix(signature) == true)
    }
    #expect(folder.fileNames() == ["a.SVG", "a.pdf", "a.png"])
  }

  @Test func widthOptionSetsTheWidthOfTheFile() throws {
    _ = try folder.temblor("plot", "light", "-o", "a.png", "--width", "400")
    let header = try #require(folder.bytes("a.png")?.prefix(20))
    #expect(Array(header.suffix(4)) == [0, 0, 1, 0x90])
  }

  @Test func picturesAreReproducible() throws {
    for name in ["a.svg", "b.svg", "a.pdf", "b.pdf"] {
      _ = try folder.temblor("plot", "earthquake-splash", "-o", name)
    }
    #expect(folder.bytes("a.svg") == folder.bytes("b.svg"))
    #expect(folder.bytes("a.pdf") == folder.bytes("b.pdf"))
    _ = try folder.bash("$TEMBLOR plot earthquake-splash -o - --format svg > c.svg")
    #expect(folder.bytes("a.svg") == folder.bytes("c.svg"))
  }

  @Test func patternsAndSoundsAreDrawnToAFolder() throws {
    _ = try folder.temblor("render", "light", "-o", "light.wav")
    try folder.write(Patterns.tap(), to: "in/deep/tap.ahap")
    #expect(
      try folder.temblor("plot", "light.wav", "in", "soft", "-o", "out", "--format", "svg")
        == .init(0, error: "3 of 3 pictures written\n"))
    #expect(
      folder.fileNames(below: "out") == [
        "out/deep/", "out/deep/tap.svg", "out/light.svg", "out/soft.svg",
      ])
    let soundPicture = folder.text("out/light.svg") ?? ""
    #expect(soundPicture.contains("Level, frequency, waveform, and spectrogram of light.wav"))
  }

  @Test func standardInputIsReadOnce() throws {
    let run = try folder.temblor("plot", "-", "-q", "-o", "a.svg", input: Patterns.tap())
    #expect(run == .init(0))
    #expect(
      folder.text("a.svg")?.contains(
        "Intensity, sharpness, waveform, and spectrogram of standard input") == true)
  }

  @Test func bandOfTheProfileIsShownIfItIsKnown() throws {
    _ = try folder.temblor("render", "light", "-o", "light.wav")
    _ = try folder.temblor("plot", "light.wav", "-o", "a.svg")
    _ = try folder.temblor("plot", "light.wav", "-o", "b.svg", "--profile", "speaker")
    #expect(folder.text("a.svg")?.contains("band of") == false)
    #expect(folder.text("b.svg")?.contains("band of speaker") == true)
  }

  @Test func timeRangeIsDrawn() throws {
    let partArguments = ["plot", "earthquake-splash", "--start", "800ms", "--end", "1.4"]
    #expect(try folder.temblor(partArguments + ["-q", "-o", "a.svg"]) == .init(0))
    #expect(folder.text("a.svg")?.contains(">0.8–1.4 s of 2.2 s · ") == true)
    #expect(try folder.temblor(partArguments).output.contains("0.8–1.4 s of 2.2 s · "))
    let lateRun = try folder.temblor("plot", "light", "--start", "3", "-o", "b.svg")
    #expect(lateRun.status == 1 && folder.fileNames() == ["a.svg"])
    #expect(lateRun.error == "light: '--start' is after the end (0.014 s)\n")
  }

  @Test func severalPatternsAreOverlaid() throws {
    let names = ["light", "medium", "rigid", "soft"]
    #expect(try folder.temblor(["plot", "--overlay", "-q", "-o", "a.svg"] + names) == .init(0))
    for name in names {
      #expect(folder.text("a.svg")?.contains(">\(name)</tspan>") == true)
    }
    let text = try folder.temblor(["plot", "--overlay", "--panels", "score"] + names).output
    #expect(text.hasPrefix("light, medium, rigid, soft\n"))
  }

  @Test func twoPatternsAreOverlaid() throws {
    #expect(
      try folder.temblor("plot", "light", "rigid", "--overlay", "-q", "-o", "a.svg") == .init(0))
    #expect(folder.text("a.svg")?.contains("<title>light, rigid</title>") == true)
    #expect(
      try folder.temblor("plot", "light", "--overlay").error.hasPrefix(
        "temblor: '--overlay' requires two to 8 inputs, not 1"))
  }

  @Test(arguments: [
    (["plot"], "missing FILE"),
    (
      ["plot", "light", "-o", "a.gif"],
      "unknown file extension of 'a.gif'; use .png, .svg, or .pdf, or '--format'"
    ),
    (
      ["plot", "light", "-o", "a.png", "--format", "pdf"],
      "the extension of 'a.png' selects png, but '--format' is pdf"
    ),
    (
      ["plot", "light", "--panels", "score,taste"],
      "invalid value 'taste' for '--panels': expected score, waveform, or spectrogram"
    ),
    (
      ["plot", "light", "-o", "a.png", "--width", "20"],
      "invalid value '20' for '--width': expected a whole number from 200 to 10000"
    ),
    (["plot", "light", "--format", "svg"], "'--format' requires '--output'"),
    (["plot", "light", "--start", "2", "--end", "1"], "'--start' must be before '--end'"),
    (
      ["plot", "light", "--end", "-1"],
      "invalid value '-1' for '--end': expected a number of at least 0"
    ),
    (["plot", "light", "soft", "-o", "-"], "'--output -' requires a single picture"),
  ]) func invalidCommandLinesAreRefused(_ arguments: [String], _ message: String) throws {
    let run = try folder.temblor(arguments)
    #expect(run.status == 64 && run.output.isEmpty)
    #expect(run.error.hasPrefix("temblor: \(message)"))
    #expect(folder.fileNames() == [])
  }

  @Test func invalidPatternsAreReportedAndOthersAreDrawn() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    let run = try folder.temblor("plot", "a.ahap", "nope", "light", "-o", "out")
    #expect(run.status == 1)
    #expect(
      run.error == """
        nope: \(ExpectedMessage.unknownPattern)
        a.ahap:2:1: error: \(ExpectedMessage.unclosedObject)
        1 of 3 pictures written

        """)
    #expect(folder.fileNames(below: "out") == ["out/light.png"])
    #expect(try folder.temblor("plot", "a.ahap", "-o", "b.png").status == 2)
    #expect(folder.bytes("b.png") == nil)
  }

  @Test func inputIsNotOverwritten() throws {
    try folder.write(Patterns.tap(), to: "a.ahap")
    let run = try folder.temblor("plot", "a.ahap", "-o", "./a.ahap", "--format", "png")
    #expect(run.status == 64)
    #expect(
      run.error.hasPrefix("temblor: './a.ahap' is an input file; choose a different '--output'"))
    #expect(folder.text("a.ahap") == Patterns.tap())
  }
}
