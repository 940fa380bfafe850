internal import CMath
internal import HapticModel
internal import RealtimeMemory

/// A plan as the render path reads it: places in the memory that the plan owns.
struct PlanView: BitwiseCopyable {
  /// By rising onset.
  let voices: BufferView<PlannedVoice>
  /// All tracks, one behind the other.
  let segments: BufferView<ControlSegment>
  let sounds: BufferView<AudioBufferView>
  /// Where the tracks of each layer start in `segments`.
  let layers: BufferView<LayerTracks>
  let envelopes: BufferView<PlannedEnvelope>
  var mappings: VoiceMappings
  /// The frame at which a loop returns to the beginning, and that from which on nothing sounds and
  /// the pattern has ended.
  let loopLength, length: Int64
  /// Frames of the shortest edge.
  let minimumRampLength: Int64
  let rate: Double
  /// The most frames from the onset to the end of a voice that is not a burst.
  let maximumHoldLength: Int64

  @_noLocks func trackCursors(of voice: PlannedVoice) -> TrackCursors {
    let layer = layers[Int(voice.layer)]
    return voice.source.isHaptic ? layer.haptic : layer.audio
  }
}

struct AudioBufferView: BitwiseCopyable {
  let frames: BufferView<Float>
  let frameCount, channelCount: Int
}

/// Where the controls of one bus are among a plan's control segments.
///
/// A haptic voice has no brightness and pan; it never reads these two.
struct TrackCursors: BitwiseCopyable, Sendable {
  /// Intensity or volume, and sharpness or pitch.
  var intensityIndex, pitchIndex, brightnessIndex, panIndex: Int32

  @_noLocks func segmentIndex(of id: LiveControlID) -> Int {
    switch id {
    case .hapticIntensity, .audioVolume: Int(intensityIndex)
    case .hapticSharpness, .audioPitch: Int(pitchIndex)
    case .audioBrightness: Int(brightnessIndex)
    case .audioPan: Int(panIndex)
    }
  }
}

/// Where the tracks of one layer start among a plan's control segments.
struct LayerTracks: BitwiseCopyable, Sendable {
  var haptic, audio: TrackCursors

  /// Tracks that start at places in the order of `LiveControlID`.
  init(starts: [Int32]) {
    func start(_ id: LiveControlID) -> Int32 { starts[id.rawValue] }
    haptic = TrackCursors(
      intensityIndex: start(.hapticIntensity), pitchIndex: start(.hapticSharpness),
      brightnessIndex: start(.audioBrightness),
      panIndex: start(.audioPan))
    audio = TrackCursors(
      intensityIndex: start(.audioVolume), pitchIndex: start(.audioPitch),
      brightnessIndex: start(.audioBrightness),
      panIndex: start(.audioPan))
  }
}

/// One sine or sound of the pattern, compiled: what a voice needs to know when it starts.
///
/// An event is one voice or several, one for each partial of its waveform.
struct PlannedVoice: BitwiseCopyable, Sendable {
  enum Source: UInt8, BitwiseCopyable, Sendable {
    /// A sine on the haptic bus that follows intensity and sharpness.
    case vibration
    /// A sine on the haptic bus whose level and frequency were fixed at its onset.
    case burst
    /// A sine on the audio bus that follows volume, pitch, brightness and pan.
    case tone
    /// A sound file on the audio bus that follows volume, pitch, brightness and pan.
    case sample
    /// A recording on the haptic bus, which is heard as it is: no law and no control acts on it.
    case recording
    /// A sampled signal on the haptic bus, of which only the level follows intensity.
    case signal

    var isHaptic: Bool {
      @_noLocks get {
        switch self {
        case .vibration, .burst, .recording, .signal: true
        case .tone, .sample: false
        }
      }
    }

    var readsSamples: Bool {
      @_noLocks get {
        switch self {
        case .sample, .recording, .signal: true
        case .vibration, .burst, .tone: false
        }
      }
    }

    var isBurst: Bool {
      @_noLocks get {
        if case .burst = self {
          true
        } else {
          false
        }
      }
    }
    var isRecording: Bool {
      @_noLocks get {
        if case .recording = self {
          true
        } else {
          false
        }
      }
    }
    var isSignal: Bool {
      @_noLocks get {
        if case .signal = self {
          true
        } else {
          false
        }
      }
    }
  }

