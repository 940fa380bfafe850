import Glibc
import HapticFormats
import HapticModel
import HapticRender
import ShippedFiles
import TestSupport

/// Signals with known properties.
enum TestSignal {
  /// Returns a sine that starts at a phase.
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

  /// Returns a sine with a sin² envelope, which avoids the wide spectrum of an edge.
  static func swell(hertz: Double, rate: Double = 48_000, seconds: Double = 1) -> [Float] {
    let tone = sine(hertz: hertz, rate: rate, seconds: seconds)
    return tone.enumerated().map { index, sample in
      let gain = sin(.pi * Double(index) / Double(tone.count))
      return sample * Float(gain * gain)
    }
  }

  /// Returns a sine whose frequency rises linearly.
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

  /// Returns a burst of two cycles like that of a transient, with ramps of an eighth at both ends.
  static func tap(hertz: Double, rate: Double = 48_000, amplitude: Double = 1) -> [Float] {
    let count = Int(2 / hertz * rate)
    return (0..<count).map { index in
      let progress = Double(index) / Double(count)
      let envelope = min(1, min(progress, 1 - progress) * 8)
      return Float(amplitude * envelope * sin(2 * .pi * hertz * Double(index) / rate))
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

  /// Returns the sum of a signal and other signals that start at given times.
  static func mix(
    _ base: [Float], _ others: [(time: Double, samples: [Float])], rate: Double = 48_000
  ) -> [Float] {
    var sum = base
    for addition in others {
      let start = Int((addition.time * rate).rounded())
      for (index, sample) in addition.samples.enumerated() where start + index < sum.count {
        sum[start + index] += sample
      }
    }
    return sum
  }

  /// Returns silence.
  static func silence(seconds: Double, rate: Double = 48_000) -> [Float] {
    [Float](repeating: 0, count: Int((seconds * rate).rounded()))
  }
}

/// Renderings of patterns.
enum RenderedPatterns {
  /// Returns a shipped pattern with its rendering.
  static func shippedPattern(_ name: String) throws -> (pattern: HapticPattern, samples: [Float]) {
    let document = try AHAPDocument(text: ShippedPatterns.text(named: name) ?? [], name: name)
    let pattern = try document.read().pattern
    return (pattern, try samples(of: pattern))
  }

  /// Returns the rendering of a pattern.
  static func samples(of pattern: HapticPattern, rate: Double = 48_000) throws -> [Float] {
    let plan = try RenderPlan(compiling: pattern, profile: .phone, rate: rate)
    var rendering = OfflineRenderer(plan: plan)
    return rendering.samples()
  }
}
