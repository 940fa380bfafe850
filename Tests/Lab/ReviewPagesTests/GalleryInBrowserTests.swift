import HapticRender
import SignalAnalysis
import SoundFile
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The gallery in a real browser.
  @Suite struct GalleryInBrowserTests {
    private let shownCountExpression = "document.querySelectorAll('.card').length"
    private let namesExpression =
      "[...document.querySelectorAll('.card h2')].map((each) => each.textContent).join(' ')"

    @Test("A search shows the cards that contain all words")
    func searchFiltersByAllWords() throws {
      let page = try BrowserPage(PageFixtures.gallery())
      #expect(try page.number(shownCountExpression) == 3)
      try page.press("/")
      for letter in "a tw" {
        try page.press(String(letter))
      }
      #expect(try page.number(shownCountExpression) == 1)
      #expect(try page.string("document.getElementById('count').textContent") == "1 of 3 patterns")
      for letter in "xyz" {
        try page.press(String(letter))
      }
      #expect(try page.bool("!document.getElementById('nothing').hidden"))
      try page.click("#clear")
      #expect(try page.number(shownCountExpression) == 3)
      #expect(page.errorMessages == [])
      #expect(page.requests.count == 1)
    }

    @Test("Keys move from card to card and play")
    func keysMoveAndPlay() throws {
      let page = try BrowserPage(
        PageFixtures.gallery(), preparation: InBrowser.ReportSoundTests.audioProbeScript)
      try page.press("ArrowRight")
      try page.press("ArrowRight")
      #expect(try page.string("document.activeElement.ariaLabel") == "Play three, 1 transient")
      try page.press("l")
      try page.press("ArrowRight")
      #expect(
        try page.string("document.activeElement.ariaLabel")
          == "Play two, 2 transients, 1 continuous event")
      try page.press(" ")
      try page.wait(for: "document.querySelector('.card.sounding h2')?.textContent === 'two'")
      try page.wait(for: "audioProbe.peak() > 0.05")
      #expect(try page.string("document.getElementById('now').firstChild.data") == "two")
      #expect(try page.number("document.querySelectorAll('.sounding').length") == 1)
      try page.press("Escape")
      try page.wait(for: "document.querySelectorAll('.sounding').length === 0")
      #expect(page.errorMessages == [])
    }

    @Test("Cards are ordered and filtered")
    func cardsAreOrderedAndFiltered() throws {
      let page = try BrowserPage(PageFixtures.gallery())
      func choose(_ id: String, _ value: String) throws {
        try page.evaluate(
          """
          (() => {
            const select = document.getElementById("\(id)");
            select.value = "\(value)";
            select.dispatchEvent(new Event("change"));
          })()
          """)
      }
      try choose("order", "length")
      #expect(try page.string(namesExpression) == "three one two")
      try choose("kind", "one")
      #expect(try page.string(namesExpression) == "three")
      try choose("kind", "continuous")
      #expect(try page.string(namesExpression) == "one two")
    }

    @Test("All cards have the same time scale")
    func allCardsHaveOneScale() throws {
      let page = try BrowserPage(PageFixtures.gallery())
      // The pixels per second follow from the labels of each card.
      let scales = try page.string(
        """
        [...document.querySelectorAll(".thumb > svg")].map((svg) => {
          const ticks = [...svg.querySelectorAll("text")].map((each) =>
            [parseFloat(each.textContent), Number(each.getAttribute("x"))]);
          const [first, last] = [ticks[0], ticks.at(-1)];
          return Math.round((last[1] - first[1] - 3) / (last[0] - first[0]));
        }).join(" ")
        """)
      #expect(Set((scales ?? "").split(separator: " ")).count == 1, "\(scales ?? "")")
    }

    @Test("Hovering shows the values under the pointer")
    func hoverShowsValues() throws {
      let page = try BrowserPage(PageFixtures.gallery())
      let box = try page.boundingBox(of: ".card[data-take=\"0\"] .thumb")
      try page.point("mouseMoved", x: box.x + 7, y: box.y + 30)
      #expect(
        try page.string("document.querySelector('.card[data-take=\"0\"] .cursor').textContent")
          == "0 s · 1.00 · 136 Hz"
      )
    }

    @Test("The detail has a URL and downloads the rendering")
    func detailHasAURLAndDownloads() throws {
      let page = try BrowserPage(
        PageFixtures.gallery(), query: "#two",
        preparation: """
          window.URL.createObjectURL = (blob) => { window.saved = blob; return "#"; };
          HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };
          """)
      try page.wait(for: "document.getElementById('drawer').open")
      #expect(try page.string("document.getElementById('d-name').textContent") == "two")
      try page.click("#save-wav")
      try page.wait(for: "window.savedName === 'two.wav'")
      let text = try page.string(
        """
        window.saved.arrayBuffer().then((bytes) => [...new Uint8Array(bytes)].join(" "))
        """)
      let savedBytes = (text ?? "").split(separator: " ").compactMap { UInt8($0) }
      let take = try PageFixtures.take("two", PageFixtures.pattern(secondTap: 0.8))
      let signal = try PageFixtures.signal(take, profile: .phone)
      var dither = Dither()
      let samples = signal.channels[0].flatMap { sample in
        let sampleBits = UInt16(bitPattern: dither.quantize(sample))
        return [UInt8(truncatingIfNeeded: sampleBits), UInt8(sampleBits >> 8)]
      }
      #expect(Array(savedBytes.dropFirst(44)) == samples)
      try page.click("#save-source")
      try page.wait(for: "window.savedName === 'two.ahap'")
      #expect(try page.string("window.saved.text()") == "{\n  \"Version\": 1\n}\n")
      try page.press("Escape")
      try page.wait(for: "!document.getElementById('drawer').open")
      try page.wait(for: "location.hash === ''")
      #expect(page.errorMessages == [])
    }

    @Test("The detail overlays another pattern")
    func detailOverlaysAnotherPattern() throws {
      let page = try BrowserPage(PageFixtures.gallery(), query: "#one")
      try page.evaluate(
        """
        (() => {
          const select = document.getElementById("compare");
          select.value = "1";
          select.dispatchEvent(new Event("change"));
        })()
        """)
      try page.wait(for: "document.querySelector('.cmp code') !== null")
      #expect(
        try page.string("document.querySelector('.cmp code').textContent")
          == "temblor compare one two -o report.html")
      #expect(try page.number("document.querySelectorAll('#big path.head.b').length") == 2)
      #expect(
        try page.string("document.querySelector('#compare-hear [aria-checked=true]').textContent")
          == "In turn")
      #expect(page.errorMessages == [])
    }
  }
}
