import ListeningTests
import SystemSupport

/// The table of conditions that is written next to the rendered stimuli, with one row for each
/// pair.
///
/// The names of its columns are valid Python identifiers, as PsychoPy requires.
enum StudyConditionsTable {
  static let fileName = "conditions.csv"
  private static let columnNames = [
    "stimulus", "soundFile", "level", "reference", "referenceFile", "referenceLevel",
  ]

  /// Returns the table. In single-stimulus procedures, the reference is the stimulus itself.
  static func bytes(of pairs: [StudyPair], in table: StudyTable) -> [UInt8] {
    var conditions = CSVTable(columnNames: columnNames)
    for pair in pairs {
      let stimuli = [
        table.stimuli[pair.testedStimulusIndex], table.stimuli[pair.referenceStimulusIndex],
      ]
      conditions.appendRow(
        stimuli.flatMap { stimulus in
          [stimulus.id, stimulus.soundFileName, stimulus.staircaseValueText]
        })
    }
    return Array(conditions.csvText.utf8)
  }
}
