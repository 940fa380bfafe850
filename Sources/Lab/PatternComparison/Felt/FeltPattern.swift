internal import CMath
import HapticModel
import HapticRender

/// The vibrations and transients of a composition as rendered for a profile.
///
/// They include the effect of parameters, curves, envelopes, and the profile's mappings.
struct FeltPattern {
  /// The vibrations, in the order of the composition.
  private(set) var vibrations: [FeltVibration] = []
  /// The transients, sorted by time.
  private(set) var transients: [FeltTransient] = []
  let mapping: FeltMapping

  /// Converts the haptic events of a composition into vibrations and transients.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - mapping: The mappings of the profile.
  ///   - location: The body location at which the events are felt, or nil for all events.
  init(
    _ composition: HapticComposition, mapping: FeltMapping,
    at location: HapticComposition.BodyLocation? = nil
  ) {
    self.mapping = mapping
    var eventIndex = 0
    for layer in composition.layers {
      let scale = layer.sharpnessScale
      let parameters = EffectiveParameters(layer)
      let envelopes = EnvelopeControls(layer.pattern)
      for event in layer.pattern.events {
        if event.kind.isHaptic, event.time.isFinite, layer.isFelt(at: location) {
          let points = mapping.points(parameters.points(of: event), of: event.kind, scale: scale)
          addEvent(event, index: eventIndex, points: points, envelopes)
        }
        eventIndex += 1
      }
    }
    // The order of events in a file does not matter.
    transients.sort { first, second in
      (first.time, first.amplitude, first.log2Hertz)
        < (second.time, second.amplitude, second.log2Hertz)
    }
  }

  private mutating func addEvent(
    _ event: HapticEvent, index: Int, points: [FeltPoint], _ envelopes: EnvelopeControls
  ) {
    if event.kind.isTransient {
      guard let point = points.first, point.intensity > 0 else { return }
      transients.append(mapping.transient(at: point, event: index))
      return
    }
    guard let holdSeconds = event.secondsUntilRelease, holdSeconds > 0, holdSeconds.isFinite else {
      return
    }
    vibrations.append(
      FeltVibration(
        eventIndex: index, startSeconds: event.time, points: points,
        envelope: envelopes.shape(of: event, hold: holdSeconds)))
  }

  /// The end of the last vibration or transient, in seconds.
  var durationSeconds: Double {
    let endTimes = vibrations.map(\.endSeconds) + transients.map(\.endSeconds)
    return max(0, endTimes.max() ?? 0)
  }
}

/// The intensity, sharpness, and frequency of an event at one time.
struct FeltPoint {
  /// The time, in seconds from the start of the pattern.
  let time: Double
  /// The intensity, 0…1.
  let intensity: Double
  /// The sharpness, 0…1.
  let sharpness: Double
  /// The base-2 logarithm of the frequency in hertz.
  let log2Hertz: Double
}

/// A continuous event with its dynamic parameters and curves applied, and its envelope.
struct FeltVibration {
  /// The index of the event in the composition, counted layer by layer.
  let eventIndex: Int
  /// The start of the vibration, in seconds from the start of the pattern.
  let startSeconds: Double
  /// The points of the intensity and frequency curves, which are linear between points.
  let points: [FeltPoint]
  /// The envelope, with times in seconds from the start of the vibration.
  let envelope: EnvelopeShape

  /// The end of the release, in seconds from the start of the pattern.
  var endSeconds: Double { startSeconds + envelope.releaseEndTime }
}

/// A transient with its dynamic parameters and curves applied.
struct FeltTransient {
  /// The index of the event in the composition, counted layer by layer.
  let eventIndex: Int
  /// The start of the burst, in seconds from the start of the pattern.
  var time: Double
  /// The amplitude of the burst, as a fraction of full scale.
  let amplitude: Double
  /// The base-2 logarithm of the burst's frequency in hertz.
  let log2Hertz: Double
  /// The duration of the burst, in seconds.
  let durationSeconds: Double
  /// The energy of the burst: the integral of its squared amplitude.
  ///
  /// The amplitude is relative to that of a vibration with the same partials.
  let energy: Double

  /// The end of the burst, in seconds.
  var endSeconds: Double { time + durationSeconds }
  var timeRange: ClosedRange<Double> { time...(time + durationSeconds) }

  /// The minimum integration time of vibration energy by touch, in seconds.
  ///
  /// Verrillo measured summation over several hundred milliseconds (*Temporal summation in
  /// vibrotactile sensitivity*, JASA 37, 1965). Two periods of a low frequency are cautious.
  private static let summationSeconds = 0.032

  /// The time range in which a vibration masks the transient, in seconds.
  var maskingRange: ClosedRange<Double> {
    let marginSeconds = max(0, Self.summationSeconds - durationSeconds) / 2
    return (time - marginSeconds)...(endSeconds + marginSeconds)
  }
}

/// The envelopes of a pattern's events with the envelope controls applied.
private struct EnvelopeControls {
  private let attackTimeline: ControlTimeline
  private let decayTimeline: ControlTimeline
  private let releaseTimeline: ControlTimeline

  init(_ pattern: HapticPattern) {
    attackTimeline = ControlTimeline(of: .hapticAttackTimeControl, in: pattern)
    decayTimeline = ControlTimeline(of: .hapticDecayTimeControl, in: pattern)
    releaseTimeline = ControlTimeline(of: .hapticReleaseTimeControl, in: pattern)
  }

