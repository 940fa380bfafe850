import Foundation
import Testing

/// Counts layouts that make code hard to read. A limit may be lowered, never raised.
struct LayoutTests {
  /// A layout that new code does not use.
  private struct Layout: Sendable {
    let name: String
    /// The maximum number of lines of `Sources` that may have the layout.
    let limit: Int
    /// Returns true if a line of code, without indentation, comments and text of literals, has the
    /// layout.
    let matches: @Sendable (String) -> Bool
  }

  private static let layouts = [
    // Swaps and received tuples are the only uses of a tuple on the left of an assignment.
    Layout(name: "tuple assignment", limit: 9) { line in
      let starts = ["(", "let (", "var (", "static let (", "private static let ("]
      return starts.contains { line.hasPrefix($0) } && line.contains(") = (")
    },
    // Guard clauses such as `if isEmpty { return nil }` may be on one line.
    Layout(name: "body on the line of its statement", limit: 12) { line in
      let starts = ["if ", "while ", "for ", "switch "]
      guard starts.contains(where: line.hasPrefix), line.hasSuffix(" }") else { return false }
      let exits = ["{ return", "{ continue", "{ break", "{ throw"]
      return line.contains("{ ") && !exits.contains { line.contains($0) }
    },
    Layout(name: "two conditional operators in a line", limit: 75) { line in
      line.components(separatedBy: " ? ").count > 2
    },
    Layout(name: "$0 closure inside a closure", limit: 181) { line in
      var depth = 0
      var previous: Character = " "
      for character in line {
        switch character {
        case "{": depth += 1
        case "}": depth -= 1
        case "0" where previous == "$" && depth > 1: return true
        default: break
        }
        previous = character
      }
      return false
    },
  ]

  /// The lines of code of a file, without indentation, comments and text of literals.
  private static func codeLines(of file: Checkout.File) -> [String] {
    var isInLiteral = false
    var code: [String] = []
    for line in file.lines {
      let delimiters = line.components(separatedBy: "\"\"\"").count - 1
      let wasInLiteral = isInLiteral
      if delimiters % 2 == 1 {
        isInLiteral.toggle()
      }
      guard !wasInLiteral, !isInLiteral else { continue }
      let text = withoutLiterals(line)
      if !text.isEmpty {
        code.append(text)
      }
    }
    return code
  }

  /// Returns a line without indentation, without a comment, and with empty string literals.
  private static func withoutLiterals(_ line: String) -> String {
    var text: [UInt8] = []
    var isInString = false
    var isEscaped = false
    for byte in line.utf8 {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      if byte == UInt8(ascii: "\"") {
        isInString = true
      }
      if byte == UInt8(ascii: "/"), text.last == byte {
        text.removeLast()
        break
      }
      text.append(byte)
    }
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespaces)
  }

  @Test("Dense layouts do not spread")
  func denseLayoutsDoNotSpread() throws {
    let files = try Checkout.files(in: ["Sources"], endings: ["swift"])
    let lines = files.flatMap(Self.codeLines)
    for layout in Self.layouts {
      let count = lines.count(where: layout.matches)
      #expect(count <= layout.limit, "\(layout.name): \(count) lines, limit \(layout.limit)")
    }
  }

  @Test("Lines have at most 100 columns, URLs excepted")
  func linesAreAtMostAHundredColumns() throws {
    for file in try Checkout.files(in: ["Sources"], endings: ["swift"]) {
      for (index, line) in file.lines.enumerated() where line.utf8.count > 100 {
        let isAllowed = line.count <= 100 || line.contains("://")
        #expect(isAllowed, "\(file.path):\(index + 1) has \(line.count) columns")
      }
    }
  }

  @Test("Only umbrella modules and Apple's names export other modules")
  func onlyUmbrellasExportModules() throws {
    let umbrellas = ["Sources/Program/Temblor/", "Sources/Program/TemblorLab/", "Sources/Apple/"]
    for file in try Checkout.files(in: ["Sources"], endings: ["swift"]) {
      guard !umbrellas.contains(where: file.path.hasPrefix) else { continue }
      let exports = file.lines.filter { $0.contains("@_exported") }
      #expect(exports.isEmpty, "\(file.path)")
    }
  }
}
