import Reading
import Testing
import TransducerProfiles

/// Returns the findings about a text, without the name of the file.
private func findingLines(about text: String, stem: String? = nil) -> [String] {
  ProfileCheckResult(text: Array(text.utf8), name: "f", stem: stem).findings.map {
    String($0.description.dropFirst(2))
  }
}

/// Returns the text of a profile with additional members, which start on line 2, one per line.
private func profile(_ members: String...) -> String {
  "{\n" + members.map { $0 + ",\n" }.joined()
    + #""name": "mine", "summary": "Mine.", "frequency": {"low": 20, "high": 80} }"#
}

@Suite struct ProfileCheckResultTests {
  /// The finding about hardware on line 2 without a resonance and a Q factor.
  private static let missingResponseNote =
    """
    2:13: note: without a resonance and a Q factor, there is no equalization and no excursion \
    limit (hardware); measure them with 'temblor calibrate'
    """

  @Test func faultsAreFoundInTheOrderOfTheText() {
    let text = """
      {
        "name": "My Own",
        "levle": 1,
        "level": "0.4",
        "level": 2,
        "frequency": { "low": 0, "high": true, "scale": "lin" },
        "intensity": { "law": "power", "decibels": 30 },
        "partials": [{ "gain": 11 }, 3, { "ratio": 1, }],
        "transient": { "duration": { "low": 0.1 }, "cycles": 2, "floor": null },
        "thresholds": [],
        "hardware": { "product": "", "continuousPower": 5, "peakPower": 4,
          "estimated": ["qualityFactor", "mass"] },
        "sources": ["", 7]
      }
      """
    let expected = [
      #"1:1: error: missing key "summary""#,
      #"2:11: error: "My Own" is not a valid profile name (name); use up to 40 characters: a–z, 0–9, and -"#,
      #"3:3: error: unknown key "levle" (levle); did you mean "level"?"#,
      "4:12: error: level must be a number, not a string (level); write it without quotes",
      #"5:3: error: duplicate key "level" (level); keep one of them"#,
      "5:12: error: level is 2, outside 0.001 to 0.89 (level)",
      "6:25: error: low is 0, outside 0.1 to 20000 (frequency.low)",
      "6:36: error: high must be a number, not a boolean (frequency.high)",
      #"6:51: error: "lin" is not a valid scale (frequency.scale); valid values: logarithmic, linear"#,
      #"7:34: error: unknown key "decibels" (intensity.decibels); valid keys: law, exponent"#,
      "8:26: error: gain is 11, outside -10 to 10 (partials[0].gain)",
      "8:32: error: an entry must be an object, not a number (partials[1])",
      "8:47: error: comma before a closing bracket (partials[2]); remove it",
      #"9:30: error: missing key "high" (transient.duration)"#,
      "9:46: error: cycles and duration cannot be used together (transient.cycles)",
      "9:68: error: floor must be a number, not null (transient.floor)",
      #"10:17: error: thresholds has 0 entries, outside 2 to 1000 (thresholds)"#,
      "11:28: error: product is empty (hardware.product)",
      "11:67: error: peakPower is 4, below continuousPower, 5 (hardware.peakPower)",
      #"12:19: error: "qualityFactor" is listed as estimated, but has no value (hardware.estimated[0]); add the value, or remove the entry"#,
      #"12:36: error: "mass" is not a valid value of this hardware (hardware.estimated[1]); valid values: band, resonance, qualityFactor, impedance, continuousPower, peakPower, acceleration, excursion, response, thermal, modes"#,
      "13:15: error: sources is empty (sources[0])",
      "13:19: error: sources must be a string, not a number (sources[1])",
    ]
    #expect(findingLines(about: text) == expected)
  }

  @Test func firstFaultIsThrownWithTheNumberOfOthers() throws {
    let text = Array(#"{"name": "mine", "level": 2, "duck": 2, "frequency": 3}"#.utf8)
    let error = try #require(throws: InputError.self) {
      try ProfileFile.read(text: text, name: "f")
    }
    #expect(error.description == #"f:1:1: error: missing key "summary""#)
    #expect(error.additionalErrorCount == 3)
    #expect(error.rule == "missing-key")
  }

