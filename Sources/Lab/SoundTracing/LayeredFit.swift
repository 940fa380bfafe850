internal import CMath
internal import SignalAnalysis

/// The joint least-squares fit of tones and bursts to a signal.
///
/// The unknowns are complex gains of each tone at knots, between which they are linear, and both
/// amplitudes of each burst. In the order of time, the normal matrix is banded.
struct LayeredFit {
  let dictionary: AtomDictionary
  let rate: Double

  /// The interval between the knots of a tone, in seconds.
  private static let knotInterval = 0.04
  /// The weight of the deviation from the current values, relative to the diagonal.
  private static let regularization = 1e-3

  /// A column of the equations: a waveform and the unknown that scales it.
  private struct Column {
    let start: Int
    let samples: [Float]
    let unknown: Unknown
  }

  /// An unknown of the equations.
  private enum Unknown {
    /// The real or the imaginary part of the gain of a tone at a knot.
    case gain(tone: Int, knot: Int, isImaginary: Bool)
    /// An amplitude of a burst.
    case amplitude(burst: Int, isQuadrature: Bool)
  }

  /// Refines tones and bursts.
  func refine(
    _ tones: inout [TonePath], _ bursts: inout [FoundBurst], in signal: [Float]
  ) {
    let residual = residual(of: tones, bursts, in: signal)
    let columns = columns(tones, bursts, sampleCount: signal.count)
    guard !columns.isEmpty else { return }
    var matrix = SkylineMatrix()
    let maximumLength = columns.reduce(0) { max($0, $1.samples.count) }
    var firstNear = 0
    for (row, column) in columns.enumerated() {
      while columns[firstNear].start + maximumLength <= column.start {
        firstNear += 1
      }
      let first = (firstNear..<row).first { Self.overlap(columns[$0], column) } ?? row
      matrix.appendRow((first...row).map { Self.product(columns[$0], column) }, startingAt: first)
    }
    matrix.factorize(regularization: Self.regularization)
    let changes = matrix.solution(
      of: columns.map { column in
        Vector.dot(
          residual, from: column.start, column.samples, from: 0, count: column.samples.count)
      })
    apply(changes, of: columns, to: &tones, &bursts)
  }

