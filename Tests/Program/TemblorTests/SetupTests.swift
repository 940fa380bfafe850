import SoundFile
import TestSupport
import Testing

/// The settings that `temblor setup` saves, and their use, in processes with separate folders.
@Suite struct SetupTests {
  let folder = WorkingFolder()

  /// Runs the program with its settings below the working folder, whose path is `@` in the output.
  private func temblor(_ line: String, variables: String = "") throws -> WorkingFolder.Result {
    var run = try folder.bash("XDG_CONFIG_HOME=$PWD/config \(variables) $TEMBLOR \(line)")
    run.output = run.output.replacing(folder.path, with: "@")
    run.error = run.error.replacing(folder.path, with: "@")
    return run
  }

  private func save(_ text: String) throws {
    try folder.write(text, to: "config/temblor/config.json")
  }

  private static let remedy =
    "; correct the file, remove it with 'temblor setup --forget', or use '--no-config'\n"

  @Test(arguments: [
    ("{", "1:2: error: \(ExpectedMessage.unclosedObject)"),
    (
      #"{"profil": "phone", "strength": 2}"#,
      #"1:2: error: unknown key "profil" (profil); did you mean "profile"? (and 1 more)"#
    ),
    (
      "{\n  \"profile\": \"puck\"\n}",
      #"2:14: error: unknown profile "puck" (profile); run 'temblor profiles' to list profiles"#
    ),
  ]) func damagedFileIsRefusedWithALocationAndARemedy(text: String, message: String) throws {
    try save(text)
    let refusal = WorkingFolder.Result(
      2, error: "temblor: @/config/temblor/config.json:\(message)\(Self.remedy)")
    for line in [
      "play light --device null", "tap 1 0.5", "setup --show", "setup --strength 1 --save",
    ] {
      #expect(try temblor(line) == refusal, "\(line)")
    }
    // Verbs that analyze or write files do not read it.
    for line in ["render light", "info light", "compare light heavy", "plot light", "check light"] {
      #expect(try temblor(line).status == 0, "\(line)")
    }
    #expect(try temblor("tap 1 0.5 --device null --no-config").status == 0)
    #expect(
      try temblor("setup --forget") == .init(0, output: "@/config/temblor/config.json: removed\n"))
  }

  @Test func aFolderInThePlaceOfTheFileIsNamed() throws {
    try folder.makeFolder("config/temblor/config.json")
    #expect(
      try temblor("tap 1 0.5")
        == .init(1, error: "temblor: @/config/temblor/config.json: is not a file; remove it\n"))
  }

  @Test func unwritablePathIsNamed() throws {
    try folder.write("", to: "config")
    #expect(
      try temblor("setup --strength 0.5 --save")
        == .init(1, error: "temblor: @/config: exists and is not a folder\n"))
    #expect(
      try folder.bash("XDG_CONFIG_HOME=/proc $TEMBLOR setup --strength 0.5 --save")
        == .init(1, error: "temblor: /proc/temblor: cannot be created: No such file or directory\n")
    )
  }

  @Test func withoutATerminalNothingIsAsked() throws {
    #expect(
      try temblor("setup --device null")
        == .init(
          64,
          error: """
            temblor: setup is interactive; without a terminal, use '--save' with '--device', \
            '--profile', '--haptics', '--channel', or '--strength'
            See 'temblor setup --help'.

            """))
    #expect(folder.fileNames() == [])
  }

  @Test func missingDeviceIsNamedWithItsFile() throws {
    try save(#"{"device": "gone"}"#)
    let reason = "temblor: gone: no such device; run 'temblor devices' to list devices; "
    let advice = " selects this device: connect it, or use 'temblor setup' or '--device'\n"
    let notice = "Using saved settings: device gone (ignore with '--no-config')\n"
    #expect(
      try temblor("tap 1 0.5")
        == .init(1, error: notice + reason + "@/config/temblor/config.json" + advice))
    #expect(
      try temblor("tap 1 0.5 --no-config", variables: "TEMBLOR_DEVICE=gone")
        == .init(1, error: reason + "TEMBLOR_DEVICE" + advice))
    // A file drops no frames on a busy machine, so nothing is reported.
    #expect(try temblor("tap 1 0.5 --device wav:a.wav") == .init(0))
    #expect(
      try temblor("setup --device gone --save").error
        == "temblor: gone: no such device; run 'temblor devices' to list devices\n")
  }

  private static let notice =
    """
    Using saved settings: device wav:a.wav, profile dayton-bst-1, haptics on channel 2, \
    strength 0.5 
    """
    + "(ignore with '--no-config')\n"

  /// The settings are also named if standard error is a pipe.
  @Test func savedSettingsAreUsed() throws {
    #expect(
      try temblor("setup --device wav:a.wav --profile BST-1 --haptics 2 --strength 0.5 --save")
        == .init(0, output: "@/config/temblor/config.json: written\n"))
    #expect(folder.fileNames(below: "config/temblor") == ["config/temblor/config.json"])
    #expect(try temblor("tap 1 0.5") == .init(0, error: Self.notice))
    #expect(
      try temblor(
        "tap 1 0.5 -d wav:b.wav --profile dayton-bst-1 --haptics 2 --strength 0.5 --no-config")
        == .init(0))
    // The silence before a tap, and thus the dither, depends on the scheduling of the threads.
    func energy(_ name: String) throws -> Float {
      try Sound(reading: folder, name).interleaved.reduce(0) { $0 + $1 * $1 }
    }
    let savedEnergy = try energy("a.wav")
    let explicitEnergy = try energy("b.wav")
    #expect(
      explicitEnergy > 0.1 && abs(savedEnergy / explicitEnergy - 1) < 0.001,
      "\(savedEnergy), \(explicitEnergy)")
  }

  @Test("A verdict is the same before and after setup")
  func aVerdictDoesNotDependOnSetup() throws {
    #expect(try temblor("render light -qo golden.wav") == .init(0))
    let before = try temblor("compare --tolerance 0.5dB,5ms,2% golden.wav light")
    #expect(before.status == 0)
    #expect(try temblor("setup --profile dayton-bst-1 --strength 0.2 --save").status == 0)
    #expect(try temblor("compare --tolerance 0.5dB,5ms,2% golden.wav light") == before)
    #expect(
      try temblor(
        "compare --tolerance 0.5dB,5ms,2% golden.wav light", variables: "TEMBLOR_PROFILE=speaker")
        == before)
    #expect(try temblor("render light -qo again.wav") == .init(0))
    #expect(folder.bytes("again.wav") == folder.bytes("golden.wav"))
  }
}