  @Test func findingsOfARuleAreLimitedToAHundred() {
    let keys = (0..<250).map { #""k\#($0)": 1"# }.joined(separator: ",\n")
    let findings = findingLines(about: profile(keys))
    #expect(findings.count == 101)
    #expect(findings[99].hasPrefix(#"101:1: error: unknown key "k99" (k99); "#))
    #expect(findings[100] == "102:1: error: 150 more unknown-key findings in this file (k100)")
  }

  @Test(arguments: ProfileCatalog.names)
  func shippedProfilesHaveOnlyWarningsAboutHeadroom(name: String)
    throws
  {
    let text = try #require(ProfileCatalog.text(named: name))
    let rules = ProfileCheckResult(text: text, name: name, stem: name).findings.filter {
      $0.severity != .note
    }.map(
      \.rule)
    let exceedsHeadroom = ["speaker", "mpeg", "meta-quest", "pulsar"].contains(name)
    #expect(rules.allSatisfy { $0 == "insufficient-headroom" })
    #expect(rules.isEmpty != exceedsHeadroom)
  }

  @Test(arguments: [
    (
      profile(
        #""hardware": {"product": "P", "continuousPower": 9, "band": {"low": 30, "high": 70}}, "sources": ["S"]"#
      ),
      [
        Self.missingResponseNote,
        "3:58: warning: low is 20 Hz, outside the published band of 30–70 Hz (frequency.low)",
        "3:70: warning: high is 80 Hz, outside the published band of 30–70 Hz (frequency.high)",
      ]
    ),
    (
      profile(
        #""hardware": {"product": "P", "continuousPower": 9, "band": {"low": 9, "high": 99}, "resonance": 100}"#
      ),
      [
        Self.missingResponseNote,
        #"2:13: warning: hardware has no sources (hardware); add "sources""#,
        """
        2:97: warning: the resonance is 100 Hz, outside the published band of 9–99 Hz \
        (hardware.resonance)
        """,
      ]
    ),
    (
      profile(#""transient": {"frequency": {"low": 0.5, "high": 1001}}"#),
      [
        """
        2:36: warning: low is 0.5 Hz, outside 1–1000 Hz, the range of vibrotactile perception \
        (transient.frequency.low)
        """,
        """
        2:49: warning: high is 1001 Hz, outside 1–1000 Hz, the range of vibrotactile perception \
        (transient.frequency.high)
        """,
      ]
    ), (profile(#""level": 0.445"#), []),
    (
      profile(#""level": 0.446"#),
      [
        """
        2:10: warning: two continuous events at full intensity can reach 0.892, above the ceiling \
        of 0.891; the limiter will be active (level); use a level of at most 0.44
        """
      ]
    ),
    (
      profile(#""transient": {"partials": [{}, {"gain": -0.5}]}"#),
      [
        """
        2:27: warning: two transients at full intensity can reach 1.32, above the ceiling of \
        0.891; the limiter will be active (transient.partials); use a level of at most 0.29
        """
      ]
    ),
    (
      profile(
        #""intensity": {"law": "sensation", "decibels": 30}"#,
        #""thresholds": [{"hertz": 20, "decibels": 1}, {"hertz": 79, "decibels": 1}]"#),
      [
        """
        3:15: warning: the thresholds cover 20–79 Hz of 20–80 Hz; at other frequencies, the \
        nearest threshold is used (thresholds)
        """
      ]
    ),
    (
      profile(#""hardware": {"product": "P"}, "sources": ["S"]"#),
      [
        missingResponseNote,
        "2:13: note: without a power rating, there is no thermal limit (hardware)",
      ]
    ),
    (
      profile(
        #""hardware": {"product": "P", "resonance": 40, "qualityFactor": 5, "peakPower": 9, "estimated": ["qualityFactor"]}, "sources": ["S"]"#
      ),
      [
        """
        2:64: note: the Q factor is an estimate, so the equalizer is less aggressive than with a \
        measured value (hardware.qualityFactor); measure it with 'temblor calibrate'
        """
      ]
    ),
    (
      profile(
        #""hardware": {"product": "P", "resonance": 40, "qualityFactor": 15, "continuousPower": 9, "uncertainty": {"resonance": 0.01, "qualityFactor": 1.1}}, "sources": ["S"]"#,
        #""drive": {"equalize": false}"#),
      [
        #"4:50: warning: the hardware reproduces only 37.9–42.5 Hz of 20–80 Hz, less than half an octave (frequency); a larger "drive.usableRange" widens the band, but lowers the level"#
      ]
    ),
  ]) func doubtfulValuesCauseWarnings(text: String, expected: [String]) {
    #expect(findingLines(about: text) == expected)
  }

  @Test func differentFileNameCausesAWarning() {
    #expect(findingLines(about: profile(), stem: "mine") == [])
    #expect(
      findingLines(about: profile(), stem: "other") == [
        #"2:9: warning: the name "mine" does not match the file name "other.json" (name); use the same name, because profiles are found by file name"#
      ])
  }

  @Test func schemaLocationIsKept() throws {
    let text = profile(#""$schema": "./profile.schema.json""#)
    let result = ProfileCheckResult(text: Array(text.utf8), name: "f")
    #expect(result.findings == [])
    #expect(result.schemaLocation == "./profile.schema.json")
    let writtenText = ProfileFile.write(
      try #require(result.profile), schema: result.schemaLocation)
    #expect(
      String(decoding: writtenText, as: UTF8.self).hasPrefix(
        "{\n  \"$schema\": \"./profile.schema.json\",\n  \"name\": \"mine\",\n"))
    #expect(
      ProfileCheckResult(text: writtenText, name: "f").schemaLocation == "./profile.schema.json")
  }
}
