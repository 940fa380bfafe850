internal import CMath
internal import HapticModel
internal import RealtimeMemory

/// A view of a compiled plan for the render path, with unowned references to the plan's memory.
struct PlanView: BitwiseCopyable {
  /// The voices, sorted by onset.
  let voices: BufferView<PlannedVoice>
  /// The segments of all control tracks, one track after another.
  let segments: BufferView<ControlSegment>
  let sounds: BufferView<AudioBufferView>
  /// The indices of the first segments of each layer's control tracks.
  let layerTracks: BufferView<LayerTracks>
  let envelopes: BufferView<PlannedEnvelope>
  var mappings: VoiceMappings
  /// The length of a loop, in frames.
  let loopFrameCount: Int64
  /// The number of frames until the end of the pattern and the decay of all sound.
  let soundingFrameCount: Int64
  /// The minimum length of a ramp, in frames.
  let minimumRampFrameCount: Int64
  let rate: Double
  /// The maximum length of a voice that isn't a burst, in frames.
  let maximumVoiceFrameCount: Int64

  /// Returns the phase increment and the sharpness, 0…1, of a vibration.
  ///
  /// - Parameters:
  ///   - voice: The voice.
  ///   - pitch: The sum of the event's sharpness and its control.
  @_noLocks @inline(__always) func phaseIncrementAndSharpness(
    of voice: PlannedVoice, pitch: Float
  ) -> (increment: Float, sharpness: Float) {
    let pitchScale = layerTracks[Int(voice.layerIndex)].pitchScale
    let clampedSharpness = pitchScale.clampedToReproducible(pitch)
    guard pitchScale.hasStatedHertz else {
      return (mappings.phaseIncrement(atSharpness: clampedSharpness), clampedSharpness)
    }
    let phaseIncrement = pitchScale.phaseIncrement(atSharpness: clampedSharpness)
    return (phaseIncrement, mappings.sharpness(atPhaseIncrement: phaseIncrement))
  }

  /// Returns the indices of the first segments of the control tracks that act on a voice.
  @_noLocks func trackCursors(of voice: PlannedVoice) -> TrackCursors {
    let voiceLayerTracks = layerTracks[Int(voice.layerIndex)]
    return voice.source.isHaptic ? voiceLayerTracks.hapticCursors : voiceLayerTracks.audioCursors
  }
}

/// A view of the samples of a sound.
struct AudioBufferView: BitwiseCopyable {
  let interleavedSamples: BufferView<Float>
  let frameCount: Int
  let channelCount: Int
}

/// The indices of the current control segments that act on a voice.
///
/// Haptic voices have no brightness or pan, so those indices are unused.
struct TrackCursors: BitwiseCopyable, Sendable {
  /// The index of the current intensity or volume segment.
  var intensitySegmentIndex: Int32
  /// The index of the current sharpness or pitch segment.
  var pitchSegmentIndex: Int32
  var brightnessSegmentIndex: Int32
  var panSegmentIndex: Int32

  /// Returns the index of the current segment of a control.
  @_noLocks func segmentIndex(of id: LiveControlID) -> Int {
    switch id {
    case .hapticIntensity, .audioVolume: Int(intensitySegmentIndex)
    case .hapticSharpness, .audioPitch: Int(pitchSegmentIndex)
    case .audioBrightness: Int(brightnessSegmentIndex)
    case .audioPan: Int(panSegmentIndex)
    }
  }
}

/// The indices of the first segments of a layer's control tracks.
struct LayerTracks: BitwiseCopyable, Sendable {
  var hapticCursors: TrackCursors
  var audioCursors: TrackCursors
  /// The frequency scale of the layer's sharpness.
  var pitchScale: PitchScale

  /// Creates tracks from the indices of their first segments, in the order of `LiveControlID`.
  init(starts: [Int32], pitchScale: PitchScale = PitchScale()) {
    self.pitchScale = pitchScale
    func start(_ id: LiveControlID) -> Int32 { starts[id.rawValue] }
    hapticCursors = TrackCursors(
      intensitySegmentIndex: start(.hapticIntensity), pitchSegmentIndex: start(.hapticSharpness),
      brightnessSegmentIndex: start(.audioBrightness), panSegmentIndex: start(.audioPan))
    audioCursors = TrackCursors(
      intensitySegmentIndex: start(.audioVolume), pitchSegmentIndex: start(.audioPitch),
      brightnessSegmentIndex: start(.audioBrightness), panSegmentIndex: start(.audioPan))
  }
}

