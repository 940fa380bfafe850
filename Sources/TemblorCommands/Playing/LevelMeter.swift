internal import CommandLineKit
internal import Glibc

/// Levels of channels as block characters: bars where there is room, else a column for each.
///
/// Where even that is too wide, neighbouring channels share a column, which shows the highest.
struct LevelMeter {
  /// The level at which a meter is empty, in dBFS: what is 48 dB below the peak is not felt.
  static let floor = -48.0
  /// From here on a level is marked as high, in dBFS: half of what the ceiling allows.
  static let high = -6.0
  /// Columns of the longest bar: 2 dB each.
  static let longest = 24
  /// Columns under which a bar tells less than a column in eighths does.
  static let shortest = 4

  private let peaks: [Float]
  private let barLength: Int
  /// Columns the meter takes.
  let length: Int

  /// A meter of at most so many columns.
  init(_ peaks: [Float], width: Int) {
    let gaps = max(0, peaks.count - 1)
    let bar = peaks.isEmpty ? 0 : (width - gaps) / peaks.count
    if bar >= Self.shortest {
      self.peaks = peaks
      barLength = min(bar, Self.longest)
      length = barLength * peaks.count + gaps
    } else {
      self.peaks = Self.fold(peaks, into: max(0, width))
      barLength = 0
      length = self.peaks.count
    }
  }

  /// The meter, coloured by the output's leave.
  func text(for output: Output) -> String {
    var text = ""
    for (index, peak) in peaks.enumerated() {
      if barLength > 0 && index > 0 { text += " " }
      text += output.styled(
        barLength > 0 ? Self.bar(peak, length: barLength) : Self.column(peak),
        Self.decibels(peak) >= Self.high ? .yellow : .green)
    }
    return text
  }

  /// The highest of each group of neighbours, groups as equal as can be.
  private static func fold(_ peaks: [Float], into count: Int) -> [Float] {
    if peaks.count <= count { return peaks }
    return (0..<count).map { group in
      peaks[group * peaks.count / count..<(group + 1) * peaks.count / count].max() ?? 0
    }
  }

  /// A bar from the left in eighths of a column, blank where it ends.
  private static func bar(_ peak: Float, length: Int) -> String {
    let eighths = Int((share(peak) * Double(length * 8)).rounded())
    var text = String(repeating: "█", count: eighths / 8)
    if eighths % 8 > 0 { text.unicodeScalars.append(scalar(0x2590 - UInt32(eighths % 8))) }
    return text + String(repeating: "·", count: length - (eighths + 7) / 8)
  }

  /// One column filled from below, `·` where it is silent.
  private static func column(_ peak: Float) -> String {
    let eighths = Int((share(peak) * 8).rounded())
    return eighths == 0 ? "·" : String(Character(scalar(0x2580 + UInt32(eighths))))
  }

  /// A character of Unicode's Block Elements: 2581 to 2588 grow upwards, 258F to 2588 to the right.
  private static func scalar(_ value: UInt32) -> Unicode.Scalar { Unicode.Scalar(value) ?? "█" }

  private static func share(_ peak: Float) -> Double {
    min(1, max(0, 1 - decibels(peak) / floor))
  }

  private static func decibels(_ peak: Float) -> Double {
    peak > 0 ? 20 * log10(Double(min(peak, 1))) : -.infinity
  }
}
