import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct ParsingTests {
  private func parse(_ line: String...) throws -> ParsedArguments {
    try SampleProgram.paint.parseArguments(line)
  }

  @Test(arguments: [
    ["--output", "f.png", "d"], ["--output=f.png", "d"], ["-o", "f.png", "d"], ["-of.png", "d"],
    ["-o=f.png", "d"],
    ["d", "-vo", "f.png"], ["d", "-vqof.png"], ["d", "-o", "f.png"],
  ]) func readsEverySpellingOfAValue(line: [String]) throws {
    let arguments = try SampleProgram.paint.parseArguments(line)
    #expect(arguments.value("--output") == "f.png")
    #expect(arguments.value("-o") == "f.png")
    #expect(arguments.values("DRAWING") == ["d"])
  }

  @Test func mixesOptionsAndPositionals() throws {
    let arguments = try parse("a", "--verbose", "b", "--size", "9", "c")
    #expect(arguments.positionalArguments == ["a", "b", "c"])
    #expect(arguments.argument("DRAWING") == "c")
    #expect(arguments.hasFlag("-v"))
    #expect(!arguments.hasFlag("--quiet"))
    #expect(try arguments.integer("--size") == 9)
  }

  @Test func acceptsDashAndNegativeNumbersAsPositionals() throws {
    #expect(try parse("-", "-3", "-.5").positionalArguments == ["-", "-3", "-.5"])
  }

  @Test func acceptsDashAndNegativeNumbersAsValues() throws {
    #expect(try parse("d", "-o", "-").value("--output") == "-")
    #expect(try parse("d", "--gain", "-3.5e1").number("--gain") == -35)
    #expect(try parse("d", "--gain=-6").integer("--gain") == -6)
  }

  @Test func endsOptionsAtTwoDashes() throws {
    let arguments = try parse("-v", "--", "--size", "-h", "--")
    #expect(arguments.positionalArguments == ["--size", "-h", "--"])
    #expect(arguments.value("--size") == nil)
  }

  @Test func keepsRepeatedValuesInOrder() throws {
    #expect(try parse("--layer=b", "d", "--layer", "a").values("--layer") == ["b", "a"])
  }

  @Test func countsRepeatedFlags() throws {
    #expect(try parse("-vv", "d", "--verbose").values("-v").count == 3)
  }

  @Test func keepsEmptyArguments() throws {
    let arguments = try parse("", "--output=", "--layer", "")
    #expect(arguments.positionalArguments == [""])
    #expect(arguments.value("--output") == "")
    #expect(arguments.values("--layer") == [""])
  }

  @Test func keepsFurtherEqualsSignsInTheValue() throws {
    #expect(try parse("--output=a=b", "d").value("-o") == "a=b")
  }

  @Test func assignsPositionalsFromBothEnds() throws {
    let command = Command(
      "copy", abstract: "Copy.",
      arguments: [Argument("FROM", help: "", isRepeatable: true), Argument("TO", help: "")]
    ) { _, _ in .success }
    let arguments = try command.parseArguments(["a", "b", "c"])
    #expect(arguments.values("FROM") == ["a", "b"])
    #expect(arguments.argument("TO") == "c")
    #expect(throws: UsageError("missing TO")) { try command.parseArguments(["c"]) }
  }

  @Test func optionalArgumentsMayBeMissing() throws {
    #expect(try SampleProgram.compare.parseArguments(["a", "b"]).value("FOLDER") == nil)
    #expect(try SampleProgram.compare.parseArguments(["a", "b", "c"]).value("FOLDER") == "c")
  }

  @Test func readsChoicesAsCases() throws {
    let toneOption = Option("--tone", value: "TONE", help: "").choice(of: SampleProgram.Tone.self)
    #expect(try parse("d", "--tone", "bright")[toneOption] == .bright)
    #expect(try parse("d")[toneOption] == nil)
  }

  @Test func acceptsBothEndsOfARange() throws {
    #expect(try parse("d", "--size=1").integer("--size", in: 1...9) == 1)
    #expect(try parse("d", "--size=9").number("--size", in: 1...9) == 9)
  }

  @Test(arguments: [
    ("x", 1...9, "invalid value 'x' for '--size': expected a whole number from 1 to 9"),
    ("10", 1...9, "invalid value '10' for '--size': expected a whole number from 1 to 9"),
    ("1.5", 1...9, "invalid value '1.5' for '--size': expected a whole number from 1 to 9"),
    ("0", 1...Int.max, "invalid value '0' for '--size': expected a whole number of at least 1"),
    ("7", Int.min...6, "invalid value '7' for '--size': expected a whole number of at most 6"),
    (
      "99999999999999999999", Int.min...Int.max,
      "invalid value '99999999999999999999' for '--size': expected a whole number"
    ),
  ]) func refusesWholeNumbers(text: String, range: ClosedRange<Int>, message: String) throws {
    let arguments = try parse("d", "--size", text)
    #expect(throws: UsageError(message)) { try arguments.integer("--size", in: range) }
  }

  @Test(arguments: [
    ("loud", -60...6.5, "invalid value 'loud' for '--gain': expected a number from -60 to 6.5"),
    ("7", -60...6.5, "invalid value '7' for '--gain': expected a number from -60 to 6.5"),
    (
      "nan", 0...Double.infinity,
      "invalid value 'nan' for '--gain': expected a number of at least 0"
    ),
    (
      "inf", -Double.infinity...Double.infinity,
      "invalid value 'inf' for '--gain': expected a number"
    ),
    (" 1", -Double.infinity...0, "invalid value ' 1' for '--gain': expected a number of at most 0"),
  ]) func refusesNumbers(text: String, range: ClosedRange<Double>, message: String) throws {
    let arguments = try parse("d", "--gain", text)
    #expect(throws: UsageError(message)) { try arguments.number("--gain", in: range) }
  }

  @Test func undeclaredOptionStopsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      _ = try SampleProgram.paint.parseArguments(["d"]).hasFlag("--nonesuch")
    }
  }
}
