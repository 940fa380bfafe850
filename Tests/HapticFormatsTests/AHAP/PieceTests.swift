import HapticFormats
import VendorFormats
import Reading
import HapticModel
import Testing

/// Files that are read in pieces hold what they hold when they are read as a whole.
@Suite struct PieceTests {
  /// A text whose bytes behind the first come from memory.
  static func reading(_ text: [UInt8], start: Int, pieceSize: Int) -> PieceReading? {
    var position = min(start, text.count)
    var file = SourcePieces(name: "t.ahap", start: Array(text[..<position])) { bytes, count in
      let end = min(position + count, text.count)
      bytes += text[position..<end]
      defer { position = end }
      return position + count <= text.count
    }
    file.pieceSize = pieceSize
    return AHAPFormat().reading(file, options: ReadingOptions(wantsFindings: false))
  }

  /// Reads a text both ways, in pieces of several sizes; whether it could be read in pieces.
  static func compare(_ text: [UInt8], start: Int, sizes: [Int], _ name: String) -> Bool {
    let whole = AHAPFormat().examine(SourceFile(text, name: "t.ahap"), options: ReadingOptions(wantsFindings: false))
    var count = 0
    for size in sizes {
      guard let pieces = reading(text, start: start, pieceSize: size) else { continue }
      count += 1
      #expect(pieces.composition == whole.composition, "\(name) in pieces of \(size)")
      #expect(pieces.details.map(\.name) == whole.details.map(\.name))
      #expect(pieces.details.map(\.value) == whole.details.map(\.value))
    }
    #expect(count == 0 || count == sizes.count, "\(name)")
    return count > 0
  }

  /// The place behind the bracket of the entries.
  static func entries(of text: [UInt8]) -> Int {
    let key = Array(#""Pattern""#.utf8)
    let place = text.indices.first { text[$0...].starts(with: key) } ?? 0
    return text[place...].firstIndex(of: UInt8(ascii: "[")).map { $0 + 1 } ?? text.count
  }

  @Test func filesHoldTheSame() throws {
    for folder in ["Valid", "Lossy", "Invalid"] {
      var count = 0
      for name in try Fixtures.names(in: folder) {
        let text = try Fixtures.text("\(folder)/\(name)")
        let start = Self.entries(of: text)
        if Self.compare(text, start: start, sizes: [5, 64, 100_000], name) { count += 1 }
      }
      // Those with sound files or absolute times are read as a whole.
      #expect(folder == "Invalid" ? count == 0 : count > 4, "\(folder): \(count)")
    }
  }

  @Test func whatIsDamagedIsTheSameOrReadAsAWhole() throws {
    var numbers = RobustnessTests.SeededNumbers(state: 41)
    let seeds = try Fixtures.names(in: "Valid").map { try Fixtures.text("Valid/\($0)") }
    var count = 0
    for round in 0..<2_000 {
      var text = seeds[round % seeds.count]
      for _ in 0...numbers.next(below: 2) {
        let place = numbers.next(below: text.count + 1)
        switch numbers.next(below: 4) {
        case 0 where place < text.count: text[place] = UInt8(numbers.next(below: 256))
        case 1:
          let piece = RobustnessTests.pieces[numbers.next(below: RobustnessTests.pieces.count)]
          text.insert(contentsOf: piece, at: place)
        case 2: text.insert(UInt8(ascii: " "), at: place)
        default: text.removeSubrange(place..<min(text.count, place + 1))
        }
      }
      let start = Self.entries(of: text) + numbers.next(below: 40)
      let sizes = [1 + numbers.next(below: 20), 1 + numbers.next(below: 300)]
      if Self.compare(text, start: start, sizes: sizes, "round \(round)") { count += 1 }
    }
    #expect(count > 200)
  }

  @Test func whatSaysTwoThingsIsReadAsAWhole() {
    let tap = #"{"Event":{"Time":0,"EventType":"HapticTransient"}}"#
    let texts = [
      #"{"Pattern":[\#(tap)],"Pattern":[]}"#, #"{"Pattern":[\#(tap)],"P\u0061ttern":1}"#, #"{"Pattern":[\#(tap)]} 1"#,
      #"{"Pattern":[\#(tap)]"#, #"{"Pattern":[\#(tap),,\#(tap)]}"#, #"{"Pattern":{"Pattern":[\#(tap)]}}"#,
      #"[{"Pattern":[\#(tap)]}]"#, #"{"Pattern":[\#(tap) \#(tap)]}"#,
    ]
    for text in texts { #expect(Self.reading(Array(text.utf8), start: 12, pieceSize: 30) == nil, "\(text)") }
    let right = #"{"Pattern":[\#(tap),\#(tap),],"Version":1}"#
    let reading = Self.reading(Array(right.utf8), start: 12, pieceSize: 30)
    #expect(reading?.composition.layers[0].pattern.events.count == 2)
    #expect(reading?.details.map(\.value) == ["1.0"])
  }
}
