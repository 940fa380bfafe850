internal import HapticFormats
import HapticModel

/// The content of a `.haptic` file: an amplitude envelope, emphases (transients) at its points, and
/// a frequency envelope.
struct HapticClip: Equatable {
  /// An emphasis: a transient that rises above the amplitude envelope.
  struct Emphasis: Equatable {
    /// The amplitude of the transient, 0…1; at least the amplitude of the envelope point.
    var amplitude: Float
    /// The normalized frequency of the transient, from dull (0) to sharp (1).
    var normalizedFrequency: Float
  }

  /// A point of the amplitude envelope.
  struct AmplitudePoint: Equatable {
    /// The time of the amplitude point, in seconds from the start of the clip.
    var timeSeconds: Double
    /// The amplitude of the envelope at the point, 0…1.
    var amplitude: Float
    /// The emphasis that starts at the point, or nil.
    var emphasis: Emphasis?
  }

  /// A point of the frequency envelope.
  struct FrequencyPoint: Equatable {
    /// The time of the frequency point, in seconds from the start of the clip.
    var timeSeconds: Double
    /// The normalized frequency at the point, from the lowest (0) to the highest (1).
    var normalizedFrequency: Float
  }

  /// The points of the amplitude envelope, sorted by time. Two points with the same time are a
  /// jump.
  var amplitudePoints: [AmplitudePoint] = []
  /// The points of the frequency envelope, sorted by time. Empty if the file has an empty list, nil
  /// if it has no list.
  var frequencyPoints: [FrequencyPoint]?

  /// The normalized frequency of a clip that has no frequency envelope.
  ///
  /// Source: facebook/meta-haptics-sdk, 41c9dcb, `renderer_c`.
  static let defaultNormalizedFrequency: Float = 0.5

  /// The names of the layers that contain the continuous event and the transients of a clip.
  static let layerNames = (continuous: "continuous", transients: "transients")

  /// The sharpness of a clip without a frequency envelope.
  private static var defaultSharpness: Float {
    Float(ClipFrequencyMapping.sharpness(ofFrequency: Double(defaultNormalizedFrequency)))
  }
}

// MARK: - As a composition

extension HapticClip {
  /// A Boolean value that indicates whether the clip's only perceptible content is emphases. Even
  /// then, the format requires an envelope, which lasts slightly longer than the last emphasis.
  var hasOnlyEmphases: Bool {
    guard let lastPoint = amplitudePoints.last,
      let tap = amplitudePoints.last(where: { $0.emphasis != nil })
    else {
      return false
    }
    return amplitudePoints.allSatisfy { $0.amplitude == 0 }
      && lastPoint.timeSeconds - tap.timeSeconds <= 2 * Self.trailingSilenceSeconds
  }

