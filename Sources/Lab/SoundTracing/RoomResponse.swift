internal import CMath
internal import SignalAnalysis

/// The reflections of a room, as the response of a recording to its direct sound.
///
/// A room adds the same response h to every event of the direct sound d:
///
///     recording = d + h ∗ d
///
/// The response is the maximum of the posterior for a Gaussian prior whose variance decays with
/// time, as reverberation does. For a given direct sound, this is a linear least-squares problem
/// with the autocorrelation of d as its matrix.
struct RoomResponse {
  /// The reflections h ∗ d at each sample of the recording.
  let reflectionSamples: [Float]

  /// The delays of reflections, in seconds.
  private static let delaySeconds = 0.002...0.35
  /// The maximum length of the response, in samples.
  private static let maximumSampleCount = 1_000
  /// The time in which the variance of the prior decays by 60 dB, in seconds.
  private static let priorDecaySeconds = 0.6
  /// The precision of the prior at the start, relative to the energy of the direct sound.
  private static let relativePriorPrecision = 0.02

  /// Estimates the response of a room.
  ///
  /// - Parameters:
  ///   - directSound: The samples of the direct sound.
  ///   - recording: The samples of the recording; as many.
  ///   - rate: The sample rate, in hertz.
  init(to directSound: [Float], in recording: [Float], sampleRate rate: Double) {
    let remainderSamples = zip(recording, directSound).map { $0 - $1 }
    let firstDelaySamples = max(1, Int(Self.delaySeconds.lowerBound * rate))
    let responseSampleCount = min(
      Self.maximumSampleCount, Int(Self.delaySeconds.upperBound * rate) - firstDelaySamples)
    var transform = FourierTransform(
      length: FourierTransform.fastLength(
        atLeast: recording.count + firstDelaySamples + responseSampleCount))
    let directBins = transform.forward(directSound)
    let remainderBins = transform.forward(remainderSamples)
    let autocorrelation = transform.backward(directBins.map { ComplexNumber($0.power) })
    let crossCorrelation = transform.backward(
      zip(remainderBins, directBins).map { $0 * $1.conjugate })
    let priorPrecision = Self.relativePriorPrecision * Double(autocorrelation[0])
    var normalMatrix = SkylineMatrix()
    for row in 0..<responseSampleCount {
      var values = (0...row).map { Double(autocorrelation[row - $0]) }
      values[row] += priorPrecision * pow(10, 6 * Double(row) / (Self.priorDecaySeconds * rate))
      normalMatrix.appendRow(values, startingAt: 0)
    }
    normalMatrix.factorize()
    let impulseResponse = normalMatrix.solution(
      of: (0..<responseSampleCount).map { Double(crossCorrelation[firstDelaySamples + $0]) })
    let delaySilence = [Float](repeating: 0, count: firstDelaySamples)
    reflectionSamples = Vector.filtered(
      directSound, by: delaySilence + impulseResponse.map { Float($0) })
  }
}
