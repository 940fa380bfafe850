import Glibc
import HapticModel
@testable import HapticRender

/// Renders a whole pattern to one array, in blocks of one length.
func render(
  _ pattern: HapticPattern, profile: TransducerProfile = .phone, rate: Double = 48_000,
  samples: [String: AudioBuffer] = [:], settings: RenderSettings = RenderSettings(),
  blockLength: Int = 512
) throws -> [Float] {
  rendered(
    try RenderPlan(compiling: pattern, profile: profile, rate: rate, samples: samples), settings,
    blockLength: blockLength)
}

/// Renders a whole plan to one array, in blocks of one length.
func rendered(
  _ plan: RenderPlan, _ settings: RenderSettings = RenderSettings(), blockLength: Int = 512
) -> [Float] {
  var rendering = OfflineRenderer(plan: plan, settings: settings)
  var output: [Float] = []
  var block = [Float](repeating: 7, count: blockLength * settings.channelCount)
  while true {
    var span = block.mutableSpan
    let count = rendering.read(into: &span)
    if count == 0 { return output }
    output += block[..<(count * settings.channelCount)]
  }
}

/// Returns a continuous haptic event.
func humEvent(
  _ time: Double = 0, _ duration: Double = 1, _ otherParameters: EventParameters = [:],
  intensity: Float = 1,
  sharpness: Float = 0.5
) -> HapticEvent {
  var parameters = otherParameters
  parameters[.hapticIntensity] = intensity
  parameters[.hapticSharpness] = sharpness
  return HapticEvent(
    kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
}

/// Returns a transient.
func tapEvent(_ time: Double = 0, intensity: Float = 1, sharpness: Float = 0.5) -> HapticEvent {
  HapticEvent(
    kind: .hapticTransient, time: time,
    parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
}

/// Returns a curve through points, whose times are relative to its start.
func curve(_ id: DynamicParameterID, at time: Double = 0, _ points: [(Double, Float)])
  -> ParameterCurve
{
  ParameterCurve(id: id, time: time, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
}

/// Returns the frequency between two times, measured from the first to the last rising zero
/// crossing with interpolation.
func frequency(of samples: [Float], rate: Double, from: Double, to: Double) -> Double {
  var crossings: [Double] = []
  for index in Int(from * rate)..<Int(to * rate) where samples[index] < 0 && samples[index + 1] >= 0
  {
    let previousSample = Double(samples[index])
    let nextSample = Double(samples[index + 1])
    crossings.append(Double(index) - previousSample / (nextSample - previousSample))
  }
  guard let first = crossings.first, let last = crossings.last, last > first else { return 0 }
  return Double(crossings.count - 1) * rate / (last - first)
}

/// Returns the amplitude of a sine of known frequency around a time, measured over whole cycles.
func amplitude(
  of samples: [Float], rate: Double, at time: Double, hertz: Double, cycles: Double = 4
) -> Double {
  let halfLength = Int((cycles * rate / hertz / 2).rounded())
  let centerIndex = Int(time * rate)
  var sum = 0.0
  for index in (centerIndex - halfLength)..<(centerIndex + halfLength) {
    sum += Double(samples[index] * samples[index])
  }
  return (2 * sum / Double(2 * halfLength)).squareRoot()
}

/// Returns a ratio in decibels.
func decibels(_ value: Double, _ reference: Double) -> Double { 20 * log10(value / reference) }

/// A direct implementation of the model, which computes every frame from the formulas in `Double`.
struct ReferenceEvent {
  var rate: Double = 48_000
  var durationSeconds: Double
  /// The event's onset in frames.
  var onsetFrame = 0
  /// Intensity at a time of the pattern, controls included.
  var intensity: (Double) -> Double = { _ in 1 }
  /// Sharpness at a time of the pattern, controls included.
  var sharpness: (Double) -> Double = { _ in 0.5 }
  /// The envelope at a time after the onset.
  var envelope: (Double) -> Double = { _ in 1 }

  /// The samples of one continuous event of the profile `phone`.
  var samples: [Double] {
    var output = [Double](repeating: 0, count: Int(durationSeconds * rate))
    var phase = 0.0
    var offset = 0.0
    let coefficient = 1 - exp(-2 * Double.pi * 0.5 / rate)
    for frame in output.indices {
      var sample = 0.0
      if frame >= onsetFrame {
        let time = Double(frame) / rate
        let clampedIntensity = min(max(intensity(time), 0), 1)
        let level =
          0.44 * clampedIntensity * clampedIntensity * envelope(Double(frame - onsetFrame) / rate)
        sample = level * sin(2 * Double.pi * phase)
        phase += 80 * pow(230 / 80, min(max(sharpness(time), 0), 1)) / rate
      }
      output[frame] = sample - offset
      // In silence, the DC estimate decays five times as fast.
      offset += sample == 0 ? -offset * coefficient * 5 : (sample - offset) * coefficient
    }
    return output
  }

  /// Returns the level of the difference from the reference, in decibels relative to the reference.
  func errorDecibels(of rendering: [Float]) -> Double {
    var errorEnergy = 0.0
    var referenceEnergy = 0.0
    for (referenceSample, sample) in zip(samples, rendering) {
      errorEnergy += (referenceSample - Double(sample)) * (referenceSample - Double(sample))
      referenceEnergy += referenceSample * referenceSample
    }
    return 10 * log10(errorEnergy / referenceEnergy)
  }
}

/// Returns a function that interpolates linearly between points, and is constant outside them.
func piecewiseLine(_ points: [(Double, Double)]) -> (Double) -> Double {
  { time in
    if time <= points[0].0 { return points[0].1 }
    for (previous, next) in zip(points, points.dropFirst()) where time < next.0 {
      return previous.1 + (next.1 - previous.1) * (time - previous.0) / (next.0 - previous.0)
    }
    return points[points.count - 1].1
  }
}

/// Returns a curve of a pattern with the same points as `piecewiseLine(_:)`.
func curve(_ id: DynamicParameterID, at time: Double = 0, along points: [(Double, Double)])
  -> ParameterCurve
{
  curve(id, at: time, points.map { ($0.0, Float($0.1)) })
}

/// Returns a step of a control.
func controlStep(_ id: DynamicParameterID, _ value: Float, at time: Double) -> DynamicParameter {
  DynamicParameter(id: id, value: value, time: time)
}

/// Returns the maximum magnitude.
func peak(_ samples: some Sequence<Float>) -> Float { samples.reduce(0) { max($0, abs($1)) } }

/// Returns the maximum difference of adjacent samples.
func maximumStep(_ samples: [Float]) -> Float {
  zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

/// Returns the maximum difference of two renderings.
func maximumDifference(_ first: some Sequence<Float>, _ second: some Sequence<Float>) -> Float {
  zip(first, second).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

/// Returns the amplitude of a frequency in samples.
func amplitude(of samples: ArraySlice<Float>, hertz: Double, rate: Double) -> Double {
  var real = 0.0
  var imaginary = 0.0
  for (index, sample) in samples.enumerated() {
    let phase = 2 * Double.pi * hertz * Double(index) / rate
    real += Double(sample) * cos(phase)
    imaginary += Double(sample) * sin(phase)
  }
  return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
}
