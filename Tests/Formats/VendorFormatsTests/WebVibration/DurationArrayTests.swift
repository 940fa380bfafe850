import HapticFormats
import HapticModel
import Reading
import TestSupport
import Testing
import VendorFormats

/// Lists of durations, which begin with a vibration or with a pause.
@Suite struct DurationArrayTests {
  private func file(_ text: String, _ name: String = "x") -> SourceFile {
    SourceFile(Array(text.utf8), name: name)
  }

  private func readResult(_ text: String, _ name: String) -> ReadResult {
    FormatRegistry.standard.examine(file(text, name))
  }

  @Test(arguments: [
    "[100, 50, 200]", "100,50,200\n", "\u{FEFF}[100, 50, 200]", "\u{FEFF}100,50,200",
  ])
  func webVibrationBeginsWithAVibration(text: String) throws {
    let composition = try readResult(text, "a.vibrate.json").get()
    let events = composition.layers[0].pattern.events
    #expect(events.map(\.time) == [0, 0.15])
    #expect(events.map(\.duration) == [0.1, 0.2])
    let written = try #require(try HapticFormat.vibrate.write(composition))
    #expect(String(decoding: written.files[0].bytes, as: UTF8.self) == "[100, 50, 200]\n")
    #expect(written.losses == [])
  }

  @Test(arguments: ["[30, 100, 50, 200]", "30,100,50,200\n"])
  func waitFirstArrayBeginsWithAPause(text: String) throws {
    let composition = try readResult(text, "a.wait-first.json").get()
    let events = composition.layers[0].pattern.events
    #expect(events.map(\.time) == [0.03, 0.18])
    #expect(events.map(\.duration) == [0.1, 0.2])
    let written = try #require(try HapticFormat.waitFirst.write(composition))
    #expect(String(decoding: written.files[0].bytes, as: UTF8.self) == "[30, 100, 50, 200]\n")
    #expect(written.losses == [])
  }

  /// Each format writes the durations that the other format reads from the shifted list.
  @Test func formatsDifferByAPause() throws {
    let composition = try readResult("[0, 100, 50, 200]", "a.wait-first.json").get()
    #expect(composition == (try readResult("[100, 50, 200]", "a.vibrate.json").get()))
    let written = try #require(try HapticFormat.vibrate.write(composition))
    #expect(String(decoding: written.files[0].bytes, as: UTF8.self) == "[100, 50, 200]\n")
    let waitFirstFile = try #require(try HapticFormat.waitFirst.write(composition))
    #expect(String(decoding: waitFirstFile.files[0].bytes, as: UTF8.self) == "[0, 100, 50, 200]\n")
  }

  @Test(arguments: ["[500,500]", " [0, 50.5, 50]\n", "0,50,50,50", "[5]"])
  func listWithoutANameIsRefusedWithBothSpellings(text: String) throws {
    let result = readResult(text, "x.json")
    #expect(
      result.findings.map(\.description) == [
        """
        x.json: error: the format is ambiguous: vibrate (the first number is a vibration, as on \
        web pages) or wait-first (the first number is a pause, as in Android, Flutter, and React \
        Native); use the file extension .vibrate.json or .wait-first.json, or convert the file \
        with '--input-format'
        """
      ])
  }

  @Test(arguments: ["5", "", "[]", "[\"1\"]", "[1, x]", "{}", "1 2"])
  func otherTextsAreNotLists(text: String) {
    let bytes = Array(text.utf8)
    let isList = HapticFormat.vibrate.recognize(bytes.span) != .unrecognized
    #expect(!isList)
  }

  @Test func invalidDurationsAreLocated() {
    #expect(
      readResult("[10, -1]", "x.wait-first.json").findings.map(\.description) == [
        "x.wait-first.json:1:6: error: a duration must be a number of at least 0 ([1])"
      ])
    #expect(
      readResult("[10001]", "x.vibrate.json").findings.map(\.description) == [
        """
        x.vibrate.json:1:2: warning: Chromium plays at most 99 durations of at most 10000 ms ([0])
        """
      ])
    #expect(readResult("[10, 20000]", "x.wait-first.json").findings == [])
  }
}
