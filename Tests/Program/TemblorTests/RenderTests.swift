import Glibc
import HapticRender
import SoundFile
import TestSupport
import Testing

@Suite struct RenderTests {
  let folder = WorkingFolder()

  private func sound(_ name: String) throws -> Sound { try Sound(reading: folder, name) }

  @Test func messageNamesTheWrittenFile() throws {
    #expect(
      try folder.temblor("render", "light")
        == .init(0, error: "light.wav: written, 0.014 s, peak -21 dBFS\n"))
    #expect(try folder.temblor("render", "light", "-q") == .init(0))
    #expect(folder.fileNames() == ["light.wav"])
    let light = try sound("light.wav")
    #expect(light.rate == 48_000 && light.channelCount == 1)
    #expect((light.interleaved.max() ?? 0) > 0.01)
  }

  @Test(
    "The reason for a silent rendering accounts for the channels and the duration",
    arguments: [
      ("tap.ahap --haptics none", "no channel plays haptics, and the audio is silent"),
      ("tap.ahap --channel 1=audio", "no channel plays haptics, and the audio is silent"),
      ("tap.ahap --channel 1=off", "no channel plays haptics or audio"),
      (
        "tap.ahap --haptics none --duration 1.5",
        "no channel plays haptics, and the audio is silent in the first 1.5 s"
      ),
      (
        "tap.ahap --duration 0.1",
        "all events in the first 0.1 s have level 0 or silent sound files"
      ),
      ("tone.ahap --audio none", "no channel plays audio, and the haptics are silent"),
      ("level0.ahap", "all events have level 0 or silent sound files"),
      (
        "level0.ahap --channel 1=source=left",
        "all events at the selected body locations have level 0 or silent sound files"
      ),
    ])
  func reasonForSilence(arguments: String, reason: String) throws {
    try folder.write(Patterns.tap(at: 1), to: "tap.ahap")
    try folder.write(Patterns.tap().replacing("0.8", with: "0"), to: "level0.ahap")
    try folder.write(
      """
      {"Version": 1.0, "Pattern": [
        {"Event": {"Time": 0, "EventType": "AudioContinuous", "EventDuration": 0.1}}]}
      """, to: "tone.ahap")
    let run = try folder.bash("$TEMBLOR render \(arguments) -o out.wav")
    #expect(run.status == 0)
    #expect(run.error.hasPrefix("out.wav: silent: \(reason)\nout.wav: written,"), "\(run.error)")
  }

  @Test func everyKindOfInputGivesTheSameSound() throws {
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

  @Test func standardOutputReceivesTheBytesOfTheFile() throws {
    #expect(
      try folder.bash(
        """
        for kind in wav flac aiff caf w64 rf64; do
          $TEMBLOR render pulse -q -o file.$kind
          $TEMBLOR render pulse -o - --format $kind | cmp - file.$kind
        done
        """) == .init(0))
  }

  @Test func folderKeepsItsStructureAndLinksToFoldersAreSkipped() throws {
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

  @Test func optionsChangeTheSound() throws {
    func renderedSound(_ options: String...) throws -> Sound {
      #expect(
        try folder.temblor(
          ["render", "medium", "-o", "a.wav", "--sample-format", "float", "-q"] + options)
          == .init(0)
      )
      return try sound("a.wav")
    }
    func peak(_ sound: Sound) -> Float { sound.interleaved.map(abs).max() ?? 0 }
    let defaultSound = try renderedSound()
    #expect(try renderedSound("--tail", "0.5").frameCount == defaultSound.frameCount + 23_040)
    #expect(try renderedSound("--duration", "2").frameCount == 96_000)
    #expect(try renderedSound("--loop", "0", "--duration", "2").frameCount == 96_000)
    #expect(try renderedSound("--loop", "3").frameCount > defaultSound.frameCount)
    let threeChannelSound = try renderedSound("--channels", "3")
    #expect(
      threeChannelSound.channelCount == 3 && threeChannelSound.frameCount == defaultSound.frameCount
    )
    #expect(threeChannelSound.interleaved == defaultSound.interleaved.flatMap { [$0, $0, $0] })
    #expect(try renderedSound("--rate", "8000").rate == 8_000)
    #expect(abs(try peak(renderedSound("--strength", "0.5")) - peak(defaultSound) / 2) < 1e-6)
    #expect(try peak(renderedSound("--strength", "0")) == 0)
    // One decibel below full scale.
    #expect(abs(try peak(renderedSound("--normalize")) - 0.89) < 0.002)
  }

  @Test func stemsSeparateHapticsAndAudio() throws {
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

  @Test func folderAtTheOutputPathReceivesTheFile() throws {
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

  @Test func inputsOfAPatternAreNotOverwritten() throws {
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

  /// A pipe takes the place of a device, which a replacement would destroy in the same way.
  @Test func aDeviceIsNotReplaced() throws {
    #expect(
      try folder.bash("mkfifo pipe; $TEMBLOR render light -o pipe --format wav; test -p pipe")
        == .init(0, error: "pipe: is a device or a pipe; specify a file\n"))
    #expect(folder.fileNames() == ["pipe"])
  }

  @Test func theNameOfStandardOutputHasAHint() throws {
    for line in ["plot light --format svg", "convert light --format haptic"] {
      let run = try folder.bash("set -o pipefail; $TEMBLOR \(line) -o /dev/stdout | cat")
      #expect(run.status == 64)
      #expect(
        run.error.hasPrefix("temblor: '/dev/stdout' is standard output; use '--output -'\n"),
        "\(run.error)")
    }
  }

  @Test func jsonReportsTheResultOfEachPattern() throws {
    try folder.write(Patterns.brokenText, to: "a.ahap")
    let run = try folder.temblor(
      "render", "a.ahap", "nope", "light", "--strength", "0", "--json", "-q")
    // 20 ms of silence follow the sound.
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

  @Test func messageReportsLimiting() throws {
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
    let singleRun = try folder.temblor("render", "in/a.ahap", "-o", "a.wav")
    let limitMessage = ": " + (singleRun.error.split(separator: ", ", maxSplits: 2).last ?? "")
    #expect(
      singleRun.status == 0 && singleRun.error.hasPrefix("a.wav: written, 1.0")
        && limitMessage.hasPrefix(": peak "))
    #expect(limitMessage.contains(" dBFS before the limiter, limited to -1 dBFS for 1.0"))
    #expect(try folder.temblor("render", "in/a.ahap", "-o", "a.wav", "-q") == .init(0))
    #expect(try folder.temblor("render", "light", "-o", "b.wav", "-q") == .init(0))
    try folder.write(Patterns.tap(), to: "in/f.ahap")
    let folderRun = try folder.temblor("render", "in", "-o", "out")
    let lines = ["a", "b", "c"].map { "out/\($0).wav" + limitMessage }.joined()
    #expect(
      folderRun == .init(0, error: lines + "2 more sounds were limited\n6 of 6 sounds written\n"))
  }

  /// Returns a profile of a shaker with a continuous power of 1 W and a peak power of 100 W.
  private func shaker(qualityFactor: String = #", "qualityFactor": 10"#) -> String {
    """
    {"name": "shaker", "summary": "A shaker.", "frequency": {"low": 40, "high": 80},
      "hardware": {"product": "Shaker", "resonance": 40\(qualityFactor), "continuousPower": 1,
        "peakPower": 100}}
    """
  }

  @Test func accelerationIsTheResponseOfTheTransducer() throws {
    try folder.write(shaker(), to: "shaker.json")
    try folder.write(Patterns.tap(), to: "a.ahap")
    let arguments = [
      "render", "a.ahap", "--profile", "shaker.json", "--sample-format", "float", "--tail", "1",
      "-q",
    ]
    #expect(try folder.temblor(arguments + ["-o", "drive.wav"]) == .init(0))
    #expect(
      try folder.temblor(arguments + ["-o", "felt.wav", "--acceleration", "--channels", "2"])
        == .init(0)
    )
    let drive = try sound("drive.wav").interleaved
    let acceleration = try sound("felt.wav").interleaved
    var transducer = TransducerSimulation(
      TransducerModel(resonanceHertz: 40, qualityFactor: 10), rate: 48_000)
    #expect(
      acceleration
        == drive.flatMap { sample in
          let value = transducer.nextAcceleration(drive: sample)
          return [value, value]
        })
  }

  /// The transducer has three resonances, which the test simulates separately in double precision.
  @Test func accelerationIncludesAllResonances() throws {
    let modes =
      #", "qualityFactor": 10, "modes": [{"resonance": 60, "qualityFactor": 8, "gain": 0.6}, "#
      + #"{"resonance": 90, "qualityFactor": 9, "gain": -0.3}]"#
    try folder.write(shaker(qualityFactor: modes), to: "shaker.json")
    try folder.write(Patterns.tap(), to: "a.ahap")
    let arguments = [
      "render", "a.ahap", "--profile", "shaker.json", "--sample-format", "float", "--tail", "1",
      "-q",
    ]
    #expect(try folder.temblor(arguments + ["-o", "drive.wav"]) == .init(0))
    #expect(try folder.temblor(arguments + ["-o", "felt.wav", "--acceleration"]) == .init(0))
    let drive = try sound("drive.wav").interleaved.map(Double.init)
    let acceleration = try sound("felt.wav").interleaved
    let modeResponses = [(40.0, 10.0, 1.0), (60, 8, 0.6), (90, 9, -0.3)].map {
      resonance, quality, gain in
      SimulatedTransducer(resonance: resonance, qualityFactor: quality, rate: 48_000).response(
        to: drive
      ).map {
        gain * $0
      }
    }
    let maximumError = acceleration.indices.map { frame in
      abs(Double(acceleration[frame]) - modeResponses.reduce(0) { $0 + $1[frame] })
    }.max()
    #expect((maximumError ?? 1) < 1e-6)
    #expect((acceleration.map(abs).max() ?? 0) > 0.1)
  }

  @Test func accelerationRequiresAResonanceAndAQFactor() throws {
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

  @Test func jsonReportsTheProtection() throws {
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
