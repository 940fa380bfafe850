import SoundFile
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The page of a comparison in a real browser: what is seen and pressed.
  @Suite struct ReportInBrowserTests {
    @Test func pageOpensFromAFileAndAsksForNothingElse() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      #expect(try page.string("document.querySelector('h1').textContent") == "soft and firm")
      try page.press(" ")
      try page.wait(for: "document.body.classList.contains('playing')")
      for _ in 0..<5 { try page.press("v") }
      #expect(page.complaints == [])
      #expect(page.requests.count == 1)
      // Names of the script are its own.
      #expect(
        try page.string("typeof deck + typeof SoundDeck + typeof takes")
          == "undefinedundefinedundefined")
    }

    @Test func policyKeepsForeignScriptsFromRunning() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      try page.evaluate(
        """
        window.ran = false;
        const element = document.createElement("script");
        element.textContent = "window.ran = true";
        document.body.append(element);
        fetch("https://example.org/").catch(() => { window.wasRefused = true; });
        """)
      try page.wait(for: "window.wasRefused")
      #expect(try !page.bool("window.ran"))
      #expect(page.complaints.contains { $0.contains("Content Security Policy") })
    }

    @Test func textOfFilesStaysText() throws {
      let nasty =
        "</script><script>window.ran = 1</script><img src=x onerror=window.ran=1>\"'&{{data}}"
      let takes = [
        try Pages.take(nasty, text: nasty + "\n" + nasty, feeling: nasty),
        try Pages.take(nasty + "2", text: nasty, feeling: nasty + "2"),
      ]
      let page = try BrowserPage(Pages.report(takes))
      #expect(try page.string("document.querySelector('.takes b').textContent") == nasty)
      #expect(try page.string("document.querySelector('.line').textContent") == nasty + "\n")
      #expect(try page.string("document.querySelector('.feeling').textContent") == nasty)
      #expect(try page.string("document.querySelector('.switch .name').textContent") == nasty)
      #expect(
        try page.bool("window.ran === undefined && document.querySelector('img[onerror]') === null")
      )
      #expect(page.complaints == [])
    }

    @Test func keysAndClicksSwitchTakes() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      let chosen = "document.querySelector('.switch [aria-checked=true]').dataset.take"
      #expect(try page.string(chosen) == "0")
      try page.press("2")
      #expect(try page.string(chosen) == "1")
      try page.press("a")
      #expect(try page.string(chosen) == "0")
      try page.press("x")
      #expect(try page.string(chosen) == "1")
      try page.click(".switch [data-take=\"0\"]")
      #expect(try page.string(chosen) == "0")
      try page.press("ArrowRight")
      #expect(try page.string(chosen) == "1")
      #expect(try page.string("document.activeElement.dataset.take") == "1")
      #expect(try page.string("document.getElementById('status').textContent") == "B, firm")
    }

    @Test func playHeadSeeksWhereAPictureIsClicked() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      let box = try page.box(of: ".plot:not(.away) .picture")
      let axis = try #require(
        try page.string("document.querySelector('.plot:not(.away)').dataset.wide")
      ).split(separator: " ").compactMap { Double($0) }
      func place(_ seconds: Double) -> Double {
        box.x + box.width * (axis[2] + seconds / axis[1] * (axis[3] - axis[2]))
      }
      try page.drag((place(0.2), box.y + box.height / 2))
      let time = "Number(document.getElementById('time').value)"
      #expect(abs(try page.number(time) ?? -1) - 0.2 < 0.002)
      let head = try page.box(of: ".plot:not(.away) .head")
      let picture = try page.box(of: ".plot:not(.away) .picture")
      #expect(abs(head.x + head.width / 2 - (place(0.2) - box.x + picture.x)) < 1.5)
      // From the head on, a drag moves it.
      let y = picture.y + picture.height / 2
      try page.drag((place(0.2), y), (place(0.25), y), (place(0.3), y))
      #expect(abs((try page.number(time) ?? -1) - 0.3) < 0.002)
      #expect(try page.string("document.getElementById('loop').ariaPressed") == "false")
    }

    @Test func dragOverAPictureLoopsThatStretch() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      let box = try page.box(of: ".plot:not(.away) .picture")
      let y = box.y + box.height / 2
      try page.drag(
        (box.x + box.width * 0.4, y), (box.x + box.width * 0.5, y), (box.x + box.width * 0.7, y))
      #expect(try page.string("document.getElementById('loop').ariaPressed") == "true")
      let stretch = try page.box(of: ".plot:not(.away) .stretch")
      #expect(abs(stretch.x - (box.x + box.width * 0.4)) < 2)
      #expect(abs(stretch.width - box.width * 0.3) < 2)
      try page.press("Escape")
      #expect(try page.string("document.getElementById('loop').ariaPressed") == "false")
      #expect(try page.bool("document.querySelector('.plot:not(.away) .stretch').hidden"))
    }

    @Test func keysMoveThePlayHeadAndSetTheLoop() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      let time = "Number(document.getElementById('time').value).toFixed(3)"
      for _ in 0..<3 { try page.press("ArrowRight", shift: true) }
      try page.press("ArrowLeft")
      #expect(try page.string(time) == "0.290")
      try page.press("[")
      for _ in 0..<2 { try page.press("ArrowRight", shift: true) }
      try page.press("]")
      #expect(
        try page.string("document.getElementById('status').textContent")
          == "Looping 0.290 to 0.\(try page.string(time)?.dropFirst(2) ?? "") seconds")
      try page.press("Home")
      #expect(try page.string(time) == "0.290")
    }

    @Test func pressingADifferenceLoopsIt() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      let count = try page.number("document.querySelectorAll('[data-difference]').length") ?? 0
      #expect(count >= 2)
      try page.click("[data-difference]")
      #expect(try page.string("document.getElementById('loop').ariaPressed") == "true")
      let from =
        try page.number("Number(document.querySelector('[data-difference]').dataset.from)") ?? -1
      let place = try page.number("Number(document.getElementById('time').value)") ?? -1
      #expect(place <= from && from - place < 0.3)
      try page.press("n")
      #expect(
        try page.bool(
          "document.querySelectorAll('[data-difference]')[1].classList.contains('chosen')"))
    }

    @Test func valuesOfEventsAreToldByPointerAndKey() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      try page.press("v")
      let box = try page.box(of: "[data-kind=score] .picture")
      let axis = try #require(
        try page.string("document.querySelector('[data-kind=score]').dataset.wide")
      )
      .split(separator: " ").compactMap { Double($0) }
      try page.point(
        "mouseMoved", x: box.x + box.width * (axis[2] + 0.2 / axis[1] * (axis[3] - axis[2])),
        y: box.y + box.height / 2)
      let shown =
        try page.string("document.querySelector('[data-kind=score] .values').textContent") ?? ""
      // 80 Hz · (230 / 80)^0.25 = 104 Hz.
      #expect(shown.hasPrefix("A  0.2"), "\(shown)")
      #expect(shown.contains("continuous") && shown.contains("intensity 0.80"), "\(shown)")
      #expect(shown.contains("sharpness 0.25 · 104 Hz"), "\(shown)")
      try page.press(".")
      try page.press(".")
      #expect(
        try page.string("document.getElementById('status').textContent")
          == "0.400 s · transient · intensity 0.60 · sharpness 0.75 · 177 Hz")
    }

    @Test func keysAreListed() throws {
      let page = try BrowserPage(Pages.twoTakeReport())
      try page.press("?")
      #expect(try page.bool("document.getElementById('keys-dialog').open"))
      let words = try page.string("document.querySelector('.keys').innerText") ?? ""
      for word in [
        "Space", "Play or pause", "Hear B, firm", "Blind test", "Loop the next difference",
      ] {
        #expect(words.contains(word))
      }
      try page.press("Escape")
      #expect(try !page.bool("document.getElementById('keys-dialog').open"))
    }

    @Test func paperShowsAllPicturesAndNoPlayer() throws {
      let page = try BrowserPage(Pages.twoTakeReport(), isDark: true)
      let sheets = try #require(try Base64Text.bytes(page.print()))
      #expect(sheets.starts(with: Array("%PDF-".utf8)))
      let text = String(decoding: sheets, as: UTF8.self)
      #expect(text.split(separator: "/Type /Page\n").count > 3)
      #expect(page.complaints == [])
      let media = "matchMedia('print').matches"
      try page.setMedia("print")
      #expect(try page.bool(media))
      #expect(
        try page.string("getComputedStyle(document.querySelector('.dock')).display") == "none")
      #expect(
        try page.bool(
          "[...document.querySelectorAll('.plot')].every((each) => each.getClientRects().length > 0)"
        )
      )
    }
  }
}
