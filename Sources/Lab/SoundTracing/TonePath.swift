internal import CMath
internal import SignalAnalysis

/// A tone with a start and an end.
///
/// The tone has a waveform, interpolated between consecutive windows, and a range of samples in
/// which it sounds.
///
/// Between windows, the phase is a cubic curve whose slope at each window is the frequency, and the
/// amplitude is linear. Before the first and after the last window, frequency and amplitude are
/// constant, so that the edges can be searched there.
struct TonePath {
  /// The values of the tone in each window, by time.
  private(set) var windowNodes: [Node]
  /// The range of samples in which the tone sounds.
  var soundingSamples: Range<Int>
  /// The range of samples that the tone's windows cover, without a small margin at both ends.
  var coreSamples: Range<Int>
  /// The index of the first sample of the waveform, its levels, and its phases.
  private(set) var waveformStart = 0
  private(set) var waveform: [Float] = []
  private(set) var waveformLevels: [Double] = []
  /// The unwrapped phase at each sample of the waveform, in radians.
  private(set) var waveformPhases: [Double] = []

  /// The values of the tone in one window.
  struct Node {
    /// The sample index of the window's center.
    let centerSample: Int
    /// The range of samples that the window covers.
    let samples: Range<Int>
    /// The tone at the center of the window.
    let tone: WindowTone

    /// Creates the values of a tone in a window.
    init(_ tone: WindowTone, in window: ToneWindow) {
      centerSample = window.centerSample
      samples = window.samples
      self.tone = tone
    }
  }

  /// The duration of the waveform before the first and after the last window, in seconds.
  ///
  /// In these parts, the frequency and the amplitude are constant. If a tone sounds up to an end of
  /// its waveform, `ToneSelection` continues the waveform there by this duration. It repeats this
  /// step as long as the continuation explains the signal.
  static let continuationSeconds = 0.12
  /// The margin between the ends of the windows and `coreSamples`, in samples.
  private static let coreMarginSamples = 3
  /// The number of samples by which a window may extend beyond the position of a division.
  private static let divisionToleranceSamples = 2
  /// The minimum number of windows for smoothing the amplitudes by a median.
  private static let smoothedNodeCount = 9
  /// The maximum relative difference between a window's frequency and the phase's slope.
  ///
  /// Up to this difference, both are averaged.
  private static let maximumPhaseSlopeDifference = 0.1

  /// Creates a tone that sounds throughout its windows.
  ///
  /// - Parameters:
  ///   - nodes: The windows; at least one.
  ///   - rate: The sample rate, in hertz.
  ///   - sampleCount: The number of samples of the signal.
  ///   - timeScale: The factor by which durations are multiplied.
  init(_ nodes: [Node], rate: Double, sampleCount: Int, timeScale: Double) {
    self.windowNodes = nodes
    let windowedSamples = Self.windowedSamples(of: nodes)
    let continuationSamples = Int(Self.continuationSeconds * timeScale * rate)
    let startSample = max(0, windowedSamples.lowerBound - continuationSamples)
    let endSample = min(sampleCount, windowedSamples.upperBound + continuationSamples)
    waveformStart = startSample
    soundingSamples = windowedSamples.clamped(to: startSample..<endSample)
    coreSamples = Self.coreRange(of: soundingSamples)
    waveformPhases = Self.phases(of: nodes, in: startSample..<endSample, rate: rate)
    waveformLevels = Self.levels(of: nodes, in: startSample..<endSample)
    waveform = zip(waveformLevels, waveformPhases).map { Float($0 * cos($1)) }
  }

  /// The range of samples that `waveform` covers.
  var waveformRange: Range<Int> { waveformStart..<waveformStart + waveform.count }

  /// Returns the level at a sample within `waveformRange`.
  func level(at position: Int) -> Double { waveformLevels[position - waveformStart] }

  /// Returns the phase at a sample within `waveformRange`, in radians.
  func phase(at position: Int) -> Double { waveformPhases[position - waveformStart] }

  /// The range of samples from the start of the first window to the end of the last window.
  var windowedSamples: Range<Int> { Self.windowedSamples(of: windowNodes) }

  private static func windowedSamples(of nodes: [Node]) -> Range<Int> {
    nodes[0].samples.lowerBound..<nodes[nodes.count - 1].samples.upperBound
  }

  /// Returns true if the tone or its windows start in a range of samples.
  func hasStart(in range: Range<Int>) -> Bool {
    range.contains(soundingSamples.lowerBound) || range.contains(windowedSamples.lowerBound)
  }