  /// Returns the layers of a composition for the clip: one continuous event with the envelopes as
  /// its curves, and the emphases as transients in a layer without curves. Clips with only emphases
  /// have no continuous event. Control points keep the values of the file.
  func layers(mapping: AmplitudeMapping) -> [HapticComposition.Layer] {
    guard let firstPoint = amplitudePoints.first, let lastPoint = amplitudePoints.last else {
      return []
    }
    let hasFrequencyEnvelope = frequencyPoints?.isEmpty == false
    var pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: firstPoint.timeSeconds,
        duration: max(lastPoint.timeSeconds - firstPoint.timeSeconds, 0),
        parameters: [
          .hapticIntensity: 1, .hapticSharpness: hasFrequencyEnvelope ? 0 : Self.defaultSharpness,
        ])
    ])
    pattern.curves.append(
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: amplitudePoints.map { .init(time: $0.timeSeconds, value: $0.amplitude) },
        interpolation: mapping == .root ? .squared : .linear))
    if let frequencyPoints {
      pattern.curves.append(
        ParameterCurve(
          id: .hapticSharpnessControl, time: 0,
          controlPoints: frequencyPoints.map {
            .init(time: $0.timeSeconds, value: $0.normalizedFrequency)
          },
          interpolation: .squared))
    }
    var clipLayers = [HapticComposition.Layer(pattern, name: Self.layerNames.continuous)]
    let transients = amplitudePoints.compactMap { point in
      point.emphasis.map { emphasis in
        HapticEvent(
          kind: .hapticTransient, time: point.timeSeconds,
          parameters: [
            .hapticIntensity: Float(mapping.intensity(ofAmplitude: Double(emphasis.amplitude))),
            .hapticSharpness: emphasis.normalizedFrequency,
          ])
      }
    }
    if hasOnlyEmphases {
      clipLayers = []
    }
    if !transients.isEmpty {
      clipLayers.append(.init(HapticPattern(events: transients), name: Self.layerNames.transients))
    }
    return clipLayers
  }

  /// Restores the original clip of a composition, with identical values.
  ///
  /// Returns nil if a clip cannot represent the composition.
  init?(exactly composition: HapticComposition, mapping: AmplitudeMapping) {
    guard composition.loop == nil, (1...2).contains(composition.layers.count),
      composition.layers.allSatisfy({
        $0.signals.isEmpty && $0.pattern.parameters.isEmpty && $0.bodyLocation == nil
      })
    else { return nil }
    let pattern = composition.layers[0].pattern
    guard pattern.events.count == 1, let continuousEvent = pattern.events.first,
      continuousEvent.kind == .hapticContinuous,
      let levelCurve = pattern.curves.first, pattern.curves.count <= 2,
      Self.isReproducibleCurve(
        levelCurve, of: .hapticIntensityControl, isSquared: mapping == .root),
      let firstLevelPoint = levelCurve.controlPoints.first,
      let lastLevelPoint = levelCurve.controlPoints.last, levelCurve.controlPoints.count >= 2,
      continuousEvent.time == firstLevelPoint.time,
      continuousEvent.duration == lastLevelPoint.time - firstLevelPoint.time,
      lastLevelPoint.time > firstLevelPoint.time,
      lastLevelPoint.time <= FrameConversion.maximumSeconds
    else { return nil }
    amplitudePoints = levelCurve.controlPoints.map {
      AmplitudePoint(timeSeconds: $0.time, amplitude: $0.value)
    }
    if pattern.curves.count == 2 {
      guard
        Self.isReproducibleCurve(pattern.curves[1], of: .hapticSharpnessControl, isSquared: true)
      else { return nil }
      frequencyPoints = pattern.curves[1].controlPoints.map {
        FrequencyPoint(timeSeconds: $0.time, normalizedFrequency: $0.value)
      }
    }
    let expectedSharpness = frequencyPoints?.isEmpty == false ? 0 : Self.defaultSharpness
    guard continuousEvent.parameters == [.hapticIntensity: 1, .hapticSharpness: expectedSharpness]
    else { return nil }
    guard composition.layers.count == 2 else { return }
    guard addEmphases(of: composition.layers[1].pattern, mapping: mapping) else { return nil }
  }

  /// Adds the transients of a pattern as emphases to the envelope points that they were read from.
  /// Returns false if a clip cannot contain all of them.
  private mutating func addEmphases(of pattern: HapticPattern, mapping: AmplitudeMapping) -> Bool {
    guard pattern.curves.isEmpty else { return false }
    var pointIndex = 0
    for transient in pattern.events {
      guard transient.kind == .hapticTransient, transient.duration == nil,
        let intensity = transient.parameters[.hapticIntensity],
        (0...1).contains(intensity), let sharpness = transient.parameters[.hapticSharpness],
        (0...1).contains(sharpness),
        transient.parameters.identifiers.count == 2
      else { return false }
      while pointIndex < amplitudePoints.count,
        amplitudePoints[pointIndex].timeSeconds < transient.time
          || (amplitudePoints[pointIndex].timeSeconds == transient.time
            && amplitudePoints[pointIndex].emphasis != nil)
      {
        pointIndex += 1
      }
      guard pointIndex < amplitudePoints.count,
        amplitudePoints[pointIndex].timeSeconds == transient.time
      else {
        return false
      }
      let floor = amplitudePoints[pointIndex].amplitude
      var level = Self.shortestDecimalAmplitude(of: intensity, mapping: mapping) ?? intensity
      if level < floor, Float(mapping.intensity(ofAmplitude: Double(floor))) == intensity {
        level = floor
      }
      guard level >= floor else { return false }
      amplitudePoints[pointIndex].emphasis = Emphasis(
        amplitude: level, normalizedFrequency: sharpness)
    }
    return true
  }

  /// Returns the amplitude that maps to an intensity. If several values match, returns the one with
  /// the fewest digits, which is most likely the original.
  private static func shortestDecimalAmplitude(of intensity: Float, mapping: AmplitudeMapping)
    -> Float?
  {
    guard mapping == .root else { return intensity }
    let intensitySquare = intensity * intensity
    return [
      intensitySquare.nextDown.nextDown, intensitySquare.nextDown, intensitySquare,
      intensitySquare.nextUp, intensitySquare.nextUp.nextUp,
    ]
    .filter {
      $0 >= 0 && Float(Double($0).squareRoot()) == intensity
    }.min { $0.description.utf8.count < $1.description.utf8.count }
  }

  /// Returns true if a curve can result from reading a clip: it starts at time 0, and its points
  /// are sorted and within 0…1.
  private static func isReproducibleCurve(
    _ curve: ParameterCurve, of id: DynamicParameterID, isSquared: Bool
  )
    -> Bool
  {
    guard curve.id == id, curve.time == 0, (curve.interpolation == .squared) == isSquared else {
      return false
    }
    let controlPoints = curve.controlPoints
    return controlPoints.allSatisfy { $0.time >= 0 && (0...1).contains($0.value) }
      && zip(controlPoints, controlPoints.dropFirst()).allSatisfy { $0.time <= $1.time }
  }
}

