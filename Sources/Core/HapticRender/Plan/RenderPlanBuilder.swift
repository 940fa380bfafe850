internal import CMath
import HapticModel
internal import RealtimeMemory

/// Compiles events and controls into a render plan.
struct RenderPlanBuilder: ~Copyable {
  let rate: Double
  /// The profile, with frequency mappings limited to the useful band of its hardware.
  let profile: TransducerProfile
  let mappings: VoiceMappings
  let levelTables: LevelTables
  /// The gains of bursts at evenly spaced points of sharpness.
  let burstGainsOverSharpness: [Double]
  /// The amplitude exponents of bursts at evenly spaced points of sharpness.
  let burstExponentsOverSharpness: [Double]
  var eventCount = 0
  var loopFrameCount = Int64(0)
  var soundEndFrame = Int64(0)
  var loopRange: Range<Int64>?
  var hasHaptics = false
  var hasAudio = false
  var voices: [PlannedVoice] = []
  var envelopes: [PlannedEnvelope] = []
  var segments: [ControlSegment] = []
  var currentLayerIndex: UInt16 = 0
  /// The sharpness scale of the current layer if it states frequencies in hertz, otherwise nil.
  var sharpnessScale: SharpnessScale?
  /// The frequencies that the transducer reproduces, in hertz.
  let reproducibleHertz: ClosedRange<Double>
  /// The indices of the first segments of each layer's control tracks.
  var layerTracks: [LayerTracks] = []
  var sounds: [AudioBuffer] = []
  var soundIndicesByPath: [String: Int32] = [:]

  /// The minimum length of a ramp, in frames.
  let minimumRampFrameCount: Int64

  init(profile: TransducerProfile, rate: Double, isRaw: Bool = false) {
    let transducerSettings = profile.transducerSettings(rate: rate)
    let requestedTransient = profile.transient
    let profile = profile.limitedToUsableBand(settings: transducerSettings)
    self.profile = profile
    self.rate = rate
    reproducibleHertz = profile.reproducibleHertz(rate: rate)
    minimumRampFrameCount =
      isRaw
      ? 0 : max(1, FrameConversion.frame(seconds: EnvelopeTimes.minimumRampSeconds, rate: rate))
    let steadyLevels = profile.levelsOverSharpness(
      count: LevelTables.sharpnessPointCount, drive: transducerSettings)
    burstGainsOverSharpness = profile.burstLevels(
      steadyLevels: steadyLevels, requestedShape: requestedTransient, drive: transducerSettings)
    burstExponentsOverSharpness = profile.amplitudeExponentsOverSharpness(
      count: LevelTables.sharpnessPointCount, of: profile.transient.frequency)
    let amplitudeExponents = profile.amplitudeExponentsOverSharpness(
      count: LevelTables.sharpnessPointCount, of: profile.frequency)
    levelTables = LevelTables(
      levels: steadyLevels, burstLevels: burstGainsOverSharpness, exponents: amplitudeExponents,
      burstExponents: burstExponentsOverSharpness)
    mappings = VoiceMappings(profile, tables: levelTables, rate: rate)
  }

  /// Converts a duration to frames, at least one.
  func frameCount(seconds: Double) -> Int64 {
    max(1, FrameConversion.frame(seconds: seconds, rate: rate))
  }

  /// Appends the tracks of the next layer, with a ramp after every jump.
  ///
  /// All bursts must have been added before.
  ///
  /// - Parameters:
  ///   - tracks: The control tracks, in the order of `LiveControlID`.
  ///   - sharpnessScale: The scale of a layer that states frequencies in hertz, or nil.
  mutating func addLayerTracks(_ tracks: [ControlTimeline], sharpnessScale: SharpnessScale? = nil) {
    var firstSegmentIndices: [Int32] = []
    for (id, track) in zip(LiveControlID.allCases, tracks) {
      firstSegmentIndices.append(Int32(clamping: segments.count))
      let duckedTrack = id == .hapticIntensity ? applyingDucking(to: track) : track
      segments += duckedTrack.segments(rampedOver: max(1, minimumRampFrameCount))
      // This segment is never reached. It terminates the track.
      segments.append(ControlSegment(start: .max, startValue: 0, slopePerFrame: 0))
    }
    let pitchScale = sharpnessScale.map { PitchScale($0, band: reproducibleHertz, rate: rate) }
    layerTracks.append(
      LayerTracks(starts: firstSegmentIndices, pitchScale: pitchScale ?? PitchScale()))
  }

