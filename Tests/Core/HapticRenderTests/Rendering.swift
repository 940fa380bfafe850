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

/// A continuous haptic event.
func humEvent(
  _ time: Double = 0, _ duration: Double = 1, _ more: EventParameters = [:], intensity: Float = 1,
  sharpness: Float = 0.5
) -> HapticEvent {
  var parameters = more
  parameters[.hapticIntensity] = intensity
  parameters[.hapticSharpness] = sharpness
  return HapticEvent(
    kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
}

/// A transient.
func tapEvent(_ time: Double = 0, intensity: Float = 1, sharpness: Float = 0.5) -> HapticEvent {
  HapticEvent(
    kind: .hapticTransient, time: time,
    parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
}

/// A curve through points relative to its start.
func curve(_ id: DynamicParameterID, at time: Double = 0, _ points: [(Double, Float)])
  -> ParameterCurve
{
  ParameterCurve(id: id, time: time, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
}

/// The frequency between two times, from the first to the last rising zero crossing, interpolated.
func frequency(of samples: [Float], rate: Double, from: Double, to: Double) -> Double {
  var crossings: [Double] = []
  for index in Int(from * rate)..<Int(to * rate) where samples[index] < 0 && samples[index + 1] >= 0
  {
    let a = Double(samples[index])
    let b = Double(samples[index + 1])
    crossings.append(Double(index) - a / (b - a))
  }
  guard let first = crossings.first, let last = crossings.last, last > first else { return 0 }
  return Double(crossings.count - 1) * rate / (last - first)
}

/// The amplitude of a sine of known frequency around a time, from whole cycles.
func amplitude(
  of samples: [Float], rate: Double, at time: Double, hertz: Double, cycles: Double = 4
) -> Double {
  let half = Int((cycles * rate / hertz / 2).rounded())
  let middle = Int(time * rate)
  var sum = 0.0
  for index in (middle - half)..<(middle + half) {
    sum += Double(samples[index] * samples[index])
  }
  return (2 * sum / Double(2 * half)).squareRoot()
}

/// A ratio in decibels.
func decibels(_ a: Double, _ b: Double) -> Double { 20 * log10(a / b) }

/// The model written down without any thought of speed: every frame from the laws, in `Double`.
struct ReferenceEvent {
  var rate: Double = 48_000
  var durationSeconds: Double
  /// The event's onset in frames.
  var onsetFrame = 0
  /// Intensity at a time of the pattern, controls included.
  var intensity: (Double) -> Double = { _ in 1 }
  /// Sharpness at a time of the pattern, controls included.
  var sharpness: (Double) -> Double = { _ in 0.5 }
  /// The outline at a time from the onset.
  var envelope: (Double) -> Double = { _ in 1 }

  /// The samples of one continuous event of the profile `phone`.
  var samples: [Double] {
    var output = [Double](repeating: 0, count: Int(durationSeconds * rate))
    var turns = 0.0
    var offset = 0.0
    let share = 1 - exp(-2 * Double.pi * 0.5 / rate)
    for frame in output.indices {
      var sample = 0.0
      if frame >= onsetFrame {
        let time = Double(frame) / rate
        let i = min(max(intensity(time), 0), 1)
        let level = 0.44 * i * i * envelope(Double(frame - onsetFrame) / rate)
        sample = level * sin(2 * Double.pi * turns)
        turns += 80 * pow(230 / 80, min(max(sharpness(time), 0), 1)) / rate
      }
      output[frame] = sample - offset
      // In silence the offset is forgotten five times as fast.
      offset += sample == 0 ? -offset * share * 5 : (sample - offset) * share
    }
    return output
  }

  /// The level of what samples lack of the reference, in decibels relative to the reference.
  func errorDecibels(of other: [Float]) -> Double {
    var lacking = 0.0
    var whole = 0.0
    for (a, b) in zip(samples, other) {
      lacking += (a - Double(b)) * (a - Double(b))
      whole += a * a
    }
    return 10 * log10(lacking / whole)
  }
}

/// A line through points, level outside them.
func piecewiseLine(_ points: [(Double, Double)]) -> (Double) -> Double {
  { time in
    if time <= points[0].0 { return points[0].1 }
    for (a, b) in zip(points, points.dropFirst()) where time < b.0 {
      return a.1 + (b.1 - a.1) * (time - a.0) / (b.0 - a.0)
    }
    return points[points.count - 1].1
  }
}

/// A control as the same points would be in a pattern.
func curve(_ id: DynamicParameterID, at time: Double = 0, along points: [(Double, Double)])
  -> ParameterCurve
{
  curve(id, at: time, points.map { ($0.0, Float($0.1)) })
}

/// A step.
func controlStep(_ id: DynamicParameterID, _ value: Float, at time: Double) -> DynamicParameter {
  DynamicParameter(id: id, value: value, time: time)
}

/// The greatest magnitude.
func peak(_ samples: some Sequence<Float>) -> Float { samples.reduce(0) { max($0, abs($1)) } }

/// The greatest difference of two neighbours.
func maximumStep(_ samples: [Float]) -> Float {
  zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

/// The greatest difference of two renderings.
func maximumDifference(_ a: some Sequence<Float>, _ b: some Sequence<Float>) -> Float {
  zip(a, b).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

/// The amplitude of the part of some samples that has a frequency.
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
