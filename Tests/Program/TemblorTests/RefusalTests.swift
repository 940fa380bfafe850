import Glibc
import Testing

@Suite struct RefusalTests {
  let folder = WorkingFolder()

  /// Mounts a small file system at `disk`, runs a line in it, lists its files, and unmounts it.
  private func onSmallDisk(_ line: String) throws -> WorkingFolder.Result {
    try folder.bash(
      """
      mkdir disk; mount -t tmpfs -o size=64k tmpfs disk || exit 99
      (cd disk; \(line))
      ls -A disk; cat disk/a.* ; umount disk
      """)
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root may mount a small disk"),
    arguments: ["wav", "flac", "aiff", "w64", "rf64", "caf", "ogg"]) func fullDiskKeepsTheOldFile(
      kind: String
    ) throws
  {
    let run = try onSmallDisk(
      "echo old > a.\(kind); $TEMBLOR render pulse --loop 0 --duration 60 -o a.\(kind); echo $?")
    // In a container, root may not be allowed to mount.
    if run.status == 99 { return }
    #expect(run.output == "1\na.\(kind)\nold\n")
    #expect(run.error == "a.\(kind): the disk is full; free some space or choose another folder\n")
  }

  @Test(arguments: ["wav", "flac", "aiff", "w64", "rf64", "caf", "ogg"])
  func fileSizeLimitKeepsTheOldFile(
    kind: String
  ) throws {
    try folder.write("old", to: "a.\(kind)")
    for blocks in [0, 8] {
      let run = try folder.bash(
        """
        (ulimit -f \(blocks); $TEMBLOR render pulse --loop 0 --duration 20 -o a.\(kind) 2>&1) | \
        cat
        """
      )
      #expect(run.output == "a.\(kind): cannot write: File too large\n")
      #expect(folder.text("a.\(kind)") == "old")
      #expect(folder.fileNames() == ["a.\(kind)"])
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may write everywhere")) func readOnlyFolderIsReported()
    throws
  {
    let run = try folder.bash("mkdir in; chmod 555 in; $TEMBLOR render light -o in/a.wav")
    #expect(run == .init(1, error: "in/a.wav: cannot be written: Permission denied\n"))
    #expect(folder.fileNames(below: "in") == [])
  }

  @Test(arguments: [
    ("../out.wav", #"EventWaveformPath leads outside the pattern's folder with "..""#),
    ("sub/../ok.wav", #"EventWaveformPath leads outside the pattern's folder with "..""#),
    (
      "/etc/passwd",
      "EventWaveformPath is an absolute path; it must be relative to the pattern's folder"
    ),
    ("", "EventWaveformPath is empty"),
    ("gone.wav", "the sound file 'gone.wav' was not found in the pattern's folder"),
    ("link.wav", "the sound file 'link.wav' is outside the pattern's folder"),
    ("way/out.wav", "the sound file 'way/out.wav' is outside the pattern's folder"),
    (".", "the sound file '.' is outside the pattern's folder"),
    ("pipe.wav", "the sound file 'pipe.wav' is not a regular file"),
    ("sub", "the sound file 'sub' is not a regular file"),
    (
      "a.ahap",
      "the sound file 'a.ahap' is not a readable sound file (libsndfile: Format not recognised.)"
    ),
    (
      "long.wav",
      """
      the sound file 'long.wav' is too long: more than 72000000 samples (12.5 minutes of stereo at \
      48 kHz)
      """
    ),
  ]) func aSoundFileThatCannotBePlayedIsRefused(path: String, reason: String) throws {
    try folder.write(Patterns.patternWithSound(path), to: "in/a.ahap")
    let prepared = try folder.bash(
      """
      $TEMBLOR render light -q -o out.wav
      cd in
      mkdir sub; ln -s ../out.wav link.wav; ln -s .. way; mkfifo pipe.wav; cp ../out.wav ok.wav
      printf 'RIFF\\xf8\\xff\\xff\\xefWAVEfmt \\x10\\0\\0\\0\\1\\0\\1\\0\\x80\\xbb\\0\\0\\0\\x77\\\
      1\\0' > long.wav
      printf '\\2\\0\\x10\\0data\\xd4\\xff\\xff\\xef' >> long.wav
      truncate -s 10G long.wav
      """)
    #expect(prepared == .init(0))
    let run = try folder.temblor("render", "in/a.ahap", "-o", "a.wav")
    #expect(run.status == 2)
    #expect(run.output == "")
    #expect(run.error.hasPrefix("in/a.ahap:2:74: error: \(reason)"))
    #expect(run.error.split(separator: "\n").count == 1)
    #expect(folder.bytes("a.wav") == nil)
    let check = try folder.temblor("check", "in/a.ahap")
    #expect(check.status == 2)
    #expect(check.output.hasPrefix("in/a.ahap:2:74: error: \(reason)"))
    let rule = reason.hasPrefix("EventWaveformPath") ? "waveform-path" : "sound-missing"
    #expect(check.output.hasSuffix("[\(rule)]\n"))
  }

  @Test func soundFileNextToThePatternIsFoundFromAnyFolder() throws {
    try folder.write(Patterns.patternWithSound("sub/ok.wav"), to: "in/a.ahap")
    #expect(try folder.bash("mkdir in/sub; $TEMBLOR render pulse -q -o in/sub/ok.wav") == .init(0))
    #expect(try folder.temblor("render", "in/a.ahap", "-o", "a.wav", "-q") == .init(0))
    #expect(try folder.bash("cd in/sub; $TEMBLOR render ../a.ahap -q -o b.wav") == .init(0))
    #expect(try folder.bash("cd in; $TEMBLOR render - -q -o c.wav < a.ahap") == .init(0))
    #expect(folder.bytes("a.wav") == folder.bytes("in/sub/b.wav"))
    #expect((folder.bytes("a.wav")?.count ?? 0) > 1_000)
    #expect(folder.bytes("in/c.wav") != nil)
  }
}
