import TestSupport
import Testing

@Suite struct BatchTests {
  let place = Workplace()

  @Test func oneBrokenAmongManyStopsNoOther() throws {
    for index in 0..<300 {
      try place.write(Patterns.tap(), to: "in/\(index).ahap")
    }
    try place.write(Patterns.broken, to: "in/150.ahap")
    #expect(
      try place.temblor("render", "in", "-o", "out")
        == .init(
          2,
          error: """
            in/150.ahap:2:1: error: \(Sentence.unclosedObject)
            299 of 300 sounds written, 1 failed

            """))
    #expect(place.names(below: "out").count == 299)
  }

  @Test func oneMissingAmongSeveralStopsNoOther() throws {
    #expect(
      try place.temblor("render", "light", "nope.ahap", "-o", "out")
        == .init(
          1,
          error: """
            out/light.wav: written, 0.014 s, peak -21 dBFS
            nope.ahap: \(Sentence.unknownPattern)

            """))
    #expect(place.names() == ["out/", "out/light.wav"])
  }

  @Test func manyAreCountedUnlessQuiet() throws {
    let words = ["render", "light", "soft", "rigid", "-o", "out"]
    #expect(try place.temblor(words) == .init(0, error: "3 of 3 sounds written\n"))
    #expect(try place.temblor(words + ["-q"]) == .init(0))
    #expect(place.names(below: "out").count == 3)
  }

  @Test func equalNamesOfDifferentFoldersAreRefused() throws {
    try place.write(Patterns.tap(), to: "a/x.ahap")
    try place.write(Patterns.tap(), to: "b/x.ahap")
    #expect(
      try place.temblor("render", "a", "b", "-o", "out")
        == .init(
          64,
          error: """
            temblor: 'a/x.ahap' and 'b/x.ahap' cannot both be written to 'out/x.wav'
            See 'temblor render --help'.

            """))
    #expect(place.names() == ["a/", "a/x.ahap", "b/", "b/x.ahap"])
  }

  @Test func aLinkThatLeadsNowhereIsTold() throws {
    try place.write(Patterns.tap(), to: "in/a.ahap")
    try place.link("in/b.ahap", to: "gone")
    #expect(
      try place.temblor("render", "in", "-o", "out", "-q")
        == .init(1, error: "in/b.ahap: is a broken link\n"))
    #expect(place.names(below: "out") == ["out/a.wav"])
  }

  @Test func anEmptyFolderIsTold() throws {
    try place.makeFolder("in")
    #expect(try place.temblor("render", "in") == .init(1, error: "in: contains no pattern files\n"))
  }

  @Test(arguments: [
    "a space.ahap", "Ünïcode-地震.ahap", "-x.ahap", "'quote\".ahap", "new\nline.ahap", "no ending",
    String(repeating: "n", count: 200) + ".ahap", String(repeating: "地", count: 83) + ".ahap",
  ]) func oddNamesAreNames(name: String) throws {
    try place.write(Patterns.tap(), to: name)
    #expect(try place.temblor("render", "-q", "--", name) == .init(0))
    #expect(try place.temblor("check", "./" + name) == .init(0))
    let stem = name.hasSuffix(".ahap") ? String(name.dropLast(5)) : name
    #expect(Set(place.names()) == [name, stem + ".wav"])
  }

  @Test func noNameSteersTheTerminal() throws {
    let name = "a\u{1B}[31m\n.ahap"
    try place.write(Patterns.broken, to: name)
    let line = "a\\u{1B}[31m\\n.ahap:2:1: error: \(Sentence.unclosedObject)"
    #expect(try place.temblor("render", name) == .init(2, error: line + "\n"))
    #expect(try place.temblor("info", name) == .init(2, error: line + "\n"))
    #expect(try place.temblor("check", name) == .init(2, output: line + " [syntax]\n"))
    #expect(
      try place.temblor("info", "\u{9B}31m")
        == .init(1, error: "\\u{009B}31m: \(Sentence.unknownPattern)\n"))
  }

  @Test func namesThatCannotBeAreTold() throws {
    #expect(try place.temblor("render", "") == .init(1, error: "'': is not a valid pattern name\n"))
    let run = try place.bash(
      "mkdir in; echo '{}' > in/$'\\xff.ahap'; $TEMBLOR check in; $TEMBLOR check in/$'\\xff.ahap'")
    #expect(
      run.error == """
        in/\u{FFFD}.ahap: the file name is not valid UTF-8; rename the file
        in/\u{FFFD}.ahap: the file name is not valid UTF-8; rename the file

        """)
    #expect(run.status == 1)
  }
}
