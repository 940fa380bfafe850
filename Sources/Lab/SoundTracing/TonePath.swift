internal import CMath
internal import SignalAnalysis

/// A tone that begins and ends: its waveform through the centers of consecutive windows, and the
/// samples in which it sounds.
///
/// Between windows, the phase is a cubic curve whose slope at each window is the frequency, and the
/// amplitude is linear. Before the first and after the last window, frequency and amplitude are
/// constant, so that the edges can be searched there.
struct TonePath {
  /// The windows with the tone's values, by time.
  private(set) var windowNodes: [Node]
  /// The range of samples in which the tone sounds.
  var soundingSamples: Range<Int>
  /// The samples that the windows of the tone cover, without a small margin.
  var coreSamples: Range<Int>
  /// The index of the sample at which the waveform, levels, and phases start.
  private(set) var waveformStart = 0
  private(set) var waveform: [Float] = []
  private(set) var waveformLevels: [Double] = []
  /// The unwrapped phases of the waveform, in radians.
  private(set) var waveformPhases: [Double] = []

  /// The values of the tone in one window.
  struct Node {
    var centerSample: Int
    var halfLengthSamples: Int
    var tone: WindowTone
  }

  /// The duration of the constant continuation at each end, in seconds.
  private static let continuationSeconds = 0.12
  /// The margin between the windows and the core, in samples.
  private static let coreMarginSamples = 3
  /// The number of windows from which the amplitude is smoothed by a median.
  private static let smoothedNodeCount = 9
  /// The maximum relative difference between the slope of the phase and the frequency of a window.
  private static let maximumPhaseSlopeDifference = 0.1

  /// Creates a tone that sounds throughout its windows.
  ///
  /// - Parameters:
  ///   - nodes: The windows; at least one.
  ///   - rate: The sample rate, in hertz.
  ///   - sampleCount: The number of samples of the signal.
  ///   - timeScale: The factor of all durations.
  init(_ nodes: [Node], rate: Double, sampleCount: Int, timeScale: Double) {
    self.windowNodes = nodes
    let first = nodes[0]
    let last = nodes[nodes.count - 1]
    let continuationSamples = Int(Self.continuationSeconds * timeScale * rate)
    let start = max(0, first.centerSample - first.halfLengthSamples - continuationSamples)
    let end = min(sampleCount, last.centerSample + last.halfLengthSamples + continuationSamples + 1)
    waveformStart = start
    soundingSamples =
      max(
        start, first.centerSample - first.halfLengthSamples)..<min(
        end, last.centerSample + last.halfLengthSamples + 1)
    coreSamples = Self.core(of: soundingSamples)
    waveformPhases = Self.phases(of: nodes, in: start..<end, rate: rate)
    waveformLevels = Self.levels(of: nodes, in: start..<end)
    waveform = zip(waveformLevels, waveformPhases).map { Float($0 * cos($1)) }
  }

  /// The range of samples at which the waveform is known.
  var waveformRange: Range<Int> { waveformStart..<waveformStart + waveform.count }

  /// The level at a sample within the domain.
  func level(at position: Int) -> Double { waveformLevels[position - waveformStart] }

  /// The phase at a sample within the domain, in radians.
  func phase(at position: Int) -> Double { waveformPhases[position - waveformStart] }

  /// Returns the mean frequency of a range within the domain, in hertz.
  func meanHertz(in range: Range<Int>, rate: Double) -> Double {
    let range = range.clamped(to: waveformRange)
    guard range.count > 1 else { return windowNodes[0].tone.hertz }
    let phaseChange = phase(at: range.upperBound - 1) - phase(at: range.lowerBound)
    return phaseChange / Double(range.count - 1) * rate / (2 * .pi)
  }

  /// Returns the core of a span, without a small margin at both ends.
  static func core(of span: Range<Int>) -> Range<Int> {
    let start = min(span.lowerBound + coreMarginSamples, span.upperBound)
    return start..<max(start, span.upperBound - coreMarginSamples)
  }

