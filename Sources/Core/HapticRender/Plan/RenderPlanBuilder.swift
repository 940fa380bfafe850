internal import CMath
import HapticModel
internal import RealtimeMemory

/// A plan in the making: what compilation fills before it is frozen.
struct RenderPlanBuilder: ~Copyable {
  let rate: Double
  /// The profile, asking for nothing its hardware cannot make felt.
  let profile: TransducerProfile
  let mappings: VoiceMappings
  let tables: LevelTables
  /// The profile's factor on the amplitude of bursts over sharpness, and what that, as intensity
  /// makes it, is raised to.
  let burstLevels, burstExponents: [Double]
  var eventCount = 0
  var loopLength = Int64(0)
  var soundEnd = Int64(0)
  var loopRange: Range<Int64>?
  var hasHaptics = false
  var hasAudio = false
  var voices: [PlannedVoice] = []
  var envelopes: [PlannedEnvelope] = []
  var segments: [ControlSegment] = []
  var layer: UInt16 = 0
  /// Where the tracks of each layer start in `segments`.
  var layerTracks: [LayerTracks] = []
  var sounds: [AudioBuffer] = []
  var soundIndices: [String: Int32] = [:]

  let minimumRampLength: Int64

  init(profile: TransducerProfile, rate: Double, isRaw: Bool = false) {
    let drive = profile.transducerSettings(rate: rate)
    let asked = profile
    let profile = profile.bandMapped(settings: drive)
    self.profile = profile
    self.rate = rate
    minimumRampLength =
      isRaw
      ? 0 : max(1, FrameConversion.frame(seconds: EnvelopeTimes.minimumRampSeconds, rate: rate))
    let levels = profile.levelsOverSharpness(count: LevelTables.pointCount, drive: drive)
    burstLevels = profile.burstLevels(
      steadyLevels: levels, requestedShape: asked.transient, drive: drive)
    burstExponents = profile.amplitudeExponentsOverSharpness(
      count: LevelTables.pointCount, of: profile.transient.frequency)
    let growths = profile.amplitudeExponentsOverSharpness(
      count: LevelTables.pointCount, of: profile.frequency)
    tables = LevelTables(
      levels: levels, burstLevels: burstLevels, exponents: growths, burstExponents: burstExponents)
    mappings = VoiceMappings(profile, tables: tables, rate: rate)
  }

  /// Frames of a span of time, at least one.
  func frameCount(seconds: Double) -> Int64 {
    max(1, FrameConversion.frame(seconds: seconds, rate: rate))
  }

