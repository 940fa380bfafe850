import Reading
import PatternWorkflows

/// Findings in the Static Analysis Results Interchange Format of OASIS, version 2.1.0, which code hosts read.
enum SARIFReport {
  /// The report of one run in which some rules were checked.
  static func fields(_ findings: [Finding], rules: [Rule]) -> JSONFields {
    let driver: JSONFields = ["name": "temblor", "version": temblorVersion, "rules": rules.map(fields)]
    let run: JSONFields = [
      "tool": ["driver": driver] as JSONFields, "columnKind": "unicodeCodePoints",
      "results": findings.map { fields($0, rules) },
    ]
    return ["$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]]
  }

  private static func fields(_ rule: Rule) -> JSONFields {
    [
      "id": rule.id.text, "shortDescription": ["text": rule.explanation] as JSONFields,
      "defaultConfiguration": ["level": "\(rule.severity)"] as JSONFields,
      "properties": ["category": rule.category.rawValue] as JSONFields,
    ]
  }

  private static func fields(_ finding: Finding, _ rules: [Rule]) -> JSONFields {
    let region: JSONFields? =
      switch finding.place.position {
      case .whole: nil
      case .text(let line, let column): ["startLine": line, "startColumn": column]
      case .byte(let byte, _): ["byteOffset": byte, "byteLength": 1]
      }
    let physical: JSONFields = [
      "artifactLocation": ["uri": uri(finding.place.name)] as JSONFields, "region": region,
    ]
    let names: [JSONFields] = [["fullyQualifiedName": finding.place.path]]
    let location: JSONFields = [
      "physicalLocation": physical, "logicalLocations": finding.place.path.isEmpty ? nil : names,
    ]
    let text = finding.message + (finding.suggestion.map { "; \($0)" } ?? "")
    return [
      "ruleId": finding.rule.text, "ruleIndex": rules.firstIndex { $0.id == finding.rule },
      "level": "\(finding.severity)", "message": ["text": text] as JSONFields, "locations": [location],
    ]
  }

  /// A path as a reference of RFC 3986, relative where the path is.
  static func uri(_ path: String) -> String {
    var text = path.hasPrefix("/") ? "file://" : ""
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    for byte in path.utf8 {
      if plain.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
    return text
  }
}
