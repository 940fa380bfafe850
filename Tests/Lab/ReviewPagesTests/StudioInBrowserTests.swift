import SignalPlots
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The studio in a real browser: display, edits, sound and files.
  @Suite struct StudioInBrowserTests {
    /// A pattern with an unusual layout and unknown keys.
    static let text = """
      {
        "Version" : 1.0, "Metadata": { "Project": "Test", "Own": [1, 2.50e0] },
        "Pattern": [
          { "Event": { "Time": 0.10, "EventType": "HapticTransient",
              "EventParameters": [ { "ParameterID": "HapticIntensity", "ParameterValue": 0.80 },
                { "ParameterID": "HapticSharpness", "ParameterValue": 0.5 } ] } },
          { "Event": { "Time": 0.4, "EventType": "HapticContinuous", "EventDuration": 0.30, "N\
      ote": "kept",
              "EventParameters": [ { "ParameterID": "HapticIntensity", "ParameterValue": 0.6 },
                { "ParameterID": "HapticSharpness", "ParameterValue": 0.2 } ] } },
          { "ParameterCurve": { "ParameterID": "HapticIntensityControl", "Time": 0.0,
              "ParameterCurveControlPoints": [ { "Time": 0, "ParameterValue": 1.0 },
                { "Time": 0.7, "ParameterValue": 0.5 } ] } }
        ]
      }

      """
    static let short = """
      {"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransi\
      ent", "EventParameters": []}}]}
      """

    /// A script that records the exports of the page and replaces the dialogs of the system.
    private static let preparation = """
      window.saved = {};
      window.showSaveFilePicker = window.showOpenFilePicker = undefined;
      const make = URL.createObjectURL;
      let lastBlob = null;
      URL.createObjectURL = (blob) => { lastBlob = blob; return "data:,"; };
      HTMLAnchorElement.prototype.click = function () { window.saved[this.download] = lastBlob; };
      """

    static func html(_ texts: [String] = [text], address: String? = nil) throws -> [UInt8] {
      let names = ["first.ahap", "second.ahap"]
      return try StudioPage(generator: "Temblor test", initialProfileName: "phone")
        .html(
          zip(names, texts).map {
            StudioPage.OpenDocument(fileName: $0, bytes: Array($1.utf8), saveAddress: address)
          })
    }

    private func open(
      _ texts: [String] = [text], query: String = "", width: Int = 1_280, address: String? = nil,
      preparation: String = ""
    ) throws -> BrowserPage {
      try Self.open(
        texts, query: query, width: width, address: address, preparation: preparation)
    }

    static func open(
      _ texts: [String] = [text], query: String = "", width: Int = 1_280, address: String? = nil,
      preparation: String = "", sharingStorageWith storageOwner: BrowserPage? = nil
    ) throws -> BrowserPage {
      let page = try BrowserPage(
        Self.html(texts, address: address), query: query, width: width,
        preparation: Self.preparation + preparation, sharingStorageWith: storageOwner)
      try page.wait(for: Self.isReady)
      return page
    }

    static let source = "document.getElementById('source').value"
    private static let cursor = "document.getElementById('cursor').getAttribute('aria-label')"
    static let isReady = "document.body.dataset.state === 'ready'"
    private static let canUndo = "!document.getElementById('undo').disabled"

    /// Returns the lines of the source that differ from the opened text.
    private func changedLines(_ page: BrowserPage) throws -> [String] {
      try page.wait(for: Self.isReady)
      let currentLines = (try page.string(Self.source) ?? "").split(
        separator: "\n", omittingEmptySubsequences: false)
      let openedLines = Set(Self.text.split(separator: "\n", omittingEmptySubsequences: false))
      return currentLines.filter { !openedLines.contains($0) }.map { String($0.drop { $0 == " " }) }
    }

    /// Selects the first part whose description contains a text.
    private func select(_ description: String, in page: BrowserPage) throws {
      try page.evaluate("document.getElementById('cursor').focus()")
      try page.press("Escape")
      for _ in 0..<20 {
        try page.press("n")
        if try page.string(Self.cursor)?.contains(description) == true { return }
      }
      Issue.record("no part has \(description)")
    }

    /// Drags the selected part by its handle.
    private func drag(_ page: BrowserPage, byX deltaX: Double = 0, y deltaY: Double = 0) throws {
      let box = try page.boundingBox(of: "#cursor")
      let x = box.x + box.width / 2
      let y = box.y + box.height / 2
      try page.drag((x, y), (x + deltaX / 2, y + deltaY / 2), (x + deltaX, y + deltaY))
    }

    @Test("An unchanged file is saved unchanged")
    func unchangedFilesAreSavedUnchanged() throws {
      let page = try open()
      #expect(try page.string(Self.source) == Self.text)
      try page.click("#save")
      try page.wait(for: "window.saved['first.ahap'] !== undefined")
      #expect(try page.string("window.saved['first.ahap'].text()") == Self.text)
      #expect(page.errorMessages == [])
      #expect(page.requests.count == 1, "\(page.requests)")
    }

    @Test("A drag changes one value")
    func dragChangesOneValue() throws {
      let page = try open()
      try select("Transient at 0.1", in: page)
      try drag(page, byX: 80)
      let line = try #require(try changedLines(page).first)
      #expect(
        try changedLines(page).count == 1 && line.hasSuffix(#""EventType": "HapticTransient","#),
        "\(line)")
      #expect(
        try page.string("document.getElementById('undo').title") == "Undo: Move event (Ctrl Z)")
      try page.click("#undo")
      #expect(try changedLines(page) == [])
      try select("Intensity curve, point 2", in: page)
      try drag(page, y: 40)
      #expect(try changedLines(page).count == 1)
      #expect(page.errorMessages == [])
    }

    @Test("Undoing everything restores the opened text")
    func undoRestoresTheOpenedText() throws {
      let page = try open()
      try select("Transient", in: page)
      for key in ["ArrowRight", "ArrowUp", "d", "t", "Delete", "c", "]", "v", "b"] {
        try page.press(key)
      }
      try select("Intensity curve, point 1", in: page)
      for key in ["i", "ArrowDown", "Delete"] {
        try page.press(key)
      }
      #expect(try changedLines(page) != [])
      for _ in 0..<30 where try page.bool(Self.canUndo) {
        try page.press("z", control: true)
      }
      try page.wait(for: "document.getElementById('source-more').textContent === 'as opened'")
      #expect(try page.string(Self.source) == Self.text)
      #expect(page.errorMessages == [])
    }

    @Test("A copy can be pasted into the other slot")
    func copiesArePastedIntoTheOtherSlot() throws {
      let page = try open([Self.text, Self.short])
      try select("Transient at 0.1", in: page)
      try page.press("N", shift: true)
      try page.evaluate("window.clip = new DataTransfer()")
      func send(_ name: String) throws {
        let options = "{ clipboardData: window.clip, cancelable: true, bubbles: true }"
        try page.evaluate("document.dispatchEvent(new ClipboardEvent('\(name)', \(options)))")
      }
      try send("copy")
      #expect(try page.string("window.clip.getData('text/plain')")?.contains("\"Pattern\"") == true)
      try page.press("2")
      try page.press("End")
      try send("paste")
      try page.wait(for: "document.getElementById('undo').title.startsWith('Undo: Paste 2 parts')")
      try page.press("z", control: true)
      try page.wait(for: "\(Self.source) === `\(Self.short)`")
      #expect(page.errorMessages == [])
    }

    @Test("The whole selection moves together")
    func selectionMovesTogether() throws {
      let page = try open()
      try page.press("a", control: true)
      #expect(try page.string("document.getElementById('kind').textContent") == "4 parts")
      try page.press("ArrowRight")
      try page.wait(for: "document.getElementById('undo').title === 'Undo: Move 4 parts (Ctrl Z)'")
      let box = try page.boundingBox(of: "#stage")
      try page.press("Escape")
      try page.drag(
        (box.x + 50, box.y + 40), (box.x + 200, box.y + 100), (box.x + box.width - 60, box.y + 260))
      #expect(
        try page.string("document.getElementById('kind').textContent")?.hasSuffix("parts") == true)
    }

    /// B stays in sync and is silent after its end until A ends.
    @Test("Patterns of different lengths stay in sync")
    func differentLengthsStayInSync() throws {
      let page = try open([Self.text, Self.short])
      try page.press("2")
      try page.click("#play")
      try page.wait(for: "document.querySelector('.dock').dataset.heard !== undefined")
      try page.wait(for: "Number(document.getElementById('clock').textContent) > 0.5")
      #expect(try page.string("document.getElementById('duration').textContent") == "/ 0.700 s")
      try page.press("1")
      #expect(try page.bool("document.body.classList.contains('playing')"))
      #expect(page.errorMessages == [])
    }

    @Test("Playback continues while the pattern changes")
    func playbackContinuesDuringEdits() throws {
      let page = try open()
      try page.click("#play")
      try page.wait(for: "document.querySelector('.dock').dataset.heard !== undefined")
      try select("Continuous", in: page)
      try page.press("ArrowDown")
      try page.wait(for: "document.body.classList.contains('playing')")
      #expect(page.errorMessages == [])
    }

    @Test("An error is shown at its line")
    func errorIsShownAtItsLine() throws {
      let page = try open()
      try page.evaluate(
        """
        (() => {
          const field = document.getElementById("source");
          field.value = field.value.replace('"Time": 0.4', '"Time": x');
          field.dispatchEvent(new Event("input"));
        })()
        """)
      try page.wait(for: "document.querySelector('#lines .error') !== null")
      #expect(try page.string("document.querySelector('#lines .error').textContent") == "7")
      #expect(try page.bool("document.querySelector('#lines p').textContent.length > 8"))
      #expect(
        try page.string("document.getElementById('facts').textContent")?.hasPrefix("700 ms") == true
      )
      try page.click("#play")
      try page.wait(for: "document.querySelector('.dock').dataset.heard !== undefined")
      try page.press("z", control: true)
      try page.wait(for: "document.getElementById('source-more').textContent === 'as opened'")
      #expect(page.errorMessages == [])
    }

    @Test("The URL contains a time and a pattern")
    func urlContainsTimeAndPattern() throws {
      let page = try open(query: "#t=0.25")
      #expect(try page.string("document.getElementById('clock').textContent") == "0.250")
      let compressedText =
        try page.string(
          """
          (async () => {
            const stream = new Blob([`\(Self.short)`]).stream().pipeThrough(new \
          CompressionStream("deflate-raw"));
            const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
            return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replac\
          eAll("/", "_").replaceAll("=", "");
          })()
          """) ?? ""
      let openedPage = try open([], query: "#open=my%20own.ahap,\(compressedText)")
      #expect(try openedPage.string("document.getElementById('title').textContent") == "my own")
      #expect(try openedPage.string(Self.source) == Self.short)
      for invalidFragment in ["#open=", "#open=a,%%%", "#t=-1", "#open=a,AAAA&t=9"] {
        #expect(try open(query: invalidFragment).errorMessages == [])
      }
    }

    /// The studio opens the URL that a report generates.
    @Test("The takes of a report open in the studio")
    func reportTakesOpenInTheStudio() throws {
      let takes = [
        try PageFixtures.take("one", text: Self.text),
        try PageFixtures.take("zwei & drei", text: Self.short),
      ]
      let report = try BrowserPage(
        ComparisonReport(generator: "Temblor test", studioAddress: "studio.html").html(
          takes: takes),
        preparation: "window.open = (address) => { window.opened = address; };")
      try report.evaluate("document.querySelector('[data-share=studio]').click()")
      try report.wait(for: "window.opened !== undefined")
      let address = try report.string("window.opened") ?? ""
      #expect(address.hasPrefix("studio.html#open=one.ahap,"))
      let page = try open([], query: String(address.dropFirst("studio.html".count)))
      #expect(try page.string("document.querySelector('#slot-0 .nm').textContent") == "one")
      #expect(try page.string("document.querySelector('#slot-1 .nm').textContent") == "zwei & drei")
      #expect(try page.string(Self.source) == Self.text)
      #expect(
        try BrowserPage(PageFixtures.twoTakeReport()).bool(
          "document.querySelector('[data-share=studio]').hidden"))
    }

    @Test("A dropped sound is traced into the other slot")
    func droppedSoundIsTraced() throws {
      let page = try open()
      // The sound is 0.5 s of silence and 0.25 s of a tone of 150 Hz.
      try page.evaluate(
        """
        const [rate, frames] = [8000, 6000], wav = new DataView(new ArrayBuffer(44 + 2 * frames));
        [...'RIFF    WAVEfmt '].forEach((each, offset) => wav.setUint8(offset, each.charCodeAt(0)));
        [[4, 36 + 2 * frames], [16, 16], [24, rate], [28, 2 * rate], [40, 2 * frames]].forEach(
          ([offset, value]) => wav.setUint32(offset, value, true));
        [[20, 1], [22, 1], [32, 2], [34, 16]].forEach(
          ([offset, value]) => wav.setUint16(offset, value, true));
        [...'data'].forEach((each, offset) => wav.setUint8(36 + offset, each.charCodeAt(0)));
        for (let frame = 4000; frame < frames; frame++) {
          wav.setInt16(44 + 2 * frame, 12000 * Math.sin(2 * Math.PI * 150 * frame / rate), true);
        }
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([wav], 'boom.wav', { type: 'audio/wav' }));
        dispatchEvent(new DragEvent('drop', { dataTransfer, clientX: innerWidth - 9 }));
        """)
      try page.wait(for: "document.getElementById('sound-dialog').open")
      #expect(
        try page.string("document.getElementById('sound-words').textContent")
          == "Its pattern opens as B. Or first plays the sound.")
      try page.evaluate("document.querySelector('#sound-dialog [data-choice=both]').click()")
      let source = "JSON.parse(\(Self.source)).Pattern.map((each) => each.Event ?? {})"
      try page.wait(
        for: "document.querySelector('#slot-1 .nm').textContent === 'boom' && \(source).length > 1")
      #expect(
        try page.string("\(source).map((each) => each.EventType).join()")
          == "HapticContinuous,AudioCustom")
      let time = try #require(try page.number("\(source)[0].Time"))
      #expect(abs(time - 0.5) < 0.02)
      #expect(try page.string("\(source)[1].EventWaveformPath") == "boom.wav")
    }

    @Test("A conflict at saving offers both versions")
    func saveConflictOffersBothVersions() throws {
      let page = try open(
        address: "0",
        preparation: """
          window.ifMatchValues = [];
          window.fetch = async (address, { headers }) => {
            window.ifMatchValues.push(headers["If-Match"]);
            return window.ifMatchValues.length === 1
              ? new Response("{}", { status: 412, headers: { ETag: \
          '"new"' } })
              : new Response(null, { status: 204, headers: { ETag: '"newer"' } });
          };
          """)
      try page.click("#save")
      try page.wait(for: "document.getElementById('conflict-dialog').open")
      try page.click("[data-choice=mine]")
      try page.wait(for: "window.ifMatchValues.length === 2")
      #expect(try page.string("window.ifMatchValues[1]") == "\"new\"")
      try page.wait(for: "document.getElementById('note').textContent.startsWith('Saved to')")
    }

    @Test("A page that loads its module is saved as a file that contains the module")
    func loadedModulesAreSaved() throws {
      let module = String(decoding: Base64.encoded(StudioPage.moduleBytes), as: UTF8.self)
      let slot = StudioPage.OpenDocument(fileName: "first.ahap", bytes: Array(Self.text.utf8))
      let page = try BrowserPage(
        StudioPage(generator: "Temblor test").html([slot], moduleAddress: "module"),
        preparation: Self.preparation + """
          window.fetch = async (address) => address === "module"
            ? new Response(Uint8Array.from(atob("\(module)"), (each) => each.charCodeAt(0)))
            : new Response("", { status: 404 });
          """)
      try page.wait(for: Self.isReady)
      try page.evaluate(
        """
        document.getElementById("save-as").click();
        document.getElementById("format").value = "html";
        document.getElementById("save-now").click();
        """)
      try page.wait(for: "window.saved['first.html'] !== undefined")
      let saved = try #require(try page.string("window.saved['first.html'].text()"))
      #expect(page.errorMessages == [])
      let copy = try BrowserPage(Array(saved.utf8))
      try copy.wait(for: Self.isReady)
      #expect(try copy.string(Self.source) == Self.text)
      #expect(copy.errorMessages == [])
      #expect(copy.requests.count == 1)
    }

    /// Returns a transient at a time in seconds.
    private static func tap(at time: Double) -> String {
      #"{"Event":{"Time":\#(time),"EventType":"HapticTransient","EventParameters":[]}}"#
    }

    /// A pattern of 5,000 events.
    private static var longText: String {
      let events = (0..<5_000).map { tap(at: Double($0) / 200) }
      return "{\"Version\":1,\"Pattern\":[\n" + events.joined(separator: ",\n") + "\n]}\n"
    }

    /// Returns a script that drops a file on the left half of the page.
    static func drop(_ name: String, _ text: String) -> String {
      """
      (() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([`\(text)`], `\(name)`));
        dispatchEvent(new DragEvent("drop", { dataTransfer, clientX: 9 }));
      })()
      """
    }

    /// A drag moves the selection immediately, and the text is updated when the pointer rests.
    @Test("Five thousand events can be dragged")
    func fiveThousandEventsCanBeDragged() throws {
      let page = try open([Self.longText])
      try select("Transient at 0.02", in: page)
      try drag(page, byX: 300)
      try page.wait(for: "document.getElementById('undo').title.startsWith('Undo: Move event')")
      try page.wait(for: "document.getElementById('source-more').textContent === '1 line changed'")
      #expect(page.errorMessages == [])
    }

    /// Repeated keys change the figure immediately, and the text once when the keys rest.
    @Test("Repeated keys in five thousand events become one change")
    func repeatedKeysBecomeOneChange() throws {
      let page = try open([Self.longText])
      try select("Transient at 0.02", in: page)
      for _ in 0..<20 {
        try page.press("ArrowRight")
      }
      try page.wait(for: "document.getElementById('source-more').textContent === '1 line changed'")
      #expect(try page.string(Self.cursor)?.hasPrefix("Transient at 0.22 seconds") == true)
      let undo = "document.getElementById('undo').title"
      #expect(try page.string(undo) == "Undo: Move event (Ctrl Z)")
      try page.press("ArrowUp")
      try page.press("z", control: true)
      #expect(try page.string(undo) == "Undo: Move event (Ctrl Z)")
      try page.press("z", control: true)
      try page.wait(for: "document.getElementById('source-more').textContent === 'as opened'")
      #expect(page.errorMessages == [])
    }

    /// Only the moved event is read again. Undo and redo read the whole pattern.
    @Test("An event moved in a long pattern has the values and the order of a complete reading")
    func movedEventIsReadAlone() throws {
      let events = (0..<600).map { Self.tap(at: Double($0) / 100) }
      let curve = """
        {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0,
          "ParameterCurveControlPoints": [{"Time": 0, "ParameterValue": 1},
            {"Time": 6, "ParameterValue": 0}]}}
        """
      let page = try open([
        "{\"Version\":1,\"Pattern\":[\n" + (events + [curve]).joined(separator: ",\n") + "]}"
      ])
      try select("Transient at 0.02", in: page)
      let playedValuesExpression = "document.getElementById('played').textContent"
      let undoTitle = "document.getElementById('undo').title"
      let initialValues = try page.string(playedValuesExpression)
      for _ in 0..<40 {
        try page.press("ArrowRight")
      }
      try page.wait(for: "\(undoTitle).startsWith('Undo: Move event')")
      func neighbors() throws -> [String?] {
        let selectedValues = try [page.string(playedValuesExpression), page.string(Self.cursor)]
        try page.press("p")
        let previous = try page.string(Self.cursor)
        try page.press("n")
        try page.press("n")
        let next = try page.string(Self.cursor)
        try page.press("p")
        return selectedValues + [previous, next]
      }
      let valuesAfterMove = try neighbors()
      #expect(valuesAfterMove[0] != initialValues)
      #expect(valuesAfterMove[1]?.hasPrefix("Transient at 0.42 seconds") == true)
      try page.press("z", control: true)
      try page.press("z", shift: true, control: true)
      #expect(try neighbors() == valuesAfterMove)
      #expect(page.errorMessages == [])
    }

    /// The plot data of five thousand events have more than 500,000 bytes.
    @Test("A key in five thousand events transfers one event from the module")
    func keyTransfersOneEvent() throws {
      let page = try open(
        [Self.longText],
        preparation: """
          const decode = TextDecoder.prototype.decode;
          TextDecoder.prototype.decode = function (bytes) {
            window.longest = Math.max(window.longest ?? 0, bytes?.byteLength ?? 0);
            return decode.call(this, bytes);
          };
          """)
      try select("Transient at 0.02", in: page)
      #expect((try page.number("window.longest") ?? 0) > 500_000)
      try page.evaluate("window.longest = 0")
      try page.press("ArrowRight")
      try page.wait(for: "document.getElementById('source-more').textContent === '1 line changed'")
      #expect((try page.number("window.longest") ?? .infinity) < 10_000)
      #expect(page.errorMessages == [])
    }

    /// The worker, the audio thread, and the stored draft use the same copy.
    @Test("A key in five thousand events copies the text from the module once")
    func keyCopiesTheTextOnce() throws {
      let page = try open(
        [Self.longText],
        preparation: """
          window.copies = 0;
          const slice = Uint8Array.prototype.slice;
          Uint8Array.prototype.slice = function (...values) {
            // The memory of the module does not begin with its output.
            if (this.byteOffset > 0 && this.length > 300_000) window.copies++;
            return slice.apply(this, values);
          };
          """)
      try page.click("#play")
      try page.wait(for: "document.querySelector('.dock').dataset.heard !== undefined")
      try page.click("#play")
      try select("Transient at 0.02", in: page)
      let draftCountExpression = "Number(document.body.dataset.drafts ?? 0)"
      let initialDraftCount = try page.number(draftCountExpression) ?? 0
      try page.evaluate("window.copies = 0")
      try page.press("ArrowRight")
      try page.wait(for: "\(draftCountExpression) > \(initialDraftCount)")
      try page.wait(for: Self.isReady)
      #expect(try page.number("window.copies") == 1)
      #expect(page.errorMessages == [])
    }

    @Test("A file that is opened while a spectrogram is computed causes no error")
    func openingDuringASpectrogramCausesNoError() throws {
      let page = try open([Self.longText])
      try page.evaluate("document.querySelector('[data-view=spectrogram]').click()")
      try page.evaluate(Self.drop("next.ahap", Self.short))
      try page.wait(for: "document.title.startsWith('next')")
      try page.wait(for: Self.isReady)
      #expect(page.errorMessages == [])
    }

    @Test("The page opens with the profile of the command")
    func pageOpensWithTheProfile() throws {
      let profile = "document.getElementById('profile').selectedOptions[0].textContent"
      for (name, title) in [("phone", "Phone"), (nil, "Small speakers")] {
        let html = try StudioPage(generator: "Temblor test", initialProfileName: name).html([])
        let page = try BrowserPage(html)
        try page.wait(for: Self.isReady)
        #expect(try page.string(profile) == title)
      }
    }

    @Test("The studio is accessible")
    func studioIsAccessible() throws {
      for isDark in [false, true] {
        let page = try BrowserPage(Self.html([Self.text, Self.short]), isDark: isDark)
        try page.wait(for: Self.isReady)
        try select("Continuous", in: page)
        #expect(try page.string(AccessibilityTests.nameErrors) == "")
        #expect(try page.string(AccessibilityTests.contrastErrors) == "", "dark: \(isDark)")
        try page.press("?")
        #expect(try page.string(AccessibilityTests.contrastErrors) == "", "dark: \(isDark), keys")
      }
    }

    @Test("No control is clipped or covered at any width")
    func nothingIsClippedAtAnyWidth() throws {
      let page = try open(width: 360)
      try select("Continuous", in: page)
      for width in [
        320, 360, 390, 414, 480, 600, 720, 721, 768, 810, 811, 820, 900, 1_080, 1_081, 1_280, 1_600,
      ] {
        try page.resize(width: width, height: 800)
        try page.evaluate(
          "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        #expect(try page.string(PageWidthTests.layoutErrors) == "", "\(width) pixels")
        if width < 600 {
          let dockHeight = try page.number("document.querySelector('.dock').offsetHeight") ?? 999
          #expect(dockHeight < 145, "\(width) pixels: \(dockHeight)")
        }
      }
    }
  }
}