  var source: Source
  var layer: UInt16 = 0
  var onset: Int64
  /// The envelope, in frames from the onset.
  var envelope: Envelope
  /// The event's intensity or volume, and its sharpness or pitch.
  var level: Float = 1
  var pitch: Float = 0
  var brightness: Float = 1
  var pan: Float = 0
  /// The amplitude of the partial at full strength.
  var gain: Float
  /// The partial's frequency as a multiple of the event's.
  var ratio: Float = 1
  /// How often brightness is a factor of the partial's amplitude.
  var brightnessExponent: Int32 = 0
  /// A burst's amplitude at full intensity; what its onset's controls made of it is in `gain`.
  var fullIntensityGain: Float = 0
  var sine = SineSegment()
  /// The index of the sound file in the plan.
  var soundIndex: Int32 = 0
  var isLooping = false
  /// Frames of the sound file's end that are faded; 0 leaves the file's own edge.
  var fadeLength: Int32 = 0
  /// The index in the plan of what its envelope is made of, or −1 where it is fixed.
  var envelopeIndex: Int32 = -1
}

/// What the envelope of a continuous event is made of: it is made again at the onset where a player
/// was sent other times.
struct PlannedEnvelope: BitwiseCopyable, Sendable {
  /// One of the event's envelope times, normalised.
  struct Time: BitwiseCopyable, Sendable {
    var eventValue, controlValue: Float
    /// The frame at which that came into force, or `ControlSegment.neutral`.
    var sourceStart: Int64
  }

  /// Frames from the onset to the event's end.
  var holdLength: Int64
  /// Whether the level stays behind the attack, rather than decay.
  var isSustained: Bool
  var attack, decay, release: Time

  /// The envelope with times in seconds; every edge lasts at least the shortest edge.
  @_noLocks func envelope(
    attack: Double, decay: Double, release: Double, rate: Double, minimumRampLength edge: Int64
  )
    -> Envelope
  {
    let shape = EnvelopeShape(
      hold: Double(holdLength), attack: Self.frameCount(attack, rate: rate, minimum: edge),
      decay: Self.frameCount(decay, rate: rate, minimum: edge),
      release: Self.frameCount(release, rate: rate, minimum: edge),
      isSustained: isSustained)
    return Envelope(
      riseEnd: Int64(shape.riseEnd), riseLevel: Float(shape.riseLevel),
      releaseStart: Int64(shape.releaseStart),
      releaseLevel: Float(shape.releaseLevel), end: Int64(shape.end))
  }

  /// The envelope with what a player was sent in place of the pattern's controls, at a frame of the
  /// output.
  ///
  /// - Parameter passOrigin: The pattern position of the pass's frame 0.
  @_noLocks func envelope(
    with live: Reference<LiveControls>, isHaptic: Bool, at frame: Int64, passOrigin: Int64,
    in plan: Reference<PlanView>
  ) -> Envelope {
    envelope(
      attack: Self.seconds(
        attack, live.value.envelopeTime(isHaptic ? .hapticAttack : .audioAttack), at: frame,
        passOrigin),
      decay: Self.seconds(
        decay, live.value.envelopeTime(isHaptic ? .hapticDecay : .audioDecay), at: frame, passOrigin
      ),
      release: Self.seconds(
        release, live.value.envelopeTime(isHaptic ? .hapticRelease : .audioRelease), at: frame,
        passOrigin),
      rate: plan.value.rate, minimumRampLength: plan.value.minimumRampLength)
  }

  @_noLocks private static func frameCount(_ seconds: Double, rate: Double, minimum edge: Int64)
    -> Double
  {
    Double(max(edge, Int64(seconds * rate + 0.5)))
  }

  /// Seconds of a time under what was sent for it, where that is in force.
  @_noLocks private static func seconds(
    _ time: Time, _ live: LiveControl, at frame: Int64, _ passOrigin: Int64
  )
    -> Double
  {
    let isSent = live.overrides(sourceStart: time.sourceStart, passOrigin: passOrigin)
    let sum = time.eventValue + (isSent ? live.value(at: frame) : time.controlValue)
    let bounded = sum < 0 ? 0 : (sum > 1 ? 1 : sum)
    return EnvelopeTimes.seconds(
      ofGrowth: Double(RealtimeMath.exp2(bounded * EnvelopeTimes.growthOctaves)))
  }
}

/// Factors on amplitude over sharpness, at points of equal distance from 0 to 1: a plan keeps them,
/// the render path reads them in place.
final class LevelTables {
  static let pointCount = 33

