internal import CMath
import SignalAnalysis

/// A short response that all of a recording has in common, such as that of a room, a body or a microphone.
struct RecordingFilter: Equatable, Sendable {
  /// What one sample becomes, from `lead` samples before it on, at the low rate.
  private(set) var taps: [Float]

  /// Seconds that it reaches behind a sound, and samples before it.
  static let reach = 0.24
  private static let lead = 16
  /// How strong a tap is, and in which time it falls by e: close to the sound, and of a room of 0.4 s at 6 dB.
  private static let (direct, tail) = ((share: 0.5, seconds: 0.003), (share: 0.05, seconds: 0.06))
  /// What a fit leaves of an event at best, as a share of the power at the peak.
  private static let modelError = 5e-4
  private static let rounds = 60
  /// Of fewer events a filter explains a change of one.
  static let leastEvents = 3

  /// A sound behind it, for as many samples.
  func sound(of samples: [Float]) -> [Float] {
    let length = FourierTransform.fastLength(atLeast: samples.count + taps.count)
    var transform = FourierTransform(length: length)
    let own = transform.forward(taps)
    var bins = transform.forward(samples)
    for bin in bins.indices { bins[bin] = bins[bin] * own[bin] }
    return Array(transform.backward(bins)[Self.lead..<Self.lead + samples.count])
  }

  func followed(by other: Self) -> Self {
    let silence = [Float](repeating: 0, count: Self.lead)
    return Self(taps: Array(other.sound(of: silence + taps + silence)[Self.lead..<Self.lead + taps.count]))
  }

  /// The filter that explains most of what a fit leaves, by least squares with a tap's strength as its doubt.
  static func likeliest(_ fit: RecordingFit) -> Self? {
    let rate = fit.reference.rate
    let solution = fit.solve(isWhitened: false)
    var sound = [Float](repeating: 0, count: solution.cleaned.count)
    for column in solution.columns { column.add(to: &sound, times: solution.gain) }
    var left = solution.cleaned
    Samples.add(sound, times: -1, to: &left, at: 0)
    let count = lead + Int(reach * rate)
    let (peak, sigma) = (Double(SignalPair.peak(sound)), RecordingFit.sigma(left))
    let power = sigma * sigma + modelError * peak * peak
    guard solution.gain > 0, power > 0 else { return nil }
    let products = CrossCorrelation.of(sound, left, reach: count)[(count - lead)...].prefix(count)
    let own = CrossCorrelation.of(sound, sound, reach: count)[count...].prefix(count)
    let strengths = (0..<count).map { index -> Double in
      let time = Double(index - lead) / rate
      let near = direct.share * exp(-abs(time) / direct.seconds)
      let far = time > 0 ? tail.share * exp(-time / tail.seconds) : 0
      return (near * near + far * far).squareRoot()
    }
    // A circle in which lags before 0 stand at the end.
    let length = FourierTransform.fastLength(atLeast: 2 * count)
    var transform = FourierTransform(length: length)
    let circle = Array(own) + [Float](repeating: 0, count: length - 2 * count + 1) + own.dropFirst().reversed()
    let spectrum = transform.forward(circle)
    func applied(_ x: [Double]) -> [Double] {
      var bins = transform.forward(zip(x, strengths).map { Float($0 * $1) })
      for bin in bins.indices { bins[bin] = bins[bin] * spectrum[bin] }
      let output = transform.backward(bins)
      return x.indices.map { x[$0] + strengths[$0] * Double(output[$0]) / power }
    }
    func dot(_ a: [Double], _ b: [Double]) -> Double { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
    // Conjugate gradients.
    var x = [Double](repeating: 0, count: count)
    var rest = zip(products, strengths).map { Double($0) * $1 / power }
    var direction = rest
    var energy = dot(rest, rest)
    for _ in 0..<rounds where energy > 0 {
      let step = applied(direction)
      let share = energy / max(dot(direction, step), 1e-30)
      for index in x.indices {
        x[index] += share * direction[index]
        rest[index] -= share * step[index]
      }
      let next = dot(rest, rest)
      for index in x.indices { direction[index] = rest[index] + next / energy * direction[index] }
      energy = next
    }
    var taps = zip(x, strengths).map { Float($0 * $1) }
    taps[lead] += 1
    return Self(taps: taps)
  }
}

/// A gain that falls as a sound grows and comes back behind it, as that of a phone's microphone.
struct AutomaticGain: Equatable, Sendable {
  /// The share of the peak from which it acts, and the power of the level by which it falls from there.
  private var threshold = 0.2
  private var power = 0.7
  /// Seconds in which it follows a level that rises, and one that falls.
  private var attack = 0.06
  private var release = 0.6

