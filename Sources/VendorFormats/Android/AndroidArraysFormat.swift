public import HapticFormats
public import Reading
public import HapticModel

/// The timings and amplitudes of Android's `VibrationEffect.createWaveform`, as Haptics Studio
/// exports them: an object with two arrays.
///
/// An index named `repeat` is that of Android's function. Without amplitudes, timings are off and on
/// in turn.
public struct AndroidArraysFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `android-arrays`.
  public var id: String { "android-arrays" }
  /// The name of its system.
  public var title: String { "Android timings and amplitudes" }
  /// `vibration.json`; files of other names are recognised by their content.
  public var endings: [String] { ["vibration.json"] }
  /// The rules of Android's function.
  public var rules: [Rule] { AndroidRules.arrays }
  /// The ways in which levels are written: `steps`, or `studio`, sampled and never 0 as those of
  /// Haptics Studio.
  public var dialects: [String] { ["steps", "studio"] }

  /// Certain for a JSON object with the key `timings`.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    guard let outline = JSONOutline(bytes) else { return .no }
    return outline.has("timings") ? .certain : .no
  }

  /// Reads a file and checks it against every rule.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    let json: JSONDocument
    do { json = try JSONDocument(text: file.bytes, name: file.name) } catch {
      return Examination(InputError(error, rule: .arraysSyntax))
    }
    var decoder = ArraysDecoder(json)
    let effect = decoder.decode()
    let isReadable = decoder.log.errorCount == 0
    let made = isReadable ? VibrationComposition(effect, options: options) : nil
    return Examination(
      composition: made?.composition, findings: decoder.log.findings(in: json, for: options),
      errorCount: decoder.log.errorCount, losses: options.wantsFindings ? made?.losses.finish() ?? [] : [],
      places: WholeDocument(json: json))
  }

  /// Writes the levels of a composition.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(.arraysValue)
    let steps = VibrationSteps(composition, options: options, isContinuous: options.dialect == "studio")
    var losses = steps.losses
    losses.dropWords(of: composition)
    var writer = JSONWriter()
    writer.object { file in
      file.array("timings", layout: .line) { array in for step in steps.steps { array.element(step.duration) } }
      file.array("amplitudes", layout: .line) { array in for step in steps.steps { array.element(step.amplitude ?? -1) }
      }
      if let repeatIndex = steps.repeatIndex { file.member("repeat", repeatIndex) }
    }
    return Writing([Writing.File(writer.finish())], losses: losses.finish())
  }
}

/// A text as the place of all parts of a composition.
struct WholeDocument: SourcePlaces {
  let json: JSONDocument

  func place(of element: CompositionElement) -> SourcePlace { json.root.place }
}

/// Makes a text of arrays into levels, and notes what it finds.
private struct ArraysDecoder {
  let json: JSONDocument
  var log = FindingLog()

  init(_ json: JSONDocument) { self.json = json }

  /// The levels; nil where the text has none.
  mutating func decode() -> VibrationEffect? {
    let root = json.root
    guard root.kind == .object, let timings = root["timings"] else {
      log.add(.arraysStructure, at: root, "the file must be an object with the key \"timings\"")
      return nil
    }
    guard let durations = numbers(timings, "timings", 0...Int32.max) else { return nil }
    var steps: [VibrationEffect.Step] = []
    if let amplitudes = root["amplitudes"] {
      guard let levels = numbers(amplitudes, "amplitudes", -1...Int32(VibrationEffect.fullAmplitude)) else {
        return nil
      }
      if levels.count != durations.count {
        log.add(.arraysCount, at: amplitudes, "there are \(durations.count) timings and \(levels.count) amplitudes")
      }
      steps.reserveCapacity(durations.count)
      for (duration, level) in zip(durations, levels) {
        steps.append(.init(duration: Int(duration), amplitude: level < 0 ? nil : Int(level)))
      }
    } else {
      steps = durations.enumerated().map { index, duration in
        .init(duration: Int(duration), amplitude: index % 2 == 0 ? 0 : nil)
      }
    }
    if log.errorCount == 0, !durations.contains(where: { $0 > 0 }) {
      log.add(.arraysNoLength, at: timings, "the timings are all 0")
    }
    return .waveform(steps, repeatIndex: repeatIndex(root["repeat"], count: durations.count))
  }

  private mutating func repeatIndex(_ value: JSONValue?, count: Int) -> Int? {
    guard let value else { return nil }
    guard let number = value.number, let index = Int(exactly: number), (-1..<count).contains(index) else {
      log.add(.arraysRepeat, at: value, "repeat must be the index of one of \(count) timings, or -1")
      return nil
    }
    return index < 0 ? nil : index
  }

  private mutating func numbers(_ value: JSONValue, _ name: String, _ range: ClosedRange<Int32>) -> [Int32]? {
    guard value.kind == .array else {
      log.add(.arraysStructure, at: value, "\(name) must be an array, not \(value.kind.noun)")
      return nil
    }
    // Nearly all files have no mistake, and hold nothing but these numbers.
    if let numbers = value.wholeNumbers(in: range) { return numbers }
    var numbers: [Int32] = []
    for element in value.elements {
      if let number = element.number, let whole = Int32(exactly: number), range.contains(whole) {
        numbers.append(whole)
      } else {
        let text = String(decoding: element.lexeme.prefix(24), as: UTF8.self)
        log.add(
          .arraysValue, at: element,
          element.kind == .number
            ? "\(text) is not a whole number "
              + (range.lowerBound < 0 ? "from -1 to \(range.upperBound)" : "of at least 0")
            : "\(name) must be numbers, not \(element.kind.noun)")
        numbers.append(0)
      }
    }
    return numbers
  }
}
