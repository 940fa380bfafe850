internal import CMath
import SignalAnalysis

/// Tones that go on through a whole recording: hum of the mains and the like.
enum SteadyTones {
  /// How far above its neighbourhood a line of the mains stands, as a ratio of powers.
  private static let mainsProminence = 25.0
  /// How far any other line does.
  private static let otherProminence = 400.0
  /// The bases of the mains in hertz.
  private static let bases = [50.0, 60.0]
  /// The highest multiple that is looked for.
  private static let greatestMultiple = 12

  /// What was found.
  struct Found {
    /// Hertz of all lines.
    var lines: [Double]
    /// 50 or 60 where they are multiples of it.
    var mains: Double?
  }

  /// Looks for lines in what is left of a take.
  ///
  /// - Parameter allowsOthers: Whether lines elsewhere than at the mains' multiples count.
  static func find(in residual: [Float], rate: Double, allowsOthers: Bool) -> Found {
    // A minute is enough, and lines that drift stay narrow in it.
    let samples = Array(residual.prefix(Int(60 * rate)))
    guard samples.count > Int(0.25 * rate) else { return Found(lines: [], mains: nil) }
    let length = FourierTransform.fastLength(atLeast: max(8_192, 2 * samples.count))
    var transform = FourierTransform(length: length)
    let windowed = samples.indices.map { index in
      samples[index] * Float(0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(samples.count - 1)))
    }
    let powers = transform.forward(windowed).map { Double($0.power) }
    let width = rate / Double(length)
    var found = Found(lines: [], mains: nil)
    for base in bases {
      let lines = (1...greatestMultiple).compactMap { multiple -> Double? in
        let reach = max(0.3 * Double(multiple), 0.5)
        let hertz = base * Double(multiple)
        return line(powers, width, from: hertz - reach, to: hertz + reach, prominence: mainsProminence)
      }
      if lines.count > found.lines.count { found = Found(lines: lines, mains: base) }
    }
    guard allowsOthers, found.lines.isEmpty else { return found }
    if let line = line(powers, width, from: 20, to: 1_000, prominence: otherProminence) { found.lines.append(line) }
    return found
  }

  private static func line(_ powers: [Double], _ width: Double, from low: Double, to high: Double, prominence: Double)
    -> Double?
  {
    let first = max(1, Int(low / width))
    let last = min(powers.count - 2, Int(high / width) + 1)
    guard first < last, let peak = (first...last).max(by: { powers[$0] < powers[$1] }) else { return nil }
    let reach = Int(8 / width) + 4
    let near = Samples.median(Array(powers[max(1, peak - reach)..<min(powers.count, peak + reach)]))
    guard powers[peak] > prominence * near, near >= 0, powers[peak] > 0 else { return nil }
    let (a, b, c) = (log(powers[peak - 1] + 1e-30), log(powers[peak]), log(powers[peak + 1] + 1e-30))
    let bend = a - 2 * b + c
    let offset = bend < 0 ? 0.5 * (a - c) / bend : 0
    return (Double(peak) + offset) * width
  }

  /// The mean square of one tone in some samples, and how many they are.
  static func power(at hertz: Double, in samples: [Float], rate: Double, where isChosen: (Int) -> Bool = { _ in true })
    -> (power: Double, count: Int)
  {
    let step = 2 * .pi * hertz / rate
    var (real, imaginary, count) = (0.0, 0.0, 0)
    for index in samples.indices where isChosen(index) {
      real += Double(samples[index]) * cos(step * Double(index))
      imaginary += Double(samples[index]) * sin(step * Double(index))
      count += 1
    }
    guard count > 8 else { return (0, count) }
    return (2 * (real * real + imaginary * imaginary) / Double(count * count), count)
  }
}