  func shape(of event: HapticEvent, hold: Double) -> EnvelopeShape {
    func rampSeconds(_ id: EventParameterID, _ control: ControlTimeline) -> Double {
      let normalized = event.value(of: id) + Float(control.value(at: max(0, event.time)))
      return max(EnvelopeTimes.minimumRampSeconds, EnvelopeTimes.seconds(normalized: normalized))
    }
    return EnvelopeShape(
      hold: hold, attack: rampSeconds(.attackTime, attackTimeline),
      decay: rampSeconds(.decayTime, decayTimeline),
      release: rampSeconds(.releaseTime, releaseTimeline),
      isSustained: event.value(of: .sustained) >= 0.5)
  }
}

extension EnvelopeShape {
  /// Returns the level of the envelope at a time from the onset.
  func level(at time: Double) -> Double {
    if time < 0 || time >= releaseEndTime { return 0 }
    if time < riseEndTime { return riseLevel * time / riseEndTime }
    if time < releaseStartTime {
      let decayFraction = (time - riseEndTime) / (releaseStartTime - riseEndTime)
      return riseLevel + (releaseLevel - riseLevel) * decayFraction
    }
    return releaseLevel * (releaseEndTime - time) / (releaseEndTime - releaseStartTime)
  }
}

/// The profile's mappings of intensity to amplitude and of sharpness to frequency.
///
/// Amplitudes are those before the equalizer of the hardware, which makes equal intensity feel
/// equal at each frequency. Frequencies are those of the useful band.
struct FeltMapping {
  /// The profile, with frequencies limited to the useful band of its hardware.
  let profile: TransducerProfile
  /// The frequency range that the transducer reproduces, for patterns in hertz.
  private let reproducibleHertz: ClosedRange<Double>

  init(_ profile: TransducerProfile, rate: Double) {
    self.profile = profile.limitedToUsableBand(rate: rate)
    reproducibleHertz = profile.reproducibleHertz(rate: rate)
  }

  /// Converts an intensity to the amplitude of a vibration.
  func amplitude(atIntensity intensity: Double) -> Double {
    profile.fullIntensityAmplitude * profile.intensity.amplitude(atIntensity: intensity)
  }

  /// Converts the amplitude of a vibration to an intensity.
  func intensity(ofAmplitude amplitude: Double) -> Double {
    let amplitudeFraction = amplitude / max(profile.fullIntensityAmplitude, 1e-9)
    guard amplitudeFraction > 0 else { return 0 }
    switch profile.intensity {
    case .power(let exponent): return min(1, pow(amplitudeFraction, 1 / exponent))
    case .sensation(let decibels):
      return min(max(0, 1 + 20 * log10(amplitudeFraction) / decibels), 1)
    }
  }

  /// Returns the control points of an event with their frequencies.
  ///
  /// - Parameters:
  ///   - points: The points of the event.
  ///   - kind: The kind of the event.
  ///   - scale: The scale on which sharpness denotes hertz, or nil for the mapping of the profile.
  func points(
    _ points: [EffectiveParameters.Point], of kind: HapticEvent.Kind, scale: SharpnessScale?
  ) -> [FeltPoint] {
    let frequencyMapping = profile.frequencyAndLevel(of: kind).frequency
    func feltPoint(_ time: Double, _ intensity: Double, _ sharpness: Double) -> FeltPoint {
      let hertz =
        scale.map { reproducedHertz($0.hertz(ofSharpness: sharpness)) }
        ?? frequencyMapping.hertz(atSharpness: sharpness)
      return FeltPoint(
        time: time, intensity: intensity, sharpness: min(max(sharpness, 0), 1),
        log2Hertz: log2(hertz))
    }
    let isLogarithmic = scale?.isLogarithmic ?? (frequencyMapping.scale == .logarithmic)
    var convertedPoints: [FeltPoint] = []
    for (index, point) in points.enumerated() {
      let nextFeltPoint = feltPoint(point.time, point.intensity, point.sharpness)
      if !isLogarithmic, index > 0, let last = convertedPoints.last {
        // A line of hertz is not a line of octaves.
        let previousPoint = points[index - 1]
        let fractions = SharpnessScale.lineDivisionFractions(
          fromHertz: exp2(last.log2Hertz), toHertz: exp2(nextFeltPoint.log2Hertz))
        for fraction in fractions {
          convertedPoints.append(
            feltPoint(
              previousPoint.time + (point.time - previousPoint.time) * fraction,
              previousPoint.intensity + (point.intensity - previousPoint.intensity) * fraction,
              previousPoint.sharpness + (point.sharpness - previousPoint.sharpness) * fraction))
        }
      }
      convertedPoints.append(nextFeltPoint)
    }
    return convertedPoints
  }

  /// Returns a stated frequency, limited to the range that the transducer reproduces.
  private func reproducedHertz(_ hertz: Double) -> Double {
    min(max(hertz, reproducibleHertz.lowerBound), reproducibleHertz.upperBound)
  }

  /// Returns the transient of an event with the values at a point.
  func transient(at point: FeltPoint, event: Int) -> FeltTransient {
    let transientShape = profile.transient
    let mappedAmplitude = profile.intensity.amplitude(atIntensity: point.intensity)
    let transientAmplitude =
      transientShape.fullIntensityAmplitude
      * (transientShape.zeroIntensityAmplitudeFraction
        + (1 - transientShape.zeroIntensityAmplitudeFraction) * mappedAmplitude)
    let durationSeconds = transientShape.seconds(
      atSharpness: point.sharpness, hertz: exp2(point.log2Hertz))
    let vibrationEnergy = profile.partials.reduce(0) {
      $0 + $1.amplitudeToEventRatio * $1.amplitudeToEventRatio
    }
    return FeltTransient(
      eventIndex: event, time: point.time, amplitude: transientAmplitude,
      log2Hertz: point.log2Hertz,
      durationSeconds: durationSeconds,
      energy: transientAmplitude * transientAmplitude
        * transientShape.squaredEnvelopeIntegral(burstSeconds: durationSeconds)
        / max(vibrationEnergy, 1e-9))
  }
}
