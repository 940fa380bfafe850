internal import CMath
internal import SignalAnalysis

/// The joint least-squares fit of tones and bursts to a signal.
///
/// The unknowns are complex gains of each tone at knots, between which they are linear, and both
/// amplitudes of each burst. In the order of time, the normal matrix is banded.
struct LayeredFit {
  let dictionary: AtomDictionary
  let sampleRate: Double

  /// The interval between the knots of a tone, in seconds.
  static let knotIntervalSeconds = 0.04
  /// The regularization toward the current values, relative to the normal matrix's diagonal.
  private static let relativeRegularization = 1e-3

  /// A column of the design matrix: a waveform and the unknown that scales it.
  private struct Column {
    let startSample: Int
    let samples: [Float]
    let scalingUnknown: FitUnknown
  }

  /// An unknown of the least-squares problem.
  private enum FitUnknown {
    /// The real or the imaginary part of the gain of a tone at a knot.
    case gain(tone: Int, knot: Int, isImaginary: Bool)
    /// The in-phase or the quadrature amplitude of a burst.
    case amplitude(burst: Int, isQuadrature: Bool)
  }

  /// Refines the gains of tones and the amplitudes of bursts together.
  func refine(
    _ tones: inout [TonePath], _ bursts: inout [FoundBurst], in signal: [Float]
  ) {
    let signalResidual = residual(of: tones, bursts, in: signal)
    let modelColumns = columns(tones, bursts, sampleCount: signal.count)
    guard !modelColumns.isEmpty else { return }
    var normalMatrix = SkylineMatrix()
    let maximumColumnLength = modelColumns.reduce(0) { max($0, $1.samples.count) }
    var firstNearbyColumn = 0
    for (row, column) in modelColumns.enumerated() {
      while modelColumns[firstNearbyColumn].startSample + maximumColumnLength <= column.startSample
      {
        firstNearbyColumn += 1
      }
      let first =
        (firstNearbyColumn..<row).first { Self.columnsOverlap(modelColumns[$0], column) } ?? row
      normalMatrix.appendRow(
        (first...row).map { Self.columnProduct(modelColumns[$0], column) }, startingAt: first)
    }
    normalMatrix.factorize(regularization: Self.relativeRegularization)
    let columnChanges = normalMatrix.solution(
      of: modelColumns.map { column in
        Vector.dot(
          signalResidual, from: column.startSample, column.samples, from: 0,
          count: column.samples.count)
      })
    applyChanges(columnChanges, of: modelColumns, to: &tones, &bursts)
  }

  /// Returns the samples of a signal that tones and bursts do not explain.
  func residual(of tones: [TonePath], _ bursts: [FoundBurst], in signal: [Float]) -> [Float] {
    var remainingSamples = PursuitResidual(signal, dictionary: dictionary, subtracting: bursts)
      .unpaddedSamples
    for tone in tones {
      tone.add(to: &remainingSamples, times: -1)
    }
    return remainingSamples
  }

  // MARK: - Equations

  private func columns(
    _ tones: [TonePath], _ bursts: [FoundBurst], sampleCount: Int
  ) -> [Column] {
    var columns: [Column] = []
    for (index, tone) in tones.enumerated() where !tone.soundingSamples.isEmpty {
      appendColumns(of: tone, index, to: &columns)
    }
    for (index, burst) in bursts.enumerated() {
      let atom = dictionary.atoms[burst.atomIndex]
      let range = (burst.startSample..<burst.startSample + atom.sampleCount).clamped(
        to: 0..<sampleCount)
      guard !range.isEmpty else { continue }
      let first = atom.sampleRange.lowerBound + range.lowerBound - burst.startSample
      let samples = first..<first + range.count
      columns.append(
        Column(
          startSample: range.lowerBound, samples: Array(dictionary.inPhaseSamples[samples]),
          scalingUnknown: .amplitude(burst: index, isQuadrature: false)))
      columns.append(
        Column(
          startSample: range.lowerBound, samples: Array(dictionary.quadratureSamples[samples]),
          scalingUnknown: .amplitude(burst: index, isQuadrature: true)))
    }
    return columns.sorted { $0.startSample < $1.startSample }
  }

  /// Returns the positions of a tone's knots, in samples.
  private func gainKnots(of tone: TonePath) -> [Double] {
    let intervalCount = max(
      1,
      Int((Double(tone.soundingSamples.count) / (Self.knotIntervalSeconds * sampleRate)).rounded()))
    let intervalSamples = Double(tone.soundingSamples.count - 1) / Double(intervalCount)
    return (0...intervalCount).map {
      Double(tone.soundingSamples.lowerBound) + intervalSamples * Double($0)
    }
  }

