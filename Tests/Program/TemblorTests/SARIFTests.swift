import Foundation
import Testing

/// The members that the schema of SARIF 2.1.0 requires, and their allowed values.
@Suite struct SARIFTests {
  let folder = WorkingFolder()

  @Test func theReportHasTheStructureOfSARIF() throws {
    let patternText = Patterns.tap().replacing(#""Pattern""#, with: #""Colour": 1, "Pattern""#)
    try folder.write(patternText, to: "a.ahap")
    try folder.write(#"{"Pattern": [nonsense"#, to: "b.ahap")
    let run = try folder.temblor("check", "--sarif", "a.ahap", "b.ahap")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect(report["version"] as? String == "2.1.0")
    let runs = try #require(report["runs"] as? [[String: Any]])
    #expect(runs.count == 1)
    let driver = try #require((runs[0]["tool"] as? [String: Any])?["driver"] as? [String: Any])
    #expect(driver["name"] as? String == "temblor")
    let rules = try #require(driver["rules"] as? [[String: Any]]).map { $0["id"] as? String }
    #expect(!rules.contains(nil) && Set(rules).count == rules.count)
    #expect(
      ["utf16CodeUnits", "unicodeCodePoints"].contains(runs[0]["columnKind"] as? String ?? ""))
    let results = try #require(runs[0]["results"] as? [[String: Any]])
    var files: Set<String> = []
    for result in results {
      #expect((result["message"] as? [String: Any])?["text"] is String)
      #expect(["none", "note", "warning", "error"].contains(result["level"] as? String ?? ""))
      if let index = result["ruleIndex"] as? Int {
        #expect(rules[index] == result["ruleId"] as? String)
      }
      for location in try #require(result["locations"] as? [[String: Any]]) {
        let physical = try #require(location["physicalLocation"] as? [String: Any])
        let artifact = try #require(physical["artifactLocation"] as? [String: Any])
        files.insert(try #require(artifact["uri"] as? String))
        if let region = physical["region"] as? [String: Any] {
          #expect(region["startLine"] as? Int ?? 1 >= 1)
          #expect(region["startColumn"] as? Int ?? 1 >= 1)
        }
      }
    }
    #expect(files == ["a.ahap", "b.ahap"])
  }
}