extension HapticClip {
  /// The duration of the silence after the last emphasis in a clip with only emphases, in seconds.
  static let trailingSilenceSeconds = 0.02
  /// The maximum time difference between a transient and its envelope point, in seconds.
  private static let timeToleranceSeconds = 1e-6

  /// Creates the clip that is closest to a composition.
  ///
  /// The parts that the clip cannot represent are recorded as losses.
  init(approximating composition: HapticComposition, options: WritingOptions, losses: inout LossLog)
  {
    losses.addNonHapticLosses(of: composition)
    let unrolledComposition = composition.unrolled(
      passCount: options.loopPassCount, losses: &losses)
    let envelopeSampler = EnvelopeSampler(
      .amplitude, mapping: options.amplitudeMapping,
      levelTolerance: options.curveToleranceFraction / 2)
    let envelopes = envelopeSampler.envelopes(of: unrolledComposition, losses: &losses)
    let mergedEnvelope = MergedEnvelope(envelopes, envelopeSampler: envelopeSampler)
    losses.add(mergedEnvelope)
    let transientEnvelopes = envelopes.filter { $0.kind == .hapticTransient }
    let paddedPoints = Self.paddedWithSilence(
      mergedEnvelope.mergedPoints, through: transientEnvelopes.map { $0.startSeconds })
    let amplitudeReduction = PointReduction(
      paddedPoints, tolerance: options.curveToleranceFraction / 2, sharpnessWeight: 0)
    amplitudePoints = amplitudeReduction.remainingPoints.map {
      AmplitudePoint(timeSeconds: $0.timeSeconds, amplitude: Float($0.level))
    }
    let frequencyReduction = PointReduction(
      Self.frequencyEnvelope(of: paddedPoints, tolerance: options.curveToleranceFraction / 2),
      tolerance: options.curveToleranceFraction / 2,
      sharpnessWeight: 0)
    frequencyPoints = frequencyReduction.remainingPoints.map {
      FrequencyPoint(timeSeconds: $0.timeSeconds, normalizedFrequency: Float($0.level))
    }
    // Straight lines are exact if levels and sharpnesses only jump.
    let isPiecewiseConstant = zip(paddedPoints, paddedPoints.dropFirst()).allSatisfy {
      $0.timeSeconds == $1.timeSeconds || ($0.level == $1.level && $0.sharpness == $1.sharpness)
    }
    if !isPiecewiseConstant, paddedPoints.contains(where: { $0.level != 0 }) {
      losses.add(
        .approximated, .composition,
        """
        the envelope is approximated by straight lines of amplitude, with an error of up to # of \
        full scale
        """,
        size: max(
          options.curveToleranceFraction / 2 + amplitudeReduction.maximumCurveDeviation,
          frequencyReduction.maximumCurveDeviation))
    }
    insertEmphases(of: transientEnvelopes, losses: &losses)
  }

