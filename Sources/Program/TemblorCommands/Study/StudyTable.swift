import HapticFormats
import HapticModel
import HapticRender
import PatternWorkflows
import Reading
import SignalAnalysis
import SystemSupport

/// The stimuli of a study. Each row of the table is a tap, a hum, or a pattern file with a playback
/// level.
struct StudyTable {
  struct Stimulus {
    let id: String
    let lineNumber: Int
    let pattern: LoadedPattern?
    let composition: HapticComposition
    /// The profile of this stimulus, or nil for the profile of the study.
    let profile: TransducerProfile?
    /// The RMS level of the rendering in dBFS, or nil to leave it unchanged.
    let level: Double?
    /// The value that a staircase steps through: the level, or else the intensity.
    let value: Double?
  }

  /// A stimulus rendered for its profiles, with the gain that sets its level.
  struct Rendering {
    let plans: [RenderPlan]
    let gain: Double
    let levels: Levels
  }

  static let numericColumns = [
    "intensity", "sharpness", "duration", "attack", "decay", "release", "level",
  ]
  static let columns = ["id", "file", "profile"] + numericColumns
  private static let invalidTable = Rule.error(
    "study-table", "study", "A table of stimuli must have the required columns.")
  /// The maximum error of a level, in decibels.
  private static let levelToleranceDecibels = 0.01

  let path: String
  /// The SHA-256 hash of the table.
  let hash: String
  let stimuli: [Stimulus]

  init(_ path: String, bytes: [UInt8], hash: String, formats: FormatRegistry) throws {
    self.path = path
    self.hash = hash
    let table: CSVTable
    do throws(CSVTable.Problem) {
      table = try CSVTable(bytes)
    } catch {
      throw Self.error(path, line: error.lineNumber, column: error.column, error.reason)
    }
    for column in table.columns where !Self.columns.contains(column) {
      throw Self.error(
        path, line: 1, column: column,
        "unknown; valid columns are \(Self.columns.joined(separator: ", "))")
    }
    guard table.columns.contains("id"), table.rows.count > 0 else {
      throw Self.error(
        path, line: 1, column: nil, "the table must have a column 'id' and a row for each stimulus")
    }
    var stimuli: [Stimulus] = []
    for row in table.rows {
      let fields = Dictionary(uniqueKeysWithValues: zip(table.columns, row.fields)).filter {
        !$0.value.isEmpty
      }
      let id = fields["id"] ?? ""
      if id.isEmpty || id.contains(where: { $0 == " " || $0 == "/" }) {
        throw Self.error(
          path, line: row.lineNumber, column: "id",
          "must not be empty or contain spaces or slashes")
      }
      if let previous = stimuli.first(where: { $0.id == id }) {
        throw Self.error(
          path, line: row.lineNumber, column: "id",
          "\(id.inQuotes) is already used in line \(previous.lineNumber)")
      }
      stimuli.append(
        try Self.parseStimulus(
          id, line: row.lineNumber, fields: fields, path: path, formats: formats))
    }
    self.stimuli = stimuli
  }

