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

  private func slot(_ text: String = tap) -> Document {
    var slot = Document()
    slot.open(SourceFile(Array(text.utf8), name: "tap.ahap"))
    return slot
  }

  private func text(_ slot: Document) -> String { String(decoding: slot.text, as: UTF8.self) }

  @Test func stepsHaveTheirNames() throws {
    var slot = slot()
    #expect(slot.historySummary == (nil, nil, false))
    slot.beginUndoStep("Move event")
    try slot.applyChanges([.set("events[0].time", to: .number(0.1))])
    try slot.applyChanges([.set("events[0].time", to: .number(0.2))])
    slot.beginUndoStep("Delete event")
    try slot.applyChanges([.duplicate("events[0]")])
    #expect(slot.historySummary == ("Delete event", nil, true))
    #expect(slot.moveInHistory(forward: false) == true)
    #expect(slot.historySummary == ("Move event", "Delete event", true))
    #expect(slot.moveInHistory(forward: false) == true)
    #expect(slot.historySummary == (nil, "Move event", false))
    #expect(text(slot) == Self.tap)
    #expect(slot.moveInHistory(forward: false) == false)
    #expect(slot.moveInHistory(forward: true) == true)
    #expect(text(slot).contains("0.2"))
  }

  @Test func dragWithoutEffectIsNoStep() throws {
    var slot = slot()
    slot.beginUndoStep("Move event")
    try slot.applyChanges([.set("events[0].time", to: .number(0.1))])
    try slot.applyChanges([.set("events[0].time", to: .number(0))])
    #expect(slot.historySummary == (nil, nil, false))
    slot.beginUndoStep("Nothing")
    #expect(slot.historySummary == (nil, nil, false))
  }

  @Test func changeClearsRedoSteps() throws {
    var slot = slot()
    try slot.applyChanges([.set("events[0].time", to: .number(0.1))])
    #expect(slot.moveInHistory(forward: false) == true)
    try slot.applyChanges([.set("events[0].time", to: .number(0.3))])
    #expect(slot.moveInHistory(forward: true) == false)
  }

  @Test func refusedChangesHaveNoEffect() throws {
    var slot = slot()
    #expect(throws: InputError.self) {
      try slot.applyChanges([.set("events[0].time", to: .number(1)), .remove("events[7]")])
    }
    #expect(text(slot) == Self.tap)
    #expect(slot.historySummary == (nil, nil, false))
  }

  @Test func invalidTextIsShownAndLastValidOneSounds() throws {
    var slot = slot()
    slot.replaceText(Array("{\"Pattern\":\n[}".utf8))
    #expect(!slot.isReadable)
    #expect(slot.readingError?.location.position == .text(line: 2, column: 2))
    #expect(slot.lastReadableEditor?.pattern.events.count == 1)
    #expect(throws: InputError.self) { try slot.applyChanges([.remove("events[0]")]) }
    #expect(slot.moveInHistory(forward: false) == true)
    #expect(slot.isReadable)
    #expect(text(slot) == Self.tap)
  }

  @Test func invalidFileKeepsTheAudiblePattern() {
    var slot = slot()
    slot.open(SourceFile(Array("{".utf8), name: "broken.ahap"))
    #expect(!slot.isReadable)
    #expect(text(slot) == "{")
    #expect(slot.lastReadableEditor?.pattern.events.count == 1)
  }

  @Test(arguments: ShippedPatterns.names) func randomChangesAreAllUndone(_ name: String) throws {
    let original = try #require(ShippedPatterns.text(named: name))
    var slot = Document()
    slot.open(SourceFile(original, name: name + ".ahap"))
    #expect(slot.text == original)
    #expect(slot.changedLineNumbers.isEmpty)
    var chance = SplitMixGenerator(state: UInt64(name.utf8.count))
    var made = 0
    for number in 0..<40 {
      slot.beginUndoStep("Step \(number)")
      let count = try #require(slot.lastReadableEditor?.pattern.events.count)
      guard count > 0 else { break }
      let path = "events[\(Int.random(in: 0..<count, using: &chance))]"
      let change: PatternChange =
        switch Int.random(in: 0..<4, using: &chance) {
        case 0:
          .set(
            path + ".intensity", to: .number(Double(Int.random(in: 0...100, using: &chance)) / 100))
        case 1:
          .set(path + ".time", to: .number(Double(Int.random(in: 0...1000, using: &chance)) / 1000))
        case 2:
          .duplicate(path)
        default:
          .remove(path)
        }
      let before = slot.text
      do {
        try slot.applyChanges([change])
      } catch {
        continue
      }
      if slot.text != before {
        made += 1
      }
    }
    let changed = slot.text
    var undone = 0
    while slot.moveInHistory(forward: false) {
      undone += 1
    }
    #expect(undone == made)
    #expect(slot.text == original)
    while slot.moveInHistory(forward: true) {}
    #expect(slot.text == changed)
  }

  @Test func changedLinesAreNumbered() {
    var slot = slot("{\n\"Pattern\": [\n]\n}")
    slot.replaceText(Array("{\n\"Version\": 1.0,\n\"Pattern\": [\n]\n}".utf8))
    #expect(slot.changedLineNumbers == [2])
    slot.replaceText(Array("{\n\"Pattern\": [ ]\n}".utf8))
    #expect(slot.changedLineNumbers == [2])
  }

  @Test("The lines that are not marked as changed are lines of the opened text, in the same order")
  func unmarkedLinesBelongToTheOpenedText() {
    var chance = SplitMixGenerator(state: 7)
    for _ in 0..<300 {
      let lines = ["", "a", "b", "ab", "\r"]
      func makeText() -> String {
        let count = Int.random(in: 0...8, using: &chance)
        return (0..<count).map { _ in lines.randomElement(using: &chance) ?? "" }
          .joined(separator: "\n")
      }
      let opened = makeText()
      let changed = makeText()
      var slot = slot(opened)
      slot.replaceText(Array(changed.utf8))
      let numbers = Set(slot.changedLineNumbers)
      var openedLines = opened.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
      let changedLines = changed.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      for (index, line) in changedLines.enumerated() where !numbers.contains(index + 1) {
        let position = openedLines.firstIndex { $0.elementsEqual(line) }
        #expect(position != nil, "line \(index + 1) of \(changed.debugDescription)")
        openedLines = openedLines[((position ?? openedLines.startIndex) + 1)...]
      }
      let allOpenedLines = opened.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      let difference = changedLines.map(Array.init).difference(from: allOpenedLines.map(Array.init))
      #expect(numbers.count == difference.insertions.count)
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
    for wrong in ["[{}]", "[{\"set\": \"events[0].time\"}]", "["] {
      #expect(throws: InputError.self) { try [PatternChange](json: Array(wrong.utf8)) }
    }
  }
}
