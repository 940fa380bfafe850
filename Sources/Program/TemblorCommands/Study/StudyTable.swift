import CommandLineKit
import HapticFormats
import HapticModel
import HapticRender
import ListeningTests
import PatternWorkflows
import Reading
import SignalAnalysis
import SystemSupport

/// The stimuli of a study.
/// Each row of the table is a tap, a hum, or a pattern file with a playback level.
struct StudyTable {
  struct Stimulus {
    let id: String
    let lineNumber: Int
    let pattern: LoadedPattern?
    let composition: HapticComposition
    /// The profile of this stimulus, or nil for the profile of the study.
    let profile: TransducerProfile?
    /// The RMS level of the rendering in dBFS, or nil to leave the level unchanged.
    let levelDecibels: Double?
    /// The value that a staircase varies: the level in dBFS, or, for a stimulus without a level,
    /// the intensity.
    let staircaseValue: Double?
    /// The ids of the stimuli with which this stimulus is compared, or an empty array for the
    /// common reference of the study.
    let referenceIDs: [String]

    /// The staircase value as the results file states it, or an empty string if there is no value.
    var staircaseValueText: String { staircaseValue.map { "\($0)" } ?? "" }
    /// The name of the file with the rendered stimulus.
    var soundFileName: String { "\(id).wav" }
  }

  /// A stimulus rendered for its profiles, with the gain that sets its level.
  struct StimulusRendering {
    let plans: [RenderPlan]
    let levelAdjustmentGain: Double
    let measuredLevels: Levels
  }

  static let numericColumnNames = [
    "intensity", "sharpness", "duration", "attack", "decay", "release", "level",
  ]
  static let columnNames = ["id", "file", "profile", "reference"] + numericColumnNames
  private static let invalidTableRule = Rule.error(
    "study-table", "study", "A table of stimuli must have the required columns.")
  /// The maximum error of a playback level, in decibels.
  private static let levelToleranceDecibels = 0.01
  /// The id of the reference in a table without the column `reference`.
  private static let defaultReferenceID = "reference"

  let tablePath: String
  /// The SHA-256 hash of the table.
  let tableHash: String
  let stimuli: [Stimulus]

  /// The text that identifies the table in results: the beginning of its hash.
  var tableIDInResults: String { String(tableHash.prefix(16)) }

  /// Reads a table.
  ///
  /// - Parameters:
  ///   - path: The path of the table, for errors.
  ///   - bytes: The content of the table.
  ///   - tableHash: The SHA-256 hash of the content.
  ///   - formats: The known formats.
  ///   - readingOptions: The options for reading the pattern files.
  /// - Throws: `InvalidRows` with all errors of the table.
  init(
    _ path: String, bytes: [UInt8], tableHash: String, formats: FormatRegistry,
    readingOptions: ReadingOptions
  ) throws {
    self.tablePath = path
    self.tableHash = tableHash
    let table: CSVTable
    do throws(CSVTable.FormatError) {
      table = try CSVTable(bytes)
    } catch {
      throw InvalidRows([
        Self.tableFinding(path, line: error.lineNumber, column: error.columnName, error.reason)
      ])
    }
    guard table.columnNames.contains("id"), table.rows.count > 0 else {
      throw InvalidRows([
        Self.tableFinding(
          path, line: 1, column: nil,
          "the table must have a column 'id' and a row for each stimulus")
      ])
    }
    var findings = table.columnNames.filter { !Self.columnNames.contains($0) }.map { column in
      Self.tableFinding(
        path, line: 1, column: column,
        "unknown; valid columns are \(Self.columnNames.joined(separator: ", "))")
    }
    var stimuli: [Stimulus] = []
    var lineNumbers: [String: Int] = [:]
    for row in table.rows {
      var reader = StudyRowReader(row, columns: table.columnNames, path: path)
      let stimulus = reader.readStimulus(formats: formats, readingOptions: readingOptions)
      if let previous = lineNumbers[stimulus.id] {
        reader.reportError(
          "id", "\(stimulus.id.inQuotes) is already used in line \(previous)")
      }
      lineNumbers[stimulus.id] = row.lineNumber
      findings += reader.findings
      stimuli.append(stimulus)
    }
    for stimulus in stimuli {
      for id in stimulus.referenceIDs where lineNumbers[id] == nil {
        findings.append(
          Self.tableFinding(
            path, line: stimulus.lineNumber, column: "reference",
            "no row has the id \(id.inQuotes)"))
      }
    }
    guard findings.isEmpty else { throw InvalidRows(findings) }
    self.stimuli = stimuli
  }

