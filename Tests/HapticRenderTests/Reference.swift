import Glibc
import HapticModel

@testable import HapticRender

/// The model written down without any thought of speed: every frame from the laws, in `Double`.
struct Reference {
  var rate: Double = 48_000
  var seconds: Double
  /// The event's onset in frames.
  var onset = 0
  /// Intensity at a time of the pattern, controls included.
  var intensity: (Double) -> Double = { _ in 1 }
  /// Sharpness at a time of the pattern, controls included.
  var sharpness: (Double) -> Double = { _ in 0.5 }
  /// The outline at a time from the onset.
  var outline: (Double) -> Double = { _ in 1 }

  /// The samples of one continuous event of the profile `phone`.
  var samples: [Double] {
    var output = [Double](repeating: 0, count: Int(seconds * rate))
    var turns = 0.0
    var offset = 0.0
    let share = exp2(-log2(rate / Double.pi).rounded())
    for frame in output.indices {
      var sample = 0.0
      if frame >= onset {
        let time = Double(frame) / rate
        let i = min(max(intensity(time), 0), 1)
        let level = 0.44 * i * i * outline(Double(frame - onset) / rate)
        sample = level * sin(2 * Double.pi * turns)
        turns += 80 * pow(230 / 80, min(max(sharpness(time), 0), 1)) / rate
      }
      output[frame] = sample - offset
      offset += (sample - offset) * share
    }
    return output
  }

  /// The level of what samples lack of the reference, in decibels relative to the reference.
  func difference(of other: [Float]) -> Double {
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
func line(_ points: [(Double, Double)]) -> (Double) -> Double {
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
func step(_ id: DynamicParameterID, _ value: Float, at time: Double) -> DynamicParameter {
  DynamicParameter(id: id, value: value, time: time)
}

/// The greatest magnitude.
func peak(_ samples: some Sequence<Float>) -> Float { samples.reduce(0) { max($0, abs($1)) } }

/// The greatest difference of two neighbours.
func greatestStep(_ samples: [Float]) -> Float {
  zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

/// The greatest difference of two renderings.
func greatestDifference(_ a: some Sequence<Float>, _ b: some Sequence<Float>) -> Float {
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
