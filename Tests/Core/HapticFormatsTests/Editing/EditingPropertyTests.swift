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
    var files = malformedPatterns.map { SourceFile(Array($0.utf8), name: "unfriendly") }
    files += ShippedPatterns.names.map {
      SourceFile(ShippedPatterns.text(named: $0) ?? [], name: $0)
    }
    files += try CorpusTests.rows().map { SourceFile(try CorpusTests.text(of: $0), name: $0.path) }
    let folders =
      try FormatsCorpus.folder.map { try FileManager.default.subpathsOfDirectory(atPath: $0) } ?? []
    files += try folders.filter { $0.hasSuffix(".ahap") }.sorted().map {
      try FormatsCorpus.file($0)
    }
    return files.filter { (try? AHAPEditor(text: $0.bytes, name: $0.name)) != nil }
  }

  @Test func randomChangesChangeOnlyTheirParts() throws {
    let sources = try Self.sources()
    try #require(sources.count >= Self.malformedPatterns.count + 37)
    let count = InputMutator.caseCount(default: 3_000)
    var changeCount = 0
    var refusedCount = 0
    var round = 0
    while changeCount < count {
      defer { round += 1 }
      let source = sources[round % sources.count]
      let originalEditor = try AHAPEditor(text: source.bytes, name: source.name)
      var randomChanges = RandomChanges(seed: UInt64(round))
      var history = [originalEditor]
      for _ in 0..<40 where changeCount < count {
        let editor = history[history.count - 1]
        let (change, expected) = randomChanges.next(in: editor)
        changeCount += 1
        let context = "\(source.name), round \(round): \(change)"
        guard let expected else {
          #expect(throws: InputError.self, "\(context)") { try editor.applying([change]) }
          refusedCount += 1
          continue
        }
        let changed = try editor.applying([change])
        try #require(Self.isEqual(changed.pattern, expected), "\(context)")
        if changed.content.usesAbsoluteCurveTimes == editor.content.usesAbsoluteCurveTimes {
          let (old, new) = Self.changedText(editor.text, changed.text)
          try #require(RandomChanges.allows(change, old, new), "\(context): \(old) → \(new)")
          if let inverse = randomChanges.inverse(of: change, in: editor) {
            try #require(try changed.applying([inverse]).text == editor.text, "\(context)")
          }
        }
        history.append(changed)
      }
      // A removal is undone by the previous editor, which no change has modified.
      #expect(
        history[0].text == originalEditor.text
          && (originalEditor.text == source.bytes || source.bytes[0] >= 0xFE))
    }
    // Most changes must succeed: the test is about texts, not about refusals.
    #expect(refusedCount * 5 < changeCount)
  }

  /// Changes that are applied together equal the same changes applied in turn.
  @Test func changesTogetherEqualChangesInTurn() throws {
    for (round, source) in try Self.sources().enumerated() {
      var randomChanges = RandomChanges(seed: UInt64(round))
      let editor = try AHAPEditor(text: source.bytes, name: source.name)
      var changes: [String: PatternChange] = [:]
      var editorAfterEach = editor
      for _ in 0..<30 {
        let (change, expected) = randomChanges.next(in: editor)
        guard case .set(let path, to: _) = change, expected != nil, changes[path] == nil,
          !path.hasSuffix("kind")
        else {
          continue
        }
        changes[path] = change
        editorAfterEach = try editorAfterEach.applying([change])
      }
      let sortedPaths = changes.keys.sorted()
      #expect(
        Self.isEqual(
          try editor.applying(sortedPaths.compactMap { changes[$0] }).pattern,
          editorAfterEach.pattern),
        "\(source.name)")
    }
  }

  /// Times of control points that were made relative may differ in the last digit.
  static func isEqual(_ first: HapticPattern, _ second: HapticPattern) -> Bool {
    if first == second { return true }
    guard first.events == second.events, first.parameters == second.parameters,
      first.curves.count == second.curves.count
    else {
      return false
    }
    return zip(first.curves, second.curves).allSatisfy { firstCurve, secondCurve in
      firstCurve.id == secondCurve.id && firstCurve.time == secondCurve.time
        && firstCurve.controlPoints.count == secondCurve.controlPoints.count
        && zip(firstCurve.controlPoints, secondCurve.controlPoints).allSatisfy {
          abs($0.time - $1.time) < 2e-9 && $0.value == $1.value
        }
    }
  }

  /// Returns the differing parts of two texts, without their common prefix and suffix.
  static func changedText(_ old: [UInt8], _ new: [UInt8]) -> (old: String, new: String) {
    let shorter = min(old.count, new.count)
    // The longest equal length is found by bisection, since comparing is faster than a loop.
    func maximumLength(_ limit: Int, _ isEqual: (Int) -> Bool) -> Int {
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
    let oldData = Data(old)
    let newData = Data(new)
    let prefixLength = maximumLength(shorter) { oldData.prefix($0) == newData.prefix($0) }
    let suffixLength = maximumLength(shorter - prefixLength) {
      oldData.suffix($0) == newData.suffix($0)
    }
    return (
      String(decoding: old[prefixLength..<old.count - suffixLength], as: UTF8.self),
      String(decoding: new[prefixLength..<new.count - suffixLength], as: UTF8.self)
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
    // Weights the kinds of changes by repetition.
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
    let scale = ([1, 10, 1000, 1_000_000] as [Double]).randomElement(using: &generator) ?? 1
    return (Double.random(in: range, using: &generator) * scale).rounded() / scale
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
      let writtenValue = Bool.random(using: &generator) ? value : Double(Float(value))
      return (.set("\(path).\(field)", to: .number(writtenValue)), pattern)
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
    let textOrder = editor.controlPointOrder(ofCurve: index)
    var points = textOrder.indices.map { pointIndex in
      pattern.curves[index].controlPoints[textOrder.firstIndex(of: pointIndex) ?? 0]
    }
    let range = pattern.curves[index].id.range
    let time = randomNumber(0...5)
    let value = randomNumber(-1.5...1.5)
    let change: PatternChange
    if points.isEmpty || Int.random(in: 0..<4, using: &generator) == 0 {
      let insertionIndex = points.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
      points.insert(.init(time: time, value: clamped(value, range)), at: insertionIndex)
      change = .addPoint(time: time, value: value, to: "curves[\(index)]")
    } else {
      let pointIndex = Int.random(in: points.indices, using: &generator)
      let path = "curves[\(index)].points[\(pointIndex)]"
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        points.remove(at: pointIndex)
        change = .remove(path)
      case 1:
        points.insert(points[pointIndex], at: pointIndex)
        change = .duplicate(path)
      case 2, 3:
        points[pointIndex].time = time
        change = .set(path + ".time", to: .number(time))
      default:
        points[pointIndex].value = clamped(value, range)
        change = .set(path + ".value", to: .number(value))
      }
    }
    let sortedIndices = points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }
    pattern.curves[index].controlPoints = sortedIndices.map { points[$0] }
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
      guard let bracketIndex = path.lastIndex(of: "["),
        let index = Int(path[bracketIndex...].dropFirst().dropLast())
      else {
        return nil
      }
      return .remove(path[...bracketIndex] + "\(index + 1)]")
    default:
      return nil
    }
  }
}
