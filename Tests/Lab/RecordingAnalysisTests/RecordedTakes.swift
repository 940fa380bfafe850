import ComparisonFixtures
import Glibc
import HapticFormats
import HapticModel
import PatternComparison
import ShippedFiles
import SignalAnalysis

/// The conditions of a recording.
struct RecordingCase {
  /// The leading silence, in seconds.
  var delay = 0.0
  /// The level relative to the pattern, in decibels.
  var level = 0.0
  /// The relative tempo deviation, including pitch; positive if the recording is slower.
  var drift = 0.0
  /// The RMS level of the noise, in decibels relative to the pattern's peak.
  var noise = -60.0
  /// The kind of noise. `hum` is white noise and hum of the mains.
  var noiseColor = NoiseColor.white
  /// A Boolean value that indicates whether the polarity is inverted.
  var isInverted = false
  /// The trailing silence, in seconds.
  var tailSeconds = 0.3

  enum NoiseColor: CaseIterable { case white, brown, hum }

  /// Creates a random case: a delay up to 10 s, ±20 dB, ±0.1 %, and noise at −30 to −70 dB.
  init(
    using generator: inout LinearCongruentialGenerator,
    noise range: ClosedRange<Double> = -70 ... -30
  ) {
    delay = Double.random(in: 0...10, using: &generator)
    level = Double.random(in: -20...20, using: &generator)
    drift =
      Bool.random(using: &generator) ? Double.random(in: -0.001...0.001, using: &generator) : 0
    noiseColor = NoiseColor.allCases.randomElement(using: &generator) ?? .white
    noise = Double.random(in: range, using: &generator)
    isInverted = Double.random(in: 0..<1, using: &generator) < 0.2
    tailSeconds = Double.random(in: 0.1...1, using: &generator)
  }

  init(delay: Double, noise: Double) {
    self.delay = delay
    self.noise = noise
  }

  /// Returns the samples of a recording at 48 kHz.
  func samples(of sound: [Float], using generator: inout LinearCongruentialGenerator) -> [Float] {
    let rate = 48_000.0
    let peak = Double(sound.reduce(0) { max($0, abs($1)) })
    let gain = pow(10, level / 20) * (isInverted ? -1 : 1)
    let count = Int((delay + tailSeconds) * rate + Double(sound.count) * (1 + drift))
    let amplitude = abs(gain) * peak * pow(10, noise / 20)
    var samples = self.noise(count, amplitude, using: &generator)
    let source = sound + [0, 0, 0, 0]
    let firstIndex = Int((delay * rate).rounded(.up))
    for index in firstIndex..<count {
      let sourcePosition = (Double(index) - delay * rate) / (1 + drift)
      let sourceIndex = Int(sourcePosition)
      guard sourceIndex + 2 < source.count else { break }
      // The Catmull–Rom cubic is exact to −90 dB at a few hundred hertz.
      let fraction = Float(sourcePosition - Double(sourceIndex))
      let a = sourceIndex > 0 ? source[sourceIndex - 1] : 0
      let b = source[sourceIndex]
      let c = source[sourceIndex + 1]
      let d = source[sourceIndex + 2]
      let value =
        b + 0.5 * fraction
        * (c - a + fraction * (2 * a - 5 * b + 4 * c - d + fraction * (3 * (b - c) + d - a)))
      samples[index] += Float(gain) * value
    }
    return samples
  }

  private func noise(
    _ count: Int, _ amplitude: Double, using generator: inout LinearCongruentialGenerator
  ) -> [Float] {
    var samples = [Float](repeating: 0, count: count)
    // The RMS value of a uniform distribution is its limit divided by √3.
    let limit = Float(amplitude * 3.0.squareRoot())
    for index in samples.indices {
      let bits = generator.next() >> 40
      samples[index] = limit * (Float(bits) / 8_388_608 - 1)
    }
    switch noiseColor {
    case .white:
      break
    case .brown:
      // The slope is 6 dB per octave above 20 Hz.
      let pole: Float = 0.997_385
      var state: Float = 0
      for index in samples.indices {
        state = pole * state + samples[index]
        samples[index] = state * (1 - pole * pole).squareRoot()
      }
    case .hum:
      let mainsHertz = Bool.random(using: &generator) ? 50.0 : 60.0
      let fundamentalHertz = mainsHertz * (1 + Double.random(in: -1e-3...1e-3, using: &generator))
      // The RMS level is 40 dB below the pattern's peak.
      let humAmplitude = amplitude * pow(10, (-40 - self.noise) / 20) * (2 / 1.45).squareRoot()
      for (multiple, weight) in [(1.0, 1.0), (2, 0.4), (3, 0.5), (5, 0.2)] {
        let phase = Double.random(in: 0...6.28, using: &generator)
        let phaseStep = 2 * .pi * fundamentalHertz * multiple / 48_000
        for index in samples.indices {
          samples[index] += Float(humAmplitude * weight * sin(phase + phaseStep * Double(index)))
        }
      }
    }
    return samples
  }
}