  /// Adds the tone to a signal, or subtracts it.
  func add(to signal: inout [Float], times sign: Float) {
    for position in soundingSamples.clamped(to: waveformRange) {
      signal[position] += sign * waveform[position - waveformStart]
    }
  }

  /// Multiplies each sample of the tone by a complex gain.
  ///
  /// - Parameters:
  ///   - gains: The magnitude and the angle at each sample of the span. Before and after it, the
  ///     gain is constant.
  mutating func multiply(by gains: [(magnitude: Double, angle: Double)]) {
    guard !gains.isEmpty else { return }
    for index in waveform.indices {
      let position = min(
        max(0, index + waveformStart - soundingSamples.lowerBound), gains.count - 1)
      waveformLevels[index] *= gains[position].magnitude
      waveformPhases[index] += gains[position].angle
      waveform[index] = Float(waveformLevels[index] * cos(waveformPhases[index]))
    }
  }

  // MARK: - Interpolation

  /// Returns the phases at the nodes without jumps: each next to that which the mean of both
  /// frequencies predicts.
  private static func unwrappedPhases(of nodes: [Node], rate: Double) -> [Double] {
    var phases = [nodes[0].tone.centerPhase]
    for (previous, node) in zip(nodes, nodes.dropFirst()) {
      let seconds = Double(node.centerSample - previous.centerSample) / rate
      let hertz = (previous.tone.hertz + node.tone.hertz) / 2
      let predicted = phases[phases.count - 1] + 2 * .pi * hertz * seconds
      let turns = ((node.tone.centerPhase - predicted) / (2 * .pi)).rounded()
      phases.append(node.tone.centerPhase - turns * 2 * .pi)
    }
    return phases
  }

  private static func phases(of nodes: [Node], in range: Range<Int>, rate: Double) -> [Double] {
    let nodePhases = unwrappedPhases(of: nodes, rate: rate)
    let slopes = slopes(of: nodes, phases: nodePhases, rate: rate)
    var nextNodeIndex = 0
    return range.map { position in
      while nextNodeIndex < nodes.count, nodes[nextNodeIndex].centerSample <= position {
        nextNodeIndex += 1
      }
      guard nextNodeIndex > 0, nextNodeIndex < nodes.count else {
        let nearest = nextNodeIndex == 0 ? 0 : nodes.count - 1
        return nodePhases[nearest] + slopes[nearest]
          * Double(position - nodes[nearest].centerSample)
      }
      // The cubic Hermite interpolation.
      let length = Double(nodes[nextNodeIndex].centerSample - nodes[nextNodeIndex - 1].centerSample)
      let fraction = Double(position - nodes[nextNodeIndex - 1].centerSample) / length
      let complement = 1 - fraction
      return complement * complement * (1 + 2 * fraction) * nodePhases[nextNodeIndex - 1]
        + fraction * fraction * (3 - 2 * fraction) * nodePhases[nextNodeIndex]
        + fraction * complement * length
        * (complement * slopes[nextNodeIndex - 1] - fraction * slopes[nextNodeIndex])
    }
  }

  /// Returns the increment of the phase per sample at each node: the mean of the frequency and of
  /// the slope between its neighbors, if both agree.
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
    var amplitudes = nodes.map { Float($0.tone.amplitude) }
    if nodes.count >= smoothedNodeCount {
      // The outer windows are biased by edges and by neighboring bursts.
      amplitudes = SampleMath.movingMedian(of: amplitudes, over: 5)
    }
    var nextNodeIndex = 0
    return range.map { position in
      while nextNodeIndex < nodes.count, nodes[nextNodeIndex].centerSample <= position {
        nextNodeIndex += 1
      }
      guard nextNodeIndex > 0 else { return Double(amplitudes[0]) }
      guard nextNodeIndex < nodes.count else { return Double(amplitudes[nodes.count - 1]) }
      let length = Double(nodes[nextNodeIndex].centerSample - nodes[nextNodeIndex - 1].centerSample)
      let fraction = Double(position - nodes[nextNodeIndex - 1].centerSample) / length
      return Double(amplitudes[nextNodeIndex - 1]) * (1 - fraction) + Double(
        amplitudes[nextNodeIndex]) * fraction
    }
  }
}
