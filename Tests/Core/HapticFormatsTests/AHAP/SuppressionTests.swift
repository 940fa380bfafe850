import HapticFormats
import VendorFormats
import Reading
import Testing

@Suite struct SuppressionTests {
  func findings(_ allowed: String, events: String) throws -> [String] {
    let text = """
      {"Version": 1.0, "Metadata": {"AllowedRules": \(allowed)}, "Pattern": [\(events)]}
      """
    return try AHAPDocument(text: Array(text.utf8), name: "t").examine().allFindings.map {
      "\($0.severity) \($0.rule.text): \($0.message)"
    }
  }

  static func tap(_ time: String) -> String {
    "{\"Event\": {\"Time\": \(time), \"EventType\": \"HapticTransient\"}}"
  }

  static let closeTaps = [tap("0"), tap("0.02")].joined(separator: ", ")

  @Test func turnsWarningsIntoNotesWithTheReason() throws {
    #expect(
      try findings(#"{"transient-gap": "one\u2028rough\nhit"}"#, events: Self.closeTaps) == [
        """
        note transient-gap: the transient is 20.0 ms after the previous one; at least 50 ms are \
        needed to perceive two taps 
        """
          + "(allowed: one rough hit)"
      ])
  }

  @Test func reportsUnknownRules() throws {
    #expect(
      try findings(#"{"transient-gaps": "x"}"#, events: Self.closeTaps).first
        == "warning unknown-rule: unknown rule \"transient-gaps\"")
  }

  @Test func unnecessarySuppressionsAreReported() throws {
    #expect(
      try findings(#"{"harsh": "x", "negative-time": "y"}"#, events: Self.tap("0")) == [
        "note unused-allowance: unnecessary: the file does not violate \"harsh\"",
        "note unused-allowance: \"negative-time\" is an error and cannot be allowed",
      ])
  }

  @Test func errorsCannotBeSuppressed() throws {
    #expect(
      try findings(#"{"negative-time": "y", "transient-gap": "z"}"#, events: Self.tap("-1")) == [
        "error negative-time: Time is -1.0; it must not be negative"
      ])
  }

  @Test(arguments: [
    ("[]", "warning wrong-type: AllowedRules should be an object, not an array"),
    (
      #"{"harsh": true}"#,
      "warning wrong-type: the reason for an allowed rule should be a string, not a boolean"
    ),
  ]) func reportsAllowancesOfTheWrongType(allowed: String, message: String) throws {
    #expect(try findings(allowed, events: Self.tap("0")) == [message])
  }
}