  // MARK: - Pairs

  /// Returns the pairs of stimuli that the trials of a procedure compare.
  ///
  /// With the column `reference`, these are the stimuli of the rows with a value in this column.
  /// Otherwise, one reference belongs to all other stimuli, and in a rating also to itself.
  ///
  /// - Throws: An error if the table does not suit the procedure.
  func stimulusPairs(for procedure: StudyProcedure) throws -> [StudyPair] {
    if procedure == .magnitude {
      return stimuli.indices.map { StudyPair(testedStimulusIndex: $0, referenceStimulusIndex: $0) }
    }
    let pairs =
      stimuli.contains { !$0.referenceIDs.isEmpty }
      ? pairsFromReferenceColumn : commonReferencePairs(procedure)
    guard !pairs.isEmpty else {
      throw FileError(
        tablePath,
        """
        the procedure '\(procedure.rawValue)' requires a reference and at least one other stimulus
        """)
    }
    var findings: [Finding] = []
    for pair in pairs
    where procedure != .rating && pair.testedStimulusIndex == pair.referenceStimulusIndex {
      findings.append(
        Self.tableFinding(
          tablePath, line: stimuli[pair.testedStimulusIndex].lineNumber, column: "reference",
          "a stimulus cannot be its own reference in the procedure '\(procedure.rawValue)'"))
    }
    if procedure == .staircase {
      findings += staircaseFindings(pairs)
    }
    guard findings.isEmpty else { throw InvalidRows(findings) }
    return pairs
  }

  /// The pairs of stimuli that the column `reference` specifies.
  private var pairsFromReferenceColumn: [StudyPair] {
    stimuli.indices.flatMap { tested in
      stimuli[tested].referenceIDs.compactMap { id -> StudyPair? in
        let reference = stimuli.firstIndex { $0.id == id }
        return reference.map { StudyPair(testedStimulusIndex: tested, referenceStimulusIndex: $0) }
      }
    }
  }

  /// The pairs of each stimulus with the stimulus that is called `reference`, or with the first
  /// stimulus if there is none.
  private func commonReferencePairs(_ procedure: StudyProcedure) -> [StudyPair] {
    let referenceIndex = stimuli.firstIndex { $0.id == Self.defaultReferenceID } ?? 0
    let testedIndices = stimuli.indices.filter { procedure == .rating || $0 != referenceIndex }
    guard stimuli.count > 1 else { return [] }
    return testedIndices.map {
      StudyPair(testedStimulusIndex: $0, referenceStimulusIndex: referenceIndex)
    }
  }

  /// Returns the reasons that a staircase cannot use pairs: several references, a missing value,
  /// mixed quantities, or a stimulus that is not stronger than the reference.
  private func staircaseFindings(_ pairs: [StudyPair]) -> [Finding] {
    guard let firstPair = pairs.first else { return [] }
    let referenceStimulus = stimuli[firstPair.referenceStimulusIndex]
    var findings: [Finding] = []
    func addFinding(_ stimulus: Stimulus, _ message: String, column: String? = nil) {
      findings.append(
        Self.tableFinding(tablePath, line: stimulus.lineNumber, column: column, message))
    }
    if referenceStimulus.staircaseValue == nil {
      addFinding(
        referenceStimulus, "a staircase requires a level or an intensity for each stimulus")
    }
    for pair in pairs {
      let stimulus = stimuli[pair.testedStimulusIndex]
      if pair.referenceStimulusIndex != firstPair.referenceStimulusIndex {
        addFinding(
          stimulus, "a staircase requires the same reference for all stimuli",
          column: "reference")
      } else if stimulus.staircaseValue == nil
        || (stimulus.levelDecibels == nil) != (referenceStimulus.levelDecibels == nil)
      {
        addFinding(stimulus, "a staircase requires a level or an intensity for each stimulus")
      } else if let value = stimulus.staircaseValue,
        value <= referenceStimulus.staircaseValue ?? -.infinity
      {
        addFinding(stimulus, "a staircase requires stimuli stronger than the reference")
      }
    }
    return findings
  }

  // MARK: - Errors

  /// The errors of a table, in the order of their lines.
  struct InvalidRows: Error {
    /// The maximum number of reported errors. A longer list is mostly the same mistake.
    private static let maximumReportedCount = 20

