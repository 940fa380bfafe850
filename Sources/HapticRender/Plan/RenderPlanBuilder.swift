import HapticModel

/// A plan in the making: what compilation fills before it is frozen.
struct RenderPlanBuilder {
  let rate: Double
  /// The profile, asking for nothing its hardware cannot make felt.
  let profile: TransducerProfile
  let laws: VoiceMappings
  /// The profile's factor on amplitude over sharpness.
  let levels: [Double]
  var eventCount = 0
  var loopLength: Int64 = 0
  var soundEnd: Int64 = 0
  var maximumVoiceCount = 0
  var hasHaptics = false
  var hasAudio = false
  var voices: [PlannedVoice] = []
  var segments: [ControlSegment] = []
  /// The layer whose events are being added.
  var layer: UInt16 = 0
  /// Where the tracks of each layer start in `segments`.
  var layerTracks: [LayerTracks] = []
  var samples: [AudioBuffer] = []
  var sampleIndices: [String: Int32] = [:]

  init(profile: TransducerProfile, rate: Double) {
    let drive = profile.transducerSettings(rate: rate)
    let profile = profile.placed(before: drive)
    self.profile = profile
    self.rate = rate
    levels = profile.levelsOverSharpness(count: VoiceMappings.tableCount, drive: drive)
    laws = VoiceMappings(profile, levels: levels, rate: rate)
  }

  /// Frames of a span of time, at least one.
  func frames(_ seconds: Double) -> Int64 {
    max(1, FrameConversion.frame(seconds: seconds, rate: rate))
  }

  /// Frames of an edge that has no envelope time.
  var edge: Int64 { frames(EnvelopeTimes.shortestEdge) }

  /// Appends the tracks of the next layer, with every jump ramped over the shortest edge; call it when all bursts are planned.
  mutating func add(tracks: [ControlTimeline]) {
    var starts: [Int32] = []
    for (id, track) in zip(LiveControlID.allCases, tracks) {
      starts.append(Int32(clamping: segments.count))
      let heard = id == .hapticIntensity ? ducked(track) : track
      segments += heard.segments(rampedOver: edge)
      // A segment that is never reached ends the track.
      segments.append(ControlSegment(start: .max, value: 0, slope: 0))
    }
    layerTracks.append(LayerTracks(starts: starts))
  }

  /// Counts the most voices that sound within one turn of a renderer, by a sweep: O(n log n).
  mutating func countVoices() {
    // A renderer starts all voices of a turn before it lets go of those that end in it.
    let turn = Int64(Renderer.subBlockLength)
    let ends = voices.map { $0.onset + $0.envelope.end + turn }.sorted()
    var ended = 0
    for (started, voice) in voices.enumerated() {
      while ended < ends.count, ends[ended] <= voice.onset { ended += 1 }
      maximumVoiceCount = max(maximumVoiceCount, started + 1 - ended)
    }
  }
}
