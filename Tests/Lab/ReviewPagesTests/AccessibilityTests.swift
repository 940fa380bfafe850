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
    static let nameErrors = """
      (() => {
        const errors = [];
        const nameOf = (element) => (element.getAttribute("aria-label")
          ?? (element.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean)
            .map((id) => document.getElementById(id)?.textContent ?? "").join(" "))
          || element.textContent.trim()
          || [...(element.labels ?? [])].map((label) => label.textContent.trim()).join(" ");
        for (const element of document.querySelectorAll(
          "button, a[href], input, select, summary, dialog, [role=region], [role=group], "
          + "[role=radiogroup]")) {
          if (!nameOf(element)) errors.push(`no name: ${element.outerHTML.slice(0, 80)}`);
        }
        for (const image of document.querySelectorAll("img, [role=img]")) {
          if (!(image.alt || image.getAttribute("aria-label"))) errors.push("image without name");
        }
        const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
        for (const id of ids) {
          if (ids.indexOf(id) !== ids.lastIndexOf(id)) errors.push(`duplicate ID: ${id}`);
        }
        for (const element of document.querySelectorAll("[aria-labelledby]")) {
          if (!document.getElementById(element.getAttribute("aria-labelledby"))) {
            errors.push("aria-labelledby refers to no element");
          }
        }
        if (document.querySelectorAll("main").length !== 1) errors.push("main");
        if (document.querySelectorAll("h1").length !== 1) errors.push("h1");
        if (document.documentElement.lang !== "en") errors.push("lang");
        return errors.join("; ");
      })()
      """

    /// Returns the texts with a contrast below 4.5:1, or below 3:1 for large text.
    static let contrastErrors = """
      (() => {
        const canvas = document.createElement("canvas")
          .getContext("2d", { willReadFrequently: true });
        const cachedComponents = new Map();
        const componentsOf = (color) => {
          if (!cachedComponents.has(color)) cachedComponents.set(color, measure(color));
          return cachedComponents.get(color);
        };
        const measure = (color) => {
          canvas.clearRect(0, 0, 1, 1);
          canvas.fillStyle = color;
          canvas.fillRect(0, 0, 1, 1);
          const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
          return [red, green, blue, alpha / 255];
        };
        const luminance = ([red, green, blue]) => [red, green, blue]
          .map((value) => value / 255)
          .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
          .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
        const blend = (top, bottom) => [0, 1, 2]
          .map((index) => top[index] * top[3] + bottom[index] * (1 - top[3]));
        const backgroundOf = (element) => {
          const layers = [];
          for (let ancestor = element; ancestor; ancestor = ancestor.parentElement) {
            layers.push(componentsOf(getComputedStyle(ancestor).backgroundColor));
          }
          return layers.reverse().reduce((bottom, top) => blend(top, bottom), [255, 255, 255]);
        };
        const errors = new Set();
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const element = walker.currentNode.parentElement;
          const text = walker.currentNode.data.trim();
          if (!text || element.closest("script, style, svg, noscript")) continue;
          if (element.closest(":disabled")) continue;
          const style = getComputedStyle(element);
          if (!element.getClientRects().length) continue;
          const background = backgroundOf(element);
          const foreground = blend(componentsOf(style.color), background);
          const [brighter, darker] = [luminance(foreground), luminance(background)]
            .sort((first, second) => second - first);
          const ratio = (brighter + 0.05) / (darker + 0.05);
          const isLarge = parseFloat(style.fontSize) >= 24
            || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
          if (ratio < (isLarge ? 3 : 4.5)) {
            errors.add(
              `${ratio.toFixed(2)} ${element.tagName}.${element.className} ${text.slice(0, 20)}`);
          }
        }
        return [...errors].join("; ");
      })()
      """

    @Test("Every control has a name", arguments: pages.indices)
    func everyControlHasAName(_ index: Int) throws {
      let page = try BrowserPage(Self.pages[index].html())
      #expect(try page.string(Self.nameErrors) == "")
    }

    @Test("Text has contrast in both themes", arguments: pages.indices)
    func textHasContrast(_ index: Int) throws {
      for isDark in [false, true] {
        let page = try BrowserPage(Self.pages[index].html(), isDark: isDark)
        try page.evaluate(
          "document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        #expect(try page.string(Self.contrastErrors) == "", "dark: \(isDark)")
        try page.press("?")
        #expect(try page.string(Self.contrastErrors) == "", "dark: \(isDark), keys")
        try page.press("Escape")
        try page.press("t")
        #expect(try page.string(Self.contrastErrors) == "", "dark: \(isDark), blind test")
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
      var focusedNames: Set<String> = []
      let expectedNames =
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
              return (isShown ? "" : "no outline: ")
                + (element.id || element.className.split(" ")[0]);
            })()
            """) ?? ""
        if name.hasPrefix("no outline") && name != "no outline: " {
          Issue.record("\(name)")
        }
        focusedNames.insert(name)
      }
      for name in expectedNames {
        #expect(focusedNames.contains(name), "\(name) of \(focusedNames)")
      }
    }

    /// The states of a page that axe-core checks.
    private static let states = [
      ("as it opens", ""),
      ("all open", "document.querySelectorAll('details').forEach((each) => { each.open = true; })"),
    ]

    /// Checks the rules of WCAG 2.2 and best practices with axe-core, if `TEMBLOR_TEST_AXE` is the
    /// path of its script.
    @Test("axe-core finds no violations", .enabled(if: axePath != nil), arguments: pages.indices)
    func axeFindsNoViolations(_ index: Int)
      throws
    {
      let axeScript = String(
        decoding: try Data(contentsOf: URL(filePath: Self.axePath ?? "")), as: UTF8.self)
      for isDark in [false, true] {
        let page = try BrowserPage(Self.pages[index].html(), isDark: isDark, preparation: axeScript)
        for (state, script) in Self.states {
          try page.evaluate(script)
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

    private static var axePath: String? { ProcessInfo.processInfo.environment["TEMBLOR_TEST_AXE"] }

    private func expectNoViolations(_ page: BrowserPage, _ state: String) throws {
      let violations = try page.string(
        """
        axe.run().then(({ violations }) => violations.map((each) =>
          `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`).\
        join("; "))
        """)
      #expect(violations == "", "\(state)")
    }
  }
}
