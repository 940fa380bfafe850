import Foundation
import Testing

/// What ARCHITECTURE.md says of the modules, against the sources.
struct ModuleTests {
  private static func module(of file: Checkout.File) -> String {
    let folders = file.path.split(separator: "/")
    return String(folders[2])
  }

  /// The modules of this package that a module's sources import.
  private static func imports() throws -> [String: Set<String>] {
    var imports: [String: Set<String>] = [:]
    for file in try Checkout.files(in: ["Sources"], endings: ["swift"]) {
      imports[module(of: file), default: []].formUnion(
        // Looking for the word first spares the slow search in nearly all lines.
        file.lines.lazy.filter { $0.utf8.count < 80 && $0.contains("import ") }.compactMap { line in
          line.firstMatch(
            of: /^ *(?:@\w+(?:\(\w+\))? )*(?:public |package |internal )?import (\w+)$/
          ).map {
            String($0.1)
          }
        })
    }
    let modules = Set(imports.keys)
    return imports.mapValues { $0.intersection(modules) }
  }

  /// The rows of the table of modules: the names in the first and in the last column.
  private static func table() throws -> [String: Set<String>] {
    let lines = try Checkout.text("ARCHITECTURE.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "| module | contents | dependencies |"))
    var table: [String: Set<String>] = [:]
    for line in lines[(start + 2)...].prefix(while: { $0.hasPrefix("|") }) {
      let cells = line.split(separator: "|")
      func names(_ cell: Substring) -> Set<String> {
        Set(cell.matches(of: /`([\w-]+)`/).map { String($0.1) })
      }
      for module in names(cells[0]) {
        table[module] = names(cells[2])
      }
    }
    return table
  }

  /// The rows of the table in Package.swift whose modules are in Swift: what each uses of them.
  private static func manifest() throws -> [String: Set<String>] {
    let text = try Checkout.text("Package.swift").replacing("\\\n", with: "")
    let table = try #require(text.firstMatch(of: /table\(\n +"""\n([^"]+)"""/)).1
    var rows: [String: Set<String>] = [:]
    for row in table.split(whereSeparator: { $0 == "\n" || $0 == ";" }) {
      let words = row.split(separator: " ").map { String($0.prefix { $0 != "?" }) }
      if words.count > 1, words[1] != "c" {
        rows[words[0]] = Set(words[2...])
      }
    }
    return rows.mapValues { $0.intersection(rows.keys) }
  }

  @Test func architectureAndManifestListTheModulesWithWhatTheyImport() throws {
    let imports = try Self.imports()
    let table = try Self.table()
    #expect(Set(table.keys) == Set(imports.keys))
    let manifest = try Self.manifest()
    for (module, imported) in imports {
      let list = imported.sorted().map { "`\($0)`" }.joined(separator: ", ")
      #expect(table[module] == imported, "\(module) imports \(list)")
      #expect(manifest[module] == imported, "Package.swift: \(module) imports \(list)")
    }
  }

  @Test func modulesImportOnlyDownwards() throws {
    var open = try Self.imports()
    while let module = open.first(where: { $0.value.isDisjoint(with: open.keys) })?.key {
      open[module] = nil
    }
    #expect(open.isEmpty, "a circle among \(open.keys.sorted())")
  }

  @Test func filesAreShortEnoughToRead() throws {
    for file in try Checkout.files(in: ["Sources"], endings: ["swift"]) {
      #expect(file.lines.count <= 801, "\(file.path) has \(file.lines.count - 1) lines")
    }
  }

  /// The most lines of Swift in a module: what it takes, rounded up to the next fifty.
  private static let budgets = [
    "AVFAudio": 300, "AVFoundation": 100, "AppKit": 100, "AudioToolbox": 100, "Combine": 350,
    "CommandLineKit": 1_850,
    "CoreHaptics": 3_050, "CoreHapticsTesting": 1_250, "GameController": 100,
    "HapticFormats": 3_000,
    "HapticManagement": 700, "HapticModel": 1_050, "HapticOutputs": 2_450, "HapticPlayback": 2_700,
    "HapticRender": 7_400, "HapticTesting": 250, "PatternComparison": 6_750, "PatternRules": 900,
    "PatternWorkflows": 1_350, "QuartzCore": 100, "Reading": 2_650, "RealtimeMemory": 250,
    "ReviewPages": 1_750,
    "ShippedFiles": 100, "SignalAnalysis": 2_000, "SignalPlots": 3_800, "SoundFile": 1_150,
    "SoundFollowing": 600,
    "SoundTracing": 1_800, "StudioCore": 1_250, "SwiftUI": 400, "SystemSupport": 1_600,
    "Temblor": 200,
    "TemblorCommands": 12_000, "TemblorLibrary": 300, "TransducerCalibration": 2_750,
    "TransducerProfiles": 1_950,
    "UIKit": 350, "VendorFormats": 6_900, "WatchKit": 100, "_Testing_AppKit": 100,
    "_Testing_UIKit": 100, "os": 100,
    "temblor": 100, "temblor-bench": 650,
  ]

  @Test func modulesKeepTheirBudgetOfLines() throws {
    let files = try Checkout.files(in: ["Sources"], endings: ["swift"])
    let lines = Dictionary(grouping: files, by: Self.module).mapValues {
      $0.reduce(0) { $0 + $1.lines.count - 1 }
    }
    #expect(Set(lines.keys) == Set(Self.budgets.keys))
    for (module, budget) in Self.budgets {
      #expect(lines[module, default: 0] <= budget, "\(module)")
    }
    #expect(files.count <= 300)
    #expect(lines.values.reduce(0, +) <= 75_000)
  }
}
