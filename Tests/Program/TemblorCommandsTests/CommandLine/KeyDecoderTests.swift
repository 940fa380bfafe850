import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct KeyDecoderTests {
  private func keys(_ text: String) -> [KeyPress] {
    var decoder = KeyDecoder()
    return decoder.decode(Array(text.utf8), at: .zero)
  }

  @Test(
    arguments: [
      ("a +", [.character("a"), .character(" "), .character("+")]),
      ("é€😀", [.character("é"), .character("€"), .character("😀")]),
      ("\r\n\t\u{8}\u{7F}", [.enter, .enter, .tab, .backspace, .backspace]),
      ("\u{4}\u{1A}", [.control("d"), .control("z")]),
      ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
      ("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD", [.up, .down, .right, .left]),
      ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~", [.home, .end, .home, .end]),
      ("\u{1B}[2~\u{1B}[3~\u{1B}[5~\u{1B}[6~", [.insert, .delete, .pageUp, .pageDown]),
      ("\u{1B}[1;5C\u{1B}[3;2~\u{1B}[Z", [.right, .delete, .backTab]),
      ("\u{1B}x\u{1B}\u{1B}[A", [.escape, .character("x"), .escape, .up]),
      ("\u{1B}[[A\u{1B}[200~\u{1B}OPq", [.character("q")]),
      ("\u{0}\u{1C}\u{85}q", [.character("q")]),
      ("\u{1B}[12\u{3}q", [.control("c"), .character("q")]),
    ] as [(String, [KeyPress])]) func knowsKeys(text: String, expected: [KeyPress])
  {
    #expect(keys(text) == expected)
    var decoder = KeyDecoder()
    let keysByteByByte = text.utf8.flatMap { decoder.decode([$0], at: .zero) }
    #expect(keysByteByByte == expected)
    #expect(decoder.escapeSequenceDeadline == nil)
  }

  @Test(
    arguments: [
      [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x80], [0xE2, 0x82], [0xF0, 0x9F], [0xF5, 0x80],
    ] as [[UInt8]]
  ) func invalidUTF8IsSkipped(bytes: [UInt8]) {
    var decoder = KeyDecoder()
    #expect(decoder.decode(bytes + [0x71], at: .zero) == [.character("q")])
  }

  @Test func singleEscapeIsAKeyAfterFiftyMilliseconds() {
    var decoder = KeyDecoder()
    #expect(decoder.decode([0x1B], at: .seconds(1)) == [])
    #expect(decoder.escapeSequenceDeadline == .milliseconds(1050))
    #expect(decoder.decode([], at: .milliseconds(1049)) == [])
    #expect(decoder.decode([], at: .milliseconds(1050)) == [.escape])
    #expect(decoder.escapeSequenceDeadline == nil)
  }

  @Test func lateBytesStartANewSequence() {
    var decoder = KeyDecoder()
    #expect(decoder.decode([0x1B], at: .zero) == [])
    #expect(
      decoder.decode(Array("[A".utf8), at: .milliseconds(50)) == [
        .escape, .character("["), .character("A"),
      ])
    #expect(decoder.decode(Array("\u{1B}[1".utf8), at: .seconds(1)) == [])
    #expect(decoder.decode(Array("q".utf8), at: .seconds(2)) == [.character("q")])
    #expect(decoder.decode([0xE2], at: .seconds(3)) == [])
    #expect(decoder.decode([], at: .seconds(4)) == [])
    #expect(decoder.escapeSequenceDeadline == nil)
  }

  @Test func endlessSequencesEnd() {
    var decoder = KeyDecoder()
    let noise = [UInt8](repeating: 0x30, count: 10_000)
    let keys = decoder.decode([0x1B, 0x5B] + noise, at: .zero)
    #expect(keys == [])
    #expect(decoder.escapeSequenceDeadline == nil)
    #expect(decoder.decode([0x71], at: .zero) == [.character("q")])
  }
}