  /// Whether all factors of continuous events, and all of bursts, are 1.
  let areUniform: (levels: Bool, bursts: Bool)
  /// Whether sensation grows alike everywhere.
  let areExponentsUniform: Bool
  /// The greatest exponent of continuous events.
  let maximumExponent: Double
  /// The factors of continuous events, those of bursts, then what the amplitudes of each are raised
  /// to.
  fileprivate let values: FixedBuffer<Float>

  /// Tables of factors and of exponents, by default all 1.
  init(
    levels: [Double], burstLevels bursts: [Double], exponents growths: [Double] = uniform,
    burstExponents burstGrowths: [Double] = uniform
  ) {
    areUniform = (!levels.contains { $0 != 1 }, !bursts.contains { $0 != 1 })
    areExponentsUniform = !(growths + burstGrowths).contains { $0 != 1 }
    maximumExponent = growths.max() ?? 1
    values = FixedBuffer((levels + bursts + growths + burstGrowths).map { Float($0) })
  }

  /// A table of which nothing depends on sharpness.
  static let uniform = [Double](repeating: 1, count: pointCount)
}

/// A profile's laws in the form the render path evaluates: cycles per frame in 2³² parts, base-2
/// logarithms.
struct VoiceMappings: BitwiseCopyable, Sendable {
  /// Octaves from the corner frequency of brightness 0, 200 Hz, to that of brightness 1.
  private static let brightnessOctaves: Float = 6.5

  private enum Shape: UInt8, BitwiseCopyable, Sendable { case linear, square, power, sensation }

  private var shape: Shape
  private var exponent: Float
  /// How much of its value intensity may move along a straight line: a tenth under the square law.
  private(set) var levelTolerance: Float
  private var lowIncrement, incrementRange, octaves, centerPitchIncrement, maximumIncrement,
    minimumSmoothing: Float
  private var burstOctaves, burstRange, burstFloor: Float
  /// Whether the phase step is an exponential of sharpness; otherwise it is a line.
  private(set) var isLogarithmic: Bool
  private var isBurstLogarithmic, isLevelUniform, isBurstLevelUniform, areExponentsUniform: Bool
  private var levels, burstLevels, exponents, burstExponents: BufferView<Float>

  /// Prepares a profile's laws for a frame rate, with its factors on amplitude over sharpness,
  /// which the caller keeps alive.
  init(_ profile: TransducerProfile, tables: LevelTables, rate: Double) {
    let step = 4_294_967_296 / rate
    let law = profile.frequency
    lowIncrement = Float(law.low * step)
    incrementRange = Float((law.high - law.low) * step)
    octaves = Float(logarithm2(law.high / law.low))
    isLogarithmic = law.scale == .logarithmic
    centerPitchIncrement = Float(AudioTone.centerHertz(of: profile) * step)
    maximumIncrement = Float(4_294_967_296 * AudioTone.maximumRateFraction)
    minimumSmoothing = Float(2 * Double.pi * 200 / rate)
    let burst = profile.transient.frequency
    burstOctaves = Float(logarithm2(burst.high / burst.low))
    burstRange = Float(burst.high / burst.low - 1)
    isBurstLogarithmic = burst.scale == .logarithmic
    burstFloor = Float(profile.transient.floor)
    let steepest = tables.maximumExponent
    switch profile.intensity {
    case .power(let exponent):
      shape = exponent == 1 ? .linear : (exponent == 2 ? .square : .power)
      self.exponent = Float(exponent)
      levelTolerance = Float(0.2 / max(exponent * steepest, 2))
    case .sensation(let decibels):
      shape = .sensation
      exponent = Float(decibels * logarithm2(10) / 20)
      // As many decibels as the square law moves in a tenth.
      levelTolerance = Float(1.7 / max(decibels * steepest, 17))
    }
    (isLevelUniform, isBurstLevelUniform) = tables.areUniform
    areExponentsUniform = tables.areExponentsUniform
    let all = unsafe tables.values.view
    levels = all
    burstLevels = all
    exponents = all
    burstExponents = all
    setTables(all)
  }

  mutating func setTables(_ tables: BufferView<Float>) {
    let count = LevelTables.pointCount
    levels = tables.slice(from: 0, count: count)
    burstLevels = tables.slice(from: count, count: count)
    exponents = tables.slice(from: 2 * count, count: count)
    burstExponents = tables.slice(from: 3 * count, count: count)
  }

  var tables: BufferView<Float> {
    unsafe BufferView(start: levels.address, count: 4 * LevelTables.pointCount)
  }

