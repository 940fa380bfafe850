internal import HapticFormats
internal import HapticModel
internal import Reading

/// A pattern that is being edited, with its undo history. The text is the model, and every change
/// modifies the text.
struct Document {
  /// An undo or redo step, with its name and the text before or after it.
  private struct HistoryStep {
    var label: String
    var text: [UInt8]
  }

  /// The maximum number of undo steps. The oldest steps are removed first.
  private static let maximumUndoStepCount = 1_000
  /// The maximum number of bytes in the texts of all undo steps.
  private static let maximumUndoByteCount = 64 << 20
  /// The default name of an undo step.
  private static let defaultUndoStepLabel = "Change"

  private(set) var fileName = "pattern.ahap"
  /// The current text of the document, which may have errors.
  private(set) var text: [UInt8] = []
  /// The text of the document when it was opened.
  private(set) var openedText: [UInt8] = []
  /// The source of a converted text, or nil for an AHAP file.
  private(set) var conversionOrigin: ConversionOrigin?
  /// The editor of the last text without errors, or nil if every text had errors. The studio plays
  /// and draws the text of this editor.
  private(set) var lastReadableEditor: AHAPEditor?
  /// The error of the current text, or nil for a readable text.
  private(set) var readingError: InputError?
  private var undoSteps: [HistoryStep] = []
  private var redoSteps: [HistoryStep] = []
  /// The name for the undo step that the next change begins.
  private var nextUndoStepLabel = Self.defaultUndoStepLabel
  /// A Boolean value that indicates whether further changes are added to the most recent undo step.
  private var isUndoStepOpen = false
  /// The AHAP editor with the text from before the first change of the current undo step.
  private var editorBeforeUndoStep: AHAPEditor?

  /// A Boolean value that indicates whether the text has no errors.
  var isReadable: Bool { readingError == nil && lastReadableEditor != nil }

  /// Opens a file and clears the undo history.
  ///
  /// A file of another format is converted to AHAP. If a file cannot be read, the previous pattern
  /// stays audible.
  mutating func open(_ file: SourceFile) {
    fileName = file.name
    undoSteps = []
    redoSteps = []
    conversionOrigin = nil
    nextUndoStepLabel = Self.defaultUndoStepLabel
    isUndoStepOpen = false
    do {
      let (bytes, origin) = try ConversionOrigin.convertToAHAP(file)
      conversionOrigin = origin
      parse(bytes)
    } catch {
      text = file.bytes
      self.readingError = error
    }
    openedText = text
  }

  /// Sets and parses the text. If the text has errors, the editor of the last readable text is
  /// kept.
  private mutating func parse(_ text: [UInt8]) {
    self.text = text
    do {
      lastReadableEditor = try AHAPEditor(text: text, name: fileName)
      readingError = nil
    } catch {
      self.readingError = error
    }
  }

  /// The id of the format of the opened file.
  var formatID: String { conversionOrigin?.formatID ?? HapticFormat.ahapID }

  /// The audible composition; nil before the first readable text.
  var audibleComposition: HapticComposition? {
    if let conversionOrigin, text == openedText { return conversionOrigin.sourceComposition }
    return lastReadableEditor?.content.composition
  }

  /// The locations of the elements of the audible pattern. If the text has errors, the location of
  /// each element is the whole file.
  var sourceMap: SourceMap {
    guard isReadable, let lastReadableEditor else { return .inMemory(name: fileName) }
    return lastReadableEditor.sourceMap
  }

  /// The names of the next undo and redo steps, and a Boolean value that indicates whether the text
  /// differs from the opened text.
  var historySummary: (undo: String?, redo: String?, isChanged: Bool) {
    (undoSteps.last?.label, redoSteps.last?.label, text != openedText)
  }

  /// Begins an undo step with the given name. All changes until the next call form one step.
  mutating func beginUndoStep(_ label: String) {
    nextUndoStepLabel = label.isEmpty ? Self.defaultUndoStepLabel : label
    isUndoStepOpen = false
  }

  /// Replaces the text, which may have errors.
  /// The replacement is a step of its own, unless a step has just begun.
  mutating func replaceText(_ text: [UInt8]) {
    if isUndoStepOpen {
      beginUndoStep("Edit text")
    }
    let oldText = self.text
    editorBeforeUndoStep = nil
    parse(text)
    recordUndoStep(textBefore: oldText)
  }

