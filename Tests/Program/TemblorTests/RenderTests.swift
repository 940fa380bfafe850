import Glibc
import HapticRender
import SoundFile
import TestSupport
import Testing

@Suite struct RenderTests {
  let folder = WorkingFolder()

  private func sound(_ name: String) throws -> Sound { try Sound(reading: folder, name) }

  @Test func aLogSaysWhatWasWritten() throws {
    #expect(
      try folder.temblor("render", "light")
        == .init(0, error: "light.wav: written, 0.014 s, peak -21 dBFS\n"))
    #expect(try folder.temblor("render", "light", "-q") == .init(0))
    #expect(folder.fileNames() == ["light.wav"])
    let light = try sound("light.wav")
    #expect(light.rate == 48_000 && light.channelCount == 1)
    #expect((light.interleaved.max() ?? 0) > 0.01)
  }

  @Test func fileFolderStandardInputAndNameGiveOneSound() throws {
    let text = try folder.temblor("patterns", "light").output
    try folder.write(text, to: "in/light.ahap")
    #expect(try folder.temblor("render", "in/light.ahap", "-q") == .init(0))
    #expect(try folder.temblor("render", "in", "-o", "out", "-q") == .init(0))
    #expect(try folder.temblor("render", "light", "-o", "named.wav", "-q") == .init(0))
    #expect(try folder.temblor("render", "-", "-q", input: text) == .init(0))
    let file = folder.bytes("light.wav")
    #expect(file?.count ?? 0 > 1_000)
    #expect(folder.bytes("out/light.wav") == file)
    #expect(folder.bytes("named.wav") == file)
    #expect(try sound("pattern.wav") == sound("light.wav"))
  }

  @Test func standardOutputGetsTheBytesOfTheFile() throws {
    #expect(
      try folder.bash(
        """
        for kind in wav flac aiff caf w64 rf64; do
          $TEMBLOR render pulse -q -o file.$kind
          $TEMBLOR render pulse -o - --format $kind | cmp - file.$kind
        done
        """) == .init(0))
  }

  @Test func aFolderKeepsItsStructureAndPassesLinksToFoldersBy() throws {
    try folder.write(Patterns.tap(), to: "in/a.ahap")
    try folder.write(Patterns.tap(), to: "in/deep/er/b.AHAP")
    try folder.write("no pattern", to: "in/notes.txt")
    try folder.write(Patterns.tap(), to: "in/.hidden.ahap")
    try folder.link("in/round", to: ".")
    try folder.link("in/deep/linked.ahap", to: "../a.ahap")
    try folder.makeFolder("out")
    #expect(try folder.temblor("render", "in", "-o", "out/here", "-q") == .init(0))
    #expect(
      folder.fileNames(below: "out") == [
        "out/here/", "out/here/a.wav", "out/here/deep/", "out/here/deep/er/",
        "out/here/deep/er/b.wav",
        "out/here/deep/linked.wav",
      ])
  }

  @Test func optionsShapeTheSound() throws {
    func made(_ words: String...) throws -> Sound {
      #expect(
        try folder.temblor(
          ["render", "medium", "-o", "a.wav", "--sample-format", "float", "-q"] + words) == .init(0)
      )
      return try sound("a.wav")
    }
    func peak(_ sound: Sound) -> Float { sound.interleaved.map(abs).max() ?? 0 }
    let plain = try made()
    #expect(try made("--tail", "0.5").frameCount == plain.frameCount + 23_040)
    #expect(try made("--duration", "2").frameCount == 96_000)
    #expect(try made("--loop", "0", "--duration", "2").frameCount == 96_000)
    #expect(try made("--loop", "3").frameCount > plain.frameCount)
    let three = try made("--channels", "3")
    #expect(three.channelCount == 3 && three.frameCount == plain.frameCount)
    #expect(three.interleaved == plain.interleaved.flatMap { [$0, $0, $0] })
    #expect(try made("--rate", "8000").rate == 8_000)
    #expect(abs(try peak(made("--strength", "0.5")) - peak(plain) / 2) < 1e-6)
    #expect(try peak(made("--strength", "0")) == 0)
    // One decibel below full scale.
    #expect(abs(try peak(made("--normalize")) - 0.89) < 0.002)
  }

  @Test func stemsPartHapticsAndAudio() throws {
    #expect(try folder.temblor("render", "light", "--stems", "-o", "a.flac", "-q") == .init(0))
    #expect(folder.fileNames() == ["a.audio.flac", "a.haptic.flac"])
    #expect(try sound("a.audio.flac").interleaved.allSatisfy { $0 == 0 })
    #expect(try sound("a.haptic.flac").interleaved.contains { $0 != 0 })
  }

  @Test func anOldFileIsReplacedAndKeepsItsPermissions() throws {
    try folder.write("old", to: "real.wav")
    try folder.link("a.wav", to: "real.wav")
    _ = try folder.bash("chmod 640 real.wav")
    #expect(try folder.temblor("render", "light", "-o", "a.wav", "-q") == .init(0))
    #expect(folder.fileNames() == ["a.wav", "real.wav"])
    #expect(folder.bytes("real.wav")?.starts(with: "RIFF".utf8) == true)
    #expect(folder.permissions("real.wav") == 0o640)
    #expect(try folder.bash("test -L a.wav") == .init(0))
    #expect(try folder.bash("umask 027; $TEMBLOR render light -q -o new.wav") == .init(0))
    #expect(folder.permissions("new.wav") == 0o640)
  }

  @Test func aFolderInPlaceOfAFileGetsTheFile() throws {
    try folder.makeFolder("a.wav")
    #expect(try folder.temblor("render", "light", "-o", "a.wav", "-q") == .init(0))
    #expect(folder.fileNames() == ["a.wav/", "a.wav/light.wav"])
    try folder.makeFolder("soft.wav")
    #expect(
      try folder.temblor("render", "soft")
        == .init(1, error: "soft.wav: is a folder; specify a file name\n"))
    try folder.write("", to: "plain")
    #expect(
      try folder.temblor("render", "light", "-o", "plain/x.wav")
        == .init(
          64,
          error: """
            temblor: cannot write 'plain/x.wav': 'plain' is not a folder
            See 'temblor render --help'.

            """))
  }

  @Test func whatAPatternIsMadeFromIsNotOverwritten() throws {
    _ = try folder.temblor("render", "light", "-o", "a.wav")
    try folder.write(Patterns.patternWithSound("a.wav"), to: "a.ahap")
    let before = folder.bytes("a.wav")
    #expect(
      try folder.temblor("render", "a.ahap")
        == .init(1, error: "a.wav: is an input file; choose a different '--output'\n"))
    #expect(
      try folder.temblor("render", "a.ahap", "-o", "./a.ahap", "--format", "wav").status == 64)
    #expect(folder.bytes("a.wav") == before)
    #expect(folder.text("a.ahap") == Patterns.patternWithSound("a.wav"))
    #expect(try folder.temblor("render", "a.ahap", "-o", "b.wav", "-q") == .init(0))
  }

  /// A pipe stands for a device here: it would be lost in the same way.
  @Test func aDeviceIsNotReplaced() throws {
    #expect(
      try folder.bash("mkfifo pipe; $TEMBLOR render light -o pipe --format wav; test -p pipe")
        == .init(0, error: "pipe: is a device or a pipe; specify a file\n"))
    #expect(folder.fileNames() == ["pipe"])
  }

  @Test func jsonTellsWhatBecameOfEach() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    let run = try folder.temblor(
      "render", "a.ahap", "nope", "light", "--strength", "0", "--json", "-q")
    // 20 ms of silence are behind the sound.
    let seconds = Double(try sound("light.wav").frameCount - 960) / 48_000
    #expect(run.status == 1)
    #expect(
      run.output == """
        {
          "formatVersion": 1,
          "files": [
            {
              "pattern": "a.ahap",
              "file": "a.wav",
              "error": "a.ahap:2:1: error: \(ExpectedMessage.unclosedObject)"
            },
            {
              "pattern": "light",
              "file": "light.wav",
              "seconds": \(seconds),
              "peakDecibels": -200.0,
              "limitedFrames": 0
            },
            {
              "pattern": "nope",
              "error": "nope: \(ExpectedMessage.unknownPattern)"
            }
          ]
        }

        """)
    #expect(
      run.error == """
        nope: \(ExpectedMessage.unknownPattern)
        a.ahap:2:1: error: \(ExpectedMessage.unclosedObject)
        1 of 3 sounds written, 2 failed

        """)
  }

  @Test func aLogSaysWhatWasLimited() throws {
    let event = """
      {"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 1, "EventParamet\
      ers": [
        {"ParameterID": "HapticIntensity", "ParameterValue": 1},
        {"ParameterID": "HapticSharpness", "ParameterValue": 0.5}]}}
      """
    let text = #"{"Version": 1.0, "Pattern": [\#(event), \#(event), \#(event)]}"#
    for name in ["a", "b", "c", "d", "e"] {
      try folder.write(text, to: "in/\(name).ahap")
    }
    let one = try folder.temblor("render", "in/a.ahap", "-o", "a.wav")
    let limited = ": " + (one.error.split(separator: ", ", maxSplits: 2).last ?? "")
    #expect(
      one.status == 0 && one.error.hasPrefix("a.wav: written, 1.0") && limited.hasPrefix(": peak "))
    #expect(limited.contains(" dBFS before the limiter, limited to -1 dBFS for 1.0"))
    #expect(try folder.temblor("render", "in/a.ahap", "-o", "a.wav", "-q") == .init(0))
    #expect(try folder.temblor("render", "light", "-o", "b.wav", "-q") == .init(0))
    try folder.write(Patterns.tap(), to: "in/f.ahap")
    let many = try folder.temblor("render", "in", "-o", "out")
    let lines = ["a", "b", "c"].map { "out/\($0).wav" + limited }.joined()
    #expect(many == .init(0, error: lines + "2 more sounds were limited\n6 of 6 sounds written\n"))
  }

  /// A profile of a shaker that bears a watt for ever and a hundred for a moment.
  private func shaker(qualityFactor: String = #", "qualityFactor": 10"#) -> String {
    """
    {"name": "shaker", "summary": "A shaker.", "frequency": {"low": 40, "high": 80},
      "hardware": {"product": "Shaker", "resonance": 40\(qualityFactor), "continuousPower": 1,
        "peakPower": 100}}
    """
  }

  @Test func feltIsWhatTheTransducerMakesOfTheDrive() throws {
    try folder.write(shaker(), to: "shaker.json")
    try folder.write(Patterns.tap(), to: "a.ahap")
    let words = [
      "render", "a.ahap", "--profile", "shaker.json", "--sample-format", "float", "--tail", "1",
      "-q",
    ]
    #expect(try folder.temblor(words + ["-o", "drive.wav"]) == .init(0))
    #expect(
      try folder.temblor(words + ["-o", "felt.wav", "--acceleration", "--channels", "2"])
        == .init(0)
    )
    let drive = try sound("drive.wav").interleaved
    let felt = try sound("felt.wav").interleaved
    var transducer = TransducerSimulation(
      TransducerModel(resonanceHertz: 40, qualityFactor: 10), rate: 48_000)
    #expect(
      felt
        == drive.flatMap { sample in
          let moved = transducer.nextAcceleration(drive: sample)
          return [moved, moved]
        })
  }

  /// Three resonances, each followed by a transducer in double precision of the tests' own.
  @Test func accelerationIsThatOfAllResonances() throws {
    let modes =
      #", "qualityFactor": 10, "modes": [{"resonance": 60, "qualityFactor": 8, "gain": 0.6}, "#
      + #"{"resonance": 90, "qualityFactor": 9, "gain": -0.3}]"#
    try folder.write(shaker(qualityFactor: modes), to: "shaker.json")
    try folder.write(Patterns.tap(), to: "a.ahap")
    let words = [
      "render", "a.ahap", "--profile", "shaker.json", "--sample-format", "float", "--tail", "1",
      "-q",
    ]
    #expect(try folder.temblor(words + ["-o", "drive.wav"]) == .init(0))
    #expect(try folder.temblor(words + ["-o", "felt.wav", "--acceleration"]) == .init(0))
    let drive = try sound("drive.wav").interleaved.map(Double.init)
    let felt = try sound("felt.wav").interleaved
    let parts = [(40.0, 10.0, 1.0), (60, 8, 0.6), (90, 9, -0.3)].map { resonance, quality, gain in
      SimulatedTransducer(resonance: resonance, qualityFactor: quality, rate: 48_000).response(
        to: drive
      ).map {
        gain * $0
      }
    }
    let worst = felt.indices.map { frame in
      abs(Double(felt[frame]) - parts.reduce(0) { $0 + $1[frame] })
    }.max()
    #expect((worst ?? 1) < 1e-6)
    #expect((felt.map(abs).max() ?? 0) > 0.1)
  }

  @Test func feltNeedsAResonanceAndAQuality() throws {
    try folder.write(shaker(qualityFactor: ""), to: "shaker.json")
    for (profile, name) in [("phone", "phone"), ("shaker.json", "shaker")] {
      let run = try folder.temblor("render", "light", "--acceleration", "--profile", profile)
      #expect(run.status == 64)
      #expect(
        run.error.hasPrefix(
          """
          temblor: '--acceleration' requires a profile with a resonance and a Q factor; they are \
          missing in '\(name)'\n
          """
        ))
    }
    #expect(folder.fileNames() == ["shaker.json"])
  }

  @Test func jsonTellsWhatWasHeldBack() throws {
    try folder.write(shaker(), to: "shaker.json")
    let run = try folder.temblor(
      "render", "earthquake-splash", "--loop", "20", "--profile", "shaker.json", "--json", "-q")
    let lines = run.output.split(separator: "\n").map { $0.drop { $0 == " " } }
    func value(_ name: String) -> Double? {
      lines.first { $0.hasPrefix("\"\(name)\": ") }.flatMap {
        Double($0.dropFirst(name.count + 4).filter { $0 != "," })
      }
    }
    #expect(try #require(value("powerLimitedFrames")) > 48_000)
    #expect(try #require(value("gainReductionDecibels")) < -3)
    #expect(try #require(value("temperatureRise")) > 0.8)
    #expect(try #require(value("temperatureRise")) < 1)
    #expect(value("excursionLimitedFrames") != nil)
  }
}
