import Reading
import HapticFormats
import VendorFormats
import HapticModel
import TestSupport
import Testing

@Suite struct RegistryTests {
  let formats = FormatRegistry([.ahap]).adding(.beats)

  func file(_ text: String, _ name: String) -> SourceFile {
    SourceFile(Array(text.utf8), name: name)
  }

  private static let tapText =
    #"{"Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}]}"#
  private static let beatsText = "beats 1 two\nlayer a\ntap 0 1 0.5\nlayer b\ntap 0.5 1 0.5\n"

  @Test(arguments: ["a.ahap", "a.beats", "a.txt", "standard input"])
  func contentDecidesBeforeTheName(name: String)
    throws
  {
    #expect(try formats.format(of: file(Self.tapText, name)).id == "ahap")
    #expect(try formats.format(of: file(Self.beatsText, name)).id == "beats")
  }

  @Test func damagedFileHasTheFormatOfItsName() throws {
    #expect(
      formats.examine(file("{", "x.ahap")).findings.map(\.description) == [
        "x.ahap:1:2: error: \(ExpectedMessage.unclosedObject)"
      ])
    #expect(try formats.format(of: file("\u{1}", "x.beats")).id == "beats")
    #expect(
      formats.examine(file("\u{7F}", "x")).findings.map(\.description)
        == FormatRegistry([.ahap]).examine(file("\u{7F}", "x")).findings.map(\.description))
  }

  @Test func jsonOfAnotherKindIsRefusedByItsFirstKey() throws {
    #expect(
      formats.examine(file(#"{"name": "phone"}"#, "phone.json")).findings.first {
        $0.severity == .error
      }?.description
        == "phone.json: error: objects with the key \"name\" do not belong to a supported format; "
        + "run 'temblor formats' to list the formats")
  }

  /// A format that recognizes every text.
  private static func certainFormat(_ id: String) -> HapticFormat {
    HapticFormat(
      id, title: "Greedy", fileExtensions: [id], rules: [], recognize: { _ in .possible },
      read: { file, _ in
        ReadResult(
          composition: HapticComposition(layers: []), sourceMap: .inMemory(name: file.name))
      }
    )
  }

  @Test func nameDecidesBetweenEqualFormats() throws {
    let formats = FormatRegistry([Self.certainFormat("one"), Self.certainFormat("two")])
    #expect(try formats.format(of: file("x", "a.TWO")).id == "two")
    let error = #expect(throws: InputError.self) { try formats.format(of: file("x", "a")) }
    #expect(
      error?.description
        == """
        a: error: the format is ambiguous: one or two; use the file extension .one or .two, or \
        convert the file with '--input-format'
        """
    )
    #expect(formats.examine(file("x", "a")).findings.map(\.rule) == ["format-ambiguous"])
  }

  @Test func fileNamesAreRecognizedByExtension() {
    #expect(formats.fileExtensions == ["ahap", "beats"])
    #expect(formats.stem(of: "a.b.AHAP") == "a.b" && formats.stem(of: "x.beats") == "x")
    #expect(formats.stem(of: "light") == "light")
    #expect(formats.format(forFileName: "in/a.Beats")?.id == "beats")
    #expect(
      formats.format(forFileName: "beats") == nil && formats.format(forFileName: "a.wav") == nil)
    #expect(formats.format(id: "beats")?.title == "Beats" && formats.format(id: "x") == nil)
  }

  @Test func outlineFindsTheKeysOfAnObject() {
    func recognition(_ text: String) -> Recognition {
      HapticFormat.ahap.recognize(Array(text.utf8).span)
    }
    #expect(recognition("\u{FEFF} {\"a\": [{\"Pattern\": 1}, \"}\"], \"Pattern\": [") == .certain)
    #expect(recognition("{\"a\": \"\\\"Pattern\", \"Patterns\": {\"Pattern\": 0}}") == .possible)
    #expect(recognition("{\"a\": \"Pattern") == .possible)
    #expect(recognition("{\"Pattern\": [{\"Event\": {\"Type\": \"transient\"}}]}") == .possible)
    for text in ["", " ", "[{\"Pattern\": 0}]", "\"Pattern\"", "beats 1", "}"] {
      #expect(recognition(text) == .unrecognized, "\(text)")
    }
  }

  @Test func everyTextHasAFormatOrAnError() throws {
    var generator = SplitMixGenerator(state: 7)
    let fragments = [
      "{", "}", "[", "]", "\"Pattern\"", ":", ",", "beats ", "\n", "tap 0 1 1", "layer x", "\\",
      "\"", "\u{FEFF}",
      "null", "\u{0}",
    ]
    for _ in 0..<1_000 {
      let count = Int(generator.next() % 12)
      let text = (0..<count).map { _ in fragments[Int(generator.next() % UInt64(fragments.count))] }
        .joined()
      let result = formats.examine(file(text, "x"))
      let isRefused = result.findings.contains { $0.severity == .error }
      #expect((result.composition == nil) == isRefused, "\(text.debugDescription)")
    }
  }
}

