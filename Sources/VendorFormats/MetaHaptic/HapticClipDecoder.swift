internal import HapticFormats
import Reading
import HapticModel

/// Turns the text of a `.haptic` file into a clip, and notes what it finds.
struct HapticClipDecoder {
  fileprivate enum Key: Int, CaseIterable {
    case version, metadata, signals, continuous, envelopes, amplitude, frequency, time, emphasis
    case major, minor, patch
  }

  private static let names = JSONNames(Key.allCases.map { "\($0)" })

  let json: JSONDocument
  var log = FindingLog()
  private(set) var clip = HapticClip()
  /// The numbers of the values that layers, curves and emphases were read from.
  private(set) var amplitudeValue: Int?
  private(set) var frequencyValue: Int?
  private(set) var emphasisValues: [Int] = []
  private(set) var version: [Int] = []
  /// Texts of the metadata, in their order.
  private(set) var metadata: [(name: String, value: String)] = []

  init(_ json: JSONDocument) { self.json = json }

  /// Reads everything that can be read; what cannot is in the log as an error.
  mutating func decode() {
    let root = json.root
    guard expect(.object, root, "the file") else { return }
    if let version = member(.version, of: root, "the file") { decodeVersion(version) }
    if let metadata = root[key: .metadata], expect(.object, metadata, "metadata") {
      for item in metadata.members {
        guard let name = item.key else { continue }
        let texts = item.kind == .array ? item.elements.compactMap(\.string) : []
        let value = item.string ?? texts.joined(separator: ", ")
        if !value.isEmpty { self.metadata.append((name, value)) }
      }
    }
    guard let signals = member(.signals, of: root, "the file"), expect(.object, signals, "signals"),
      let continuous = member(.continuous, of: signals, "signals"), expect(.object, continuous, "continuous"),
      let envelopes = member(.envelopes, of: continuous, "continuous"), expect(.object, envelopes, "envelopes"),
      let amplitude = member(.amplitude, of: envelopes, "envelopes"), expect(.array, amplitude, "amplitude")
    else { return }
    amplitudeValue = amplitude.index
    decodeAmplitude(amplitude)
    guard let frequency = envelopes[key: .frequency], expect(.array, frequency, "frequency") else { return }
    frequencyValue = frequency.index
    decodeFrequency(frequency)
  }

  private mutating func decodeVersion(_ version: JSONValue) {
    guard expect(.object, version, "version"), let major = member(.major, of: version, "version"),
      expect(.number, major, "major")
    else { return }
    self.version = [Key.major, .minor, .patch].map { key in
      version[key: key]?.number.flatMap { Int(exactly: $0.rounded()) } ?? 0
    }
    guard let number = major.number, number != 1 else { return }
    log.add(.clipVersion, at: major, "unsupported version \(String(decoding: major.lexeme, as: UTF8.self)); must be 1")
  }

  private mutating func decodeAmplitude(_ list: JSONValue) {
    var points: [HapticClip.Point] = []
    var last = -Float.infinity
    var lastEmphasis = -Float.infinity
    for value in list.elements {
      guard expect(.object, value, "a point of amplitude") else { continue }
      var time: JSONValue?
      var level: JSONValue?
      var emphasis: JSONValue?
      for member in value.members {
        switch Self.names.index(ofKey: member) {
        case Key.time.rawValue: time = member
        case Key.amplitude.rawValue: level = member
        case Key.emphasis.rawValue: emphasis = member
        default: continue
        }
      }
      guard let time = require(time, .time, of: value), let level = require(level, .amplitude, of: value),
        let seconds = self.seconds(time, after: &last), let amplitude = share(level, "amplitude", .clipRange)
      else { continue }
      var point = HapticClip.Point(time: seconds, amplitude: amplitude)
      if let emphasis, emphasis.kind != .null {
        point.emphasis = decodeEmphasis(emphasis, above: amplitude)
        if point.emphasis != nil {
          emphasisValues.append(emphasis.index)
          if points.isEmpty {
            log.add(.clipFirstEmphasis, at: emphasis, "an emphasis on the first point is lost by some converters")
          }
          if Float(seconds) == lastEmphasis {
            log.add(.clipSameTime, at: emphasis, "another emphasis is at \(seconds) s")
          }
          lastEmphasis = Float(seconds)
        }
      }
      points.append(point)
    }
    clip.amplitude = points
    var count = 0
    for _ in list.elements { count += 1 }
    guard count >= 2 else {
      log.add(
        .clipPointCount, at: list, "the amplitude envelope has \(count == 0 ? "no points" : "one point"); it needs two")
      return
    }
    guard log.errorCount == 0, let first = points.first, let final = points.last else { return }
    if Float(final.time) <= Float(first.time) { log.add(.clipLength, at: list, "the amplitude envelope lasts no time") }
    if first.time > 0 { log.add(.clipLateStart, at: list, "the first point is at \(first.time) s, not at 0") }
  }