  /// Returns a signal without tones and bursts.
  private func residual(
    of tones: [TonePath], _ bursts: [FoundBurst], in signal: [Float]
  ) -> [Float] {
    var residual = PursuitResidual(signal, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    for tone in tones {
      tone.add(to: &residual, times: -1)
    }
    return residual
  }

  // MARK: - Equations

  private func columns(
    _ tones: [TonePath], _ bursts: [FoundBurst], sampleCount: Int
  ) -> [Column] {
    var columns: [Column] = []
    for (index, tone) in tones.enumerated() where !tone.span.isEmpty {
      appendColumns(of: tone, index, to: &columns)
    }
    for (index, burst) in bursts.enumerated() {
      let atom = dictionary.atoms[burst.atomIndex]
      let range = (burst.start..<burst.start + atom.count).clamped(to: 0..<sampleCount)
      guard !range.isEmpty else { continue }
      let first = atom.sampleRange.lowerBound + range.lowerBound - burst.start
      let samples = first..<first + range.count
      columns.append(
        Column(
          start: range.lowerBound, samples: Array(dictionary.inPhaseSamples[samples]),
          unknown: .amplitude(burst: index, isQuadrature: false)))
      columns.append(
        Column(
          start: range.lowerBound, samples: Array(dictionary.quadratureSamples[samples]),
          unknown: .amplitude(burst: index, isQuadrature: true)))
    }
    return columns.sorted { $0.start < $1.start }
  }

  /// Returns the positions of the knots of a tone.
  private func knots(of tone: TonePath) -> [Double] {
    let count = max(1, Int((Double(tone.span.count) / (Self.knotInterval * rate)).rounded()))
    let interval = Double(tone.span.count - 1) / Double(count)
    return (0...count).map { Double(tone.span.lowerBound) + interval * Double($0) }
  }

  private func appendColumns(of tone: TonePath, _ index: Int, to columns: inout [Column]) {
    let knots = knots(of: tone)
    let interval = max(1, knots[1] - knots[0])
    for (knot, center) in knots.enumerated() {
      let first = max(tone.span.lowerBound, Int((center - interval).rounded(.up)))
      let end = min(tone.span.upperBound, Int(center + interval) + 1)
      guard first < end else { continue }
      let weights = (first..<end).map { max(0, 1 - abs(Double($0) - center) / interval) }
      for isImaginary in [false, true] {
        let samples = zip(first..<end, weights).map { position, weight -> Float in
          let phase = tone.phase(at: position)
          let part = isImaginary ? -sin(phase) : cos(phase)
          return Float(weight * tone.level(at: position) * part)
        }
        columns.append(
          Column(
            start: first, samples: samples,
            unknown: .gain(tone: index, knot: knot, isImaginary: isImaginary)))
      }
    }
  }

  private static func overlap(_ first: Column, _ second: Column) -> Bool {
    first.start < second.start + second.samples.count
      && second.start < first.start + first.samples.count
  }

  private static func product(_ first: Column, _ second: Column) -> Double {
    let start = max(first.start, second.start)
    let end = min(first.start + first.samples.count, second.start + second.samples.count)
    guard start < end else { return 0 }
    return Vector.dot(
      first.samples, from: start - first.start, second.samples, from: start - second.start,
      count: end - start)
  }

  // MARK: - Solution

  private func apply(
    _ changes: [Double], of columns: [Column], to tones: inout [TonePath],
    _ bursts: inout [FoundBurst]
  ) {
    var realGains = tones.map { tone in
      [Double](repeating: 1, count: tone.span.isEmpty ? 0 : knots(of: tone).count)
    }
    var imaginaryGains = realGains.map { [Double](repeating: 0, count: $0.count) }
    for (column, change) in zip(columns, changes) {
      switch column.unknown {
      case .gain(let tone, let knot, isImaginary: false):
        realGains[tone][knot] += change
      case .gain(let tone, let knot, isImaginary: true):
        imaginaryGains[tone][knot] += change
      case .amplitude(let burst, isQuadrature: false):
        bursts[burst].inPhase += Float(change)
      case .amplitude(let burst, isQuadrature: true):
        bursts[burst].quadrature += Float(change)
      }
    }
    for index in bursts.indices {
      let burst = bursts[index]
      bursts[index].energy = burst.inPhase * burst.inPhase + burst.quadrature * burst.quadrature
    }
    for index in tones.indices where !tones[index].span.isEmpty {
      let knots = knots(of: tones[index])
      tones[index].multiply(
        by: Self.gains(
          in: tones[index].span, knots: knots, real: realGains[index],
          imaginary: imaginaryGains[index]))
    }
  }

  /// Returns the interpolated gains of a tone as magnitudes and angles without jumps.
  private static func gains(
    in span: Range<Int>, knots: [Double], real: [Double], imaginary: [Double]
  ) -> [(magnitude: Double, angle: Double)] {
    let interval = max(1, knots[1] - knots[0])
    var previousAngle = 0.0
    return span.map { position in
      let offset = min((Double(position) - knots[0]) / interval, Double(knots.count - 1))
      let knot = min(Int(offset), knots.count - 2)
      let fraction = offset - Double(knot)
      let realGain = real[knot] * (1 - fraction) + real[knot + 1] * fraction
      let imaginaryGain = imaginary[knot] * (1 - fraction) + imaginary[knot + 1] * fraction
      let magnitude = (realGain * realGain + imaginaryGain * imaginaryGain).squareRoot()
      var angle = atan2(imaginaryGain, realGain)
      angle -= ((angle - previousAngle) / (2 * .pi)).rounded() * 2 * .pi
      previousAngle = angle
      return (magnitude, angle)
    }
  }
}
