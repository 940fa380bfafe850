import HapticFormats
import HapticModel
import Reading
import ShippedFiles
import TestSupport
import Testing

@testable import StudioCore

/// Changes of a document, and undo steps.
struct HistoryTests {
  private static let tap = #"{"Pattern":[{"Event":{"Time":0,"EventType":"HapticTransient"}}]}"#

  private func document(_ text: String = tap) -> Document {
    var document = Document()
    document.open(SourceFile(Array(text.utf8), name: "tap.ahap"))
    return document
  }

  private func text(_ document: Document) -> String {
    String(decoding: document.text, as: UTF8.self)
  }

  @Test func stepsHaveTheirNames() throws {
    var document = document()
    #expect(document.historySummary == (nil, nil, false))
    document.beginUndoStep("Move event")
    try document.applyChanges([.set("events[0].time", to: .number(0.1))])
    try document.applyChanges([.set("events[0].time", to: .number(0.2))])
    document.beginUndoStep("Delete event")
    try document.applyChanges([.duplicate("events[0]")])
    #expect(document.historySummary == ("Delete event", nil, true))
    #expect(document.moveInHistory(forward: false) == true)
    #expect(document.historySummary == ("Move event", "Delete event", true))
    #expect(document.moveInHistory(forward: false) == true)
    #expect(document.historySummary == (nil, "Move event", false))
    #expect(text(document) == Self.tap)
    #expect(document.moveInHistory(forward: false) == false)
    #expect(document.moveInHistory(forward: true) == true)
    #expect(text(document).contains("0.2"))
  }

  @Test func dragWithoutEffectIsNoStep() throws {
    var document = document()
    document.beginUndoStep("Move event")
    try document.applyChanges([.set("events[0].time", to: .number(0.1))])
    try document.applyChanges([.set("events[0].time", to: .number(0))])
    #expect(document.historySummary == (nil, nil, false))
    document.beginUndoStep("Nothing")
    #expect(document.historySummary == (nil, nil, false))
  }

  @Test func changeClearsRedoSteps() throws {
    var document = document()
    try document.applyChanges([.set("events[0].time", to: .number(0.1))])
    #expect(document.moveInHistory(forward: false) == true)
    try document.applyChanges([.set("events[0].time", to: .number(0.3))])
    #expect(document.moveInHistory(forward: true) == false)
  }

