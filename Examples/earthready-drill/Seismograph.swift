import CoreHaptics
import CoreHapticsTesting

/// What a pattern does to the ground, as a row of block characters.
struct Seismograph {
  /// Seconds behind the pattern's end that are drawn too: its last tap and release.
  static let tail = 0.1

  private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// Seconds from the first column to the last.
  let duration: Double
  /// The square root of the greatest magnitude of each column, so that weak shaking can be seen
  /// too; 0…1.
  let levels: [Float]

  /// Plays a pattern into memory, and measures it.
  init(_ pattern: CHHapticPattern, columnCount: Int) throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try engine.start()
    try engine.makePlayer(with: pattern).start(atTime: CHHapticTimeImmediate)
    let duration = pattern.duration + Self.tail
    device.advance(seconds: duration)
    let samples = device.samples(of: engine)
    self.duration = duration
    levels = (0..<columnCount).map { column in
      let range = samples.count * column / columnCount..<samples.count * (column + 1) / columnCount
      return (samples[range].map(abs).max() ?? 0).squareRoot()
    }
  }

  /// The columns that have passed after some seconds.
  func columns(after seconds: Double) -> [(block: Character, level: Float)] {
    let share = min(max(seconds / duration, 0), 1)
    return levels.prefix(Int(share * Double(levels.count))).map { level in
      let step = Int((level * Float(Self.blocks.count)).rounded())
      return (Self.blocks[min(step, Self.blocks.count - 1)], level)
    }
  }
}
