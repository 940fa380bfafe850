public import HapticModel
internal import RealtimeMemory

/// A pattern compiled for a profile and a sample rate, ready to render.
///
/// A plan is immutable and can be shared between threads and renderers. It occupies about 110 bytes
/// for each sine and 24 bytes for each point of a curve.
public final class RenderPlan: @unchecked Sendable {
  /// The version of the rendering model. It increases whenever the same pattern would sound
  /// different.
  ///
  /// Since version 2, the hardware of a profile determines frequencies and levels.
  public static let renderingModelVersion = 3

  /// The sample rate, in hertz.
  public let rate: Double
  /// The length of a loop, in frames.
  ///
  /// The length is the duration of the pattern, or the end of the last burst or of the last event
  /// without a duration, whichever is later.
  public let loopFrameCount: Int64
  /// The range of frames that each later pass of a loop plays, or nil to play all frames.
  public let loopRange: Range<Int64>?
  /// The frame after which the plan is silent, because all releases have ended.
  public let soundEndFrame: Int64
  /// The number of events of the pattern.
  public let eventCount: Int
  /// The number of body locations of the pattern, audible or not; 0 for none.
  public private(set) var bodyLocationCount = 0
  /// The maximum number of voices that sound in a sub-block of a renderer.
  public let maximumVoiceCount: Int
  /// A Boolean value that indicates whether an event sounds on the haptic bus.
  public let hasHaptics: Bool
  /// A Boolean value that indicates whether an event sounds on the audio bus.
  public let hasAudio: Bool

  /// The view for the render path; `memory` owns its content.
  let planView: Cell<PlanView>
  private let memory: PlanMemory
  /// The voice capacity of a player with live envelope times.
  ///
  /// The value is read from a serialized plan, or nil for a compiled plan.
  private let storedVoiceCapacity: Int?

  /// The number of planned sines and sounds.
  public var plannedVoiceCount: Int { planView.value.voices.count }
  /// The length of a rendering, in frames: until the pattern has ended and all sound has decayed.
  public var frameCount: Int64 { max(loopFrameCount, soundEndFrame) }
  /// The duration of the rendered sound, in seconds.
  public var durationSeconds: Double { Double(frameCount) / rate }

  init(_ builder: consuming RenderPlanBuilder) {
    rate = builder.rate
    eventCount = builder.eventCount
    loopFrameCount = builder.loopFrameCount
    loopRange = builder.loopRange
    soundEndFrame = builder.soundEndFrame
    hasHaptics = builder.hasHaptics
    hasAudio = builder.hasAudio
    memory = PlanMemory(builder)
    maximumVoiceCount = Self.maximumSimultaneousVoiceCount(of: memory.planView.voices) {
      $0.envelope.endFrame
    }
    storedVoiceCapacity = nil
    planView = Cell(memory.planView)
  }

  init(_ header: PlanHeader, _ memory: PlanMemory) {
    rate = header.rate
    eventCount = Int(header.eventCount)
    loopFrameCount = header.loopFrameCount
    soundEndFrame = header.soundEndFrame
    loopRange =
      header.loopEndFrame > header.loopStartFrame
      ? header.loopStartFrame..<header.loopEndFrame : nil
    maximumVoiceCount = Int(header.maximumVoiceCount)
    storedVoiceCapacity = Int(header.voiceCapacity)
    hasHaptics = header.hasHaptics
    hasAudio = header.hasAudio
    self.memory = memory
    planView = Cell(memory.planView)
  }

  /// The number of frames that each further pass of a loop adds to the playback.
  public var passFrameCount: Int64 {
    loopRange.map { $0.upperBound - $0.lowerBound } ?? loopFrameCount
  }

  /// Returns the maximum loop length of plans that play in sync.
  ///
  /// Returns 0 if all loop lengths are equal.
  public static func commonLoopFrameCount(of plans: [RenderPlan]) -> Int64 {
    let maximumLoopFrameCount = plans.map { $0.loopFrameCount }.max() ?? 0
    return plans.allSatisfy { $0.loopFrameCount == maximumLoopFrameCount }
      ? 0 : maximumLoopFrameCount
  }