    let findings: [Finding]

    init(_ findings: [Finding]) {
      self.findings = findings.sorted { Self.lineNumber(of: $0) < Self.lineNumber(of: $1) }
    }

    private static func lineNumber(of finding: Finding) -> Int {
      guard case .text(let lineNumber, _) = finding.location.position else { return 0 }
      return lineNumber
    }

    /// Reports each error on a separate line, and then the number of errors beyond the maximum.
    func report(on terminal: Terminal) {
      for finding in findings.prefix(Self.maximumReportedCount) {
        terminal.report(ErrorReporting.messageText(InputError(finding)))
      }
      let remainingCount = findings.count - Self.maximumReportedCount
      if remainingCount > 0 {
        terminal.report("and \(remainingCount.countText("more error"))")
      }
    }
  }

  /// Returns an error at a line of a table, with the column if there is one.
  static func tableFinding(_ path: String, line: Int, column: String?, _ message: String) -> Finding
  {
    Finding(
      invalidTableRule, location: FileLocation(name: path, position: .text(line: line, column: 1)),
      (column.map { "column \($0.inQuotes): " } ?? "") + message)
  }

  // MARK: - Sounds

  /// Compiles all stimuli with `rendering(of:for:job:)`.
  ///
  /// - Throws: `InvalidRows` with all levels that the stimuli do not support.
  func renderings(for profiles: [TransducerProfile], job: RenderJob) throws -> [StimulusRendering] {
    var renderings: [StimulusRendering] = []
    var findings: [Finding] = []
    for stimulus in stimuli {
      do {
        renderings.append(try rendering(of: stimulus, for: profiles, job: job))
      } catch let error as InvalidRows {
        findings += error.findings
      }
    }
    guard findings.isEmpty else { throw InvalidRows(findings) }
    return renderings
  }

  /// Compiles a stimulus for each profile and finds the gain that sets its level.
  ///
  /// - Parameters:
  ///   - stimulus: The stimulus.
  ///   - profiles: The profiles of the outputs. A profile of the stimulus replaces them.
  ///   - job: The render settings.
  func rendering(of stimulus: Stimulus, for profiles: [TransducerProfile], job: RenderJob) throws
    -> StimulusRendering
  {
    let profiles = stimulus.profile.map { profile in profiles.map { _ in profile } } ?? profiles
    let rateHertz = Double(job.sampleRateHertz)
    let plans =
      try stimulus.pattern?.compilePlans(for: profiles, rate: rateHertz)
      ?? profiles.map {
        try RenderPlan(compiling: stimulus.composition, profile: $0, rate: rateHertz)
      }
    var job = job
    if let profile = stimulus.profile {
      job.profile = profile
    }
    func measureLevels(_ gain: Double) throws -> Levels {
      job.masterGain = gain
      var rendering = OfflineRenderer(plan: plans[0], settings: job.renderSettings(for: [plans[0]]))
      return try Levels(of: Signal(rendering.samples(), rate: rateHertz))
    }
    var levelGain = 1.0
    var measuredLevels = try measureLevels(1)
    guard let targetDecibels = stimulus.levelDecibels else {
      return StimulusRendering(plans: plans, levelAdjustmentGain: 1, measuredLevels: measuredLevels)
    }
    for _ in 0..<4
    where abs(measuredLevels.rmsDecibels - targetDecibels) > Self.levelToleranceDecibels
      && measuredLevels.rmsAmplitude > 0
    {
      levelGain *= Decibels.amplitudeFactor(targetDecibels - measuredLevels.rmsDecibels)
      measuredLevels = try measureLevels(levelGain)
    }
    guard abs(measuredLevels.rmsDecibels - targetDecibels) <= Self.levelToleranceDecibels else {
      throw InvalidRows([
        Self.tableFinding(
          tablePath, line: stimulus.lineNumber, column: "level",
          """
          \(NumberFormatting.fixedText(targetDecibels, places: 1)) dBFS is too high; \
          \(stimulus.id.inQuotes) supports at most \
          \(NumberFormatting.fixedText(measuredLevels.rmsDecibels, places: 1)) dBFS, \
          because peaks are limited to -1 dBFS
          """
        )
      ])
    }
    return StimulusRendering(
      plans: plans, levelAdjustmentGain: levelGain, measuredLevels: measuredLevels)
  }
}
