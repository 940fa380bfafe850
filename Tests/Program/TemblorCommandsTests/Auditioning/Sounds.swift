import TestSupport
import Testing

@testable import TemblorCommands

/// Samples within ±0.5 without low frequencies, so that the DC blocker leaves them almost as they
/// are.
func noise(_ count: Int, seed: UInt64 = 1, level: Float = 1) -> [Float] {
  var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  var last: Float = 0
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    let number = (Float(state >> 40) / 33_554_432 - 0.25) * level
    defer { last = number }
    return number - last
  }
}

/// No sound for a number of frames.
func silence(_ count: Int) -> [Float] { [Float](repeating: 0, count: count) }

/// Expects a signal to be another one from a frame on, but for what the DC blocker takes.
func expect(
  _ heard: ArraySlice<Float>, is samples: [Float], from first: Int = 0, times gain: Float = 1,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let errors = zip(heard, samples.dropFirst(first)).map { abs($0 - $1 * gain) }
  let count = errors.count
  let wanted = heard.count
  #expect(count == wanted, sourceLocation: sourceLocation)
  let greatest = errors.max() ?? 1
  let frame = errors.firstIndex(of: greatest) ?? 0
  #expect(greatest < 3e-4, "at frame \(frame)", sourceLocation: sourceLocation)
}

/// Returns a HarmonyOS pattern with a hum at the left and a hum at the right.
///
/// - Parameter rightIntensity: The intensity of the right hum, in percent.
func locatedPattern(rightIntensity: Int) -> String {
  func channel(_ number: Int, _ intensity: Int) -> String {
    """
    {"Parameters": {"Index": \(number)}, "Pattern": [{"Event": {"Type": "continuous",
      "StartTime": 0, "Duration": 200,
      "Parameters": {"Intensity": \(intensity), "Frequency": 0}}}]}
    """
  }
  return """
    {"MetaData": {"Version": 1.0, "ChannelNumber": 2},
     "Channels": [\(channel(1, 100)), \(channel(2, rightIntensity))]}
    """
}

extension TemporaryFolder {
  /// Writes a WAV file of floating-point samples at 48 kHz; answers its path.
  func writeSound(_ name: String, _ channels: [Float]...) throws -> String {
    let frames = channels[0].indices.flatMap { frame in channels.map { $0[frame] } }
    let count = channels.count
    func word(_ value: Int, _ length: Int) -> [UInt8] {
      (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let format =
      word(3, 2) + word(count, 2) + word(48_000, 4) + word(192_000 * count, 4) + word(4 * count, 2)
      + word(32, 2)
    let data = unsafe frames.withUnsafeBytes { unsafe Array($0) }
    try write(
      Array("RIFF".utf8) + word(36 + data.count, 4) + Array("WAVEfmt ".utf8) + word(16, 4) + format
        + Array("data".utf8)
        + word(data.count, 4) + data, to: name)
    return self(name)
  }

  /// Writes a pattern of one continuous event; returns its path.
  func writeHum(_ name: String, _ seconds: Double, intensity: Double = 1, sharpness: Double = 0.5)
    throws
    -> String
  {
    try write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticContinuous",
        "EventDuration": \(seconds), "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": \(intensity)},
        {"ParameterID": "HapticSharpness", "ParameterValue": \(sharpness)}]}}]}
      """, to: name)
    return self(name)
  }
}
