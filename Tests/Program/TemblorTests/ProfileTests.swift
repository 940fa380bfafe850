import TestSupport
import Testing

/// `temblor profiles` and its commands, with folders of profiles in a working folder.
@Suite struct ProfileTests {
  let testFolder = WorkingFolder()

  private static let puckProfile =
    #"{"name": "puck", "summary": "Mine.", "frequency": {"low": 25, "high": 80}}"# + "\n"
  private static let folder = "home/.config/temblor/profiles"

  /// Runs the program with its folders below the working folder, whose path is `@` in the output.
  private func temblor(_ arguments: String..., variables: String = "") throws
    -> WorkingFolder.Result
  {
    let line = "HOME=$PWD/home XDG_CONFIG_DIRS=$PWD/etc \(variables) $TEMBLOR "
    var run = try testFolder.bash(line + arguments.map { "'\($0)'" }.joined(separator: " "))
    run.output = run.output.replacing(testFolder.path, with: "@")
    run.error = run.error.replacing(testFolder.path, with: "@")
    return run
  }

  @Test func listShowsOriginsAndContinuesAfterAnInvalidProfile() throws {
    try testFolder.write(Self.puckProfile, to: "\(Self.folder)/puck.json")
    try testFolder.write("{", to: "\(Self.folder)/phone.json")
    try testFolder.write(Self.puckProfile, to: "etc/temblor/profiles/puck.json")
    try testFolder.write(Self.puckProfile, to: "etc/temblor/profiles/Puck 2.json")
    let run = try temblor("profiles")
    #expect(run.status == 2)
    #expect(
      run.error == """
        @/home/.config/temblor/profiles/phone.json:1:2: error: \(ExpectedMessage.unclosedObject)
        @/etc/temblor/profiles/Puck 2.json: ignored: not a valid profile name; use up to 40 \
        characters: a–z, 0–9, and -, followed by .json

        """)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 28)
    #expect(
      lines[..<3] == [
        "phone                     –           yours, replaces shipped  invalid",
        "puck                      25–80 Hz    yours, replaces system   Mine.",
        "speaker                   200–600 Hz  shipped                  "
          + """
          For a laptop and other small speakers: higher frequencies, longer taps, and harmonics \
          that make low events audible.
          """,
      ])
    // The hardware reproduces less than the frequencies of the mapping, 20–80 Hz.
    let shaker = try #require(lines.first { $0.hasPrefix("dayton-bst-1 ") })
    #expect(shaker.contains("  20–59.9 Hz  "))
    let names = try temblor("profiles", "--names")
    #expect(names.output.hasPrefix("phone\npuck\nspeaker\nactronika-hfba121238\n"))
    #expect(names.status == 0 && names.error == "")
    let json = try temblor("profiles", "--json")
    #expect(json.status == 2)
    #expect(
      json.output.hasPrefix(
        #"""
        {
          "formatVersion": 1,
          "profiles": [
            {
              "name": "phone",
              "origin": "user",
              "path": "@/home/.config/temblor/profiles/phone.json",
              "shadows": ["shipped"],
              "error": "@/home/.config/temblor/profiles/phone.json:1:2: error: the text ends inside the object that starts at 1:1"
            },
            {
              "name": "puck",
              "origin": "user",
              "path": "@/home/.config/temblor/profiles/puck.json",
              "shadows": ["system"],
              "summary": "Mine.",
              "low": 25.0,
              "high": 80.0
            },
        """#))
  }

  @Test func aProfileIsFoundByItsNameInAnyOption() throws {
    try testFolder.write(Self.puckProfile, to: "\(Self.folder)/puck.json")
    let info = try temblor("info", "light", "--profile", "puck")
    #expect(info.status == 0 && info.output.contains("  profile    puck: "))
    func samples(_ options: String...) throws -> [UInt8] {
      #expect(
        try temblor("render", "light", "-o", "a.wav", "--quiet", options[0], options[1]) == .init(0)
      )
      let bytes = try #require(testFolder.bytes("a.wav"))
      // A header before the samples names the profile.
      let start = try #require(bytes.firstRange(of: Array("data".utf8)))
      return Array(bytes[start.upperBound...])
    }
    let expected = try samples("--profile", "puck")
    #expect(try samples("--channel", "1=haptics,profile=puck") == expected)
    #expect(try samples("--profile", "phone") != expected)
    #expect(
      try temblor("info", "light", "--profile", "puk")
        == .init(
          64,
          error: "temblor: unknown profile 'puk'; did you mean 'puck'?\n"
            + "See 'temblor info --help'.\n"))
  }

  @Test func invalidProfileMattersOnlyIfItIsUsed() throws {
    try testFolder.write(#"{"level": 3}"#, to: "\(Self.folder)/phone.json")
    #expect(try temblor("render", "light", "-o", "a.wav", "--quiet") == .init(0))
    #expect(
      try temblor("render", "light", "-o", "a.wav", "--quiet", "--profile", "speaker") == .init(0))
    #expect(
      try temblor("info", "light", "--profile", "phone")
        == .init(
          2,
          error: "temblor: @/home/.config/temblor/profiles/phone.json:1:1: error: "
            + "missing key \"name\" (and 3 more; run 'temblor profiles check')\n"))
  }

  @Test func relativeFoldersAreIgnored() throws {
    try testFolder.write(Self.puckProfile, to: "config/temblor/profiles/puck.json")
    #expect(
      try temblor("profiles", "show", "puck", variables: "XDG_CONFIG_HOME=config").status == 64)
    #expect(
      try temblor("profiles", "show", "puck", variables: "XDG_CONFIG_HOME=$PWD/config").status == 0)
    #expect(
      try temblor("profiles", "show", "puck", variables: "XDG_CONFIG_DIRS=$PWD/no:$PWD/config")
        .status == 0)
  }

  @Test func showDescribesTheProfile() throws {
    try testFolder.write(
      """
      {
        "name": "puck", "summary": "Mine.", "frequency": { "low": 25, "high": 80 },
        "hardware": { "product": "A B", "band": { "low": 20, "high": 90 }, "qualityFactor": 3.5,
          "continuousPower": 25, "estimated": ["qualityFactor"] },
        "sources": ["A sheet."]
      }

      """, to: "\(Self.folder)/puck.json")
    let run = try temblor("profiles", "show", "puck")
    #expect(
      run
        == .init(
          0,
          output: """
            puck: Mine.

            RENDERING
              origin              @/home/.config/temblor/profiles/puck.json
              frequency           25–80 Hz, logarithmic
              intensity           amplitude = intensity
              level               0.44 (-7.1 dBFS) per continuous event at full intensity
              waveform            a sine
              transients          2 cycles within 8–40 ms
              transient level     0.44 (-7.1 dBFS)
              transient waveform  a sine

            BY SHARPNESS
              sharpness  frequency      level    burst   length
              0              25 Hz  -7.4 dBFS    25 Hz    40 ms
              0.2          31.5 Hz  -7.2 dBFS  31.5 Hz    40 ms
              0.4          39.8 Hz  -7.2 dBFS  39.8 Hz    40 ms
              0.6          50.2 Hz  -7.1 dBFS  50.2 Hz  39.8 ms
              0.8          63.4 Hz  -7.1 dBFS  63.4 Hz  31.5 ms
              1              80 Hz  -7.1 dBFS    80 Hz    25 ms

            ADAPTATION TO THE HARDWARE
              high-pass    12.5 Hz
              resonance    not equalized: resonance or Q factor unknown
              levels       constant drive
              excursion    not limited, because the resonance or the Q factor is unknown
              power        full scale delivers 50 W (assumed; set amplifier.power), limited
                           to 25 W continuous
              temperature  time constants: coil 10 s, magnet 900 s; coil fraction 60 %
                           (estimated)

            HARDWARE
              product   A B
              band      20–90 Hz
              Q factor  3.5 (estimated)
              power     25 W

            SOURCES
              A sheet.

            """))
    #expect(
      try temblor("profiles", "show", "puck", "--json").output
        == testFolder.text("\(Self.folder)/puck.json"))
  }

  @Test func showDescribesTheAdaptationToKnownHardware() throws {
    try testFolder.write(Patterns.ringProfile, to: "ring.json")
    let run = try temblor("profiles", "show", "./ring.json")
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines[3] == "  frequency           25–80 Hz, logarithmic; 25–46.1 Hz played")
    #expect(
      lines[7] == "  transients          2 cycles within 8–40 ms, 30–60 Hz; 30–50.8 Hz played")
    #expect(
      Array(lines[10...])
        == """
        BY SHARPNESS
          sharpness  frequency       level  response    burst   length
          0              25 Hz     -7 dBFS    0.45 g    30 Hz    40 ms
          0.2          28.3 Hz   -8.7 dBFS    0.58 g  33.3 Hz    40 ms
          0.4          31.9 Hz    -12 dBFS    0.69 g    37 Hz    40 ms
          0.6          36.1 Hz  -18.4 dBFS    0.76 g  41.1 Hz    40 ms
          0.8          40.8 Hz  -25.8 dBFS    0.79 g  45.7 Hz    40 ms
          1            46.1 Hz  -17.4 dBFS    0.83 g  50.8 Hz  39.4 ms
        ADAPTATION TO THE HARDWARE
          high-pass    12.5 Hz
          resonance    from 40 Hz, Q 10 to 28.3 Hz, Q 2; gain 0.819 far above resonance
          levels       equal sensation at every sharpness, attenuated by up to 6 dB
          excursion    limited to 0.06 × the excursion of a full-scale sine at resonance
                       (from hardware.excursion)
          power        full scale delivers 40 W, limited to 10 W continuous
          temperature  time constants: coil 4 s, magnet 300 s; coil fraction 60 %
        HARDWARE
          product       A B
          resonance     40 Hz
          Q factor      10
          power         10 W
          acceleration  8 g (estimated)
          excursion     0.14 mm
          thermal       time constants: coil 4 s, magnet 300 s; coil fraction 60 %
          uncertainty   resonance ±0 %, Q factor within a factor of 1
          measured      1 May, by velocity, residual -31.5 dB
        SOURCES
          A sheet.
        """.split(separator: "\n").map(String.init))
  }

  @Test func checkReportsEveryError() throws {
    try testFolder.write(Self.puckProfile, to: "other.json")
    try testFolder.write(#"{"name": "bad", "levle": 1, "level": 2}"#, to: "bad.json")
    #expect(
      try temblor("profiles", "check", "other.json", "bad.json", "mpeg", "none.json")
        == .init(
          1,
          output: """
            other.json:1:10: warning: the name "puck" does not match the file name "other.json" \
            (name); use the same name, because profiles are found by file name [file-name]
            bad.json:1:1: error: missing key "summary" [missing-key]
            bad.json:1:1: error: missing key "frequency" [missing-key]
            bad.json:1:17: error: unknown key "levle" (levle); did you mean "level"? [unknown-key]
            bad.json:1:38: error: level is 2, outside 0.001 to 0.89 (level) [out-of-range]
            mpeg:5:12: warning: two continuous events at full intensity can reach 1.228, above the \
            ceiling of 0.891; the limiter will be active (level); use a level of at most 0.44 \
            [insufficient-headroom]
            mpeg:9:14: warning: two transients at full intensity can reach 1.584, above the \
            ceiling of 0.891; the limiter will be active (transient.level); use a level of at most \
            0.44 [insufficient-headroom]

            """, error: "none.json: cannot be opened: No such file or directory\n"))
    #expect(try temblor("profiles", "check", "bad.json").status == 2)
    #expect(try temblor("profiles", "check", "other.json").status == 0)
    let json = try temblor("profiles", "check", "--json", "bad.json")
    #expect(
      json.output.hasSuffix(
        """
              "line": 1,
              "column": 38,
              "severity": "error",
              "rule": "out-of-range",
              "path": "level",
              "message": "level is 2, outside 0.001 to 0.89"
            }
          ]
        }

        """))
  }

  @Test func newWritesAProfileThatIsFound() throws {
    #expect(
      try temblor("profiles", "new", "puck", "--low", "25", "--high", "60")
        == .init(
          0,
          output: """
            @/home/.config/temblor/profiles/puck.json: written
            To check the profile, run: temblor profiles check puck
            To play with the profile, run: temblor play heartbeat --profile puck

            """))
    #expect(
      testFolder.text("\(Self.folder)/puck.json") == """
        {
          "name": "puck",
          "summary": "A custom transducer.",
          "frequency": { "low": 25, "high": 60, "scale": "logarithmic" }
        }

        """)
    #expect(try temblor("profiles", "check", "puck") == .init(0))
    #expect(
      try temblor("profiles", "new", "puck")
        == .init(
          1,
          error:
            """
            temblor: @/home/.config/temblor/profiles/puck.json: already exists; use '--force' \
            to replace it\n
            """
        )
    )
    #expect(try temblor("profiles", "new", "puck", "--low", "30", "--force").status == 0)
    #expect(
      testFolder.text("\(Self.folder)/puck.json")?.contains(#""low": 30, "high": 80"#) == true)
  }

  @Test func newCopiesAProfileWithItsHardwareAndSchema() throws {
    try testFolder.write(
      Self.puckProfile.replacing(
        "{\"name", with: #"{"$schema": "./s.json", "hardware": {"product": "A B"}, "name"#),
      to: "a.json")
    #expect(
      try temblor("profiles", "new", "phone", "--from", "./a.json", "--high", "90")
        == .init(
          0,
          output: """
            @/home/.config/temblor/profiles/phone.json: written
            This profile replaces the shipped profile phone.
            To check the profile, run: temblor profiles check phone
            To play with the profile, run: temblor play heartbeat --profile phone

            """))
    #expect(
      testFolder.text("\(Self.folder)/phone.json") == """
        {
          "$schema": "./s.json",
          "name": "phone",
          "summary": "Mine.",
          "frequency": { "low": 25, "high": 90, "scale": "logarithmic" },
          "hardware": {
            "product": "A B"
          }
        }

        """)
    #expect(
      try temblor("profiles", "new", "b", "-o", "b.json")
        == .init(
          0,
          output: """
            b.json: written
            To check the profile, run: temblor profiles check b.json
            To play with the profile, run: temblor play heartbeat --profile b.json

            """))
    #expect(try temblor("profiles", "new", "b", "-o", "-").output == testFolder.text("b.json"))
  }

  @Test(arguments: [
    (
      ["new", "My Own"],
      "'My Own' is not a valid profile name; use up to 40 characters: a–z, 0–9, and -", " new"
    ),
    (
      ["new", "a", "--low", "90"], "'--low' (90 Hz) must be below '--high' (80 Hz)",
      " new"
    ),
    (
      ["new", "a", "--low", "0"],
      "invalid value '0' for '--low': expected a number from 0.1 to 20000", " new"
    ),
    (["new", "a", "--from", "phon"], "unknown profile 'phon'; did you mean 'phone'?", " new"),
    (["new"], "missing NAME", " new"), (["check"], "missing PROFILE", " check"),
    (["shwo"], "unknown command 'shwo' after 'profiles'; did you mean 'show'?", ""),
    (
      ["phone"], "unknown command 'phone' after 'profiles'; expected show, check, new, or schema",
      ""
    ),
    (["--json", "show"], "unexpected argument 'show'", ""),
  ]) func invalidCommandLinesAreRefusedWithOneReason(
    arguments: [String], reason: String, verb: String
  ) throws {
    #expect(
      try testFolder.temblor(["profiles"] + arguments)
        == .init(64, error: "temblor: \(reason)\nSee 'temblor profiles\(verb) --help'.\n"))
    #expect(testFolder.fileNames() == [])
  }

  @Test func withoutAHomeNoProfileIsWritten() throws {
    let run = try testFolder.temblor("profiles", "new", "a")
    #expect(
      run
        == .init(
          64,
          error:
            """
            temblor: no folder for user profiles, because HOME is not set; use '--output FILE'
            See 'temblor profiles new --help'.

            """
        ))
  }

  @Test(arguments: ["show", "check", "new", "schema"]) func everyVerbHasHelp(verb: String) throws {
    let help = try testFolder.temblor("help", "profiles", verb)
    #expect(help.status == 0 && help.error == "")
    #expect(help.output.contains("USAGE\n  temblor profiles \(verb) [OPTIONS]"))
    #expect(try testFolder.temblor("profiles", verb, "--help") == help)
    #expect(
      try testFolder.temblor("man").output.contains(".SS \"temblor profiles \(verb) [OPTIONS]"))
  }

  @Test func theSchemaIsPrinted() throws {
    let run = try testFolder.temblor("profiles", "schema")
    #expect(run.status == 0)
    #expect(
      run.output.hasPrefix("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"))
  }

  @Test func bashOffersProfilesOfAllFolders() throws {
    try testFolder.write(Self.puckProfile, to: "\(Self.folder)/puck.json")
    let run = try testFolder.bash(
      """
      export HOME=$PWD/home PATH=$PATH:$PWD
      ln -s $TEMBLOR temblor
      source <(temblor completion bash)
      compopt() { :; }
      COMP_LINE='temblor info --profile pu' COMP_WORDS=(temblor info --profile pu) COMP_CWORD=3
      _temblor
      echo "${COMPREPLY[*]}"
      COMP_LINE='temblor profiles show puc' COMP_WORDS=(temblor profiles show puc) COMP_CW\
      ORD=3 COMPREPLY=()
      _temblor
      echo "${COMPREPLY[*]}"
      """)
    #expect(run == .init(0, output: "puck pulsar\npuck\n"))
  }
}
