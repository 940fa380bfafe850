import Reading
import Foundation
import HapticRender
import Testing
import TransducerProfiles

/// One value of a JSON text, without `Any`.
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

  /// The value at a path of keys; lists are entered at their first element.
  subscript(path: ArraySlice<String>) -> Node? {
    guard let key = path.first else { return self }
    if case .array(let list) = self { return list.first?[path] }
    return self[key]?[path.dropFirst()]
  }

  /// The same with another value at a path.
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

  /// The value as a text.
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

/// A value the schema describes by no further keys, and what it says of it.
private struct Leaf {
  var path: [String]
  var schema: Node
}

/// The leaves below a schema, lists entered.
private func leaves(of schema: Node, at path: [String] = []) -> [Leaf] {
  if let items = schema["items"] { return leaves(of: items, at: path) }
  guard case .object(let properties)? = schema["properties"] else {
    return [Leaf(path: path, schema: schema)]
  }
  return properties.sorted { $0.key < $1.key }.flatMap { leaves(of: $0.value, at: path + [$0.key]) }
}

/// Profiles that have every key between them, each with a value in the middle of its range.
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

  /// The whole profile that has a leaf.
  private func base(of leaf: Leaf) throws -> Node {
    let bases = try completeProfiles.map { try Node(text: Array($0.utf8)) }
    return try #require(
      bases.first { $0[leaf.path[...]] != nil }, "\(leaf.path) is in no profile here")
  }

  @Test func theFileIsWhatTheProgramPrints() throws {
    let file = try Data(contentsOf: Self.folder.appending(path: "profile.schema.json"))
    #expect(Array(file) == ProfileSchema.schemaText())
  }

  @Test(arguments: completeProfiles) func theWholeProfilesHaveNoFault(text: String) {
    let examination = ProfileCheckResult(text: Array(text.utf8), name: "f")
    #expect(examination.profile != nil)
    #expect(examination.findings.allSatisfy { $0.severity != .error })
  }

  @Test func theReaderHasTheSameBounds() throws {
    var count = 0
    for leaf in leaves(of: try schema()) where leaf.schema["type"]?.string == "number" {
      count += 1
      let low = try #require(leaf.schema["minimum"]?.number)
      let high = try #require(leaf.schema["maximum"]?.number)
      let base = try base(of: leaf)
      func isOutside(_ number: Double) -> Bool {
        findings(base.setting(leaf.path[...], to: .number(number))).contains {
          $0.rule == "out-of-range"
            && $0.location.path.replacing("[0]", with: "") == leaf.path.joined(by: ".")
        }
      }
      #expect(!isOutside(low) && !isOutside(high), "\(leaf.path)")
      #expect(isOutside(low.nextDown) && isOutside(high.nextUp), "\(leaf.path)")
    }
    #expect(count == 53)
  }

  @Test func everyKeyChangesTheProfile() throws {
    for leaf in leaves(of: try schema()) where leaf.path != ["$schema"] {
      let base = try base(of: leaf)
      let old = try #require(base[leaf.path[...]])
      let new: Node
      switch (old, leaf.path.last) {
      case (.number(let number), _): new = .number(number * 1.01)
      case (_, "law"): continue
      case (_, "scale"): new = .string("logarithmic")
      case (_, "sensor"): new = .string("displacement")
      case (_, "feltBy"): new = .string("hand")
      case (_, "contours"): new = .string("parallel")
      case (.boolean(let isTrue), _): new = .boolean(!isTrue)
      case (_, "estimated"): new = .array([.string("continuousPower")])
      case (.array, _): new = .array([.string("T")])
      default: new = .string("other")
      }
      let read = try ProfileFile.read(text: Array(base.text.utf8), name: "f")
      let changed = base.setting(leaf.path.dropLast()[...], to: new, under: leaf.path.last ?? "")
      let other = try ProfileFile.read(text: Array(changed.text.utf8), name: "f")
      #expect(read != other, "\(leaf.path)")
      #expect(try ProfileFile.read(text: ProfileFile.write(other), name: "f") == other)
    }
  }

  @Test func theReaderKnowsNoOtherKeys() throws {
    let known = Set(leaves(of: try schema()).map { $0.path.joined(by: ".") })
    let text = Array(#"{ "x": 1, "frequency": { "x": 1 }, "transient": { "x": 1 } }"#.utf8)
    for finding in ProfileCheckResult(text: text, name: "f").findings
    where finding.rule == "unknown-key" {
      let place = finding.location.path.dropLast(finding.location.path == "x" ? 1 : 2)
      let hint = try #require(finding.suggestion).dropFirst("valid keys: ".count)
      for key in hint.split(separator: ",").map({ $0.drop { $0 == " " } }) {
        let path = place.isEmpty ? String(key) : "\(place).\(key)"
        #expect(known.contains { $0 == path || $0.hasPrefix(path + ".") }, "\(path)")
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

  @Test func theKeysAreExplainedWithTheSameBounds() throws {
    let page = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
    for leaf in leaves(of: try schema()) {
      let isInner = ["low", "high", "scale"].contains(leaf.path.last) && leaf.path.count > 1
      let path = isInner ? Array(leaf.path.dropLast()) : leaf.path
      // `transient.minDuration`, `.maxDuration` share a row; a list's keys are written
      // `partials[].ratio`.
      let row = rows.first { row in
        let cell = (row.split(separator: "|").first ?? "").replacing("[]", with: "")
        return cell.contains("`" + path.joined(by: ".") + "`")
          || path.count > 1 && cell.contains("`\(path[0]).")
            && cell.contains("`.\(path.dropFirst().joined(by: "."))`")
      }
      let text = try #require(row, "\(leaf.path) has no row")
      guard !isInner, let low = leaf.schema["minimum"]?.number,
        let high = leaf.schema["maximum"]?.number
      else {
        continue
      }
      func written(_ number: Double) -> String {
        (Int(exactly: number).map(String.init) ?? "\(number)").replacing("-", with: "−")
      }
      #expect(text.contains("\(written(low))–\(written(high))"), "\(leaf.path)")
    }
  }
}

extension Node {
  /// The same with another value under a key of the object at a path.
  fileprivate func setting(_ path: ArraySlice<String>, to value: Node, under key: String) -> Node {
    guard let object = self[path] else { return self }
    var inner = object
    if case .array(let list) = object, let first = list.first {
      inner = first
    }
    guard case .object(var members) = inner else { return self }
    members[key] = value
    if case .array(let list) = object {
      return setting(path, to: .array([.object(members)] + list.dropFirst()))
    }
    return setting(path, to: .object(members))
  }
}

extension Collection where Element == String {
  fileprivate func joined(by separator: String) -> String { joined(separator: separator) }
}