  /// Appends the tracks of the next layer, with every jump ramped over the shortest edge; call it
  /// when all bursts are planned.
  mutating func add(tracks: [ControlTimeline]) {
    var starts: [Int32] = []
    for (id, track) in zip(LiveControlID.allCases, tracks) {
      starts.append(Int32(clamping: segments.count))
      let heard = id == .hapticIntensity ? ducked(track) : track
      segments += heard.segments(rampedOver: max(1, minimumRampLength))
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
    guard profile.ducking < 1, case .power(let exponent) = profile.intensity else { return track }
    var spans: [Range<Int64>] = []
    for voice in voices where voice.source == .burst && voice.gain > 0 {
      let span = voice.onset..<(voice.onset + voice.envelope.end)
      if let last = spans.last, last.upperBound >= span.lowerBound {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        spans.append(span)
      }
    }
    return track.scaled(by: raised(profile.ducking, to: 1 / exponent), within: spans)
  }

  mutating func add(
    _ event: HapticEvent, onset: Int64, controls: EventControls,
    file: (sample: AudioBuffer, index: Int32)?
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
        addSample(event, onset: onset, controls: controls, sample: file.sample, index: file.index)
      }
    }
  }

  /// Adds a continuous haptic event: one sine for each partial of the profile.
  private mutating func addVibration(_ event: HapticEvent, onset: Int64, controls: EventControls) {
    guard let (envelope, index) = envelope(of: event, onset: onset, controls: controls) else {
      return
    }
    for partial in profile.partials {
      var voice = PlannedVoice(
        source: .vibration, onset: onset, envelope: envelope,
        gain: Float(profile.level * partial.gain))
      setParameters(of: event, on: &voice)
      voice.ratio = Float(partial.ratio)
      voice.envelopeIndex = index
      add(voice)
    }
    hasHaptics = true
  }

  /// Adds an audio tone: one sine for each harmonic.
  private mutating func addTone(_ event: HapticEvent, onset: Int64, controls: EventControls) {
    guard let (envelope, index) = envelope(of: event, onset: onset, controls: controls) else {
      return
    }
    for harmonic in 1...AudioTone.harmonicCount {
      let highest = 2 * AudioTone.centerHertz(of: profile) * Double(harmonic)
      guard harmonic == 1 || highest <= AudioTone.maximumRateFraction * rate else { break }
      var voice = PlannedVoice(
        source: .tone, onset: onset, envelope: envelope,
        gain: Float(AudioTone.level / Double(harmonic)))
      voice.ratio = Float(harmonic)
      voice.envelopeIndex = index
      voice.brightnessExponent = Int32(harmonic - 1)
      setParameters(of: event, on: &voice)
      add(voice)
    }
    hasAudio = true
  }

  /// Adds a sound file: cut or padded to the event's duration, looped for it where asked.
  private mutating func addSample(
    _ event: HapticEvent, onset: Int64, controls: EventControls, sample: AudioBuffer, index: Int32
  ) {
    let isLooping = event.waveform?.isLooping ?? false
    let usesEnvelope = event.waveform?.usesVolumeEnvelope ?? true
    let pitch = Double(event.value(of: .audioPitch)) + controls.value(.audioPitch)
    // Where pitch moves, the file may last as long as at the lowest; it falls silent by itself.
    let slowness = raised(2, to: controls.isChanging(.audioPitch) ? 1 : -min(max(pitch, -1), 1))
    let count = Int64((Double(sample.frameCount) * slowness).rounded(.up))
    let natural = Double(count) / rate
    let given = event.duration ?? 0
    let duration =
      given > 0
      ? (isLooping ? given : min(given, natural))
      : (isLooping ? RenderPlan.defaultDuration : natural)
    guard duration > 0, sample.frameCount > 0 else { return }
    if given == 0 {
      extendLoop(toSeconds: event.time + duration)
    }
    // Played unmodified, the file's own first and last frames are its edges.
    let isUnmodified = !usesEnvelope && (given == 0 || given >= natural) && !isLooping
    guard
      let (envelope, planned) = isUnmodified
        ? (.hold(count), -1)
        : self.envelope(of: event, onset: onset, lasting: duration, controls: controls)
    else { return }
    var voice = PlannedVoice(source: .sample, onset: onset, envelope: envelope, gain: 1)
    voice.envelopeIndex = planned
    setParameters(of: event, on: &voice)
    voice.soundIndex = index
    voice.isLooping = isLooping
    if usesEnvelope, !isLooping {
      voice.fadeLength = Int32(min(minimumRampLength, Int64(sample.frameCount)))
    }
    add(voice)
    hasAudio = true
  }

  /// Adds a transient: a burst whose level and frequency are those at its onset.
  ///
  /// The sine is odd about the burst's middle and the envelope even, so the burst has no mean.
  private mutating func addBurst(_ event: HapticEvent, onset: Int64, controls: EventControls) {
    let intensity = clamped(
      Double(event.value(of: .hapticIntensity)) * controls.value(.hapticIntensity))
    let sharpness = clamped(
      Double(event.value(of: .hapticSharpness)) + controls.value(.hapticSharpness))
    let law = profile.transient
    let shaped = profile.intensity.amplitude(atIntensity: intensity)
    let even = Self.interpolatedValue(of: burstLevels, at: sharpness)
    let growth = Self.interpolatedValue(of: burstExponents, at: sharpness)
    let full = law.floor + (1 - law.floor) * shaped
    let share = growth == 1 ? full : raised(full, to: growth)
    let amplitude = intensity > 0 ? law.level * share * even : 0
    let hertz = law.frequency.hertz(atSharpness: sharpness)
    let squareness =
      law.squareness.lowerBound + (law.squareness.upperBound - law.squareness.lowerBound)
      * sharpness
    hasHaptics = true
    for partial in law.partials {
      let length = max(
        4, frameCount(seconds: law.seconds(atSharpness: sharpness) * partial.durationRatio))
      loopLength = max(loopLength, onset + length)
      soundEnd = max(soundEnd, onset + length)
      // A burst that a control of the pattern silences is planned too: a live one may wake it.
      guard event.value(of: .hapticIntensity) > 0 else { continue }
      for (harmonic, weight) in harmonics(squareness: squareness, hertz: hertz * partial.ratio) {
        var voice = PlannedVoice(
          source: .burst, onset: onset, envelope: burstEnvelope(length: length, law: law),
          gain: Float(amplitude * partial.gain * weight))
        setParameters(of: event, on: &voice)
        voice.fullIntensityGain = Float(law.level * partial.gain * weight)
        voice.sine = Self.sine(
          hertz: hertz * partial.ratio * harmonic, glide: partial.glide, length: length, rate: rate)
        add(voice)
      }
    }
  }

  /// The harmonics of a mix of sine and square wave below the frequencies that would alias, with
  /// their weights.
  private func harmonics(squareness share: Double, hertz: Double) -> [(Double, Double)] {
    let series = 4 / Double.pi
    let odd = stride(from: 3.0, through: share > 0 ? 15 : 0, by: 2)
    return [(1, 1 - share + share * series)]
      + odd.prefix { $0 * hertz < AudioTone.maximumRateFraction * rate }.map {
        ($0, share * series / $0)
      }
  }

  private static func interpolatedValue(of table: [Double], at sharpness: Double) -> Double {
    let place = sharpness * Double(table.count - 1)
    let index = min(Int(place), table.count - 2)
    return table[index] + (table[index + 1] - table[index]) * (place - Double(index))
  }

  /// A sine that passes zero, rising, in the middle of a burst.
  private static func sine(hertz: Double, glide: Double, length: Int64, rate: Double) -> SineSegment
  {
    let highest = AudioTone.maximumRateFraction * 4_294_967_296
    let increment = UInt32(min(hertz / rate * 4_294_967_296, highest))
    // What glides up stays below the frequencies that would alias.
    let last = min(Double(increment) * glide, highest)
    let growth = Int32(((last - Double(increment)) / Double(length)).rounded())
    let half = UInt32(truncatingIfNeeded: (Int64(increment) * length) / 2)
    return SineSegment(
      phase: glide == 1 ? 0 &- half : 0, increment: increment, glide: UInt32(bitPattern: growth))
  }

  private func burstEnvelope(length: Int64, law: TransientShape) -> Envelope {
    let eighth = max(1, (length + 4) / 8)
    let rise = min(law.attack.map({ frameCount(seconds: $0) }) ?? eighth, length / 2)
    let fall = min(law.release.map({ frameCount(seconds: $0) }) ?? eighth, length - rise)
    return .hold(length, rise: rise, fall: fall)
  }

  /// Counts an event without a duration towards the length of a loop.
  private mutating func extendLoop(toSeconds seconds: Double) {
    loopLength = max(loopLength, FrameConversion.frame(seconds: seconds, rate: rate))
  }

  private mutating func add(_ voice: PlannedVoice) {
    var voice = voice
    voice.layer = layer
    voices.append(voice)
    soundEnd = max(soundEnd, voice.onset + voice.envelope.end)
  }

  private func setParameters(of event: HapticEvent, on voice: inout PlannedVoice) {
    let isHaptic = voice.source.isHaptic
    voice.level = event.value(of: isHaptic ? .hapticIntensity : .audioVolume)
    voice.pitch = event.value(of: isHaptic ? .hapticSharpness : .audioPitch)
    if isHaptic { return }
    voice.brightness = event.value(of: .audioBrightness)
    voice.pan = event.value(of: .audioPan)
  }

  /// The envelope of an event and where what it is made of is kept, or nil where nothing is held;
  /// without a duration of its own it counts towards the length of a loop.
  private mutating func envelope(
    of event: HapticEvent, onset: Int64, lasting seconds: Double? = nil, controls: EventControls
  ) -> (Envelope, Int32)? {
    let duration = seconds ?? event.duration ?? RenderPlan.defaultDuration
    let hold = FrameConversion.frame(seconds: event.time + duration, rate: rate) - onset
    guard hold > 0 else { return nil }
    if seconds == nil, event.duration == nil {
      extendLoop(toSeconds: event.time + duration)
    }
    let isHaptic = event.kind.isHaptic
    let attack = controls.envelopeTime(
      of: event, parameter: .attackTime,
      control: isHaptic ? .hapticAttackTimeControl : .audioAttackTimeControl)
    let decay = controls.envelopeTime(
      of: event, parameter: .decayTime,
      control: isHaptic ? .hapticDecayTimeControl : .audioDecayTimeControl)
    let release = controls.envelopeTime(
      of: event, parameter: .releaseTime,
      control: isHaptic ? .hapticReleaseTimeControl : .audioReleaseTimeControl)
    let planned = PlannedEnvelope(
      holdLength: hold, isSustained: event.value(of: .sustained) >= 0.5, attack: attack,
      decay: decay,
      release: release)
    envelopes.append(planned)
    let envelope = planned.envelope(
      attack: EnvelopeTimes.seconds(normalized: attack.eventValue + attack.controlValue),
      decay: EnvelopeTimes.seconds(normalized: decay.eventValue + decay.controlValue),
      release: EnvelopeTimes.seconds(normalized: release.eventValue + release.controlValue),
      rate: rate,
      minimumRampLength: minimumRampLength)
    return (envelope, Int32(clamping: envelopes.count - 1))
  }

  private func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }

  /// Adds a sampled signal at the rate of the plan.
  ///
  /// Where it does not begin or end near zero it is ramped over the shortest edge, so that nothing
  /// pops.
  mutating func addSignal(_ signal: SampledSignal) {
    let frames = SignalResampler.resampled(signal.samples, from: signal.rate, to: rate)
    guard !frames.isEmpty else { return }
    let onset = FrameConversion.frame(seconds: signal.time, rate: rate)
    let length = Int64(frames.count)
    let longestEdge = min(minimumRampLength, length / 2)
    let rise = Self.isNearSilence(frames[0]) ? 0 : longestEdge
    let fall = Self.isNearSilence(frames[frames.count - 1]) ? 0 : longestEdge
    var voice = PlannedVoice(
      source: .signal, onset: onset, envelope: .hold(length, rise: rise, fall: fall),
      gain: Float(profile.level))
    voice.soundIndex = Int32(clamping: sounds.count)
    voice.layer = layer
    sounds.append(AudioBuffer(interleaved: frames, channelCount: 1))
    voices.append(voice)
    soundEnd = max(soundEnd, onset + length)
    hasHaptics = true
  }

  /// Whether a step from silence to a sample is 40 dB below a full one.
  private static func isNearSilence(_ sample: Float) -> Bool { abs(sample) <= 0.01 }
}

