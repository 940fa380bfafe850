internal import HapticFormats
internal import HapticModel

/// Converts the notes of a `.haps` document into events with curves.
struct HapsReader {
  private typealias Breakpoints = [(time: Double, value: Double)]

  private static let lineCountPerCubicSegment = 16

  let amplitudeMapping: AmplitudeMapping
  private(set) var layerBuilder = ScaledLayerBuilder(scale: .phone)
  private(set) var eventJSONValueIndices: [Int] = []
  var losses = LossLog()

  init(amplitudeMapping: AmplitudeMapping) { self.amplitudeMapping = amplitudeMapping }

  mutating func read(_ document: HapsDocument) {
    for melody in document.melodies {
      guard !melody.isMuted else {
        losses.add(.dropped, .composition, "muted melodies are omitted")
        continue
      }
      for note in melody.notes {
        add(
          note, gain: document.fileGain * document.vibrationGain * melody.melodyGain * note.noteGain
        )
      }
    }
  }

  private mutating func add(_ note: HapsDocument.Note, gain: Double) {
    let noteDurationSeconds =
      note.durationSeconds
      ?? max(
        note.amplitudeKeyframes.last?.timeSeconds ?? 0,
        note.frequencyKeyframes.last?.timeSeconds ?? 0)
    guard !note.isTransient else {
      eventJSONValueIndices.append(note.jsonValueIndex)
      layerBuilder.add(
        HapticEvent(
          kind: .hapticTransient, time: note.startSeconds,
          parameters: [
            .hapticIntensity: Float(
              amplitudeMapping.intensity(ofAmplitude: clampAmplitudeToUnitRange(gain))),
            .hapticSharpness: 0.5,
          ]))
      return
    }
    guard noteDurationSeconds > 0 else {
      return losses.add(.dropped, .composition, "notes with zero duration are silent")
    }
    var levelBreakpoints: Breakpoints = Self.breakpoints(
      of: note.amplitudeKeyframes, until: noteDurationSeconds
    ).map {
      ($0.time, clampAmplitudeToUnitRange($0.value * gain))
    }
    if levelBreakpoints.isEmpty {
      levelBreakpoints = [(0, clampAmplitudeToUnitRange(gain))]
    }
    var sharpnessPoints = sharpnessBreakpoints(
      of: Self.breakpoints(of: note.frequencyKeyframes, until: noteDurationSeconds))
    let statesHertz = !sharpnessPoints.isEmpty
    if !statesHertz {
      sharpnessPoints = [(0, 0.5)]
    }
    var noteEvent = HapticEvent(
      kind: .hapticContinuous, time: note.startSeconds, duration: noteDurationSeconds,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
    var parameterCurves: [ParameterCurve] = []
    if let constantLevel = Self.constantValue(of: levelBreakpoints),
      let sharpness = Self.constantValue(of: sharpnessPoints)
    {
      noteEvent.parameters[.hapticIntensity] = Float(
        amplitudeMapping.intensity(ofAmplitude: constantLevel))
      noteEvent.parameters[.hapticSharpness] = Float(sharpness)
    } else {
      // The last value of a curve holds, so every event of the layer needs both curves.
      parameterCurves = [
        Self.curve(
          .hapticIntensityControl, start: note.startSeconds, breakpoints: levelBreakpoints,
          interpolation: amplitudeMapping == .root ? .squared : .linear),
        Self.curve(
          .hapticSharpnessControl, start: note.startSeconds, breakpoints: sharpnessPoints,
          interpolation: .linear),
      ]
    }
    eventJSONValueIndices.append(note.jsonValueIndex)
    layerBuilder.add(
      noteEvent, curves: parameterCurves, until: note.startSeconds + noteDurationSeconds,
      statesHertz: statesHertz)
  }

  private mutating func clampAmplitudeToUnitRange(_ amplitude: Double) -> Double {
    if amplitude > 1 {
      losses.add(
        .approximated, .composition, "amplitudes above 1 are clamped by up to # of full scale",
        size: amplitude - 1)
    }
    return min(max(amplitude, 0), 1)
  }

  private static func constantValue(of breakpoints: Breakpoints) -> Double? {
    guard let firstBreakpoint = breakpoints.first else { return nil }
    return breakpoints.allSatisfy { $0.value == firstBreakpoint.value }
      ? firstBreakpoint.value : nil
  }

  private static func curve(
    _ id: DynamicParameterID, start: Double, breakpoints: Breakpoints,
    interpolation: ParameterCurve.Interpolation
  ) -> ParameterCurve {
    ParameterCurve(
      id: id, time: start,
      controlPoints: breakpoints.map { .init(time: $0.time, value: Float($0.value)) },
      interpolation: interpolation)
  }

  /// Returns the breakpoints of key frames from time 0 to a given time. Cubic segments become
  /// lines, and the first and the last value are extended.
  private static func breakpoints(of keyframes: [HapsDocument.Keyframe], until length: Double)
    -> Breakpoints
  {
    let keyframeOrder = keyframes.indices.sorted {
      (keyframes[$0].timeSeconds, $0) < (keyframes[$1].timeSeconds, $1)
    }
    let sortedKeyframes = keyframeOrder.map { keyframes[$0] }
    guard let firstKeyframe = sortedKeyframes.first else { return [] }
    var breakpoints: Breakpoints =
      firstKeyframe.timeSeconds > 0 ? [(0, firstKeyframe.amplitudeOrHertz)] : []
    for (index, keyframe) in sortedKeyframes.enumerated() {
      if index > 0 {
        breakpoints += cubicPoints(from: sortedKeyframes[index - 1], to: keyframe)
      }
      breakpoints.append((keyframe.timeSeconds, keyframe.amplitudeOrHertz))
    }
    return trimmedBreakpoints(breakpoints, to: length)
  }

  /// Returns points of the cubic Hermite curve between two key frames. The result is empty if the
  /// slopes are missing or are those of a line.
  private static func cubicPoints(
    from start: HapsDocument.Keyframe, to end: HapsDocument.Keyframe
  ) -> Breakpoints {
    let timeSpanSeconds = end.timeSeconds - start.timeSeconds
    let valueRise = end.amplitudeOrHertz - start.amplitudeOrHertz
    guard let startSlope = start.outgoingSlopePerSecond, let endSlope = end.incomingSlopePerSecond,
      timeSpanSeconds > 0,
      abs(startSlope * timeSpanSeconds - valueRise) + abs(endSlope * timeSpanSeconds - valueRise)
        > 1e-6
    else { return [] }
    return (1..<lineCountPerCubicSegment).map { step in
      let t = Double(step) / Double(lineCountPerCubicSegment)
      let t2 = t * t
      let t3 = t * t * t
      let value =
        (2 * t3 - 3 * t2 + 1) * start.amplitudeOrHertz + (t3 - 2 * t2 + t) * timeSpanSeconds
        * startSlope
        + (3 * t2 - 2 * t3) * end.amplitudeOrHertz
        + (t3 - t2) * timeSpanSeconds * endSlope
      return (start.timeSeconds + t * timeSpanSeconds, value)
    }
  }

  /// Returns the breakpoints up to a time, with an interpolated breakpoint at the time.
  private static func trimmedBreakpoints(_ breakpoints: Breakpoints, to length: Double)
    -> Breakpoints
  {
    var breakpoints = breakpoints
    guard let firstIndexAfterEnd = breakpoints.firstIndex(where: { $0.time > length }) else {
      return breakpoints
    }
    if firstIndexAfterEnd > 0, breakpoints[firstIndexAfterEnd - 1].time < length {
      let from = breakpoints[firstIndexAfterEnd - 1]
      let to = breakpoints[firstIndexAfterEnd]
      breakpoints[firstIndexAfterEnd] = (
        length, from.value + (to.value - from.value) * (length - from.time) / (to.time - from.time)
      )
      return Array(breakpoints[...firstIndexAfterEnd])
    }
    return Array(breakpoints[..<max(firstIndexAfterEnd, 1)])
  }

  /// Converts breakpoints in hertz to breakpoints of sharpness on the layer's scale.
  private mutating func sharpnessBreakpoints(of breakpoints: Breakpoints) -> Breakpoints {
    let sharpnessScale = SharpnessScale.phone
    var sharpnessPoints: Breakpoints = []
    var previousBreakpoint: (time: Double, hertz: Double)?
    for point in breakpoints {
      let hertz = clampToSupportedHertz(point.value)
      let sharpness = sharpnessScale.sharpness(ofHertz: hertz)
      if let previousBreakpoint {
        for fraction in SharpnessScale.lineDivisionFractions(
          fromHertz: previousBreakpoint.hertz, toHertz: hertz)
        {
          sharpnessPoints.append(
            (
              previousBreakpoint.time + (point.time - previousBreakpoint.time) * fraction,
              sharpnessScale.sharpness(
                ofHertz: previousBreakpoint.hertz + (hertz - previousBreakpoint.hertz) * fraction)
            ))
        }
      }
      sharpnessPoints.append((point.time, sharpness))
      previousBreakpoint = (point.time, hertz)
    }
    return sharpnessPoints
  }

  /// Returns a frequency clamped to the range that a pattern can state, and reports the loss.
  private mutating func clampToSupportedHertz(_ hertz: Double) -> Double {
    let clampedHertz = SharpnessScale.clampedToSupported(hertz: hertz)
    if clampedHertz != hertz {
      losses.add(
        .approximated, .composition,
        "frequencies outside 1 to 20000 Hz are clamped by up to # Hz",
        size: abs(clampedHertz - hertz))
    }
    return clampedHertz
  }
}