/// The frequency scale of a layer's sharpness.
///
/// It comes from the profile or from frequencies stated in hertz.
struct PitchScale: BitwiseCopyable, Sendable {
  /// A Boolean value that indicates whether the scale replaces the profile's scale.
  private(set) var hasStatedHertz = false
  private(set) var isLogarithmic = true
  /// The phase increment of sharpness 0.
  private var minimumPhaseIncrement: Float = 0
  /// The change from sharpness 0 to 1: octaves on a logarithmic scale, otherwise phase increments.
  private var octavesOrIncrementSpan: Float = 0
  /// The sharpness of the lowest frequency that the transducer reproduces.
  private(set) var minimumSharpness: Float = 0
  /// The sharpness of the highest frequency that the transducer reproduces.
  private(set) var maximumSharpness: Float = 1

  /// Creates the scale of a layer with frequencies from the profile.
  init() {}

  /// Creates the scale of a layer that states frequencies in hertz.
  ///
  /// - Parameters:
  ///   - scale: The scale of the layer.
  ///   - band: The frequencies that the transducer reproduces, in hertz.
  ///   - rate: The sample rate, in hertz.
  init(_ scale: SharpnessScale, band: ClosedRange<Double>, rate: Double) {
    let phaseIncrementPerHertz = 4_294_967_296 / rate
    hasStatedHertz = true
    isLogarithmic = scale.isLogarithmic
    minimumPhaseIncrement = Float(scale.minimumHertz * phaseIncrementPerHertz)
    octavesOrIncrementSpan =
      scale.isLogarithmic
      ? Float(logarithm2(scale.maximumHertz / scale.minimumHertz))
      : Float((scale.maximumHertz - scale.minimumHertz) * phaseIncrementPerHertz)
    minimumSharpness = Float(scale.sharpness(ofHertz: band.lowerBound))
    maximumSharpness = Float(scale.sharpness(ofHertz: band.upperBound))
  }

  /// Returns a sharpness, limited to the frequencies that the transducer reproduces.
  @_noLocks @inline(__always) func clampedToReproducible(_ sharpness: Float) -> Float {
    if sharpness < minimumSharpness { return minimumSharpness }
    return sharpness > maximumSharpness ? maximumSharpness : sharpness
  }

  /// Returns the phase increment of a sharpness in a layer that states frequencies in hertz.
  @_noLocks @inline(__always) func phaseIncrement(atSharpness sharpness: Float) -> Float {
    isLogarithmic
      ? minimumPhaseIncrement * RealtimeMath.exp2(octavesOrIncrementSpan * sharpness)
      : minimumPhaseIncrement + octavesOrIncrementSpan * sharpness
  }
}

/// A compiled sine or sound, which a player starts as a voice at its onset.
///
/// An event has one or more planned voices: one for each partial of its waveform.
struct PlannedVoice: BitwiseCopyable, Sendable {
  /// The source of a voice's signal.
  enum Source: UInt8, BitwiseCopyable, Sendable {
    /// A sine on the haptic bus, controlled by intensity and sharpness.
    case vibration
    /// A sine on the haptic bus with a level and a frequency that are fixed at its onset.
    case burst
    /// A sine on the audio bus, controlled by volume, pitch, brightness, and pan.
    case tone
    /// A sound file on the audio bus, controlled by volume, pitch, brightness, and pan.
    case sample
    /// A recording on the haptic bus, without mappings and controls.
    case recording
    /// A sampled signal on the haptic bus. Intensity controls its level.
    case signal

    /// A Boolean value that indicates whether the voice plays on the haptic bus.
    var isHaptic: Bool {
      @_noLocks get {
        switch self {
        case .vibration, .burst, .recording, .signal: true
        case .tone, .sample: false
        }
      }
    }

