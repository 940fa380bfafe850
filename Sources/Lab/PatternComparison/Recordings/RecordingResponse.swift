internal import CMath
import SignalAnalysis

/// What all sounds of a recording went through, as a linear response of a kind whose coefficients
/// are not known.
///
/// They have a normal prior about none and are integrated out: no response is chosen, and none is
/// fitted to a change.
struct RecordingResponse: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// 16 ms of any shape, as of a microphone or a loudspeaker.
    case filter
    /// One or two rings of any phase beside 8 ms of any shape, as of a transducer.
    case resonance([Mode])
    /// Reflections that fall by e in some seconds, beside 8 ms of any shape that they are a share
    /// of.
    case room(decaySeconds: Double, reflectionGain: Double)
    /// 44 ms of any shape: all that finds a place.
    case unconstrained
  }

  struct Mode: Equatable, Sendable {
    var hertz: Double
    var quality: Double

    /// Hertz and qualities that are tried first, and the steps around the best, as logarithms.
    static let grid = (0..<15).flatMap { number in
      [1.2, 3, 6, 12, 24].map { Mode(hertz: 25 * pow(16, Double(number) / 14), quality: $0) }
    }
    static let refinementSteps = (hertz: 0.12, quality: 0.4)
  }

  var kind: Kind
  /// The variance of the strongest coefficient, in multiples of the noise's.
  var priorScale: Double

  /// Seconds of a response before what it answers, since what that is late by is not known.
  private static let leadSeconds = 0.004
  /// A ring is left out when it has fallen by 60 dB.
  private static let ringingDecay = log(1_000.0)

  /// Values that were chosen, not integrated out: each costs half the logarithm of the number of
  /// samples.
  var parameterCount: Double {
    switch kind {
    case .filter, .unconstrained: 2
    case .room: 3
    case .resonance(let modes): 2 + 2 * Double(modes.count)
    }
  }

  /// The first lag of its taps, in samples, and the variance of each; those of a ring's two
  /// coefficients are the scale.
  private func tapPrior(rate: Double) -> (first: Int, variances: [Double]) {
    func taps(_ lead: Double, _ length: Double, _ variance: (Double) -> Double) -> (Int, [Double]) {
      let first = -Int(lead * rate)
      return (first, (first..<Int(length * rate)).map { priorScale * variance(Double($0) / rate) })
    }
    func peak(_ time: Double, _ before: Double, _ behind: Double) -> Double {
      exp(2 * (time < 0 ? time / before : -time / behind))
    }
    return switch kind {
    case .filter:
      taps(Self.leadSeconds, 0.012) { peak($0, 0.001_5, 0.003) }
    case .resonance:
      taps(Self.leadSeconds / 2, 0.006) { peak($0, 0.001, 0.002) }
    case .unconstrained:
      taps(Self.leadSeconds, 0.04) { peak($0, 0.002, 0.02) }
    case .room(let seconds, let share):
      taps(Self.leadSeconds, 3 * seconds) {
        peak($0, 0.001, 0.002) + share * share * peak($0, 0.001_5, seconds)
      }
    }
  }

  struct OffsetSignal {
    var start = 0
    var samples: [Double] = []

    func add(to sum: inout [Double], times factor: Double = 1) {
      Samples.add(samples, times: factor, to: &sum, at: start)
    }

    func filtered(by taps: [Double]) -> OffsetSignal {
      guard !samples.isEmpty else { return self }
      var output = [Double](repeating: 0, count: samples.count + taps.count - 1)
      for (place, tap) in taps.enumerated() {
        Samples.add(samples, times: tap, to: &output, at: place)
      }
      return OffsetSignal(start: start, samples: output)
    }
  }

  private var modes: [Mode] {
    if case .resonance(let modes) = kind {
      modes
    } else {
      []
    }
  }

  /// A cosine and a sine of a sound that ring as each resonance does.
  private func resonatorOutputs(of x: [Double], rate: Double) -> [[Double]] {
    modes.flatMap { mode -> [[Double]] in
      let radius = exp(-.pi * mode.hertz / mode.quality / rate)
      let angle = 2 * .pi * mode.hertz / rate
      let real = radius * cos(angle)
      let imaginary = radius * sin(angle)
      var rings = [x, x]
      var c = 0.0
      var s = 0.0
      for index in x.indices {
        (c, s) = (real * c - imaginary * s + x[index], real * s + imaginary * c)
        rings[0][index] = c
        rings[1][index] = s
      }
      return rings
    }
  }

  func output(for part: OffsetSignal, coefficients: [Double], rate: Double, count: Int)
    -> OffsetSignal
  {
    let (first, variances) = tapPrior(rate: rate)
    var output = part.filtered(by: Array(coefficients.prefix(variances.count)))
    output.start += first
    let ring = modes.map { $0.quality / $0.hertz }.max() ?? 0
    guard ring > 0, !part.samples.isEmpty else { return output }
    let tail = Int(Self.ringingDecay * ring / .pi * rate)
    let length = min(part.samples.count + tail, count - part.start)
    guard length > 0 else { return output }
    let silence = [Double](repeating: 0, count: max(0, length - part.samples.count))
    let sound = Array(part.samples.prefix(length)) + silence
    output.samples += [Double](repeating: 0, count: max(0, length - first - output.samples.count))
    for (ring, coefficient) in zip(
      resonatorOutputs(of: sound, rate: rate), coefficients.dropFirst(variances.count))
    {
      Samples.add(ring, times: coefficient, to: &output.samples, at: -first)
    }
    return output
  }

  struct Fit {
    /// The logarithm of the probability density of the recording, but for a constant.
    var evidence: Double
    var coefficients: [Double]
    var residualEnergy: Double
  }

  struct Regression {
    private let response: RecordingResponse
    private let input: [Double]
    private let resonatorOutputs: [[Double]]
    let lags: Range<Int>
    private let priorDeviations: [Double]
    private var matrix = SkylineMatrix()

    init(_ response: RecordingResponse, of x: [Double], rate: Double) {
      self.response = response
      self.input = x
      let (first, variances) = response.tapPrior(rate: rate)
      lags = first..<first + variances.count
      resonatorOutputs = response.resonatorOutputs(of: x, rate: rate)
      priorDeviations = (variances + resonatorOutputs.map { _ in response.priorScale }).map {
        $0.squareRoot()
      }
      let own = Samples.crossCorrelation(x, x, lags: 0..<lags.count)
      for row in lags.indices.map({ $0 - first }) {
        append((0...row).map { own[row - $0] }, to: row)
      }
      for (number, ring) in resonatorOutputs.enumerated() {
        let products =
          Samples.crossCorrelation(x, ring, lags: lags)
          + resonatorOutputs[...number].map { Samples.dot(ring, $0) }
        append(products, to: lags.count + number)
      }
      matrix.factorize(regularization: 0)
    }

    private mutating func append(_ products: [Double], to row: Int) {
      var values = products.indices.map {
        priorDeviations[row] * products[$0] * priorDeviations[$0]
      }
      values[row] += 1
      matrix.append(values, from: 0)
    }

    func explainedEnergy(_ products: [Double]) -> Double {
      Samples.energy(matrix.forwardSubstitution(of: zip(products, priorDeviations).map { $0 * $1 }))
    }

    func fit(_ y: [Double]) -> Fit {
      let products =
        Samples.crossCorrelation(input, y, lags: lags) + resonatorOutputs.map { Samples.dot($0, y) }
      let right = zip(products, priorDeviations).map { $0 * $1 }
      let solution = matrix.solution(of: right)
      let energy = Samples.energy(y)
      let left = max(1e-12 * energy, energy - Samples.dot(right, solution), 1e-300)
      let count = Double(y.count)
      let evidence =
        -count / 2 * log(left / count) - matrix.logDeterminantRoot - response.parameterCount / 2
        * log(count)
      return Fit(
        evidence: evidence, coefficients: zip(solution, priorDeviations).map { $0 * $1 },
        residualEnergy: left)
    }
  }

  func fit(_ x: [Double], to y: [Double], rate: Double) -> Fit {
    Regression(self, of: x, rate: rate).fit(y)
  }

  typealias MostProbable = (response: RecordingResponse, fit: Fit)

  /// The scale is a coefficient's square over the noise's power; the noise is what the fit leaves.
  private func fittingScale(_ x: [Double], to y: [Double], rate: Double, rounds: Int)
    -> MostProbable
  {
    var response = self
    let least = 0.1 * Samples.energy(y) / max(1e-30, Samples.energy(x))
    for _ in 0..<rounds {
      let fit = response.fit(x, to: y, rate: rate)
      let strongest = fit.coefficients.map { $0 * $0 }.max() ?? 0
      response.priorScale = max(strongest, least) / (fit.residualEnergy / Double(y.count))
    }
    return (response, response.fit(x, to: y, rate: rate))
  }

  /// The likeliest of the kind of a response; of resonances those near it, or of all where it has
  /// no scale yet.
  func mostProbable(for x: [Double], recorded y: [Double], rate: Double) -> MostProbable {
    let xx = Samples.energy(x)
    let yy = Samples.energy(y)
    var start = self
    let isNew = priorScale == 0
    // A hundredth of the recording is noise.
    if isNew {
      start.priorScale = 100 * Double(y.count) / max(1e-30, xx) * (yy > 0 ? 1 : 0)
    }
    func best(_ kinds: [Kind], rounds: Int = 0) -> MostProbable {
      let all = kinds.map {
        RecordingResponse(kind: $0, priorScale: start.priorScale).fittingScale(
          x, to: y, rate: rate, rounds: rounds)
      }
      return all.max { $0.fit.evidence < $1.fit.evidence } ?? (
        start, start.fit(x, to: y, rate: rate)
      )
    }
    switch kind {
    case .filter, .unconstrained:
      return start.fittingScale(x, to: y, rate: rate, rounds: isNew ? 3 : 1)
    case .room:
      guard isNew else { return start.fittingScale(x, to: y, rate: rate, rounds: 1) }
      return best(
        [0.02, 0.06].flatMap { seconds in
          [0.3, 0.1, 0.03].map { .room(decaySeconds: seconds, reflectionGain: $0) }
        }, rounds: 1)
    case .resonance:
      let steps = (hertz: Mode.refinementSteps.hertz / 4, quality: Mode.refinementSteps.quality / 2)
      guard isNew else { return start.refiningModes(x, to: y, rate: rate, steps: steps) }
      start = best(Mode.grid.map { .resonance([$0]) }).response
      let one = start.fittingScale(x, to: y, rate: rate, rounds: 2).response.refiningModes(
        x, to: y, rate: rate, steps: Mode.refinementSteps)
      start = one.response
      let two = best(Mode.grid.map { .resonance(start.modes + [$0]) })
      guard
        two.fit.evidence > one.fit.evidence
          + RecordingModelSelection.RecordingModel.minimumEvidenceGain
      else {
        return one
      }
      return two.response.refiningModes(x, to: y, rate: rate, steps: Mode.refinementSteps)
    }
  }

  private func refiningModes(
    _ x: [Double], to y: [Double], rate: Double, steps: (hertz: Double, quality: Double)
  )
    -> MostProbable
  {
    var found: MostProbable = (self, fit(x, to: y, rate: rate))
    var steps: (hertz: Double, quality: Double) = steps
    for _ in 0..<9 {
      let moves = modes.indices.flatMap { index -> [(Int, Double, Double)] in
        [
          (index, steps.hertz, 0), (index, -steps.hertz, 0), (index, 0, steps.quality),
          (index, 0, -steps.quality),
        ]
      }
      let better = moves.lazy.map { index, turn, factor -> MostProbable in
        var other = found.response
        var modes = found.response.modes
        modes[index].hertz *= exp(turn)
        modes[index].quality *= exp(factor)
        other.kind = .resonance(modes)
        return (other, other.fit(x, to: y, rate: rate))
      }.first { $0.fit.evidence > found.fit.evidence }
      if let better {
        found = better
      } else {
        steps = (steps.hertz / 2, steps.quality / 2)
      }
    }
    return found.response.fittingScale(x, to: y, rate: rate, rounds: 1)
  }
}
