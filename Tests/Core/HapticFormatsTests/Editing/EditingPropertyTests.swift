import Foundation
import HapticFormats
import HapticModel
import Reading
import ShippedFiles
import TestSupport
import Testing

/// Random changes of real and unusual texts: each changes the pattern as requested, and no other
/// bytes.
@Suite struct EditingPropertyTests {
  /// Texts that few tools write, but all may have to read.
  static let malformedPatterns: [String] = [
    EditingTests.prettyPattern, EditingTests.prettyPattern.replacing("\n", with: "\r\n"),
    "\u{FEFF}" + EditingTests.prettyPattern.replacing("  ", with: "\t"),
    EditingTests.prettyPattern.replacing("\n", with: " "),
    EditingTests.prettyPattern.replacing(",\n", with: " \t ,  \n\n"),
    EditingTests.prettyPattern.filter { !$0.isWhitespace }, #"{"Pattern":[]}"#,
    "{\n\t\"Pattern\": [\n\t]\n}\n",
    #"{ "Note": "\"Pattern\": [ {\\", "Pattern" : [ { "Note" : "]}{[ \\\" \u0000", "Event" : {"#
      + #" "Time" : 1e-3 , "Na}me" : "Ev\"ent" , "\u0045ventType" : "HapticContinuous" , "EventDur"#
      + #"ation" : 1.50E0 , "EventParameters" : [ ] } } , ] , }"#,
    #"{"Pattern":[{"Event":{"Time":9,"EventType":"HapticTransient"},"Event":{"EventParameters""#
      + #":[{"ParameterID":"HapticIntensity","ParameterValue":0.5}],"Time":7,"Time":1,"EventType":"#
      + #""AudioContinuous","EventParameters":[{"ParameterID":"AudioVolume","ParameterValue":0.5},"#
      + #"{"Extra":{},"ParameterID":"AudioVolume","ParameterValue":0.25}],"EventDuration":null}},{"#
      + #""Else":[]},{}]}"#,
    #"{"Pattern":[{"Parameter":{"ParameterID":"AudioPanControl","Time":0,"ParameterValue":-1},"#
      + #""ParameterCurve":{"ParameterID":"AudioPanControl","Time":0,"ParameterCurveControlPoints""#
      + #":[]},"Event":{"Time":0,"EventType":"HapticTransient","EventParameters":null}}],"Version""#
      + #":1}"#,
  ]

  static func sources() throws -> [SourceFile] {
    var all = malformedPatterns.map { SourceFile(Array($0.utf8), name: "unfriendly") }
    all += ShippedPatterns.names.map { SourceFile(ShippedPatterns.text(named: $0) ?? [], name: $0) }
    all += try CorpusTests.rows().map { SourceFile(try CorpusTests.text(of: $0), name: $0.path) }
    let folders =
      try FormatsCorpus.folder.map { try FileManager.default.subpathsOfDirectory(atPath: $0) } ?? []
    all += try folders.filter { $0.hasSuffix(".ahap") }.sorted().map { try FormatsCorpus.file($0) }
    return all.filter { (try? AHAPEditor(text: $0.bytes, name: $0.name)) != nil }
  }

