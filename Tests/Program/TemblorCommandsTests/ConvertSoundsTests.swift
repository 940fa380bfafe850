import HapticFormats
import SystemSupport
import TestSupport
import Testing
import VendorFormats

@testable import CommandLineKit
@testable import TemblorCommands

/// Sound files that converted patterns play.
@Suite struct ConvertSoundsTests {
  private let testFolder: TemporaryFolder
  private static let pattern = """
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": 0, "EventType": "HapticTransient"}},
      {"Event": {"Time": 0.1, "EventType": "AudioCustom", "EventWaveformPath": "sounds/hit.wav"}},
      {"Event": {"Time": 0.2, "EventType": "AudioCustom", "EventWaveformPath": "sounds/hit.wav"}}]}
    """
  private static let clip = """
    {"version": {"major": 1}, "signals": {"continuous": {"envelopes": {
      "amplitude": [{"time": 0, "amplitude": 0.5}, {"time": 1, "amplitude": 0.5}]}}}}
    """

  init() throws {
    testFolder = try TemporaryFolder()
    try makeSounds(in: "in/sounds", level: 7)
    try writePattern("in/tap.ahap")
    try testFolder.makeFolder("out")
  }

  private func writePattern(_ path: String) throws {
    try FileSystem.makeFolder(FileSystem.folderPath(of: testFolder(path)))
    try testFolder.write(Self.pattern, to: path)
  }

  private func makeSounds(in folder: String, level: Int16) throws {
    try FileSystem.makeFolder(testFolder(folder))
    try AtomicFileWriter.write(Self.sound(level), to: testFolder(folder + "/hit.wav"))
  }

  /// Returns a short sound file, whose samples have the given level.
  private static func sound(_ level: Int16) -> [UInt8] {
    WaveFile.encodedBytes(of: [Float](repeating: Float(level) / 100, count: 100), rate: 48_000)
  }

  private static let copied = "out/sounds/hit.wav: copied from 'in/sounds/hit.wav'\n"

  /// Runs the program. The returned messages exclude the lines on written files.
  private func run(_ arguments: String...) -> ProgramRun { run(arguments) }

  private func run(_ arguments: [String]) -> ProgramRun {
    var run = testFolder.runTemblor(arguments)
    run.error = run.error.withoutWrittenFiles
    return run
  }

  private func sounds(of path: String) throws -> [String] {
    let file = SourceFile(try FileSystem.read(testFolder(path)), name: path)
    return FormatRegistry.standard.examine(file).soundReferences.map(\.path)
  }

