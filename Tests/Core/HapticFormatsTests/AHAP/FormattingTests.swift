import HapticFormats
import VendorFormats
import Reading
import HapticModel
import Testing

@Suite struct FormattingTests {
  func format(_ text: String) throws -> String {
    String(
      decoding: try AHAPDocument(text: Array(text.utf8), name: "t").canonicalText(), as: UTF8.self)
  }

  @Test func writesOneCanonicalText() throws {
    #expect(
      try format(
        "\u{FEFF}"
          + #"{"Pattern":[{"X":[1E0,{"b":1,"a":2},],"Event":{"EventParameters":[{"ParameterValue":1,"#
          + #""ParameterID":"Hapt\u0069cIntensity","Z":"\/",}],"Name":null,"EventType":"#
          + #""HapticTransient","Time":5e-2}},{"Parameter":{"Time":0,"ParameterValue":-0.50,"#
          + #""ParameterID":"AudioPanControl"}},{"ParameterCurve":{"Time":1,"#
          + #""ParameterCurveControlPoints":[{"ParameterValue":0,"Time":0},{"Time":1e0,"Note":{}}],"#
          + #""ParameterID":"AudioPanControl"}}],"Later":1.50,"Metadata":{"Time":1},"Version":1}"#)
          == """
          {
            "Version": 1.0,
            "Metadata": {
              "Time": 1
            },
            "Pattern": [
              {
                "Event": {
                  "Time": 0.05,
                  "EventType": "HapticTransient",
                  "EventParameters": [
                    { "ParameterID": "HapticIntensity", "ParameterValue": 1.0, "Z": "/" }
                  ],
                  "Name": null
                },
                "X": [
                  1E0,
                  {
                    "b": 1,
                    "a": 2
                  }
                ]
              },
              {
                "Parameter": { "ParameterID": "AudioPanControl", "Time": 0.0, "ParameterVal\
          ue": -0.5 }
              },
              {
                "ParameterCurve": {
                  "ParameterID": "AudioPanControl",
                  "Time": 1.0,
                  "ParameterCurveControlPoints": [
                    { "Time": 0.0, "ParameterValue": 0.0 },
                    {
                      "Time": 1.0,
                      "Note": {}
                    }
                  ]
                }
              }
            ],
            "Later": 1.50
          }

          """)
  }

  @Test(arguments: ["[]", "3", "{}", #"{"Pattern": {"Event": []}, "Pattern": [[{}], 1, "x"]}"#])
  func formatsTextsOtherThanPatterns(text: String) throws {
    let canonicalText = try format(text)
    #expect(try format(canonicalText) == canonicalText)
  }

  @Test func filesAreComparedByContent() throws {
    let compactDocument = try AHAPDocument(
      text: Array(#"{"Pattern":[],"Version":1}"#.utf8), name: "a")
    let spacedDocument = try AHAPDocument(
      text: Array(#"{"Version": 1.0, "Pattern": [ ]}"#.utf8), name: "b")
    let changedDocument = try AHAPDocument(
      text: Array(#"{"Version": 2, "Pattern": [ ]}"#.utf8), name: "b")
    #expect(compactDocument == spacedDocument)
    #expect(compactDocument != changedDocument)
  }

  @Test func formattingTwiceEqualsFormattingOnce() throws {
    for folder in ["Valid", "Lossy"] {
      for name in try Fixtures.names(in: folder) {
        let document = try AHAPDocument(text: Fixtures.text("\(folder)/\(name)"), name: name)
        let canonicalText = document.canonicalText()
        let reformattedDocument = try AHAPDocument(text: canonicalText, name: name)
        #expect(reformattedDocument.canonicalText() == canonicalText, "\(name)")
        #expect(try reformattedDocument.read() == document.read(), "\(name)")
      }
    }
  }

  @Test func patternIsWrittenAsFile() throws {
    let reading = try AHAPDocument(text: Fixtures.text("Valid/every-key.ahap"), name: "t").read()
    let document = try AHAPDocument(pattern: reading.pattern, metadata: reading.metadata)
    #expect(try document.read() == reading)
    #expect(document.examine().allFindings == [])
    #expect(
      String(decoding: try AHAPDocument(pattern: HapticPattern()).canonicalText(), as: UTF8.self)
        == "{\n  \"Version\": 1.0,\n  \"Pattern\": []\n}\n")
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity]) func nonFiniteNumbersAreNotWritten(
    time: Double
  ) throws {
    let pattern = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: time)])
    let error = #expect(throws: InputError.self) { try AHAPDocument(pattern: pattern, name: "new") }
    #expect(
      error?.description
        == "new: error: non-finite numbers (NaN, infinity) cannot be written (events[0])")
  }
}
