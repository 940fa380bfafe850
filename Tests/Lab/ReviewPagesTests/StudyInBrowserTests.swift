import Foundation
import ListeningTests
import Reading
import SoundFile
import SystemSupport
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The page of a study in a real browser.
  @Suite struct StudyInBrowserTests {
    /// A script that records the contents of downloads and the starts of sounds.
    private static let recording = """
      window.URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text\
      ; }); return "#"; };
      HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };
      window.starts = [];
      const start = AudioBufferSourceNode.prototype.start;
      AudioBufferSourceNode.prototype.start = function (time) {
        window.starts.push({
          time, seconds: this.buffer.duration, rate: this.buffer.sampleRate,
          contextRate: this.context.sampleRate, sample: this.buffer.getChannelData(0)[37],
        });
        return start.call(this, time);
      };
      """
    private static let gapSeconds = 0.05
    private static let sampleCount = 2_400
    private static let values = [-40.0, -30, -35, -25]

    private static var pairs: [StudyPair] {
      (1..<values.count).map { StudyPair(testedStimulusIndex: $0, referenceStimulusIndex: 0) }
    }

    /// Returns a sound of 50 ms whose samples identify the stimulus.
    private static func sound(_ index: Int) throws -> [UInt8] {
      let samples = (0..<sampleCount).map { frame in
        Float(index + 1) * 0.01 * (frame % 2 == 0 ? 1 : -1)
      }
      return try SoundFileWriter.bytes(
        of: samples.span, format: SoundFileFormat(container: .wav, sampleFormat: .float),
        rate: 48_000, channelCount: 1)
    }

    /// Returns the page of a study of four stimuli.
    static func study(
      _ procedure: StudyProcedure = .twoChoices, seed: UInt64? = 9, breakInterval: Int? = nil
    ) throws -> StudyPage {
      StudyPage(
        generator: "Temblor test", name: "steps", stimulusTableHash: "0123456789abcdef",
        procedure: procedure, question: procedure.question,
        stimuli: try values.indices.map { index in
          StudyPage.Stimulus(
            id: index == 0 ? "reference" : "s\(index)", valueText: "\(values[index])",
            soundFileBytes: try sound(index))
        },
        pairs: procedure == .magnitude
          ? values.indices.map { StudyPair(testedStimulusIndex: $0, referenceStimulusIndex: $0) }
          : pairs,
        repeatCount: 1, seed: seed, stimulusGapSeconds: gapSeconds,
        trialsBetweenBreaks: breakInterval,
        conditions: [
          "profile": "phone", "strength": "1", "device": "browser", "program": "temblor 1",
          "simulated": "false",
        ], sampleRate: 48_000)
    }

    private func begin(_ page: BrowserPage, _ participant: String = "anna") throws {
      try page.evaluate("document.getElementById('participant').value = '\(participant)'")
      try page.evaluate("document.getElementById('participant').focus()")
      try page.press("Enter")
    }

    private func waitForQuestion(_ page: BrowserPage) throws {
      try page.wait(for: "document.getElementById('hint').textContent.startsWith('Answer')")
    }

    /// Answers a trial with keys.
    private func answer(_ page: BrowserPage, _ text: String) throws {
      try waitForQuestion(page)
      for character in text {
        try page.press(String(character))
      }
      try page.press("Enter")
    }

    private func text(_ page: BrowserPage, _ id: String) throws -> String {
      try page.string("document.getElementById('\(id)').textContent") ?? ""
    }

    private func isShown(_ page: BrowserPage, _ stage: String) throws -> Bool {
      try page.bool("!document.querySelector('[data-stage=\(stage)]').hidden")
    }

    /// Saves the results and reads them as the program does.
    private func results(_ page: BrowserPage) throws -> StudyResults {
      try page.evaluate("window.saved = null")
      try page.click("#save")
      try page.wait(for: "window.saved")
      let bytes = Array((try page.string("window.saved") ?? "").utf8)
      return try StudyResults("results", bytes: bytes)
    }

    /// Returns the trials of the program for answers, as text: intervals, correct answer, and
    /// tested stimulus.
    private func programTrials(
      _ procedure: StudyProcedure, _ pairs: [StudyPair], repeats: Int, seed: UInt64
    ) -> (trials: [String], answers: [Double]) {
      var sequence = TrialSequence(
        procedure, stimulusValues: Self.values, pairs: pairs, repeats: repeats, seed: seed)
      var trials: [String] = []
      var answers: [Double] = []
      while let trial = sequence.currentTrial {
        let correct = trial.correctAnswer.map { "\(Int($0))" } ?? "null"
        trials.append("\(trial.stimulusIndices) \(correct) \(trial.testedStimulusIndex)")
        // Every third answer is incorrect.
        let isIncorrect = answers.count % 3 == 2
        let answer = trial.correctAnswer.map { isIncorrect ? 3 - $0 : $0 } ?? 50
        answers.append(answer)
        sequence.submit(answer)
      }
      return (trials, answers)
    }

    @Test(
      "Equal seeds and answers give the trials of the program",
      arguments: StudyProcedure.allCases)
    func trialsAreThoseOfTheProgram(procedure: StudyProcedure) throws {
      let page = try BrowserPage(Self.study().html())
      var pairs = Self.pairs
      if procedure != .staircase {
        pairs += [
          StudyPair(testedStimulusIndex: 0, referenceStimulusIndex: 3),
          StudyPair(testedStimulusIndex: 2, referenceStimulusIndex: 1),
        ]
      }
      for seed in [0, 9, 12_345, ABXTest.maximumSeed] as [UInt64] {
        let expected = programTrials(procedure, pairs, repeats: 5, seed: seed)
        #expect(expected.trials.count >= 14)
        let settings = StudyPage.trialFields(
          procedure: procedure, pairs: pairs, repeatCount: 5)
        let script = """
          (() => {
            \(String(decoding: PageResource.trialScript, as: UTF8.self))
            const study = { ...\(settings.compactLine), values: \(Self.values) };
            const sequence = new TrialSequence(study, \(seed)n);
            const trials = [];
            for (const answer of \(expected.answers)) {
              const { intervals, correct, tested } = sequence.trial;
              trials.push(`[${intervals.join(", ")}] ${correct} ${tested}`);
              sequence.submit(answer);
            }
            return `${trials.join("; ")}; ${sequence.trial}`;
          })()
          """
        #expect(try page.string(script) == expected.trials.joined(separator: "; ") + "; null")
      }
    }

    @Test("A study can be completed with the keyboard, and its results are those of the program")
    func studyWorksByKeyboard() throws {
      let page = try BrowserPage(Self.study().html(), preparation: Self.recording)
      try begin(page)
      #expect(try text(page, "progress") == "Trial 1 of 3")
      for _ in 0..<3 {
        try answer(page, "1")
      }
      #expect(try text(page, "end-title") == "Study complete")
      let rows = try results(page).rows.map(\.fields)
      #expect(try page.string("window.savedName") == "study-steps-anna.csv")
      var sequence = TrialSequence(
        .twoChoices, stimulusValues: Self.values, pairs: Self.pairs, repeats: 1, seed: 9)
      try #require(rows.count == 3)
      let ids = ["reference", "s1", "s2", "s3"]
      for (index, row) in rows.enumerated() {
        let trial = try #require(sequence.currentTrial)
        #expect(row["intervals"] == trial.stimulusIndices.map { ids[$0] }.joined(separator: " "))
        #expect(row["tested"] == ids[trial.testedStimulusIndex])
        #expect(row["value"] == "\(Self.values[trial.testedStimulusIndex])")
        #expect(row["right"] == trial.correctAnswer.map { "\(Int($0))" })
        #expect(row["trial"] == "\(index + 1)")
        #expect(row["answer"] == "1")
        #expect((row["seconds"].flatMap(Double.init) ?? -1) >= 0)
        #expect(row["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        #expect(StudyAnswer(row, procedure: .twoChoices) != nil)
        sequence.submit(1)
      }
      let constantFields = [
        "study": "0123456789abcdef", "participant": "anna", "seed": "9", "procedure": "2afc",
        "profile": "phone", "strength": "1", "device": "browser", "program": "temblor 1",
        "simulated": "false",
      ]
      for (column, value) in constantFields {
        #expect(rows.allSatisfy { $0[column] == value }, "\(column)")
      }
      #expect(page.errorMessages == [])
      #expect(page.requests.count == 1)
    }

    @Test("Stimuli play in order, without a change of their samples")
    func stimuliPlayInOrder() throws {
      let page = try BrowserPage(Self.study().html(), preparation: Self.recording)
      try begin(page)
      try waitForQuestion(page)
      let sequence = TrialSequence(
        .twoChoices, stimulusValues: Self.values, pairs: Self.pairs, repeats: 1, seed: 9)
      let intervals = try #require(sequence.currentTrial).stimulusIndices
      for (index, stimulus) in intervals.enumerated() {
        let start = "window.starts[\(index)]"
        #expect(try page.number("\(start).rate") == 48_000)
        #expect(try page.number("\(start).contextRate") == 48_000)
        let sample = Double(Float(stimulus + 1) * -0.01)
        #expect(try page.number("\(start).sample") == sample)
      }
      let startIntervalSeconds = try #require(
        try page.number("window.starts[1].time - window.starts[0].time"))
      #expect(abs(startIntervalSeconds - 0.05 - Self.gapSeconds) < 1e-6)
      // The trial can be repeated, and is not answered while it plays.
      try page.press("r")
      try page.press("1")
      try page.press("Enter")
      #expect(try text(page, "progress") == "Trial 1 of 3")
      try waitForQuestion(page)
      #expect(try page.number("window.starts.length") == 4)
    }

    @Test("A study continues in a reopened page, and each participant has answers of their own")
    func studyContinues() throws {
      let page = try BrowserPage(Self.study().html(), preparation: Self.recording)
      try begin(page)
      try answer(page, "2")
      try answer(page, "1")
      #expect(try text(page, "progress") == "Trial 3 of 3")
      try page.reload()
      try begin(page, "ben")
      #expect(try text(page, "progress") == "Trial 1 of 3")
      try page.press("Escape")
      #expect(try text(page, "end-title") == "Study stopped")
      #expect(try results(page).rows.isEmpty)
      try page.click("#again")
      try begin(page)
      #expect(try text(page, "progress") == "Trial 3 of 3")
      try answer(page, "2")
      let rows = try results(page).rows.map(\.fields)
      #expect(rows.map { $0["answer"] } == ["2", "1", "2"])
      var sequence = TrialSequence(
        .twoChoices, stimulusValues: Self.values, pairs: Self.pairs, repeats: 1, seed: 9)
      for (row, answer) in zip(rows, [2.0, 1, 2]) {
        #expect(row["right"] == sequence.currentTrial?.correctAnswer.map { "\(Int($0))" })
        sequence.submit(answer)
      }
      // A complete study only offers its results.
      try page.reload()
      try begin(page)
      #expect(try text(page, "end-title") == "Study complete")
    }

    @Test("Numbers are typed, and answers that the procedure does not accept cannot be confirmed")
    func numbersAreTyped() throws {
      let page = try BrowserPage(
        Self.study(.rating, breakInterval: 2).html(), width: 390, height: 740,
        preparation: Self.recording)
      try begin(page)
      try answer(page, "101")
      #expect(try text(page, "progress") == "Trial 1 of 3")
      #expect(try text(page, "note") == "Answer with a number from 0 to 100.")
      try page.evaluate("document.getElementById('number').value = ''")
      try answer(page, "42,5")
      #expect(try text(page, "progress") == "Trial 2 of 3")
      try waitForQuestion(page)
      try page.press("7")
      try page.click("#confirm")
      #expect(try isShown(page, "pause"))
      try page.click("#continue")
      try answer(page, "0")
      #expect(
        try results(page).rows.map { $0.fields["answer"] } == ["42.5", "7", "0"])
    }

    @Test("A staircase can be answered by touch, and ends like the program's")
    func staircaseWorksByTouch() throws {
      let page = try BrowserPage(
        Self.study(.staircase).html(), width: 390, height: 740, preparation: Self.recording)
      try begin(page)
      #expect(try text(page, "progress") == "Trial 1")
      let expected = programTrials(.staircase, Self.pairs, repeats: 1, seed: 9)
      for answer in expected.answers {
        try waitForQuestion(page)
        try page.click("[data-answer='\(Int(answer))']")
        try page.click("#confirm")
      }
      #expect(try text(page, "end-title") == "Study complete")
      let rows = try results(page).rows.map(\.fields)
      #expect(rows.compactMap { $0["answer"].flatMap(Double.init) } == expected.answers)
    }

    @Test("Without a seed, each participant has a random order")
    func orderIsRandomWithoutASeed() throws {
      let page = try BrowserPage(
        Self.study(.magnitude, seed: nil).html(), preparation: Self.recording)
      var seeds: Set<String> = []
      for participant in ["anna", "ben", "cleo"] {
        try begin(page, participant)
        try answer(page, "5")
        try page.press("Escape")
        let seed = try results(page).rows.first?.fields["seed"]
        seeds.insert(try #require(seed))
        try page.click("#again")
      }
      #expect(seeds.count == 3)
    }

    @Test("A participant ID is required, and has no slashes", arguments: ["", "  ", "a/b"])
    func participantIsRequired(participant: String) throws {
      let page = try BrowserPage(Self.study().html())
      try begin(page, participant)
      #expect(try isShown(page, "start"))
      #expect(try text(page, "refusal") == "Enter a participant ID without slashes.")
    }

    @Test("Without storage, the page asks to save the results")
    func storageIsOptional() throws {
      let deniesStorage = """
        Object.defineProperty(window, "localStorage", { get() { throw new Error("denied"); } });
        """
      let page = try BrowserPage(
        Self.study(.magnitude).html(), preparation: Self.recording + deniesStorage)
      try begin(page)
      #expect(try text(page, "note").hasPrefix("This browser does not store answers."))
      try answer(page, "5")
      try page.press("Escape")
      #expect(
        try text(page, "end-text")
          == "1 answer of anna. This browser does not store answers. Save the results before you "
          + "close the page.")
      #expect(try results(page).rows.map { $0.fields["answer"] } == ["5"])
    }

    @Test("All stages are accessible and fit a phone", arguments: [false, true])
    func stagesAreAccessible(isDark: Bool) throws {
      let page = try BrowserPage(
        Self.study(.twoChoices, breakInterval: 1).html(), width: 320, height: 640, isDark: isDark)
      func check(_ stage: String) throws {
        #expect(try isShown(page, stage))
        #expect(try page.string(AccessibilityTests.nameErrors) == "", "\(stage)")
        #expect(try page.string(AccessibilityTests.contrastErrors) == "", "\(stage)")
        #expect(try page.string(PageWidthTests.layoutErrors) == "", "\(stage)")
      }
      try begin(page, "")
      try check("start")
      try begin(page)
      try waitForQuestion(page)
      try page.press("1")
      try check("trial")
      try page.press("Enter")
      try check("pause")
      try page.press(" ")
      try waitForQuestion(page)
      try page.press("Escape")
      try check("end")
      #expect(page.errorMessages == [])
    }

    @Test("The page is reproducible, and fills every placeholder")
    func pageIsReproducible() throws {
      let page = try Self.study().html()
      #expect(try page == Self.study().html())
      let text = String(decoding: page, as: UTF8.self)
      let names = PageTemplate(PageResource.studyPage).placeholderNames
      #expect(names.filter { text.contains("{{\($0)}}") } == [])
    }
  }
}
