internal import HapticFormats
internal import HapticModel
internal import Reading
internal import VendorFormats

/// A pattern as it is worked on: the text is the model, and every change is a change of the text.
struct Document {
  /// The file the text was made from, where that is of another format.
  struct Origin {
    var format: HapticFormat
    var losses: [LocatedLoss]
    /// All that it says, which sounds until the text is changed.
    var composition: HapticComposition
  }

  /// A step that can be taken back or made again: what it is called, and the text on its other
  /// side.
  private struct Step {
    var label: String
    var text: [UInt8]
  }

  /// The most steps that are kept, and the most bytes of their texts; the oldest are forgotten
  /// first.
  private static let historyLimits = (steps: 1_000, bytes: 64 << 20)
  /// What a step is called that was given no name.
  private static let defaultStepLabel = "Change"

  private(set) var name = "pattern.ahap"
  /// The text, which may have errors.
  private(set) var text: [UInt8] = []
  /// The text as it was opened, before any change.
  private(set) var original: [UInt8] = []
  private(set) var origin: Origin?
  /// What was read last without an error: what sounds and is drawn. Nil before the first.
  private(set) var editor: AHAPEditor?
  /// Why the text cannot be read; nil where it can.
  private(set) var error: InputError?
  private var undoSteps: [Step] = []
  private var redoSteps: [Step] = []
  private var nextLabel = Self.defaultStepLabel
  private var isStepOpen = false
  /// What was there before the changes of the step that is made.
  private var editorBeforeStep: AHAPEditor?

  var isReadable: Bool { error == nil && editor != nil }

  /// Puts a file in the slot and forgets the steps of the one before.
  ///
  /// What is of another format is made into AHAP. A file that cannot be read leaves the pattern
  /// that sounds as it is.
  mutating func open(_ file: SourceFile) {
    name = file.name
    undoSteps = []
    redoSteps = []
    origin = nil
    nextLabel = Self.defaultStepLabel
    isStepOpen = false
    do {
      let format = try FormatRegistry.standard.format(of: file)
      var bytes = file.bytes
      if format.id != HapticFormat.ahap.id {
        let made = try DocumentConversion.convert(file, from: format, to: .ahap)
        bytes = made.bytes
        origin = Origin(format: format, losses: made.losses, composition: made.composition)
      }
      parse(bytes)
    } catch {
      text = file.bytes
      self.error = error
    }
    original = text
  }

  private mutating func parse(_ text: [UInt8]) {
    self.text = text
    do {
      editor = try AHAPEditor(text: text, name: name)
      error = nil
    } catch {
      self.error = error
    }
  }

  /// What sounds; nil before the first text that could be read.
  var composition: HapticComposition? {
    if let origin, text == original { return origin.composition }
    return editor?.content.composition
  }

  /// What can be undone and redone, by name, and whether the text differs from the one that was
  /// opened.
  var history: (undo: String?, redo: String?, isChanged: Bool) {
    (undoSteps.last?.label, redoSteps.last?.label, text != original)
  }

  /// Names a step; changes up to the next name are one.
  mutating func beginStep(_ label: String) {
    nextLabel = label.isEmpty ? Self.defaultStepLabel : label
    isStepOpen = false
  }

  /// Puts another text in place, whether it can be read or not; a step of its own unless one was
  /// begun.
  mutating func replace(_ text: [UInt8]) {
    let wasOpen = isStepOpen
    if wasOpen {
      beginStep("Edit text")
    }
    let old = self.text
    editorBeforeStep = nil
    parse(text)
    recordStep(old)
  }

  /// Makes some changes at once, or refuses all.
  mutating func change(_ changes: [PatternChange]) throws(InputError) {
    if let error { throw error }
    guard let editor else { throw InputError(changing: "", of: name, "the slot is empty") }
    let changed = try editor.applying(changes)
    if !isStepOpen {
      editorBeforeStep = editor
    }
    // Values that are as they were are spelled as they were.
    let result = editorBeforeStep.flatMap { $0.pattern == changed.pattern ? $0 : nil } ?? changed
    let old = text
    self.editor = result
    text = result.text
    recordStep(old)
  }

