internal import RealtimeMemory
internal import HapticModel

extension RenderPlan {
  /// Plans a recording on the haptic bus, heard sample for sample: no profile and no control acts on it.
  ///
  /// - Parameters:
  ///   - recording: A sound at the plan's rate, of which the first channel is heard.
  ///   - rate: Frames per second, 8,000–192,000.
  /// - Throws: A `RenderError` where the rate lies outside.
  public convenience init(recording: AudioBuffer, rate: Double) throws(RenderError) {
    try Self.check(rate: rate)
    var draft = RenderPlanBuilder(profile: .phone, rate: rate)
    let mono = recording.channelCount == 1 ? recording : recording.firstChannel
    let length = Int64(mono.frameCount)
    if length > 0 {
      var voice = PlannedVoice(
        source: .recording, onset: 0,
        envelope: Envelope(
          riseEnd: 0, riseLevel: 1, releaseStart: length, releaseLevel: 1, end: length),
        gain: 1)
      voice.sample = 0
      draft.voices = [voice]
    }
    draft.samples = [mono]
    draft.eventCount = draft.voices.count
    draft.hasHaptics = true
    draft.loopLength = length
    draft.soundEnd = length
    draft.add(tracks: EventControls(of: HapticPattern(), rate: rate).moving)
    draft.countVoices()
    self.init(draft)
  }
}

extension AudioBuffer {
  /// The first channel by itself.
  fileprivate var firstChannel: AudioBuffer {
    AudioBuffer(
      interleaved: (0..<frameCount).map { frames[$0 * channelCount] },
      channelCount: 1)
  }
}
