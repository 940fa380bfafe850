import Testing

@testable import ReviewPages

extension InBrowser {
  /// Controls and figures at different widths of a screen.
  @Suite struct PageWidthTests {
    /// Returns the clipped, covered and misplaced controls and figures.
    static let layoutErrors = """
      (() => {
        const errors = new Set();
        const width = document.documentElement.clientWidth;
        const isShown = (element) =>
          element.getClientRects().length > 0 && !element.closest(".vh, .skip, dialog");
        const nameOf = (element) => `${element.tagName}#${element.id}.${element.className} `
          + element.textContent.trim().slice(0, 20);
        const shown = (selectors) => [...document.querySelectorAll(selectors)].filter(isShown);
        for (const element of shown(
          "button, select, input, summary, h1, .clock, .badge, .len, .legend > span, table.m th, "
          + "table.m td")) {
          const box = element.getBoundingClientRect();
          const scrolls = element.closest(".body[tabindex], .scroll");
          if (!scrolls && (box.left < -0.5 || box.right > width + 0.5)) {
            errors.add(`outside: ${nameOf(element)}`);
          }
          if (element.matches(".row, .mark, .card h2 *, select")) continue;
          if (element.scrollWidth > element.clientWidth + 1) {
            errors.add(`clipped: ${nameOf(element)}`);
          }
        }
        for (const bar of shown(".dock, .bar, .tools")) {
          const items = [...bar.querySelectorAll(
            "button, select, input, h1, .logo, .clock, .scrub, .now-name, .legend > span")]
            .filter(isShown).map((element) => ({ element, box: element.getBoundingClientRect() }));
          items.forEach((item, index) => {
            for (const other of items.slice(index + 1)) {
              const overlapWidth = Math.min(item.box.right, other.box.right)
                - Math.max(item.box.left, other.box.left);
              const overlapHeight = Math.min(item.box.bottom, other.box.bottom)
                - Math.max(item.box.top, other.box.top);
              if (overlapWidth > 1 && overlapHeight > 1) {
                errors.add(`covered: ${nameOf(item.element)} and ${nameOf(other.element)}`);
              }
            }
          });
        }
        if (document.documentElement.scrollWidth > width) errors.add("scrolls sideways");
        return [...errors].join("; ");
      })()
      """

    @Test(
      "No control is clipped or covered at any width", arguments: AccessibilityTests.pages.indices)
    func nothingIsClippedAtAnyWidth(
      _ index: Int
    ) throws {
      let page = try BrowserPage(AccessibilityTests.pages[index].html(), width: 320, height: 800)
      let breakpoints = [360, 375, 390, 414, 721, 768, 810, 811, 820, 834, 900, 1_080, 1_081]
      for width in Array(stride(from: 320, through: 1_600, by: 40)) + breakpoints {
        try page.resize(width: width, height: 800)
        // The page redraws shortly after a change of its size.
        try page.evaluate("new Promise((resolve) => setTimeout(resolve, 90))")
        #expect(try page.string(Self.layoutErrors) == "", "\(width) pixels")
      }
    }
  }
}
