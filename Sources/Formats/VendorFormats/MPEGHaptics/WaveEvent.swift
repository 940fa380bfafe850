internal import CMath
internal import HapticFormats
import Reading
import HapticModel

/// A vectorial wave as a continuous event with its own curves.
struct WaveEvent {
  /// The continuous event, or nil for a wave without a duration.
  private(set) var event: HapticEvent?
  private(set) var curves: [ParameterCurve] = []
  private(set) var maximumAmplitude: Double?

  private typealias Breakpoints = [(time: Double, value: Double)]

  /// Converts a wave to an event. Returns nil for a wave that no event can represent: one with a
  /// waveform other than a sine, an initial phase, or negative amplitudes.
  init?(_ effect: MPEGDocument.Effect, timescale: Int, gain: Double) {
    guard effect.baseSignal == .sine, effect.initialPhaseRadians == 0, gain >= 0,
      effect.keyframes.allSatisfy({
        $0.amplitude.isNaN || $0.amplitude >= MPEGReader.maximumQuantizedZeroAmplitude
      }
      ),
      let first = effect.keyframes.first, let last = effect.keyframes.last
    else { return nil }
    let firstKeyframeTick = first.offsetTicks
    func secondsAfterFirstTick(_ position: Int32) -> Double {
      Double(position - firstKeyframeTick) / Double(timescale)
    }
    let durationSeconds = secondsAfterFirstTick(last.offsetTicks)
    var amplitudeBreakpoints: Breakpoints = effect.keyframes.filter { !$0.amplitude.isNaN }.map {
      (secondsAfterFirstTick($0.offsetTicks), max(Double($0.amplitude), 0) * gain)
    }
    if amplitudeBreakpoints.isEmpty {
      amplitudeBreakpoints = [(0, gain)]
    }
    let hertzBreakpoints: Breakpoints = effect.keyframes.filter { !$0.hertz.isNaN }.map {
      (secondsAfterFirstTick($0.offsetTicks), Double($0.hertz))
    }
    maximumAmplitude = amplitudeBreakpoints.map { $0.value }.max()
    guard durationSeconds > 0 else { return }
    let intensityBreakpoints = Self.clampedToUnitRange(
      amplitudeBreakpoints.map { ($0.time, $0.value / MPEGReader.continuousReferenceAmplitude) })
    let sharpnessBreakpoints: Breakpoints = hertzBreakpoints.map {
      (
        $0.time,
        SharpnessScale.mpeg.sharpness(ofHertz: SharpnessScale.clampedToSupported(hertz: $0.value))
      )
    }
    let peakIntensity = intensityBreakpoints.map { $0.value }.max() ?? 0
    var initialSharpness = sharpnessBreakpoints.first?.value ?? 0
    let startSeconds = (Double(effect.startTicks) + Double(firstKeyframeTick)) / Double(timescale)
    let needsCurves =
      intensityBreakpoints.contains { abs($0.value - peakIntensity) > 1e-6 }
      || sharpnessBreakpoints.contains { abs($0.value - initialSharpness) > 1e-6 }
    if needsCurves {
      // The curve, not the event, is beyond the scale.
      initialSharpness = min(max(initialSharpness, 0), 1)
    }
    event = HapticEvent(
      kind: .hapticContinuous, time: startSeconds, duration: durationSeconds,
      parameters: [
        .hapticIntensity: Float(peakIntensity), .hapticSharpness: Float(initialSharpness),
      ])
    guard needsCurves else { return }
    curves = [
      Self.curve(
        .hapticIntensityControl, at: startSeconds,
        breakpoints: intensityBreakpoints.map {
          ($0.time, peakIntensity > 0 ? $0.value / peakIntensity : 1)
        }),
      Self.curve(
        .hapticSharpnessControl, at: startSeconds,
        breakpoints: sharpnessBreakpoints.map { ($0.time, $0.value - initialSharpness) }),
    ]
  }

  private static func curve(
    _ id: DynamicParameterID, at time: Double, breakpoints: Breakpoints
  )
    -> ParameterCurve
  {
    ParameterCurve(
      id: id, time: time,
      controlPoints: breakpoints.map { .init(time: $0.time, value: Float($0.value)) })
  }

  /// Returns breakpoints with values clamped to 0…1.
  ///
  /// Additional breakpoints mark the points where the lines cross 0 or 1.
  private static func clampedToUnitRange(_ breakpoints: Breakpoints) -> Breakpoints {
    if breakpoints.allSatisfy({ 0...1 ~= $0.value }) { return breakpoints }
    var clampedBreakpoints: Breakpoints = []
    for (index, point) in breakpoints.enumerated() {
      if index > 0 {
        let last = breakpoints[index - 1]
        // A jump between two key frames at the same position crosses a bound without a time of its
        // own.
        var crossings: Breakpoints = []
        for bound in [0.0, 1.0] where (last.value - bound) * (point.value - bound) < 0 {
          let fraction = (bound - last.value) / (point.value - last.value)
          crossings.append((last.time + (point.time - last.time) * fraction, bound))
        }
        clampedBreakpoints += last.value < point.value ? crossings : crossings.reversed()
      }
      clampedBreakpoints.append(point)
    }
    return clampedBreakpoints.map { ($0.time, min(max($0.value, 0), 1)) }
  }
}