    /// A Boolean value that indicates whether the voice reads a sound instead of a sine.
    var readsSamples: Bool {
      @_noLocks get {
        switch self {
        case .sample, .recording, .signal: true
        case .vibration, .burst, .tone: false
        }
      }
    }

    /// A Boolean value that indicates whether the level and the frequency are fixed at the onset.
    var isBurst: Bool {
      @_noLocks get {
        switch self {
        case .burst: true
        case .vibration, .tone, .sample, .recording, .signal: false
        }
      }
    }
  }

  var source: Source
  var layerIndex: UInt16 = 0
  var onsetFrame: Int64
  /// The planned envelope of the voice, in frames from its onset.
  var envelope: Envelope
  /// The intensity or volume of the event.
  var eventLevel: Float = 1
  /// The sharpness or pitch of the event.
  var eventPitch: Float = 0
  var brightness: Float = 1
  var pan: Float = 0
  /// The amplitude of the partial at full level or, for a burst, at its onset.
  var gainOfPartial: Float
  /// The frequency of the partial as a multiple of the event's frequency.
  var frequencyToEventRatio: Float = 1
  /// The exponent of the brightness in the partial's amplitude.
  var brightnessExponent: Int32 = 0
  /// The amplitude of a burst at full intensity.
  var fullIntensityGain: Float = 0
  var initialSine = SineSegment()
  /// The index, in the plan, of the sound that the voice plays.
  var soundIndex: Int32 = 0
  var isLooping = false
  /// The length of the fade at the end of a sound file, in frames; 0 for no fade.
  var fadeOutFrameCount: Int32 = 0
  /// The index of the planned envelope, or −1 if the envelope cannot change.
  var envelopeIndex: Int32 = -1
}

/// The parameters of a continuous event's envelope.
///
/// The envelope is recomputed at the onset if a player has received envelope times.
struct PlannedEnvelope: BitwiseCopyable, Sendable {
  /// A normalized attack, decay, or release time.
  struct NormalizedTime: BitwiseCopyable, Sendable {
    /// The normalized time that the event specifies.
    var specifiedTime: Float
    /// The value that the envelope time's control adds at the onset.
    var controlOffset: Float
    /// The frame at which the control took this value, or `ControlSegment.noSourceFrame`.
    var controlStartFrame: Int64
  }

  /// The time from the onset to the end of the event, in frames.
  var eventFrameCount: Int64
  /// A Boolean value that indicates whether the level holds after the attack instead of decaying.
  var isSustained: Bool
  var attackTime: NormalizedTime
  var decayTime: NormalizedTime
  var releaseTime: NormalizedTime

  /// Returns the planned envelope of the event, without envelope times received by a player.
  ///
  /// - Parameters:
  ///   - attack: The attack time, in seconds.
  ///   - decay: The decay time, in seconds.
  ///   - release: The release time, in seconds.
  ///   - rate: The sample rate, in hertz.
  ///   - minimumRampLength: The minimum length of each ramp, in frames.
  @_noLocks func envelope(
    attack: Double, decay: Double, release: Double, rate: Double, minimumRampLength: Int64
  ) -> Envelope {
    let envelopeShape = EnvelopeShape(
      hold: Double(eventFrameCount),
      attack: Self.roundedFrameCount(seconds: attack, rate: rate, minimum: minimumRampLength),
      decay: Self.roundedFrameCount(seconds: decay, rate: rate, minimum: minimumRampLength),
      release: Self.roundedFrameCount(seconds: release, rate: rate, minimum: minimumRampLength),
      isSustained: isSustained)
    return Envelope(
      riseEnd: Int64(envelopeShape.riseEndTime), riseLevel: Float(envelopeShape.riseLevel),
      releaseStart: Int64(envelopeShape.releaseStartTime),
      releaseLevel: Float(envelopeShape.releaseLevel),
      end: Int64(envelopeShape.releaseEndTime))
  }