  /// Returns envelope points padded with silence.
  ///
  /// They start at time 0 and extend past the last transient.
  private static func paddedWithSilence(_ points: [EnvelopePoint], through onsets: [Double])
    -> [EnvelopePoint]
  {
    var paddedPoints = points
    let initialSharpness = paddedPoints.first?.sharpness ?? 0.5
    if paddedPoints.isEmpty {
      paddedPoints = [EnvelopePoint(timeSeconds: 0, level: 0, sharpness: initialSharpness)]
    }
    if paddedPoints[0].timeSeconds > 0 {
      let silence = EnvelopePoint(timeSeconds: 0, level: 0, sharpness: initialSharpness)
      var edge = silence
      edge.timeSeconds = paddedPoints[0].timeSeconds
      paddedPoints.insert(contentsOf: edge == paddedPoints[0] ? [silence] : [silence, edge], at: 0)
    }
    var lastPoint = paddedPoints[paddedPoints.count - 1]
    if let onset = onsets.last, onset >= lastPoint.timeSeconds || paddedPoints.count == 1 {
      if lastPoint.level > 0 {
        lastPoint.level = 0
        paddedPoints.append(lastPoint)
      }
      lastPoint.timeSeconds = max(onset, lastPoint.timeSeconds) + trailingSilenceSeconds
      paddedPoints.append(lastPoint)
    } else if paddedPoints.count == 1 {
      lastPoint.timeSeconds += trailingSilenceSeconds
      paddedPoints.append(lastPoint)
    }
    return paddedPoints
  }

  /// Returns the frequency envelope for a sharpness that is linear between points. The envelope is
  /// the square of the sharpness, approximated by lines.
  private static func frequencyEnvelope(of points: [EnvelopePoint], tolerance: Double)
    -> [EnvelopePoint]
  {
    var frequencyPoints: [EnvelopePoint] = []
    func appendFrequencyPoint(_ time: Double, _ sharpness: Double) {
      let frequency = EnvelopePoint(
        timeSeconds: time, level: ClipFrequencyMapping.frequency(ofSharpness: sharpness),
        sharpness: 0)
      if frequencyPoints.last != frequency {
        frequencyPoints.append(frequency)
      }
    }
    for (index, point) in points.enumerated() {
      if index > 0, points[index - 1].timeSeconds < point.timeSeconds {
        // The maximum distance of a parabola from its chord is a quarter of the squared width.
        let previous = points[index - 1]
        let steps = (abs(point.sharpness - previous.sharpness) / (2 * tolerance.squareRoot()))
          .rounded(
            .up)
        for step in 1..<max(FrameConversion.clampedInteger(steps.rounded(.down), in: 0...1000), 1) {
          let fraction = Double(step) / steps
          appendFrequencyPoint(
            previous.timeSeconds + (point.timeSeconds - previous.timeSeconds) * fraction,
            previous.sharpness + (point.sharpness - previous.sharpness) * fraction)
        }
      }
      appendFrequencyPoint(point.timeSeconds, point.sharpness)
    }
    return frequencyPoints
  }