extension RecordingCase {
  /// The number of random cases, or nil for a few fixed ones.
  static let count = setting("TEMBLOR_TEST_TAKES").flatMap { Int($0) }
  /// The seed of the random cases.
  static let seed = setting("TEMBLOR_TEST_SEED").flatMap { UInt64($0) } ?? 5

  private static func setting(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns the false statements about the whole recording.
  func falseStatements(_ comparison: Comparison, duration: Double) -> [String] {
    var statements: [String] = []
    var delay = 0.0
    var level = 0.0
    var isInverted = false
    for difference in comparison.differences where difference.isOverall {
      switch difference.kind {
      case .time: delay = difference.amount
      case .level: level = difference.amount
      case .polarity: isInverted = true
      case .noise where difference.unit == .fullScale: break
      case .tempo where abs(difference.amount / 100 - drift) * duration < 5e-4: break
      default: statements.append(difference.sentence)
      }
    }
    if abs(delay - self.delay) > 5e-4 {
      statements.append("delay \(delay)")
    }
    if abs(level - self.level) > 0.5 {
      statements.append("level \(level)")
    }
    if isInverted != self.isInverted {
      statements.append("polarity")
    }
    return statements
  }
}

extension Comparison {
  /// The sentences about single events.
  var eventSentences: [String] { differences.filter { !$0.isOverall }.map(\.sentence) }
}

/// A change of a pattern.
enum EventChange: CaseIterable {
  case missing, added, moved, level, sharpness

  /// The kind of difference that the change causes.
  var kind: Difference.Kind {
    switch self {
    case .missing: .missing
    case .added: .added
    case .moved: .time
    case .level: .level
    case .sharpness: .frequency
    }
  }

  /// Returns the pattern with one event changed and the time of that event, or nil if the change
  /// is ambiguous.
  func applied(to pattern: HapticPattern, using generator: inout LinearCongruentialGenerator) -> (
    HapticPattern, Double
  )? {
    var changed = pattern
    let hapticIndices = pattern.events.indices.filter { pattern.events[$0].kind.isHaptic }
    guard let index = hapticIndices.randomElement(using: &generator) else { return nil }
    let event = pattern.events[index]
    switch self {
    case .added:
      let time = Double.random(in: 0...pattern.durationSeconds + 0.2, using: &generator)
      // Simultaneous events sound like one.
      guard pattern.events.allSatisfy({ abs($0.time - time) > 0.03 }) else { return nil }
      changed.events.append(
        tap(time, intensity: 0.6, sharpness: Float.random(in: 0...1, using: &generator)))
      return (changed, time)
    case .missing:
      guard hapticIndices.count > 2 else { return nil }
      changed.events.remove(at: index)
      // In a sequence of equal events, a missing first event cannot be distinguished from a
      // missing last event.
      guard
        !hasEqualEvents(pattern) || (index != hapticIndices.first && index != hapticIndices.last)
      else {
        return nil
      }
    case .moved:
      guard hapticIndices.count > 2 else { return nil }
      let timeStep = event.time < 0.04 || Bool.random(using: &generator) ? 0.03 : -0.03
      changed.events[index].time += timeStep
    case .level:
      guard hapticIndices.count > 2 else { return nil }
      // The phone's amplitude is the square of intensity.
      let value = event.value(of: .hapticIntensity)
      let isAttenuated = value > 0.8 || Bool.random(using: &generator)
      changed.events[index].parameters[.hapticIntensity] =
        value * Float(pow(10, (isAttenuated ? -3.0 : 3) / 40))
    case .sharpness:
      let value = event.value(of: .hapticSharpness)
      changed.events[index].parameters[.hapticSharpness] = value < 0.5 ? value + 0.25 : value - 0.25
    }
    return (changed, event.time)
  }

  /// Returns whether the pattern is a sequence of equal events at equal intervals.
  private func hasEqualEvents(_ pattern: HapticPattern) -> Bool {
    let events = pattern.events.sorted { $0.time < $1.time }
    let intervals = zip(events, events.dropFirst()).map { $1.time - $0.time }
    return zip(events, events.dropFirst()).allSatisfy {
      $0.kind == $1.kind && $0.parameters == $1.parameters && $0.duration == $1.duration
    } && (intervals.max() ?? 0) - (intervals.min() ?? 0) < 1e-6
  }
}
