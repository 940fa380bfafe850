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
  private(set) var nodes: [Node]
  /// The samples in which the tone sounds.
  var span: Range<Int>
  /// The samples that the windows of the tone cover, without a small margin.
  var core: Range<Int>
  /// The sample at which the following values start.
  private(set) var origin = 0
  private(set) var samples: [Float] = []
  private(set) var levels: [Double] = []
  /// The phases, in radians, without jumps.
  private(set) var phases: [Double] = []

  /// The tone in a window.
  struct Node {
    var center: Int
    var halfLength: Int
    var tone: WindowTone
  }

  /// The duration of the constant continuation at each end, in seconds.
  private static let continuationDuration = 0.12
  /// The margin between the windows and the core, in samples.
  private static let coreMargin = 3
  /// The number of windows from which the amplitude is smoothed by a median.
  private static let smoothedNodeCount = 9
  /// The maximum relative difference between the slope of the phase and the frequency of a window.
  private static let maximumSlopeDifference = 0.1

  /// Creates a tone that sounds throughout its windows.
  ///
  /// - Parameters:
  ///   - nodes: The windows; at least one.
  ///   - rate: The sample rate, in hertz.
  ///   - sampleCount: The number of samples of the signal.
  ///   - timeScale: The factor of all durations.
  init(_ nodes: [Node], rate: Double, sampleCount: Int, timeScale: Double) {
    self.nodes = nodes
    let first = nodes[0]
    let last = nodes[nodes.count - 1]
    let continuation = Int(Self.continuationDuration * timeScale * rate)
    let start = max(0, first.center - first.halfLength - continuation)
    let end = min(sampleCount, last.center + last.halfLength + continuation + 1)
    origin = start
    span =
      max(start, first.center - first.halfLength)..<min(end, last.center + last.halfLength + 1)
    core = Self.core(of: span)
    phases = Self.phases(of: nodes, in: start..<end, rate: rate)
    levels = Self.levels(of: nodes, in: start..<end)
    samples = zip(levels, phases).map { Float($0 * cos($1)) }
  }

  /// The samples at which the waveform is known.
  var domain: Range<Int> { origin..<origin + samples.count }

  /// The level at a sample within the domain.
  func level(at position: Int) -> Double { levels[position - origin] }

  /// The phase at a sample within the domain, in radians.
  func phase(at position: Int) -> Double { phases[position - origin] }

  /// Returns the mean frequency of a range within the domain, in hertz.
  func meanHertz(in range: Range<Int>, rate: Double) -> Double {
    let range = range.clamped(to: domain)
    guard range.count > 1 else { return nodes[0].tone.hertz }
    let phaseChange = phase(at: range.upperBound - 1) - phase(at: range.lowerBound)
    return phaseChange / Double(range.count - 1) * rate / (2 * .pi)
  }

  /// The core of a span.
  static func core(of span: Range<Int>) -> Range<Int> {
    let start = min(span.lowerBound + coreMargin, span.upperBound)
    return start..<max(start, span.upperBound - coreMargin)
  }

  /// Adds the tone to a signal, or subtracts it.
  func add(to signal: inout [Float], times sign: Float) {
    for position in span.clamped(to: domain) {
      signal[position] += sign * samples[position - origin]
    }
  }

  /// Multiplies the tone by complex gains.
  ///
  /// - Parameters:
  ///   - gains: The magnitude and the angle at each sample of the span. Before and after it, the
  ///     gain is constant.
  mutating func multiply(by gains: [(magnitude: Double, angle: Double)]) {
    guard !gains.isEmpty else { return }
    for index in samples.indices {
      let position = min(max(0, index + origin - span.lowerBound), gains.count - 1)
      levels[index] *= gains[position].magnitude
      phases[index] += gains[position].angle
      samples[index] = Float(levels[index] * cos(phases[index]))
    }
  }

  // MARK: - Interpolation

  /// Returns the phases at the nodes without jumps: each next to that which the mean of both
  /// frequencies predicts.
  private static func unwrappedPhases(of nodes: [Node], rate: Double) -> [Double] {
    var phases = [nodes[0].tone.phase]
    for (previous, node) in zip(nodes, nodes.dropFirst()) {
      let seconds = Double(node.center - previous.center) / rate
      let hertz = (previous.tone.hertz + node.tone.hertz) / 2
      let predicted = phases[phases.count - 1] + 2 * .pi * hertz * seconds
      let turns = ((node.tone.phase - predicted) / (2 * .pi)).rounded()
      phases.append(node.tone.phase - turns * 2 * .pi)
    }
    return phases
  }

  private static func phases(of nodes: [Node], in range: Range<Int>, rate: Double) -> [Double] {
    let nodePhases = unwrappedPhases(of: nodes, rate: rate)
    let slopes = slopes(of: nodes, phases: nodePhases, rate: rate)
    var next = 0
    return range.map { position in
      while next < nodes.count, nodes[next].center <= position {
        next += 1
      }
      guard next > 0, next < nodes.count else {
        let nearest = next == 0 ? 0 : nodes.count - 1
        return nodePhases[nearest] + slopes[nearest] * Double(position - nodes[nearest].center)
      }
      // The cubic Hermite interpolation.
      let length = Double(nodes[next].center - nodes[next - 1].center)
      let fraction = Double(position - nodes[next - 1].center) / length
      let complement = 1 - fraction
      return complement * complement * (1 + 2 * fraction) * nodePhases[next - 1]
        + fraction * fraction * (3 - 2 * fraction) * nodePhases[next]
        + fraction * complement * length * (complement * slopes[next - 1] - fraction * slopes[next])
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
        (phases[next] - phases[previous]) / Double(nodes[next].center - nodes[previous].center)
      let agrees = abs(slope - increment) < maximumSlopeDifference * increment
      return agrees ? (slope + increment) / 2 : increment
    }
  }

  private static func levels(of nodes: [Node], in range: Range<Int>) -> [Double] {
    var amplitudes = nodes.map { Float($0.tone.amplitude) }
    if nodes.count >= smoothedNodeCount {
      // The outer windows are biased by edges and by neighboring bursts.
      amplitudes = SampleMath.movingMedian(of: amplitudes, over: 5)
    }
    var next = 0
    return range.map { position in
      while next < nodes.count, nodes[next].center <= position {
        next += 1
      }
      guard next > 0 else { return Double(amplitudes[0]) }
      guard next < nodes.count else { return Double(amplitudes[nodes.count - 1]) }
      let length = Double(nodes[next].center - nodes[next - 1].center)
      let fraction = Double(position - nodes[next - 1].center) / length
      return Double(amplitudes[next - 1]) * (1 - fraction) + Double(amplitudes[next]) * fraction
    }
  }
}