  /// Adds transients as emphases to envelope points, and inserts missing points.
  private mutating func insertEmphases(of transients: [EventEnvelope], losses: inout LossLog) {
    var pointsWithEmphases: [AmplitudePoint] = []
    pointsWithEmphases.reserveCapacity(amplitudePoints.count + transients.count)
    var nextAmplitudePointIndex = 0
    for transient in transients {
      let time = transient.startSeconds
      let level = Float(min(transient.points[0].level, 1))
      guard level > 0 else {
        losses.add(.dropped, .event(transient.eventReference), "silent transients are omitted")
        continue
      }
      while nextAmplitudePointIndex < amplitudePoints.count,
        amplitudePoints[nextAmplitudePointIndex].timeSeconds <= time + Self.timeToleranceSeconds
      {
        pointsWithEmphases.append(amplitudePoints[nextAmplitudePointIndex])
        nextAmplitudePointIndex += 1
      }
      var index = pointsWithEmphases.count
      if let minimumIndex = Self.minimumAmplitudePointIndex(
        in: pointsWithEmphases, from: time - Self.timeToleranceSeconds)
      {
        index = minimumIndex
      } else {
        pointsWithEmphases.append(
          AmplitudePoint(
            timeSeconds: time,
            amplitude: interpolatedAmplitude(
              after: pointsWithEmphases.last, beforeIndex: nextAmplitudePointIndex, at: time)))
      }
      let emphasis = Emphasis(
        amplitude: max(level, pointsWithEmphases[index].amplitude),
        normalizedFrequency: Float(min(max(transient.points[0].sharpness, 0), 1)))
      if let existing = pointsWithEmphases[index].emphasis {
        losses.add(
          .dropped, .event(transient.eventReference),
          "only the strongest of simultaneous transients is kept"
        )
        guard emphasis.amplitude > existing.amplitude else { continue }
      }
      if emphasis.amplitude > level {
        losses.add(
          .approximated, .event(transient.eventReference),
          "the amplitude of a transient is raised by # to the level of the envelope",
          size: Double(emphasis.amplitude - level))
      }
      pointsWithEmphases[index].emphasis = emphasis
    }
    amplitudePoints = pointsWithEmphases + amplitudePoints[nextAmplitudePointIndex...]
  }

  /// Returns the index of the point with the minimum amplitude at or after a time.
  ///
  /// The point carries an emphasis, because its amplitude needs the least change. Returns nil if
  /// all points are earlier.
  private static func minimumAmplitudePointIndex(
    in points: [AmplitudePoint], from time: Double
  ) -> Int? {
    var minimumIndex: Int?
    for index in points.indices.reversed() {
      guard points[index].timeSeconds >= time else { break }
      if minimumIndex.map({ points[index].amplitude < points[$0].amplitude }) ?? true {
        minimumIndex = index
      }
    }
    return minimumIndex
  }

  /// Returns the amplitude of the envelope between two points.
  ///
  /// The amplitude is 0 before the first and after the last point.
  private func interpolatedAmplitude(
    after previous: AmplitudePoint?, beforeIndex nextIndex: Int, at time: Double
  ) -> Float {
    guard let previous, nextIndex < amplitudePoints.count else { return 0 }
    let interpolatedPoint = EnvelopePoint.interpolated(
      from: EnvelopePoint(
        timeSeconds: previous.timeSeconds, level: Double(previous.amplitude), sharpness: 0),
      to: EnvelopePoint(
        timeSeconds: amplitudePoints[nextIndex].timeSeconds,
        level: Double(amplitudePoints[nextIndex].amplitude),
        sharpness: 0),
      at: time)
    return Float(interpolatedPoint.level)
  }
}
