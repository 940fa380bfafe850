import Foundation
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The accessibility of pages: names, contrast, widths, focus.
  @Suite struct AccessibilityTests {
    /// The tested pages by name.
    static let pages: [(name: String, html: @Sendable () throws -> [UInt8])] = [
      ("report", { try PageFixtures.twoTakeReport() }), ("gallery", { try PageFixtures.gallery() }),
    ]

    /// Returns the errors in the names of controls, figures, landmarks and headings.
    static let names = """
      (() => {
        const wrong = [];
        const nameOf = (element) => (element.getAttribute("aria-label")
          ?? (element.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean)
            .map((id) => document.getElementById(id)?.textContent ?? "").join(" "\
      )) || element.textContent.trim()
          || [...(element.labels ?? [])].map((label) => label.textContent.trim()).join(" ");
        for (const element of document.querySelectorAll(
          "button, a[href], input, select, summary, dialog, [role=region], [role=gr\
      oup], [role=radiogroup]")) {
          if (!nameOf(element)) wrong.push(`no name: ${element.outerHTML.slice(0, 80)}`);
        }
        for (const image of document.querySelectorAll("img, [role=img]")) {
          if (!(image.alt || image.getAttribute("aria-label"))) wrong.push("a picture wi\
      thout words");
        }
        const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
        for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`t\
      wo of ${id}`);
        for (const element of document.querySelectorAll("[aria-labelledby]")) {
          if (!document.getElementById(element.getAttribute("aria-labelledby"))) wrong.push("labell\
      ed by nothing");
        }
        if (document.querySelectorAll("main").length !== 1) wrong.push("main");
        if (document.querySelectorAll("h1").length !== 1) wrong.push("h1");
        if (document.documentElement.lang !== "en") wrong.push("lang");
        return wrong.join("; ");
      })()
      """

    /// Returns the texts with a contrast below 4.5:1, or below 3:1 for large text.
    static let contrasts = """
      (() => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently:\
       true });
        const known = new Map();
        const parts = (colour) => {
          if (!known.has(colour)) known.set(colour, measured(colour));
          return known.get(colour);
        };
        const measured = (colour) => {
          canvas.clearRect(0, 0, 1, 1);
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
          const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
          return [red, green, blue, alpha / 255];
        };
        const luminance = ([red, green, blue]) => [red, green, blue]
          .map((part) => part / 255)
          .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
          .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
        const over = (top, below) => [0, 1, 2].map((part) => top[part] * top[3] + below[part] *\
       (1 - top[3]));
        const groundOf = (element) => {
          const layers = [];
          for (let each = element; each; each = each.parentElement) {
            layers.push(parts(getComputedStyle(each).backgroundColor));
          }
          return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
        };
        const wrong = new Set();
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const element = walker.currentNode.parentElement;
          if (!walker.currentNode.data.trim() || element.closest("script, style, svg, noscri\
      pt")) continue;
          if (element.closest(":disabled")) continue;
          const style = getComputedStyle(element);
          if (!element.getClientRects().length) continue;
          const ground = groundOf(element);
          const ink = over(parts(style.color), ground);
          const [more, less] = [luminance(ink), luminance(ground)].sort((one, other) => ot\
      her - one);
          const ratio = (more + 0.05) / (less + 0.05);
          const isLarge = parseFloat(style.fontSize) >= 24
            || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
          if (ratio < (isLarge ? 3 : 4.5)) {
            wrong.add(`${ratio.toFixed(2)} ${element.tagName}.${element.class\
      Name} ${walker.currentNode.data.trim().slice(0, 20)}`);
          }
        }
        return [...wrong].join("; ");
      })()
      """

    @Test("Every control has a name", arguments: pages.indices)
    func everyControlHasAName(_ index: Int) throws {
      let page = try BrowserPage(Self.pages[index].html())
      #expect(try page.string(Self.names) == "")
    }

    @Test("Text has contrast in both themes", arguments: pages.indices)
    func textHasContrast(_ index: Int) throws {
      for isDark in [false, true] {
        let page = try BrowserPage(Self.pages[index].html(), isDark: isDark)
        try page.evaluate(
          "document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        #expect(try page.string(Self.contrasts) == "", "dark: \(isDark)")
        try page.press("?")
        #expect(try page.string(Self.contrasts) == "", "dark: \(isDark), keys")
        try page.press("Escape")
        try page.press("t")
        #expect(try page.string(Self.contrasts) == "", "dark: \(isDark), blind test")
      }
    }

    @Test("Pages fit the width of a phone", arguments: pages.indices)
    func pagesFitAPhone(_ index: Int) throws {
      let page = try BrowserPage(Self.pages[index].html(), width: 360, height: 740)
      try page.evaluate(
        "document.querySelectorAll('details').forEach((each) => { each.open = true; })")
      for width in [320, 360, 390, 430] {
        try page.resize(width: width, height: 740)
        #expect(
          try page.number(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0,
          "\(width)")
        // The player covers less than half of the screen.
        #expect((try page.number("document.querySelector('.dock').offsetHeight") ?? 999) < 170)
      }
    }

    @Test("Tab reaches every control and shows the focus", arguments: pages.indices)
    func tabReachesEveryControl(_ index: Int)
      throws
    {
      let page = try BrowserPage(Self.pages[index].html())
      var reached: Set<String> = []
      let wanted =
        index == 0
        ? ["skip", "first", "swap", "play", "match", "loop", "keys", "scrub", "volume"]
        : ["skip", "query", "order", "kind", "play", "loop", "scrub"]
      for _ in 0..<120 {
        try page.press("Tab")
        let name =
          try page.string(
            """
            (() => {
              const element = document.activeElement;
              const style = getComputedStyle(element);
              const isShown = style.outlineStyle !== "none" || element.type === "radio"
            || element === document.body;
              return (isShown ? "" : "unseen ") + (element.id || element.className.split(" ")[0]);
            })()
            """) ?? ""
        if name.hasPrefix("unseen") && name != "unseen " {
          Issue.record("\(name)")
        }
        reached.insert(name)
      }
      for name in wanted {
        #expect(reached.contains(name), "\(name) of \(reached)")
      }
    }

    /// The states of a page that axe-core checks.
    private static let states = [
      ("as it opens", ""),
      ("all open", "document.querySelectorAll('details').forEach((each) => { each.open = true; })"),
    ]

    /// Checks the rules of WCAG 2.2 and best practices with axe-core, if `TEMBLOR_TEST_AXE` is the
    /// path of its script.
    @Test("axe-core finds no violations", .enabled(if: axe != nil), arguments: pages.indices)
    func axeFindsNoViolations(_ index: Int)
      throws
    {
      let script = String(
        decoding: try Data(contentsOf: URL(filePath: Self.axe ?? "")), as: UTF8.self)
      for isDark in [false, true] {
        let page = try BrowserPage(Self.pages[index].html(), isDark: isDark, preparation: script)
        for (state, opening) in Self.states {
          try page.evaluate(opening)
          try expectNoViolations(page, "\(state), dark: \(isDark)")
        }
        if index == 0 {
          try page.press("t")
          try expectNoViolations(page, "blind test, dark: \(isDark)")
        } else {
          try page.click(".card h2 button")
          try page.wait(for: "document.getElementById('drawer').open")
          try expectNoViolations(page, "detail, dark: \(isDark)")
        }
      }
    }

    private static var axe: String? { ProcessInfo.processInfo.environment["TEMBLOR_TEST_AXE"] }

    private func expectNoViolations(_ page: BrowserPage, _ state: String) throws {
      let found = try page.string(
        """
        axe.run().then(({ violations }) => violations.map((each) =>
          `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`).\
        join("; "))
        """)
      #expect(found == "", "\(state)")
    }
  }
}