  private func appendColumns(of tone: TonePath, _ index: Int, to columns: inout [Column]) {
    let knotPositions = gainKnots(of: tone)
    let knotIntervalSamples = max(1, knotPositions[1] - knotPositions[0])
    for (knot, center) in knotPositions.enumerated() {
      let first = max(
        tone.soundingSamples.lowerBound, Int((center - knotIntervalSamples).rounded(.up)))
      let end = min(tone.soundingSamples.upperBound, Int(center + knotIntervalSamples) + 1)
      guard first < end else { continue }
      let weights = (first..<end).map { max(0, 1 - abs(Double($0) - center) / knotIntervalSamples) }
      for isImaginary in [false, true] {
        let samples = zip(first..<end, weights).map { position, weight -> Float in
          let phase = tone.phase(at: position)
          let part = isImaginary ? -sin(phase) : cos(phase)
          return Float(weight * tone.level(at: position) * part)
        }
        columns.append(
          Column(
            startSample: first, samples: samples,
            scalingUnknown: .gain(tone: index, knot: knot, isImaginary: isImaginary)))
      }
    }
  }

  private static func columnsOverlap(_ first: Column, _ second: Column) -> Bool {
    first.startSample < second.startSample + second.samples.count
      && second.startSample < first.startSample + first.samples.count
  }

  private static func columnProduct(_ first: Column, _ second: Column) -> Double {
    let overlapStartSample = max(first.startSample, second.startSample)
    let overlapEndSample = min(
      first.startSample + first.samples.count, second.startSample + second.samples.count)
    guard overlapStartSample < overlapEndSample else { return 0 }
    return Vector.dot(
      first.samples, from: overlapStartSample - first.startSample, second.samples,
      from: overlapStartSample - second.startSample,
      count: overlapEndSample - overlapStartSample)
  }

  // MARK: - Solution

  private func applyChanges(
    _ changes: [Double], of columns: [Column], to tones: inout [TonePath],
    _ bursts: inout [FoundBurst]
  ) {
    var realGains = tones.map { tone in
      [Double](repeating: 1, count: tone.soundingSamples.isEmpty ? 0 : gainKnots(of: tone).count)
    }
    var imaginaryGains = realGains.map { [Double](repeating: 0, count: $0.count) }
    for (column, change) in zip(columns, changes) {
      switch column.scalingUnknown {
      case .gain(let tone, let knot, isImaginary: false):
        realGains[tone][knot] += change
      case .gain(let tone, let knot, isImaginary: true):
        imaginaryGains[tone][knot] += change
      case .amplitude(let burst, isQuadrature: false):
        bursts[burst].inPhaseAmplitude += Float(change)
      case .amplitude(let burst, isQuadrature: true):
        bursts[burst].quadratureAmplitude += Float(change)
      }
    }
    for index in bursts.indices {
      let burst = bursts[index]
      bursts[index].explainedEnergy =
        burst.inPhaseAmplitude * burst.inPhaseAmplitude + burst.quadratureAmplitude
        * burst.quadratureAmplitude
    }
    for index in tones.indices where !tones[index].soundingSamples.isEmpty {
      let knots = gainKnots(of: tones[index])
      tones[index].multiply(
        by: Self.interpolatedGains(
          in: tones[index].soundingSamples, knots: knots, real: realGains[index],
          imaginary: imaginaryGains[index]))
    }
  }

  /// Returns the interpolated gain at each sample of a tone.
  private static func interpolatedGains(
    in span: Range<Int>, knots: [Double], real: [Double], imaginary: [Double]
  ) -> [TonePath.Gain] {
    let knotIntervalSamples = max(1, knots[1] - knots[0])
    var previousAngle = 0.0
    return span.map { position in
      let offset = min((Double(position) - knots[0]) / knotIntervalSamples, Double(knots.count - 1))
      let knot = min(Int(offset), knots.count - 2)
      let fraction = offset - Double(knot)
      let realGain = real[knot] * (1 - fraction) + real[knot + 1] * fraction
      let imaginaryGain = imaginary[knot] * (1 - fraction) + imaginary[knot + 1] * fraction
      let magnitude = (realGain * realGain + imaginaryGain * imaginaryGain).squareRoot()
      var angle = atan2(imaginaryGain, realGain)
      angle -= ((angle - previousAngle) / (2 * .pi)).rounded() * 2 * .pi
      previousAngle = angle
      return TonePath.Gain(magnitude: magnitude, angle: angle)
    }
  }
}
