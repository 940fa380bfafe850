import HapticModel
internal import RealtimeMemory

/// A plan in the making: what compilation fills before it is frozen.
struct RenderPlanBuilder: ~Copyable {
  let rate: Double
  /// The profile, asking for nothing its hardware cannot make felt.
  let profile: TransducerProfile
  let mappings: VoiceMappings
  /// What the mappings read.
  let tables: LevelTables
  /// The profile's factor on amplitude over sharpness.
  let levels: [Double]
  /// The same for bursts.
  let burstLevels: [Double]
  /// What the amplitude of a burst, as intensity makes it, is raised to over sharpness.
  let burstGrowths: [Double]
  var eventCount = 0
  var loopLength: Int64 = 0
  var loopRange: Range<Int64>?
  var soundEnd: Int64 = 0
  var hasHaptics = false
  var hasAudio = false
  var voices = GrowingBuffer<PlannedVoice>()
  var envelopes: [PlannedEnvelope] = []
  var segments: [ControlSegment] = []
  /// The layer whose events are being added.
  var layer: UInt16 = 0
  /// Where the tracks of each layer start in `segments`.
  var layerTracks: [LayerTracks] = []
  var samples: [AudioBuffer] = []
  var sampleIndices: [String: Int32] = [:]

  init(profile: TransducerProfile, rate: Double) {
    let drive = profile.transducerSettings(rate: rate)
    let asked = profile
    let profile = profile.bandMapped(before: drive)
    self.profile = profile
    self.rate = rate
    levels = profile.levelsOverSharpness(count: LevelTables.pointCount, drive: drive)
    burstLevels = profile.burstLevels(like: levels, asked: asked.transient, drive: drive)
    burstGrowths = profile.growthsOverSharpness(count: LevelTables.pointCount, of: profile.transient.frequency)
    tables = LevelTables(
      levels: levels, bursts: burstLevels,
      growths: profile.growthsOverSharpness(count: LevelTables.pointCount, of: profile.frequency),
      burstGrowths: burstGrowths)
    mappings = VoiceMappings(profile, tables: tables, rate: rate)
  }

  /// Frames of a span of time, at least one.
  func frames(_ seconds: Double) -> Int64 { max(1, FrameConversion.frame(seconds: seconds, rate: rate)) }

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

  /// The intensity control with continuous events softened while a transient sounds.
  ///
  /// The profile's duck is a factor on amplitude; the control carries intensity, so the factor goes
  /// through the inverse of the intensity law. Call it when all bursts are planned.
  func ducked(_ track: ControlTimeline) -> ControlTimeline {
    guard profile.duck < 1, case .power(let exponent) = profile.intensity else { return track }
    var spans: [Range<Int64>] = []
    for index in 0..<voices.count {
      let voice = voices[index]
      guard voice.source == .burst, voice.gain > 0 else { continue }
      let span = voice.onset..<(voice.onset + voice.envelope.end)
      if let last = spans.last, last.upperBound >= span.lowerBound {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        spans.append(span)
      }
    }
    return track.scaled(by: raised(profile.duck, to: 1 / exponent), within: spans)
  }
}