  /// Takes the last step back, or makes that again which was taken back last; false where there is
  /// none.
  mutating func step(forward: Bool) -> Bool {
    guard let step = forward ? redoSteps.popLast() : undoSteps.popLast() else { return false }
    let back = Step(label: step.label, text: text)
    if forward {
      undoSteps.append(back)
    } else {
      redoSteps.append(back)
    }
    parse(step.text)
    nextLabel = Self.defaultStepLabel
    isStepOpen = false
    return true
  }

  /// Keeps the text that was there before a change, unless the step that is made has one.
  private mutating func recordStep(_ old: [UInt8]) {
    if !isStepOpen {
      guard text != old else { return }
      undoSteps.append(Step(label: nextLabel, text: old))
      isStepOpen = true
      var bytes = undoSteps.reduce(0) { $0 + $1.text.count }
      while undoSteps.count > Self.historyLimits.steps
        || (bytes > Self.historyLimits.bytes && undoSteps.count > 1)
      {
        bytes -= undoSteps.removeFirst().text.count
      }
    }
    redoSteps = []
    // A drag that ends where it began leaves nothing to undo.
    if undoSteps.last?.text == text {
      undoSteps.removeLast()
      isStepOpen = false
    }
  }

  /// Lines beyond which a difference is not looked for line by line.
  private static let maximumComparedLines = 2_000

  /// The numbers, from 1, of lines that are not in the text as it was opened.
  var changedLines: [Int] {
    let new = text.split(separator: 0x0A, omittingEmptySubsequences: false)
    let old = original.split(separator: 0x0A, omittingEmptySubsequences: false)
    let front = zip(new, old).prefix { $0 == $1 }.count
    let rest = zip(new.reversed(), old.reversed()).prefix(min(new.count, old.count) - front)
    let back = rest.prefix { $0 == $1 }.count
    let changed = front..<new.count - back
    guard changed.count <= Self.maximumComparedLines,
      old.count - back - front <= Self.maximumComparedLines
    else {
      return changed.map { $0 + 1 }
    }
    return new[changed].difference(from: old[front..<old.count - back]).insertions.map { change in
      guard case .insert(let offset, _, _) = change else { return 0 }
      return front + offset + 1
    }
  }
}

extension [PatternChange] {
  /// Reads a list of changes: `{"set": "events[3].time", "to": 1.25}`, `{"remove":
  /// "curves[0].points[2]"}`,
  /// `{"add": {…}, "after": "events[3]"}`, `{"duplicate": "events[3]"}`,
  /// `{"addPoint": {"time": 0.2, "value": 0.5}, "to": "curves[0]"}`.
  init(json text: [UInt8]) throws(InputError) {
    let document: JSONDocument
    do {
      document = try JSONDocument(text: text, name: "changes")
    } catch {
      throw InputError(changing: "", of: "changes", error.message, error.suggestion)
    }
    self = []
    for element in document.root.elements {
      append(try PatternChange(element))
    }
  }
}

extension PatternChange {
  fileprivate init(_ json: JSONValue) throws(InputError) {
    let to = json["to"]
    if let path = json["set"]?.string, let to {
      if let number = to.number {
        self = .set(path, to: .number(number))
        return
      }
      if let text = to.string {
        self = .set(path, to: .text(text))
        return
      }
      if let flag = to.boolean {
        self = .set(path, to: .flag(flag))
        return
      }
    }
    if let path = json["remove"]?.string {
      self = .remove(path)
    } else if let path = json["duplicate"]?.string {
      self = .duplicate(path)
    } else if let entry = json["add"] {
      var writer = JSONWriter(layout: .compact)
      writer.value(copying: entry)
      self = .add(writer.bytes, after: json["after"]?.string)
    } else if let point = json["addPoint"], let time = point["time"]?.number,
      let value = point["value"]?.number,
      let path = to?.string
    {
      self = .addPoint(time: time, value: value, to: path)
    } else {
      throw InputError(
        changing: json.path, of: "changes", "the change is not valid",
        "use set and to, remove, duplicate, add, or addPoint and to")
    }
  }
}
