import Reading
import PatternWorkflows

/// Findings in the Static Analysis Results Interchange Format of OASIS, version 2.1.0, which code hosts read.
enum SARIFReport {
  /// The report of one run.
  ///
  /// - Parameter rules: All rules that were checked.
  static func text(_ findings: [Finding], rules: [Rule]) -> [UInt8] {
    var json = JSONWriter()
    json.object { root in
      root.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      root.member("version", "2.1.0")
      root.array("runs") { runs in
        runs.object { run in
          run.object("tool") { tool in
            tool.object("driver") { driver in
              driver.member("name", "temblor")
              driver.member("version", temblorVersion)
              driver.array("rules") { list in for rule in rules { list.object { write(rule, to: &$0) } } }
            }
          }
          run.member("columnKind", "unicodeCodePoints")
          run.array("results") { list in for finding in findings { list.object { write(finding, rules, to: &$0) } } }
        }
      }
    }
    return json.finish()
  }

  private static func write(_ rule: Rule, to entry: inout JSONObjectWriter) {
    entry.member("id", rule.id.text)
    entry.object("shortDescription") { $0.member("text", rule.explanation) }
    entry.object("defaultConfiguration") { $0.member("level", "\(rule.severity)") }
    entry.object("properties") { $0.member("category", rule.category.rawValue) }
  }

  private static func write(_ finding: Finding, _ rules: [Rule], to entry: inout JSONObjectWriter) {
    entry.member("ruleId", finding.rule.text)
    if let index = rules.firstIndex(where: { $0.id == finding.rule }) { entry.member("ruleIndex", index) }
    entry.member("level", "\(finding.severity)")
    entry.object("message") { message in
      message.member("text", finding.message + (finding.suggestion.map { "; \($0)" } ?? ""))
    }
    entry.array("locations") { list in
      list.object { location in
        location.object("physicalLocation") { physical in
          physical.object("artifactLocation") { $0.member("uri", uri(finding.place.name)) }
          switch finding.place.position {
          case .whole: break
          case .text(let line, let column):
            physical.object("region") { region in
              region.member("startLine", line)
              region.member("startColumn", column)
            }
          case .byte(let byte, _):
            physical.object("region") { region in
              region.member("byteOffset", byte)
              region.member("byteLength", 1)
            }
          }
        }
        guard !finding.place.path.isEmpty else { return }
        location.array("logicalLocations") { names in
          names.object { $0.member("fullyQualifiedName", finding.place.path) }
        }
      }
    }
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
