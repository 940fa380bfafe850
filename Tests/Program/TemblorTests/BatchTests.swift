import TestSupport
import Testing

@Suite struct BatchTests {
  let folder = WorkingFolder()

  @Test func invalidPatternStopsNoOther() throws {
    for index in 0..<300 {
      try folder.write(Patterns.tap(), to: "in/\(index).ahap")
    }
    try folder.write(Patterns.brokenText, to: "in/150.ahap")
    #expect(
      try folder.temblor("render", "in", "-o", "out")
        == .init(
          2,
          error: """
            in/150.ahap:2:1: error: \(ExpectedMessage.unclosedObject)
            299 of 300 sounds written, 1 failed

            """))
    #expect(folder.fileNames(below: "out").count == 299)
  }

  @Test func missingPatternStopsNoOther() throws {
    #expect(
      try folder.temblor("render", "light", "nope.ahap", "-o", "out")
        == .init(
          1,
          error: """
            out/light.wav: written, 0.014 s, peak -21 dBFS
            nope.ahap: \(ExpectedMessage.unknownPattern)

            """))
    #expect(folder.fileNames() == ["out/", "out/light.wav"])
  }

  @Test func writtenSoundsAreCountedUnlessQuiet() throws {
    let arguments = ["render", "light", "soft", "rigid", "-o", "out"]
    #expect(try folder.temblor(arguments) == .init(0, error: "3 of 3 sounds written\n"))
    #expect(try folder.temblor(arguments + ["-q"]) == .init(0))
    #expect(folder.fileNames(below: "out").count == 3)
  }

  @Test func equalNamesOfDifferentFoldersAreRefused() throws {
    try folder.write(Patterns.tap(), to: "a/x.ahap")
    try folder.write(Patterns.tap(), to: "b/x.ahap")
    #expect(
      try folder.temblor("render", "a", "b", "-o", "out")
        == .init(
          64,
          error: """
            temblor: 'a/x.ahap' and 'b/x.ahap' cannot both be written to 'out/x.wav'
            See 'temblor render --help'.

            """))
    #expect(folder.fileNames() == ["a/", "a/x.ahap", "b/", "b/x.ahap"])
  }

  @Test func brokenLinkIsReported() throws {
    try folder.write(Patterns.tap(), to: "in/a.ahap")
    try folder.link("in/b.ahap", to: "gone")
    #expect(
      try folder.temblor("render", "in", "-o", "out", "-q")
        == .init(1, error: "in/b.ahap: is a broken link\n"))
    #expect(folder.fileNames(below: "out") == ["out/a.wav"])
  }

  @Test func emptyFolderIsReported() throws {
    try folder.makeFolder("in")
    #expect(
      try folder.temblor("render", "in") == .init(1, error: "in: contains no pattern files\n"))
  }

  @Test(arguments: [
    "a space.ahap", "Ünïcode-地震.ahap", "-x.ahap", "'quote\".ahap", "new\nline.ahap", "no ending",
    String(repeating: "n", count: 200) + ".ahap", String(repeating: "地", count: 83) + ".ahap",
  ]) func unusualNamesAreAccepted(name: String) throws {
    try folder.write(Patterns.tap(), to: name)
    #expect(try folder.temblor("render", "-q", "--", name) == .init(0))
    #expect(try folder.temblor("check", "./" + name) == .init(0))
    let stem = name.hasSuffix(".ahap") ? String(name.dropLast(5)) : name
    #expect(Set(folder.fileNames()) == [name, stem + ".wav"])
  }

  @Test func namesCannotControlTheTerminal() throws {
    let name = "a\u{1B}[31m\n.ahap"
    try folder.write(Patterns.brokenText, to: name)
    let line = "a\\u{1B}[31m\\n.ahap:2:1: error: \(ExpectedMessage.unclosedObject)"
    #expect(try folder.temblor("render", name) == .init(2, error: line + "\n"))
    #expect(try folder.temblor("info", name) == .init(2, error: line + "\n"))
    #expect(try folder.temblor("check", name) == .init(2, output: line + " [syntax]\n"))
    #expect(
      try folder.temblor("info", "\u{9B}31m")
        == .init(1, error: "\\u{009B}31m: \(ExpectedMessage.unknownPattern)\n"))
  }

  @Test func invalidNamesAreReported() throws {
    #expect(
      try folder.temblor("render", "") == .init(1, error: "'': is not a valid pattern name\n"))
    let run = try folder.bash(
      "mkdir in; echo '{}' > in/$'\\xff.ahap'; $TEMBLOR check in; $TEMBLOR check in/$'\\xff.ahap'")
    #expect(
      run.error == """
        in/\u{FFFD}.ahap: the file name is not valid UTF-8; rename the file
        in/\u{FFFD}.ahap: the file name is not valid UTF-8; rename the file

        """)
    #expect(run.status == 1)
  }
}