/// The synthetic tone of `AudioContinuous`: four harmonics above the haptic band.
enum AudioTone {
  /// Amplitude of the fundamental at full volume.
  static let level = 0.5
  /// Harmonics; each has 1/n of the fundamental's amplitude, times brightnessⁿ⁻¹.
  static let harmonicCount = 4
  /// The highest frequency a partial may reach, as a share of the rate, so that nothing aliases.
  static let maximumRateFraction = 0.45

  /// The frequency at pitch 0: an octave above the top of the haptic band; pitch ±1 is an octave.
  static func centerHertz(of profile: TransducerProfile) -> Double { 2 * profile.frequency.high }
}

/// Moves a signal to another rate by band-limited interpolation.
///
/// Source: J. O. Smith, Digital Audio Resampling Home Page, 2002: a sinc under a Kaiser window,
/// widened where the rate falls. The signal counts as zero before its start and behind its end.
package enum SignalResampler {
  /// Zero crossings of the sinc to each side.
  private static let zeroCrossingCount = 24.0
  /// The window's shape: side lobes below −80 dB.
  private static let kaiserBeta = 8.0
  /// Points of the table for each zero crossing.
  private static let pointsPerZeroCrossing = 512

  /// The windowed sinc from 0 to `reach` zero crossings, with one point behind.
  private static let kernel: [Float] = {
    let count = Int(zeroCrossingCount) * pointsPerZeroCrossing
    return (0...count + 1).map { index in
      let x = Double(index) / Double(pointsPerZeroCrossing)
      guard x < zeroCrossingCount else { return 0 }
      let sinc = x == 0 ? 1 : sin(.pi * x) / (.pi * x)
      let place = x / zeroCrossingCount
      return Float(
        sinc * besselI0(kaiserBeta * (1 - place * place).squareRoot()) / besselI0(kaiserBeta))
    }
  }()

  /// The modified Bessel function of the first kind and order 0, by its power series.
  private static func besselI0(_ x: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    for n in 1...40 {
      term *= (x / 2 / Double(n)) * (x / 2 / Double(n))
      sum += term
    }
    return sum
  }

  /// The samples at another rate; as they are where the rates are equal.
  package static func resampled(_ samples: [Float], from rate: Double, to wanted: Double) -> [Float]
  {
    guard rate != wanted, !samples.isEmpty else { return samples }
    let step = rate / wanted
    let count = Int((Double(samples.count) / step).rounded(.up))
    // Below 1 where the rate falls: the cutoff falls with it.
    let cutoff = min(1, wanted / rate)
    let width = zeroCrossingCount / cutoff
    let scale = Float(cutoff)
    return (0..<count).map { frame in
      let position = Double(frame) * step
      let first = max(0, Int((position - width).rounded(.up)))
      let last = min(samples.count - 1, Int(position + width))
      guard first <= last else { return 0 }
      var sum: Float = 0
      for index in first...last {
        let place = abs(position - Double(index)) * cutoff * Double(pointsPerZeroCrossing)
        let entry = Int(place)
        let part = Float(place - Double(entry))
        sum += samples[index] * (kernel[entry] + (kernel[entry + 1] - kernel[entry]) * part)
      }
      return sum * scale
    }
  }
}

extension AudioBuffer {
  /// A sound at another rate than the one it was decoded at, by band-limited interpolation.
  ///
  /// - Parameters:
  ///   - interleaved: Samples in −1…1; what is not finite becomes silence.
  ///   - channelCount: Channels in each frame, of which the first two are kept.
  package convenience init(
    interleaved: [Float], channelCount: Int, rate: Double, playedAt wanted: Double
  ) {
    let channels = (0..<min(channelCount, 2)).map { channel in
      SignalResampler.resampled(
        stride(from: channel, to: interleaved.count, by: channelCount).map { interleaved[$0] },
        from: rate, to: wanted)
    }
    let count = channels.map { $0.count }.min() ?? 0
    self.init(
      interleaved: (0..<count).flatMap { frame in channels.map { $0[frame] } },
      channelCount: channels.count)
  }
}
