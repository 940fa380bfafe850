internal import HapticFormats
import HapticModel
import Reading

/// A `.haptic` file: a clip, and what the file says about itself.
struct HapticClipFile: Sendable {
  /// The keys of metadata in their order.
  static let metadataKeys = ["editor", "author", "source", "project", "tags", "description"]

  var clip = HapticClip()
  /// Major, minor and patch; empty where the file has none.
  var version: [Int] = []
  /// Texts in their order.
  var metadata: [(name: String, value: String)] = []

  /// The last text with a name.
  subscript(name: String) -> String? { metadata.last { $0.name == name }?.value }
}

/// Reads the text of a `.haptic` file by its tables, and notes what it finds.
struct HapticClipDecoder: JSONFieldReader {
  private typealias Table<Owner> = JSONTable<Owner, HapticClipDecoder>
  private typealias Field<Owner> = JSONField<Owner, HapticClipDecoder>

  var log = FindingLog()
  let rules = JSONFieldRules(
    missingKey: .clipStructure, wrongType: .clipStructure, outOfRange: .clipRange, null: .absent)
  /// The numbers of the values that layers, curves and emphases were read from.
  private(set) var amplitudeValue: Int?
  private(set) var frequencyValue: Int?
  private(set) var emphasisValues: [Int] = []
  /// The times of the last point and emphasis, in the precision of the format.
  private var last = -Float.infinity
  private var lastEmphasis = -Float.infinity

  /// Reads everything that can be read; what cannot is in the log as an error.
  mutating func decode(_ json: JSONDocument) -> HapticClipFile {
    var file = HapticClipFile()
    Self.file.read(json.root, into: &file, &self)
    return file
  }

  // MARK: - Tables

  /// Everything in a file.
  static let file = JSONTable<HapticClipFile, HapticClipDecoder>(
    "the file",
    [
      .group("version", version, layout: .line), metadata,
      .group(
        "signals", Table("signals", [.group("continuous", Table("continuous", [.group("envelopes", envelopes)]))])),
    ])

  private static let version = Table<HapticClipFile>(
    "version",
    [
      Field(JSONKey("major", .anyNumber, is: .required)) { value, file, reader in
        guard let number: Double = reader.scalar(value, JSONKey("major", .anyNumber)) else { return false }
        file.version = ["major", "minor", "patch"].map { key in
          value.parent?[key]?.number.flatMap { Int(exactly: $0.rounded()) } ?? 0
        }
        if number != 1 {
          reader.log.add(.clipVersion, at: value, "unsupported version \(value.shortLexeme); must be 1")
        }
        return true
      } write: { _, _, object in
        object.member("major", 1)
      },
      Field(JSONKey("minor", .any)) { _, _, _ in
        true
      } write: { _, _, object in
        object.member("minor", 0)
      },
      Field(JSONKey("patch", .any)) { _, _, _ in
        true
      } write: { _, _, object in
        object.member("patch", 0)
      },
    ])

  private static let metadata: Field<HapticClipFile> = {
    let shape = JSONShape("metadata", HapticClipFile.metadataKeys.map { JSONKey($0, .any) })
    return Field(JSONKey("metadata", .object { shape })) { value, file, reader in
      guard reader.expect(.object, value, as: "metadata") else { return false }
      for item in value.members {
        guard let name = item.key else { continue }
        let texts = item.kind == .array ? item.elements.compactMap { $0.string } : []
        let text = item.string ?? texts.joined(separator: ", ")
        if !text.isEmpty { file.metadata.append((name, text)) }
      }
      return true
    } write: { file, _, object in
      object.object("metadata") { metadata in
        for key in HapticClipFile.metadataKeys {
          if key == "tags" {
            metadata.array(key, layout: .line) { _ in }
          } else {
            metadata.member(key, file[key] ?? "")
          }
        }
      }
    }
  }()

