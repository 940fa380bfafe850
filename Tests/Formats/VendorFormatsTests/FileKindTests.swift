import HapticFormats
import Reading
import Testing
import VendorFormats

/// Files that are not read are named, with a way to use them.
@Suite struct FileKindTests {
  private func errorText(_ text: String, _ name: String) -> String? {
    FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: name)).findings
      .first { $0.severity == .error }?.description
  }

  @Test(arguments: ["x.ahap", "x.haptic", "x.json", "x"])
  func pointersAndPagesAreNamed(name: String) {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n"
    #expect(
      errorText(pointer, name) == """
        \(name): error: a Git LFS pointer, not a pattern; download the file with 'git lfs pull'
        """)
    for webPage in [
      "\n<!DOCTYPE html>\n<html>", "<HTML><body>", "<?xml version=\"1.0\"?>\n<html/>",
    ] {
      #expect(
        errorText(webPage, name) == """
          \(name): error: an HTML page, not a pattern; download the file itself instead of the \
          page that shows it
          """)
    }
    let unityAsset = "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!114 &1\n"
    #expect(
      errorText(unityAsset, name) == """
        \(name): error: a Unity asset, not a pattern; use the haptic file that the asset was \
        imported from
        """)
  }

  @Test(arguments: ["x.ahap", "x.plist", "x.xml"]) func propertyListsAreNamed(name: String) {
    let header = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let document = "<!DOCTYPE plist PUBLIC \"-//Apple//DTD\" \"x\">\n<plist version=\"1.0\">"
    for text in [header + document, "<plist version=\"1.0\"/>", "bplist00\u{1}"] {
      #expect(
        errorText(text, name) == """
          \(name): error: a property list is not a supported pattern format; convert it to JSON, \
          for example with 'plutil -convert json'
          """)
    }
  }

  @Test func foreignFormatsAreNamed() {
    #expect(
      errorText("<ivs-file majorversion=\"1\"><effects/></ivs-file>", "x.ivs") == """
        x.ivs: error: an Immersion effect (.ivs) is not a supported pattern format; record the \
        effect, and trace the sound with 'temblor trace'
        """)
    #expect(
      errorText("// Quest\n{\n  continuous: { gain: 1.0, emphasis_ducking: 0.5 },\n}", "x.acf")
        == """
        x.acf: error: a Meta actuator configuration (.acf) is not a supported pattern format; it \
        describes a device; convert the .haptic clip instead
        """)
    #expect(
      errorText("\u{4}\u{0}\u{0}\u{0}", "x.BNVIB") == """
        x.BNVIB: error: a Nintendo vibration file (.bnvib) is not a supported pattern format; \
        Temblor does not read this proprietary format; use the sound that it was made from
        """)
    #expect(
      errorText(#"{"m_version": "6", "m_vibration": {"m_tracks": []}}"#, "x.haps") == """
        x.haps:1:15: error: Interhaptics version "6" is not supported (m_version); export the \
        material as version 5
        """)
    #expect(
      errorText(#"{"vibration": {}, "stiffness": {}}"#, "x.haps") == """
        x.haps: error: an Interhaptics haptic material, version 6 is not a supported pattern \
        format; export it as version 5 (.haps)
        """)
  }

  /// The key "pattern" alone does not make a file AHAP.
  @Test func listsUnderPatternAreNamed() {
    #expect(
      errorText(#"{"pattern":[500,1000],"intensities":[1,255]}"#, "x.json") == """
        x.json: error: a list of durations and intensities is not a supported pattern format; \
        name the keys "timings" and "amplitudes", as in Android's arrays
        """)
    #expect(
      errorText(#"{"name": "x", "pattern": [{"type": "pulse", "timestamp": 0}]}"#, "x.json") == """
        x.json: error: a Pulsar preset for web pages is not a supported pattern format; use the \
        preset for phones
        """)
    #expect(
      errorText(#"{"pattern":[500,1000]}"#, "x.json") == """
        x.json: error: objects with the key "pattern" do not belong to a supported format; run \
        'temblor formats' to list the formats
        """)
    #expect(
      errorText(#"{"pattern":[{"event": {"Time": 0}}]}"#, "x.json")?.contains("rename \"pattern\"")
        == true)
  }
}