  private static func parseStimulus(
    _ id: String, line: Int, fields: [String: String], path: String, formats: FormatRegistry
  ) throws -> Stimulus {
    func number(_ column: String, in range: ClosedRange<Double>) throws -> Double? {
      guard let text = fields[column] else { return nil }
      guard let number = Double(text), range.contains(number) else {
        throw error(
          path, line: line, column: column,
          "must be a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
      }
      return number
    }
    let level = try number("level", in: -120...0)
    let intensity = try number("intensity", in: 0...1)
    var profile: TransducerProfile?
    if let name = fields["profile"] {
      do {
        profile = try SharedOptions.profile(named: name)
      } catch {
        throw Self.error(path, line: line, column: "profile", Failure.message(error))
      }
    }
    if let file = fields["file"] {
      if let column = numericColumns.first(where: { $0 != "level" && fields[$0] != nil }) {
        throw error(path, line: line, column: column, "cannot be combined with 'file'")
      }
      let beside = file.hasPrefix("/") ? file : FileSystem.join(FileSystem.folder(of: path), file)
      let (inputs, problems) = PatternInput.find(
        [FileSystem.entryKind(at: beside) == .file ? beside : file], formats: formats)
      if let problem = problems.first {
        throw error(path, line: line, column: "file", "\(problem)")
      }
      guard inputs.count == 1 else {
        throw error(path, line: line, column: "file", "\(file.inQuotes) is not a single pattern")
      }
      let pattern = try LoadedPattern(inputs[0])
      return Stimulus(
        id: id, lineNumber: line, pattern: pattern, composition: pattern.composition,
        profile: profile,
        level: level,
        value: level)
    }
    let duration = try number("duration", in: 0...30) ?? 0
    var event = HapticEvent(
      kind: duration > 0 ? .hapticContinuous : .hapticTransient, time: 0,
      duration: duration > 0 ? duration : nil)
    event.parameters[.hapticIntensity] = Float(intensity ?? 1)
    if let sharpness = try number("sharpness", in: 0...1) {
      event.parameters[.hapticSharpness] = Float(sharpness)
    }
    for (column, id) in [
      ("attack", EventParameterID.attackTime), ("decay", .decayTime), ("release", .releaseTime),
    ] {
      if let time = try number(column, in: 0...1) {
        event.parameters[id] = Float(time)
      }
    }
    return Stimulus(
      id: id, lineNumber: line, pattern: nil,
      composition: HapticComposition(HapticPattern(events: [event])),
      profile: profile, level: level, value: level ?? intensity)
  }

  /// Throws an error if a staircase cannot use the stimuli: a missing value, mixed quantities, or a
  /// stimulus that is not stronger than the reference.
  func checkStaircase(reference: Int) throws {
    let minimum = stimuli[reference].value ?? -.infinity
    for (index, stimulus) in stimuli.enumerated() {
      if stimulus.value == nil || (stimulus.level == nil) != (stimuli[reference].level == nil) {
        throw Self.error(
          path, line: stimulus.lineNumber, column: nil,
          "a staircase requires a level or an intensity for each stimulus")
      }
      if index != reference, (stimulus.value ?? 0) <= minimum {
        throw Self.error(
          path, line: stimulus.lineNumber, column: nil,
          "a staircase requires stimuli stronger than the reference"
        )
      }
    }
  }

  private static func error(_ path: String, line: Int, column: String?, _ message: String)
    -> InputError
  {
    InputError(
      Finding(
        invalidTable, location: FileLocation(name: path, position: .text(line: line, column: 1)),
        (column.map { "column \($0.inQuotes): " } ?? "") + message))
  }

  /// Compiles a stimulus for each profile and finds the gain that sets its level.
  ///
  /// - Parameters:
  ///   - stimulus: The stimulus.
  ///   - profiles: The profiles of the outputs. A profile of the stimulus replaces them.
  ///   - job: The render settings.
  func rendering(of stimulus: Stimulus, for profiles: [TransducerProfile], job: RenderJob) throws
    -> Rendering
  {
    let profiles = stimulus.profile.map { profile in profiles.map { _ in profile } } ?? profiles
    let rate = Double(job.rate)
    let plans =
      try stimulus.pattern?.plans(for: profiles, rate: rate)
      ?? profiles.map { try RenderPlan(compiling: stimulus.composition, profile: $0, rate: rate) }
    var job = job
    if let profile = stimulus.profile {
      job.profile = profile
    }
    func levels(_ gain: Double) throws -> Levels {
      job.strength = gain
      var rendering = OfflineRenderer(plan: plans[0], settings: job.settings(for: [plans[0]]))
      return try Levels(of: Signal(rendering.samples(), rate: rate))
    }
    var gain = 1.0
    var measured = try levels(1)
    guard let level = stimulus.level else {
      return Rendering(plans: plans, gain: 1, levels: measured)
    }
    for _ in 0..<4
    where abs(measured.rmsDecibels - level) > Self.levelToleranceDecibels && measured.rms > 0 {
      gain *= Decibels.amplitudeFactor(level - measured.rmsDecibels)
      measured = try levels(gain)
    }
    guard abs(measured.rmsDecibels - level) <= Self.levelToleranceDecibels else {
      throw Self.error(
        path, line: stimulus.lineNumber, column: "level",
        """
        \(NumberFormatting.fixed(level, places: 1)) dBFS is too high; \(stimulus.id.inQuotes) \
        supports at most \(NumberFormatting.fixed(measured.rmsDecibels, places: 1)) dBFS, because \
        peaks are limited to -1 dBFS
        """
      )
    }
    return Rendering(plans: plans, gain: gain, levels: measured)
  }
}
