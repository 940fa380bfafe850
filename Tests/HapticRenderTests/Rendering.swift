import Glibc
import HapticModel
import HapticRender

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
func hum(
  _ time: Double = 0, _ duration: Double = 1, _ more: EventParameters = [:],
  intensity: Float = 1, sharpness: Float = 0.5
) -> HapticEvent {
  var parameters = more
  parameters[.hapticIntensity] = intensity
  parameters[.hapticSharpness] = sharpness
  return HapticEvent(
    kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
}

/// A transient.
func tap(_ time: Double = 0, intensity: Float = 1, sharpness: Float = 0.5) -> HapticEvent {
  HapticEvent(
    kind: .hapticTransient, time: time,
    parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
}

/// A curve through points relative to its start.
func curve(
  _ id: DynamicParameterID, at time: Double = 0, _ points: [(Double, Float)]
) -> ParameterCurve {
  ParameterCurve(
    id: id, time: time, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
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
)
  -> Double
{
  let half = Int((cycles * rate / hertz / 2).rounded())
  let middle = Int(time * rate)
  var sum = 0.0
  for index in (middle - half)..<(middle + half) { sum += Double(samples[index] * samples[index]) }
  return (2 * sum / Double(2 * half)).squareRoot()
}

/// A ratio in decibels.
func decibels(_ a: Double, _ b: Double) -> Double { 20 * log10(a / b) }
