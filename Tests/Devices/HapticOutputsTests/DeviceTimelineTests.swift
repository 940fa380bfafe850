import HapticPlayback
import SoundFile
import Testing

@testable import HapticOutputs

/// A device at 48 kHz with a buffer of 960 frames (20 ms) in periods of 240 (5 ms).
@Suite struct DeviceTimelineTests {
  private static func timeline(warmUp: Duration = .zero, isHardware: Bool = true)
    -> DeviceTimeline
  {
    DeviceTimeline(
      configuration: PCMConfiguration(
        rate: 48_000, channelCount: 2, encoding: .float, access: .readWrite, periodSize: 240,
        bufferSize: 960, isHardware: isHardware, isFasterThanRealTime: false,
        isServerStream: false, isJACKClient: false),
      rate: 48_000, warmUpDuration: warmUp, now: .zero)
  }

  /// A timeline whose full buffer started at 0 and that has run steadily for a second.
  private static func steadyTimeline() -> DeviceTimeline {
    var timeline = timeline()
    timeline.recordWritten(960, isSilence: false, now: .zero)
    timeline.start(now: .zero)
    for milliseconds in stride(from: 5, through: 1_000, by: 5) {
      timeline.recordWritten(240, isSilence: false, now: .milliseconds(milliseconds))
      let deviation = timeline.trackDeviceClock(queuedCount: 960, now: .milliseconds(milliseconds))
      #expect(deviation == nil)
    }
    #expect(timeline.isDeviceSteady)
    return timeline
  }

  @Test("A device is filled when it has no space for another period")
  func isFilledWithoutSpaceForAPeriod() {
    var timeline = Self.timeline()
    timeline.recordWritten(720, isSilence: false, now: .zero)
    #expect(!timeline.isBufferFilled)
    timeline.recordWritten(1, isSilence: false, now: .zero)
    #expect(timeline.isBufferFilled)
    timeline.start(now: .zero)
    #expect(!timeline.isBufferFilled)
  }

  @Test("The start sets the end of playback to that of the filled buffer")
  func startSetsThePlaybackEnd() {
    var timeline = Self.timeline()
    timeline.recordWritten(960, isSilence: false, now: .zero)
    #expect(timeline.playbackEndTime == nil)
    timeline.start(now: .milliseconds(3))
    #expect(timeline.playbackEndTime == .milliseconds(23))
    #expect(timeline.prefilledFrameCount == 0)
  }

  @Test("Accepted frames move the end of playback by their duration")
  func acceptedFramesMoveThePlaybackEnd() {
    var timeline = Self.steadyTimeline()
    #expect(timeline.playbackEndTime == .milliseconds(1_020))
    timeline.recordWritten(480, isSilence: false, now: .milliseconds(1_005))
    #expect(timeline.playbackEndTime == .milliseconds(1_030))
  }

  @Test("Leaps that are too small to report add up to a late device")
  func smallLeapsAddUp() {
    var timeline = Self.steadyTimeline()
    // Each measurement is 12 ms later than the previous one; the tolerance is 30 ms.
    #expect(timeline.trackDeviceClock(queuedCount: 960, now: .milliseconds(1_012)) == nil)
    #expect(timeline.trackDeviceClock(queuedCount: 960, now: .milliseconds(1_024)) == nil)
    #expect(timeline.trackDeviceClock(queuedCount: 960, now: .milliseconds(1_036)) == .late)
  }

  @Test("A clock that drifts by 200 ppm is not a discontinuity")
  func driftIsFollowed() {
    var timeline = Self.steadyTimeline()
    var now = Duration.milliseconds(1_000)
    for _ in 0..<100_000 {
      now += .milliseconds(5)
      timeline.recordWritten(240, isSilence: false, now: now)
      now += .microseconds(1)
      let deviation = timeline.trackDeviceClock(queuedCount: 960, now: now)
      #expect(deviation == nil)
    }
  }

  @Test("A device that skips more than its measurement step is early")
  func skippedFramesAreEarly() {
    var timeline = Self.steadyTimeline()
    // 960 frames were due; 360 remain.
    #expect(timeline.trackDeviceClock(queuedCount: 360, now: .milliseconds(1_000)) == .early)
  }

  @Test("After an underrun, the frames that became due since then are overdue")
  func underrunIsCorrected() {
    var timeline = Self.steadyTimeline()
    let correction = timeline.correctDiscontinuity(
      queuedCount: nil, silentCount: 0, now: .milliseconds(1_030))
    #expect(correction?.skippedFrameCount == 480)
    #expect(correction?.dueTime == .milliseconds(1_020))
    #expect(timeline.playbackEndTime == .milliseconds(1_030))
  }

  @Test("A device that lost its buffer before its end gets silence for it")
  func lostBufferIsReplacedBySilence() {
    var timeline = Self.steadyTimeline()
    let correction = timeline.correctDiscontinuity(
      queuedCount: nil, silentCount: 0, now: .milliseconds(1_010))
    #expect(correction?.skippedFrameCount == -480)
    #expect(timeline.playbackEndTime == .milliseconds(1_010))
  }

  @Test("A device that continues without a gap needs no correction")
  func continuationNeedsNoCorrection() {
    var timeline = Self.steadyTimeline()
    #expect(
      timeline.correctDiscontinuity(queuedCount: 960, silentCount: 0, now: .milliseconds(1_000))
        == nil)
  }

  @Test("A correction before the first start only requests silence")
  func correctionBeforeTheStartRequestsSilence() {
    var timeline = Self.timeline()
    #expect(timeline.correctDiscontinuity(queuedCount: nil, silentCount: 100, now: .zero) == nil)
    #expect(timeline.pendingSilenceFrameCount == 100)
  }

  @Test("A warm-up ends when a server has accepted frames in time for its duration")
  func warmUpEndsOnASteadyDevice() {
    var timeline = Self.timeline(warmUp: .milliseconds(50), isHardware: false)
    timeline.beginWarmUp()
    #expect(timeline.pendingSilenceFrameCount == 2_400)
    timeline.recordWritten(960, isSilence: true, now: .zero)
    timeline.start(now: .zero)
    timeline.continueWarmUp(available: 240, now: .milliseconds(5))
    timeline.continueWarmUp(available: 240, now: .milliseconds(54))
    #expect(timeline.warmUp != nil)
    timeline.continueWarmUp(available: 240, now: .milliseconds(55))
    #expect(timeline.warmUp == nil)
    #expect(timeline.pendingSilenceFrameCount == 0)
  }

  @Test("An unsteady device ends its warm-up after two seconds")
  func warmUpIsLimited() {
    var timeline = Self.timeline(warmUp: .milliseconds(50), isHardware: false)
    timeline.beginWarmUp()
    timeline.start(now: .zero)
    for milliseconds in stride(from: 10, through: 2_000, by: 10) {
      timeline.continueWarmUp(available: 240, now: .milliseconds(milliseconds))
      timeline.restartWarmUp(now: .milliseconds(milliseconds))
    }
    #expect(timeline.warmUp != nil)
    timeline.continueWarmUp(available: 240, now: .milliseconds(2_010))
    #expect(timeline.warmUp == nil)
  }
}