  private static let envelopes: Table<HapticClipFile> = {
    let amplitude = JSONKey("amplitude", .list(.object { point.shape }), is: .required, layout: .line)
    let frequency = JSONKey("frequency", .list(.object { tone.shape }), layout: .line)
    return Table(
      "envelopes",
      [
        Field(amplitude) { value, file, reader in
          reader.amplitudeValue = value.index
          guard let points = reader.elements(of: value, amplitude, point, HapticClip.Point(time: 0, amplitude: 0))
          else {
            return false
          }
          file.clip.amplitude = points
          reader.checkLength(of: points, value)
          return true
        } write: { file, _, object in
          point.write(file.clip.amplitude, as: "amplitude", layout: .line, to: &object)
        },
        Field(frequency) { value, file, reader in
          reader.frequencyValue = value.index
          reader.last = -.infinity
          let new = HapticClip.FrequencyPoint(time: 0, frequency: 0)
          guard let tones = reader.elements(of: value, frequency, tone, new) else { return false }
          file.clip.frequency = tones
          reader.checkExtent(of: tones, value, in: file.clip.amplitude)
          return true
        } write: { file, _, object in
          if let tones = file.clip.frequency { tone.write(tones, as: "frequency", layout: .line, to: &object) }
        },
      ])
  }()

  private static let point = Table<HapticClip.Point>(
    "a point of amplitude",
    [
      time { $1(&$0.time) }, .value("amplitude", .number(0...1), is: .required) { $1(&$0.amplitude) },
      .object("emphasis", emphasis, new: HapticClip.Emphasis(amplitude: 0, frequency: 0), layout: .line) {
        $1(&$0.emphasis)
      },
    ]
  ) { object, point, reader in
    reader.checkEmphasis(of: &point, object["emphasis"])
    return true
  }

  private static let tone = Table<HapticClip.FrequencyPoint>(
    "a point of frequency",
    [time { $1(&$0.time) }, .value("frequency", .number(0...1), is: .required) { $1(&$0.frequency) }])

  private static let emphasis = Table<HapticClip.Emphasis>(
    "an emphasis",
    [
      .value("amplitude", .number(0...1), is: .required, rule: .clipEmphasisRange) { $1(&$0.amplitude) },
      .value("frequency", .number(0...1), is: .required, rule: .clipEmphasisRange) { $1(&$0.frequency) },
    ])

  /// A time that is not before the last one, by the precision of the format.
  private static func time<Owner>(_ place: @escaping Field<Owner>.Place<Double>) -> Field<Owner> {
    let key = JSONKey("time", .number(0...Double(Float.greatestFiniteMagnitude)), is: .required)
    return Field(key) { value, owner, reader in
      guard let seconds: Double = reader.scalar(value, key) else { return false }
      guard Float(seconds) >= reader.last else {
        reader.log.add(.clipOrder, at: value, "time \(seconds) is before the last one, \(reader.last)")
        return false
      }
      reader.last = Float(seconds)
      place(&owner) { $0 = seconds }
      return true
    } write: { owner, _, object in
      var owner = owner
      place(&owner) { object.member("time", $0) }
    }
  }

  // MARK: - What values require of each other

  private mutating func checkLength(of points: [HapticClip.Point], _ list: JSONValue) {
    let count = list.elements.reduce(0) { count, _ in count + 1 }
    guard count >= 2 else {
      return log.add(
        .clipPointCount, at: list, "the amplitude envelope has \(count == 0 ? "no points" : "one point"); it needs two")
    }
    guard log.errorCount == 0, let first = points.first, let final = points.last else { return }
    if Float(final.time) <= Float(first.time) { log.add(.clipLength, at: list, "the amplitude envelope lasts no time") }
    if first.time > 0 { log.add(.clipLateStart, at: list, "the first point is at \(first.time) s, not at 0") }
  }

  private mutating func checkEmphasis(of point: inout HapticClip.Point, _ value: JSONValue?) {
    guard let value, let emphasis = point.emphasis else { return }
    guard emphasis.amplitude >= point.amplitude else {
      point.emphasis = nil
      return log.add(
        .clipEmphasisBelow, at: value["amplitude"] ?? value,
        "the emphasis has amplitude \(emphasis.amplitude), below the \(point.amplitude) of its point")
    }
    emphasisValues.append(value.index)
    if Float(point.time) == lastEmphasis { log.add(.clipSameTime, at: value, "another emphasis is at \(point.time) s") }
    lastEmphasis = Float(point.time)
  }

  private mutating func checkExtent(
    of tones: [HapticClip.FrequencyPoint], _ list: JSONValue, in points: [HapticClip.Point]
  ) {
    let (start, end) = (points.first?.time ?? 0, points.last?.time ?? .infinity)
    for (tone, value) in zip(tones, list.elements)
    where Float(tone.time) < Float(start) || Float(tone.time) > Float(end) {
      log.add(
        .clipFrequencyOutside, at: value["time"] ?? value,
        "\(tone.time) s is outside the amplitude envelope, \(start) s to \(end) s")
    }
  }
}
