internal import CMath
import SignalAnalysis

/// The correlation of the envelopes of a reference and a recording, independent of phase.
///
/// Every 5 ms, each envelope has the change of its level within 20 ms. Onsets and ends dominate the
/// correlation, so it also aligns tones whose frequency differs from that of the reference.
struct EnvelopeCorrelation {
  /// The interval between two envelope values, in samples: 5 ms.
  private static let hopSampleCount = 10
  /// The number of silent envelope values before the reference.
  private static let leadValueCount = 20

  private let referenceLevelChanges: [Float]
  private let recordingLevelChanges: [Float]
  private let maximumLagInHops: Int
  private let delayRangeSeconds: ClosedRange<Double>
  /// The interval between two envelope values, in seconds.
  private let hopSeconds: Double

  init(_ alignment: RecordingAlignment) {
    let leadSilence = [Float](repeating: 0, count: Self.hopSampleCount * Self.leadValueCount)
    referenceLevelChanges = Self.levelChanges(
      of: leadSilence + alignment.weightedReference + leadSilence, floorRatio: 0)
    recordingLevelChanges = Self.levelChanges(of: alignment.weightedRecording, floorRatio: 3)
    hopSeconds = Double(Self.hopSampleCount) / alignment.alignmentSampleRate
    delayRangeSeconds = alignment.delayRangeSeconds
    maximumLagInHops =
      Int((delayRangeSeconds.upperBound - delayRangeSeconds.lowerBound) / hopSeconds) + 60
  }

  /// A Boolean value that indicates whether the reference or the recording is silent.
  var isReferenceOrRecordingSilent: Bool {
    referenceLevelChanges.isEmpty || recordingLevelChanges.isEmpty
  }

  /// Returns the delay at an index of the result of `correlations(tempo:)`, in seconds.
  func delaySeconds(atIndex index: Int) -> Double {
    Double(index - maximumLagInHops + Self.leadValueCount) * hopSeconds
  }

  /// Returns the correlation of the reference's and the recording's envelopes at each delay.
  ///
  /// - Parameter tempo: The relative tempo deviation of the recording.
  func correlations(tempo: Double) -> [Float] {
    let stretchedLevelChanges =
      tempo == 0 ? referenceLevelChanges : stretchedReference(tempo: tempo)
    var correlations = CrossCorrelation.of(
      stretchedLevelChanges, recordingLevelChanges, maximumLag: maximumLagInHops)
    for index in correlations.indices
    where delaySeconds(atIndex: index) < delayRangeSeconds.lowerBound + 0.02
      || delaySeconds(atIndex: index) > delayRangeSeconds.upperBound - 0.02
    {
      correlations[index] = 0
    }
    return correlations
  }

  /// Returns the envelope of the reference at another tempo, by linear interpolation.
  private func stretchedReference(tempo: Double) -> [Float] {
    let soundValueCount = Double(referenceLevelChanges.count - Self.leadValueCount)
    let stretchedValueCount =
      Int((soundValueCount * (1 + tempo)).rounded(.up)) + Self.leadValueCount
    return (0..<stretchedValueCount).map { index in
      let position = Double(index - Self.leadValueCount) / (1 + tempo) + Double(Self.leadValueCount)
      let lower = Int(position.rounded(.down))
      guard lower >= 0, lower + 1 < referenceLevelChanges.count else { return 0 }
      let fraction = Float(position - Double(lower))
      return referenceLevelChanges[lower] * (1 - fraction) + referenceLevelChanges[lower + 1]
        * fraction
    }
  }

  /// Returns the changes of a signal's logarithmic power over 20 ms, every 5 ms.
  ///
  /// The power is averaged over 20 ms, and each change is over the preceding 20 ms.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - floorRatio: The ratio of the floor to the power that nine of ten values exceed. The floor
  ///     limits the effect of noise.
  private static func levelChanges(of samples: [Float], floorRatio: Double) -> [Float] {
    var powers: [Double] = []
    for center in stride(from: 0, to: samples.count, by: hopSampleCount) {
      let range = max(0, center - 20)..<min(samples.count, center + 20)
      powers.append(Vector.energy(samples, range) / 40)
    }
    let sortedPowers = powers.sorted()
    guard let maximumPower = sortedPowers.last, maximumPower > 0 else { return [] }
    let powerFloor = floorRatio * sortedPowers[sortedPowers.count / 10] + 1e-3 * maximumPower
    let logLevels = powers.map { log($0 + powerFloor) }
    return logLevels.indices.map { $0 < 4 ? 0 : Float(logLevels[$0] - logLevels[$0 - 4]) }
  }
}
