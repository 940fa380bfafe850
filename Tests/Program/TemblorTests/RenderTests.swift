import Glibc
import HapticRender
import SoundFile
import TestSupport
import Testing

@Suite struct RenderTests {
  let place = Workplace()

  private func sound(_ name: String) throws -> Sound { try Sound(reading: place, name) }

  @Test func aLogSaysWhatWasWritten() throws {
    #expect(
      try place.temblor("render", "light")
        == .init(0, error: "light.wav: written, 0.014 s, peak -21 dBFS\n"))
    #expect(try place.temblor("render", "light", "-q") == .init(0))
    #expect(place.names() == ["light.wav"])
    let light = try sound("light.wav")
    #expect(light.rate == 48_000 && light.channelCount == 1)
    #expect((light.interleaved.max() ?? 0) > 0.01)
  }

  @Test func fileFolderStandardInputAndNameGiveOneSound() throws {
    let text = try place.temblor("patterns", "light").output
    try place.write(text, to: "in/light.ahap")
    #expect(try place.temblor("render", "in/light.ahap", "-q") == .init(0))
    #expect(try place.temblor("render", "in", "-o", "out", "-q") == .init(0))
    #expect(try place.temblor("render", "light", "-o", "named.wav", "-q") == .init(0))
    #expect(try place.temblor("render", "-", "-q", input: text) == .init(0))
    let file = place.bytes("light.wav")
    #expect(file?.count ?? 0 > 1_000)
    #expect(place.bytes("out/light.wav") == file)
    #expect(place.bytes("named.wav") == file)
    #expect(try sound("pattern.wav") == sound("light.wav"))
  }

  @Test func standardOutputGetsTheBytesOfTheFile() throws {
    #expect(
      try place.bash(
        """
        for kind in wav flac aiff caf w64 rf64; do
          $TEMBLOR render pulse -q -o file.$kind
          $TEMBLOR render pulse -o - --format $kind | cmp - file.$kind
        done
        """) == .init(0))
  }

  @Test func aFolderKeepsItsStructureAndPassesLinksToFoldersBy() throws {
    try place.write(Patterns.tap(), to: "in/a.ahap")
    try place.write(Patterns.tap(), to: "in/deep/er/b.AHAP")
    try place.write("no pattern", to: "in/notes.txt")
    try place.write(Patterns.tap(), to: "in/.hidden.ahap")
    try place.link("in/round", to: ".")
    try place.link("in/deep/linked.ahap", to: "../a.ahap")
    try place.makeFolder("out")
    #expect(try place.temblor("render", "in", "-o", "out/here", "-q") == .init(0))
    #expect(
      place.names(below: "out") == [
        "out/here/", "out/here/a.wav", "out/here/deep/", "out/here/deep/er/",
        "out/here/deep/er/b.wav",
        "out/here/deep/linked.wav",
      ])
  }

  @Test func optionsShapeTheSound() throws {
    func made(_ words: String...) throws -> Sound {
      #expect(
        try place.temblor(
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
    #expect(try place.temblor("render", "light", "--stems", "-o", "a.flac", "-q") == .init(0))
    #expect(place.names() == ["a.audio.flac", "a.haptic.flac"])
    #expect(try sound("a.audio.flac").interleaved.allSatisfy { $0 == 0 })
    #expect(try sound("a.haptic.flac").interleaved.contains { $0 != 0 })
  }

  @Test func anOldFileIsReplacedAndKeepsItsPermissions() throws {
    try place.write("old", to: "real.wav")
    try place.link("a.wav", to: "real.wav")
    _ = try place.bash("chmod 640 real.wav")
    #expect(try place.temblor("render", "light", "-o", "a.wav", "-q") == .init(0))
    #expect(place.names() == ["a.wav", "real.wav"])
    #expect(place.bytes("real.wav")?.starts(with: "RIFF".utf8) == true)
    #expect(place.mode("real.wav") == 0o640)
    #expect(try place.bash("test -L a.wav") == .init(0))
    #expect(try place.bash("umask 027; $TEMBLOR render light -q -o new.wav") == .init(0))
    #expect(place.mode("new.wav") == 0o640)
  }

  @Test func aFolderInPlaceOfAFileGetsTheFile() throws {
    try place.makeFolder("a.wav")
    #expect(try place.temblor("render", "light", "-o", "a.wav", "-q") == .init(0))
    #expect(place.names() == ["a.wav/", "a.wav/light.wav"])
    try place.makeFolder("soft.wav")
    #expect(
      try place.temblor("render", "soft")
        == .init(1, error: "soft.wav: is a folder; specify a file name\n"))
    try place.write("", to: "plain")
    #expect(
      try place.temblor("render", "light", "-o", "plain/x.wav")
        == .init(
          64,
          error: """
            temblor: cannot write 'plain/x.wav': 'plain' is not a folder
            See 'temblor render --help'.

            """))
  }

  @Test func whatAPatternIsMadeFromIsNotOverwritten() throws {
    _ = try place.temblor("render", "light", "-o", "a.wav")
    try place.write(Patterns.playing("a.wav"), to: "a.ahap")
    let before = place.bytes("a.wav")
    #expect(
      try place.temblor("render", "a.ahap")
        == .init(1, error: "a.wav: is an input file; choose a different '--output'\n"))
    #expect(
      try place.temblor("render", "a.ahap", "-o", "./a.ahap", "--format", "wav").status == 64)
    #expect(place.bytes("a.wav") == before)
    #expect(place.text("a.ahap") == Patterns.playing("a.wav"))
    #expect(try place.temblor("render", "a.ahap", "-o", "b.wav", "-q") == .init(0))
  }

  /// A pipe stands for a device here: it would be lost in the same way.
  @Test func aDeviceIsNotReplaced() throws {
    #expect(
      try place.bash("mkfifo pipe; $TEMBLOR render light -o pipe --format wav; test -p pipe")
        == .init(0, error: "pipe: is a device or a pipe; specify a file\n"))
    #expect(place.names() == ["pipe"])
  }

  @Test func jsonTellsWhatBecameOfEach() throws {
    try place.write(Patterns.broken, to: "a.ahap")
    let run = try place.temblor(
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
              "error": "a.ahap:2:1: error: \(Sentence.unclosedObject)"
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
              "error": "nope: \(Sentence.unknownPattern)"
            }
          ]
        }

        """)
    #expect(
      run.error == """
        nope: \(Sentence.unknownPattern)
        a.ahap:2:1: error: \(Sentence.unclosedObject)
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
      try place.write(text, to: "in/\(name).ahap")
    }
    let one = try place.temblor("render", "in/a.ahap", "-o", "a.wav")
    let limited = ": " + (one.error.split(separator: ", ", maxSplits: 2).last ?? "")
    #expect(
      one.status == 0 && one.error.hasPrefix("a.wav: written, 1.0") && limited.hasPrefix(": peak "))
    #expect(limited.contains(" dBFS before the limiter, limited to -1 dBFS for 1.0"))
    #expect(try place.temblor("render", "in/a.ahap", "-o", "a.wav", "-q") == .init(0))
    #expect(try place.temblor("render", "light", "-o", "b.wav", "-q") == .init(0))
    try place.write(Patterns.tap(), to: "in/f.ahap")
    let many = try place.temblor("render", "in", "-o", "out")
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
    try place.write(shaker(), to: "shaker.json")
    try place.write(Patterns.tap(), to: "a.ahap")
    let words = [
      "render", "a.ahap", "--profile", "shaker.json", "--sample-format", "float", "--tail", "1",
      "-q",
    ]
    #expect(try place.temblor(words + ["-o", "drive.wav"]) == .init(0))
    #expect(
      try place.temblor(words + ["-o", "felt.wav", "--acceleration", "--channels", "2"]) == .init(0)
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
    try place.write(shaker(qualityFactor: modes), to: "shaker.json")
    try place.write(Patterns.tap(), to: "a.ahap")
    let words = [
      "render", "a.ahap", "--profile", "shaker.json", "--sample-format", "float", "--tail", "1",
      "-q",
    ]
    #expect(try place.temblor(words + ["-o", "drive.wav"]) == .init(0))
    #expect(try place.temblor(words + ["-o", "felt.wav", "--acceleration"]) == .init(0))
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
    try place.write(shaker(qualityFactor: ""), to: "shaker.json")
    for (profile, name) in [("phone", "phone"), ("shaker.json", "shaker")] {
      let run = try place.temblor("render", "light", "--acceleration", "--profile", profile)
      #expect(run.status == 64)
      #expect(
        run.error.hasPrefix(
          """
          temblor: '--acceleration' requires a profile with a resonance and a Q factor; they are \
          missing in '\(name)'\n
          """
        ))
    }
    #expect(place.names() == ["shaker.json"])
  }

  @Test func jsonTellsWhatWasHeldBack() throws {
    try place.write(shaker(), to: "shaker.json")
    let run = try place.temblor(
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