  private mutating func decodeEmphasis(_ value: JSONValue, above amplitude: Float) -> HapticClip.Emphasis? {
    guard expect(.object, value, "emphasis") else { return nil }
    var level: JSONValue?
    var tone: JSONValue?
    for member in value.members {
      switch Self.names.index(ofKey: member) {
      case Key.amplitude.rawValue: level = member
      case Key.frequency.rawValue: tone = member
      default: continue
      }
    }
    guard let level = require(level, .amplitude, of: value, "an emphasis"),
      let tone = require(tone, .frequency, of: value, "an emphasis"),
      let emphasis = share(level, "amplitude", .clipEmphasisRange),
      let frequency = share(tone, "frequency", .clipEmphasisRange)
    else { return nil }
    guard emphasis >= amplitude else {
      log.add(
        .clipEmphasisBelow, at: level, "the emphasis has amplitude \(emphasis), below the \(amplitude) of its point")
      return nil
    }
    return HapticClip.Emphasis(amplitude: emphasis, frequency: frequency)
  }

  private mutating func decodeFrequency(_ list: JSONValue) {
    var points: [HapticClip.FrequencyPoint] = []
    var last = -Float.infinity
    let range = (clip.amplitude.first?.time ?? 0, clip.amplitude.last?.time ?? .infinity)
    for value in list.elements {
      guard expect(.object, value, "a point of frequency") else { continue }
      var time: JSONValue?
      var level: JSONValue?
      for member in value.members {
        switch Self.names.index(ofKey: member) {
        case Key.time.rawValue: time = member
        case Key.frequency.rawValue: level = member
        default: continue
        }
      }
      guard let time = require(time, .time, of: value), let level = require(level, .frequency, of: value),
        let seconds = self.seconds(time, after: &last), let frequency = share(level, "frequency", .clipRange)
      else { continue }
      if Float(seconds) < Float(range.0) || Float(seconds) > Float(range.1) {
        log.add(
          .clipFrequencyOutside, at: time,
          "\(seconds) s is outside the amplitude envelope, \(range.0) s to \(range.1) s")
      }
      points.append(HapticClip.FrequencyPoint(time: seconds, frequency: frequency))
    }
    clip.frequency = points
  }

  // MARK: Values

  private mutating func expect(_ kind: JSONValue.Kind, _ value: JSONValue, _ name: String) -> Bool {
    if value.kind == kind { return true }
    log.add(.clipStructure, at: value, "\(name) must be \(kind.noun), not \(value.kind.noun)")
    return false
  }

  private mutating func member(_ key: Key, of owner: JSONValue, _ name: String) -> JSONValue? {
    if let value = owner[key: key] { return value }
    log.add(.clipStructure, at: owner, "\(name) must have the key \"\(key)\"")
    return nil
  }

  private mutating func require(_ value: JSONValue?, _ key: Key, of owner: JSONValue, _ name: String = "a point")
    -> JSONValue?
  {
    if value == nil { log.add(.clipStructure, at: owner, "\(name) must have the key \"\(key)\"") }
    return value
  }

  /// A time that is not before the last one, by the precision of the format.
  private mutating func seconds(_ value: JSONValue, after last: inout Float) -> Double? {
    guard let number = number(value, "time") else { return nil }
    guard number >= 0, Float(number).isFinite else {
      log.add(.clipRange, at: value, "time is \(number); it must be 0 or more")
      return nil
    }
    guard Float(number) >= last else {
      log.add(.clipOrder, at: value, "time \(number) is before the last one, \(last)")
      return nil
    }
    last = Float(number)
    return number
  }

  /// A number from 0 to 1.
  private mutating func share(_ value: JSONValue, _ name: String, _ rule: Rule) -> Float? {
    guard let number = number(value, name) else { return nil }
    let nearest = Float(number)
    guard (0...1).contains(nearest) else {
      log.add(rule, at: value, "\(name) is \(number), outside 0 to 1")
      return nil
    }
    // −0 is 0.
    return nearest == 0 ? 0 : nearest
  }

  private mutating func number(_ value: JSONValue, _ name: String) -> Double? {
    if let number = value.number { return number }
    _ = expect(.number, value, name)
    return nil
  }
}

extension JSONValue {
  /// The last member with a key of the format.
  fileprivate subscript(key key: HapticClipDecoder.Key) -> JSONValue? { self["\(key)"] }
}
