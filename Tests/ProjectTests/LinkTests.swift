import Foundation
import Testing

/// What pages link to, against the files.
struct LinkTests {
  @Test(arguments: Checkout.pages) func linksLeadToFiles(page: String) throws {
    for link in try Checkout.text(page).matches(of: /\]\(([^)#]+)[^)]*\)/) {
      let target = String(link.1)
      if target.contains("://") { continue }
      #expect(
        FileManager.default.fileExists(atPath: Checkout.root.appending(path: target).path), "\(page) links to \(target)"
      )
    }
  }

  @Test func pagesNameTheVersionOfTheProgram() throws {
    let source = try Checkout.text("Sources/PatternWorkflows/RenderJob.swift")
    let version = try #require(source.firstMatch(of: /let temblorVersion = "([\d.]+)"/)?.1)
    #expect(try Checkout.text("CITATION.cff").contains("\nversion: \(version)\n"))
    #expect(try Checkout.text("CHANGELOG.md").contains("\n## \(version) ("))
  }

  /// An article that its module's page does not list cannot be found.
  @Test func articlesAreListedByTheirModule() throws {
    for file in try Checkout.files(in: ["Sources"], endings: ["md"]) {
      guard let parts = file.path.wholeMatch(of: /(.+\/(\w+)\.docc)\/(\w+)\.md/) else { continue }
      let (_, folder, module, name) = parts.output
      if name == module { continue }
      let page = try Checkout.text("\(folder)/\(module).md")
      #expect(page.contains("<doc:\(name)>"), "\(file.path) is not listed")
    }
  }
}
