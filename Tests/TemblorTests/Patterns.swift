/// AHAP texts for the tests.
enum Patterns {
  /// One tap at a time in seconds.
  static func tap(at time: Double = 0) -> String {
    """
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": \(time), "EventType": "HapticTransient", "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": 0.8}]}}
    ]}

    """
  }

  /// A pattern that plays a sound file.
  static func playing(_ path: String) -> String {
    """
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": 0, "EventType": "AudioCustom", "EventWaveformPath": "\(path)",
        "EventParameters": []}}
    ]}

    """
  }

  /// The text ends too early, at line 2, column 1.
  static let broken = "{\n"
}
