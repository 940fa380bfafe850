internal import CMath
internal import SignalAnalysis

/// Links the tones of consecutive windows into paths.
///
/// A tone continues in the next window if its frequency, its amplitude, and its phase agree. If
/// several paths can continue with the same tone, the path with the most recent window continues.
struct ToneLinker {
  let sampleRate: Double
  /// The interval between windows, in samples.
  let hopSampleCount: Int
  /// The factor for all durations, which is above 1 for profiles with low tones.
  let durationFactor: Double

  typealias Path = [TonePath.Node]

  /// The maximum gap between two windows of the same tone, in seconds: the duration of a burst.
  private static let maximumGapSeconds = 0.11
  /// The maximum relative difference between the frequencies of linked tones.
  private static let maximumFrequencyDifferenceFraction = 0.012
  /// The maximum rate of change of a tone's frequency, in hertz per second.
  private static let maximumSweepHertzPerSecond = 80.0
  /// The maximum difference between a tone and its prediction, relative to the amplitude.
  ///
  /// The prediction is from the previous window.
  private static let maximumPredictionError = 0.5
  /// The maximum difference between a tone and its prediction after a gap.
  ///
  /// The difference is relative to the amplitude. Frequency and amplitude must be similar.
  private static let maximumPredictionErrorAfterGap = 0.9
  /// The minimum duration of silence that divides a path, in seconds.
  private static let minimumSilenceSeconds = 0.002
  /// The maximum power of a silent signal, relative to the power of the tone.
  private static let maximumSilencePowerRatio = 0.15

  /// Links the tones of all windows into paths, without dividing them at silences.
  func paths(of windows: [ToneWindow]) -> [Path] {
    var activePaths: [Path] = []
    var finishedPaths: [Path] = []
    for window in windows {
      var freeTones = window.tones
      var continuedPaths: [Path] = []
      activePaths.sort(by: hasPriority)
      for index in activePaths.indices {
        // The path is moved out of the array, so that it grows without a copy.
        var path: Path = []
        swap(&path, &activePaths[index])
        let gap = window.centerSample - lastNode(path).centerSample
        if Double(gap) > Self.maximumGapSeconds * durationFactor * sampleRate {
          finishedPaths.append(path)
        } else if let best = continuation(of: path, in: freeTones, gap: gap) {
          path.append(TonePath.Node(freeTones.remove(at: best), in: window))
          continuedPaths.append(path)
        } else if window.samples.lowerBound >= lastNode(path).samples.upperBound,
          gap > 3 * hopSampleCount
        {
          finishedPaths.append(path)
        } else {
          continuedPaths.append(path)
        }
      }
      activePaths = continuedPaths + freeTones.map { [TonePath.Node($0, in: window)] }
    }
    return finishedPaths + activePaths
  }

  /// Returns true if a path is continued before a second path.
  ///
  /// The paths with the most recent windows are continued first, and of these the loudest. A path
  /// whose tone has ended remains active for the duration of a burst. If it were continued first,
  /// it could end the path of a tone that still sounds, and divide that tone.
  private func hasPriority(_ first: Path, over second: Path) -> Bool {
    let firstNode = lastNode(first)
    let secondNode = lastNode(second)
    return firstNode.centerSample == secondNode.centerSample
      ? firstNode.tone.amplitude > secondNode.tone.amplitude
      : firstNode.centerSample > secondNode.centerSample
  }

  private func lastNode(_ path: Path) -> TonePath.Node { path[path.count - 1] }

  /// Returns the index of the tone that continues a path with the smallest error.
  ///
  /// Returns nil if no tone continues the path.
  private func continuation(of path: Path, in tones: [WindowTone], gap: Int) -> Int? {
    let previousTone = lastNode(path).tone
    let isAfterGap = gap > 5 * hopSampleCount
    let gapSeconds = Double(gap) / sampleRate
    let recentHertz = path.suffix(5).map { $0.tone.hertz }
    let expectedHertz = isAfterGap ? Statistics.median(of: recentHertz) : previousTone.hertz
    var bestMatch: (index: Int, error: Double)?
    for (index, tone) in tones.enumerated() {
      let mean = (tone.hertz + expectedHertz) / 2
      let difference = abs(tone.hertz - expectedHertz)
      let tolerance =
        Self.maximumFrequencyDifferenceFraction * mean + 1 + Self.maximumSweepHertzPerSecond
        * min(gapSeconds, 0.05)
      guard difference <= tolerance else { continue }
      let angle = previousTone.phase(after: gapSeconds, hertz: mean) - tone.centerPhase
      let squaredError =
        previousTone.amplitude * previousTone.amplitude + tone.amplitude * tone.amplitude
        - 2 * previousTone.amplitude * tone.amplitude * cos(angle)
      let error =
        max(0, squaredError).squareRoot() / max(previousTone.amplitude, tone.amplitude, 1e-12)
      let isAlike =
        abs(tone.amplitude / previousTone.amplitude - 1) < 0.25
        && difference < Self.maximumFrequencyDifferenceFraction * mean
      let maximumError =
        isAfterGap && isAlike ? Self.maximumPredictionErrorAfterGap : Self.maximumPredictionError
      if error < maximumError, error < bestMatch?.error ?? .infinity {
        bestMatch = (index, error)
      }
    }
    return bestMatch?.index
  }

  /// Divides a path at silence between its windows.
  ///
  /// A path with silence consists of two events with similar frequencies.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - power: The mean power of the signal around each sample.
  func dividedAtSilences(_ path: Path, power: [Float]) -> [Path] {
    var dividedPaths: [Path] = [[path[0]]]
    for (previous, node) in zip(path, path.dropFirst()) {
      if isSilent(between: previous, node, power: power) {
        dividedPaths.append([])
      }
      dividedPaths[dividedPaths.count - 1].append(node)
    }
    return dividedPaths
  }

  private func isSilent(
    between previous: TonePath.Node, _ next: TonePath.Node, power: [Float]
  ) -> Bool {
    guard Double(next.centerSample - previous.centerSample) >= 0.009 * sampleRate else {
      return false
    }
    let minimumAmplitude = min(previous.tone.amplitude, next.tone.amplitude)
    let silencePowerLimit = Float(
      Self.maximumSilencePowerRatio * minimumAmplitude * minimumAmplitude / 2)
    let minimumSilenceSamples = Int(Self.minimumSilenceSeconds * sampleRate)
    let centerRange = previous.centerSample..<min(next.centerSample, power.count)
    let silentSegments = SampleMath.segments(centerRange.count, closing: 1) {
      power[centerRange.lowerBound + $0] < silencePowerLimit
    }
    return silentSegments.contains { $0.count >= minimumSilenceSamples }
  }
}
