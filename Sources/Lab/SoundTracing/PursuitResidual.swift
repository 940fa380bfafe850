internal import SignalAnalysis

/// The residual of a matching pursuit: samples in which bursts are searched, and from which they
/// are subtracted.
///
/// The energy that an atom explains at a position is the square of its projection. With free phase,
/// that of its quadrature is added. The samples are padded with silence, so that atoms may extend
/// beyond the ends.
struct PursuitResidual {
  let dictionary: AtomDictionary
  /// A Boolean value that indicates whether bursts must have the phase of the dictionary's atoms.
  let hasFixedPhase: Bool
  /// The residual with its padding.
  private(set) var samples: [Float]
  /// The number of samples of silence at each end.
  let padding: Int

  /// Creates a residual without subtracted bursts.
  ///
  /// - Parameters:
  ///   - signal: The samples to search.
  ///   - dictionary: The atoms.
  ///   - hasFixedPhase: Pass true for bursts with the phase of the atoms.
  init(_ signal: [Float], dictionary: AtomDictionary, hasFixedPhase: Bool) {
    self.dictionary = dictionary
    self.hasFixedPhase = hasFixedPhase
    padding = 2 * dictionary.maximumAtomLength + 32
    let silence = [Float](repeating: 0, count: padding)
    samples = silence + signal + silence
  }

  /// Creates a residual of free phase without bursts.
  ///
  /// - Parameters:
  ///   - signal: The samples.
  ///   - dictionary: The atoms.
  ///   - bursts: The bursts to subtract.
  init(_ signal: [Float], dictionary: AtomDictionary, subtracting bursts: [FoundBurst]) {
    self.init(signal, dictionary: dictionary, hasFixedPhase: false)
    for burst in bursts {
      add(burst.moved(by: padding), times: -1)
    }
  }

  /// The residual without its padding.
  var unpaddedSamples: [Float] { Array(samples[padding..<samples.count - padding]) }

  /// Returns the energy of a range of the unpadded samples.
  func energy(from start: Int, count: Int) -> Float {
    SampleMath.energy(of: samples, in: start + padding..<start + padding + count)
  }

  // MARK: - Search

  /// Returns the burst that explains the most energy.
  ///
  /// - Parameters:
  ///   - atoms: The indices of the atoms to consider.
  ///   - reach: The maximum distance of the start from its center.
  ///   - center: A function that returns the center of starts in `samples` for an atom's length.
  func bestBurst(
    atoms: StrideTo<Int>, within reach: Int, of center: (_ count: Int) -> Int
  ) -> FoundBurst {
    var best = FoundBurst(
      atomIndex: 0, start: 0, fractionalShift: 0, inPhase: 0, quadrature: 0, energy: -1)
    let matcher = Matcher(self)
    let lastStart = samples.count - dictionary.maximumAtomLength
    for atomIndex in atoms {
      let atom = dictionary.atoms[atomIndex]
      let atomCenter = center(atom.count)
      for start in max(0, atomCenter - reach)...min(lastStart, atomCenter + reach) {
        let (inPhase, quadrature) = matcher.projections(of: atom.sampleRange, at: start)
        let isOpposite = hasFixedPhase && inPhase < 0
        let energy = isOpposite ? 0 : inPhase * inPhase + quadrature * quadrature
        guard energy > best.energy else { continue }
        best = FoundBurst(
          atomIndex: atomIndex, start: start, fractionalShift: 0, inPhase: inPhase,
          quadrature: quadrature, energy: energy)
      }
    }
    return best
  }

  /// Returns the best burst among all atoms similar to that of a burst, near its position.
  func refined(_ burst: FoundBurst) -> FoundBurst {
    let center = burst.start + dictionary.atoms[burst.atomIndex].count / 2
    let first = max(0, burst.atomIndex - 4)
    let end = min(dictionary.atoms.count, burst.atomIndex + 5)
    return bestBurst(atoms: stride(from: first, to: end, by: 1), within: 2) { center - $0 / 2 }
  }

  /// Projections of the residual onto atoms.
  private struct Matcher: ~Escapable {
    private let samples: Span<Float>
    private let inPhase: Span<Float>
    private let quadrature: Span<Float>
    private let hasFixedPhase: Bool

    @_lifetime(borrow residual) init(_ residual: borrowing PursuitResidual) {
      samples = residual.samples.span
      inPhase = residual.dictionary.inPhaseSamples.span
      quadrature = residual.dictionary.quadratureSamples.span
      hasFixedPhase = residual.hasFixedPhase
    }

    /// Returns the projections onto an atom and, with free phase, onto its quadrature.
    ///
    /// - Parameters:
    ///   - range: The range of the atom among the dictionary's samples.
    ///   - start: The position of the atom.
    @inline(__always) func projections(of range: Range<Int>, at start: Int) -> (
      inPhase: Float, quadrature: Float
    ) {
      (
        Vector.dot(samples, from: start, inPhase.extracting(range)),
        hasFixedPhase ? 0 : Vector.dot(samples, from: start, quadrature.extracting(range))
      )
    }
  }

  // MARK: - Subtraction

  /// Subtracts a burst whose start is a position in `samples`.
  ///
  /// - Returns: The burst with its fractional shift, and its start as a position in the unpadded
  ///   samples.
  mutating func subtract(_ burst: FoundBurst) -> FoundBurst {
    var burst = burst
    let lastStart = samples.count - dictionary.maximumAtomLength
    let atoms = stride(from: burst.atomIndex, to: burst.atomIndex + 1, by: 1)
    let neighbors = [-1, 1].map { offset in
      bestBurst(atoms: atoms, within: 0) { _ in
        min(lastStart, max(0, burst.start + offset))
      }.energy
    }
    burst.fractionalShift = SampleMath.parabolicPeakOffset(
      neighbors[0], burst.energy, neighbors[1])
    add(burst, times: -1)
    burst.start -= padding
    return burst
  }

  /// Fits a subtracted burst again near its position, with all others subtracted.
  mutating func refit(_ burst: FoundBurst) -> FoundBurst {
    restore(burst)
    let center = burst.start + padding
    let coarse = bestBurst(atoms: dictionary.coarseIndices, within: 8) { _ in center }
    return subtract(refined(coarse))
  }

  /// Adds a burst that was subtracted, whose start is a position in the unpadded samples.
  mutating func restore(_ burst: FoundBurst) { add(burst.moved(by: padding), times: 1) }

  private mutating func add(_ burst: FoundBurst, times sign: Float) {
    let range = dictionary.atoms[burst.atomIndex].sampleRange
    for index in range {
      let position = burst.start + index - range.lowerBound
      guard samples.indices.contains(position) else { continue }
      let inPhase = burst.inPhase * dictionary.inPhaseSamples[index]
      let quadrature = burst.quadrature * dictionary.quadratureSamples[index]
      samples[position] += sign * (inPhase + quadrature)
    }
  }
}
