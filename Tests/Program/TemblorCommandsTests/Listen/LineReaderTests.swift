import Testing

@testable import CommandLineKit
@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct LineReaderTests {
  private func lines(_ chunks: String...) -> [LineReader.Line] {
    var reader = LineReader()
    let lines = chunks.flatMap { reader.lines(in: Array($0.utf8)[...]) }
    return lines + (reader.popLastLine().map { [$0] } ?? [])
  }

  @Test func linesMayArriveInChunks() {
    #expect(
      lines("ta", "p\npl", "ay x\r", "\n\n", "qu", "it") == [
        .text("tap"), .text("play x"), .text(""), .text("quit"),
      ])
    #expect(lines("a\n") == [.text("a")])
    #expect(lines() == [])
  }

  @Test func charactersMayBeSplit() {
    var reader = LineReader()
    #expect(reader.lines(in: [0xC3][...]) == [])
    #expect(reader.lines(in: [0xA9, 0x0A][...]) == [.text("é")])
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x00], [0x1B, 0x5B], [0x61, 0x0D, 0x62], [0x7F],
    ] as [[UInt8]])
  func invalidBytesAffectOnlyTheirLine(bytes: [UInt8]) {
    var reader = LineReader()
    #expect(
      reader.lines(in: (bytes + [0x0A] + Array("a\tb\n".utf8))[...]) == [
        .invalidUTF8(firstWord: ""), .text("a\tb"),
      ])
  }

  @Test("An invalid line keeps its first word, which may be its tag")
  func invalidLinesKeepTheirFirstWord() {
    var reader = LineReader()
    #expect(
      reader.lines(in: (Array(" @7 play ".utf8) + [0xFF, 0x0A])[...]) == [
        .invalidUTF8(firstWord: "@7")
      ])
    #expect(
      reader.lines(in: (Array("@".utf8) + [0xFF] + Array(" tap\n".utf8))[...]) == [
        .invalidUTF8(firstWord: "")
      ])
    let longest = String(repeating: "x", count: LineReader.maximumLineLength)
    #expect(
      lines("@8 ", longest, longest, "\nlist\n") == [.tooLong(firstWord: "@8"), .text("list")])
    #expect(lines("@8 " + longest, "\n") == [.tooLong(firstWord: "@8")])
  }

  @Test func longestLineIsReadAndLongerLinesAreReportedOnce() {
    let longest = String(repeating: "x", count: LineReader.maximumLineLength)
    #expect(lines(longest, "\r\n") == [.text(longest)])
    #expect(lines(longest, "x\nb\n") == [.tooLong(firstWord: ""), .text("b")])
    #expect(lines(longest, "xx", longest, "\nb") == [.tooLong(firstWord: ""), .text("b")])
    #expect(lines(longest, longest) == [.tooLong(firstWord: "")])
  }
}