  /// The maximum number of voices in overlapping passes of a loop.
  private static let maximumLoopedVoiceCount = 1 << 18

  /// Returns the number of voices that a player must be able to play at once.
  ///
  /// - Parameters:
  ///   - passCount: The number of passes, or nil to loop forever.
  ///   - allowsLiveEnvelopes: Whether the player may receive envelope times up to the maximum.
  func voiceCapacity(passCount: Int?, allowsLiveEnvelopes: Bool = false) -> Int {
    if let storedVoiceCapacity, allowsLiveEnvelopes, passCount == nil {
      return storedVoiceCapacity
    }
    let voices = memory.planView.voices
    let envelopes = memory.planView.envelopes
    let extendsReleases = allowsLiveEnvelopes && envelopes.count > 0
    let maximumReleaseFrames =
      extendsReleases ? Int64((EnvelopeTimes.maximumSeconds * rate).rounded()) : 0
    // A renderer starts all passes in a sub-block before it releases the voices that end in it.
    let soundingPassEndFrame =
      soundEndFrame + maximumReleaseFrames + Int64(Renderer.subBlockFrameCount)
    var voiceCount = maximumVoiceCount
    if extendsReleases {
      voiceCount = Self.maximumSimultaneousVoiceCount(of: voices) { voice in
        guard voice.envelopeIndex >= 0 else { return voice.envelope.endFrame }
        return max(
          voice.envelope.endFrame,
          envelopes[Int(voice.envelopeIndex)].eventFrameCount + maximumReleaseFrames)
      }
    }
    let overlappingPassCount =
      loopFrameCount > 0 ? Int(soundingPassEndFrame / loopFrameCount) + 1 : 1
    let simultaneousPassCount = min(overlappingPassCount, max(1, passCount ?? overlappingPassCount))
    // The overlap of short loops with long releases is unbounded, so limit the memory.
    let (voiceCountProduct, overflow) = voiceCount.multipliedReportingOverflow(
      by: simultaneousPassCount)
    let loopedVoiceCount = overflow ? Self.maximumLoopedVoiceCount : voiceCountProduct
    return max(1, voiceCount, min(loopedVoiceCount, Self.maximumLoopedVoiceCount))
  }

  /// Returns the maximum number of voices in a sub-block for a voice length in frames.
  ///
  /// - Complexity: O(*n* log *n*) in the number of voices.
  private static func maximumSimultaneousVoiceCount(
    of voices: BufferView<PlannedVoice>, length: (PlannedVoice) -> Int64
  ) -> Int {
    // A renderer starts all voices of a sub-block before it releases those that end in it.
    let subBlockFrameCount = Int64(Renderer.subBlockFrameCount)
    var voiceEndFrames: [Int64] = []
    voiceEndFrames.reserveCapacity(voices.count)
    for index in 0..<voices.count {
      voiceEndFrames.append(voices[index].onsetFrame + length(voices[index]) + subBlockFrameCount)
    }
    voiceEndFrames.sort()
    var maximumSoundingCount = 0
    var endedVoiceCount = 0
    for index in 0..<voices.count {
      while endedVoiceCount < voiceEndFrames.count,
        voiceEndFrames[endedVoiceCount] <= voices[index].onsetFrame
      {
        endedVoiceCount += 1
      }
      maximumSoundingCount = max(maximumSoundingCount, index + 1 - endedVoiceCount)
    }
    return maximumSoundingCount
  }

  /// Creates a plan that plays a recording on the haptic bus without a profile or controls.
  ///
  /// - Parameters:
  ///   - recording: A sound at the plan's sample rate, of which the first channel is played.
  ///   - rate: The sample rate, 8,000–192,000 Hz.
  /// - Throws: A `RenderError` if the rate isn't supported.
  public convenience init(recording: AudioBuffer, rate: Double) throws(RenderError) {
    try Self.validate(rate: rate)
    var planBuilder = RenderPlanBuilder(profile: .phone, rate: rate)
    let monoRecording = recording.channelCount == 1 ? recording : recording.firstChannel
    let recordingFrameCount = Int64(monoRecording.frameCount)
    if recordingFrameCount > 0 {
      planBuilder.voices.append(
        PlannedVoice(
          source: .recording, onsetFrame: 0, envelope: .plateau(length: recordingFrameCount),
          gainOfPartial: 1))
    }
    planBuilder.sounds = [monoRecording]
    planBuilder.eventCount = planBuilder.voices.count
    planBuilder.hasHaptics = true
    planBuilder.loopFrameCount = recordingFrameCount
    planBuilder.soundEndFrame = recordingFrameCount
    let neutralControls = EventControls(of: HapticComposition.Layer(HapticPattern()), rate: rate)
    planBuilder.addLayerTracks(neutralControls.liveTimelines)
    self.init(planBuilder)
  }

