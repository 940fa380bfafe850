import HapticModel
import PatternComparison
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The report in a real browser: display and controls.
  @Suite struct ReportInBrowserTests {
    private let playHeadExpression = "Number(document.getElementById('scrub').ariaValueNow)"
    private let isLooping = "document.getElementById('loop').ariaPressed"
    private let statusExpression = "document.getElementById('status').textContent"
    private let outputExpression =
      "document.querySelector('#hear [aria-checked=true]').dataset.hear"

    /// Returns the x-coordinate of a time in the figure, from the labels of its time axis.
    private func x(_ page: BrowserPage, _ seconds: Double) throws -> Double {
      let box = try page.boundingBox(of: "#picture svg")
      let axis = try #require(
        try page.string(
          """
          [...document.querySelectorAll("#picture text[text-anchor=middle]")]
            .map((each) => `${parseFloat(each.textContent)} ${each.getAttribute("x")}`).join(";")
          """)
      ).split(separator: ";").map { $0.split(separator: " ").compactMap { Double($0) } }
      let first = axis[0]
      let last = axis[axis.count - 1]
      let scale = (last[1] - first[1]) / (last[0] - first[0])
      return box.x + first[1] + (seconds - first[0]) * scale
    }

    @Test("A page opens from a file and requests nothing")
    func pageNeedsNoNetwork() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      #expect(
        try page.string("document.querySelector('h1').textContent") == "2 perceptible differences")
      #expect(try page.string("document.title") == "soft and firm · Temblor")
      try page.press(" ")
      try page.wait(for: "document.body.classList.contains('playing')")
      for _ in 0..<4 {
        try page.press("v")
      }
      #expect(page.errorMessages == [])
      #expect(page.requests.count == 1)
      // The script declares no global names.
      #expect(
        try page.string("typeof deck + typeof Deck + typeof state") == "undefinedundefinedundefined"
      )
    }

    @Test("Each body location has its own lanes in every view")
    func locationsHaveLanes() throws {
      let takes = [
        try PageFixtures.locatedTake("one"), try PageFixtures.locatedTake("two", intensity: 0.5),
      ]
      let report = ComparisonReport(generator: "Temblor test", command: "temblor compare one two")
      let page = try BrowserPage(report.html(takes: takes))
      let titles =
        "[...document.querySelectorAll('#picture .lane')].map((e) => e.firstChild.data).join('; ')"
      #expect(
        try page.string(titles)
          == "Intensity, left; Sharpness, left; Intensity, right; Sharpness, right")
      #expect(try page.number("document.querySelectorAll('#picture .head').length") == 2)
      try page.press("v")
      try page.wait(for: "\(titles).startsWith('Waveform')")
      #expect(try page.bool("\(titles).endsWith('right')"))
      try page.press("v")
      try page.wait(for: "document.querySelectorAll('#picture canvas').length === 2")
      #expect(page.errorMessages == [])
    }

    @Test("The policy blocks foreign scripts and styles")
    func policyBlocksForeignScripts() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      try page.evaluate(
        """
        window.ran = false;
        const element = document.createElement("script");
        element.textContent = "window.ran = true";
        document.body.append(element);
        document.body.insertAdjacentHTML("beforeend", "<p id=foreign style='color: rg\
        b(1, 2, 3)'>x</p>");
        fetch("https://example.org/").catch(() => { window.wasRefused = true; });
        """)
      try page.wait(for: "window.wasRefused")
      #expect(try !page.bool("window.ran"))
      #expect(
        try page.string("getComputedStyle(document.getElementById('foreign')).color")
          != "rgb(1, 2, 3)")
      #expect(page.errorMessages.contains { $0.contains("Content Security Policy") })
      let policy =
        try page.string("document.querySelector('[http-equiv=Content-Security-Policy]').content")
        ?? ""
      #expect(!policy.contains("unsafe"))
    }

    @Test("The text of files stays text")
    func textOfFilesStaysText() throws {
      let markup =
        "</script><script>window.ran = 1</script><img src=x onerror=window.ran=1>\"'&{{data}}"
      let takes = [
        try PageFixtures.take(markup, text: markup + "\n" + markup, feeling: markup),
        try PageFixtures.take(
          markup + "2", PageFixtures.pattern(intensity: 1), text: markup, feeling: markup + "2"),
      ]
      let page = try BrowserPage(PageFixtures.report(takes))
      try page.evaluate(
        "document.querySelectorAll('details').forEach((each) => { each.open = true; })")
      #expect(
        try page.string("document.querySelector('#first').selectedOptions[0].textContent") == markup
      )
      #expect(try page.string("document.querySelector('#source .code').textContent") == markup)
      #expect(try page.string("document.querySelector('#hear .nm').textContent") == markup)
      #expect(
        try page.bool("window.ran === undefined && document.querySelector('img[onerror]') === null")
      )
      #expect(page.errorMessages == [])
    }

    @Test("Keys and clicks switch takes")
    func keysAndClicksSwitchTakes() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      #expect(try page.string(outputExpression) == "turns")
      try page.press("b")
      #expect(try page.string(outputExpression) == "1")
      #expect(try page.string(statusExpression) == "B, firm")
      try page.press("a")
      #expect(try page.string(outputExpression) == "0")
      try page.press("x")
      #expect(try page.string(outputExpression) == "1")
      try page.click("#hear [data-hear=\"0\"]")
      #expect(try page.string(outputExpression) == "0")
      try page.press("ArrowRight")
      #expect(try page.string(outputExpression) == "1")
      #expect(try page.string("document.activeElement.dataset.hear") == "1")
    }

    @Test("Any two takes can be compared")
    func anyTwoTakesAreCompared() throws {
      let takes = [
        try PageFixtures.take("one"),
        try PageFixtures.take("two", PageFixtures.pattern(secondTap: 0.45)),
        try PageFixtures.take("three", PageFixtures.pattern(intensity: 0.4)),
      ]
      let page = try BrowserPage(PageFixtures.report(takes))
      for (firstIndex, secondIndex) in [(0, 1), (0, 2), (1, 2), (2, 1)] {
        try page.evaluate(
          """
          for (const [id, value] of [
            ["first", \(firstIndex)], ["second", \(secondIndex)], ["first", \(firstIndex)],
          ]) {
            const select = document.getElementById(id);
            select.value = String(value);
            select.dispatchEvent(new Event("change"));
          }
          """)
        let comparison = Comparison(takes[firstIndex], takes[secondIndex])
        let count = comparison.differences.count { $0.isNoticeable }
        #expect(
          try page.string("document.querySelector('h1').textContent")
            == "\(count) perceptible difference\(count == 1 ? "" : "s")",
          "\(firstIndex) \(secondIndex)")
        #expect(
          try page.number("document.querySelectorAll('#list button').length")
            == Double(comparison.differences.count))
      }
      try page.click("#swap")
      #expect(
        try page.string("document.getElementById('first').selectedOptions[0].textContent") == "two")
      #expect(page.errorMessages == [])
    }

    @Test("Differences are marked in the figure and in the list")
    func differencesAreMarked() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      let titles =
        "[...document.querySelectorAll('#list b')].map((each) => each.textContent).join('; ')"
      #expect(
        try page.string(titles) == "Second transient 20 ms later; Continuous event 3.9 dB stronger")
      #expect(try page.number("document.querySelectorAll('.mark').length") == 2)
      #expect(try page.number("document.querySelectorAll('.bracket').length") == 1)
      let mark = try page.boundingBox(of: ".mark[data-finding=\"0\"]")
      #expect(abs(mark.x + mark.width / 2 - (try x(page, 0.4))) < 3)
      try page.point("mouseMoved", x: mark.x + mark.width / 2, y: mark.y + mark.height / 2)
      #expect(
        try page.bool(
          "document.querySelector('.row[data-finding=\"0\"]').classList.contains('hot')"))
      #expect(
        try page.string("document.getElementById('tip').textContent")
          == "Second transient 20 ms lateronset 0.4 → 0.42 s")
      #expect(try page.bool("!document.getElementById('hot-band').hidden"))
    }

    @Test("A click in the figure moves the play head")
    func clickSeeks() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      let box = try page.boundingBox(of: "#picture svg")
      let pointX = try x(page, 0.2)
      try page.drag((pointX, box.y + 100))
      #expect(abs((try page.number(self.playHeadExpression) ?? -1) - 0.2) < 0.002)
      let head = try page.boundingBox(of: "#head")
      #expect(abs(head.x + head.width / 2 - (try x(page, 0.2))) < 1.5)
    }

    @Test("A drag over the figure loops the range")
    func dragLoops() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      let y = try page.boundingBox(of: "#picture svg").y + 100
      let startX = try x(page, 0.1)
      let endX = try x(page, 0.3)
      try page.drag((startX, y), ((startX + endX) / 2, y), (endX, y))
      #expect(try page.string(isLooping) == "true")
      let band = try page.boundingBox(of: "#loop-band")
      #expect(abs(band.x - (try x(page, 0.1))) < 2)
      #expect(abs(band.width - (endX - startX)) < 2)
      try page.press("Escape")
      #expect(try page.string(isLooping) == "false")
      #expect(try page.bool("document.getElementById('loop-band').hidden"))
    }

    @Test("Keys move the play head and set the loop")
    func keysSeekAndLoop() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      for _ in 0..<3 {
        try page.press("ArrowRight", shift: true)
      }
      try page.press("ArrowLeft")
      #expect(try page.number(playHeadExpression) == 0.29)
      try page.press("[")
      try page.press("ArrowRight", shift: true)
      try page.press("]")
      let band = try page.boundingBox(of: "#loop-band")
      #expect(abs(band.x - (try x(page, 0.29))) < 2)
      #expect(abs(band.x + band.width - (try x(page, 0.39))) < 2)
      try page.press("Home")
      #expect(try page.number(playHeadExpression) == 0.29)
    }

    @Test("Selecting a difference loops it and alternates the takes")
    func selectingADifferenceLoopsIt() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      try page.press("a")
      try page.click("#list button")
      try page.wait(for: "document.body.classList.contains('playing')")
      #expect(try page.string(isLooping) == "true")
      #expect(try page.string(outputExpression) == "turns")
      #expect(
        try page.string(statusExpression)
          == "Second transient 20 ms later. Looping, A and B in turn.")
      #expect((try page.number(playHeadExpression) ?? -1) >= 0.2)
      // The figure is visible.
      #expect(try page.bool("document.getElementById('stage').getBoundingClientRect().top >= 0"))
      try page.click("#list button")
      try page.wait(for: "!document.body.classList.contains('playing')")
      try page.press("n")
      #expect(try page.bool("document.querySelectorAll('#list .row')[1].classList.contains('on')"))
    }

    /// In a figure of ten minutes, transients are thin lines without outlines.
    @Test("Many transients are thin lines")
    func manyTransientsAreThinLines() throws {
      let page = try BrowserPage(
        PageFixtures.report(
          [
            try PageFixtures.take("one", PageFixtures.ticks(), rate: 8_000),
            try PageFixtures.take("two", PageFixtures.ticks(), rate: 8_000),
          ],
          hasSpeakers: false))
      let width =
        "parseFloat(getComputedStyle(document.querySelector('#picture .stem')).strokeWidth)"
      let hasHalo = "getComputedStyle(document.querySelector('#picture .halo')).display !== 'none'"
      #expect(try page.number("document.querySelectorAll('#picture .stem').length") == 220)
      #expect(try page.number(width) == 1)
      #expect(try !page.bool(hasHalo))
      for _ in 0..<4 {
        try page.press("+")
      }
      #expect(try page.number(width) == 2.5)
      #expect(try page.bool(hasHalo))
    }

    @Test("A long time axis is labeled in minutes")
    func longAxesHaveMinutes() throws {
      let hum = HapticPattern(events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: 150)]
      )
      let page = try BrowserPage(
        PageFixtures.report(
          [
            try PageFixtures.take("one", hum, rate: 8_000),
            try PageFixtures.take("two", hum, rate: 8_000),
          ],
          hasSpeakers: false))
      let labels = "[...document.querySelectorAll('#picture text')].map((each) => each.textContent)"
      #expect(try page.bool("\(labels).includes('0:20')"))
      #expect(try page.bool("\(labels).includes('2:30 min')"))
      // An excerpt has the unit of the complete axis, like the list.
      for _ in 0..<4 {
        try page.press("+")
      }
      #expect(try page.bool("\(labels).some((each) => /^1:[0-9.]+ min$/.test(each))"))
    }

    /// Seventeen takes are refused.
    @Test("Any two of sixteen takes can be shown")
    func anyTwoOfSixteenTakesAreShown() throws {
      let tap = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)])
      let takes = try (0..<17).map { try PageFixtures.take("take \($0)", tap, rate: 8_000) }
      let page = try BrowserPage(PageFixtures.report(Array(takes.prefix(16)), hasSpeakers: false))
      #expect(try page.number("document.getElementById('second').options.length") == 16)
      try page.evaluate(
        """
        document.getElementById("second").value = "15";
        document.getElementById("second").dispatchEvent(new Event("change", { bubbles: true }));
        """)
      #expect(try page.string("document.title") == "take 0 and take 15 · Temblor")
      #expect(page.errorMessages == [])
      #expect(throws: ReviewPageError(.tooMany, "a report supports at most 16 takes, not 17")) {
        try PageFixtures.report(takes, hasSpeakers: false)
      }
    }

    @Test("Zooming shows an excerpt of the time axis")
    func zoomShowsAnExcerpt() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      let lastLabel =
        "[...document.querySelectorAll('#picture text[text-anchor=middle]')].at(-1).textContent"
      let fullRangeLabel = try page.string(lastLabel)
      try page.press("+")
      try page.press("+")
      #expect(try page.string(lastLabel) != fullRangeLabel)
      try page.press("0")
      #expect(try page.string(lastLabel) == fullRangeLabel)
      try page.click("[data-zoom=in]")
      #expect(try page.string(lastLabel) != fullRangeLabel)
    }

    @Test("The pointer shows the values in the file and the played values")
    func pointerShowsValues() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      let y = try page.boundingBox(of: "#picture svg").y + 100
      try page.point("mouseMoved", x: try x(page, 0.2), y: y)
      let tipText = try page.string("document.getElementById('tip').innerText") ?? ""
      let tipWords = tipText.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      // 80 Hz · (230 / 80)^0.25 = 104 Hz.
      #expect(
        tipWords.hasSuffix(
          "Continuous event intensity sharpness A 0.8 0.25 104 Hz B 1 0.25 104 Hz"),
        "\(tipWords)")
    }

    @Test("Sources are side by side")
    func sourceIsSideBySide() throws {
      let takes = [
        try PageFixtures.take("one", text: "{\n  \"Version\": 1,\n  \"a\": 0.5\n}\n"),
        try PageFixtures.take(
          "two", PageFixtures.pattern(intensity: 1), text: "{\n  \"Version\": 1,\n  \"a\": 0.7\n}\n"
        ),
      ]
      let page = try BrowserPage(PageFixtures.report(takes))
      #expect(
        try page.string("document.getElementById('source-more').textContent") == "1 changed line")
      #expect(
        try page.string(
          "[...document.querySelectorAll('#source mark')].map((each) => each.textContent).join(' ')"
        )
          == "0.5 0.7")
    }

    @Test("Recordings are shown by level and frequency")
    func recordingsHaveLevelAndFrequency() throws {
      let page = try BrowserPage(
        PageFixtures.report(
          [PageFixtures.take("pattern"), PageFixtures.recording("take.wav")], hasSpeakers: false))
      #expect(try page.string("document.querySelector('#views button').textContent") == "Level")
      let lanes =
        """
        [...document.querySelectorAll('#picture .lane')].map((each) => \
        each.firstChild.data).join(' ')
        """
      #expect(try page.string(lanes) == "Level Frequency")
      #expect(try page.bool("document.getElementById('source-fold').hidden"))
      #expect(try page.bool("document.getElementById('output-choice').hidden"))
      try page.press("v")
      try page.press("v")
      try page.wait(for: "document.querySelector('canvas.spectrum') !== null")
      #expect(page.errorMessages == [])
    }

    @Test("Keys are listed")
    func keysAreListed() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport())
      try page.press("?")
      #expect(try page.bool("document.getElementById('keys-dialog').open"))
      let keysText = try page.string("document.querySelector('.keys').innerText") ?? ""
      for expectedText in [
        "Space", "Play or pause", "Hear the second take", "Blind test", "Next, previous difference",
      ] {
        #expect(keysText.contains(expectedText))
      }
      try page.press("Escape")
      #expect(try !page.bool("document.getElementById('keys-dialog').open"))
    }

    @Test("A print has no player")
    func printHasNoPlayer() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), isDark: true)
      let pdfBytes = try #require(try Base64Text.bytes(page.print()))
      #expect(pdfBytes.starts(with: Array("%PDF-".utf8)))
      let text = String(decoding: pdfBytes, as: UTF8.self)
      #expect(text.split(separator: "/Type /Page\n").count == 2)
      try page.setMedia("print")
      #expect(
        try page.string("getComputedStyle(document.querySelector('.dock')).display") == "none")
      #expect(page.errorMessages == [])
    }

    @Test("Without script, a page has figure, list, measurements and source")
    func pageWorksWithoutScript() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), hasScript: false)
      let text = try page.string("document.body.innerText") ?? ""
      for expectedText in [
        "2 perceptible differences", "Second transient 20 ms later", "Loudness", "soft", "firm",
      ] {
        #expect(text.contains(expectedText), "\(expectedText)")
      }
      #expect(
        try page.bool("document.querySelector('.static svg').getBoundingClientRect().width > 600"))
      #expect(try page.bool("document.getElementById('source-0').textContent.includes('Version')"))
      #expect(
        try page.string("getComputedStyle(document.querySelector('.dock')).display") == "none")
    }
  }
}
