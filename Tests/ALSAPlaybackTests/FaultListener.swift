import FaultyPCM

/// Listens to a device for hours without keeping what it heard: level, corners, and when taps begin.
final class FaultListener {
  /// The greatest magnitude.
  private(set) var peak: Float = 0
  /// The greatest change of slope from one frame to the next, within what was heard without a break.
  private(set) var greatestCorner: Float = 0
  /// The moments in seconds at which sound began after at least 50 ms of quiet.
  private(set) var onsets: [Double] = []
  /// Whether any sample was no finite number.
  private(set) var hasNonsense = false

  private let rate: Double
  private var one: Float = 0
  private var other: Float = 0
  private var unbroken = 0
  private var quiet = 0
  private var nextFrame = Int64.min

  init(rate: Double) { self.rate = rate }

  func hear(_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) {
    let start = Int64((time / .seconds(1) * rate).rounded())
    if start != nextFrame {
      unbroken = 0
      quiet = start > nextFrame ? quiet : 0
    }
    nextFrame = start + Int64(samples.count / channelCount)
    for frame in 0..<(samples.count / channelCount) {
      let sample = samples[frame * channelCount]
      if !sample.isFinite { hasNonsense = true }
      peak = max(peak, abs(sample))
      if unbroken >= 2 { greatestCorner = max(greatestCorner, abs(sample - 2 * one + other)) }
      other = one
      one = sample
      unbroken += 1
      if abs(sample) > 0.02 {
        if quiet >= Int(rate / 20) { onsets.append(Double(start + Int64(frame)) / rate) }
        quiet = 0
      } else {
        quiet += 1
      }
    }
  }
}
