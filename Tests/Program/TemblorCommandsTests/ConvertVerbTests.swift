import HapticFormats
import HapticModel
import Reading
import SystemSupport
import TestSupport
import Testing
import VendorFormats

@testable import CommandLineKit
@testable import TemblorCommands

/// `temblor convert` and `temblor formats`.
@Suite struct ConvertVerbTests {
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.write(
      """
      {"version": {"major": 1}, "metadata": {"project": "knock", "author": "me"},
       "signals": {"continuous": {"envelopes": {
        "amplitude": [{"time": 0, "amplitude": 0.25},
         {"time": 0.5, "amplitude": 0.49, "emphasis": {"amplitude": 1, "frequency": 0.3}},
         {"time": 1, "amplitude": 0}],
        "frequency": [{"time": 0, "frequency": 0.25}]}}}}
      """, to: "knock.haptic")
    try testFolder.write(
      """
      {"Version": 1.0, "Pattern": [
        {"Event": {"Time": 0, "EventType": "HapticTransient"}},
        {"Event": {"Time": 0.2, "EventType": "AudioContinuous", "EventDuration": 0.5}}]}
      """, to: "tap.ahap")
  }

  /// Runs the program. The returned messages exclude the lines on written files.
  private func run(_ arguments: String...) -> ProgramRun {
    var run = testFolder.runTemblor(arguments)
    run.error = run.error.withoutWrittenFiles
    return run
  }

  private func composition(_ name: String) throws -> [Int] {
    let file = SourceFile(try FileSystem.read(testFolder(name)), name: name)
    return try FormatRegistry.standard.read(file).layers.map(\.pattern.events.count)
  }

  @Test func clipBecomesTwoFilesAndLossesHaveLocations() throws {
    let run = run("convert", testFolder("knock.haptic"), "-o", testFolder("out.ahap"))
    #expect(run.status == .success)
    #expect(run.output == "")
    #expect(
      run.error == """
        knock.haptic:3:16: approximated: an amplitude or frequency line is \
        approximated by HapticIntensityControl, with an error of up to 0.005 of full scale

        """)
    #expect(try composition("out_continuous.ahap") == [1])
    #expect(try composition("out_transients.ahap") == [1])
  }

  @Test func strictWritesNothingIfThereAreLosses() throws {
    let run = run("convert", "--strict", testFolder("tap.ahap"), "-o", testFolder("tap.haptic"))
    #expect(run.status == .invalidInput)
    #expect(
      run.error == """
        tap.ahap:3:13: dropped: audio events cannot be written
        tap.ahap: not converted because of '--strict': 1 loss

        """)
    #expect(FileSystem.entryKind(at: testFolder("tap.haptic")) == .missing)
  }

  @Test func lossesAreListedAsJSON() throws {
    let run = run(
      "convert", "--json", testFolder("tap.ahap"), "--format", "haptic", "-o", testFolder("out/"))
    let json = try JSONDocument(text: Array(run.output.utf8), name: "json").root
    let entry = try #require(json["conversions"].map { Array($0.elements) }?.first)
    let files = entry["files"].map { Array($0.elements).compactMap(\.string) } ?? []
    #expect(entry["from"]?.string == "ahap" && entry["to"]?.string == "haptic")
    #expect(files.map { $0.hasSuffix("out/tap.haptic") } == [true])
    let loss = try #require(entry["losses"].map { Array($0.elements) }?.first)
    #expect(loss["kind"]?.string == "dropped" && loss["line"]?.number == 3)
  }

  @Test("Vendor names select formats, in any case", arguments: ["richtap", "RichTap", "he"])
  func vendorNamesSelectFormats(name: String) throws {
    let run = run("convert", testFolder("tap.ahap"), "--format", name, "-o", testFolder("out/"))
    #expect(run.status == .success, "\(run.error)")
    #expect(try FileSystem.visibleNames(in: testFolder("out")) == ["tap.he"])
  }

  @Test("A misspelled vendor name is answered with the vendor name")
  func misspelledVendorNameIsSuggested() {
    let run = run("convert", testFolder("tap.ahap"), "--format", "lofelz")
    #expect(run.status == .usageError)
    #expect(run.error.contains("; did you mean 'lofelt'?"), "\(run.error)")
  }

  @Test("Each alias names one format, and no alias is an id")
  func aliasesAreUnambiguous() {
    let formats = FormatRegistry.standard.formats
    let aliases = formats.flatMap(\.aliases)
    #expect(Set(aliases).count == aliases.count)
    #expect(Set(aliases).isDisjoint(with: formats.map(\.id)))
    #expect(aliases.allSatisfy { $0 == $0.lowercased() })
  }

  @Test func conversionToTheSameFormatWritesCanonicalText() throws {
    let run = run("convert", testFolder("knock.haptic"), "-o", testFolder("same.haptic"))
    #expect(run.status == .success && run.error == "")
    let file = SourceFile(try FileSystem.read(testFolder("knock.haptic")), name: "knock.haptic")
    let format = try FormatRegistry.standard.format(of: file)
    #expect(try FileSystem.read(testFolder("same.haptic")) == format.canonicalText(of: file))
  }

  @Test func inputsAreNeverReplaced() throws {
    let before = try FileSystem.read(testFolder("tap.ahap"))
    let run = run("convert", "--format", "ahap", testFolder("tap.ahap"), "-o", testFolder.path)
    #expect(run.status == .usageError)
    #expect(run.error.contains("is an input file; choose a different '--output'"), "\(run.error)")
    #expect(try FileSystem.read(testFolder("tap.ahap")) == before)
    try testFolder.write(
      try String(decoding: FileSystem.read(testFolder("knock.haptic")), as: UTF8.self),
      to: "a.haptic")
    try testFolder.write(String(decoding: before, as: UTF8.self), to: "a_transients.ahap")
    let overlapping = self.run(
      "convert", "--format", "ahap", testFolder("a.haptic"), testFolder("a_transients.ahap"), "-o",
      testFolder.path
    )
    #expect(overlapping.status == .usageError, "\(overlapping.error)")
    #expect(try FileSystem.read(testFolder("a_transients.ahap")) == before)
  }

  @Test func formatIsRequiredUnlessTheOutputNameImpliesIt() {
    #expect(
      run("convert", testFolder("tap.ahap")).error.contains(
        "'--format' is required unless '--output' names a file"))
    #expect(
      run("convert", testFolder("tap.ahap"), "-o", testFolder("x.txt")).error.contains(
        "unknown file extension of"))
    #expect(
      run("convert", testFolder("tap.ahap"), "-o", testFolder("x.ahap"), "--dialect", "sony").error
        .contains(
          "the format ahap has no dialects"))
    #expect(
      run("convert", testFolder("tap.ahap"), "-o", testFolder("x.he"), "--dialect", "sony").error
        .contains(
          "invalid value 'sony' for '--dialect': expected 2 or 1"))
  }

  @Test func conflictingExtensionIsRefusedWithRemedies() {
    #expect(
      run("convert", testFolder("tap.ahap"), "--format", "haptic", "-o", testFolder("light.ahap"))
        .error
          == """
          temblor: the extension of 'light.ahap' selects ahap, but '--format' is haptic; omit \
          '--format', or use a file name that ends in .haptic
          See 'temblor convert --help'.

          """)
    #expect(FileSystem.entryKind(at: testFolder("light.ahap")) == .missing)
    #expect(
      run("convert", testFolder("tap.ahap"), "--format", "ahap", "-o", testFolder("any.txt")).status
        == .success)
  }

  @Test func aNameOfAnotherFormatIsReported() throws {
    try testFolder.write(
      try String(decoding: FileSystem.read(testFolder("knock.haptic")), as: UTF8.self),
      to: "wrong.ahap")
    let run = run("convert", testFolder("wrong.ahap"), "-o", testFolder("right.haptic"))
    #expect(run.status == .success)
    #expect(
      run.error
        == "wrong.ahap: note: the content is haptic, but the file extension indicates ahap; "
        + "rename the file to use the extension .haptic\n")
    #expect(self.run("check", testFolder("wrong.ahap")).output.contains("[format-name]"))
  }

  @Test func inputFormatOverridesRecognition() throws {
    let run = run(
      "convert", "--input-format", "ahap", testFolder("knock.haptic"), "-o", testFolder("x.ahap"))
    #expect(run.status == .invalidInput)
    #expect(run.error.contains("a pattern file must have the key \"Pattern\""), "\(run.error)")
  }

  @Test func formatsAreListed() throws {
    let list = run("formats")
    #expect(list.status == .success)
    for format in FormatRegistry.standard.formats {
      #expect(list.output.contains("\(format.id) "), "\(format.id)")
      #expect(list.output.contains(format.title), "\(format.id)")
      for alias in format.aliases {
        #expect(list.output.contains(alias), "\(format.id)")
      }
    }
    let json = try JSONDocument(text: Array(run("formats", "--json").output.utf8), name: "json")
    let formats = json.root["formats"].map { Array($0.elements) } ?? []
    #expect(formats.map { $0["format"]?.string ?? "" } == FormatRegistry.standard.formats.map(\.id))
  }

  @Test func lossesBetweenTwoFormatsAreMeasured() {
    let run = run("formats", "ahap", "haptic")
    #expect(run.status == .success)
    #expect(
      run.output.contains(
        "ahap to haptic: audio       approximate, up to 100 %\n  audio events cannot be written\n"),
      "\(run.output)")
    #expect(
      run.output.contains("ahap to haptic: transients  close, within 0 %\n")
        || run.output.contains("ahap to haptic: transients  exact\n"), "\(run.output)")
  }

  @Test func everyVerbAcceptsAClipWithAnyName() throws {
    try testFolder.write(
      try String(decoding: FileSystem.read(testFolder("knock.haptic")), as: UTF8.self), to: "x")
    let file = testFolder("x")
    #expect(run("render", file, "-o", testFolder("x.wav"), "-q").status == .success)
    #expect(run("info", file).output.contains("1 transient, 1 continuous event"))
    #expect(run("plot", file, "--panels", "score", "--width", "60").status == .success)
    #expect(run("check", file).status == .success)
    #expect(run("compare", file, testFolder("tap.ahap")).status != .usageError)
    let conversion = run("convert", file, "-o", testFolder("y.ahap"))
    #expect(conversion.status == .success)
    #expect(run("format", file).output.contains("\"emphasis\": "))
    #expect(run("gallery", file, "-o", testFolder("g.html")).status == .success)
  }
}
