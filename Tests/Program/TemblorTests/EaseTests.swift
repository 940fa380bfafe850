import Testing

/// Likely first attempts are accepted, or a message names the correct input.
@Suite struct EaseTests {
  let folder = WorkingFolder()

  @Test(arguments: [
    ("diff a b", "unknown command 'diff'; use 'temblor compare'"),
    ("version", "unknown command 'version'; use 'temblor --version'"),
    ("-v", "unknown option '-v'; use '--version'"),
    ("config", "unknown command 'config'; use 'temblor setup'"),
    (
      "help record",
      "unknown command 'record'; use 'temblor play --record FILE' or 'temblor render'"
    ),
    (
      "serve",
      """
      unknown command 'serve'; use 'temblor studio --serve' for a page, or 'temblor listen' for \
      commands
      """
    ),
    ("play light --gain -6dB", "unknown option '--gain'; use '--strength', a factor from 0 to 1"),
    ("check light --gain -6dB", "unknown option '--gain'"),
    (
      "convert light --to lofelt",
      "unknown option '--to'; use '--format', or the extension of '--output'"
    ),
    ("convert a.he --from he", "unknown option '--from'; use '--input-format', such as ahap"),
    ("plot light --to 1", "unknown option '--to'; use '--end', a time in seconds"),
    ("sweep --from 30", "unknown option '--from'; use '--low', a frequency in hertz"),
  ]) func namesFromOtherProgramsHaveHints(line: String, message: String) throws {
    let run = try folder.bash("$TEMBLOR \(line)")
    #expect(run.status == 64)
    #expect(run.error.hasPrefix("temblor: \(message)\n"), "\(run.error)")
  }

