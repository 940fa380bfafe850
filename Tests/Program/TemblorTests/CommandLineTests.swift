import Glibc
import Testing

@Suite struct CommandLineTests {
  let folder = WorkingFolder()

  @Test func startLoadsNoOptionalLibrary() throws {
    let run = try folder.bash("LD_TRACE_LOADED_OBJECTS=1 $TEMBLOR")
    #expect(run.status == 0)
    #expect(run.output.contains("libc.so.6"))
    for name in ["asound", "cairo", "ebur128", "expat", "kissfft", "samplerate", "sndfile"] {
      #expect(!run.output.contains("lib\(name)"))
    }
  }

  @Test func printsItsVersion() throws {
    #expect(try folder.temblor("--version") == .init(0, output: "temblor 0.4.0\n"))
  }

  @Test func withoutAVerbShowsHelpAndFails() throws {
    let run = try folder.temblor()
    #expect(run == .init(64, error: try folder.temblor("help").output))
    #expect(run.error.hasPrefix("Turns haptic patterns into sound.\n\nUSAGE\n"))
  }

  @Test(arguments: [
    "play", "watch", "tap", "listen", "render", "plot", "compare", "audition", "abx", "gallery",
    "check", "info",
    "format", "patterns", "profiles", "devices", "latency", "completion", "man", "help",
  ]) func everyVerbHasHelp(verb: String) throws {
    let help = try folder.temblor("help", verb)
    #expect(help.status == 0)
    #expect(help.error == "")
    #expect(help.output.contains("USAGE\n  temblor \(verb) [OPTIONS]"))
    #expect(try folder.temblor(verb, "--help") == help)
  }