  /// Returns true if the tone or its windows end in a range of samples.
  func hasEnd(in range: Range<Int>) -> Bool {
    range.contains(soundingSamples.upperBound) || range.contains(windowedSamples.upperBound)
  }

  /// Returns true if both tones have a window of the same time and frequency.
  ///
  /// Paths share windows only as copies, so the frequencies are compared exactly.
  func sharesWindow(with path: TonePath) -> Bool {
    guard windowedSamples.overlaps(path.windowedSamples) else { return false }
    return windowNodes.contains { node in
      path.windowNodes.contains {
        $0.centerSample == node.centerSample && $0.tone.hertz == node.tone.hertz
      }
    }
  }

  /// Returns the windows whose last sample is at most two samples after a position.
  func nodes(endingAt position: Int) -> [Node] {
    windowNodes.filter {
      $0.samples.upperBound - 1 <= position + Self.divisionToleranceSamples
    }
  }

  /// Returns the windows whose first sample is at most two samples before a position.
  func nodes(startingAt position: Int) -> [Node] {
    windowNodes.filter {
      $0.samples.lowerBound >= position - Self.divisionToleranceSamples
    }
  }

  /// Returns the mean frequency of the tone in a range of samples, in hertz.
  func meanHertz(in range: Range<Int>, rate: Double) -> Double {
    let clampedRange = range.clamped(to: waveformRange)
    guard clampedRange.count > 1 else { return windowNodes[0].tone.hertz }
    let phaseChange = phase(at: clampedRange.upperBound - 1) - phase(at: clampedRange.lowerBound)
    return phaseChange / Double(clampedRange.count - 1) * rate / (2 * .pi)
  }

  /// Returns a range of samples without a small margin at both ends.
  static func coreRange(of span: Range<Int>) -> Range<Int> {
    let coreStartSample = min(span.lowerBound + coreMarginSamples, span.upperBound)
    return coreStartSample..<max(coreStartSample, span.upperBound - coreMarginSamples)
  }

  /// Adds the tone to a signal, or subtracts it if the sign is -1.
  func add(to signal: inout [Float], times sign: Float) {
    for position in soundingSamples.clamped(to: waveformRange) {
      signal[position] += sign * waveform[position - waveformStart]
    }
  }

  /// A complex gain of a tone.
  struct Gain {
    var magnitude: Double
    /// The unwrapped angle, in radians.
    var angle: Double
  }

  /// Multiplies each sample of the tone by a complex gain.
  ///
  /// - Parameter gains: The gain at each sample in which the tone sounds. Before and after these
  ///   samples, the gain is constant.
  mutating func multiply(by gains: [Gain]) {
    guard !gains.isEmpty else { return }
    for index in waveform.indices {
      let position = min(
        max(0, index + waveformStart - soundingSamples.lowerBound), gains.count - 1)
      waveformLevels[index] *= gains[position].magnitude
      waveformPhases[index] += gains[position].angle
      waveform[index] = Float(waveformLevels[index] * cos(waveformPhases[index]))
    }
  }

  // MARK: - Continuation

  /// Continues the waveform at both ends with constant frequency and amplitude.
  ///
  /// The range in which the tone sounds does not change.
  ///
  /// - Parameter continuedRange: The range of samples that the waveform covers afterward, at least.
  mutating func continueWaveform(to continuedRange: Range<Int>) {
    let range = waveformRange
    guard range.count >= 2 else { return }
    let endIndex = range.count - 1
    let startSlope = waveformPhases[1] - waveformPhases[0]
    let endSlope = waveformPhases[endIndex] - waveformPhases[endIndex - 1]
    let addedStartCount = max(0, range.lowerBound - continuedRange.lowerBound)
    let addedEndCount = max(0, continuedRange.upperBound - range.upperBound)
    let startOffsets = stride(from: addedStartCount, to: 0, by: -1)
    let precedingPhases = startOffsets.map { waveformPhases[0] - startSlope * Double($0) }
    let followingPhases = (0..<addedEndCount).map {
      waveformPhases[endIndex] + endSlope * Double($0 + 1)
    }
    let precedingLevels = [Double](repeating: waveformLevels[0], count: addedStartCount)
    let followingLevels = [Double](repeating: waveformLevels[endIndex], count: addedEndCount)
    waveformStart -= addedStartCount
    waveformPhases = precedingPhases + waveformPhases + followingPhases
    waveformLevels = precedingLevels + waveformLevels + followingLevels
    waveform = zip(waveformLevels, waveformPhases).map { Float($0 * cos($1)) }
  }