  /// Returns the envelope with the envelope times that a player has received.
  ///
  /// - Parameters:
  ///   - live: The received controls.
  ///   - isHaptic: Whether the event is haptic.
  ///   - frame: The output frame of the onset.
  ///   - passOrigin: The pattern position of frame 0 of the pass.
  ///   - plan: The plan.
  @_noLocks func envelope(
    with live: Reference<LiveControls>, isHaptic: Bool, at frame: Int64, passOrigin: Int64,
    in plan: Reference<PlanView>
  ) -> Envelope {
    let liveAttack = live.value.envelopeTime(isHaptic ? .hapticAttack : .audioAttack)
    let liveDecay = live.value.envelopeTime(isHaptic ? .hapticDecay : .audioDecay)
    let liveRelease = live.value.envelopeTime(isHaptic ? .hapticRelease : .audioRelease)
    return envelope(
      attack: Self.effectiveSeconds(
        of: attackTime, live: liveAttack, at: frame, passOrigin: passOrigin),
      decay: Self.effectiveSeconds(
        of: decayTime, live: liveDecay, at: frame, passOrigin: passOrigin),
      release: Self.effectiveSeconds(
        of: releaseTime, live: liveRelease, at: frame, passOrigin: passOrigin),
      rate: plan.value.rate, minimumRampLength: plan.value.minimumRampFrameCount)
  }

  @_noLocks private static func roundedFrameCount(
    seconds: Double, rate: Double, minimum: Int64
  ) -> Double {
    Double(max(minimum, Int64(seconds * rate + 0.5)))
  }

  /// Returns an envelope time in seconds, including the received control if it is in effect.
  @_noLocks private static func effectiveSeconds(
    of time: NormalizedTime, live: LiveControl, at frame: Int64, passOrigin: Int64
  ) -> Double {
    let isLiveControlInEffect = live.overrides(
      sourceStart: time.controlStartFrame, passOrigin: passOrigin)
    let normalizedTime =
      time.specifiedTime + (isLiveControlInEffect ? live.value(at: frame) : time.controlOffset)
    let clampedTime = normalizedTime < 0 ? 0 : min(normalizedTime, 1)
    return EnvelopeTimes.seconds(
      ofGrowth: Double(RealtimeMath.exp2(clampedTime * EnvelopeTimes.growthOctavesFromZeroToOne)))
  }
}

/// Tables of the amplitude's gains and exponents at evenly spaced points of sharpness.
///
/// A plan owns the tables; the render path reads them in place.
final class LevelTables {
  static let sharpnessPointCount = 33

  /// A Boolean value that indicates whether the gain of continuous events is 1 at every sharpness.
  let areLevelsUniform: Bool
  /// A Boolean value that indicates whether the gain of bursts is 1 at every sharpness.
  let areBurstLevelsUniform: Bool
  /// A Boolean value that indicates whether all exponents of the amplitude are 1.
  let areAmplitudeExponentsUniform: Bool
  /// The maximum exponent of the amplitude of continuous events.
  let maximumVibrationAmplitudeExponent: Double
  /// Four tables: the gains of continuous events and of bursts, then the exponents of both.
  fileprivate let tableValues: FixedBuffer<Float>

  /// Creates tables from gains and exponents at evenly spaced points of sharpness.
  ///
  /// - Parameters:
  ///   - levels: The gains of continuous events.
  ///   - burstLevels: The gains of bursts.
  ///   - exponents: The exponents of continuous events.
  ///   - burstExponents: The exponents of bursts.
  init(
    levels: [Double], burstLevels: [Double], exponents: [Double] = uniformTable,
    burstExponents: [Double] = uniformTable
  ) {
    areLevelsUniform = !levels.contains { $0 != 1 }
    areBurstLevelsUniform = !burstLevels.contains { $0 != 1 }
    areAmplitudeExponentsUniform = !(exponents + burstExponents).contains { $0 != 1 }
    maximumVibrationAmplitudeExponent = exponents.max() ?? 1
    tableValues = FixedBuffer((levels + burstLevels + exponents + burstExponents).map { Float($0) })
  }

  /// A table in which every value is 1.
  static let uniformTable = [Double](repeating: 1, count: sharpnessPointCount)
}

/// The mappings of a profile in the form that the render thread evaluates: phase increments in
/// units of 2⁻³² cycles per frame, and binary logarithms.
struct VoiceMappings: BitwiseCopyable, Sendable {
  /// The octaves from the corner frequency at brightness 0, 200 Hz, to that at brightness 1.
  private static let cutoffOctavesOverBrightness: Float = 6.5

