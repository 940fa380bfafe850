internal import HapticFormats
internal import HapticModel

/// Converts the notes of a document into events with curves.
struct HapsReader {
  private typealias Breakpoints = [(time: Double, value: Double)]

  private static let cubicStepCount = 16

  let amplitudeMapping: AmplitudeMapping
  private(set) var builder = ScaledLayerBuilder(scale: .phone)
  private(set) var valueIndices: [Int] = []
  var losses = LossLog()

  init(amplitudeMapping: AmplitudeMapping) { self.amplitudeMapping = amplitudeMapping }

  mutating func read(_ document: HapsDocument) {
    for melody in document.melodies {
      guard !melody.isMuted else {
        losses.add(.dropped, .composition, "muted melodies are omitted")
        continue
      }
      for note in melody.notes {
        add(note, gain: document.gain * document.vibrationGain * melody.gain * note.gain)
      }
    }
  }

  private mutating func add(_ note: HapsDocument.Note, gain: Double) {
    let length = note.length ?? max(note.amplitude.last?.time ?? 0, note.frequency.last?.time ?? 0)
    guard !note.isTransient else {
      valueIndices.append(note.valueIndex)
      builder.add(
        HapticEvent(
          kind: .hapticTransient, time: note.start,
          parameters: [
            .hapticIntensity: Float(amplitudeMapping.intensity(ofAmplitude: clamped(gain))),
            .hapticSharpness: 0.5,
          ]))
      return
    }
    guard length > 0 else {
      return losses.add(.dropped, .composition, "notes with zero duration are silent")
    }
    var levels: Breakpoints = Self.breakpoints(of: note.amplitude, until: length).map {
      ($0.time, clamped($0.value * gain))
    }
    if levels.isEmpty {
      levels = [(0, clamped(gain))]
    }
    var sharpnesses = sharpnessBreakpoints(of: Self.breakpoints(of: note.frequency, until: length))
    let statesHertz = !sharpnesses.isEmpty
    if !statesHertz {
      sharpnesses = [(0, 0.5)]
    }
    var event = HapticEvent(
      kind: .hapticContinuous, time: note.start, duration: length,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
    var curves: [ParameterCurve] = []
    if let level = Self.constantValue(of: levels),
      let sharpness = Self.constantValue(of: sharpnesses)
    {
      event.parameters[.hapticIntensity] = Float(amplitudeMapping.intensity(ofAmplitude: level))
      event.parameters[.hapticSharpness] = Float(sharpness)
    } else {
      // The last value of a curve holds, so every event of the layer needs both curves.
      curves = [
        Self.curve(
          .hapticIntensityControl, start: note.start, breakpoints: levels,
          interpolation: amplitudeMapping == .root ? .squared : .linear),
        Self.curve(
          .hapticSharpnessControl, start: note.start, breakpoints: sharpnesses,
          interpolation: .linear),
      ]
    }
    valueIndices.append(note.valueIndex)
    builder.add(event, curves: curves, until: note.start + length, statesHertz: statesHertz)
  }

  private mutating func clamped(_ amplitude: Double) -> Double {
    if amplitude > 1 {
      losses.add(
        .approximated, .composition, "amplitudes above 1 are clamped by up to # of full scale",
        size: amplitude - 1)
    }
    return min(max(amplitude, 0), 1)
  }

  private static func constantValue(of breakpoints: Breakpoints) -> Double? {
    guard let first = breakpoints.first else { return nil }
    return breakpoints.allSatisfy { $0.value == first.value } ? first.value : nil
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

  /// Returns the breakpoints from 0 to a time. Cubic segments become lines; the first and the last
  /// value hold.
  private static func breakpoints(of keyframes: [HapsDocument.Keyframe], until length: Double)
    -> Breakpoints
  {
    let order = keyframes.indices.sorted { (keyframes[$0].time, $0) < (keyframes[$1].time, $1) }
    let sorted = order.map { keyframes[$0] }
    guard let first = sorted.first else { return [] }
    var breakpoints: Breakpoints = first.time > 0 ? [(0, first.value)] : []
    for (index, keyframe) in sorted.enumerated() {
      if index > 0 {
        breakpoints += cubicPoints(from: sorted[index - 1], to: keyframe)
      }
      breakpoints.append((keyframe.time, keyframe.value))
    }
    return trimmed(breakpoints, to: length)
  }

  /// Returns points of the cubic Hermite curve between two key frames, or none if their slopes are
  /// missing or are those of a line.
  private static func cubicPoints(
    from start: HapsDocument.Keyframe, to end: HapsDocument.Keyframe
  ) -> Breakpoints {
    let span = end.time - start.time
    let rise = end.value - start.value
    guard let startSlope = start.outSlope, let endSlope = end.inSlope, span > 0,
      abs(startSlope * span - rise) + abs(endSlope * span - rise) > 1e-6
    else { return [] }
    return (1..<cubicStepCount).map { step in
      let t = Double(step) / Double(cubicStepCount)
      let t2 = t * t
      let t3 = t * t * t
      let value =
        (2 * t3 - 3 * t2 + 1) * start.value + (t3 - 2 * t2 + t) * span * startSlope
        + (3 * t2 - 2 * t3) * end.value
        + (t3 - t2) * span * endSlope
      return (start.time + t * span, value)
    }
  }

  /// Returns the breakpoints up to a time, with an interpolated breakpoint at the time.
  private static func trimmed(_ breakpoints: Breakpoints, to length: Double) -> Breakpoints {
    var breakpoints = breakpoints
    guard let cut = breakpoints.firstIndex(where: { $0.time > length }) else { return breakpoints }
    if cut > 0, breakpoints[cut - 1].time < length {
      let from = breakpoints[cut - 1]
      let to = breakpoints[cut]
      breakpoints[cut] = (
        length, from.value + (to.value - from.value) * (length - from.time) / (to.time - from.time)
      )
      return Array(breakpoints[...cut])
    }
    return Array(breakpoints[..<max(cut, 1)])
  }

  /// Returns breakpoints of sharpness on the scale of the layer for breakpoints of hertz.
  private mutating func sharpnessBreakpoints(of breakpoints: Breakpoints) -> Breakpoints {
    let scale = SharpnessScale.phone
    var sharpnesses: Breakpoints = []
    var last: (time: Double, hertz: Double)?
    for point in breakpoints {
      let hertz = supported(point.value)
      let sharpness = scale.sharpness(ofHertz: hertz)
      if let last {
        for fraction in SharpnessScale.fractions(fromHertz: last.hertz, toHertz: hertz) {
          sharpnesses.append(
            (
              last.time + (point.time - last.time) * fraction,
              scale.sharpness(ofHertz: last.hertz + (hertz - last.hertz) * fraction)
            ))
        }
      }
      sharpnesses.append((point.time, sharpness))
      last = (point.time, hertz)
    }
    return sharpnesses
  }

  /// Returns a frequency, limited to those that a pattern can state.
  private mutating func supported(_ hertz: Double) -> Double {
    let limited = SharpnessScale.supported(hertz: hertz)
    if limited != hertz {
      losses.add(
        .approximated, .composition,
        "frequencies outside 1 to 20000 Hz are clamped by up to # Hz", size: abs(limited - hertz))
    }
    return limited
  }
}
