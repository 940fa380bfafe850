import Foundation
import Testing

/// Checks the links and names in documents against the files.
struct LinkTests {
  /// The text of a page without its blocks of code.
  private static func prose(_ page: Checkout.File) -> String {
    page.lines.joined(separator: "\n").replacing(/(?m)^```[^`]*?^```$/, with: "")
  }

  /// The anchors of a page's headings, as repositories and the site make them.
  private static func anchors(_ page: String) -> [String] {
    page.matches(of: /(?m)^#+ (.+)$/).map {
      $0.1.lowercased().filter { $0.isLetter || $0.isNumber || "- _".contains($0) }.replacing(
        " ", with: "-")
    }
  }

  @Test func linksLeadToFilesAndHeadings() throws {
    for page in try Checkout.documents() {
      let base = Checkout.root.appending(path: page.path)
      for link in Self.prose(page).matches(of: /\]\(([^)#]*)#?([^)]*)\)/) {
        let path = String(link.1)
        let anchor = String(link.2)
        if path.contains("://") { continue }
        let target =
          path.isEmpty ? base : base.deletingLastPathComponent().appending(path: path).standardized
        let exists = FileManager.default.fileExists(atPath: target.path)
        #expect(exists, "\(page.path) links to \(path)")
        guard exists, !anchor.isEmpty else { continue }
        #expect(
          Self.anchors(try String(contentsOf: target, encoding: .utf8)).contains(anchor),
          "\(page.path) links to \(path)#\(anchor)")
      }
    }
  }

  /// Links that only DocC resolves appear as code elsewhere. `Tools/docs` makes them from links to
  /// files.
  @Test func articlesReadWellInARepository() throws {
    for page in try Checkout.documents() {
      for link in Self.prose(page).matches(of: /<doc:[^>]*>|``[^`\n]*\/[^`\n]*``/) {
        Issue.record("\(page.path): \(link.0)")
      }
    }
  }

  @Test func pagesNameTheVersionOfTheProgram() throws {
    let source = try Checkout.text("Sources/Program/PatternWorkflows/RenderJob.swift")
    let version = try #require(source.firstMatch(of: /let temblorVersion = "([\d.]+)"/)?.1)
    #expect(try Checkout.text("CITATION.cff").contains("\nversion: \(version)\n"))
    #expect(try Checkout.text("CHANGELOG.md").contains("\n## \(version) ("))
  }

  @Test func pagesAndChecksInstallTheSamePackages() throws {
    let paths = [
      "README.md", "CONTRIBUTING.md", ".ci/run", ".github/workflows/site.yml",
      "Sources/Core/CLateLibrary/include/packages.h",
    ]
    let lists = try paths.map {
      try Checkout.text($0).replacing(/\s+/, with: " ").firstMatch(
        of: /libasound2-dev [-\w ]*libcairo2\b/)?.output
    }
    #expect(Set(lists).count == 1)
  }

  /// An article that its module's page does not list cannot be found.
  @Test func articlesAreListedByTheirModule() throws {
    for file in try Checkout.files(in: ["Sources"], endings: ["md"]) {
      guard let parts = file.path.wholeMatch(of: /(.+\/(\w+)\.docc)\/(\w+)\.md/) else { continue }
      let (_, folder, module, name) = parts.output
      if name == module { continue }
      let page = try Checkout.text("\(folder)/\(module).md")
      #expect(page.contains("](\(name).md)"), "\(file.path) is not listed")
    }
  }
}