  private enum IntensityShape: UInt8, BitwiseCopyable, Sendable {
    case linear, square, power, sensation

    init(exponent: Double) {
      switch exponent {
      case 1: self = .linear
      case 2: self = .square
      default: self = .power
      }
    }
  }

  private var intensityShape: IntensityShape
  private var intensityExponent: Float
  /// The maximum relative change of intensity within a linear segment.
  ///
  /// The change is 0.1 for the square law.
  private(set) var segmentLevelTolerance: Float
  private var phaseIncrementAtZeroSharpness: Float
  private var phaseIncrementSpanOverSharpness: Float
  private var sharpnessOctaves: Float
  private var centerPitchPhaseIncrement: Float
  private var maximumPhaseIncrement: Float
  private var smoothingCoefficientAtZeroBrightness: Float
  private var burstPhaseIncrementAtZeroSharpness: Float
  private var burstSharpnessOctaves: Float
  private var burstFrequencySpanToMinimumRatio: Float
  private var burstAmplitudeAtZeroIntensity: Float
  /// A Boolean value that indicates whether the phase increment is exponential in sharpness.
  ///
  /// If false, it is linear.
  private(set) var isLogarithmic: Bool
  private var isBurstLogarithmic: Bool
  private var isLevelUniform: Bool
  private var isBurstLevelUniform: Bool
  private var areAmplitudeExponentsUniform: Bool
  private var levelTable: BufferView<Float>
  private var burstLevelTable: BufferView<Float>
  private var amplitudeExponentTable: BufferView<Float>
  private var burstAmplitudeExponentTable: BufferView<Float>

  /// Prepares the mappings of a profile.
  ///
  /// - Parameters:
  ///   - profile: The profile.
  ///   - tables: The gains and exponents, which the caller keeps alive.
  ///   - rate: The sample rate, in hertz.
  init(_ profile: TransducerProfile, tables: LevelTables, rate: Double) {
    let phaseIncrementPerHertz = 4_294_967_296 / rate
    let frequencyMapping = profile.frequency
    phaseIncrementAtZeroSharpness = Float(frequencyMapping.lowHertz * phaseIncrementPerHertz)
    phaseIncrementSpanOverSharpness = Float(
      (frequencyMapping.highHertz - frequencyMapping.lowHertz) * phaseIncrementPerHertz)
    sharpnessOctaves = Float(logarithm2(frequencyMapping.highHertz / frequencyMapping.lowHertz))
    isLogarithmic = frequencyMapping.scale == .logarithmic
    centerPitchPhaseIncrement = Float(AudioTone.centerHertz(of: profile) * phaseIncrementPerHertz)
    maximumPhaseIncrement = Float(4_294_967_296 * AudioTone.maximumHertzToSampleRateRatio)
    smoothingCoefficientAtZeroBrightness = Float(2 * Double.pi * 200 / rate)
    let burstFrequency = profile.transient.frequency
    burstPhaseIncrementAtZeroSharpness = Float(burstFrequency.lowHertz * phaseIncrementPerHertz)
    burstSharpnessOctaves = Float(logarithm2(burstFrequency.highHertz / burstFrequency.lowHertz))
    burstFrequencySpanToMinimumRatio = Float(burstFrequency.highHertz / burstFrequency.lowHertz - 1)
    isBurstLogarithmic = burstFrequency.scale == .logarithmic
    burstAmplitudeAtZeroIntensity = Float(profile.transient.zeroIntensityAmplitudeFraction)
    let maximumLevelExponent = tables.maximumVibrationAmplitudeExponent
    switch profile.intensity {
    case .power(let exponent):
      intensityShape = IntensityShape(exponent: exponent)
      self.intensityExponent = Float(exponent)
      segmentLevelTolerance = Float(0.2 / max(exponent * maximumLevelExponent, 2))
    case .sensation(let decibels):
      intensityShape = .sensation
      intensityExponent = Float(decibels * logarithm2(10) / 20)
      // The same level range as a tenth of the square law.
      segmentLevelTolerance = Float(1.7 / max(decibels * maximumLevelExponent, 17))
    }
    isLevelUniform = tables.areLevelsUniform
    isBurstLevelUniform = tables.areBurstLevelsUniform
    areAmplitudeExponentsUniform = tables.areAmplitudeExponentsUniform
    let tableView = unsafe tables.tableValues.view
    levelTable = tableView
    burstLevelTable = tableView
    amplitudeExponentTable = tableView
    burstAmplitudeExponentTable = tableView
    replaceTables(with: tableView)
  }

