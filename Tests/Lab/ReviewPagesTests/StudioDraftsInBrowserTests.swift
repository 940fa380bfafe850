import Testing

@testable import ReviewPages

extension InBrowser {
  /// Drafts of unsaved work in the studio. A draft remains after its page closes, keeps the name of
  /// its file, and is not replaced.
  @Suite struct StudioDraftsInBrowserTests {
    private typealias Studio = StudioInBrowserTests

    /// A script that lets the page close without a prompt.
    private static let suppressesUnloadPrompt = """
      addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
      """
    private static let title = "document.getElementById('title').textContent"
    private static let offeredNames = """
      [...document.querySelectorAll("#restore-list b")].map((each) => each.textContent).join()
      """
    private static let draftCount = "Number(document.body.dataset.drafts ?? 0)"

    private func open(
      _ texts: [String] = [Studio.text], sharingStorageWith storageOwner: BrowserPage? = nil
    )
      throws -> BrowserPage
    {
      try Studio.open(
        texts, preparation: Self.suppressesUnloadPrompt, sharingStorageWith: storageOwner)
    }

    /// Replaces a part of the source by typing, and waits until the change is stored.
    private func type(_ old: String, _ new: String, in page: BrowserPage) throws {
      let count = try page.number(Self.draftCount) ?? 0
      try typeQuickly(old, new, in: page)
      try page.wait(for: "\(Self.draftCount) > \(count)")
      try page.wait(for: Studio.isReady)
    }

    private func drop(_ name: String, _ text: String = Studio.short, on page: BrowserPage) throws {
      try page.evaluate(Studio.drop(name, text))
      try page.wait(for: "\(Self.title) === `\(name)`.replace('.ahap', '')")
      try page.wait(for: Studio.isReady)
    }

    private static let areOffersShown = "document.body.dataset.offers === 'shown'"

    private func reload(_ page: BrowserPage) throws {
      try page.reload()
      try page.wait(for: "\(Studio.isReady) && \(Self.areOffersShown)")
    }

    /// Waits until a page offers drafts. It offers its own when its predecessor has closed.
    private func wait(forOffers names: String, in page: BrowserPage) throws {
      try page.wait(for: "\(Self.offeredNames) === '\(names)'")
    }

    /// Types without waiting until the change is stored.
    private func typeQuickly(_ old: String, _ new: String, in page: BrowserPage) throws {
      try page.evaluate(
        """
        (() => {
          const field = document.getElementById("source");
          field.value = field.value.replace(`\(old)`, `\(new)`);
          field.dispatchEvent(new Event("input"));
        })()
        """)
    }

    @Test("Two pages of one file keep both changes")
    func twoPagesKeepBothChanges() throws {
      let first = try open()
      try type("0.80", "0.11", in: first)
      let second = try open(sharingStorageWith: first)
      #expect(try second.string(Self.offeredNames) == "", "the first page is still open")
      try type("0.80", "0.22", in: second)
      try reload(first)
      try wait(forOffers: "first.ahap", in: first)
      try first.evaluate("document.querySelector('#restore-list .btn').click()")
      try first.wait(for: "\(Studio.source).includes('0.11')")
      #expect(try first.bool("document.getElementById('restore').hidden"))
      try reload(second)
      try wait(forOffers: "first.ahap", in: second)
      try second.evaluate("document.querySelector('#restore-list .btn').click()")
      try second.wait(for: "\(Studio.source).includes('0.22')")
      #expect(first.errorMessages == [] && second.errorMessages == [])
    }

    @Test("Changes while a draft is offered do not replace the draft")
    func changesDoNotReplaceAnOfferedDraft() throws {
      let page = try open()
      try type("0.80", "0.11", in: page)
      try reload(page)
      try type("0.80", "0.33", in: page)
      try reload(page)
      try wait(forOffers: "first.ahap,first.ahap", in: page)
      try page.evaluate("document.querySelector('#restore-list .btn.quiet').click()")
      try wait(forOffers: "first.ahap", in: page)
      try reload(page)
      try wait(forOffers: "first.ahap", in: page)
      try page.evaluate("document.querySelector('#restore-list .btn').click()")
      try page.wait(for: "\(Studio.source).includes('0.11')")
    }

