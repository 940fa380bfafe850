import Testing

/// What people try first is accepted, or answered with what to type.
@Suite struct EaseTests {
  let place = Workplace()

  @Test(arguments: [
    ("diff a b", "unknown verb 'diff'; use 'temblor compare'"),
    (
      "edit a.ahap", "unknown verb 'edit'; edit the file in a text editor and let 'temblor watch' play it on every save"
    ), ("version", "unknown verb 'version'; use 'temblor --version'"), ("-v", "unknown option '-v'; use '--version'"),
  ]) func whatOtherProgramsCallItHasAHint(line: String, message: String) throws {
    let run = try place.bash("$TEMBLOR \(line)")
    #expect(run.status == 64)
    #expect(run.error.hasPrefix("temblor: \(message)\n"), "\(run.error)")
  }

  @Test(arguments: [
    ("laptop", "did you mean 'speaker'?"), ("headphones", "did you mean 'phone'?"),
    ("BST-1", "did you mean 'dayton-bst-1'?"), ("bst1", "did you mean 'dayton-bst-1'?"),
    ("bst-1", "did you mean 'dayton-bst-1'?"),
  ]) func wordsForAProfileLeadToItsName(word: String, hint: String) throws {
    let run = try place.temblor("play", "light", "--profile", word)
    #expect(
      run == .init(64, error: "temblor: no profile is called '\(word)'; \(hint)\nSee 'temblor play --help'.\n"))
  }

  /// Momentary loudness of the shipped taps in the order of their intensity; nothing reaches the limiter.
  @Test func speakerIsLoudEnoughForALaptopAndKeepsTheOrder() throws {
    let taps = ["selection", "light", "soft", "medium", "rigid", "heavy"]
    #expect(try place.temblor(["render"] + taps + ["--profile", "speaker", "--tail", "1", "-o", "a/"]).status == 0)
    let loudness = try taps.map { tap in
      let json = try place.temblor("info", "a/\(tap).wav", "--json").output
      let figure = try #require(json.firstMatch(of: /"loudness": (-?[0-9.]+)/))
      return try #require(Double(figure.1))
    }
    #expect(loudness == loudness.sorted())
    #expect(loudness[1] > -28 && loudness[1] < -27)
    let patterns = try place.temblor("patterns", "--names").output.split(separator: "\n").map(String.init)
    let limited = try place.temblor(["info", "--profile", "speaker", "--json"] + patterns).output
    #expect(limited.matches(of: /"limitedFrames": 0,/).count == patterns.count)
  }

  @Test func valuesTakeUnits() throws {
    let plain = ["render", "light", "--rate", "44100", "--duration", "2", "--strength", "0.8"]
    let units = ["render", "light", "--rate", "44.1kHz", "--duration", "2s", "--strength", "80%"]
    #expect(try place.temblor(plain + ["-o", "a.wav"]) == .init(0))
    #expect(try place.temblor(units + ["-o", "b.wav"]) == .init(0))
    #expect(place.bytes("a.wav") == place.bytes("b.wav"))
    #expect(try place.temblor("render", "light", "--duration", "2000ms", "-o", "c.wav").status == 0)
    #expect(try place.temblor("tap", "50%", "0.5", "--device", "null").status == 0)
    for word in ["2kg", "s", "80 %%", "1.5kHz5"] {
      #expect(try place.temblor("render", "light", "--duration", word).status == 64)
    }
    #expect(try place.temblor("render", "light", "--rate", "44.1001234kHz").status == 64)
  }

  @Test func shortHelpIsASummary() throws {
    let short = try place.temblor("play", "-h").output
    let long = try place.temblor("play", "--help").output
    #expect(2 * long.split(separator: "\n").count > 3 * short.split(separator: "\n").count)
    #expect(short.contains("--loop") && !short.contains("--period-size"))
    #expect(
      short.split(whereSeparator: \.isWhitespace).joined(separator: " ").hasSuffix(
        "'temblor play --help' shows the whole help and the options for sound, channels, device."))
    #expect(try place.temblor("help", "play").output == long)
  }

  @Test func namesAreCompleted() throws {
    let names = try place.temblor("patterns", "--names").output.split(separator: "\n")
    #expect(names.contains("heartbeat") && names.count > 30)
    let devices = try place.bash("$TEMBLOR devices --names 2> /dev/null").output
    #expect(devices.hasPrefix("default\n") && devices.contains("\nnull\n"))
    let script = """
      temblor() { "$TEMBLOR" "$@"; }
      eval "$(temblor completion bash)"
      compopt() { :; }
      offer() { COMP_LINE="$*"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _temblor; echo "${COMPREPLY[*]}"; }
      offer temblor render heartb; offer temblor compare light heartb; offer temblor play -d nul
      """
    let run = try place.bash(script + " 2> /dev/null")
    #expect(run.output == "heartbeat\nheartbeat\nnull null:\n")
    for shell in ["zsh", "fish"] {
      let text = try place.temblor("completion", shell).output
      #expect(text.contains("patterns --names") && text.contains("devices --names"))
    }
  }

  @Test func objectsInJSONHaveAVersion() throws {
    for line in [
      "play light --device null", "tap 1 0.5 --device null", "latency --count 1 --device null",
      "audition light medium --device null",
    ] {
      let run = try place.bash("$TEMBLOR \(line) --json")
      #expect(run.output.hasPrefix("{\n  \"formatVersion\": 1,\n"), "\(line): \(run.output)")
    }
  }

  @Test func infoNamesFrequenciesUnderCurves() throws {
    let run = try place.temblor("info", "earthquake-splash")
    #expect(run.output.contains("to 230 Hz"), "\(run.output)")
  }

  @Test func noTextOfAFileTurnsTheTerminalAround() throws {
    try place.write(
      Patterns.tap().replacing(#""Pattern""#, with: #""Metadata": {"Description": "a\u202eb"}, "Pattern""#),
      to: "a.ahap")
    #expect(try place.temblor("info", "a.ahap").output.contains(#"  about      a\u{202E}b"#))
  }
}
