import HapticFormats
import VendorFormats
import Reading
import Foundation
import HapticModel
import Testing

/// Files that people wrote for devices, from a folder named by the environment.
@Suite struct CorpusTests {
  struct Row {
    let path: String
    let columns: [String: String]

    func count(_ column: String) -> Int? { columns[column].flatMap(Int.init) }
  }

  static let folder = ProcessInfo.processInfo.environment["TEMBLOR_TEST_CORPUS"]

  static func rows() throws -> [Row] {
    guard let folder else { return [] }
    let index = try String(contentsOfFile: folder + "/INDEX.tsv", encoding: .utf8)
    let lines = index.split(whereSeparator: \.isNewline).map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    try #require(lines.count > 1)
    return lines.dropFirst().map { line in
      Row(path: line[0], columns: Dictionary(zip(lines[0], line)) { first, _ in first })
    }
  }

  static func text(of row: Row) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: (folder ?? "") + "/" + row.path)))
  }

  @Test func readsEveryFileWithTheCountsOfTheIndex() throws {
    for row in try Self.rows() {
      let document = try AHAPDocument(text: Self.text(of: row), name: row.path)
      let reading = try document.read()
      #expect(reading.eventCount(of: .hapticTransient) == row.count("ev_transient"), "\(row.path)")
      #expect(
        reading.eventCount(of: .hapticContinuous) == row.count("ev_continuous"), "\(row.path)")
      #expect(
        reading.eventCount(of: .audioContinuous) == row.count("ev_audio_continuous"), "\(row.path)")
      #expect(reading.eventCount(of: .audioCustom) == row.count("ev_audio_custom"), "\(row.path)")
      #expect(reading.pattern.parameters.count == row.count("dynamic_parameters"), "\(row.path)")
      #expect(reading.pattern.curves.count == row.count("curves"), "\(row.path)")
      #expect(
        reading.pattern.curves.map(\.controlPoints.count).max() ?? 0
          == row.count("max_control_points"), "\(row.path)")
    }
  }

  @Test func formattingKeepsTheContentOfEveryFile() throws {
    for row in try Self.rows() {
      let document = try AHAPDocument(text: Self.text(of: row), name: row.path)
      let canonicalText = document.canonicalText()
      let canonicalDocument = try AHAPDocument(text: canonicalText, name: row.path)
      #expect(canonicalDocument.canonicalText() == canonicalText, "\(row.path)")
      #expect(try canonicalDocument.read() == document.read(), "\(row.path)")
      #expect(
        canonicalDocument.examine().allFindings.count <= document.examine().allFindings.count,
        "\(row.path)")
    }
  }

  @Test func everyFileIsReadAndTrailingCommasAreReported() throws {
    let rows = try Self.rows()
    let rowsWithTrailingCommas = try rows.filter { row in
      let document = try AHAPDocument(text: Self.text(of: row), name: row.path)
      let result = document.examine()
      #expect(result.pattern != nil, "\(row.path)")
      return result.findings.contains { $0.rule == "trailing-comma" }
    }
    #expect(
      rowsWithTrailingCommas.map(\.path)
        == rows.filter { $0.columns["strict_json"]?.hasPrefix("no") == true }.map(\.path))
  }
}