  @Test(arguments: [[], ["--split"]]) func soundsAreCopiedToTheSamePathsBelowTheOutput(
    options: [String]
  )
    throws
  {
    let run = run(
      ["convert", testFolder("in/tap.ahap"), "--json", "-o", testFolder("out/new.ahap")] + options)
    #expect(run.status == .success)
    #expect(run.error == Self.copied)
    #expect(try sounds(of: "out/new.ahap") == ["sounds/hit.wav", "sounds/hit.wav"])
    #expect(
      try FileSystem.read(testFolder("out/sounds/hit.wav"))
        == FileSystem.read(testFolder("in/sounds/hit.wav")))
    #expect(
      run.output.contains("out/new.ahap\",\n") && run.output.contains("out/sounds/hit.wav\""),
      "\(run.output)")
  }

  @Test func soundsInTheOutputFolderAreNotCopied() throws {
    let run = run("convert", testFolder("in/tap.ahap"), "-o", testFolder("in/new.ahap"))
    #expect(run.status == .success && run.error == "")
    #expect(
      try FileSystem.visibleNames(in: testFolder("in")) == ["new.ahap", "sounds", "tap.ahap"])
  }

  @Test func soundsAreCopiedFromTheGivenFolder() throws {
    try makeSounds(in: "library/sounds", level: 9)
    let run = run(
      "convert", testFolder("in/tap.ahap"), "--sounds", testFolder("library"), "-o",
      testFolder("out/new.ahap"))
    #expect(run.status == .success && run.error == Self.copied.replacing("in/", with: "library/"))
    #expect(try FileSystem.read(testFolder("out/sounds/hit.wav")) == Self.sound(9))
    let conflict = self.run(
      "convert", testFolder("in/tap.ahap"), "--sounds", "x", "--without-sounds")
    #expect(conflict.error.contains("'--sounds' and '--without-sounds' cannot be used together"))
  }

  @Test func missingSoundsAreLosses() throws {
    try writePattern("other/tap.ahap")
    let message =
      "other/tap.ahap:3:76: dropped: the sound file 'sounds/hit.wav' was not found in the "
      + "pattern's folder; use '--sounds FOLDER' or '--without-sounds'\n"
    let lax = run("convert", testFolder("other/tap.ahap"), "-o", testFolder("out/new.ahap"))
    #expect(lax.status == .success)
    #expect(lax.error == message)
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["new.ahap"])
    let strict = run(
      "convert", testFolder("other/tap.ahap"), "--strict", "-o", testFolder("out/no.ahap"))
    #expect(strict.status == .invalidInput)
    #expect(
      strict.error == message + "other/tap.ahap: not converted because of '--strict': 1 loss\n")
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["new.ahap"])
  }

  @Test func soundsAreLeftOutOnRequest() throws {
    try writePattern("other/tap.ahap")
    let run = run(
      "convert", "--strict", testFolder("other/tap.ahap"), "--without-sounds", "-o",
      testFolder("out/new.ahap"))
    #expect(run.status == .success && run.error == "")
    #expect(try sounds(of: "out/new.ahap") == [])
  }

  @Test func audioEventsAreLossesInHapticFormats() throws {
    let run = run("convert", testFolder("in/tap.ahap"), "-o", testFolder("out/new.haptic"))
    #expect(run.status == .success)
    #expect(
      run.error
        == [3, 4].map { "in/tap.ahap:\($0):13: dropped: audio events cannot be written\n" }.joined()
    )
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["new.haptic"])
  }

  @Test func differentSoundsWithOneNameAreRefused() throws {
    try makeSounds(in: "other/sounds", level: 9)
    try writePattern("other/hit.ahap")
    let run = run(
      "convert", "--format", "ahap", testFolder("in/tap.ahap"), testFolder("other/hit.ahap"), "-o",
      testFolder("out/"))
    #expect(run.status == .failure)
    #expect(
      run.error == "out/sounds/hit.wav: cannot be a copy of both 'in/sounds/hit.wav' and "
        + "'other/sounds/hit.wav'; convert their patterns to different folders\n")
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == [])
  }

  @Test func inputsAreNeverReplaced() throws {
    try makeSounds(in: "other/sounds", level: 9)
    try writePattern("other/hit.ahap")
    try testFolder.write(Self.clip, to: "clip.haptic")
    let run = run(
      "convert", "--format", "ahap", testFolder("in/tap.ahap"), testFolder("clip.haptic"),
      testFolder("other/hit.ahap"), "-o",
      testFolder("other"))
    #expect(run.status == .usageError, "\(run.error)")
    let overlapping = self.run(
      "convert", "--format", "ahap", testFolder("in/tap.ahap"), testFolder("other/hit.ahap"), "-o",
      testFolder("other/sounds/.."))
    #expect(overlapping.status != .success)
    #expect(try FileSystem.read(testFolder("other/sounds/hit.wav")) == Self.sound(9))
  }

  @Test func equalSoundsAreCopiedOnce() throws {
    for expected in [Self.copied, ""] {
      let run = run("convert", testFolder("in/tap.ahap"), "-o", testFolder("out/new.ahap"))
      #expect(run.status == .success)
      #expect(run.error == expected)
    }
  }

  @Test func aChangedCopyIsKept() throws {
    try makeSounds(in: "out/sounds", level: 9)
    let run = run("convert", "--json", testFolder("in/tap.ahap"), "-o", testFolder("out/new.ahap"))
    #expect(run.status == .failure)
    #expect(
      run.error
        == "out/sounds/hit.wav: exists and differs from the sound file 'in/sounds/hit.wav'; "
        + "choose a different '--output'\n")
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["sounds"])
    #expect(try FileSystem.read(testFolder("out/sounds/hit.wav")) == Self.sound(9))
  }

  @Test func filesOutsideTheFolderAreNotCopied() throws {
    try AtomicFileWriter.write([1, 2, 3], to: testFolder("secret.wav"))
    try FileSystem.makeFolder(testFolder("linked/sounds"))
    try testFolder.link("linked/sounds/hit.wav", to: testFolder("secret.wav"))
    try writePattern("linked/tap.ahap")
    let run = run("convert", testFolder("linked/tap.ahap"), "-o", testFolder("out/new.ahap"))
    #expect(run.status == .success)
    #expect(
      run.error
        == "linked/tap.ahap:3:76: dropped: the sound file 'sounds/hit.wav' is outside the pattern's "
        + "folder\n")
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["new.ahap"])
  }
}
