import Reading
import Foundation
import HapticRender
import Testing
import TransducerProfiles

/// A value of a JSON text.
private indirect enum Node: Decodable {
  case object([String: Node])
  case array([Node])
  case string(String)
  case number(Double)
  case boolean(Bool)

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let boolean = try? value.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([Node].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: Node].self))
    }
  }

  init(text: [UInt8]) throws { self = try JSONDecoder().decode(Node.self, from: Data(text)) }

  subscript(key: String) -> Node? {
    if case .object(let members) = self {
      members[key]
    } else {
      nil
    }
  }

  var number: Double? {
    if case .number(let number) = self {
      number
    } else {
      nil
    }
  }
  var string: String? {
    if case .string(let string) = self {
      string
    } else {
      nil
    }
  }

  /// The value at a path of keys. A path through a list continues in its first element.
  subscript(path: ArraySlice<String>) -> Node? {
    guard let key = path.first else { return self }
    if case .array(let list) = self { return list.first?[path] }
    return self[key]?[path.dropFirst()]
  }

  /// Returns a copy with another value at a path.
  func setting(_ path: ArraySlice<String>, to value: Node) -> Node {
    guard let key = path.first else { return value }
    switch self {
    case .array(let list):
      guard let first = list.first else { return self }
      return .array([first.setting(path, to: value)] + list.dropFirst())
    case .object(var members):
      members[key] = members[key]?.setting(path.dropFirst(), to: value)
      return .object(members)
    default:
      return self
    }
  }

  /// The value as a JSON text.
  var text: String {
    switch self {
    case .object(let members):
      "{" + members.map { #""\#($0.key)": \#($0.value.text)"# }.sorted().joined(separator: ", ")
        + "}"
    case .array(let list):
      "[" + list.map(\.text).joined(separator: ", ") + "]"
    case .string(let string):
      #""\#(string)""#
    case .number(let number):
      "\(number)"
    case .boolean(let boolean):
      "\(boolean)"
    }
  }
}

/// A value without keys, with its schema.
private struct Leaf {
  var path: [String]
  var schema: Node
}

/// Returns the leaves of a schema, including those of list elements.
private func leaves(of schema: Node, at path: [String] = []) -> [Leaf] {
  if let items = schema["items"] { return leaves(of: items, at: path) }
  guard case .object(let properties)? = schema["properties"] else {
    return [Leaf(path: path, schema: schema)]
  }
  return properties.sorted { $0.key < $1.key }.flatMap { leaves(of: $0.value, at: path + [$0.key]) }
}

/// Profiles that together contain every key, each with a value in the middle of its range.
private let completeProfiles = [
  """
  { "$schema": "s", "name": "all", "summary": "All.",
    "frequency": { "low": 20, "high": 90, "scale": "linear" },
    "intensity": { "law": "power", "exponent": 2 }, "level": 0.3,
    "partials": [{ "ratio": 2, "gain": 0.5 }], "duck": 0.5,
    "transient": { "frequency": { "low": 30, "high": 70, "scale": "linear" }, "cycles": 3,
      "minDuration": 0.01, "maxDuration": 0.05, "level": 0.2, "floor": 0.5,
      "partials": [{ "ratio": 2, "gain": 0.5, "glide": 0.5, "durationRatio": 0.5 }],
      "squareness": { "low": 0.25, "high": 0.75 }, "attack": 0.002, "release": 0.003 },
    "hardware": { "product": "P", "band": { "low": 10, "high": 200 }, "resonance": 40,
      "qualityFactor": 5, "impedance": 4, "continuousPower": 50, "peakPower": 100, "acceleration"\
  : 3,
      "excursion": 2,
      "response": [{ "hertz": 20, "decibels": -20 }, { "hertz": 40, "decibels": 0 }],
      "thermal": { "coilTimeConstant": 8, "magnetTimeConstant": 600, "coilFraction": 0.5 },
      "modes": [{ "resonance": 70, "qualityFactor": 8, "gain": -0.25 }],
      "measured": { "date": "D", "residual": -30, "sensor": "velocity" },
      "estimated": ["qualityFactor"],
      "uncertainty": { "resonance": 0.25, "qualityFactor": 2 } },
    "drive": { "mapBand": false, "usableRange": 10, "equalize": false, "boost": 3, "damping": 2,
      "equalSensation": false, "feltBy": "seat", "highPass": 12 },
    "amplifier": { "power": 60, "latency": 0.01 },
    "sources": ["S"] }
  """,
  """
  { "name": "all", "summary": "All.", "frequency": { "low": 20, "high": 90 },
    "intensity": { "law": "sensation", "decibels": 30 },
    "transient": { "duration": { "low": 0.04, "high": 0.01 } },
    "thresholds": [{ "hertz": 20, "decibels": -30 }, { "hertz": 80, "decibels": -40 }] }
  """,
  """
  { "name": "all", "summary": "All.", "frequency": { "low": 20, "high": 90 },
    "hardware": { "product": "P", "resonance": 40, "qualityFactor": 5, "acceleration": 3 },
    "drive": { "contours": "converging", "temporalSummation": true } }
  """,
]