  @Test(arguments: [
    ("laptop", "did you mean 'speaker'?"), ("headphones", "did you mean 'phone'?"),
    ("bst", "did you mean 'dayton-bst-1' or 'dayton-bst-300ex'?"),
    ("phon", "did you mean 'phone'?"),
  ]) func partsOfProfileNamesHaveSuggestions(word: String, hint: String) throws {
    let run = try folder.temblor("play", "light", "--profile", word)
    #expect(
      run
        == .init(
          64,
          error: "temblor: unknown profile '\(word)'; \(hint)\nSee 'temblor play --help'.\n"))
  }

  @Test(
    "Words of a profile's name or product are accepted by every verb that takes a profile",
    arguments: ["BST-1", "bst1", "Dayton BST-1"])
  func partsOfAProfileNameAreAccepted(name: String) throws {
    let fullName = "dayton-bst-1"
    for line in ["info light --csv --profile", "check light --json --profile", "profiles show"] {
      let arguments = line.split(separator: " ").map(String.init)
      let expected = try folder.temblor(arguments + [fullName])
      #expect(expected.status == 0)
      #expect(try folder.temblor(arguments + [name]) == expected, "\(line)")
    }
    #expect(try folder.temblor("play", "light", "-d", "null", "--profile", name).status == 0)
    #expect(
      try folder.temblor("play", "light", "-d", "null", "--channel", "1=haptics,profile=\(name)")
        .status == 0)
    let settings = try folder.bash(
      "XDG_CONFIG_HOME=$PWD $TEMBLOR setup --profile '\(name)' --save")
    #expect(settings.status == 0)
    let saved = try #require(folder.text("temblor/config.json"))
    #expect(saved.contains(#""profile": "\#(fullName)""#))
  }

  @Test("An unknown pattern name is the same failure for every verb")
  func unknownPatternsFailAlike() throws {
    for verb in ["patterns", "play", "info", "render", "check"] {
      let run = try folder.temblor(verb, "hearbeat")
      #expect(run.status == 1, "\(verb)")
      #expect(
        run.error.contains("no shipped pattern has this name; did you mean 'heartbeat'?\n"),
        "\(verb)")
    }
  }

  /// The shipped taps, in the order of their intensity, have increasing momentary loudness, and no
  /// tap reaches the limiter.
  @Test func speakerIsLoudEnoughForALaptopAndKeepsTheOrder() throws {
    let taps = ["selection", "light", "soft", "medium", "rigid", "heavy"]
    #expect(
      try folder.temblor(["render"] + taps + ["--profile", "speaker", "--tail", "1", "-o", "a/"])
        .status == 0)
    let loudness = try taps.map { tap in
      let json = try folder.temblor("info", "a/\(tap).wav", "--json").output
      let match = try #require(json.firstMatch(of: /"loudness": (-?[0-9.]+)/))
      return try #require(Double(match.1))
    }
    #expect(loudness == loudness.sorted())
    #expect(loudness[1] > -28 && loudness[1] < -27)
    let patterns = try folder.temblor("patterns", "--names").output.split(separator: "\n").map(
      String.init)
    let limiterReport = try folder.temblor(["info", "--profile", "speaker", "--json"] + patterns)
      .output
    #expect(limiterReport.matches(of: /"limitedFrames": 0,/).count == patterns.count)
  }

  @Test func valuesCanHaveUnits() throws {
    let plainArguments = [
      "render", "light", "--rate", "44100", "--duration", "2", "--strength", "0.8", "-q",
    ]
    let argumentsWithUnits = [
      "render", "light", "--rate", "44.1kHz", "--duration", "2s", "--strength", "80%", "-q",
    ]
    #expect(try folder.temblor(plainArguments + ["-o", "a.wav"]) == .init(0))
    #expect(try folder.temblor(argumentsWithUnits + ["-o", "b.wav"]) == .init(0))
    #expect(folder.bytes("a.wav") == folder.bytes("b.wav"))
    #expect(try folder.temblor("render", "light", "--rate", "44.1k", "-q").status == 0)
    #expect(
      try folder.temblor("render", "light", "--duration", "2000ms", "-o", "c.wav").status == 0)
    #expect(try folder.temblor("tap", "50%", "0.5", "--device", "null").status == 0)
    for value in ["2kg", "s", "80 %%", "1.5kHz5"] {
      #expect(try folder.temblor("render", "light", "--duration", value).status == 64)
    }
    #expect(try folder.temblor("render", "light", "--rate", "44.1001234kHz").status == 64)
  }

  @Test func shortHelpIsASummary() throws {
    let shortHelp = try folder.temblor("play", "-h").output
    let longHelp = try folder.temblor("play", "--help").output
    #expect(2 * longHelp.split(separator: "\n").count > 3 * shortHelp.split(separator: "\n").count)
    #expect(shortHelp.contains("--loop") && !shortHelp.contains("--period-size"))
    #expect(
      shortHelp.split(whereSeparator: \.isWhitespace).joined(separator: " ").hasSuffix(
        """
        Run 'temblor play --help' for the complete help and the options for sound, channels, device.
        """))
    #expect(try folder.temblor("help", "play").output == longHelp)
    #expect(try folder.temblor("--help", "play").output == longHelp)
    #expect(
      try folder.temblor("help", "nothere")
        == .init(64, error: "temblor: unknown command 'nothere'\nSee 'temblor --help'.\n"))
  }

  @Test func namesAreCompleted() throws {
    let names = try folder.temblor("patterns", "--names").output.split(separator: "\n")
    #expect(names.contains("heartbeat") && names.count > 30)
    let devices = try folder.bash("$TEMBLOR devices --names 2> /dev/null").output
    #expect(devices.hasPrefix("default\n") && devices.contains("\nnull\n"))
    let script = """
      temblor() { "$TEMBLOR" "$@"; }
      eval "$(temblor completion bash)"
      compopt() { :; }
      offer() { COMP_LINE="$*"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _temblor;\
       echo "${COMPREPLY[*]}"; }
      offer temblor render heartb; offer temblor compare light heartb; offer temblor play -d nul
      """
    let run = try folder.bash(script + " 2> /dev/null")
    #expect(run.output == "heartbeat\nheartbeat\nnull null:\n")
    for shell in ["zsh", "fish"] {
      let text = try folder.temblor("completion", shell).output
      #expect(text.contains("patterns --names") && text.contains("devices --names"))
    }
  }

  @Test func objectsInJSONHaveAVersion() throws {
    for line in [
      "play light --device null", "tap 1 0.5 --device null", "latency --count 1 --device null",
      "audition light medium --device null", "patterns", "profiles", "profiles check phone",
      "formats",
      "formats ahap haptic", "devices", "check light", "check --list-rules", "info light",
      "render light",
      "convert light --format haptic",
    ] {
      let run = try folder.bash("$TEMBLOR \(line) --json")
      #expect(run.output.hasPrefix("{\n  \"formatVersion\": 1,\n"), "\(line): \(run.output)")
    }
  }

  /// Every command prints the same duration for a tap.
  @Test func durationOfATapIsThatOfItsSound() throws {
    #expect(
      try folder.temblor("patterns").output.contains(
        "\nlight                     0.014 s  One light, clear tap"))
    #expect(try folder.temblor("info", "light").output.contains("\n  length     0.014 s\n"))
    #expect(try folder.temblor("info", "heartbeat").output.contains("\n  length     0.601 s\n"))
    #expect(
      try folder.temblor("render", "light").error == "light.wav: written, 0.014 s, peak -21 dBFS\n")
    let seconds = try ["patterns", "info light"].map { verb in
      let json = try folder.bash(
        "$TEMBLOR \(verb) --json | grep -A 1 '\"light\"' | grep -o 'duration.*'"
      ).output
      return Double(json.filter { $0.isNumber || $0 == "." })
    }
    #expect(seconds[0] != nil && seconds[0] == seconds[1])
  }

  @Test func otherKindsOfFilesAreNamed() throws {
    _ = try folder.temblor("render", "light", "-q")
    let soundMessage =
      """
      light.wav: error: a WAV sound file, not a pattern; create a pattern from it with 'temblor \
      trace'
      """
    for line in [
      "convert light.wav --format ahap", "format light.wav",
    ] {
      #expect(try folder.bash("$TEMBLOR \(line)") == .init(2, error: soundMessage + "\n"))
    }
    #expect(
      try folder.temblor("check", "light.wav") == .init(2, output: soundMessage + " [file-kind]\n"))
    for (signature, name) in [
      ("\\x89PNG\\r\\n", "a PNG image"),
      ("PK\\3\\4", "a ZIP archive, not a pattern; unpack it first"),
      ("ID3", "an MP3 sound file"), ("OggS", "an Ogg sound file"), ("fLaC", "a FLAC sound file"),
      ("MThd", "a MIDI file, not a pattern ["), ("%%PDF-1.4", "a PDF document"),
      ("\\x7fELF", "an ELF program"),
      ("\\x1f\\x8b", "a gzip archive, not a pattern; unpack it first"),
      ("\\xff\\xfeh\\0i\\0", "UTF-16 text, not a pattern; save it as UTF-8"),
    ] {
      let run = try folder.bash("printf '\(signature)' > a.ahap; $TEMBLOR check a.ahap")
      #expect(run.status == 2 && run.output.hasPrefix("a.ahap: error: \(name)"), "\(run.output)")
    }
  }

  /// The program's own symbols are ASCII in the C locale. File names are printed byte for byte.
  @Test func withoutUTF8TheOutputIsASCII() throws {
    _ = try folder.temblor("render", "light", "-q")
    for line in [
      "compare light medium", "compare light light.wav", "profiles", "profiles show dayton-bst-1",
      "patterns",
      "devices",
      "formats", "formats ahap haptic", "info light light.wav", "check --list-rules",
      "check heartbeat --profile phone",
      "plot heartbeat", "render light", "gallery light -o g.html", "convert light --format haptic",
      "help", "help check",
      "man", "completion fish", "abx light medium --simulate abba",
      "sweep --profile phone -o s.wav",
      "latency --count 1 --device null", "tap 1 0.5 --device null",
    ] {
      let run = try folder.bash("LC_ALL=C $TEMBLOR \(line)")
      #expect(run.status == 0 && run.output.utf8.allSatisfy { $0 < 0x80 }, "\(line): \(run.output)")
      #expect(run.error.utf8.allSatisfy { $0 < 0x80 }, "\(line): \(run.error)")
    }
    #expect(try folder.bash("LC_ALL=C $TEMBLOR compare light medium").output.contains("B - A"))
    #expect(try folder.bash("LC_ALL=C $TEMBLOR profiles").output.contains("  20-80 Hz  "))
    #expect(
      try folder.bash("LC_ALL=C $TEMBLOR check höre.ahap").error.hasPrefix(
        "höre.ahap: file not found")
    )
  }

  @Test(.enabled(if: CommandLineTests.hasTerminals, "no terminals can be made here"))
  func narrowTerminalsBreakNoWords() throws {
    for line in [
      "compare light medium", "profiles", "patterns", "devices 2> /dev/null", "render light",
      "info light", "formats",
      "profiles show dayton-bst-1",
    ] {
      let unwrappedWords = Set(
        try folder.bash("$TEMBLOR \(line) 2>&1").output.split(whereSeparator: \.isWhitespace))
      let run = try folder.bash("NO_COLOR=1 script -qec 'stty cols 50; $TEMBLOR \(line)' /dev/null")
      // The text after the last carriage return is what remains of a progress line.
      let lines = run.output.replacing("\r\n", with: "\n").split(separator: "\n").compactMap {
        $0.split(separator: "\r").last
      }
      #expect(!lines.isEmpty, "\(line): \(run)")
      for shownLine in lines {
        #expect(shownLine.count <= 50, "\(line): \(shownLine)")
        for word in shownLine.split(whereSeparator: \.isWhitespace) {
          #expect(unwrappedWords.contains(word), "\(line): \(word)")
        }
      }
    }
  }

  @Test func infoNamesFrequenciesUnderCurves() throws {
    let run = try folder.temblor("info", "earthquake-splash")
    #expect(run.output.contains("to 230 Hz"), "\(run.output)")
  }

  @Test func directionMarksOfFilesAreEscaped() throws {
    try folder.write(
      Patterns.tap().replacing(
        #""Pattern""#, with: #""Metadata": {"Description": "a\u202eb"}, "Pattern""#),
      to: "a.ahap")
    #expect(try folder.temblor("info", "a.ahap").output.contains(#"  about      a\u{202E}b"#))
  }
}
