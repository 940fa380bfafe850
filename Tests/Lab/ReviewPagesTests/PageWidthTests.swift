import Testing

@testable import ReviewPages

extension InBrowser {
  /// Controls and figures at different widths of a screen.
  @Suite struct PageWidthTests {
    /// Returns the clipped, covered and misplaced controls and figures.
    static let layout = """
      (() => {
        const wrong = new Set();
        const width = document.documentElement.clientWidth;
        const isShown = (element) => element.getClientRects().length > 0 && !element.closest(\
      ".vh, .skip, dialog");
        const name = (element) => `${element.tagName}#${element.id}.${element.className} `
          + element.textContent.trim().slice(0, 20);
        const all = (selectors) => [...document.querySelectorAll(selectors)].filter(isShown);
        for (const element of all(
          "button, select, input, summary, h1, .clock, .badge, .len, .legend > span, table.m th, ta\
      ble.m td")) {
          const box = element.getBoundingClientRect();
          const scrolls = element.closest(".body[tabindex], .scroll");
          if (!scrolls && (box.left < -0.5 || box.right > width + 0.5)) wrong.add(`out\
      side: ${name(element)}`);
          if (element.matches(".row, .mark, .card h2 *, select")) continue;
          if (element.scrollWidth > element.clientWidth + 1) wrong.add(`cut: ${name(element)}`);
        }
        for (const bar of all(".dock, .bar, .tools")) {
          const parts = [...bar.querySelectorAll(
            "button, select, input, h1, .logo, .clock, .scrub, .now-name, .legend > span")]
            .filter(isShown).map((element) => ({ element, box: element.getBoundingClientRect() }));
          parts.forEach((one, index) => {
            for (const other of parts.slice(index + 1)) {
              const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.\
      left, other.box.left);
              const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box\
      .top, other.box.top);
              if (across > 1 && down > 1) wrong.add(`covered: ${name(one.element)\
      } and ${name(other.element)}`);
            }
          });
        }
        if (document.documentElement.scrollWidth > width) wrong.add("scrolls sideways");
        return [...wrong].join("; ");
      })()
      """

    @Test(
      "No control is clipped or covered at any width", arguments: AccessibilityTests.pages.indices)
    func nothingIsClippedAtAnyWidth(
      _ index: Int
    ) throws {
      let page = try BrowserPage(AccessibilityTests.pages[index].html(), width: 320, height: 800)
      let edges = [360, 375, 390, 414, 721, 768, 810, 811, 820, 834, 900, 1_080, 1_081]
      for width in Array(stride(from: 320, through: 1_600, by: 40)) + edges {
        try page.resize(width: width, height: 800)
        // The page redraws shortly after a change of its size.
        try page.evaluate("new Promise((resolve) => setTimeout(resolve, 90))")
        #expect(try page.string(Self.layout) == "", "\(width) pixels")
      }
    }
  }
}
