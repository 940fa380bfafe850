import TestSupport
import Testing

@Suite struct CompareFoldersTests {
  let testFolder = WorkingFolder()

  private func tap(_ intensity: Double, at time: Double = 0) -> String {
    """
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": \(time), "EventType": "HapticTransient", "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": \(intensity)}]}}
    ]}

    """
  }

  /// Writes folders with an equal pair, a pair that differs by 12 dB, a pattern in a subfolder, a
  /// missing file, and a new file.
  private func writeFolders() throws {
    for folder in ["approved", "Patterns"] {
      try testFolder.write(tap(0.8), to: "\(folder)/equal.ahap")
      try testFolder.write(tap(0.6), to: "\(folder)/deep/tap.ahap")
    }
    try testFolder.write(tap(0.5), to: "approved/strong.ahap")
    try testFolder.write(tap(1), to: "Patterns/strong.ahap")
    try testFolder.write(tap(1), to: "approved/old.ahap")
    try testFolder.write(tap(1), to: "Patterns/fresh.ahap")
  }

  @Test("Two folders are compared file by file, in one table with one verdict")
  func foldersAreComparedByName() throws {
    try writeFolders()
    let run = try testFolder.temblor(
      "compare", "approved/", "Patterns", "--tolerance", "0.5dB,5ms,2%")
    #expect(
      run
        == .init(
          3,
          output: """
            A  approved/ (folder, profile phone)
            B  Patterns (folder, profile phone)

            deep/tap    identical
            equal       identical
            strong      exceeds    level +12 dB > 0.5 dB: transient at 0 s
            old.ahap    missing    only in approved/
            fresh.ahap  new        only in Patterns

            B exceeds the tolerance of 0.5 dB, 5 ms and 2 %: 1 of 3 pairs beyond the tolerance, \
            1 file missing, 1 new file

            """))
  }

  @Test("Only a tolerance that is exceeded, a missing file, or a new file changes the exit status")
  func statusFollowsTheTolerance() throws {
    try writeFolders()
    #expect(try testFolder.temblor("compare", "approved", "Patterns").status == 0)
    #expect(
      try testFolder.temblor("compare", "--tolerance", "20dB", "approved", "Patterns").status == 3)
    _ = try testFolder.bash("rm approved/old.ahap")
    #expect(
      try testFolder.temblor("compare", "--tolerance", "20dB", "approved", "Patterns").status == 3)
    _ = try testFolder.bash("rm Patterns/fresh.ahap")
    let run = try testFolder.temblor("compare", "--tolerance", "20dB", "approved", "Patterns")
    #expect(run.status == 0)
    #expect(
      run.output.hasSuffix(
        "\nB is within the tolerance of 20 dB, 0 ms (default) and 0 % (default): 3 pairs\n"))
    #expect(
      try testFolder.temblor("compare", "--tolerance", "1dB", "approved", "Patterns").status == 3)
  }

  @Test("A pattern is paired with a recording or a conversion of the same name")
  func extensionsDoNotMatter() throws {
    try testFolder.write(tap(0.8), to: "approved/tap.ahap")
    try testFolder.write(tap(0.8), to: "approved/other.ahap")
    try testFolder.makeFolder("out")
    #expect(
      try testFolder.temblor("render", "approved/tap.ahap", "-o", "out/tap.wav", "-q").status == 0)
    #expect(
      try testFolder.temblor("convert", "approved/other.ahap", "-o", "out/other.haptic").status == 0
    )
    let run = try testFolder.temblor("compare", "--tolerance", "0.5dB,1ms,1%", "approved", "out")
    #expect(run.status == 0, "\(run.output)\(run.error)")
    #expect(run.output.contains("\ntap    identical"), "\(run.output)")
    #expect(run.output.contains(": 2 pairs\n"))
  }

  @Test("A file that cannot be read is named, and does not stop the others")
  func unreadableFilesAreNamed() throws {
    try writeFolders()
    try testFolder.write("{\"Version\": 1.0, \"Pattern\": [", to: "Patterns/equal.ahap")
    let run = try testFolder.temblor("compare", "approved", "Patterns")
    #expect(run.status == 2)
    let row = "\nequal       unreadable  Patterns/equal.ahap:1:"
    #expect(run.output.contains(row), "\(run.output)")
    #expect(run.output.contains("\nstrong      different   B's transient is 12 dB stronger"))
    #expect(run.output.contains(", 1 of 3 pairs unreadable, 1 file missing, 1 new file\n"))
    try testFolder.makeFolder("empty")
    let emptyRun = try testFolder.temblor("compare", "approved", "empty")
    #expect(
      emptyRun == .init(1, error: "empty: contains no pattern files or sound files\n"))
    let threeFoldersRun = try testFolder.temblor("compare", "approved", "Patterns", "light")
    #expect(threeFoldersRun.status == 64)
    #expect(
      threeFoldersRun.error.hasPrefix(
        "temblor: 'compare' compares at most two folders, without other files\n"))
  }

  @Test("The report is a matrix with a page for each pair")
  func reportLinksToEachPair() throws {
    try writeFolders()
    let run = try testFolder.temblor(
      "compare", "approved", "Patterns", "-o", "report.html", "--tolerance", "1dB")
    #expect(run.status == 3)
    #expect(run.error.hasPrefix("report.html: 3 pairs, with a page each in report, "))
    #expect(
      testFolder.fileNames().filter { $0.hasPrefix("report") } == [
        "report.html", "report/", "report/deep/", "report/deep/tap.html", "report/equal.html",
        "report/strong.html",
      ])
    let page = try #require(testFolder.text("report.html"))
    #expect(
      page.contains(
        """
        <tr><th scope="row"><a href="report/strong.html">strong</a></th>\
        <td class="exceeds">exceeds</td><td class="over">+12 dB</td><td></td>
        """))
    #expect(page.contains("<th scope=\"row\">old.ahap</th><td class=\"missing\">missing</td>"))
    #expect(page.contains("<a href=\"report/deep/tap.html\">deep/tap</a>"))
    let pairPage = try #require(testFolder.text("report/strong.html"))
    let command = "temblor compare approved/strong.ahap Patterns/strong.ahap -o report/strong.html"
    #expect(pairPage.contains(command))
    // The pages of an earlier comparison are replaced.
    let secondRun = try testFolder.temblor("compare", "approved", "Patterns", "-o", "report.html")
    #expect(secondRun.status == 0)
  }

  @Test("A page never replaces an input, and is not written through a link")
  func pagesSpareInputs() throws {
    try testFolder.write(tap(0.8), to: "a/tap.ahap")
    try testFolder.write(tap(0.8), to: "b/tap.ahap")
    try testFolder.makeFolder("pages")
    try testFolder.makeFolder("elsewhere")
    try testFolder.link("pages/r", to: "../elsewhere")
    try testFolder.link("elsewhere/tap.html", to: "../a/tap.ahap")
    let run = try testFolder.temblor("compare", "a", "b", "-o", "pages/r.html")
    #expect(run.status == 64)
    #expect(run.error.contains("'pages/r/tap.html' is an input file"))
    #expect(testFolder.text("a/tap.ahap") == tap(0.8))
  }

  @Test("JSON has a comparison for each pair, and follows its schema")
  func jsonFollowsItsSchema() throws {
    try writeFolders()
    let schema = try JSONSchema("Documentation/comparison.schema.json")
    for options in [[], ["--tolerance", "1dB"]] {
      let run = try testFolder.temblor(["compare", "approved", "Patterns", "--json"] + options)
      #expect(run.error == "" && run.output.hasPrefix("{\n  \"formatVersion\": 1,\n"))
      #expect(try schema.violations(in: run.output) == [])
      #expect(run.output.contains("  \"missing\": [\n    \"old.ahap\"\n  ],"))
    }
    try testFolder.write("{\"Version\": 1.0, \"Pattern\": [", to: "Patterns/equal.ahap")
    let unreadableRun = try testFolder.temblor("compare", "approved", "Patterns", "--json")
    #expect(try schema.violations(in: unreadableRun.output) == [])
    #expect(unreadableRun.output.contains("\"state\": \"unreadable\""))
  }
}