    @Test("A restored file keeps its name and its original text")
    func restoredFileHasItsOwnName() throws {
      let page = try open()
      try drop("mine.ahap", on: page)
      try type("\"Time\": 0", "\"Time\": 0.75", in: page)
      try reload(page)
      #expect(try page.string(Self.title) == "first")
      try page.evaluate("document.querySelector('#restore-list .btn').click()")
      try page.wait(for: "\(Self.title) === 'mine'")
      try page.wait(for: "document.getElementById('source-more').textContent === '1 line changed'")
      let slots = "[...document.querySelectorAll('.slot .nm')].map((e) => e.textContent).join()"
      #expect(try page.string(slots) == "first,mine")
      try page.evaluate("document.getElementById('save').click()")
      try page.wait(for: "window.saved['mine.ahap'] !== undefined")
      try page.press("z", control: true)
      try page.wait(for: "\(Studio.source) === `\(Studio.short)`")
      #expect(page.errorMessages == [])
    }

    @Test("A saved file is not offered")
    func savedFileIsNotOffered() throws {
      let page = try open()
      try type("0.80", "0.11", in: page)
      let count = try page.number(Self.draftCount) ?? 0
      try page.click("#save")
      try page.wait(for: "\(Self.draftCount) > \(count)")
      try reload(page)
      #expect(try page.string(Self.offeredNames) == "")
    }

    @Test("Text that is typed just before the page closes is kept")
    func lastKeystrokesAreKept() throws {
      let page = try open()
      try typeQuickly("0.80", "0.44", in: page)
      try reload(page)
      try wait(forOffers: "first.ahap", in: page)
    }

    /// A busy computer may not execute the last transaction before the page closes.
    @Test("Text is kept if the database does not answer before the page closes")
    func textIsKeptWithoutTheDatabase() throws {
      let page = try open()
      try type("0.80", "0.33", in: page)
      try page.evaluate(
        """
        IDBObjectStore.prototype.put = function () {
          this.transaction.abort();
          throw new DOMException("The page closes.", "AbortError");
        };
        """)
      try typeQuickly("0.33", "0.44", in: page)
      try reload(page)
      try wait(forOffers: "first.ahap", in: page)
      try page.evaluate("document.querySelector('#restore-list .btn').click()")
      try page.wait(for: "\(Studio.source).includes('0.44')")
      // The database has the text now, and the local storage is empty.
      try page.wait(for: "\(Self.draftCount) > 0 && localStorage.length === 0")
      try page.evaluate("document.getElementById('undo').click()")
      #expect(try page.string(Studio.source) == Studio.text)
      #expect(page.errorMessages == [])
    }

    /// A page that is loaded again starts before its predecessor has released its documents.
    @Test("Work of a page that closes after another one starts is offered")
    func workIsOfferedWhenItsPageCloses() throws {
      let first = try open()
      try type("0.80", "0.11", in: first)
      let second = try Studio.open(
        preparation: Self.suppressesUnloadPrompt
          + "AbortSignal.timeout = () => new AbortController().signal;",
        sharingStorageWith: first)
      try second.wait(for: Self.areOffersShown)
      #expect(try second.string(Self.offeredNames) == "")
      try first.evaluate("location.href = 'about:blank'")
      try wait(forOffers: "first.ahap", in: second)
      try second.evaluate("document.querySelector('#restore-list .btn').click()")
      try second.wait(for: "\(Studio.source).includes('0.11')")
    }

    @Test("A draft is restored in one page only")
    func draftIsRestoredOnce() throws {
      let first = try open()
      try type("0.80", "0.11", in: first)
      try reload(first)
      try wait(forOffers: "first.ahap", in: first)
      let second = try open(sharingStorageWith: first)
      try wait(forOffers: "first.ahap", in: second)
      try first.evaluate(
        """
        (async () => {
          const count = async () => (await navigator.locks.query()).held.length;
          const old = await count();
          document.querySelector("#restore-list .btn").click();
          while (await count() === old) { /* Each query waits for the browser. */ }
        })()
        """)
      try second.evaluate("document.querySelector('#restore-list .btn').click()")
      try second.wait(
        for: "document.getElementById('note').textContent.startsWith('first.ahap is open in')")
      #expect(try second.string(Studio.source) == Studio.text)
    }