  @Test func randomChangesChangeOnlyTheirParts() throws {
    let sources = try Self.sources()
    try #require(sources.count >= Self.malformedPatterns.count + 37)
    let count = InputMutator.caseCount(default: 3_000)
    var made = 0
    var refused = 0
    var round = 0
    while made < count {
      defer { round += 1 }
      let source = sources[round % sources.count]
      let first = try AHAPEditor(text: source.bytes, name: source.name)
      var walk = RandomChanges(seed: UInt64(round))
      var history = [first]
      for _ in 0..<40 where made < count {
        let editor = history[history.count - 1]
        let (change, expected) = walk.next(in: editor)
        made += 1
        let place = "\(source.name), round \(round): \(change)"
        guard let expected else {
          #expect(throws: InputError.self, "\(place)") { try editor.applying([change]) }
          refused += 1
          continue
        }
        let changed = try editor.applying([change])
        try #require(Self.isEqual(changed.pattern, expected), "\(place)")
        if changed.content.usesAbsoluteCurveTimes == editor.content.usesAbsoluteCurveTimes {
          let (old, new) = Self.changedText(editor.text, changed.text)
          try #require(RandomChanges.allows(change, old, new), "\(place): \(old) → \(new)")
          if let back = walk.inverse(of: change, in: editor) {
            try #require(try changed.applying([back]).text == editor.text, "\(place)")
          }
        }
        history.append(changed)
      }
      // A removal is undone by the previous editor, which no change has modified.
      #expect(
        history[0].text == first.text && (first.text == source.bytes || source.bytes[0] >= 0xFE))
    }
    // Most changes must succeed: the test is about texts, not about refusals.
    #expect(refused * 5 < made)
  }

  /// Changes that are applied together equal the same changes applied in turn.
  @Test func changesTogetherEqualChangesInTurn() throws {
    for (round, source) in try Self.sources().enumerated() {
      var walk = RandomChanges(seed: UInt64(round))
      let editor = try AHAPEditor(text: source.bytes, name: source.name)
      var changes: [String: PatternChange] = [:]
      var single = editor
      for _ in 0..<30 {
        let (change, expected) = walk.next(in: editor)
        guard case .set(let path, to: _) = change, expected != nil, changes[path] == nil,
          !path.hasSuffix("kind")
        else {
          continue
        }
        changes[path] = change
        single = try single.applying([change])
      }
      let order = changes.keys.sorted()
      #expect(
        Self.isEqual(try editor.applying(order.compactMap { changes[$0] }).pattern, single.pattern),
        "\(source.name)")
    }
  }

  /// Times of control points that were made relative may differ in the last digit.
  static func isEqual(_ one: HapticPattern, _ other: HapticPattern) -> Bool {
    if one == other { return true }
    guard one.events == other.events, one.parameters == other.parameters,
      one.curves.count == other.curves.count
    else {
      return false
    }
    return zip(one.curves, other.curves).allSatisfy { a, b in
      a.id == b.id && a.time == b.time && a.controlPoints.count == b.controlPoints.count
        && zip(a.controlPoints, b.controlPoints).allSatisfy {
          abs($0.time - $1.time) < 2e-9 && $0.value == $1.value
        }
    }
  }

  /// Returns the differing parts of two texts, without their common prefix and suffix.
  static func changedText(_ old: [UInt8], _ new: [UInt8]) -> (old: String, new: String) {
    let shorter = min(old.count, new.count)
    // The longest equal length is found by bisection, since comparing is faster than a loop.
    func longest(_ limit: Int, _ isEqual: (Int) -> Bool) -> Int {
      var low = 0
      var high = limit
      while low < high {
        let middle = (low + high + 1) / 2
        if isEqual(middle) {
          low = middle
        } else {
          high = middle - 1
        }
      }
      return low
    }
    let one = Data(old)
    let other = Data(new)
    let start = longest(shorter) { one.prefix($0) == other.prefix($0) }
    let end = longest(shorter - start) { one.suffix($0) == other.suffix($0) }
    return (
      String(decoding: old[start..<old.count - end], as: UTF8.self),
      String(decoding: new[start..<new.count - end], as: UTF8.self)
    )
  }
}

/// Random changes, and the pattern that each must produce.
struct RandomChanges {
  private var generator: SplitMixGenerator

  init(seed: UInt64) { generator = SplitMixGenerator(state: seed) }

  /// Returns a change and the pattern after it; nil if the change must be refused.
  mutating func next(in editor: AHAPEditor) -> (change: PatternChange, expected: HapticPattern?) {
    var pattern = editor.pattern
    var choices = [0]
    if !pattern.events.isEmpty {
      choices += [1, 1, 1, 1, 1, 2, 3, 4]
    }
    if !pattern.parameters.isEmpty {
      choices += [5, 5]
    }
    if !pattern.curves.isEmpty {
      choices += [6, 6, 6, 7]
    }
    switch choices.randomElement(using: &generator) ?? 0 {
    case 1:
      return setField(editor)
    case 2:
      return removeField(editor)
    case 3:
      let index = Int.random(in: pattern.events.indices, using: &generator)
      pattern.events.remove(at: index)
      return (.remove("events[\(index)]"), pattern)
    case 4:
      let index = Int.random(in: pattern.events.indices, using: &generator)
      pattern.events.insert(pattern.events[index], at: index)
      return (.duplicate("events[\(index)]"), pattern)
    case 5:
      return changeParameter(pattern)
    case 6:
      return changePoint(editor)
    case 7:
      return changeCurve(pattern)
    default:
      return addEntry(editor)
    }
  }

