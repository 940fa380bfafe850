import Reading
import Foundation
import HapticFormats
import VendorFormats
import HapticModel
import Testing

/// Documents of the MPEG formats, and the samples of the reference software.
enum MPEGFixtures {
  /// Returns the samples of a 16-bit file with one channel.
  static func samples(ofWAV bytes: [UInt8]) throws -> [Int] {
    var chunkOffset = 12
    while chunkOffset + 8 <= bytes.count {
      let size =
        Int(bytes[chunkOffset + 4]) | Int(bytes[chunkOffset + 5]) << 8 | Int(bytes[chunkOffset + 6])
        << 16
      if Array(bytes[chunkOffset..<chunkOffset + 4]) == Array("data".utf8) {
        return stride(from: chunkOffset + 8, to: chunkOffset + 8 + size, by: 2).map {
          Int(Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8))
        }
      }
      chunkOffset += 8 + size
    }
    throw CocoaError(.fileReadCorruptFile)
  }

  /// Returns a sample in the format of the reference software.
  static func quantized(_ sample: Float) -> Int {
    let scaled = (Double(sample) * 0.6138 * 32_768).rounded()
    return Int(min(max(scaled, -32_768), 32_767))
  }

  /// Returns a text of one channel with one band.
  static func text(
    _ band: String, effects: String, timescale: Int = 1_000, gain: Double = 1, library: String = "",
    perception: String = ""
  ) -> String {
    """
    {"version": "2023", "profile": "Main", "level": 1, "date": "2026-11-21", "description": "d",
    "timescale": \(timescale), "avatars": [], "syncs": [], "perceptions": [{"id": 0, "avatar_id": 0,
    "description": "", "perception_modality": "Vibrotactile", "effect_library": [\(library)],
    \(perception) "channels": [{"id": 0, "description": "c", "gain": \(gain),
    "mixing_coefficient": 1, "bands": [{\(band), "lower_frequency_limit": 0,
    "upper_frequency_limit": 1000, "effects": [\(effects)]}]}]}]}
    """
  }

  /// Returns a basis effect with keyframes, each with a position, an amplitude, and a frequency.
  static func effect(
    at position: Int = 0, _ keys: [(Int, Double?, Double?)], attributes: String = ""
  )
    -> String
  {
    let keyframes = keys.map { key in
      let amplitude = key.1.map { ", \"amplitude_modulation\": \($0)" } ?? ""
      let frequency = key.2.map { ", \"frequency_modulation\": \($0)" } ?? ""
      return "{\"relative_position\": \(key.0)\(amplitude)\(frequency)}"
    }
    return "{\"effect_type\": \"Basis\", \"position\": \(position)\(attributes), \"keyframes\": "
      + "[\(keyframes.joined(separator: ", "))]}"
  }

  static let wave = "\"band_type\": \"VectorialWave\""
  static let tap = "\"band_type\": \"Transient\""
  static func curve(_ kind: String) -> String {
    "\"band_type\": \"Curve\", \"curve_type\": \"\(kind)\""
  }

  static func readResult(_ text: String) -> ReadResult {
    HapticFormat.hjif.examine(SourceFile(Array(text.utf8), name: "t"), options: ReadingOptions())
  }

  static func composition(_ text: String) throws -> HapticComposition {
    let examination = readResult(text)
    return try #require(examination.composition, "\(examination.findings.map(\.description))")
  }

  /// Returns the only signal of a composition.
  static func signal(_ text: String) throws -> SampledSignal {
    let signals = try composition(text).layers.flatMap(\.signals)
    try #require(signals.count == 1)
    return signals[0]
  }
}