  /// The supported sample rates, in hertz.
  public static let supportedSampleRates: ClosedRange<Double> = 8_000...192_000

  /// The default duration of a continuous event, in seconds, as documented for Core Haptics.
  public static let defaultEventSeconds = HapticEvent.defaultDurationSeconds

  /// The maximum number of layers of a composition.
  public static let maximumLayerCount = 65_535

  /// Compiles a pattern. Do not call this initializer on the render thread.
  ///
  /// - Parameters:
  ///   - pattern: The pattern; values are clamped to their ranges.
  ///   - profile: The profile of the transducer.
  ///   - rate: The sample rate, 8,000–192,000 Hz.
  ///   - samples: The sound files by the paths in the pattern, at this sample rate.
  /// - Throws: A `RenderError` that names the event.
  /// - Complexity: O(*n* log *n*) in the number of events and control points.
  public convenience init(
    compiling pattern: HapticPattern, profile: TransducerProfile = .phone, rate: Double = 48_000,
    samples: [String: AudioBuffer] = [:]
  ) throws(RenderError) {
    try self.init(
      compiling: HapticComposition(pattern), profile: profile, rate: rate, samples: samples)
  }

  /// Compiles the layers of a composition, each with its own controls.
  ///
  /// Haptics for body locations other than the profile's are omitted, but still count toward the
  /// length.
  ///
  /// - Parameters:
  ///   - composition: The composition; values are clamped to their ranges.
  ///   - profile: The profile of the transducer.
  ///   - rate: The sample rate, 8,000–192,000 Hz.
  ///   - samples: The sound files by the paths in the patterns, at this sample rate.
  ///   - isRaw: Whether events start, end, and jump within a frame, without ramps that prevent
  ///     clicks.
  /// - Throws: A `RenderError` that names the event.
  public convenience init(
    compiling composition: HapticComposition, profile: TransducerProfile = .phone,
    rate: Double = 48_000, samples: [String: AudioBuffer] = [:], isRaw: Bool = false
  ) throws(RenderError) {
    try Self.validate(rate: rate)
    try Self.validate(composition)
    var planBuilder = RenderPlanBuilder(profile: profile, rate: rate, isRaw: isRaw)
    let layers = composition.layers
    planBuilder.eventCount = layers.reduce(0) { $0 + $1.pattern.events.count + $1.signals.count }
    planBuilder.voices.reserveCapacity(planBuilder.eventCount)
    planBuilder.loopFrameCount = FrameConversion.frame(
      seconds: composition.durationSeconds, rate: rate)
    var layerTimelines: [[ControlTimeline]] = []
    for (index, layer) in layers.enumerated() {
      layerTimelines.append(
        try planBuilder.addLayer(
          layer, index: index, samples: samples, isOnlyLayer: layers.count == 1))
    }
    if layers.count > 1 || layers.contains(where: { !$0.signals.isEmpty }) {
      planBuilder.sortVoices()
    }
    // Add the tracks after all voices, because the bursts of each layer duck the intensity of all
    // layers.
    for (layer, timelines) in zip(layers, layerTimelines) {
      planBuilder.addLayerTracks(timelines, sharpnessScale: layer.sharpnessScale)
    }
    planBuilder.setLoopRange(composition.loop)
    self.init(planBuilder)
    bodyLocationCount = composition.bodyLocationCount
  }
}

extension AudioBuffer {
  fileprivate var firstChannel: AudioBuffer {
    AudioBuffer(
      interleaved: (0..<frameCount).map { interleavedSamples[$0 * channelCount] }, channelCount: 1)
  }
}