  /// Returns the intensity control with values lowered during transients.
  ///
  /// The lower values duck continuous events.
  ///
  /// The ducking is a gain of the amplitude, so it is mapped by the inverse of the intensity
  /// mapping. All bursts must have been added before.
  func applyingDucking(to track: ControlTimeline) -> ControlTimeline {
    guard profile.transientDuckingGain < 1, case .power(let exponent) = profile.intensity else {
      return track
    }
    var transientSpans: [Range<Int64>] = []
    for voice in voices where voice.source == .burst && voice.gainOfPartial > 0 {
      let span = voice.onsetFrame..<(voice.onsetFrame + voice.envelope.endFrame)
      if let last = transientSpans.last, last.upperBound >= span.lowerBound {
        transientSpans[transientSpans.count - 1] =
          last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        transientSpans.append(span)
      }
    }
    return track.scaled(
      by: raised(profile.transientDuckingGain, to: 1 / exponent), within: transientSpans)
  }

  /// A sound file with its index in the plan.
  struct SoundReference {
    var sound: AudioBuffer
    var soundIndex: Int32
  }

  /// Adds the voices of an event of any kind.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - onset: The onset of the event, in frames.
  ///   - controls: The controls at the onset.
  ///   - file: The sound file of an event that plays one.
  mutating func addEvent(
    _ event: HapticEvent, onset: Int64, controls: EventControls, file: SoundReference?
  ) {
    switch event.kind {
    case .hapticTransient:
      addBurst(event, onset: onset, controls: controls)
    case .hapticContinuous:
      addVibration(event, onset: onset, controls: controls)
    case .audioContinuous:
      addTone(event, onset: onset, controls: controls)
    case .audioCustom:
      if let file {
        addSample(event, onset: onset, controls: controls, file: file)
      }
    }
  }

  /// Adds the voices of a continuous haptic event: a sine for each partial of the profile.
  private mutating func addVibration(_ event: HapticEvent, onset: Int64, controls: EventControls) {
    guard let (envelope, index) = envelope(of: event, onset: onset, controls: controls) else {
      return
    }
    for partial in profile.partials {
      var voice = PlannedVoice(
        source: .vibration, onsetFrame: onset, envelope: envelope,
        gainOfPartial: Float(profile.fullIntensityAmplitude * partial.amplitudeToEventRatio))
      setParameters(of: event, on: &voice)
      voice.frequencyToEventRatio = Float(partial.frequencyToEventRatio)
      voice.envelopeIndex = index
      addVoice(voice)
    }
    hasHaptics = true
  }

  /// Adds the voices of an audio tone: a sine for each harmonic.
  private mutating func addTone(_ event: HapticEvent, onset: Int64, controls: EventControls) {
    guard let (envelope, index) = envelope(of: event, onset: onset, controls: controls) else {
      return
    }
    for harmonic in 1...AudioTone.harmonicCount {
      let maximumHertz = 2 * AudioTone.centerHertz(of: profile) * Double(harmonic)
      guard harmonic == 1 || maximumHertz <= AudioTone.maximumHertzToSampleRateRatio * rate else {
        break
      }
      var voice = PlannedVoice(
        source: .tone, onsetFrame: onset, envelope: envelope,
        gainOfPartial: Float(AudioTone.fundamentalAmplitude / Double(harmonic)))
      voice.frequencyToEventRatio = Float(harmonic)
      voice.envelopeIndex = index
      voice.brightnessExponent = Int32(harmonic - 1)
      setParameters(of: event, on: &voice)
      addVoice(voice)
    }
    hasAudio = true
  }

