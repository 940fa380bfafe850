import HapticModel
import PatternComparison
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The report in a real browser: long patterns, links, and exports.
  @Suite struct ReportSharingTests {
    /// With more than 300 visible events, two patterns are columns: the common part is gray.
    @Test("Ten minutes are drawn as an envelope")
    func tenMinutesAreAnEnvelope() throws {
      func longPattern(weakEventIndex: Int?) -> HapticPattern {
        HapticPattern(
          events: (0..<400).map {
            HapticEvent(
              kind: .hapticTransient, time: 1.5 * Double($0),
              parameters: [.hapticIntensity: $0 == weakEventIndex ? 0.2 : 0.8])
          })
      }
      let page = try BrowserPage(
        PageFixtures.report(
          [
            try PageFixtures.take("one", longPattern(weakEventIndex: nil), rate: 8_000),
            try PageFixtures.take("two", longPattern(weakEventIndex: 200), rate: 8_000),
          ],
          hasSpeakers: false))
      #expect(try page.number("document.querySelectorAll('#picture .stem').length") == 0)
      #expect(
        try page.bool(
          "document.querySelector('#picture .bars.both').getAttribute('d').length > 4000"))
      let excessPath =
        try page.string("document.querySelector('#picture .bars.a').getAttribute('d')") ?? ""
      #expect(excessPath.split(separator: "M").count == 1, "\(excessPath)")
      #expect(try page.string("document.querySelector('#list .when').textContent") == "5:00 min")
      // The figure zooms to the next difference, and the overview shows the visible range.
      try page.press("n")
      try page.wait(for: "!document.querySelector('#scrub .view').hidden")
      try page.wait(for: "document.querySelectorAll('#picture .stem').length > 0")
      let visibleRange = try page.boundingBox(of: "#scrub .view")
      let overview = try page.boundingBox(of: "#scrub")
      #expect(abs(visibleRange.x + visibleRange.width / 2 - overview.x - overview.width / 2) < 3)
      #expect(try page.number("document.querySelectorAll('#scrub .spot').length") == 1)
      // Long sounds have a lower rate in the file, and their own rate in the page.
      #expect(try page.number("Number(document.getElementById('sound-0-0').dataset.factor)") == 4)
      #expect(page.errorMessages == [])
    }

    @Test("The URL names a difference or a time")
    func urlNamesADifferenceOrATime() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), query: "#d2")
      try page.wait(for: "document.querySelector('.row.on') !== null")
      #expect(try page.string("document.querySelector('.row.on .n').textContent") == "2")
      #expect(try !page.bool("document.body.classList.contains('playing')"))
      try page.press("Escape")
      try page.wait(for: "location.hash === ''")
      try page.evaluate("location.hash = 't=0.25'")
      try page.wait(for: "document.getElementById('clock').textContent === '0.250'")
      try page.press("ArrowRight")
      try page.wait(for: "location.hash === '#t=0.26'")
      try page.press("n")
      try page.wait(for: "location.hash === '#d1'")
      for invalidFragment in ["#d99", "#t=x", "#list", "#A-Z&d1", "#%3Cb%3E"] {
        #expect(
          try BrowserPage(PageFixtures.twoTakeReport(), query: invalidFragment).errorMessages == [])
      }
    }

    @Test("The URL names two of three takes")
    func urlNamesTwoTakes() throws {
      let takes = [
        try PageFixtures.take("one"),
        try PageFixtures.take("two", PageFixtures.pattern(secondTap: 0.45)),
        try PageFixtures.take("three", PageFixtures.pattern(intensity: 0.4)),
      ]
      let page = try BrowserPage(PageFixtures.report(takes), query: "#C-B&t=0.1")
      try page.wait(for: "document.title === 'three and two · Temblor'")
      try page.wait(for: "document.getElementById('clock').textContent === '0.100'")
      #expect(try page.string("location.hash") == "#C-B&t=0.1")
    }

    @Test("List and figure can be exported")
    func listAndFigureAreExported() throws {
      let page = try BrowserPage(
        PageFixtures.twoTakeReport(),
        preparation: """
          window.saved = {};
          window.URL.createObjectURL = (blob) => { window.blob = blob; return "#"; };
          HTMLAnchorElement.prototype.click = function () { window.saved[this.download] = win\
          dow.blob; };
          Object.defineProperty(navigator, "clipboard", { value: { writeText: (text) => {
            window.copied = text;
            return Promise.resolve();
          } } });
          """)
      try page.press("e")
      for format in ["markdown", "csv", "svg", "png"] {
        try page.click("[data-share=\(format)]")
      }
      try page.wait(for: "window.saved['comparison.png']")
      #expect(
        try page.string("window.copied") == """
          **B is stronger and ends 20 ms later.** 2 perceptible differences: A soft, B firm.

          | # | difference | change | time | perceptibility |
          | --- | --- | --- | --- | --- |
          | 1 | Second transient 20 ms later: onset 0.4 → 0.42 s | +20 ms | 0.4 → 0.42 s | 3.3× |
          | 2 | Continuous event 3.9 dB stronger: intensity 0.8 → 1 | +3.9 dB | 0.1 – 0.3 s | 2.6× |

          """)
      let csv = try page.string("window.saved['differences.csv'].text()") ?? ""
      #expect(
        csv.hasPrefix(
          "number,kind,difference,detail,change,start,end,perceptibility\r\n1,time,Second transient"
        ))
      let svg = try page.string("window.saved['comparison.svg'].text()") ?? ""
      #expect(
        svg.contains("<title>A soft, B firm</title>") && svg.contains("stroke=\"rgb(189, 75, 0)\""))
      #expect(!svg.contains("var("))
      #expect(
        try page.bool(
          """
          window.saved["comparison.svg"].text().then((text) =>
            new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parserer\
          ror") === null)
          """))
      let pixels = "createImageBitmap(window.saved['comparison.png']).then((image) => image.width)"
      #expect(try page.number(pixels) ?? 0 > 2_000)
      #expect(page.errorMessages == [])
    }

    @Test("A tolerance has a verdict")
    func toleranceHasAVerdict() throws {
      func page(_ tolerance: Tolerance) throws -> BrowserPage {
        try BrowserPage(
          ComparisonReport(generator: "Temblor test", tolerance: tolerance).html(
            takes: PageFixtures.twoTakes()))
      }
      let strict = try page(Tolerance(decibels: 0.5, seconds: 0.005, percent: 2))
      #expect(
        try strict.string("document.getElementById('badge').textContent")
          == "✗ Exceeds 0.5 dB, 5 ms and 2 %")
      #expect(
        try strict.string(
          """
          [...document.querySelectorAll('#excesses li')].map((each) => \
          each.textContent).join('; ')
          """
        )
          == """
          time +20 ms > 5 ms: second transient at 0.4 s; level +3.9 dB > 0.5 dB: continuous \
          event at 0.1 s
          """
      )
      let wide = try page(Tolerance(decibels: 6, seconds: 0.05, percent: 2))
      #expect(
        try wide.string("document.getElementById('badge').textContent")
          == "✓ Within 6 dB, 50 ms and 2 %")
      #expect(
        try BrowserPage(PageFixtures.twoTakeReport()).bool(
          "document.getElementById('badge').hidden"))
    }

    @Test("The section about the report names the files")
    func aboutNamesTheFiles() throws {
      let origins = [
        TakeOrigin(
          path: "a/soft.ahap", modificationTime: "2026-11-22 17:58 UTC", bytes: Array("abc".utf8)),
        nil,
      ]
      let page = try BrowserPage(
        ComparisonReport(generator: "Temblor test", takeOrigins: origins).html(
          takes: PageFixtures.twoTakes()))
      let about = try page.string("document.getElementById('about').textContent") ?? ""
      #expect(
        about.hasPrefix(
          "Take Aa/soft.ahap · 2026-11-22 17:58 UTC · SHA-256 ba7816bf8f01cfeaProfile"), "\(about)")
    }

    /// Heads closer than their width are moved apart.
    @Test("The heads of nearby transients do not overlap")
    func nearbyHeadsDoNotOverlap() throws {
      let page = try BrowserPage(PageFixtures.twoTakeReport(), width: 390, height: 740)
      let circle = try page.boundingBox(of: "#picture circle.head.a")
      let diamond = try page.boundingBox(of: "#picture path.head.b")
      #expect(diamond.x + diamond.width / 2 - circle.x - circle.width / 2 >= 11.5)
    }

    /// A different layout of equal values is not a difference.
    @Test("Sources in different layouts are compared by values")
    func sourceIsComparedByValues() throws {
      let takes = [
        try PageFixtures.take(
          "one", text: "{\n  \"Version\": 1.0,\n  \"a\": [\n    0.5,\n    2\n  ]\n}\n"),
        try PageFixtures.take(
          "two", PageFixtures.pattern(intensity: 1), text: "{\r\n\t\"a\":[0.7,2],\"Version\":1}"),
      ]
      let page = try BrowserPage(PageFixtures.report(takes))
      let summaryExpression = "document.getElementById('source-more').textContent"
      #expect(try page.string(summaryExpression) == "1 changed line, in the same layout")
      #expect(
        try page.string(
          "[...document.querySelectorAll('#source mark')].map((each) => each.textContent).join(' ')"
        )
          == "0.5 0.7")
    }
  }
}
