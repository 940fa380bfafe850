internal import CMath
import SignalAnalysis

/// The correlation of the envelopes of a reference and a recording, independent of phase.
///
/// Every 5 ms, each envelope has the change of its level within 20 ms. Onsets and ends dominate the
/// correlation, so it also aligns tones whose frequency differs from that of the reference.
struct EnvelopeCorrelation {
  /// The interval between values, in samples: 5 ms.
  private static let hopLength = 10
  /// The number of values of silence before the reference.
  private static let leadCount = 20

  private let referenceChanges: [Float]
  private let recordingChanges: [Float]
  private let maximumLag: Int
  private let delayRange: ClosedRange<Double>
  /// The interval between values, in seconds.
  private let hopDuration: Double

  init(_ alignment: RecordingAlignment) {
    let silence = [Float](repeating: 0, count: Self.hopLength * Self.leadCount)
    referenceChanges = Self.levelChanges(
      of: silence + alignment.weightedReference + silence, floorRatio: 0)
    recordingChanges = Self.levelChanges(of: alignment.weightedRecording, floorRatio: 3)
    hopDuration = Double(Self.hopLength) / alignment.rate
    delayRange = alignment.delayRange
    maximumLag = Int((delayRange.upperBound - delayRange.lowerBound) / hopDuration) + 60
  }

  /// A Boolean value that indicates whether the reference or the recording is silent.
  var isEmpty: Bool { referenceChanges.isEmpty || recordingChanges.isEmpty }

  /// Returns the delay that an index of `correlations(tempo:)` stands for, in seconds.
  func delay(at index: Int) -> Double { Double(index - maximumLag + Self.leadCount) * hopDuration }

  /// Returns the correlation at each delay.
  ///
  /// - Parameter tempo: The relative tempo deviation of the recording.
  func correlations(tempo: Double) -> [Float] {
    let reference = tempo == 0 ? referenceChanges : stretchedReference(tempo: tempo)
    var correlations = CrossCorrelation.of(reference, recordingChanges, maximumLag: maximumLag)
    for index in correlations.indices
    where delay(at: index) < delayRange.lowerBound + 0.02
      || delay(at: index) > delayRange.upperBound - 0.02
    {
      correlations[index] = 0
    }
    return correlations
  }

  /// Returns the envelope of the reference at another tempo, by linear interpolation.
  private func stretchedReference(tempo: Double) -> [Float] {
    let soundCount = Double(referenceChanges.count - Self.leadCount)
    let count = Int((soundCount * (1 + tempo)).rounded(.up)) + Self.leadCount
    return (0..<count).map { index in
      let position = Double(index - Self.leadCount) / (1 + tempo) + Double(Self.leadCount)
      let lower = Int(position.rounded(.down))
      guard lower >= 0, lower + 1 < referenceChanges.count else { return 0 }
      let fraction = Float(position - Double(lower))
      return referenceChanges[lower] * (1 - fraction) + referenceChanges[lower + 1] * fraction
    }
  }

  /// Returns the change of the logarithmic power of 20 ms within 20 ms.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - floorRatio: The ratio of the floor to the power that nine of ten values exceed. The floor
  ///     limits the effect of noise.
  private static func levelChanges(of samples: [Float], floorRatio: Double) -> [Float] {
    var powers: [Double] = []
    for center in stride(from: 0, to: samples.count, by: hopLength) {
      let range = max(0, center - 20)..<min(samples.count, center + 20)
      powers.append(Vector.energy(samples, range) / 40)
    }
    let sorted = powers.sorted()
    guard let maximum = sorted.last, maximum > 0 else { return [] }
    let floor = floorRatio * sorted[sorted.count / 10] + 1e-3 * maximum
    let levels = powers.map { log($0 + floor) }
    return levels.indices.map { $0 < 4 ? 0 : Float(levels[$0] - levels[$0 - 4]) }
  }
}
