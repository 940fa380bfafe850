import FaultyPCM

/// Listens to a device for hours without keeping what it heard: level, corners, and when taps
/// begin.
final class FaultListener {
  /// The greatest magnitude.
  private(set) var peak: Float = 0
  /// The moments in seconds at which the device fails.
  var faults: [Double] = []
  /// The greatest change of slope from one frame to the next, within what was heard without a
  /// break.
  ///
  /// Where a device that fails loses what it has, sound breaks off; that is not a ramp of ours.
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

  /// Whether the device failed within a second before a frame.
  private func isFailing(_ frame: Int64) -> Bool {
    let moment = Double(frame) / rate
    return faults.contains { $0 <= moment + 0.001 && moment - $0 < 1 }
  }

  func hear(_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) {
    let start = Int64((time / .seconds(1) * rate).rounded())
    if start != nextFrame {
      unbroken = 0
      quiet = start > nextFrame ? quiet : 0
    }
    nextFrame = start + Int64(samples.count / channelCount)
    for frame in 0..<(samples.count / channelCount) {
      let sample = samples[frame * channelCount]
      if !sample.isFinite {
        hasNonsense = true
      }
      peak = max(peak, abs(sample))
      let corner = unbroken >= 2 ? abs(sample - 2 * one + other) : 0
      if corner > greatestCorner, !(sample == 0 && isFailing(start + Int64(frame))) {
        greatestCorner = corner
      }
      other = one
      one = sample
      unbroken += 1
      if abs(sample) > 0.02 {
        if quiet >= Int(rate / 20) {
          onsets.append(Double(start + Int64(frame)) / rate)
        }
        quiet = 0
      } else {
        quiet += 1
      }
    }
  }
}