  /// Applies all changes in a list, or throws the first error and applies no change.
  mutating func applyChanges(_ changes: [PatternChange]) throws(InputError) {
    if let readingError { throw readingError }
    guard let lastReadableEditor else {
      throw InputError(changing: "", of: fileName, "this slot is empty")
    }
    let changedEditor = try lastReadableEditor.applying(changes)
    if !isUndoStepOpen {
      editorBeforeUndoStep = lastReadableEditor
    }
    // If the values equal those before the step, their original spelling returns.
    let originalEditor = editorBeforeUndoStep.flatMap {
      $0.pattern == changedEditor.pattern ? $0 : nil
    }
    let newEditor = originalEditor ?? changedEditor
    let oldText = text
    self.lastReadableEditor = newEditor
    text = newEditor.text
    recordUndoStep(textBefore: oldText)
  }

  /// Undoes the last step, or redoes it. Returns false if no such step exists.
  mutating func moveInHistory(forward: Bool) -> Bool {
    guard let historyStep = forward ? redoSteps.popLast() : undoSteps.popLast() else {
      return false
    }
    let inverseStep = HistoryStep(label: historyStep.label, text: text)
    if forward {
      undoSteps.append(inverseStep)
    } else {
      redoSteps.append(inverseStep)
    }
    parse(historyStep.text)
    nextUndoStepLabel = Self.defaultUndoStepLabel
    isUndoStepOpen = false
    return true
  }

  /// Records the text from before a change as an undo step, unless the change belongs to the
  /// current step.
  private mutating func recordUndoStep(textBefore oldText: [UInt8]) {
    if !isUndoStepOpen {
      guard text != oldText else { return }
      undoSteps.append(HistoryStep(label: nextUndoStepLabel, text: oldText))
      isUndoStepOpen = true
      var byteCount = undoSteps.reduce(0) { $0 + $1.text.count }
      while undoSteps.count > Self.maximumUndoStepCount
        || (byteCount > Self.maximumUndoByteCount && undoSteps.count > 1)
      {
        byteCount -= undoSteps.removeFirst().text.count
      }
    }
    redoSteps = []
    // A drag that ends where it began needs no undo step.
    if undoSteps.last?.text == text {
      undoSteps.removeLast()
      isUndoStepOpen = false
    }
  }

  /// The maximum number of lines for which a text is compared line by line with the opened text.
  private static let maximumComparedLineCount = 2_000

  /// The numbers of the lines that differ from the opened text, from 1.
  var changedLineNumbers: [Int] {
    let commonLines = CommonLines(of: text, and: openedText)
    let newLines = Self.lines(of: text, except: commonLines)
    let oldLines = Self.lines(of: openedText, except: commonLines)
    let firstLineNumber = commonLines.prefixLineCount + 1
    guard newLines.count <= Self.maximumComparedLineCount,
      oldLines.count <= Self.maximumComparedLineCount
    else {
      return newLines.indices.map { firstLineNumber + $0 }
    }
    let lineDifference = newLines.difference(from: oldLines)
    return lineDifference.insertions.map { change in
      guard case .insert(let offset, _, _) = change else { return 0 }
      return firstLineNumber + offset
    }
  }

  /// Returns the lines of a text between the common lines at its start and at its end.
  private static func lines(of text: [UInt8], except commonLines: CommonLines)
    -> [ArraySlice<UInt8>]
  {
    let middleRange = commonLines.prefixByteCount..<text.count - commonLines.suffixByteCount
    return text[middleRange].split(
      separator: CommonLines.newline, omittingEmptySubsequences: false)
  }
}

/// The equal lines at the start and at the end of two texts.
///
/// A long text usually differs from the opened text in few lines. Comparing bytes is much faster
/// than dividing both texts into lines.
private struct CommonLines {
  static let newline = UInt8(ascii: "\n")

  /// The number of bytes in the equal lines at the start, including their line breaks.
  private(set) var prefixByteCount = 0
  /// The number of equal lines at the start.
  private(set) var prefixLineCount = 0
  /// The number of bytes in the equal lines at the end, including the line break before the first
  /// of these lines.
  private(set) var suffixByteCount = 0

  init(of firstText: [UInt8], and secondText: [UInt8]) {
    let firstBytes = firstText.span
    let secondBytes = secondText.span
    let minimumCount = min(firstBytes.count, secondBytes.count)
    var index = 0
    while index < minimumCount, firstBytes[index] == secondBytes[index] {
      if firstBytes[index] == Self.newline {
        prefixByteCount = index + 1
        prefixLineCount += 1
      }
      index += 1
    }
    var suffixOffset = 1
    while suffixOffset <= minimumCount - prefixByteCount,
      firstBytes[firstBytes.count - suffixOffset] == secondBytes[secondBytes.count - suffixOffset]
    {
      if firstBytes[firstBytes.count - suffixOffset] == Self.newline {
        suffixByteCount = suffixOffset
      }
      suffixOffset += 1
    }
  }
}