  private mutating func randomNumber(_ range: ClosedRange<Double>) -> Double {
    let places = ([1, 10, 1000, 1_000_000] as [Double]).randomElement(using: &generator) ?? 1
    return (Double.random(in: range, using: &generator) * places).rounded() / places
  }

  private mutating func setField(_ editor: AHAPEditor) -> (PatternChange, HapticPattern?) {
    var pattern = editor.pattern
    let index = Int.random(in: pattern.events.indices, using: &generator)
    let path = "events[\(index)]"
    let event = pattern.events[index]
    switch Int.random(in: 0..<10, using: &generator) {
    case 0, 1, 2:
      let time = randomNumber(-0.5...20)
      pattern.events[index].time = time + 0
      return (.set(path + ".time", to: .number(time)), time < 0 ? nil : pattern)
    case 3:
      let duration = randomNumber(0...5)
      pattern.events[index].duration = duration
      return (.set(path + ".duration", to: .number(duration)), pattern)
    case 4 where event.kind != .audioCustom:
      let kind = [HapticEvent.Kind.hapticTransient, .hapticContinuous, .audioContinuous]
        .randomElement(using: &generator)
      pattern.events[index].kind = kind ?? .hapticTransient
      return (.set(path + ".kind", to: .text(kind?.rawValue ?? "")), pattern)
    case 5 where event.waveform != nil:
      pattern.events[index].waveform?.isLooping.toggle()
      return (.set(path + ".loop", to: .flag(event.waveform?.isLooping == false)), pattern)
    case 6 where event.waveform != nil:
      pattern.events[index].waveform?.path = "x/\"é\".wav"
      return (.set(path + ".path", to: .text("x/\"é\".wav")), pattern)
    default:
      let (field, id) = Self.parameters.randomElement(using: &generator) ?? Self.parameters[0]
      let value =
        field == "sustained"
        ? Double(Int.random(in: 0...1, using: &generator)) : randomNumber(-1.5...1.5)
      pattern.events[index].parameters[id] = clamped(value, id.range)
      // A value as sliders produce it.
      let given = Bool.random(using: &generator) ? value : Double(Float(value))
      return (.set("\(path).\(field)", to: .number(given)), pattern)
    }
  }

  static let parameters: [(String, EventParameterID)] = [
    ("intensity", .hapticIntensity), ("sharpness", .hapticSharpness), ("attack", .attackTime),
    ("decay", .decayTime),
    ("release", .releaseTime), ("sustained", .sustained), ("volume", .audioVolume),
    ("pan", .audioPan),
    ("pitch", .audioPitch), ("brightness", .audioBrightness),
  ]

  private func clamped(_ value: Double, _ range: ClosedRange<Float>) -> Float {
    Float(min(max(value, Double(range.lowerBound)), Double(range.upperBound)))
  }

  private mutating func removeField(_ editor: AHAPEditor) -> (PatternChange, HapticPattern?) {
    var pattern = editor.pattern
    let index = Int.random(in: pattern.events.indices, using: &generator)
    if Int.random(in: 0..<4, using: &generator) == 0 {
      pattern.events[index].duration = nil
      return (.remove("events[\(index)].duration"), pattern)
    }
    if Int.random(in: 0..<8, using: &generator) == 0 {
      return (.remove("events[\(index)].time"), nil)
    }
    let (field, id) = Self.parameters.randomElement(using: &generator) ?? Self.parameters[0]
    pattern.events[index].parameters[id] = nil
    return (.remove("events[\(index)].\(field)"), pattern)
  }

  private mutating func changeParameter(_ pattern: HapticPattern) -> (PatternChange, HapticPattern?)
  {
    var pattern = pattern
    let index = Int.random(in: pattern.parameters.indices, using: &generator)
    let path = "parameters[\(index)]"
    switch Int.random(in: 0..<6, using: &generator) {
    case 0:
      pattern.parameters.remove(at: index)
      return (.remove(path), pattern)
    case 1:
      pattern.parameters.insert(pattern.parameters[index], at: index)
      return (.duplicate(path), pattern)
    case 2, 3:
      let time = randomNumber(0...9)
      pattern.parameters[index].time = time
      return (.set(path + ".time", to: .number(time)), pattern)
    default:
      let value = randomNumber(-2...2)
      pattern.parameters[index].value = clamped(value, pattern.parameters[index].id.range)
      return (.set(path + ".value", to: .number(value)), pattern)
    }
  }

