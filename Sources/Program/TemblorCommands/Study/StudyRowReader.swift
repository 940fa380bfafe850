import HapticFormats
import HapticModel
import HapticRender
import PatternWorkflows
import Reading
import SystemSupport

/// A reader for one row of a stimulus table. It collects the errors of all columns.
struct StudyRowReader {
  private static let maximumHumSeconds = 30.0

  private let lineNumber: Int
  private let path: String
  /// The fields that are not empty, by column.
  private let fields: [String: String]
  /// The errors of the row so far.
  private(set) var findings: [Finding] = []

  init(_ row: CSVTable.Row, columns: [String], path: String) {
    lineNumber = row.lineNumber
    self.path = path
    fields = Dictionary(uniqueKeysWithValues: zip(columns, row.fields)).filter {
      !$0.value.isEmpty
    }
  }

  /// Reports an error in a column.
  mutating func reportError(_ column: String, _ message: String) {
    findings.append(StudyTable.tableFinding(path, line: lineNumber, column: column, message))
  }

  /// Reads the stimulus. With errors, the stimulus is incomplete.
  mutating func readStimulus(formats: FormatRegistry, readingOptions: ReadingOptions)
    -> StudyTable.Stimulus
  {
    let stimulusID = fields["id"] ?? ""
    if stimulusID.isEmpty || stimulusID.contains(where: { $0 == " " || $0 == "/" }) {
      reportError("id", "must be a word without spaces and slashes")
    }
    let levelDecibels = readNumber("level", in: -120...0)
    let intensity = readNumber("intensity", in: 0...1)
    let profile = self.readProfile()
    var pattern: LoadedPattern?
    if let patternPath = fields["file"] {
      pattern = self.readPattern(at: patternPath, formats: formats, readingOptions: readingOptions)
    }
    let event = self.readEvent(intensity: intensity)
    return StudyTable.Stimulus(
      id: stimulusID, lineNumber: lineNumber, pattern: pattern,
      composition: pattern?.composition ?? HapticComposition(HapticPattern(events: [event])),
      profile: profile, levelDecibels: levelDecibels,
      staircaseValue: fields["file"] == nil ? levelDecibels ?? intensity : levelDecibels,
      referenceIDs: (fields["reference"] ?? "").split(separator: " ").map { String($0) })
  }

  private mutating func readNumber(_ column: String, in range: ClosedRange<Double>) -> Double? {
    guard let valueText = fields[column] else { return nil }
    guard let number = Double(valueText), range.contains(number) else {
      let limitsText = "\(range.lowerBound) to \(range.upperBound)"
      reportError(column, "must be a number from \(limitsText), not \(valueText.inQuotes)")
      return nil
    }
    return number
  }

  private mutating func readProfile() -> TransducerProfile? {
    guard let profileName = fields["profile"] else { return nil }
    guard profileName != InputStream.standardInput,
      [.file, .missing].contains(FileSystem.entryKind(at: profileName))
    else {
      reportError("profile", "\(profileName.inQuotes) is not a regular file")
      return nil
    }
    do {
      return try SharedOptions.loadProfile(named: profileName)
    } catch {
      reportError("profile", ErrorReporting.messageText(error))
      return nil
    }
  }

  /// Reads the pattern file in the folder of the table, or the shipped pattern.
  private mutating func readPattern(
    at file: String, formats: FormatRegistry, readingOptions: ReadingOptions
  ) -> LoadedPattern? {
    for column in StudyTable.numericColumnNames where column != "level" && fields[column] != nil {
      reportError(column, "cannot be combined with 'file'")
    }
    let patternPath =
      file.hasPrefix("/") ? file : FileSystem.joinPath(FileSystem.folderPath(of: path), file)
    do {
      let input = try PatternInput.singlePattern(at: patternPath, named: file, formats: formats)
      let parts = input.parts
      guard parts.count == 1 else { throw FileError(file, "is not a single pattern") }
      return try LoadedPattern(parts[0], options: readingOptions)
    } catch {
      reportError("file", ErrorReporting.messageText(error))
      return nil
    }
  }

  /// Reads a tap or a hum.
  private mutating func readEvent(intensity: Double?) -> HapticEvent {
    let durationSeconds = readNumber("duration", in: 0...Self.maximumHumSeconds) ?? 0
    var humEvent = HapticEvent(
      kind: durationSeconds > 0 ? .hapticContinuous : .hapticTransient, time: 0,
      duration: durationSeconds > 0 ? durationSeconds : nil)
    humEvent.parameters[.hapticIntensity] = Float(intensity ?? 1)
    if let sharpness = readNumber("sharpness", in: 0...1) {
      humEvent.parameters[.hapticSharpness] = Float(sharpness)
    }
    let timeColumns: [(column: String, id: EventParameterID)] = [
      ("attack", .attackTime), ("decay", .decayTime), ("release", .releaseTime),
    ]
    for (column, id) in timeColumns {
      if let time = readNumber(column, in: 0...1) {
        humEvent.parameters[id] = Float(time)
      }
    }
    return humEvent
  }
}