  /// Adds the voice of a sound file, which is cut, padded, or looped to the duration of the event.
  private mutating func addSample(
    _ event: HapticEvent, onset: Int64, controls: EventControls, file: SoundReference
  ) {
    let isLooping = event.waveform?.isLooping ?? false
    let usesEnvelope = event.waveform?.usesVolumeEnvelope ?? true
    let effectivePitch = Double(event.value(of: .audioPitch)) + controls.value(of: .audioPitch)
    // If the pitch changes, plan for the duration at the lowest pitch. The voice becomes silent
    // when the file ends.
    let maximumOctavesDown = controls.isChanging(.audioPitch) ? 1 : -min(max(effectivePitch, -1), 1)
    let fileFrameCount = Int64(
      (Double(file.sound.frameCount) * raised(2, to: maximumOctavesDown)).rounded(.up))
    let fileSeconds = Double(fileFrameCount) / rate
    let eventSeconds = event.duration ?? 0
    let playedSeconds: Double
    switch (eventSeconds > 0, isLooping) {
    case (true, true): playedSeconds = eventSeconds
    case (true, false): playedSeconds = min(eventSeconds, fileSeconds)
    case (false, true): playedSeconds = RenderPlan.defaultEventSeconds
    case (false, false): playedSeconds = fileSeconds
    }
    guard playedSeconds > 0, file.sound.frameCount > 0 else { return }
    if eventSeconds == 0 {
      extendLoop(toSeconds: event.time + playedSeconds)
    }
    // A file that plays unmodified needs no additional fades.
    let playsWholeFile = eventSeconds == 0 || eventSeconds >= fileSeconds
    guard
      let (envelope, envelopeIndex) = !usesEnvelope && playsWholeFile && !isLooping
        ? (.plateau(length: fileFrameCount), -1)
        : self.envelope(of: event, onset: onset, lasting: playedSeconds, controls: controls)
    else { return }
    var sampleVoice = PlannedVoice(
      source: .sample, onsetFrame: onset, envelope: envelope, gainOfPartial: 1)
    sampleVoice.envelopeIndex = envelopeIndex
    setParameters(of: event, on: &sampleVoice)
    sampleVoice.soundIndex = file.soundIndex
    sampleVoice.isLooping = isLooping
    if usesEnvelope, !isLooping {
      sampleVoice.fadeOutFrameCount = Int32(
        min(minimumRampFrameCount, Int64(file.sound.frameCount)))
    }
    addVoice(sampleVoice)
    hasAudio = true
  }

  /// Adds the voices of a transient: a burst with a level and a frequency fixed at its onset.
  ///
  /// The sine is odd about the middle of the burst and the envelope is even, so that the burst has
  /// no DC.
  private mutating func addBurst(_ event: HapticEvent, onset: Int64, controls: EventControls) {
    let eventIntensity = clampedToUnitRange(
      Double(event.value(of: .hapticIntensity)) * controls.value(of: .hapticIntensity))
    let transientShape = profile.transient
    let (hertz, sharpness) = burstHertzAndSharpness(of: event, controls: controls)
    let eventAmplitude = burstAmplitude(intensity: eventIntensity, sharpness: sharpness)
    let squareWaveFraction =
      transientShape.squareWaveFractions.lowerBound
      + (transientShape.squareWaveFractions.upperBound
        - transientShape.squareWaveFractions.lowerBound) * sharpness
    hasHaptics = true
    for partial in transientShape.partials {
      let length = max(
        4,
        frameCount(
          seconds: transientShape.seconds(atSharpness: sharpness, hertz: hertz)
            * partial.durationToBurstRatio))
      loopFrameCount = max(loopFrameCount, onset + length)
      soundEndFrame = max(soundEndFrame, onset + length)
      // Include bursts that a pattern control silences, because a live control may raise them.
      guard event.value(of: .hapticIntensity) > 0 else { continue }
      for (harmonic, weight) in harmonics(
        squareness: squareWaveFraction, hertz: hertz * partial.frequencyToBurstRatio)
      {
        var voice = PlannedVoice(
          source: .burst, onsetFrame: onset,
          envelope: burstEnvelope(length: length, shape: transientShape),
          gainOfPartial: Float(eventAmplitude * partial.amplitudeToBurstRatio * weight))
        setParameters(of: event, on: &voice)
        voice.fullIntensityGain = Float(
          transientShape.fullIntensityAmplitude * partial.amplitudeToBurstRatio * weight)
        voice.initialSine = Self.sineSegment(
          hertz: hertz * partial.frequencyToBurstRatio * harmonic,
          glide: partial.endToStartFrequencyRatio,
          length: length, rate: rate)
        addVoice(voice)
      }
    }
  }

