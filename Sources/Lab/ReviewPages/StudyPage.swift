package import ListeningTests
internal import SignalPlots
internal import SystemSupport

/// A self-contained HTML page on which participants take part in a study.
///
/// The page contains the sounds of all stimuli and needs no network. It plays the same trials as
/// the program, and stores the answers in the browser. The results have the format of
/// `StudyResults`, with `browser` as the device.
package struct StudyPage {
  /// A stimulus of the study with its sound file.
  package struct Stimulus {
    /// The name of the stimulus.
    package var id: String
    /// The level or intensity of the stimulus, as the results file states it, or an empty text.
    package var valueText: String
    /// The bytes of the sound file, in WAV format.
    package var soundFileBytes: [UInt8]

    /// Creates a stimulus.
    package init(id: String, valueText: String, soundFileBytes: [UInt8]) {
      self.id = id
      self.valueText = valueText
      self.soundFileBytes = soundFileBytes
    }
  }

  /// The program that generates the page, with its version.
  package var generator: String
  /// The name of the study, which is the title of the page.
  ///
  /// The name is also a part of the name of the results.
  package var name: String
  /// The beginning of the SHA-256 hash of the stimulus table, as the results file states it.
  package var stimulusTableHash: String
  package var procedure: StudyProcedure
  /// The question to the participant.
  package var question: String
  package var stimuli: [Stimulus]
  package var pairs: [StudyPair]
  /// The number of trials for each pair of stimuli.
  package var repeatCount: Int
  /// The seed of the random order, or nil for a random seed for each participant.
  package var seed: UInt64?
  /// The duration of the silence between two stimuli, in seconds.
  package var stimulusGapSeconds: Double
  /// The number of trials between two breaks, or nil without breaks.
  package var trialsBetweenBreaks: Int?
  /// The values of the columns that are the same for all answers, such as `profile`.
  ///
  /// The columns are those of the results file.
  package var conditions: [String: String]
  /// The sample rate of the sounds, in hertz.
  package var sampleRate: Double

  /// Creates a page. The parameters are those of the properties.
  package init(
    generator: String, name: String, stimulusTableHash: String, procedure: StudyProcedure,
    question: String, stimuli: [Stimulus], pairs: [StudyPair], repeatCount: Int, seed: UInt64?,
    stimulusGapSeconds gapSeconds: Double, trialsBetweenBreaks breakInterval: Int?,
    conditions: [String: String], sampleRate: Double
  ) {
    self.generator = generator
    self.name = name
    self.stimulusTableHash = stimulusTableHash
    self.procedure = procedure
    self.question = question
    self.stimuli = stimuli
    self.pairs = pairs
    self.repeatCount = repeatCount
    self.seed = seed
    self.stimulusGapSeconds = gapSeconds
    self.trialsBetweenBreaks = breakInterval
    self.conditions = conditions
    self.sampleRate = sampleRate
  }

  /// Returns the bytes of the HTML page, which are reproducible.
  ///
  /// - Throws: `tooLarge` if the sounds are too large for a browser.
  package func html() throws(ReviewPageError) -> [UInt8] {
    let stimulusSounds = stimuli.map {
      EmbeddedSound(fileBytes: $0.soundFileBytes, rate: sampleRate)
    }
    try EmbeddedSound.checkTotalSize(
      of: stimulusSounds, takeCount: stimulusSounds.count, noun: "stimuli")
    var studyPage = ReviewPage(
      templateBytes: PageResource.studyPage, script: PageResource.studyScript,
      style: PageResource.studyStyle, generator: generator, title: name)
    studyPage.soundsWithoutTakes = stimulusSounds
    let stimulusNoun = stimuli.count == 1 ? "stimulus" : "stimuli"
    let footerText = """
      \(stimuli.count) \(stimulusNoun) · created by \(generator) · self-contained, works offline
      """
    return studyPage.makeHTML(
      texts: [
        "introduction": procedure.instructions.escapedForMarkup,
        "question": question.escapedForMarkup, "footer": footerText.escapedForMarkup,
      ], data: EmbeddedJSON.objectBytes(jsonFields))
  }

  /// The data of the study as JSON for the script of the page.
  private var jsonFields: JSONObject {
    [
      "name": name, "columns": StudyResults.columnNames, "answerText": procedure.validAnswersText,
      "hasTwoAnswers": procedure.hasTwoAnswers, "seed": seed.map { Int($0) },
      "gap": stimulusGapSeconds, "breakInterval": trialsBetweenBreaks, "rate": sampleRate,
      "conditions": conditionFields, "study": trialSettingFields,
      "stimuli": stimuli.map(\.jsonFields),
    ]
  }

  /// The conditions of the study in alphabetical order, so that the page is reproducible.
  private var conditionFields: JSONObject {
    conditions.sorted { $0.key < $1.key }.reduce([:]) { fields, condition in
      fields + [condition.key: condition.value]
    }
  }

  /// The settings for generating the trials in the page's script.
  ///
  /// The script adds the values of the stimuli.
  private var trialSettingFields: JSONObject {
    Self.trialFields(
      procedure: procedure, pairs: pairs, repeatCount: repeatCount) + ["table": stimulusTableHash]
  }

  /// Returns the settings for generating the trials in the page's script.
  static func trialFields(
    procedure: StudyProcedure, pairs: [StudyPair], repeatCount: Int
  ) -> JSONObject {
    [
      "procedure": procedure.rawValue, "pairs": pairs.map(\.jsonFields), "repeats": repeatCount,
      "staircase": [
        "reversals": Staircase.plannedReversalCount,
        "maximumTrials": TrialSequence.maximumStaircaseTrialCount,
      ] as JSONObject,
    ]
  }
}

extension StudyPage.Stimulus {
  fileprivate var jsonFields: JSONObject { ["id": id, "value": valueText] }
}

extension StudyPair {
  fileprivate var jsonFields: JSONObject {
    ["tested": testedStimulusIndex, "reference": referenceStimulusIndex]
  }
}