  /// Samples of a block: 5 ms.
  static let block = 20
  /// What of the levels' scatter it may leave.
  private static let greatestLeft = 0.5

  /// The peak of each block of a sound, as a share of the greatest.
  static func envelope(of sound: [Float]) -> [Float] {
    let greatest = max(SignalPair.peak(sound), 1e-12)
    return stride(from: 0, to: sound.count, by: block).map {
      SignalPair.peak(sound[$0..<min(sound.count, $0 + block)]) / greatest
    }
  }

  /// The gain in each block of an envelope.
  func curve(of envelope: [Float], rate: Double) -> [Float] {
    let step = Double(Self.block) / rate
    let (rise, fall) = (1 - exp(-step / attack), 1 - exp(-step / release))
    var level = 1e-4
    return envelope.map { value in
      level += (Double(value) > level ? rise : fall) * (Double(value) - level)
      return Float(min(1, pow(threshold / level, power)))
    }
  }

  /// The gain that makes the levels of a fit's events most alike; nil where none does.
  static func likeliest(_ fit: RecordingFit) -> Self? {
    let (reference, rate) = (fit.reference, fit.reference.rate)
    guard reference.groups.count >= RecordingFilter.leastEvents, reference.gains.isEmpty else { return nil }
    let solution = fit.solve()
    let envelope = envelope(of: RecordingReference.sum(of: reference.stems, rate: rate))
    var events: [(level: Double, blocks: [(Int, Double)])] = []
    for (index, group) in reference.groups.enumerated() where solution.gains[index] > 0.05 * solution.gain {
      let stem = reference.stems[group[0]]
      let first = max(0, Int(stem.start * rate)) / block
      let energies = stride(from: 0, to: stem.samples.count, by: block).map {
        Samples.energy(stem.samples, $0..<min(stem.samples.count, $0 + block))
      }
      let sum = energies.reduce(1e-30, +)
      let blocks = energies.enumerated().filter { $0.1 > 0.01 * sum && first + $0.0 < envelope.count }.map {
        (first + $0.0, $0.1 / sum)
      }
      events.append((log(solution.gains[index]), blocks))
    }
    guard events.count >= RecordingFilter.leastEvents else { return nil }
    /// The sum of the deviations of the levels from what a gain makes of them, as logarithms.
    func scatter(_ law: Self?) -> Double {
      let curve = law?.curve(of: envelope, rate: rate)
      let levels = events.map { $0.level - log($0.blocks.reduce(1e-9) { $0 + $1.1 * Double(curve?[$1.0] ?? 1) }) }
      let usual = Samples.median(levels)
      let deviations = levels.map { abs($0 - usual) }
      // One event may have changed.
      return deviations.reduce(0, +) - (levels.count > RecordingFilter.leastEvents ? deviations.max() ?? 0 : 0)
    }
    var best = (scatter: Double.infinity, law: Self())
    func look(_ law: Self) {
      let scatter = scatter(law)
      if scatter < best.scatter { best = (scatter, law) }
    }
    for number in 0..<108 {
      look(
        Self(
          threshold: [0.1, 0.2, 0.4, 0.7][number % 4], power: [0.4, 0.7, 1][number / 4 % 3],
          attack: [0.02, 0.05, 0.12][number / 12 % 3], release: [0.2, 0.6, 1.5][number / 36]))
    }
    let paths = [\Self.threshold, \Self.power, \Self.attack, \Self.release]
    for number in 0..<24 {
      var law = best.law
      law[keyPath: paths[number / 2 % 4]] *= pow([1.4, 1.18, 1.09][number / 8], number % 2 == 0 ? 1 : -1)
      look(law)
    }
    return best.scatter < greatestLeft * scatter(nil) ? best.law : nil
  }
}
