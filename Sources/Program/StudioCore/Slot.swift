internal import HapticFormats
internal import HapticModel
internal import Reading
internal import VendorFormats

/// A pattern that is edited. The text is the model: every change modifies the text.
struct Document {
  /// The source of a text that was converted from another format.
  struct Origin {
    var format: HapticFormat
    var losses: [LocatedLoss]
    /// The complete content of the source, which is audible until the text changes.
    var composition: HapticComposition
  }

  /// An undo or redo step: its name, and the text before or after it.
  private struct Step {
    var label: String
    var text: [UInt8]
  }

  /// The maximum number of steps and of bytes in their texts. The oldest steps are removed first.
  private static let historyLimits = (steps: 1_000, bytes: 64 << 20)
  /// The default name of a step.
  private static let defaultStepLabel = "Change"

  private(set) var name = "pattern.ahap"
  /// The current text, which may have errors.
  private(set) var text: [UInt8] = []
  /// The text when it was opened.
  private(set) var original: [UInt8] = []
  private(set) var origin: Origin?
  /// The last text without errors, which is audible and drawn; nil before the first.
  private(set) var editor: AHAPEditor?
  /// The error of the text, or nil for a readable text.
  private(set) var error: InputError?
  private var undoSteps: [Step] = []
  private var redoSteps: [Step] = []
  private var nextLabel = Self.defaultStepLabel
  private var isStepOpen = false
  /// The editor before the changes of the current step.
  private var editorBeforeStep: AHAPEditor?

  var isReadable: Bool { error == nil && editor != nil }

  /// Opens a file and clears the undo history.
  ///
  /// A file of another format is converted to AHAP. If a file cannot be read, the previous pattern
  /// stays audible.
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

  /// The audible content; nil before the first readable text.
  var composition: HapticComposition? {
    if let origin, text == original { return origin.composition }
    return editor?.content.composition
  }

  /// The names of the next undo and redo steps, and whether the text differs from the opened one.
  var history: (undo: String?, redo: String?, isChanged: Bool) {
    (undoSteps.last?.label, redoSteps.last?.label, text != original)
  }

  /// Begins a step with a name. All changes until the next call form one step.
  mutating func beginStep(_ label: String) {
    nextLabel = label.isEmpty ? Self.defaultStepLabel : label
    isStepOpen = false
  }

  /// Replaces the text, which may have errors. The replacement is a step of its own, unless a step
  /// has just begun.
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

  /// Applies all changes, or throws the first error and applies none.
  mutating func change(_ changes: [PatternChange]) throws(InputError) {
    if let error { throw error }
    guard let editor else { throw InputError(changing: "", of: name, "the slot is empty") }
    let changed = try editor.applying(changes)
    if !isStepOpen {
      editorBeforeStep = editor
    }
    // If the values equal those before the step, their original spelling returns.
    let result = editorBeforeStep.flatMap { $0.pattern == changed.pattern ? $0 : nil } ?? changed
    let old = text
    self.editor = result
    text = result.text
    recordStep(old)
  }

  /// Undoes the last step, or redoes it. Returns false if there is none.
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

  /// Records the text before a change, unless the current step already has one.
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
    // A drag that ends where it began needs no undo step.
    if undoSteps.last?.text == text {
      undoSteps.removeLast()
      isStepOpen = false
    }
  }

  /// The maximum number of lines for a line-by-line comparison.
  private static let maximumComparedLines = 2_000

  /// The numbers, from 1, of the lines that differ from the opened text.
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
  /// Parses a list of changes:
  ///
  /// - `{"set": "events[3].time", "to": 1.25}`
  /// - `{"remove": "curves[0].points[2]"}`
  /// - `{"add": {…}, "after": "events[3]"}`
  /// - `{"duplicate": "events[3]"}`
  /// - `{"addPoint": {"time": 0.2, "value": 0.5}, "to": "curves[0]"}`
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