  /// Replaces the gain and exponent tables with tables in the order of `LevelTables`.
  mutating func replaceTables(with tables: BufferView<Float>) {
    let tablePointCount = LevelTables.sharpnessPointCount
    levelTable = tables.slice(from: 0, count: tablePointCount)
    burstLevelTable = tables.slice(from: tablePointCount, count: tablePointCount)
    amplitudeExponentTable = tables.slice(from: 2 * tablePointCount, count: tablePointCount)
    burstAmplitudeExponentTable = tables.slice(from: 3 * tablePointCount, count: tablePointCount)
  }

  var tables: BufferView<Float> {
    unsafe BufferView(start: levelTable.address, count: 4 * LevelTables.sharpnessPointCount)
  }

  /// Returns the phase increment of a sharpness in 0…1.
  @_noLocks @inline(__always) func phaseIncrement(atSharpness sharpness: Float) -> Float {
    isLogarithmic
      ? phaseIncrementAtZeroSharpness * RealtimeMath.exp2(sharpnessOctaves * sharpness)
      : phaseIncrementAtZeroSharpness + phaseIncrementSpanOverSharpness * sharpness
  }

  /// Returns the sharpness, 0…1, with the phase increment closest to a positive increment.
  @_noLocks func sharpness(atPhaseIncrement increment: Float) -> Float {
    var unclampedSharpness: Float = 0
    if isLogarithmic, sharpnessOctaves > 0 {
      unclampedSharpness =
        RealtimeMath.log2(increment / phaseIncrementAtZeroSharpness) / sharpnessOctaves
    } else if !isLogarithmic, phaseIncrementSpanOverSharpness > 0 {
      unclampedSharpness =
        (increment - phaseIncrementAtZeroSharpness) / phaseIncrementSpanOverSharpness
    }
    if unclampedSharpness < 0 { return 0 }
    return unclampedSharpness > 1 ? 1 : unclampedSharpness
  }

  /// Returns the sharpness of a burst, 0…1, with the phase increment closest to an increment.
  ///
  /// The increment must be positive.
  @_noLocks func burstSharpness(ofIncrement increment: Float) -> Float {
    let incrementRatio = increment / burstPhaseIncrementAtZeroSharpness
    var unclampedSharpness: Float = 0
    if isBurstLogarithmic, burstSharpnessOctaves > 0 {
      unclampedSharpness = RealtimeMath.log2(incrementRatio) / burstSharpnessOctaves
    } else if !isBurstLogarithmic, burstFrequencySpanToMinimumRatio > 0 {
      unclampedSharpness = (incrementRatio - 1) / burstFrequencySpanToMinimumRatio
    }
    if unclampedSharpness < 0 { return 0 }
    return unclampedSharpness > 1 ? 1 : unclampedSharpness
  }

  /// Returns the phase increment of a pitch in −1…1. A pitch of ±1 is a shift of one octave.
  @_noLocks @inline(__always) func phaseIncrement(atAudioPitch pitch: Float) -> Float {
    centerPitchPhaseIncrement * RealtimeMath.exp2(pitch)
  }

  /// Returns a phase increment, clamped to frequencies that do not alias.
  @_noLocks @inline(__always) func clampedPhaseIncrement(_ increment: Float) -> UInt32 {
    UInt32(increment < maximumPhaseIncrement ? increment : maximumPhaseIncrement)
  }

  /// Returns the low-pass coefficient for a brightness in 0…1: a corner at 200 Hz for 0, no filter
  /// for 1.
  @_noLocks func smoothingCoefficient(atBrightness brightness: Float) -> Float {
    guard brightness < 1 else { return 1 }
    let unclampedCoefficient =
      smoothingCoefficientAtZeroBrightness
      * RealtimeMath.exp2(Self.cutoffOctavesOverBrightness * brightness)
    return unclampedCoefficient < 1 ? unclampedCoefficient : 1
  }

