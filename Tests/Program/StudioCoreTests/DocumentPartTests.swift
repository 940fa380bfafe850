import HapticFormats
import HapticModel
import Reading
import Testing
import VendorFormats

@testable import StudioCore

/// The patterns of files that have several.
@Suite struct DocumentPartTests {
  private static func event(_ milliseconds: Int, index: Int) -> String {
    """
    {"Event": {"Type": "transient", "RelativeTime": \(milliseconds), "Duration": 20,
      "Index": \(index), "Parameters": {"Frequency": 50, "Intensity": 80}}}
    """
  }

  /// Returns a file with transients on the vibrators with the given indices, 200 ms apart. Index 0
  /// is every vibrator.
  private static func richTap(_ indices: [Int]) -> SourceFile {
    let events = indices.enumerated().map { event(200 * $0, index: $1) }
    let text = """
      {"Metadata": {"Version": 2, "Created": "2020-01-01", "Description": "Duet"}, "PatternList": [
        {"AbsoluteTime": 0, "Pattern": [\(events.joined(separator: ", "))]}]}
      """
    return SourceFile(Array(text.utf8), name: "duet.he")
  }

  private static func clip(_ name: String, seconds: Double) -> String {
    """
    {"clipId": "\(name)", "name": "\(name)", "haptic": {
      "version": {"major": 1, "minor": 0, "patch": 0}, "signals": {"continuous": {"envelopes": {
        "amplitude": [{"time": 0, "amplitude": 0.5}, {"time": \(seconds), "amplitude": 0}]}}}}}
    """
  }

  private static func project(_ clips: [String]) -> SourceFile {
    let text = """
      {"version": {"major": 2, "minor": 0, "patch": 0}, "state": {"clipId": "a"},
       "clips": [\(clips.joined(separator: ", "))]}
      """
    return SourceFile(Array(text.utf8), name: "steps.hasp")
  }

  private func parts(_ file: SourceFile) -> [DocumentPart] {
    var document = Document()
    document.open(file)
    #expect(document.isReadable)
    return document.parts
  }

  private func eventTimes(_ part: DocumentPart) throws -> [Double] {
    try AHAPEditor(text: part.text, name: part.name).pattern.events.map(\.time).sorted()
  }

  @Test("A body location has its own events and those of all locations")
  func locationsHaveTheirEvents() throws {
    let parts = parts(Self.richTap([1, 2, 0]))
    #expect(parts.map(\.kind) == [.location, .location])
    #expect(parts.map(\.name) == ["left", "right"])
    #expect(try parts.map(eventTimes) == [[0, 0.4], [0.2, 0.4]])
    #expect(parts.allSatisfy { $0.losses.isEmpty })
  }

  @Test("The clips of a project are separate patterns")
  func clipsAreSeparate() throws {
    let parts = parts(Self.project([Self.clip("a", seconds: 0.5), Self.clip("b", seconds: 0.25)]))
    #expect(parts.map(\.kind) == [.clip, .clip])
    #expect(parts.map(\.name) == ["a", "b"])
    #expect(try parts.map(eventTimes) == [[0], [0]])
  }

  /// If the file were parsed for each clip, the time would grow with the square of their number.
  @Test("A project of a thousand clips has a thousand parts, like those of separate readings")
  func projectsMayBeLong() throws {
    let file = Self.project((0..<1_000).map { Self.clip("\($0)", seconds: 0.1) })
    let parts = parts(file)
    #expect(parts.count == 1_000)
    let last = try #require(parts.last)
    #expect(last.name == "999")
    let lastFile = SourceFile(file.bytes, name: file.name, part: .init(index: 999, name: "999"))
    let conversion = try DocumentConversion.convertFile(
      lastFile, from: .studioProject, to: .ahap)
    #expect(last.text == conversion.bytes)
  }

  @Test("A file with one pattern has no parts")
  func singlePatternsHaveNoParts() {
    #expect(parts(Self.richTap([0, 0])).isEmpty)
    #expect(parts(Self.project([Self.clip("a", seconds: 0.5)])).isEmpty)
    let tap = #"{"Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}]}"#
    #expect(parts(SourceFile(Array(tap.utf8), name: "tap.ahap")).isEmpty)
  }
}
