import FaultyPCM

/// Listens to a device for hours without keeping what it heard: level, corners, and when taps
/// begin.
final class FaultListener {
  /// The greatest magnitude.
  private(set) var peak: Float = 0
  /// The moments in seconds at which the device fails.
  var faultTimes: [Double] = []
  /// The greatest change of slope from one frame to the next, within what was heard without a
  /// break.
  ///
  /// Where a device that fails loses what it has, sound breaks off; that is not a ramp of ours.
  private(set) var maximumSlopeChange: Float = 0
  /// The moments in seconds at which sound began after at least 50 ms of quiet.
  private(set) var onsetTimes: [Double] = []
  /// Whether any sample was no finite number.
  private(set) var hasNonFiniteSamples = false

  private let rate: Double
  private var previousSample: Float = 0
  private var sampleBeforePrevious: Float = 0
  private var unbrokenFrameCount = 0
  private var quietFrameCount = 0
  private var nextFrame = Int64.min

  init(rate: Double) { self.rate = rate }

  /// Whether the device failed within a second before a frame.
  private func isFailing(_ frame: Int64) -> Bool {
    let moment = Double(frame) / rate
    return faultTimes.contains { $0 <= moment + 0.001 && moment - $0 < 1 }
  }

  func analyze(_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) {
    let start = Int64((time / .seconds(1) * rate).rounded())
    if start != nextFrame {
      unbrokenFrameCount = 0
      quietFrameCount = start > nextFrame ? quietFrameCount : 0
    }
    nextFrame = start + Int64(samples.count / channelCount)
    for frame in 0..<(samples.count / channelCount) {
      let sample = samples[frame * channelCount]
      if !sample.isFinite {
        hasNonFiniteSamples = true
      }
      peak = max(peak, abs(sample))
      let corner =
        unbrokenFrameCount >= 2 ? abs(sample - 2 * previousSample + sampleBeforePrevious) : 0
      if corner > maximumSlopeChange, !(sample == 0 && isFailing(start + Int64(frame))) {
        maximumSlopeChange = corner
      }
      sampleBeforePrevious = previousSample
      previousSample = sample
      unbrokenFrameCount += 1
      if abs(sample) > 0.02 {
        if quietFrameCount >= Int(rate / 20) {
          onsetTimes.append(Double(start + Int64(frame)) / rate)
        }
        quietFrameCount = 0
      } else {
        quietFrameCount += 1
      }
    }
  }
}
