/// AHAP texts for the tests.
enum Patterns {
  /// Returns a pattern with one tap at a time in seconds.
  static func tap(at time: Double = 0) -> String {
    """
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": \(time), "EventType": "HapticTransient", "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": 0.8},
        {"ParameterID": "HapticSharpness", "ParameterValue": 0.5}]}}
    ]}

    """
  }

  /// A tap, and a strong hum as low as the profile goes.
  static let humText = """
    {"Version": 1.0, "Pattern": [
    {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [
    {"ParameterID": "HapticIntensity", "ParameterValue": 0.75}, {"ParameterID": "HapticSharpnes\
    s", "ParameterValue": 0.5}]}},
    {"Event": {"Time": 0.5, "EventType": "HapticContinuous", "EventDuration": 1, "EventParameter\
    s": [
    {"ParameterID": "HapticIntensity", "ParameterValue": 1},
    {"ParameterID": "HapticSharpness", "ParameterValue": 0}]}}]}

    """

  /// A profile of hardware with a strong resonance and a low excursion limit.
  static let ringProfile = """
    {
      "name": "ring", "summary": "Mine.", "frequency": { "low": 25, "high": 80 },
      "transient": { "frequency": { "low": 30, "high": 60 } },
      "hardware": { "product": "A B", "resonance": 40, "qualityFactor": 10, "continuousPower": 10,
        "acceleration": 8, "excursion": 0.14,
        "thermal": { "coilTimeConstant": 4, "magnetTimeConstant": 300 },
        "measured": { "date": "1 May", "residual": -31.5, "sensor": "velocity" },
        "estimated": ["acceleration"], "uncertainty": { "resonance": 0, "qualityFactor": 1 } },
      "amplifier": { "power": 40 }, "sources": ["A sheet."]
    }

    """

  /// A pattern that plays a sound file.
  static func patternWithSound(_ path: String) -> String {
    """
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "\(path)",
        "EventParameters": []}}
    ]}

    """
  }

  /// The text ends too early, at line 2, column 1.
  static let brokenText = "{\n"
}
