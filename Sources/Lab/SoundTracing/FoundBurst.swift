/// A transient that was found in a signal: an atom of the dictionary with its position and
/// amplitudes.
struct FoundBurst {
  /// The index of the atom in the dictionary.
  var atomIndex: Int
  /// The sample at which the atom starts.
  var start: Int
  /// The additional delay in samples, −½…½.
  var fractionalShift: Double
  /// The amplitude of the atom.
  var inPhase: Float
  /// The amplitude of the atom's quadrature.
  var quadrature: Float
  /// The energy that the burst explains.
  var energy: Float

  /// Returns the onset of the transient, in samples.
  func onset(in dictionary: AtomDictionary) -> Double {
    Double(start) + dictionary.atoms[atomIndex].onset + fractionalShift
  }

  /// Returns the burst delayed by a number of samples.
  func moved(by count: Int) -> FoundBurst {
    var moved = self
    moved.start += count
    return moved
  }

  /// Returns the level relative to that of a transient at full intensity.
  func relativeLevel(in dictionary: AtomDictionary) -> Double {
    let amplitude = (inPhase * inPhase + quadrature * quadrature).squareRoot()
    return Double(amplitude / dictionary.atoms[atomIndex].norm)
  }
}
