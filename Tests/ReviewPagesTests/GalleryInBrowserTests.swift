import Testing

@testable import ReviewPages

extension InBrowser {
  /// The page of a gallery in a real browser.
  @Suite struct GalleryInBrowserTests {
    private let shown = "document.querySelectorAll('.card:not([hidden])').length"

    @Test func searchLeavesCardsThatHaveAllWords() throws {
      let page = try BrowserPage(Pages.gallery())
      #expect(try page.number(shown) == 3)
      try page.press("/")
      for letter in "a tw" { try page.press(String(letter)) }
      #expect(try page.number(shown) == 1)
      #expect(try page.string("document.getElementById('count').textContent") == "1 of 3 patterns")
      for letter in "xyz" { try page.press(String(letter)) }
      #expect(try page.bool("!document.getElementById('nothing').hidden"))
      #expect(page.complaints == [])
      #expect(page.requests.count == 1)
    }

    @Test func keysGoFromCardToCardAndPlay() throws {
      let page = try BrowserPage(Pages.gallery(), preparation: InBrowser.ReportSoundTests.listening)
      try page.press("j")
      try page.press("j")
      #expect(try page.string("document.activeElement.ariaLabel") == "Play two")
      try page.press("l")
      try page.press("Enter")
      try page.wait(for: "document.querySelectorAll('.card')[1].classList.contains('sounding')")
      try page.wait(for: "heard.peak() > 0.05")
      #expect(try page.string("document.activeElement.ariaLabel") == "Stop two")
      #expect(try page.string("document.getElementById('now').textContent") == "two")
      try page.click(".card:nth-child(3) .picture")
      try page.wait(for: "document.querySelectorAll('.card')[2].classList.contains('sounding')")
      #expect(try page.number("document.querySelectorAll('.sounding').length") == 1)
      try page.press("Escape")
      try page.wait(for: "document.querySelectorAll('.sounding').length === 0")
      #expect(page.complaints == [])
    }

    @Test func cardsAreOrderedByLength() throws {
      let page = try BrowserPage(Pages.gallery())
      try page.evaluate(
        """
        (() => {
          const order = document.getElementById("order");
          order.value = "length";
          order.dispatchEvent(new Event("change"));
        })()
        """)
      #expect(
        try page.string(
          "[...document.querySelectorAll('.card h2')].map((e) => e.firstChild.data.trim()).join(' ')"
        )
          == "three one two")
    }
  }
}
