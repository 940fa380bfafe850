internal import SignalAnalysis

/// The residual of a matching pursuit.
///
/// It contains the samples to search for bursts. Found bursts are subtracted from it.
///
/// The energy that an atom explains at a position is the square of its projection. With free phase,
/// that of its quadrature is added. The samples are padded with silence, so that atoms may extend
/// beyond the ends.
struct PursuitResidual {
  let dictionary: AtomDictionary
  /// A Boolean value that indicates whether bursts must have the phase of the dictionary's atoms.
  let hasFixedPhase: Bool
  /// The samples of the residual, including the padding at both ends.
  private(set) var paddedSamples: [Float]
  /// The number of samples of silence at each end.
  let paddingSampleCount: Int

  /// Creates a residual without subtracted bursts.
  ///
  /// - Parameters:
  ///   - signal: The samples to search.
  ///   - dictionary: The atoms.
  ///   - hasFixedPhase: Pass true for bursts with the phase of the atoms.
  init(_ signal: [Float], dictionary: AtomDictionary, hasFixedPhase: Bool) {
    self.dictionary = dictionary
    self.hasFixedPhase = hasFixedPhase
    paddingSampleCount = 2 * dictionary.maximumAtomSampleCount + 32
    let paddingSilence = [Float](repeating: 0, count: paddingSampleCount)
    paddedSamples = paddingSilence + signal + paddingSilence
  }

  /// Creates a residual by subtracting bursts, which may have any phase, from a signal.
  ///
  /// - Parameters:
  ///   - signal: The samples.
  ///   - dictionary: The atoms.
  ///   - bursts: The bursts to subtract.
  init(_ signal: [Float], dictionary: AtomDictionary, subtracting bursts: [FoundBurst]) {
    self.init(signal, dictionary: dictionary, hasFixedPhase: false)
    for burst in bursts {
      add(burst.delayed(bySamples: paddingSampleCount), times: -1)
    }
  }

  /// The samples of the residual without the padding.
  var unpaddedSamples: [Float] {
    Array(paddedSamples[paddingSampleCount..<paddedSamples.count - paddingSampleCount])
  }

  /// Returns the energy of a range of the unpadded samples.
  func energy(from start: Int, count: Int) -> Float {
    SampleMath.energy(
      of: paddedSamples, in: start + paddingSampleCount..<start + paddingSampleCount + count)
  }

  // MARK: - Search

  /// Returns the burst that explains the most energy.
  ///
  /// - Parameters:
  ///   - atoms: The indices of the atoms to consider.
  ///   - reach: The maximum distance of the start from its center.
  ///   - center: A function that returns the center of starts in `paddedSamples` for an atom's
  ///     length.
  func bestBurst(
    atoms: StrideTo<Int>, within reach: Int, of center: (_ count: Int) -> Int
  ) -> FoundBurst {
    var bestMatch = FoundBurst(
      atomIndex: 0, startSample: 0, fractionalSampleDelay: 0, inPhaseAmplitude: 0,
      quadratureAmplitude: 0, explainedEnergy: -1)
    let matcher = Matcher(self)
    let lastStartSample = paddedSamples.count - dictionary.maximumAtomSampleCount
    for atomIndex in atoms {
      let atom = dictionary.atoms[atomIndex]
      let atomCenter = center(atom.sampleCount)
      let startSamples = (atomCenter - reach...atomCenter + reach).clamped(to: 0...lastStartSample)
      for start in startSamples {
        let (inPhase, quadrature) = matcher.projections(of: atom.sampleRange, at: start)
        let isOpposite = hasFixedPhase && inPhase < 0
        let energy = isOpposite ? 0 : inPhase * inPhase + quadrature * quadrature
        guard energy > bestMatch.explainedEnergy else { continue }
        bestMatch = FoundBurst(
          atomIndex: atomIndex, startSample: start, fractionalSampleDelay: 0,
          inPhaseAmplitude: inPhase,
          quadratureAmplitude: quadrature, explainedEnergy: energy)
      }
    }
    return bestMatch
  }