@Suite struct ReadResultTests {
  @Test func theFastPathReadsTheSameWithoutFindings() throws {
    for folder in ["Valid", "Lossy"] {
      for name in try Fixtures.names(in: folder) {
        let file = SourceFile(try Fixtures.text("\(folder)/\(name)"), name: name)
        let full = FormatRegistry.standard.examine(file)
        let fast = FormatRegistry.standard.examine(
          file, options: ReadingOptions(wantsFindings: false))
        #expect(fast.composition == full.composition, "\(name)")
        #expect(
          fast.findings
            == full.findings.filter { $0.severity == .error || $0.rule == "unknown-parameter" },
          "\(name)")
        #expect(
          fast.soundReferences == full.soundReferences && fast.errorCount == full.errorCount,
          "\(name)")
      }
    }
  }

  @Test func partsOfAnAHAPFileHaveLocations() throws {
    let file = SourceFile(try Fixtures.text("Valid/every-key.ahap"), name: "e")
    let sourceMap = HapticFormat.ahap.examine(file, options: ReadingOptions()).sourceMap
    #expect(sourceMap.location(of: .composition).path == "Pattern")
    #expect(sourceMap.location(of: .layer(0)) == sourceMap.location(of: .composition))
    #expect(sourceMap.location(of: .event(EventReference(eventIndex: 3))).path.hasSuffix("].Event"))
    #expect(sourceMap.location(of: .parameter(layer: 0, index: 0)).path.hasSuffix("].Parameter"))
    #expect(sourceMap.location(of: .curve(layer: 0, index: 0)).path.hasSuffix("].ParameterCurve"))
    #expect(
      sourceMap.location(of: .curve(layer: 0, index: 9)) == sourceMap.location(of: .composition))
  }

  @Test func partsOfAnInMemoryPatternHavePaths() {
    let sourceMap = SourceMap.inMemory(name: "code")
    #expect("\(sourceMap.location(of: .composition))" == "code")
    #expect(sourceMap.location(of: .event(EventReference(eventIndex: 3))).path == "events[3]")
    #expect(
      sourceMap.location(of: .event(EventReference(layerIndex: 1, eventIndex: 3))).path
        == "layers[1].events[3]")
    #expect(sourceMap.location(of: .curve(layer: 2, index: 0)).path == "layers[2].curves[0]")
  }

  @Test func writingAHAPReportsLosses() throws {
    let tap = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)])
    var faded = tap
    faded.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0)]
    let compositionOfOneLayer = HapticComposition(
      layers: [.init(faded)], title: "a title", notes: "some words")
    let writing = try #require(try HapticFormat.ahap.write(compositionOfOneLayer))
    #expect(writing.losses == [])
    let file = SourceFile(writing.files[0].bytes, name: "w")
    #expect(try FormatRegistry.standard.read(file) == compositionOfOneLayer)
    #expect(try HapticFormat.ahap.canonicalText(of: file) == file.bytes)
    var compositionOfTwoLayers = HapticComposition(layers: [.init(tap), .init(tap)])
    #expect(try HapticFormat.ahap.write(compositionOfTwoLayers)?.losses == [])
    compositionOfTwoLayers.layers[1].pattern = faded
    compositionOfTwoLayers.loop = .init()
    #expect(
      try HapticFormat.ahap.write(
        compositionOfTwoLayers, options: WritingOptions(fileSplitting: .never))?.losses.map {
          "\($0.kind) \($0.compositionElement)"
        }
        == ["dropped composition"])
    // A control of another kind cannot be moved to the events of its layer.
    compositionOfTwoLayers.layers[1].pattern.parameters[0].id = .hapticAttackTimeControl
    #expect(
      try HapticFormat.ahap.write(
        compositionOfTwoLayers, options: WritingOptions(fileSplitting: .never))?.losses.map {
          "\($0.kind) \($0.compositionElement)"
        }
        == ["dropped composition", "approximated layer(1)"])
  }
}