  /// Returns the frequency of a burst, and its sharpness on the scale of the profile, 0…1.
  private func burstHertzAndSharpness(
    of event: HapticEvent, controls: EventControls
  ) -> (hertz: Double, sharpness: Double) {
    let burstFrequency = profile.transient.frequency
    guard let sharpnessScale else {
      let sharpness = clampedToUnitRange(
        Double(event.value(of: .hapticSharpness)) + controls.value(of: .hapticSharpness))
      return (burstFrequency.hertz(atSharpness: sharpness), sharpness)
    }
    let statedHertz = sharpnessScale.hertz(
      ofSharpness: event.unclampedSharpness + controls.value(of: .hapticSharpness))
    let clampedHertz = min(
      max(statedHertz, reproducibleHertz.lowerBound), reproducibleHertz.upperBound)
    return (
      clampedHertz,
      clampedToUnitRange(burstFrequency.sharpnessScale.sharpness(ofHertz: clampedHertz))
    )
  }

  /// Returns the amplitude of a burst at an intensity and a sharpness, each 0…1.
  private func burstAmplitude(intensity: Double, sharpness: Double) -> Double {
    guard intensity > 0 else { return 0 }
    let transientShape = profile.transient
    let mappedAmplitude = profile.intensity.amplitude(atIntensity: intensity)
    let burstLevel = Self.interpolatedValue(of: burstGainsOverSharpness, at: sharpness)
    let burstExponent = Self.interpolatedValue(of: burstExponentsOverSharpness, at: sharpness)
    let amplitudeAboveFloor =
      transientShape.zeroIntensityAmplitudeFraction
      + (1 - transientShape.zeroIntensityAmplitudeFraction) * mappedAmplitude
    let fractionOfFullLevel =
      burstExponent == 1 ? amplitudeAboveFloor : raised(amplitudeAboveFloor, to: burstExponent)
    return transientShape.fullIntensityAmplitude * fractionOfFullLevel * burstLevel
  }

  /// Returns the harmonics of a mix of a sine and a square wave, and their weights. Harmonics that
  /// would alias are omitted.
  private func harmonics(squareness: Double, hertz: Double) -> [(Double, Double)] {
    let fundamentalWeight = 4 / Double.pi
    let oddHarmonics = stride(from: 3.0, through: squareness > 0 ? 15 : 0, by: 2)
    let audibleHarmonics = oddHarmonics.prefix {
      $0 * hertz < AudioTone.maximumHertzToSampleRateRatio * rate
    }
    return [(1, 1 - squareness + squareness * fundamentalWeight)]
      + audibleHarmonics.map { ($0, squareness * fundamentalWeight / $0) }
  }

  private static func interpolatedValue(of table: [Double], at sharpness: Double) -> Double {
    let tablePosition = sharpness * Double(table.count - 1)
    let lowerIndex = min(Int(tablePosition), table.count - 2)
    return table[lowerIndex] + (table[lowerIndex + 1] - table[lowerIndex])
      * (tablePosition - Double(lowerIndex))
  }

