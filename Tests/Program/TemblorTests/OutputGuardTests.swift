import Testing

/// No output of any verb destroys an input, and implausible outputs are refused.
@Suite struct OutputGuardTests {
  let folder = WorkingFolder()

  /// Writes two patterns, two sounds, a profile, and other names for some of the files.
  private func fill() throws {
    try folder.write(Patterns.tap(), to: "a.ahap")
    try folder.write(Patterns.patternWithSound("take.wav"), to: "b.ahap")
    try folder.write(Patterns.ringProfile, to: "ring.json")
    let result = try folder.bash(
      """
      $TEMBLOR render heartbeat -q -o take.wav; $TEMBLOR render medium -q -o sweep.wav
      mkdir sub; ln take.wav hard.html; ln -s take.wav link.html; ln -s ../take.wav sub/t.wav
      ln -s ring.json mine.json; ln a.ahap a.html; ln a.ahap a.svg
      """)
    #expect(result == .init(0))
  }

  /// Returns the contents of all files in the folder.
  private func contents() -> [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: folder.fileNames().map { ($0, folder.bytes($0) ?? []) })
  }

  @Test func noInputIsDestroyed() throws {
    try fill()
    let before = contents()
    for line in [
      "compare a.ahap take.wav -o link.html", "compare a.ahap take.wav -o ./sub/../hard.html",
      "compare a.ahap a.ahap -o a.html", "gallery a.ahap -o a.html", "plot a.ahap -o a.svg",
      "calibrate sweep.wav --profile ring.json -o mine.json",
      "play b.ahap --device null --record take.wav",
      "play b.ahap --device wav:sub/t.wav", "tap 1 1 --profile ring.json --device wav:ring.json",
      "watch b.ahap --device null --record sub/../take.wav",
      "audition a.ahap take.wav --device null --record take.wav",
      "audition a.ahap b.ahap --device null --record take.wav",
      "abx a.ahap b.ahap --profile ring.json --simulate ab --output mine.json",
      "profiles new x --from ring.json --force -o mine.json",
      "render take.wav --format wav -o take.wav",
    ] {
      let run = try folder.bash("$TEMBLOR \(line)")
      #expect(run.status == 64, "\(line)")
      #expect(
        run.error.contains("' is an input file; choose a different '--"), "\(line): \(run.error)")
      #expect(contents() == before, "\(line)")
    }
  }

  @Test func noRenderingReplacesTheSoundOfAnotherPattern() throws {
    try fill()
    try folder.write(Patterns.tap(), to: "in/take.ahap")
    try folder.write(Patterns.patternWithSound("take.wav"), to: "in/b.ahap")
    #expect(try folder.bash("cp take.wav in") == .init(0))
    let before = folder.bytes("in/take.wav")
    #expect(
      try folder.temblor("render", "in", "-o", "in", "-q")
        == .init(1, error: "in/take.wav: is an input file; choose a different '--output'\n"))
    #expect(folder.bytes("in/take.wav") == before)
    #expect(folder.bytes("in/b.wav") != nil)
  }

  @Test(arguments: [
    (
      "render light medium -o foo.wav",
      "'foo.wav' is a file name, but there are 2 patterns; specify a folder"
    ),
    (
      "render light medium -o foo.png",
      "'foo.png' is a file name, but there are 2 patterns; specify a folder"
    ),
    (
      "plot light medium -o x.png",
      "'x.png' is a file name, but there are 2 pictures; specify a folder"
    ),
    (
      "render heartbeat -o no/dir/x.wav",
      "cannot write 'no/dir/x.wav': the folder 'no/dir' does not exist"
    ),
    (
      "render light medium -o no/dir/",
      "cannot write 'no/dir/': the folder 'no' does not exist"
    ),
    ("plot light -o no/x.png", "cannot write 'no/x.png': the folder 'no' does not exist"),
    ("gallery light -o no/x.html", "cannot write 'no/x.html': the folder 'no' does not exist"),
    (
      "sweep --profile phone -o no/x.wav",
      "cannot write 'no/x.wav': the folder 'no' does not exist"
    ),
    (
      "tap 1 1 --device wav:no/x.wav",
      "cannot write 'no/x.wav': the folder 'no' does not exist"
    ),
    ("compare light medium -o x.wav", "unknown file extension of 'x.wav'; use .html or .htm"),
    ("gallery light -o x", "unknown file extension of 'x'; use .html or .htm"),
    ("calibrate take.wav --profile phone -o t.wav", "unknown file extension of 't.wav'; use .json"),
    (
      "calibrate take.wav --profile phone --plot f.wav",
      "unknown file extension of 'f.wav'; use .png, .svg, or .pdf"
    ),
    ("calibrate take.wav --profile phone -o -", "'--output' requires a file name"),
    ("abx light medium --simulate ab -o -", "'--output' requires a file name"),
    ("abx light medium --output r.wav", "unknown file extension of 'r.wav'; use .json or .csv"),
    (
      "play light --record x.wav --device wav:./x.wav",
      "'--record' and '--device' cannot both write './x.wav'"
    ),
  ]) func implausibleOutputsAreUsageErrors(line: String, message: String) throws {
    let run = try folder.bash("$TEMBLOR \(line)")
    #expect(run.status == 64)
    #expect(run.error.hasPrefix("temblor: \(message)\n"), "\(run.error)")
    #expect(folder.fileNames() == [])
  }

  @Test(arguments: [
    "tap 1 1", "play light", "latency --count 1", "watch a.ahap", "listen --no-config",
  ])
  func aRecordingReplacesOnlyWhatTheProgramWrote(verb: String) throws {
    try folder.write(Patterns.tap(), to: "a.ahap")
    try folder.write("mine", to: "mine.wav")
    let run = try folder.bash("$TEMBLOR \(verb) --device null --record mine.wav < /dev/null")
    #expect(run.status == 64)
    let message =
      """
      temblor: '--record': 'mine.wav' exists and was not written by Temblor; use '--force' to \
      replace it\n
      """
    #expect(run.error.hasPrefix(message), "\(run.error)")
    #expect(folder.text("mine.wav") == "mine")
  }

  @Test(arguments: ["wav", "flac", "caf", "aiff", "rf64", "ogg"])
  func recordingOfTheProgramIsReplaced(
    type: String
  ) throws {
    let name = "own.\(type)"
    try folder.write("mine", to: name)
    for option in ["--force", "", ""] {
      let run = try folder.bash("$TEMBLOR tap 1 1 --device null --record \(name) \(option) -q")
      #expect(run.status == 0, "\(run.error)")
    }
  }

  @Test func outputFolderMayHaveAnyName() throws {
    #expect(try folder.temblor("render", "light", "medium", "-o", "foo.wav/", "-q") == .init(0))
    #expect(try folder.temblor("render", "light", "medium", "-o", "foo.wav", "-q") == .init(0))
    #expect(folder.fileNames() == ["foo.wav/", "foo.wav/light.wav", "foo.wav/medium.wav"])
  }

  @Test func aReadOnlyFileIsNotReplaced() throws {
    try folder.write("old", to: "a.wav")
    _ = try folder.bash("chmod 444 a.wav")
    #expect(
      try folder.temblor("render", "light", "-o", "a.wav")
        == .init(
          1,
          error: "a.wav: is read-only; make it writable with 'chmod u+w', or choose another file\n")
    )
    #expect(folder.text("a.wav") == "old")
  }

  @Test func linkToAMissingFileIsFollowed() throws {
    try folder.makeFolder("sub")
    try folder.link("a.wav", to: "sub/real.wav")
    #expect(try folder.temblor("render", "light", "-o", "a.wav", "-q") == .init(0))
    #expect(try folder.bash("test -L a.wav") == .init(0))
    #expect(folder.fileNames() == ["a.wav", "sub/", "sub/real.wav"])
  }
}
