import Glibc
import HapticFormats
import HapticModel
import HapticRender
import ShippedFiles
import TestSupport

/// Signals that the tests know everything about.
enum TestSignal {
  /// A sine that starts at a phase.
  static func sine(
    hertz: Double, rate: Double = 48_000, seconds: Double = 1, amplitude: Double = 1,
    phase: Double = 0
  )
    -> [Float]
  {
    (0..<Int((seconds * rate).rounded())).map {
      Float(amplitude * sin(2 * .pi * hertz * Double($0) / rate + phase))
    }
  }

  /// A sine under half a wave, without the wide spectrum of an edge.
  static func swell(hertz: Double, rate: Double = 48_000, seconds: Double = 1) -> [Float] {
    let tone = sine(hertz: hertz, rate: rate, seconds: seconds)
    return tone.enumerated().map { index, sample in
      let share = sin(.pi * Double(index) / Double(tone.count))
      return sample * Float(share * share)
    }
  }

  /// A sine whose frequency rises evenly.
  static func glide(
    from low: Double, to high: Double, rate: Double = 48_000, seconds: Double = 1,
    amplitude: Double = 1
  ) -> [Float] {
    (0..<Int((seconds * rate).rounded())).map {
      let time = Double($0) / rate
      return Float(
        amplitude * sin(2 * .pi * (low * time + (high - low) / seconds / 2 * time * time)))
    }
  }

  /// A burst of two cycles like a transient's: an eighth of it rises, an eighth falls.
  static func tap(hertz: Double, rate: Double = 48_000, amplitude: Double = 1) -> [Float] {
    let count = Int(2 / hertz * rate)
    return (0..<count).map { index in
      let place = Double(index) / Double(count)
      let outline = min(1, min(place, 1 - place) * 8)
      return Float(amplitude * outline * sin(2 * .pi * hertz * Double(index) / rate))
    }
  }

  /// Returns uniform noise, which is the same in each call.
  static func noise(seconds: Double, rate: Double = 48_000, amplitude: Double = 1) -> [Float] {
    // A sequence whose mean is close to 0, because a test measures the power of an offset.
    var generator = SplitMixGenerator(state: 2)
    return (0..<Int((seconds * rate).rounded())).map { _ in
      Float(Double.random(in: -amplitude...amplitude, using: &generator))
    }
  }

  /// The sum of a signal and others that begin at some seconds.
  static func mix(
    _ base: [Float], _ others: [(time: Double, samples: [Float])], rate: Double = 48_000
  ) -> [Float] {
    var sum = base
    for other in others {
      let start = Int((other.time * rate).rounded())
      for (index, sample) in other.samples.enumerated() where start + index < sum.count {
        sum[start + index] += sample
      }
    }
    return sum
  }

  /// Silence.
  static func silence(seconds: Double, rate: Double = 48_000) -> [Float] {
    [Float](repeating: 0, count: Int((seconds * rate).rounded()))
  }
}

/// Rendered patterns, held in memory.
enum RenderedPatterns {
  /// A shipped pattern.
  static func shippedPattern(_ name: String) throws -> (pattern: HapticPattern, samples: [Float]) {
    let document = try AHAPDocument(text: ShippedPatterns.text(named: name) ?? [], name: name)
    let pattern = try document.read().pattern
    return (pattern, try samples(of: pattern))
  }

  /// Any pattern.
  static func samples(of pattern: HapticPattern, rate: Double = 48_000) throws -> [Float] {
    let plan = try RenderPlan(compiling: pattern, profile: .phone, rate: rate)
    var rendering = OfflineRenderer(plan: plan)
    return rendering.samples()
  }
}