  /// Returns a sine that crosses zero, rising, in the middle of a burst.
  private static func sineSegment(
    hertz: Double, glide: Double, length: Int64, rate: Double
  ) -> SineSegment {
    let maximumPhaseIncrement = AudioTone.maximumHertzToSampleRateRatio * 4_294_967_296
    let startPhaseIncrement = UInt32(min(hertz / rate * 4_294_967_296, maximumPhaseIncrement))
    // Limit an upward glide to frequencies that do not alias.
    let finalPhaseIncrement = min(Double(startPhaseIncrement) * glide, maximumPhaseIncrement)
    let phaseIncrementSlope = Int32(
      ((finalPhaseIncrement - Double(startPhaseIncrement)) / Double(length)).rounded())
    let halfLengthPhase = UInt32(truncatingIfNeeded: (Int64(startPhaseIncrement) * length) / 2)
    return SineSegment(
      phase: glide == 1 ? 0 &- halfLengthPhase : 0, increment: startPhaseIncrement,
      glide: UInt32(bitPattern: phaseIncrementSlope))
  }

  private func burstEnvelope(length: Int64, shape: TransientShape) -> Envelope {
    let eighthLengthFrames = max(1, (length + 4) / 8)
    let riseFrameCount = min(
      shape.attackSeconds.map({ frameCount(seconds: $0) }) ?? eighthLengthFrames, length / 2)
    let fallFrameCount = min(
      shape.releaseSeconds.map({ frameCount(seconds: $0) }) ?? eighthLengthFrames,
      length - riseFrameCount)
    return .plateau(length: length, rise: riseFrameCount, fall: fallFrameCount)
  }

  /// Extends the loop to include an event without a duration.
  private mutating func extendLoop(toSeconds seconds: Double) {
    loopFrameCount = max(loopFrameCount, FrameConversion.frame(seconds: seconds, rate: rate))
  }

  private mutating func addVoice(_ voice: PlannedVoice) {
    var addedVoice = voice
    addedVoice.layerIndex = currentLayerIndex
    voices.append(addedVoice)
    soundEndFrame = max(soundEndFrame, addedVoice.onsetFrame + addedVoice.envelope.endFrame)
  }

  private func setParameters(of event: HapticEvent, on voice: inout PlannedVoice) {
    let isHaptic = voice.source.isHaptic
    voice.eventLevel = event.value(of: isHaptic ? .hapticIntensity : .audioVolume)
    voice.eventPitch =
      isHaptic && sharpnessScale != nil
      ? Float(event.unclampedSharpness)
      : event.value(of: isHaptic ? .hapticSharpness : .audioPitch)
    if isHaptic { return }
    voice.brightness = event.value(of: .audioBrightness)
    voice.pan = event.value(of: .audioPan)
  }