  /// Returns the amplitude of an intensity in 0…1 at a sharpness in 0…1.
  @_noLocks @inline(__always) func vibrationAmplitude(intensity: Float, sharpness: Float) -> Float {
    let shapedAmplitude =
      areAmplitudeExponentsUniform
      ? shapedIntensity(intensity)
      : amplitudeRaised(
        shapedIntensity(intensity), toExponentIn: amplitudeExponentTable, at: sharpness)
    if isLevelUniform { return shapedAmplitude }
    let leveledAmplitude = shapedAmplitude * Self.interpolatedValue(of: levelTable, at: sharpness)
    return leveledAmplitude < 1 ? leveledAmplitude : 1
  }

  /// Returns the gain of a sampled signal at an intensity in 0…1. The gain at full intensity is 1.
  @_noLocks @inline(__always) func signalGain(intensity: Float) -> Float {
    intensity < 1 ? shapedIntensity(intensity) : 1
  }

  /// Returns the amplitude of a burst, relative to its gain at full intensity.
  @_noLocks func burstAmplitude(intensity: Float, sharpness: Float) -> Float {
    guard intensity > 0 else { return 0 }
    var shapedAmplitude =
      burstAmplitudeAtZeroIntensity + (1 - burstAmplitudeAtZeroIntensity)
      * shapedIntensity(intensity)
    if !areAmplitudeExponentsUniform {
      shapedAmplitude = amplitudeRaised(
        shapedAmplitude, toExponentIn: burstAmplitudeExponentTable, at: sharpness)
    }
    return isBurstLevelUniform
      ? shapedAmplitude
      : shapedAmplitude * Self.interpolatedValue(of: burstLevelTable, at: sharpness)
  }

  /// Returns the frequency ratio of bursts from one sharpness to another, each 0…1.
  @_noLocks func burstFrequencyRatio(fromSharpness planned: Float, toSharpness effective: Float)
    -> Float
  {
    isBurstLogarithmic
      ? RealtimeMath.exp2(burstSharpnessOctaves * (effective - planned))
      : (1 + burstFrequencySpanToMinimumRatio * effective)
        / (1 + burstFrequencySpanToMinimumRatio * planned)
  }

  @_noLocks @inline(__always) private func shapedIntensity(_ intensity: Float) -> Float {
    switch intensityShape {
    case .linear: intensity
    case .square: intensity * intensity
    case .power:
      intensity > 0 ? RealtimeMath.exp2(intensityExponent * RealtimeMath.log2(intensity)) : 0
    case .sensation: intensity > 0 ? RealtimeMath.exp2(intensityExponent * (intensity - 1)) : 0
    }
  }

  @_noLocks private func amplitudeRaised(
    _ amplitude: Float, toExponentIn exponentTable: BufferView<Float>, at sharpness: Float
  ) -> Float {
    guard amplitude > 0 else { return 0 }
    let amplitudeExponent = Self.interpolatedValue(of: exponentTable, at: sharpness)
    return RealtimeMath.exp2(amplitudeExponent * RealtimeMath.log2(amplitude))
  }

  @_noLocks private static func interpolatedValue(
    of table: BufferView<Float>, at sharpness: Float
  ) -> Float {
    let tablePosition = sharpness * Float(table.count &- 1)
    var lowerIndex = Int(tablePosition)
    if lowerIndex > table.count &- 2 {
      lowerIndex = table.count &- 2
    }
    let lowerValue = table[lowerIndex]
    return lowerValue + (table[lowerIndex &+ 1] - lowerValue) * (tablePosition - Float(lowerIndex))
  }
}

/// Returns a power, for use during compilation. The render thread uses `RealtimeMath` instead.
func raised(_ base: Double, to exponent: Double) -> Double { pow(base, exponent) }

/// Returns the binary logarithm, for use during compilation.
func logarithm2(_ value: Double) -> Double { log2(value) }

/// Returns the level of an amplitude, in decibels.
func decibels(ofAmplitude amplitude: Double) -> Double {
  20 * logarithm2(amplitude) / logarithm2(10)
}