  @Test func refusedChangesHaveNoEffect() throws {
    var document = document()
    #expect(throws: InputError.self) {
      try document.applyChanges([.set("events[0].time", to: .number(1)), .remove("events[7]")])
    }
    #expect(text(document) == Self.tap)
    #expect(document.historySummary == (nil, nil, false))
  }

  @Test func invalidTextIsShownAndTheLastValidPatternPlays() throws {
    var document = document()
    document.replaceText(Array("{\"Pattern\":\n[}".utf8))
    #expect(!document.isReadable)
    #expect(document.readingError?.location.position == .text(line: 2, column: 2))
    #expect(document.lastReadableEditor?.pattern.events.count == 1)
    #expect(throws: InputError.self) { try document.applyChanges([.remove("events[0]")]) }
    #expect(document.moveInHistory(forward: false) == true)
    #expect(document.isReadable)
    #expect(text(document) == Self.tap)
  }

  @Test func invalidFileKeepsTheAudiblePattern() {
    var document = document()
    document.open(SourceFile(Array("{".utf8), name: "broken.ahap"))
    #expect(!document.isReadable)
    #expect(text(document) == "{")
    #expect(document.lastReadableEditor?.pattern.events.count == 1)
  }

  @Test(arguments: ShippedPatterns.names) func randomChangesAreAllUndone(_ name: String) throws {
    let original = try #require(ShippedPatterns.text(named: name))
    var document = Document()
    document.open(SourceFile(original, name: name + ".ahap"))
    #expect(document.text == original)
    #expect(document.changedLineNumbers.isEmpty)
    var generator = SplitMixGenerator(state: UInt64(name.utf8.count))
    var changeCount = 0
    for stepNumber in 0..<40 {
      document.beginUndoStep("Step \(stepNumber)")
      let count = try #require(document.lastReadableEditor?.pattern.events.count)
      guard count > 0 else { break }
      let path = "events[\(Int.random(in: 0..<count, using: &generator))]"
      let change: PatternChange =
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          .set(
            path + ".intensity",
            to: .number(Double(Int.random(in: 0...100, using: &generator)) / 100))
        case 1:
          .set(
            path + ".time", to: .number(Double(Int.random(in: 0...1000, using: &generator)) / 1000))
        case 2:
          .duplicate(path)
        default:
          .remove(path)
        }
      let before = document.text
      do {
        try document.applyChanges([change])
      } catch {
        continue
      }
      if document.text != before {
        changeCount += 1
      }
    }
    let changedText = document.text
    var undoCount = 0
    while document.moveInHistory(forward: false) {
      undoCount += 1
    }
    #expect(undoCount == changeCount)
    #expect(document.text == original)
    while document.moveInHistory(forward: true) {}
    #expect(document.text == changedText)
  }

  @Test func changedLinesAreNumbered() {
    var document = document("{\n\"Pattern\": [\n]\n}")
    document.replaceText(Array("{\n\"Version\": 1.0,\n\"Pattern\": [\n]\n}".utf8))
    #expect(document.changedLineNumbers == [2])
    document.replaceText(Array("{\n\"Pattern\": [ ]\n}".utf8))
    #expect(document.changedLineNumbers == [2])
  }

  @Test("The lines that are not marked as changed are lines of the opened text, in the same order")
  func unmarkedLinesBelongToTheOpenedText() {
    var generator = SplitMixGenerator(state: 7)
    for _ in 0..<300 {
      let lines = ["", "a", "b", "ab", "\r"]
      func makeText() -> String {
        let count = Int.random(in: 0...8, using: &generator)
        return (0..<count).map { _ in lines.randomElement(using: &generator) ?? "" }
          .joined(separator: "\n")
      }
      let opened = makeText()
      let changed = makeText()
      var document = document(opened)
      document.replaceText(Array(changed.utf8))
      let changedLineNumbers = Set(document.changedLineNumbers)
      var openedLines = opened.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
      let changedLines = changed.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      for (index, line) in changedLines.enumerated() where !changedLineNumbers.contains(index + 1) {
        let position = openedLines.firstIndex { $0.elementsEqual(line) }
        #expect(position != nil, "line \(index + 1) of \(changed.debugDescription)")
        openedLines = openedLines[((position ?? openedLines.startIndex) + 1)...]
      }
      let allOpenedLines = opened.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      let difference = changedLines.map(Array.init).difference(from: allOpenedLines.map(Array.init))
      #expect(changedLineNumbers.count == difference.insertions.count)
    }
  }

  @Test func changesAreReadFromJSON() throws {
    let changes = try [PatternChange](
      json: Array(
        #"""
        [{"set": "events[3].time", "to": 1.25}, {"set": "events[0].loop", "to": true}, {"remove": "curves[0].points[2]"},
         {"add": {"Event": {}}, "after": "events[3]"}, {"duplicate": "events[3]"},
         {"addPoint": {"time": 0.2, "value": 0.5}, "to": "curves[0]"}]
        """#.utf8))
    #expect(
      changes == [
        .set("events[3].time", to: .number(1.25)), .set("events[0].loop", to: .flag(true)),
        .remove("curves[0].points[2]"), .add(Array(#"{"Event":{}}"#.utf8), after: "events[3]"),
        .duplicate("events[3]"), .addPoint(time: 0.2, value: 0.5, to: "curves[0]"),
      ])
    for invalidJSON in ["[{}]", "[{\"set\": \"events[0].time\"}]", "["] {
      #expect(throws: InputError.self) { try [PatternChange](json: Array(invalidJSON.utf8)) }
    }
  }
}