extension RenderPlanBuilder {
  /// Adds the events and signals of a layer and returns its control tracks.
  ///
  /// - Parameters:
  ///   - layer: The layer.
  ///   - index: The index of the layer.
  ///   - samples: The sound files by the paths in the pattern.
  ///   - isOnlyLayer: Whether the composition has only one layer, so that messages do not name it.
  /// - Throws: A `RenderError` if a sound file is missing.
  fileprivate mutating func addLayer(
    _ layer: HapticComposition.Layer, index: Int, samples: [String: AudioBuffer],
    isOnlyLayer: Bool
  ) throws(RenderError) -> [ControlTimeline] {
    self.currentLayerIndex = UInt16(index)
    let isFelt = layer.isFelt(at: profile.bodyLocation)
    sharpnessScale = layer.sharpnessScale
    var layerControls = EventControls(of: layer, rate: rate)
    try addVoices(
      eventsOf: layer.pattern, controls: &layerControls, samples: samples, omitsHaptics: !isFelt,
      namedLayer: isOnlyLayer ? nil : index)
    if isFelt {
      for signal in layer.signals {
        addSignal(signal)
      }
    }
    return layerControls.liveTimelines
  }

  private mutating func addVoices(
    eventsOf pattern: HapticPattern, controls: inout EventControls, samples: [String: AudioBuffer],
    omitsHaptics: Bool, namedLayer: Int?
  ) throws(RenderError) {
    for index in pattern.indicesByTime {
      let event = pattern.events[index]
      if omitsHaptics, event.kind.isHaptic { continue }
      let onset = FrameConversion.frame(seconds: event.time, rate: rate)
      controls.advance(to: onset)
      var file: SoundReference?
      if event.kind.playsFile {
        let path = event.waveform?.path ?? ""
        guard let sound = samples[path] else {
          let name = RenderPlan.elementName("event", index, layer: namedLayer)
          throw RenderError(
            kind: .sampleMissing,
            eventReference: EventReference(layerIndex: Int(currentLayerIndex), eventIndex: index),
            description: "\(name): sound file \"\(RenderPlan.escapedPath(path))\" was not loaded"
          )
        }
        let soundIndex = soundIndicesByPath[path] ?? Int32(clamping: sounds.count)
        if soundIndicesByPath.updateValue(soundIndex, forKey: path) == nil {
          sounds.append(sound)
        }
        file = SoundReference(sound: sound, soundIndex: soundIndex)
      }
      addEvent(event, onset: onset, controls: controls, file: file)
    }
  }

  /// Sets the range of frames that later passes of a loop play. Loop points without a frame between
  /// them are ignored.
  fileprivate mutating func setLoopRange(_ loop: HapticComposition.LoopPoints?) {
    guard let loop else { return }
    let loopStartFrame = max(0, FrameConversion.frame(seconds: loop.startSeconds, rate: rate))
    let loopEndFrame =
      loop.endSeconds.map { FrameConversion.frame(seconds: $0, rate: rate) } ?? loopFrameCount
    if loopEndFrame > loopStartFrame {
      loopRange = loopStartFrame..<loopEndFrame
    }
  }

  /// Sorts the voices of several layers by onset, then by layer.
  fileprivate mutating func sortVoices() {
    let onsetOrder = voices.indices.sorted {
      (voices[$0].onsetFrame, $0) < (voices[$1].onsetFrame, $1)
    }
    voices = onsetOrder.map { voices[$0] }
  }
}

extension HapticComposition.Layer {
  /// Returns true if the layer plays at a body location, given by number or name. Nil matches every
  /// location.
  fileprivate func isFelt(at location: String?) -> Bool {
    guard let location, let bodyLocation else { return true }
    return bodyLocation.matches(location)
  }
}

extension HapticPattern {
  /// The indices of the events, sorted by time; events of equal time keep their order.
  var indicesByTime: [Int] {
    let eventIndices = Array(events.indices)
    // Most patterns are sorted already.
    if zip(events, events.dropFirst()).allSatisfy({ $0.time <= $1.time }) {
      return eventIndices
    }
    return eventIndices.sorted { (events[$0].time, $0) < (events[$1].time, $1) }
  }
}
