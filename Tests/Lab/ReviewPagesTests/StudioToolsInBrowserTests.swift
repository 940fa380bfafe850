import ShippedFiles
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The studio's tools for designers: the list of patterns, the reference, the meter, arrangement
  /// in time, the grid, and vibration.
  @Suite struct StudioToolsInBrowserTests {
    private typealias Studio = StudioInBrowserTests

    private static let title = "document.getElementById('title').textContent"
    private static let events = """
      JSON.parse(document.getElementById("source").value).Pattern.map((each) => each.Event ?? {})
      """

    /// A script that simulates a phone with a motor, and records its vibrations.
    private static let phone = """
      window.vibrations = [];
      Object.defineProperty(navigator, "maxTouchPoints", { value: 5 });
      navigator.vibrate = (durations) => { vibrations.push([durations].flat()); return true; };
      """

    /// A script that drops a sound file: half a second of silence, and a tone up to 2 s.
    private static let dropsSound = """
      (() => {
        const [rate, frames] = [8000, 16000];
        const wav = new DataView(new ArrayBuffer(44 + 2 * frames));
        const text = (offset, letters) =>
          [...letters].forEach((each, index) => wav.setUint8(offset + index, each.charCodeAt(0)));
        text(0, "RIFF    WAVEfmt ");
        text(36, "data");
        for (const [offset, value] of [
          [4, 36 + 2 * frames], [16, 16], [24, rate], [28, 2 * rate], [40, 2 * frames],
        ]) wav.setUint32(offset, value, true);
        for (const [offset, value] of [[20, 1], [22, 1], [32, 2], [34, 16]]) {
          wav.setUint16(offset, value, true);
        }
        for (let frame = 4000; frame < frames; frame++) {
          wav.setInt16(44 + 2 * frame, 12000 * Math.sin(2 * Math.PI * 150 * frame / rate), true);
        }
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([wav], "boom.wav", { type: "audio/wav" }));
        dispatchEvent(new DragEvent("drop", { dataTransfer, clientX: 9 }));
      })()
      """

    @Test("The list has every shipped pattern with its picture, and opens its bytes")
    func listHasShippedPatterns() throws {
      let page = try Studio.open()
      try page.click("#patterns")
      let listedNames =
        "[...document.querySelectorAll('#library b')].map((each) => each.textContent)"
      let shipped = ShippedPatterns.names.map { $0 + ".ahap" }.sorted()
      #expect(try page.string("\(listedNames).sort().join()") == shipped.joined(separator: ","))
      try page.evaluate("document.querySelector('#library .facts').scrollIntoView()")
      try page.wait(for: "document.querySelector('#library .facts').textContent.includes('·')")
      let isPictureDrawn = """
        (() => {
          const canvas = document.querySelector("#library canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.some((value) => value !== 0);
        })()
        """
      #expect(try page.bool(isPictureDrawn))
      for name in ["heartbeat", "success"] {
        let text = String(decoding: try #require(ShippedPatterns.text(named: name)), as: UTF8.self)
        try page.evaluate(
          """
          (() => {
            document.getElementById("patterns").click();
            const filter = document.getElementById("library-filter");
            filter.value = "\(name.uppercased()).ahap";
            filter.dispatchEvent(new Event("input"));
          })()
          """)
        #expect(try page.string("\(listedNames).join()")?.contains(name + ".ahap") == true)
        try page.evaluate("document.querySelector('#library .pattern').click()")
        try page.wait(for: "\(Self.title) === '\(name)'")
        try page.wait(for: Studio.isReady)
        #expect(try page.string(Studio.source) == text)
      }
      try page.evaluate("document.getElementById('patterns').click()")
      try page.evaluate("document.querySelector('#library .as-b').click()")
      try page.wait(for: "!document.querySelector('#slot-1').classList.contains('empty')")
      #expect(page.errorMessages == [])
    }

    @Test("A dropped folder is listed with its subfolders and its unreadable files")
    func droppedFolderIsListed() throws {
      let page = try Studio.open()
      try page.evaluate(
        """
        (() => {
          const file = (name, text) => ({ isFile: true, isDirectory: false, name,
            file: (done) => done(new File([text], name)) });
          const folder = (name, entries) => ({ isFile: false, isDirectory: true, name,
            createReader() {
              const portions = [entries.slice(0, 1), entries.slice(1), []];
              return { readEntries: (done) => done(portions.shift()) };
            } });
          const entry = folder("taps", [file("two.ahap", `\(Studio.short)`),
            file("notes.txt", "x"), folder("old", [file("one.ahap", "{")])]);
          const event = new DragEvent("drop", { clientX: 9 });
          Object.defineProperty(event, "dataTransfer",
            { value: { files: [], items: [{ webkitGetAsEntry: () => entry }] } });
          dispatchEvent(event);
        })()
        """)
      let rows = """
        [...document.querySelectorAll("#library li")].map((row) => row.innerText.split("\\n")[0])
        """
      try page.wait(for: "document.getElementById('library-dialog').open")
      #expect(
        try page.string("\(rows).map((each) => each.trim()).join()")
          == "one.ahap taps/old,two.ahap taps")
      try page.wait(for: "document.querySelectorAll('#library .facts')[1].textContent !== ''")
      let facts =
        "[...document.querySelectorAll('#library .facts')].map((each) => each.textContent)"
      #expect(try page.string("\(facts)[0]")?.hasPrefix("line 1: ") == true)
      #expect(try page.string("\(facts)[1]") == "0 ms · 1 transient")
      try page.evaluate("document.querySelectorAll('#library .pattern')[1].click()")
      try page.wait(for: "\(Self.title) === 'two'")
      #expect(page.errorMessages == [])
    }

    /// A RichTap file with a transient at the left and a later one at the right.
    private static let duet = """
      {"Metadata": {"Version": 2, "Created": "2020-01-01", "Description": "Duet"}, "PatternList": [
        {"AbsoluteTime": 0, "Pattern": [
          {"Event": {"Type": "transient", "RelativeTime": 0, "Duration": 20, "Index": 1,
            "Parameters": {"Frequency": 50, "Intensity": 80}}},
          {"Event": {"Type": "transient", "RelativeTime": 200, "Duration": 20, "Index": 2,
            "Parameters": {"Frequency": 90, "Intensity": 60}}}]}]}
      """

    @Test(
      "A file with body locations opens as a list of its locations, and their mixture is marked")
    func locationsAreListed() throws {
      let page = try Studio.open()
      try page.evaluate(Studio.drop("duet.he", Self.duet))
      try page.wait(for: "document.getElementById('library-dialog').open")
      let rows = """
        [...document.querySelectorAll("#library .pattern")].map((row) =>
          row.querySelector("b").textContent + ", " + row.querySelector(".folder").textContent)
        """
      #expect(
        try page.string("\(rows).join('; ')")
          == "duet.he, 2 body locations, mixed; duet left.ahap, body location; "
          + "duet right.ahap, body location")
      #expect(try page.string("document.getElementById('library-title').textContent") == "duet.he")
      #expect(try page.string(Self.title) == "first", "nothing is replaced yet")

      try page.evaluate("document.querySelectorAll('#library .pattern')[2].click()")
      try page.wait(for: "\(Self.title) === 'duet right'")
      try page.wait(for: Studio.isReady)
      #expect(try page.string("\(Self.events).map((each) => each.Time).join()") == "0.2")
      #expect(try page.bool("document.getElementById('undo').disabled"))

      try page.evaluate("document.getElementById('patterns').click()")
      try page.evaluate("document.querySelector('#library .pattern').click()")
      try page.wait(for: "\(Self.title) === 'duet'")
      try page.wait(for: Studio.isReady)
      #expect(try page.string("\(Self.events).map((each) => each.Time).join()") == "0,0.2")
      #expect(
        try page.string("document.getElementById('facts').textContent")
          == "200 ms · 2 transients · 2 body locations, mixed")
      #expect(page.errorMessages == [])
    }

    /// Returns a page whose file picker returns the file with body locations, with a handle that
    /// records the written bytes as `written`.
    private static func openWithPicker() throws -> BrowserPage {
      try Studio.open(
        preparation: """
          window.showOpenFilePicker = async () => [{
            name: "duet.he",
            getFile: async () => new File([window.written ?? `\(duet)`], "duet.he"),
            createWritable: async () => ({
              write: async (bytes) => { window.written = bytes; }, close: async () => {},
            }),
          }];
          """)
    }

    @Test("A list that was opened for B opens later patterns in the current slot")
    func listForgetsItsSlot() throws {
      let page = try Self.openWithPicker()
      try page.evaluate("document.getElementById('slot-1').click()")
      try page.wait(for: "document.getElementById('library-dialog').open")
      try page.evaluate("document.querySelectorAll('#library .pattern')[1].click()")
      let names = "[...document.querySelectorAll('.slot .nm')].map((each) => each.textContent)"
      try page.wait(for: "\(names).join() === 'first,duet left'")
      try page.evaluate("document.getElementById('slot-0').click()")
      try page.evaluate("document.getElementById('patterns').click()")
      try page.evaluate("document.querySelectorAll('#library .pattern')[2].click()")
      try page.wait(for: "\(Self.title) === 'duet right'")
      #expect(try page.string("\(names).join()") == "duet right,duet left")
      #expect(page.errorMessages == [])
    }

    @Test("A chosen file with several patterns is saved to its file, also from the list")
    func listedFilesAreSavedToTheirFile() throws {
      let page = try Self.openWithPicker()
      try page.evaluate("document.getElementById('open').click()")
      try page.wait(for: "document.getElementById('library-dialog').open")
      for (row, title) in [(0, "duet"), (1, "duet left"), (0, "duet")] {
        try page.evaluate("document.getElementById('patterns').click()")
        try page.evaluate("document.querySelectorAll('#library .pattern')[\(row)].click()")
        try page.wait(for: "\(Self.title) === '\(title)'")
        try page.wait(for: Studio.isReady)
      }
      // A part can have losses, which are listed in a dialog.
      try page.evaluate(
        "for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close()")
      try page.evaluate("document.getElementById('save').click()")
      try page.wait(for: "window.written || window.saved['duet.he']")
      #expect(try page.string("new TextDecoder().decode(window.written)") == Self.duet)
      #expect(page.errorMessages == [])
    }

    /// The worker checks a long pattern a second after its change.
    @Test("A pattern that is being checked does not follow every rule yet")
    func pendingChecksAreNoResults() throws {
      let taps = (0..<600).map { index in
        """
        {"Event": {"Time": \(Double(index) / 5), "EventType": "HapticTransient",
          "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 0.8}]}}
        """
      }
      let page = try Studio.open()
      let text = "{\"Version\": 1.0, \"Pattern\": [\(taps.joined(separator: ","))]}"
      let heading = "document.getElementById('findings-more').textContent"
      let list = "document.getElementById('findings').textContent"
      // Record the list at the first change of the heading, which is the start of the check.
      try page.evaluate(
        """
        new MutationObserver(() => {
          if (\(heading) === "checking …") window.listed ??= \(list);
        }).observe(document.getElementById("findings-more"), { childList: true });
        """)
      try page.evaluate(Studio.drop("taps.ahap", text))
      try page.wait(for: "window.listed !== undefined")
      #expect(try page.string("window.listed") == "")
      try page.wait(for: "\(heading) !== 'checking …'")
      #expect(try page.string(list)?.contains("transient-count") == true)
      #expect(page.errorMessages == [])
    }

    /// The worker checks the text of a long pattern, and receives only the converted text.
    @Test("Curves that the conversion of a long file made cause no findings")
    func convertedCurvesAreNoFindings() throws {
      let curve = """
        [{"Time": 0, "Frequency": 0, "Intensity": 0}, {"Time": 100, "Frequency": 9, "Intensity": 1},
        {"Time": 300, "Frequency": 0, "Intensity": 0.5}, {"Time": 400, "Frequency": 0,
        "Intensity": 0}]
        """
      let events = (0..<80).map { index in
        """
        {"Event": {"Type": "continuous", "RelativeTime": \(200 * index), "Duration": 400,
          "Parameters": {"Frequency": 50, "Intensity": 80, "Curve": \(curve)}}}
        """
      }
      let page = try Studio.open()
      let text = """
        {"Metadata": {"Version": 1, "Created": "2020-01-01", "Description": ""},
          "Pattern": [\(events.joined(separator: ", "))]}
        """
      try page.evaluate(Studio.drop("curves.he", text))
      try page.wait(for: "\(Self.title) === 'curves'")
      try page.wait(for: Studio.isReady)
      let findings = "document.getElementById('findings-more').textContent"
      try page.wait(for: "\(findings) !== 'checking …'")
      let list = try page.string("document.getElementById('findings').innerText") ?? ""
      #expect(!list.contains("curve-overlap"), "\(list)")
      #expect(page.errorMessages == [])
    }

    @Test("A reference is a lane of the time axis, and plays with the pattern")
    func referenceIsALane() throws {
      let page = try Studio.open(
        preparation: """
          window.sources = [];
          const start = AudioBufferSourceNode.prototype.start;
          AudioBufferSourceNode.prototype.start = function (...values) {
            window.sources.push({ node: this, values });
            start.apply(this, values);
          };
          """)
      let initialHeight = try page.number("document.getElementById('stage').offsetHeight") ?? 0
      try page.evaluate(Self.dropsSound)
      try page.wait(for: "document.getElementById('sound-dialog').open")
      try page.click("[data-choice=reference]")
      #expect(
        (try page.number("document.getElementById('stage').offsetHeight") ?? 0) > initialHeight)
      #expect(try page.string("document.getElementById('duration').textContent") == "/ 2.000 s")
      #expect(try page.string(Studio.source) == Studio.text, "the pattern is unchanged")
      try page.click("#play")
      try page.wait(for: "window.sources.length > 0")
      let source = "window.sources.at(-1).node"
      #expect(try page.number("\(source).loopEnd") == 2)
      // The tone begins at 0.5 s of the sound.
      let onset =
        "\(source).buffer.getChannelData(0).findIndex((each) => Math.abs(each) > 0.01) / 48000"
      #expect(abs((try page.number(onset) ?? 0) - 0.5) < 0.01)
      try page.evaluate(
        """
        (() => {
          const field = document.getElementById("reference-start");
          field.value = "0.25";
          field.dispatchEvent(new Event("change"));
        })()
        """)
      try page.wait(for: "\(source).loopEnd === 2.25")
      #expect(abs((try page.number(onset) ?? 0) - 0.75) < 0.01)
      try page.click("#play")
      let sourceCount = try page.number("window.sources.length")
      try page.click("#reference-heard")
      try page.click("#play")
      try page.wait(
        for: "Number(document.getElementById('meter').getAttribute('aria-valuenow')) > -40")
      #expect(try page.number("window.sources.length") == sourceCount, "the reference is silent")
      try page.click("#reference-remove")
      #expect(try page.string("document.getElementById('duration').textContent") == "/ 0.700 s")
      #expect(page.errorMessages == [])
    }

    @Test("The meter shows the level, and the audio thread sleeps after a while")
    func meterShowsTheLevel() throws {
      let page = try Studio.open(
        preparation: """
          window.AudioContext = class extends AudioContext {
            constructor(...values) { super(...values); window.context = this; }
          };
          """)
      let level = "Number(document.getElementById('meter').getAttribute('aria-valuenow'))"
      #expect(try page.number(level) == -60)
      try page.click("#play")
      try page.wait(for: "\(level) > -20")
      #expect(try page.string("window.context.state") == "running")
      try page.click("#play")
      #expect(try page.number(level) == -60)
      try page.wait(for: "window.context.state === 'suspended'")
      try page.click("#play")
      try page.wait(for: "window.context.state === 'running' && \(level) > -20")
      #expect(page.errorMessages == [])
    }

    @Test("A browser without an audio thread is reported")
    func missingAudioThreadIsReported() throws {
      let page = try Studio.open(preparation: "delete BaseAudioContext.prototype.audioWorklet;")
      try page.click("#play")
      let note = "document.getElementById('note').textContent"
      try page.wait(for: "\(note).startsWith('This browser cannot play the pattern: ')")
      #expect(try page.bool("!document.body.classList.contains('playing')"))
      #expect(page.errorMessages == [])
    }

    /// A page of `--address` has no audio thread, because its address is not secure.
    @Test("A phone vibrates without an audio thread")
    func phoneVibratesWithoutSound() throws {
      let page = try Studio.open(
        preparation: Self.phone + "delete BaseAudioContext.prototype.audioWorklet;")
      try page.click("#feel")
      try page.click("#play")
      try page.wait(for: "window.vibrations.length > 0")
      #expect(try page.string("window.vibrations[0].slice(0, 4).join()") == "0,100,20,280")
      let clock = "Number(document.getElementById('clock').textContent)"
      try page.wait(for: "\(clock) > 0.3")
      try page.wait(for: "\(clock) < 0.3")
      try page.click("#loop")
      try page.wait(for: "!document.body.classList.contains('playing')")
      #expect(try page.number(clock) == 0)
      #expect(page.errorMessages == [])
    }

    @Test("The selection is aligned and scaled in time")
    func selectionIsArranged() throws {
      let page = try Studio.open()
      try page.press("a", control: true)
      try page.evaluate(
        """
        (() => {
          const field = document.getElementById("time-scale");
          field.value = "200";
          field.dispatchEvent(new Event("change"));
        })()
        """)
      let undoTitle = "document.getElementById('undo').title"
      try page.wait(for: "\(undoTitle) === 'Undo: Scale 4 parts (Ctrl Z)'")
      try page.wait(for: Studio.isReady)
      #expect(try page.string("\(Self.events).map((each) => each.Time).join()") == "0.2,0.8,")
      #expect(try page.number("\(Self.events)[1].EventDuration") == 0.6)
      let curve = "JSON.parse(\(Studio.source)).Pattern[2].ParameterCurve"
      #expect(try page.number("\(curve).ParameterCurveControlPoints[1].Time") == 1.4)
      try page.press("z", control: true)
      try page.wait(for: "\(Studio.source) === `\(Studio.text)`")

      // At the play head, every part moves by the same time.
      try page.press("a", control: true)
      try page.press("End")
      try page.click("#align-head")
      try page.wait(for: "\(undoTitle) === 'Undo: Align 4 parts (Ctrl Z)'")
      try page.wait(for: Studio.isReady)
      #expect(try page.string("\(Self.events).map((each) => each.Time).join()") == "0.8,1.1,")
      #expect(try page.number("\(curve).Time") == 0.7)
      try page.press("z", control: true)

      try page.evaluate(
        """
        (() => {
          const snap = document.getElementById("snap");
          snap.value = "1/4";
          snap.dispatchEvent(new Event("change"));
        })()
        """)
      try page.press("a", control: true)
      try page.click("#align-grid")
      try page.wait(for: "\(undoTitle) === 'Undo: Align 4 parts (Ctrl Z)'")
      try page.wait(for: Studio.isReady)
      #expect(try page.string("\(Self.events).map((each) => each.Time).join()") == "0,0.5,")
      #expect(page.errorMessages == [])
    }

    @Test("A phone vibrates with the sound, at its position and in its loop")
    func phoneVibrates() throws {
      let page = try Studio.open(preparation: Self.phone)
      try page.click("#feel")
      #expect(try page.string("JSON.stringify(window.vibrations)") == "[]")
      try page.click("#play")
      try page.wait(for: "window.vibrations.length > 0")
      // The transient at 0.1 s, and the continuous event from 0.4 to 0.7 s, every 0.7 s.
      let firstDurations = try page.string("window.vibrations[0].slice(0, 4).join()")
      #expect(firstDurations == "0,100,20,280")
      let totalDuration = "window.vibrations[0].reduce((sum, each) => sum + each, 0)"
      #expect((try page.number(totalDuration) ?? 0) > 2_500)
      try page.evaluate(
        """
        (() => {
          const slider = document.getElementById("live-intensity");
          slider.value = "0";
          slider.dispatchEvent(new Event("input"));
        })()
        """)
      try page.wait(for: "window.vibrations.at(-1).join() === '0'")
      try page.click("#play")
      try page.wait(for: "!document.body.classList.contains('playing')")
      #expect(try page.string("window.vibrations.at(-1).join()") == "0")
      #expect(page.errorMessages == [])
    }

    @Test("A gamepad rumbles after it is connected")
    func gamepadRumbles() throws {
      let page = try Studio.open(
        preparation: """
          window.effects = [];
          window.pad = { vibrationActuator: {
            playEffect: async (kind, effect) => { effects.push({ kind, ...effect }); }, reset() {},
          } };
          """)
      try page.click("#feel")
      #expect(
        try page.bool(
          "document.getElementById('note').textContent.startsWith('No motor was found')"))
      try page.click("#play")
      try page.evaluate(
        """
        navigator.getGamepads = () => [null, window.pad];
        dispatchEvent(new Event("gamepadconnected"));
        """)
      try page.wait(
        for: "window.effects.some((each) => each.strongMagnitude + each.weakMagnitude > 0.3)")
      try page.click("#play")
      #expect(page.errorMessages == [])
    }

    @Test("The tools are accessible, and fit at every width")
    func toolsAreAccessible() throws {
      let page = try Studio.open(preparation: Self.phone)
      try page.evaluate(Self.dropsSound)
      try page.wait(for: "document.getElementById('sound-dialog').open")
      try page.click("[data-choice=reference]")
      try page.press("a", control: true)
      for width in [320, 360, 390, 480, 720, 811, 1_080, 1_280, 1_600] {
        try page.resize(width: width, height: 800)
        try page.evaluate(
          "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        #expect(try page.string(PageWidthTests.layoutErrors) == "", "\(width) pixels")
      }
      #expect(try page.string(AccessibilityTests.nameErrors) == "")
      #expect(try page.string(AccessibilityTests.contrastErrors) == "")
      try page.evaluate("document.getElementById('patterns').click()")
      #expect(try page.string(AccessibilityTests.nameErrors) == "")
      #expect(try page.string(AccessibilityTests.contrastErrors) == "", "list")
      #expect(page.errorMessages == [])
    }
  }
}