  private mutating func changePoint(_ editor: AHAPEditor) -> (PatternChange, HapticPattern?) {
    var pattern = editor.pattern
    let index = Int.random(in: pattern.curves.indices, using: &generator)
    let order = editor.controlPointOrder(ofCurve: index)
    var points = order.indices.map { place in
      pattern.curves[index].controlPoints[order.firstIndex(of: place) ?? 0]
    }
    let range = pattern.curves[index].id.range
    let time = randomNumber(0...5)
    let value = randomNumber(-1.5...1.5)
    let change: PatternChange
    if points.isEmpty || Int.random(in: 0..<4, using: &generator) == 0 {
      let before = points.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
      points.insert(.init(time: time, value: clamped(value, range)), at: before)
      change = .addPoint(time: time, value: value, to: "curves[\(index)]")
    } else {
      let place = Int.random(in: points.indices, using: &generator)
      let path = "curves[\(index)].points[\(place)]"
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        points.remove(at: place)
        change = .remove(path)
      case 1:
        points.insert(points[place], at: place)
        change = .duplicate(path)
      case 2, 3:
        points[place].time = time
        change = .set(path + ".time", to: .number(time))
      default:
        points[place].value = clamped(value, range)
        change = .set(path + ".value", to: .number(value))
      }
    }
    let sorted = points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }
    pattern.curves[index].controlPoints = sorted.map { points[$0] }
    return (change, pattern)
  }

  private mutating func changeCurve(_ pattern: HapticPattern) -> (PatternChange, HapticPattern?) {
    var pattern = pattern
    let index = Int.random(in: pattern.curves.indices, using: &generator)
    let path = "curves[\(index)]"
    switch Int.random(in: 0..<4, using: &generator) {
    case 0:
      pattern.curves.remove(at: index)
      return (.remove(path), pattern)
    case 1:
      pattern.curves.insert(pattern.curves[index], at: index)
      return (.duplicate(path), pattern)
    case 2:
      let id = DynamicParameterID.allCases.randomElement(using: &generator) ?? .audioPanControl
      guard id.range == pattern.curves[index].id.range else { fallthrough }
      pattern.curves[index].id = id
      return (.set(path + ".id", to: .text(id.rawValue)), pattern)
    default:
      let time = randomNumber(0...9)
      pattern.curves[index].time = time
      return (.set(path + ".time", to: .number(time)), pattern)
    }
  }

  private mutating func addEntry(_ editor: AHAPEditor) -> (PatternChange, HapticPattern?) {
    var pattern = editor.pattern
    let time = randomNumber(0...9)
    let entry = Array(
      "{ \"Event\": {\"EventType\": \"HapticTransient\",\n\"Time\": \(time)} }".utf8)
    let event = HapticEvent(kind: .hapticTransient, time: time)
    guard let index = pattern.events.indices.randomElement(using: &generator),
      Bool.random(using: &generator)
    else {
      pattern.events.append(event)
      return (.add(entry), pattern)
    }
    pattern.events.insert(event, at: index + 1)
    return (.add(entry, after: "events[\(index)]"), pattern)
  }

  /// Returns whether a change may replace some bytes by others.
  static func allows(_ change: PatternChange, _ old: String, _ new: String) -> Bool {
    func isNumber(_ text: String) -> Bool {
      text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
    }
    func isSpace(_ text: String) -> Bool { text.utf8.allSatisfy { $0 <= 0x20 } }
    switch change {
    case .set(_, to: .number):
      return isNumber(old) && isNumber(new) || isSpace(old)
        || old.utf8.count <= 4 && new.utf8.count < 90
    case .set:
      return old.isEmpty || !old.contains("\n") && !new.contains("\n")
    case .remove:
      return new.isEmpty
    default:
      return isSpace(old)
    }
  }

  /// Returns the change that undoes an insertion; nil for other changes.
  func inverse(of change: PatternChange, in editor: AHAPEditor) -> PatternChange? {
    switch change {
    case .duplicate(let path):
      guard let open = path.lastIndex(of: "["),
        let index = Int(path[open...].dropFirst().dropLast())
      else {
        return nil
      }
      return .remove(path[...open] + "\(index + 1)]")
    default:
      return nil
    }
  }
}
