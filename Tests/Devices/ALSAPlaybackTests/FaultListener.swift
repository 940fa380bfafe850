import FaultyPCM

/// Analyzes the output of a device for hours without storing it: its peak, its slope changes, and
/// the onsets of taps.
final class FaultListener {
  /// The maximum magnitude of the samples.
  private(set) var peak: Float = 0
  /// The times of the faults, in seconds.
  var faultTimes: [Double] = []
  /// The maximum change of the slope between frames, within uninterrupted sound.
  ///
  /// A device that fails can lose its buffer, which cuts off the sound. Such a cut does not count.
  private(set) var maximumSlopeChange: Float = 0
  /// The onsets of sound after at least 50 ms of silence, in seconds.
  private(set) var onsetTimes: [Double] = []
  /// A Boolean value that indicates whether a sample was infinite or not a number.
  private(set) var hasNonFiniteSamples = false

  private let rate: Double
  private var previousSample: Float = 0
  private var sampleBeforePrevious: Float = 0
  private var unbrokenFrameCount = 0
  private var quietFrameCount = 0
  private var nextFrame = Int64.min

  init(rate: Double) { self.rate = rate }

  /// Returns true if the device failed within a second before a frame.
  private func isFailing(_ frame: Int64) -> Bool {
    let seconds = Double(frame) / rate
    return faultTimes.contains { $0 <= seconds + 0.001 && seconds - $0 < 1 }
  }

  func analyze(_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) {
    let startFrame = Int64((time / .seconds(1) * rate).rounded())
    if startFrame != nextFrame {
      unbrokenFrameCount = 0
      quietFrameCount = startFrame > nextFrame ? quietFrameCount : 0
    }
    nextFrame = startFrame + Int64(samples.count / channelCount)
    for frame in 0..<(samples.count / channelCount) {
      let sample = samples[frame * channelCount]
      if !sample.isFinite {
        hasNonFiniteSamples = true
      }
      peak = max(peak, abs(sample))
      let slopeChange =
        unbrokenFrameCount >= 2 ? abs(sample - 2 * previousSample + sampleBeforePrevious) : 0
      if slopeChange > maximumSlopeChange, !(sample == 0 && isFailing(startFrame + Int64(frame))) {
        maximumSlopeChange = slopeChange
      }
      sampleBeforePrevious = previousSample
      previousSample = sample
      unbrokenFrameCount += 1
      if abs(sample) > 0.02 {
        if quietFrameCount >= Int(rate / 20) {
          onsetTimes.append(Double(startFrame + Int64(frame)) / rate)
        }
        quietFrameCount = 0
      } else {
        quietFrameCount += 1
      }
    }
  }
}