    @Test(
      "A file that cannot be read does not replace the open file",
      arguments: ["x.txt", "x.ahap", "x.xml"])
    func unreadableFileIsNotOpened(_ name: String) throws {
      let page = try open()
      try page.evaluate(Studio.drop(name, "hello"))
      let note = "document.getElementById('note').textContent"
      try page.wait(for: "\(note).startsWith(`\(name) was not opened: `)")
      #expect(try page.string(Self.title) == "first")
      #expect(try page.string(Studio.source) == Studio.text)
      #expect(page.errorMessages == [])
    }

    @Test("Buttons of an unreadable text state the reason")
    func buttonsStateTheReason() throws {
      let page = try open()
      try type("\"Version\" :", "\"Version\" ", in: page)
      #expect(
        try page.string("document.getElementById('add-transient').getAttribute('aria-disabled')")
          == "true")
      let title = try page.string("document.getElementById('add-transient').title") ?? ""
      #expect(title.hasPrefix("The text cannot be read: line 2: "), "\(title)")
      try page.click("#add-transient")
      let note = try page.string("document.getElementById('note').textContent") ?? ""
      #expect(note.hasPrefix("first cannot be changed here: line 2: "), "\(note)")
    }

    @Test("Saving an unreadable text asks once")
    func savingUnreadableTextAsksOnce() throws {
      let page = try open()
      try page.evaluate(
        "window.questions = []; window.confirm = (text) => questions.push(text) > 1;")
      try type("\"Version\" :", "\"Version\" ", in: page)
      try page.click("#save")
      let question = try page.string("window.questions[0]") ?? ""
      #expect(question.hasPrefix("The text cannot be read: line 2: "), "\(question)")
      #expect(try page.string("Object.keys(window.saved).join()") == "")
      for _ in 0..<2 {
        try page.click("#save")
        try page.wait(for: "window.saved['first.ahap'] !== undefined")
      }
      #expect(try page.number("window.questions.length") == 2)
    }

    /// A clip of Meta Haptics Studio with an unusual layout.
    private static let clip = """
      {"version":{"major":1,"minor":0,"patch":0},  "metadata":{"editor":"x","source":"","project":"","tags":[],"description":""},
        "signals":{"continuous":{"envelopes":{"amplitude":[{"time":0.0,"amplitude":0.50},{"time":1.0,"amplitude":0.1}],
        "frequency":[{"time":0.0,"frequency":0.5},{"time":1.0,"frequency":0.5}]}}}}
      """

    @Test("A file of another format is saved in its own format, unchanged byte for byte")
    func otherFormatsAreSavedInTheirOwn() throws {
      let page = try open()
      try page.evaluate(Studio.drop("clip.haptic", Self.clip))
      try page.wait(for: "\(Self.title) === 'clip'")
      try page.wait(for: Studio.isReady)
      try page.evaluate("document.getElementById('opened-dialog').close()")
      try page.click("#save")
      try page.wait(for: "window.saved['clip.haptic'] !== undefined")
      #expect(try page.string("window.saved['clip.haptic'].text()") == Self.clip)
      try page.evaluate("delete window.saved['clip.haptic']; window.confirm = () => true;")
      try page.press("t")
      try page.wait(for: "!document.querySelector('#slot-0 .changed').hidden")
      try page.click("#save-as")
      #expect(try page.string("document.getElementById('format').value") == "haptic")
      try page.click("#save-now")
      try page.wait(for: "window.saved['clip.haptic'] !== undefined")
      #expect(try page.string("window.saved['clip.haptic'].text()") != Self.clip)
      #expect(try page.bool("document.querySelector('#slot-0 .changed').hidden"))
      #expect(
        try page.string("document.getElementById('note').textContent") == "Saved as clip.haptic.")
      #expect(page.errorMessages == [])
    }

    @Test("Typing keeps the line ends of the file")
    func typingKeepsLineEnds() throws {
      let page = try open()
      let text = Studio.short.replacing(", ", with: ",\\r\\n")
      try page.evaluate(Studio.drop("lines.ahap", text))
      try page.wait(for: "\(Self.title) === 'lines'")
      try type("\"Time\": 0", "\"Time\": 0.5", in: page)
      try page.click("#save")
      try page.wait(for: "window.saved['lines.ahap'] !== undefined")
      let saved = try page.string("window.saved['lines.ahap'].text()") ?? ""
      #expect(saved.contains("\r\n") && saved.contains("0.5"))
      #expect(!saved.replacing("\r\n", with: "").contains("\n"))
    }
  }
}
