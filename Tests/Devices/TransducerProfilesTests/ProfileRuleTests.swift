import Reading
import Testing
import TransducerProfiles

@Suite struct ProfileRuleTests {
  /// Returns the text of a valid profile with additional members on line 2.
  private static func profile(_ members: String, high: Double = 80) -> String {
    "{\n" + members
      + #""name": "mine", "summary": "Mine.", "frequency": {"low": 20, "high": \#(high)} }"#
  }

  private static func findings(_ text: String, stem: String? = nil) -> [Finding] {
    ProfileCheckResult(text: Array(text.utf8), name: "f", stem: stem).findings
  }

  /// A text that violates each rule, by the identifier of the rule.
  private static let violatingTexts: [String: String] = [
    "syntax": "{", "trailing-comma": profile(#""sources": ["S",], "#),
    "duplicate-key": profile(#""level": 0.2, "level": 0.2, "#),
    "wrong-type": profile(#""level": true, "#), "missing-key": "{}",
    "unknown-key": profile(#""levle": 0.2, "#),
    "out-of-range": profile(#""level": 2, "#), "invalid-value": profile(#""sources": [""], "#),
    "contradiction": profile(#""intensity": {"law": "sensation"}, "#), "file-name": profile(""),
    "outside-band": profile(#""hardware": {"product": "P", "band": {"low": 30, "high": 90}}, "#),
    "outside-tactile-range": profile("", high: 1_001),
    "insufficient-headroom": profile(#""level": 0.5, "#),
    "missing-sources": profile(#""hardware": {"product": "P"}, "#),
    "short-thresholds": profile(
      #""intensity": {"law": "sensation", "decibels": 30}, "thresholds": [{"hertz": 20, "decibels": 1}, {"hertz": 79, "decibels": 1}], "#
    ),
    "narrow-band": profile(
      #""hardware": {"product": "P", "resonance": 40, "qualityFactor": 15, "continuousPower": 9, "uncertainty": {"resonance": 0.01, "qualityFactor": 1.1}}, "drive": {"equalize": false}, "#
    ),
    "estimated-q-factor": profile(
      #""hardware": {"product": "P", "resonance": 40, "qualityFactor": 5, "estimated": ["qualityFactor"]}, "#
    ),
    "missing-limit": profile(#""hardware": {"product": "P"}, "#),
    "implausible-value": profile(
      #""hardware": {"product": "P", "continuousPower": 50, "excursion": 0.001}, "#),
  ]

  @Test(arguments: ProfileRules.all) func everyRuleCanBeViolated(rule: Rule) throws {
    let text = try #require(Self.violatingTexts[rule.id.text])
    let findings = Self.findings(text, stem: rule.id.text == "file-name" ? "other" : nil)
    #expect(findings.contains { $0.rule == rule.id && $0.severity == rule.severity }, "\(findings)")
  }

  /// Returns the warnings about implausible values, without the name of the file.
  private static func warnings(_ members: String) -> [String] {
    findings(profile(members)).filter { $0.rule.text == "implausible-value" }.map {
      String($0.description.dropFirst(2))
    }
  }

  @Test(arguments: [
    (
      #""hardware": {"product": "P", "continuousPower": 50, "excursion": 0.001}, "#,
      """
      2:66: warning: an excursion of 0.001 mm is very small for a power of 50 W \
      (hardware.excursion); the excursion must be in millimeters
      """
    ),
    (
      #""hardware": {"product": "P", "continuousPower": 50, "peakPower": 1001}, "#,
      "2:66: warning: a peak power of 1001 W is 20 times the continuous power (hardware.peakPower)"
    ),
    (
      #""hardware": {"product": "P"}, "amplifier": {"power": 0.05}, "#,
      """
      2:54: warning: an amplifier power of 0.05 W is unusual (amplifier.power); the power must be \
      in watts
      """
    ),
    (
      #""hardware": {"product": "P"}, "amplifier": {"power": 10001}, "#,
      """
      2:54: warning: an amplifier power of 10001 W is unusual (amplifier.power); the power must be \
      in watts
      """
    ),
    (
      #""transient": {"maxDuration": 0.04, "attack": 0.03, "release": 0.02}, "#,
      """
      2:46: warning: attack and release last 0.05 s in a burst of 0.04 s, so the burst never \
      reaches its level (transient.attack)
      """
    ),
  ]) func implausibleValuesCauseWarnings(members: String, warning: String) {
    #expect(Self.warnings(members) == [warning])
  }

  @Test(arguments: [
    #""hardware": {"product": "P", "continuousPower": 50, "excursion": 0.01}, "#,
    #""hardware": {"product": "P", "continuousPower": 0.5, "excursion": 0.001}, "#,
    #""hardware": {"product": "P", "continuousPower": 50, "peakPower": 1000}, "#,
    #""hardware": {"product": "P"}, "amplifier": {"power": 0.1}, "#,
    #""hardware": {"product": "P"}, "amplifier": {"power": 10000}, "#,
    #""transient": {"maxDuration": 0.05, "attack": 0.03, "release": 0.02}, "#,
  ]) func valuesAtTheLimitsCauseNoWarnings(members: String) {
    #expect(Self.warnings(members) == [])
  }
}
