import Testing

@testable import ReviewPages

/// The page of a comparison in a real browser.
@Suite(.serialized, .enabled(if: Browser.isInstalled, "\(Browser.remedy)"))
struct ReportInBrowserTests {
  @Test func pageOpensFromAFileAndAsksForNothingElse() throws {
    let page = try BrowserPage(Pages.twoTakeReport())
    #expect(try page.string("document.querySelector('h1').textContent") == "soft and firm")
    try page.press(" ")
    try page.wait(for: "document.body.classList.contains('playing')")
    try page.press("v")
    #expect(page.complaints == [])
    #expect(page.requests.count == 1)
  }
}
