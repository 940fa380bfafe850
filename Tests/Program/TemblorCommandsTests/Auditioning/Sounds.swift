import TestSupport
import Testing

@testable import TemblorCommands

/// Returns noise within ±0.5 with little energy at low frequencies, so that the DC blocker hardly
/// changes it.
func noise(_ count: Int, seed: UInt64 = 1, level: Float = 1) -> [Float] {
  var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  var previousValue: Float = 0
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    let value = (Float(state >> 40) / 33_554_432 - 0.25) * level
    defer { previousValue = value }
    return value - previousValue
  }
}

/// Returns a number of silent frames.
func silence(_ count: Int) -> [Float] { [Float](repeating: 0, count: count) }

/// Expects a signal to equal samples from a frame on, except for the effect of the DC blocker.
func expect(
  _ signal: ArraySlice<Float>, is samples: [Float], from first: Int = 0, times gain: Float = 1,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let errors = zip(signal, samples.dropFirst(first)).map { abs($0 - $1 * gain) }
  let comparedCount = errors.count
  let expectedCount = signal.count
  #expect(comparedCount == expectedCount, sourceLocation: sourceLocation)
  let maximumError = errors.max() ?? 1
  let frame = errors.firstIndex(of: maximumError) ?? 0
  #expect(maximumError < 3e-4, "at frame \(frame)", sourceLocation: sourceLocation)
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
  /// Writes a WAV file of floating-point samples at 48 kHz; returns its path.
  func writeSound(_ name: String, _ channels: [Float]...) throws -> String {
    let frames = channels[0].indices.flatMap { frame in channels.map { $0[frame] } }
    let count = channels.count
    func littleEndian(_ integer: Int, _ byteCount: Int) -> [UInt8] {
      (0..<byteCount).map { UInt8(truncatingIfNeeded: integer >> (8 * $0)) }
    }
    let format =
      littleEndian(3, 2) + littleEndian(count, 2) + littleEndian(48_000, 4)
      + littleEndian(192_000 * count, 4) + littleEndian(4 * count, 2)
      + littleEndian(32, 2)
    let data = unsafe frames.withUnsafeBytes { unsafe Array($0) }
    try write(
      Array("RIFF".utf8) + littleEndian(36 + data.count, 4) + Array("WAVEfmt ".utf8)
        + littleEndian(16, 4) + format
        + Array("data".utf8)
        + littleEndian(data.count, 4) + data, to: name)
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
