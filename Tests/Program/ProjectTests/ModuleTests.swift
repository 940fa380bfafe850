import Foundation
import Testing

/// Checks the rings and modules that ARCHITECTURE.md describes against the sources and the manifest.
struct ModuleTests {
  /// The folders of `Sources`. A module imports only modules of its own ring and of the rings before it.
  private static let rings = ["Core", "Formats", "Devices", "Lab", "Apple", "Program"]

  /// A Swift module of `Sources`.
  private struct Module {
    let ring: String
    /// The modules of this package that its files import.
    var imports: Set<String> = []
  }

  /// The modules of `Sources` by name.
  private static func modules() throws -> [String: Module] {
    var modules: [String: Module] = [:]
    for file in try Checkout.files(in: ["Sources"], endings: ["swift"]) {
      let folders = file.path.split(separator: "/").map(String.init)
      var module = modules[folders[2]] ?? Module(ring: folders[1])
      module.imports.formUnion(file.lines.compactMap(importedModule))
      modules[folders[2]] = module
    }
    let names = Set(modules.keys)
    return modules.mapValues { module in
      Module(ring: module.ring, imports: module.imports.intersection(names))
    }
  }

  /// Returns the module that a line imports, or nil for any other line.
  private static func importedModule(in line: String) -> String? {
    // Searching for the word first avoids the slow regular expression in nearly all lines.
    guard line.utf8.count < 80, line.contains("import ") else { return nil }
    let statement = /^ *(?:@\w+(?:\(\w+\))? )*(?:public |package |internal )?import (\w+)$/
    return line.firstMatch(of: statement).map { String($0.1) }
  }

  /// The text of ARCHITECTURE.md that lists the modules of each ring.
  private static func documentedModules() throws -> [String: Set<String>] {
    let lines = try Checkout.text("ARCHITECTURE.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## Modules"))
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    var ring = ""
    var documented: [String: Set<String>] = [:]
    for line in section {
      if let heading = line.wholeMatch(of: /\*\*(\w+)\*\*/) {
        ring = String(heading.1)
      }
      guard let names = line.wholeMatch(of: /- (`[^:]+): .*/) else { continue }
      for name in names.1.matches(of: /`([\w-]+)`/) {
        documented[ring, default: []].insert(String(name.1))
      }
    }
    return documented
  }

  /// The dependencies of each target of Package.swift.
  private static func manifestDependencies() throws -> [String: Set<String>] {
    let text = try Checkout.text("Package.swift")
    let entry =
      /\n    (\w+)\(\s*"([\w-]+)"((?:[^()"]|"[^"]*"|\.soundOutput\("\w+"\))*)\)/
    var dependencies: [String: Set<String>] = [:]
    for match in text.matches(of: entry) where !["tests", "suite", "swift5Tests"].contains(match.1)
    {
      let list = match.3.firstMatch(of: /uses: \[([^\]]*)\]/).map { String($0.1) } ?? ""
      let names = list.matches(of: /"([\w-]+)"/).map { String($0.1) }
      dependencies[String(match.2)] = Set(names)
    }
    return dependencies
  }

  @Test("Every module is in one of the six rings")
  func modulesAreInRings() throws {
    for (name, module) in try Self.modules() {
      #expect(Self.rings.contains(module.ring), "\(name) is in \(module.ring)")
    }
  }

  @Test("A module imports only its own ring and the rings before it")
  func modulesImportNoLaterRing() throws {
    let modules = try Self.modules()
    for (name, module) in modules {
      let rank = Self.rings.firstIndex(of: module.ring) ?? 0
      for imported in module.imports {
        let importedRing = modules[imported]?.ring ?? ""
        let importedRank = Self.rings.firstIndex(of: importedRing) ?? 0
        #expect(
          importedRank <= rank, "\(name) (\(module.ring)) imports \(imported) (\(importedRing))")
      }
    }
  }

  @Test("No modules import each other in a cycle")
  func importsHaveNoCycle() throws {
    var remaining = try Self.modules().mapValues(\.imports)
    while let leaf = remaining.first(where: { $0.value.isDisjoint(with: remaining.keys) })?.key {
      remaining[leaf] = nil
    }
    #expect(remaining.isEmpty, "a cycle among \(remaining.keys.sorted())")
  }

  @Test("The manifest lists exactly the modules that each target imports")
  func manifestMatchesImports() throws {
    let modules = try Self.modules()
    let manifest = try Self.manifestDependencies()
    for (name, module) in modules {
      let listed = try #require(manifest[name], "Package.swift has no target \(name)")
      #expect(listed.intersection(modules.keys) == module.imports, "Package.swift: \(name)")
    }
  }

  @Test("ARCHITECTURE.md lists every module in its ring")
  func architectureListsTheModules() throws {
    let modules = try Self.modules()
    let documented = try Self.documentedModules()
    for ring in Self.rings {
      let names = Set(modules.filter { $0.value.ring == ring }.keys)
      let missing = names.subtracting(documented[ring, default: []])
      #expect(missing.isEmpty, "ARCHITECTURE.md, \(ring): missing \(missing.sorted())")
      let unknown = documented[ring, default: []].filter { name in
        !name.hasPrefix("C") && !names.contains(name)
      }
      #expect(unknown.isEmpty, "ARCHITECTURE.md, \(ring): unknown \(unknown.sorted())")
    }
  }

  @Test("A source file has at most 800 lines")
  func filesAreShortEnoughToRead() throws {
    var lineCount = 0
    for file in try Checkout.files(in: ["Sources"], endings: ["swift"]) {
      lineCount += file.lines.count - 1
      #expect(file.lines.count <= 801, "\(file.path) has \(file.lines.count - 1) lines")
    }
    // For information only: the number of lines is not limited.
    print("Sources: \(lineCount) lines of Swift")
  }
}