  /// The phase step of a sharpness in 0…1.
  @_noLocks @inline(__always) func increment(sharpness: Float) -> Float {
    isLogarithmic
      ? lowIncrement * RealtimeMath.exp2(octaves * sharpness)
      : lowIncrement + incrementRange * sharpness
  }

  /// The phase step of a pitch in −1…1, an octave to each side.
  @_noLocks @inline(__always) func increment(pitch: Float) -> Float {
    centerPitchIncrement * RealtimeMath.exp2(pitch)
  }

  /// A phase step times a partial's ratio, kept below the frequencies that would alias.
  @_noLocks @inline(__always) func clampedIncrement(_ increment: Float) -> UInt32 {
    UInt32(increment < maximumIncrement ? increment : maximumIncrement)
  }

  /// The low-pass of a brightness in 0…1: from 200 Hz, four octaves and more each way, to no filter
  /// at 1.
  @_noLocks func smoothing(brightness: Float) -> Float {
    guard brightness < 1 else { return 1 }
    let share = minimumSmoothing * RealtimeMath.exp2(Self.brightnessOctaves * brightness)
    return share < 1 ? share : 1
  }

  /// The amplitude of an intensity in 0…1 at a sharpness in 0…1.
  @_noLocks @inline(__always) func amplitude(intensity: Float, sharpness: Float) -> Float {
    let shaped =
      areExponentsUniform
      ? shapedIntensity(intensity)
      : raisedAmplitude(shapedIntensity(intensity), by: exponents, at: sharpness)
    if isLevelUniform { return shaped }
    let amplitude = shaped * Self.interpolatedValue(of: levels, at: sharpness)
    return amplitude < 1 ? amplitude : 1
  }

  /// The factor of an intensity in 0…1 on a sampled signal's level: 1 at full intensity, at any
  /// sharpness.
  @_noLocks @inline(__always) func signalGain(intensity: Float) -> Float {
    intensity < 1 ? shapedIntensity(intensity) : 1
  }

  /// The amplitude of a burst of weight 1.
  @_noLocks func burstAmplitude(intensity: Float, sharpness: Float) -> Float {
    guard intensity > 0 else { return 0 }
    var amplitude = burstFloor + (1 - burstFloor) * shapedIntensity(intensity)
    if !areExponentsUniform {
      amplitude = raisedAmplitude(amplitude, by: burstExponents, at: sharpness)
    }
    return isBurstLevelUniform
      ? amplitude : amplitude * Self.interpolatedValue(of: burstLevels, at: sharpness)
  }

  /// The factor between a burst's frequencies at two sharpnesses in 0…1.
  @_noLocks func burstRatio(from planned: Float, to wanted: Float) -> Float {
    isBurstLogarithmic
      ? RealtimeMath.exp2(burstOctaves * (wanted - planned))
      : (1 + burstRange * wanted) / (1 + burstRange * planned)
  }

  @_noLocks @inline(__always) private func shapedIntensity(_ intensity: Float) -> Float {
    switch shape {
    case .linear: intensity
    case .square: intensity * intensity
    case .power: intensity > 0 ? RealtimeMath.exp2(exponent * RealtimeMath.log2(intensity)) : 0
    case .sensation: intensity > 0 ? RealtimeMath.exp2(exponent * (intensity - 1)) : 0
    }
  }

  @_noLocks private func raisedAmplitude(
    _ amplitude: Float, by growths: BufferView<Float>, at sharpness: Float
  ) -> Float {
    guard amplitude > 0 else { return 0 }
    let growth = Self.interpolatedValue(of: growths, at: sharpness)
    return RealtimeMath.exp2(growth * RealtimeMath.log2(amplitude))
  }

  @_noLocks private static func interpolatedValue(of levels: BufferView<Float>, at sharpness: Float)
    -> Float
  {
    let place = sharpness * Float(levels.count &- 1)
    var index = Int(place)
    if index > levels.count &- 2 {
      index = levels.count &- 2
    }
    let low = levels[index]
    return low + (levels[index &+ 1] - low) * (place - Float(index))
  }
}

/// x to the power of y, for compilation; the render path has its own functions.
func raised(_ x: Double, to y: Double) -> Double { pow(x, y) }

/// The logarithm to base 2, for compilation.
func logarithm2(_ x: Double) -> Double { log2(x) }

func decibels(ofAmplitude x: Double) -> Double { 20 * logarithm2(x) / logarithm2(10) }