@Suite struct ProfileSchemaTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Profiles")

  private func schema() throws -> Node { try Node(text: ProfileSchema.schemaText()) }

  private func findings(_ profile: Node) -> [Finding] {
    ProfileCheckResult(text: Array(profile.text.utf8), name: "f").findings
  }

  /// Returns the complete profile that contains a leaf.
  private func base(of leaf: Leaf) throws -> Node {
    let bases = try completeProfiles.map { try Node(text: Array($0.utf8)) }
    return try #require(
      bases.first { $0[leaf.path[...]] != nil }, "\(leaf.path) is in no profile here")
  }

  @Test func schemaFileEqualsThePrintedSchema() throws {
    let file = try Data(contentsOf: Self.folder.appending(path: "profile.schema.json"))
    #expect(Array(file) == ProfileSchema.schemaText())
  }

  @Test(arguments: completeProfiles) func completeProfilesHaveNoErrors(text: String) {
    let result = ProfileCheckResult(text: Array(text.utf8), name: "f")
    #expect(result.profile != nil)
    #expect(result.findings.allSatisfy { $0.severity != .error })
  }

  @Test func readerAndSchemaHaveEqualBounds() throws {
    var boundedLeafCount = 0
    for leaf in leaves(of: try schema()) where leaf.schema["type"]?.string == "number" {
      boundedLeafCount += 1
      let minimum = try #require(leaf.schema["minimum"]?.number)
      let maximum = try #require(leaf.schema["maximum"]?.number)
      let base = try base(of: leaf)
      func isOutside(_ number: Double) -> Bool {
        findings(base.setting(leaf.path[...], to: .number(number))).contains {
          $0.rule == "out-of-range"
            && $0.location.path.replacing("[0]", with: "") == leaf.path.joined(by: ".")
        }
      }
      #expect(!isOutside(minimum) && !isOutside(maximum), "\(leaf.path)")
      #expect(isOutside(minimum.nextDown) && isOutside(maximum.nextUp), "\(leaf.path)")
    }
    #expect(boundedLeafCount == 53)
  }

  @Test func everyKeyChangesTheProfile() throws {
    for leaf in leaves(of: try schema()) where leaf.path != ["$schema"] {
      let base = try base(of: leaf)
      let currentValue = try #require(base[leaf.path[...]])
      let newValue: Node
      switch (currentValue, leaf.path.last) {
      case (.number(let number), _): newValue = .number(number * 1.01)
      case (_, "law"): continue
      case (_, "scale"): newValue = .string("logarithmic")
      case (_, "sensor"): newValue = .string("displacement")
      case (_, "feltBy"): newValue = .string("hand")
      case (_, "contours"): newValue = .string("parallel")
      case (.boolean(let boolean), _): newValue = .boolean(!boolean)
      case (_, "estimated"): newValue = .array([.string("continuousPower")])
      case (.array, _): newValue = .array([.string("T")])
      default: newValue = .string("other")
      }
      let originalProfile = try ProfileFile.read(text: Array(base.text.utf8), name: "f")
      let changedNode = base.setting(
        leaf.path.dropLast()[...], to: newValue, under: leaf.path.last ?? "")
      let changedProfile = try ProfileFile.read(text: Array(changedNode.text.utf8), name: "f")
      #expect(originalProfile != changedProfile, "\(leaf.path)")
      #expect(
        try ProfileFile.read(text: ProfileFile.write(changedProfile), name: "f") == changedProfile)
    }
  }

  @Test func readerAcceptsOnlyKeysOfTheSchema() throws {
    let schemaPaths = Set(leaves(of: try schema()).map { $0.path.joined(by: ".") })
    let text = Array(#"{ "x": 1, "frequency": { "x": 1 }, "transient": { "x": 1 } }"#.utf8)
    for finding in ProfileCheckResult(text: text, name: "f").findings
    where finding.rule == "unknown-key" {
      let parentPath = finding.location.path.dropLast(finding.location.path == "x" ? 1 : 2)
      let validKeys = try #require(finding.suggestion).dropFirst("valid keys: ".count)
      for key in validKeys.split(separator: ",").map({ $0.drop { $0 == " " } }) {
        let path = parentPath.isEmpty ? String(key) : "\(parentPath).\(key)"
        #expect(schemaPaths.contains { $0 == path || $0.hasPrefix(path + ".") }, "\(path)")
      }
    }
  }

  @Test(arguments: ProfileCatalog.names) func shippedProfilesHaveOnlyKeysOfTheSchema(name: String)
    throws
  {
    let schema = try schema()
    func check(_ value: Node, _ schema: Node, _ path: String) throws {
      switch value {
      case .object(let members):
        for (key, member) in members {
          let property = try #require(schema["properties"]?[key], "\(path).\(key)")
          try check(member, property, "\(path).\(key)")
        }
      case .array(let list):
        for element in list {
          try check(element, try #require(schema["items"]), path)
        }
      default:
        break
      }
    }
    try check(try Node(text: try #require(ProfileCatalog.text(named: name))), schema, name)
  }

  @Test func documentationHasTheBoundsOfTheSchema() throws {
    let page = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
    for leaf in leaves(of: try schema()) {
      let isPartOfARange = ["low", "high", "scale"].contains(leaf.path.last) && leaf.path.count > 1
      let path = isPartOfARange ? Array(leaf.path.dropLast()) : leaf.path
      // `transient.minDuration`, `.maxDuration` share a row; a list's keys are written
      // `partials[].ratio`.
      let row = rows.first { row in
        let cell = (row.split(separator: "|").first ?? "").replacing("[]", with: "")
        return cell.contains("`" + path.joined(by: ".") + "`")
          || path.count > 1 && cell.contains("`\(path[0]).")
            && cell.contains("`.\(path.dropFirst().joined(by: "."))`")
      }
      let rowText = try #require(row, "\(leaf.path) has no row")
      guard !isPartOfARange, let minimum = leaf.schema["minimum"]?.number,
        let maximum = leaf.schema["maximum"]?.number
      else {
        continue
      }
      func documentedNumber(_ number: Double) -> String {
        (Int(exactly: number).map(String.init) ?? "\(number)").replacing("-", with: "−")
      }
      #expect(
        rowText.contains("\(documentedNumber(minimum))–\(documentedNumber(maximum))"),
        "\(leaf.path)")
    }
  }
}

extension Node {
  /// Returns a copy with another value for a key of the object at a path.
  fileprivate func setting(_ path: ArraySlice<String>, to value: Node, under key: String) -> Node {
    guard let currentObject = self[path] else { return self }
    var innerObject = currentObject
    if case .array(let list) = currentObject, let first = list.first {
      innerObject = first
    }
    guard case .object(var members) = innerObject else { return self }
    members[key] = value
    if case .array(let list) = currentObject {
      return setting(path, to: .array([.object(members)] + list.dropFirst()))
    }
    return setting(path, to: .object(members))
  }
}

extension Collection where Element == String {
  fileprivate func joined(by separator: String) -> String { joined(separator: separator) }
}