  @Test(arguments: [
    (["rendr"], "unknown command 'rendr'; did you mean 'render'?", ""),
    (["--json"], "'--json' must follow a command", ""),
    (["--wide"], "unknown option '--wide'", ""),
    (["help", "rendr"], "unknown command 'rendr'; did you mean 'render'?", ""),
    (["render"], "missing PATTERN", "render"), (["check"], "missing PATTERN", "check"),
    (["info"], "missing PATTERN", "info"), (["format"], "missing PATTERN", "format"),
    (["audition"], "missing TAKE", "audition"),
    (
      ["audition", "light"], "'audition' accepts two to 9 patterns or sound files, not 1",
      "audition"
    ),
    (["abx", "light"], "missing B", "abx"),
    (["abx", "light", "medium", "soft"], "unexpected argument 'soft'", "abx"),
    (
      ["abx", "light", "medium", "--match", "peak"],
      "invalid value 'peak' for '--match': expected none, loudness, or felt", "abx"
    ),
    (
      ["abx", "light", "medium", "--simulate", "abc"],
      """
      invalid value 'abc' for '--simulate': expected right, wrong, or random, or one letter per \
      trial, such as 'abba'
      """, "abx"
    ), (["completion"], "missing SHELL", "completion"),
    (
      ["completion", "tcsh"], "invalid value 'tcsh' for 'SHELL': expected bash, zsh, or fish",
      "completion"
    ),
    (["man", "render"], "unexpected argument 'render'", "man"),
    (["patterns", "a", "b"], "unexpected argument 'b'", "patterns"),
    (
      ["profiles", "show", "phoen"], "unknown profile 'phoen'; did you mean 'phone'?",
      "profiles show"
    ),
    (
      ["check", "--disable", "transient-gaps", "light"],
      "invalid value 'transient-gaps' for '--disable'; did you mean 'transient-gap'?", "check"
    ),
    (
      ["format", "-i", "--check", "light"], "'--in-place' and '--check' cannot be used together",
      "format"
    ),
    (
      ["info", "--rate", "44.1", "light"],
      "invalid value '44.1' for '--rate': expected a whole number from 8000 to 192000", "info"
    ),
    (
      ["info", "--profile", "phon", "light"], "unknown profile 'phon'; did you mean 'phone'?",
      "info"
    ),
    (
      ["info", "--profile", "zither", "light"],
      "unknown profile 'zither'; run 'temblor profiles' to list profiles", "info"
    ),
    (["render", "-x.ahap"], "unknown option '-x.ahap'", "render"),
    (
      ["render", "--ouput", "a.wav", "light"], "unknown option '--ouput'; did you mean '--output'?",
      "render"
    ),
    (["render", "light", "-o"], "missing PATH after '-o'", "render"),
    (
      ["render", "light", "--format", "mp3"],
      "invalid value 'mp3' for '--format': expected wav, flac, aiff, w64, rf64, caf, or ogg",
      "render"
    ),
    (
      ["render", "light", "--loop", "0"],
      "'--loop 0' repeats indefinitely; set the length with '--duration'", "render"
    ),
    (
      ["render", "light", "--strength", "1.01"],
      "invalid value '1.01' for '--strength': expected a number from 0 to 1", "render"
    ),
    (
      ["render", "light", "--channels", "0"],
      "invalid value '0' for '--channels': expected a whole number from 1 to 64", "render"
    ),
    (
      ["render", "light", "--duration", "nan"],
      "invalid value 'nan' for '--duration': expected a number from 0.001 to 86400", "render"
    ),
    (
      ["render", "light", "-o", "a.mp3"],
      """
      unknown file extension of 'a.mp3'; use .wav, .flac, .aiff, .w64, .rf64, .caf, or .ogg, or \
      '--format'
      """,
      "render"
    ),
    (
      ["render", "light", "-o", "a.wav", "--format", "flac"],
      "the extension of 'a.wav' selects wav, but '--format' is flac", "render"
    ),
    (
      ["render", "light", "--format", "flac", "--sample-format", "float"],
      "flac does not support float samples; use s16 or s24", "render"
    ),
    (
      ["render", "light", "-o", "a.flac", "--channels", "9"],
      "flac supports at most 8 channels, not 9", "render"
    ),
    (
      ["render", "light", "light"], "'light' and 'light' cannot both be written to 'light.wav'",
      "render"
    ),
    (
      ["render", "light", "soft", "-o", "-"],
      "'--output -' requires a single pattern, without '--stems' or '--json'",
      "render"
    ),
    (
      ["render", "light", "--json", "-o", "-"],
      "'--output -' requires a single pattern, without '--stems' or '--json'",
      "render"
    ),
  ]) func invalidCommandLinesAreRefusedWithOneReason(
    arguments: [String], reason: String, verb: String
  ) throws {
    let help = verb.isEmpty ? "temblor --help" : "temblor \(verb) --help"
    #expect(
      try folder.temblor(arguments) == .init(64, error: "temblor: \(reason)\nSee '\(help)'.\n"))
    #expect(folder.fileNames() == [])
  }

  /// True if programs can run on a terminal. Some containers have none.
  static let hasTerminals = unsafe access("/dev/pts/ptmx", F_OK) == 0

  @Test(.enabled(if: hasTerminals, "no terminals can be made here")) func refusesSoundOnATerminal()
    throws
  {
    let run = try folder.bash("script -qec '$TEMBLOR render light -o -' typescript; echo $?")
    #expect(
      run.output.replacing("\r\n", with: "\n") == """
        temblor: standard output is a terminal; use '--output FILE' or a pipe
        See 'temblor render --help'.
        64

        """)
  }

  @Test func manualPageHasNoWarnings() throws {
    let run = try folder.bash(
      "$TEMBLOR man > page; ! command -v groff > /dev/null || groff -man -Tutf8 -ww -z page")
    #expect(run == .init(0))
    #expect(folder.text("page")?.hasPrefix(#".TH "TEMBLOR" "1""#) == true)
  }

  @Test(arguments: ["bash", "zsh", "fish"]) func shellReadsItsCompletion(shell: String) throws {
    let run = try folder.bash(
      "$TEMBLOR completion \(shell) > s; ! command -v \(shell) > /dev/null || \(shell) -n s")
    #expect(run == .init(0))
    #expect(folder.text("s")?.contains("temblor") == true)
  }

  @Test func endsWithoutAMessageWhenTheReaderCloses() throws {
    let run = try folder.bash(
      "$TEMBLOR render pulse --duration 5 -o - | head -c 4; echo ${PIPESTATUS[0]}")
    #expect(run == .init(0, output: "RIFF0\n"))
    let list = try folder.bash("(trap '' PIPE; $TEMBLOR check --list-rules; echo $? >&2) | true")
    #expect(list.error == "0\n")
  }

  @Test func fullOutputIsReported() throws {
    let run = try folder.bash("$TEMBLOR patterns > /dev/full")
    #expect(
      run == .init(1, error: "temblor: cannot write to standard output: No space left on device\n"))
  }
}
