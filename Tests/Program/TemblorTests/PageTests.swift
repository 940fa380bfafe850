import TestSupport
import Testing

/// The verbs that write pages: `gallery`, and `compare` with an output.
@Suite struct PageTests {
  let folder = WorkingFolder()

  private func size(_ name: String) -> Int { (folder.bytes(name) ?? []).count / 1_000 }

  @Test func galleryContainsValidPatternsAndOthersAreReported() throws {
    try folder.write(Patterns.tap(at: 0.25), to: "set/a.ahap")
    try folder.write(Patterns.brokenText, to: "set/b.ahap")
    #expect(
      try folder.temblor("gallery", "set", "nothing", "-o", "page.html")
        == .init(
          1,
          error: """
            nothing: \(ExpectedMessage.unknownPattern)
            set/b.ahap:2:1: error: \(ExpectedMessage.unclosedObject)
            page.html: 1 pattern, \(size("page.html")) kB; open it in a browser

            """))
    let page = folder.text("page.html") ?? ""
    #expect(page.contains("<h2>a</h2>"))
    #expect(!page.contains("<h2>b</h2>"))
  }

  @Test func emptyGalleryIsNotWritten() throws {
    try folder.write(Patterns.brokenText, to: "b.ahap")
    #expect(
      try folder.temblor("gallery", "b.ahap")
        == .init(
          2, error: "b.ahap:2:1: error: \(ExpectedMessage.unclosedObject)\n"))
    #expect(folder.fileNames() == ["b.ahap"])
  }

  @Test func galleryOnStandardOutputEqualsTheFile() throws {
    let firstRun = try folder.temblor("gallery", "light", "medium", "-o", "-", "--title", "<Two>")
    #expect(firstRun.status == 0 && firstRun.error == "")
    #expect(firstRun.output.contains("<h1>&lt;Two&gt;</h1>"))
    #expect(try folder.temblor("gallery", "light", "medium", "--title", "<Two>", "-q") == .init(0))
    #expect(folder.text("gallery.html") == firstRun.output)
    #expect(folder.fileNames() == ["gallery.html"])
  }

  @Test func comparisonCanBeWrittenAsAPage() throws {
    try folder.write(Patterns.tap(at: 0.25), to: "a.ahap")
    try folder.write(Patterns.tap(at: 0.26), to: "b.ahap")
    let textRun = try folder.temblor("compare", "a.ahap", "b.ahap", "--tolerance", "0")
    let pageRun = try folder.temblor(
      "compare", "a.ahap", "b.ahap", "--tolerance", "0", "-o", "report.html")
    #expect(textRun.output == pageRun.output && textRun.status == 3 && pageRun.status == 3)
    #expect(
      pageRun.error == "report.html: written, \(size("report.html")) kB; open it in a browser\n")
    let page = folder.text("report.html") ?? ""
    #expect(page.hasPrefix("<!doctype html>"))
    #expect(page.contains("<span class=\"tag k0\">A</span> a</b>"))
    #expect(page.contains("<b>Transient 10 ms later</b><span>onset 0.25 → 0.26 s</span>"))
    #expect(
      try folder.temblor("compare", "a.ahap", "b.ahap", "-o", "missing/report.html").status == 64)
    #expect(try folder.temblor("compare", "a.ahap", "b.ahap", "-o", "-").status == 64)
    #expect(folder.fileNames() == ["a.ahap", "b.ahap", "report.html"])
  }

  @Test func aBrowserOpensThePageIfThereIsOne() throws {
    try folder.write("#!/bin/sh\necho \"$1\" > opened\n", to: "bin/xdg-open")
    let galleryRun = try folder.bash(
      "chmod +x bin/xdg-open; PATH=$PWD/bin:$PATH $TEMBLOR gallery light -o a.html --open")
    #expect(galleryRun == .init(0, error: "a.html: 1 pattern, \(size("a.html")) kB\n"))
    #expect(folder.text("opened") == "a.html\n")
    #expect(
      try folder.bash("PATH=$PWD $TEMBLOR compare light medium -o b.html --open --json > /dev/null")
        == .init(
          1,
          error: """
            b.html: written, \(size("b.html")) kB
            temblor: b.html: was written, but not opened: xdg-open (package xdg-utils) not found; \
            open it in a browser

            """))
    try folder.write("#!/bin/sh\nexit 3\n", to: "bin/xdg-open")
    #expect(
      try folder.bash("PATH=$PWD/bin:$PATH $TEMBLOR gallery light -q -o a.html --open").error
        == """
        a.html: was written, but not opened: xdg-open failed with status 3; open it in a browser

        """
    )
    #expect(
      try folder.temblor("compare", "light", "medium", "--open").error.hasPrefix(
        "temblor: '--open' requires '--output'\n"))
    #expect(
      try folder.temblor("gallery", "light", "-o", "-", "--open").error.hasPrefix(
        "temblor: '--open' requires a file, not '--output -'\n"))
  }

  @Test func soundsAreComparedOnAPage() throws {
    try folder.write(Patterns.tap(at: 0.25), to: "a.ahap")
    #expect(try folder.temblor("render", "a.ahap").status == 0)
    #expect(try folder.temblor("compare", "a.ahap", "a.wav", "-o", "report.html").status == 0)
    let page = folder.text("report.html") ?? ""
    #expect(
      page.contains("\"track\":{") && page.contains("<span class=\"tag k1\">B</span> a.wav</b>"))
    #expect(page.contains("id=\"sound-1-0\"") && !page.contains("id=\"sound-0-1\""))
  }
}