  /// Refines a burst by searching all similar atoms at nearby positions.
  func refined(_ burst: FoundBurst) -> FoundBurst {
    let burstCenterSample = burst.startSample + dictionary.atoms[burst.atomIndex].sampleCount / 2
    let firstAtomIndex = max(0, burst.atomIndex - 4)
    let endAtomIndex = min(dictionary.atoms.count, burst.atomIndex + 5)
    return bestBurst(atoms: stride(from: firstAtomIndex, to: endAtomIndex, by: 1), within: 2) {
      burstCenterSample - $0 / 2
    }
  }

  /// Computes projections of the residual onto atoms.
  private struct Matcher: ~Escapable {
    private let residualSamples: Span<Float>
    private let inPhaseAtomSamples: Span<Float>
    private let quadratureAtomSamples: Span<Float>
    private let hasFixedPhase: Bool

    @_lifetime(borrow residual) init(_ residual: borrowing PursuitResidual) {
      residualSamples = residual.paddedSamples.span
      inPhaseAtomSamples = residual.dictionary.inPhaseSamples.span
      quadratureAtomSamples = residual.dictionary.quadratureSamples.span
      hasFixedPhase = residual.hasFixedPhase
    }

    /// Returns the projections onto an atom and onto its quadrature.
    ///
    /// The projection onto the quadrature is 0 if the phase is fixed.
    ///
    /// - Parameters:
    ///   - range: The range of the atom among the dictionary's samples.
    ///   - start: The position of the atom.
    @inline(__always) func projections(of range: Range<Int>, at start: Int) -> (
      inPhase: Float, quadrature: Float
    ) {
      (
        Vector.dot(residualSamples, from: start, inPhaseAtomSamples.extracting(range)),
        hasFixedPhase
          ? 0 : Vector.dot(residualSamples, from: start, quadratureAtomSamples.extracting(range))
      )
    }
  }

  // MARK: - Subtraction

  /// Subtracts a burst. The start of the burst is a position in `paddedSamples`.
  ///
  /// - Returns: The burst with its fractional shift, and its start as a position in the unpadded
  ///   samples.
  mutating func subtract(_ burst: FoundBurst) -> FoundBurst {
    var subtractedBurst = burst
    let burstAtomIndices = stride(
      from: subtractedBurst.atomIndex, to: subtractedBurst.atomIndex + 1, by: 1)
    let neighborEnergies = [-1, 1].map { offset in
      bestBurst(atoms: burstAtomIndices, within: 0) { _ in
        subtractedBurst.startSample + offset
      }.explainedEnergy
    }
    subtractedBurst.fractionalSampleDelay = SampleMath.parabolicPeakOffset(
      neighborEnergies[0], subtractedBurst.explainedEnergy, neighborEnergies[1])
    add(subtractedBurst, times: -1)
    subtractedBurst.startSample -= paddingSampleCount
    return subtractedBurst
  }

  /// Fits a subtracted burst again near its position, while all other bursts remain subtracted.
  mutating func refit(_ burst: FoundBurst) -> FoundBurst {
    restore(burst)
    let paddedStartSample = burst.startSample + paddingSampleCount
    let coarseBurst = bestBurst(atoms: dictionary.coarseSearchAtomIndices, within: 8) { _ in
      paddedStartSample
    }
    return subtract(refined(coarseBurst))
  }

  /// Adds a subtracted burst back to the residual.
  ///
  /// The start of the burst is a position in the unpadded samples.
  mutating func restore(_ burst: FoundBurst) {
    add(burst.delayed(bySamples: paddingSampleCount), times: 1)
  }

  /// Adds samples at a position in the unpadded samples.
  mutating func add(_ samples: [Float], at start: Int) {
    let firstPaddedSample = start + paddingSampleCount
    for index in samples.indices where paddedSamples.indices.contains(firstPaddedSample + index) {
      paddedSamples[firstPaddedSample + index] += samples[index]
    }
  }

  private mutating func add(_ burst: FoundBurst, times sign: Float) {
    let atomSampleRange = dictionary.atoms[burst.atomIndex].sampleRange
    for index in atomSampleRange {
      let position = burst.startSample + index - atomSampleRange.lowerBound
      guard paddedSamples.indices.contains(position) else { continue }
      let inPhase = burst.inPhaseAmplitude * dictionary.inPhaseSamples[index]
      let quadrature = burst.quadratureAmplitude * dictionary.quadratureSamples[index]
      paddedSamples[position] += sign * (inPhase + quadrature)
    }
  }
}
