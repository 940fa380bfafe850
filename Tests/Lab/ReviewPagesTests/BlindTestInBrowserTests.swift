import HapticModel
import ListeningTests
import Reading
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The blind test of a report in a real browser.
  @Suite struct BlindTestInBrowserTests {
    /// A script that records the contents of downloads.
    private static let downloadRecorder = """
      window.URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text\
      ; }); return "#"; };
      HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };
      """

    /// Answers trials with keys, correctly or incorrectly, from the identities of the seed.
    private func answer(_ page: BrowserPage, seed: UInt64, correct: [Bool]) throws {
      for (hiddenTake, isCorrect) in zip(
        ABXTest.hiddenTakes(seed: seed, count: correct.count), correct)
      {
        try page.press("a")
        try page.press("x")
        let answer = isCorrect ? hiddenTake : hiddenTake.opposite
        try page.press(answer == .a ? "1" : "2")
        try page.press("Enter")
      }
    }

    /// Opens the test and starts it with a number of trials.
    private func start(_ page: BrowserPage, trials: Int) throws {
      try page.press("t")
      try page.evaluate("document.getElementById('blind-trials').value = \(trials)")
      try page.press("Enter")
    }

    private func text(_ page: BrowserPage, _ elementName: String) throws -> String {
      try page.string("document.getElementById('blind-\(elementName)').textContent") ?? ""
    }

    @Test("A test can be completed with the keyboard")
    func testWorksByKeyboard() throws {
      let page = try BrowserPage(
        PageFixtures.twoTakeReport(), query: "?seed=7", preparation: Self.downloadRecorder)
      try start(page, trials: 10)
      #expect(try text(page, "progress") == "Trial 1 of 10")
      let correctAnswers = [true, true, false, true, true, true, true, true, true, true]
      try answer(page, seed: 7, correct: correctAnswers)
      let expected = ABXResult(correctAnswerCount: 9, trialCount: 10, plannedTrialCount: 10)
      #expect(try text(page, "score") == "9 of 10 correct")
      #expect(try text(page, "sentence") == expected.sentence)
      // (10 + 1) / 1024.
      #expect(try text(page, "chance") == "0.0107")
      #expect(try text(page, "seed") == "7, from the URL")
      #expect(try page.string("document.activeElement.id") == "blind-score")
      try page.click("#blind-save")
      try page.wait(for: "window.saved")
      let record = try JSONDocument(
        text: Array((page.string("window.saved") ?? "").utf8), name: "record"
      ).root
      #expect(try page.string("window.savedName") == "abx.json")
      #expect(record["test"]?.string == "abx")
      #expect(record["seed"]?.number == 7)
      #expect(record["a"]?["name"]?.string == "soft")
      #expect(record["result"]?["correctCount"]?.number == 9)
      #expect(record["result"]?["pValue"]?.number == expected.pValue)
      #expect(record["result"]?["conclusion"]?.string == expected.conclusion.rawValue)
      let answers = record["trials"]?.elements.map { $0["correct"]?.boolean }
      #expect(answers == correctAnswers)
      #expect(page.errorMessages == [])
    }

    @Test("The sentences match those of the program")
    func sentencesMatchTheProgram() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), query: "?seed=3")
      for (correctCount, answeredCount, plannedCount) in [
        (0, 2, 2), (5, 5, 5), (1, 10, 10), (3, 6, 6), (6, 6, 9),
      ] {
        try start(page, trials: plannedCount)
        try answer(page, seed: 3, correct: (0..<answeredCount).map { $0 < correctCount })
        if answeredCount < plannedCount {
          try page.press("Escape")
        }
        let result = ABXResult(
          correctAnswerCount: correctCount, trialCount: answeredCount,
          plannedTrialCount: plannedCount)
        #expect(try text(page, "sentence") == result.sentence)
        try page.press("Escape")
        #expect(try !page.bool("document.getElementById('blind').open"))
      }
    }

    @Test("The page does not reveal the identity of X")
    func pageDoesNotRevealX() throws {
      // While X plays, the page does not depend on its identity, except for the number of the
      // trial.
      var pages: Set<String> = []
      for seed in [7, 8] as [UInt64] {
        let page = try BrowserPage(PageFixtures.twoTakeReport(), query: "?seed=\(seed)")
        try start(page, trials: 16)
        try page.wait(for: "document.body.classList.contains('playing')")
        let hiddenTakes = ABXTest.hiddenTakes(seed: seed, count: 8)
        #expect(Set(hiddenTakes).count == 2)
        for _ in hiddenTakes {
          let markup = try page.string(
            """
            (() => {
              const copy = document.documentElement.cloneNode(true);
              for (const script of copy.querySelectorAll("script")) script.remove();
              for (const moving of copy.querySelectorAll("#clock, #scrub, #head, #bl\
            ind-dots")) moving.remove();
              return copy.outerHTML.replace(/[0-9]+ of 16/g, "").replace(/Trial [0-9]+/g, "");
            })()
            """)
          pages.insert(markup ?? "")
          try page.press("1")
          try page.press("Enter")
        }
      }
      #expect(pages.count == 1)
    }

    @Test("An answer can be changed until it is confirmed")
    func answersCanBeChanged() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), query: "?seed=7")
      try start(page, trials: 1)
      try page.press("Enter")
      #expect(try text(page, "progress") == "Trial 1 of 1")
      let hiddenTake = ABXTest.hiddenTakes(seed: 7, count: 1)[0]
      try page.press(hiddenTake == .a ? "2" : "1")
      try page.click("[data-answer=\(hiddenTake.rawValue)]")
      try page.click("#blind-confirm")
      #expect(try text(page, "score") == "1 of 1 correct")
    }

    @Test("Without a seed, the order is random")
    func orderIsRandomWithoutASeed() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      var seeds: Set<String> = []
      for _ in 0..<3 {
        try start(page, trials: 1)
        try page.press("1")
        try page.press("Enter")
        seeds.insert(try text(page, "seed"))
        try page.press("Escape")
      }
      #expect(seeds.count == 3)
      #expect(!seeds.contains { $0.contains("address") })
    }

    /// Starts a test with matched levels.
    private func startMatched(_ page: BrowserPage) throws {
      try page.press("t")
      try page.evaluate("document.getElementById('blind-match').selectedIndex = 1")
      try page.click("#blind-form .main")
    }

    @Test("Levels are matched in a test only on request, and restored afterward")
    func levelsAreMatchedOnRequest() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), preparation: Self.downloadRecorder)
      let matchStateExpression = "document.getElementById('match').ariaPressed"
      try start(page, trials: 5)
      try page.wait(for: "document.body.classList.contains('playing')")
      #expect(try page.string(matchStateExpression) == "false")
      try page.press("Escape")
      try startMatched(page)
      try page.wait(for: "document.body.classList.contains('playing')")
      #expect(try page.string(matchStateExpression) == "true")
      try page.press("1")
      try page.press("Enter")
      try page.press("Escape")
      #expect(try page.string(matchStateExpression) == "false")
      #expect(try text(page, "levels") == "levels matched by loudness")
      try page.click("#blind-save")
      try page.wait(for: "window.saved")
      let record = try JSONDocument(
        text: Array((page.string("window.saved") ?? "").utf8), name: "record"
      ).root
      #expect(record["match"]?.string == "loudness")
      #expect(record["strength"]?.number == 1)
      let gains = ["a", "b"].compactMap { record[$0]?["gain"]?.number }
      #expect(gains.count == 2 && gains.max() == 1 && gains.min() != 1)
      try page.press("Escape")
      try page.press("t")
      #expect(try page.string("document.getElementById('blind-match').value") == "none")
      try page.press("Escape")
      #expect(
        try page.string("document.querySelector('#hear [aria-checked=true]').dataset.hear")
          == "turns")
      try page.wait(for: "!document.body.classList.contains('playing')")
    }

    @Test("A test of takes that differ in level only does not start with matched levels")
    func matchedTakesWithoutDifferenceAreRejected() throws {
      let takes = try [0.5, 1].map { (intensity: Float) in
        let event = HapticEvent(
          kind: .hapticContinuous, time: 0, duration: 1, parameters: [.hapticIntensity: intensity])
        return try PageFixtures.take("intensity \(intensity)", HapticPattern(events: [event]))
      }
      let page = try BrowserPage(
        PageFixtures.report(takes), query: "?seed=7", preparation: Self.downloadRecorder)
      try startMatched(page)
      try page.wait(for: "document.getElementById('blind-refusal').textContent !== ''")
      #expect(
        try text(page, "refusal")
          == "After matching, A and B are identical; choose “No matching”.")
      #expect(try text(page, "progress") == "Blind test")
      try page.evaluate("document.getElementById('blind-match').selectedIndex = 0")
      try page.click("#blind-form .main")
      #expect(try text(page, "progress") == "Trial 1 of 16")
      try answer(page, seed: 7, correct: [true])
      try page.press("Escape")
      #expect(try text(page, "levels") == "levels not matched")
      #expect(try !text(page, "sentence").contains("identical"))
      #expect(page.errorMessages == [])
    }

    @Test("The result of identical takes is void, as in the terminal")
    func identicalTakesGiveNoResult() throws {
      let takes = [try PageFixtures.take("one"), try PageFixtures.take("two")]
      let page = try BrowserPage(PageFixtures.report(takes), query: "?seed=7")
      try start(page, trials: 1)
      try answer(page, seed: 7, correct: [true])
      let result = ABXResult(
        correctAnswerCount: 1, trialCount: 1, plannedTrialCount: 1, isVoid: true)
      #expect(try text(page, "sentence") == result.sentence)
    }
  }
}
