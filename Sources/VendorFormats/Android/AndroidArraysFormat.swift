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

/// The durations of `navigator.vibrate` of web pages: on and off in turn, in milliseconds.
///
/// Nothing in such a text says what it is, so it is never recognised: the format has to be named.
public struct VibrateFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `vibrate`.
  public var id: String { "vibrate" }
  /// The name of its function.
  public var title: String { "Web Vibration API" }
  /// `vibrate.json`.
  public var endings: [String] { ["vibrate.json"] }
  /// The rules of the function, and the limits of Chromium.
  public var rules: [Rule] { AndroidRules.vibrate }

  /// The most durations, and the longest in milliseconds.
  ///
  /// Source: Chromium's web tests of the Vibration API.
  private static let limits = (count: 99, duration: 10_000)

  /// Never: an array of numbers may be anything.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition { .no }

  /// Reads an array, or numbers with commas.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    let isArray = file.bytes.first { !XMLTree.isSpace($0) } == UInt8(ascii: "[")
    let json: JSONDocument
    do {
      let text = isArray ? file.bytes : [UInt8(ascii: "[")] + file.bytes + [UInt8(ascii: "]")]
      json = try JSONDocument(text: text, name: file.name)
    } catch { return Examination(InputError(error, rule: .vibrateSyntax)) }
    var log = FindingLog()
    var steps: [VibrationEffect.Step] = []
    var excess: JSONValue?
    for value in json.root.elements {
      if let number = value.number, number >= 0 {
        let duration = Int(min(number, FrameConversion.longest * 1000))
        if duration > Self.limits.duration || steps.count == Self.limits.count { excess = excess ?? value }
        steps.append(.init(duration: duration, amplitude: steps.count % 2 == 0 ? VibrationEffect.fullAmplitude : 0))
      } else {
        log.add(.vibrateValue, at: value, "a duration must be a number of at least 0")
      }
    }
    if let excess {
      log.add(
        .vibrateCount, at: excess, "Chromium plays \(Self.limits.count) durations of at most \(Self.limits.duration) ms"
      )
    }
    let made = log.errorCount == 0 ? VibrationComposition(.waveform(steps, repeatIndex: nil), options: options) : nil
    return Examination(
      composition: made?.composition, findings: log.findings(in: json, for: options), errorCount: log.errorCount,
      losses: options.wantsFindings ? made?.losses.finish() ?? [] : [], places: WholeDocument(json: json))
  }

  /// Writes when a composition vibrates, whatever its level is.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(.vibrateValue)
    var losses = LossLog()
    let played = composition.unrolled(passes: options.loops, losses: &losses)
    let steps = VibrationSteps(played, options: options, isContinuous: false, losses: losses)
    losses = steps.losses
    if steps.steps.contains(where: { 1..<VibrationEffect.fullAmplitude ~= $0.amplitude ?? 0 }) {
      losses.add(.dropped, .composition, "this format has one vibration level")
    }
    losses.dropWords(of: composition)
    var durations: [Int] = []
    for step in steps.steps {
      let isOn = step.amplitude != 0
      if durations.isEmpty, !isOn { durations.append(0) }
      if (durations.count % 2 == 1) == isOn, !durations.isEmpty {
        durations[durations.count - 1] += step.duration
      } else {
        durations.append(step.duration)
      }
    }
    if durations.count % 2 == 0 { durations = durations.dropLast() }
    if durations.count > Self.limits.count || durations.contains(where: { $0 > Self.limits.duration }) {
      losses.add(
        .approximated, .composition,
        "Chromium plays \(Self.limits.count) durations of at most \(Self.limits.duration) ms")
    }
    var writer = JSONWriter(layout: .line)
    writer.array { array in for duration in durations { array.element(duration) } }
    return Writing([Writing.File(writer.finish())], losses: losses.finish())
  }
}
/// The rules of Android's vibration files.
enum AndroidRules {
  /// The rules of vibration XML, in the order in which they are listed.
  static let xml: [Rule] = [
    .androidSyntax, .androidRoot, .androidElement, .androidAttribute, .androidMissingAttribute, .androidValue,
    .androidEmpty, .androidNoLength, .androidEnvelopeEnd, .androidVendorEffect, .androidChoice,
  ]

  /// The rules of timing and amplitude arrays, in the order in which they are listed.
  static let arrays: [Rule] = [
    .arraysSyntax, .arraysStructure, .arraysCount, .arraysValue, .arraysRepeat, .arraysNoLength,
  ]

  /// The rules of the arrays of web pages, in the order in which they are listed.
  static let vibrate: [Rule] = [.vibrateSyntax, .vibrateValue, .vibrateCount]
}

extension Rule {
  static let androidSyntax = Rule(
    "android/syntax", group: "syntax", .error,
    "The text must be XML in UTF-8 without a document type declaration and without text.")
  static let androidRoot = Rule(
    "android/root", group: "grammar", .error, "The root must be vibration-effect, vibration or vibration-select.")
  static let androidElement = Rule(
    "android/element", group: "grammar", .error, "An element must be one that Android accepts in its position.")
  static let androidAttribute = Rule(
    "android/attribute", group: "grammar", .error, "An element must have no attributes but its own.")
  static let androidMissingAttribute = Rule(
    "android/missing-attribute", group: "grammar", .error, "An element must have its required attributes.")
  static let androidValue = Rule(
    "android/value", group: "range", .error, "An attribute must have a value within its range.")
  static let androidEmpty = Rule("android/empty", group: "grammar", .error, "An effect must have entries or points.")
  static let androidNoLength = Rule(
    "android/no-length", group: "range", .error, "The durations of a waveform must not all be 0.")
  static let androidEnvelopeEnd = Rule(
    "android/envelope-end", group: "range", .error, "A basic envelope must end with intensity 0.")
  static let androidVendorEffect = Rule(
    "android/vendor-effect", group: "grammar", .error,
    "A vendor effect cannot be read: only its vendor knows what it holds.")
  static let androidChoice = Rule(
    "android/choice", group: "compatibility", .note,
    "A vibration-select is played by its first effect that the device supports; the first is read.")

  static let arraysSyntax = Rule("android-arrays/syntax", group: "syntax", .error, "The text must be JSON in UTF-8.")
  static let arraysStructure = Rule(
    "android-arrays/structure", group: "grammar", .error,
    "The file must be an object with an array timings, and amplitudes where they are not on and off.")
  static let arraysCount = Rule(
    "android-arrays/count", group: "grammar", .error, "There must be as many amplitudes as timings.")
  static let arraysValue = Rule(
    "android-arrays/value", group: "range", .error,
    "Timings must be whole milliseconds of at least 0, amplitudes 0 to 255, or -1 for the device's.")
  static let arraysRepeat = Rule(
    "android-arrays/repeat", group: "range", .error, "The repeat index must be that of a timing, or -1 for none.")
  static let arraysNoLength = Rule("android-arrays/no-length", group: "range", .error, "The timings must not all be 0.")

  static let vibrateSyntax = Rule(
    "vibrate/syntax", group: "syntax", .error, "The text must be a JSON array of numbers, or numbers with commas.")
  static let vibrateValue = Rule("vibrate/value", group: "range", .error, "Durations must be numbers of at least 0.")
  static let vibrateCount = Rule(
    "vibrate/count", group: "compatibility", .warning,
    "There should be at most 99 durations of at most 10000 ms; Chromium shortens others.")
}