  /// Plans the envelope of an event.
  ///
  /// An event without a duration extends the loop.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - onset: The onset of the event, in frames.
  ///   - seconds: The duration, or nil for that of the event.
  ///   - controls: The controls at the onset.
  /// - Returns: The envelope and the index of its plan, or nil if the event has no frame.
  private mutating func envelope(
    of event: HapticEvent, onset: Int64, lasting seconds: Double? = nil, controls: EventControls
  ) -> (Envelope, Int32)? {
    let durationSeconds = seconds ?? event.duration ?? RenderPlan.defaultEventSeconds
    let holdFrameCount =
      FrameConversion.frame(seconds: event.time + durationSeconds, rate: rate) - onset
    guard holdFrameCount > 0 else { return nil }
    if seconds == nil, event.duration == nil {
      extendLoop(toSeconds: event.time + durationSeconds)
    }
    let isHaptic = event.kind.isHaptic
    let attackTime = controls.envelopeTime(
      of: event, parameter: .attackTime,
      control: isHaptic ? .hapticAttackTimeControl : .audioAttackTimeControl)
    let decayTime = controls.envelopeTime(
      of: event, parameter: .decayTime,
      control: isHaptic ? .hapticDecayTimeControl : .audioDecayTimeControl)
    let releaseTime = controls.envelopeTime(
      of: event, parameter: .releaseTime,
      control: isHaptic ? .hapticReleaseTimeControl : .audioReleaseTimeControl)
    let plannedEnvelope = PlannedEnvelope(
      eventFrameCount: holdFrameCount, isSustained: event.value(of: .sustained) >= 0.5,
      attackTime: attackTime,
      decayTime: decayTime, releaseTime: releaseTime)
    envelopes.append(plannedEnvelope)
    let envelope = plannedEnvelope.envelope(
      attack: EnvelopeTimes.seconds(
        normalized: attackTime.specifiedTime + attackTime.controlOffset),
      decay: EnvelopeTimes.seconds(normalized: decayTime.specifiedTime + decayTime.controlOffset),
      release: EnvelopeTimes.seconds(
        normalized: releaseTime.specifiedTime + releaseTime.controlOffset),
      rate: rate, minimumRampLength: minimumRampFrameCount)
    return (envelope, Int32(clamping: envelopes.count - 1))
  }

  private func clampedToUnitRange(_ value: Double) -> Double { min(max(value, 0), 1) }

  /// Adds a sampled signal, resampled to the rate of the plan.
  ///
  /// A signal that doesn't start or end near zero gets a ramp, which prevents clicks.
  mutating func addSignal(_ signal: SampledSignal) {
    let resampledSamples = SignalResampler.resampled(
      signal.samples, from: signal.sampleRate, to: rate)
    guard !resampledSamples.isEmpty else { return }
    let onsetFrame = FrameConversion.frame(seconds: signal.startSeconds, rate: rate)
    let signalFrameCount = Int64(resampledSamples.count)
    let maximumRampFrames = min(minimumRampFrameCount, signalFrameCount / 2)
    let riseFrameCount = Self.isNearSilence(resampledSamples[0]) ? 0 : maximumRampFrames
    let fallFrameCount =
      Self.isNearSilence(resampledSamples[resampledSamples.count - 1]) ? 0 : maximumRampFrames
    var signalVoice = PlannedVoice(
      source: .signal, onsetFrame: onsetFrame,
      envelope: .plateau(length: signalFrameCount, rise: riseFrameCount, fall: fallFrameCount),
      gainOfPartial: Float(profile.fullIntensityAmplitude))
    signalVoice.soundIndex = Int32(clamping: sounds.count)
    signalVoice.layerIndex = currentLayerIndex
    sounds.append(AudioBuffer(interleaved: resampledSamples, channelCount: 1))
    voices.append(signalVoice)
    soundEndFrame = max(soundEndFrame, onsetFrame + signalFrameCount)
    hasHaptics = true
  }

  /// Returns true if a sample is at least 40 dB below full scale.
  ///
  /// Starting at such a sample causes no click.
  private static func isNearSilence(_ sample: Float) -> Bool { abs(sample) <= 0.01 }
}

/// The synthetic tone of `AudioContinuous`: four harmonics above the haptic band.
enum AudioTone {
  /// The amplitude of the fundamental at full volume.
  static let fundamentalAmplitude = 0.5
  /// The number of harmonics; the amplitude of harmonic n is 1/n times brightnessⁿ⁻¹.
  static let harmonicCount = 4
  /// The maximum frequency of a partial as a fraction of the sample rate. The limit prevents
  /// aliasing.
  static let maximumHertzToSampleRateRatio = 0.45

  /// Returns the frequency of the tone at pitch 0, an octave above the haptic band.
  ///
  /// A pitch of ±1 is an octave.
  static func centerHertz(of profile: TransducerProfile) -> Double {
    2 * profile.frequency.highHertz
  }
}