  // MARK: - Interpolation

  /// Returns the unwrapped phases at the nodes.
  ///
  /// Each phase is the one nearest to the prediction from the previous phase and the mean frequency
  /// in between.
  private static func unwrappedPhases(of nodes: [Node], rate: Double) -> [Double] {
    var unwrappedNodePhases = [nodes[0].tone.centerPhase]
    for (previous, node) in zip(nodes, nodes.dropFirst()) {
      let seconds = Double(node.centerSample - previous.centerSample) / rate
      let hertz = (previous.tone.hertz + node.tone.hertz) / 2
      let predicted = unwrappedNodePhases[unwrappedNodePhases.count - 1] + 2 * .pi * hertz * seconds
      let turns = ((node.tone.centerPhase - predicted) / (2 * .pi)).rounded()
      unwrappedNodePhases.append(node.tone.centerPhase - turns * 2 * .pi)
    }
    return unwrappedNodePhases
  }

  private static func phases(of nodes: [Node], in range: Range<Int>, rate: Double) -> [Double] {
    let nodePhases = unwrappedPhases(of: nodes, rate: rate)
    let nodeSlopes = slopes(of: nodes, phases: nodePhases, rate: rate)
    var nextNodeIndex = 0
    return range.map { position in
      while nextNodeIndex < nodes.count, nodes[nextNodeIndex].centerSample <= position {
        nextNodeIndex += 1
      }
      guard nextNodeIndex > 0, nextNodeIndex < nodes.count else {
        let nearest = nextNodeIndex == 0 ? 0 : nodes.count - 1
        return nodePhases[nearest] + nodeSlopes[nearest]
          * Double(position - nodes[nearest].centerSample)
      }
      // The cubic Hermite interpolation.
      let length = Double(nodes[nextNodeIndex].centerSample - nodes[nextNodeIndex - 1].centerSample)
      let fraction = Double(position - nodes[nextNodeIndex - 1].centerSample) / length
      let complement = 1 - fraction
      return complement * complement * (1 + 2 * fraction) * nodePhases[nextNodeIndex - 1]
        + fraction * fraction * (3 - 2 * fraction) * nodePhases[nextNodeIndex]
        + fraction * complement * length
        * (complement * nodeSlopes[nextNodeIndex - 1] - fraction * nodeSlopes[nextNodeIndex])
    }
  }

  /// Returns the slope of the phase at each node, in radians per sample.
  ///
  /// If the node's frequency agrees with the slope between its neighbors, both are averaged.
  private static func slopes(of nodes: [Node], phases: [Double], rate: Double) -> [Double] {
    nodes.indices.map { index in
      let increment = 2 * .pi * nodes[index].tone.hertz / rate
      let previous = max(0, index - 1)
      let next = min(nodes.count - 1, index + 1)
      guard next > previous else { return increment }
      let slope =
        (phases[next] - phases[previous])
        / Double(nodes[next].centerSample - nodes[previous].centerSample)
      let agrees = abs(slope - increment) < maximumPhaseSlopeDifference * increment
      return agrees ? (slope + increment) / 2 : increment
    }
  }

  private static func levels(of nodes: [Node], in range: Range<Int>) -> [Double] {
    var nodeAmplitudes = nodes.map { Float($0.tone.amplitude) }
    if nodes.count >= smoothedNodeCount {
      // The outer windows are biased by edges and by neighboring bursts.
      nodeAmplitudes = SampleMath.movingMedian(of: nodeAmplitudes, over: 5)
    }
    var nextNodeIndex = 0
    return range.map { position in
      while nextNodeIndex < nodes.count, nodes[nextNodeIndex].centerSample <= position {
        nextNodeIndex += 1
      }
      guard nextNodeIndex > 0 else { return Double(nodeAmplitudes[0]) }
      guard nextNodeIndex < nodes.count else { return Double(nodeAmplitudes[nodes.count - 1]) }
      let length = Double(nodes[nextNodeIndex].centerSample - nodes[nextNodeIndex - 1].centerSample)
      let fraction = Double(position - nodes[nextNodeIndex - 1].centerSample) / length
      return Double(nodeAmplitudes[nextNodeIndex - 1]) * (1 - fraction) + Double(
        nodeAmplitudes[nextNodeIndex]) * fraction
    }
  }
}
