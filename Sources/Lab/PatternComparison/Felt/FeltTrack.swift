internal import CMath
import HapticModel

/// The time grid for sampling and comparing the vibrations of two patterns.
struct FeltGrid {
  /// The default interval between grid points, in seconds.
  ///
  /// For very long patterns, the interval is longer.
  private static let defaultStepSeconds = 0.0005
  /// The maximum number of points of the grid.
  private static let maximumPointCount = 1_200_000.0
  /// The maximum total number of points in the tracks of all vibrations.
  private static let maximumTrackPointCount = 4_000_000.0
  /// The length of the grid after the end of the longest pattern, in seconds.
  private static let trailingSeconds = 0.1

  /// The interval between grid points, in seconds.
  let stepSeconds: Double
  /// The number of points.
  let totalPointCount: Int

  init(_ patterns: [FeltPattern]) {
    let durationSeconds = (patterns.map(\.durationSeconds).max() ?? 0) + Self.trailingSeconds
    let totalTrackSeconds = patterns.flatMap(\.vibrations).reduce(0) {
      $0 + $1.envelope.releaseEndTime
    }
    stepSeconds = max(
      Self.defaultStepSeconds, durationSeconds / Self.maximumPointCount,
      totalTrackSeconds / Self.maximumTrackPointCount)
    totalPointCount = Int((durationSeconds / stepSeconds).rounded(.up)) + 1
  }

  /// The indices of all points.
  var indices: Range<Int> { 0..<totalPointCount }

  /// Returns the time of a point, in seconds.
  func time(_ index: Int) -> Double { Double(index) * stepSeconds }

  /// Returns the number of grid points in a duration, rounded down, but at least one.
  func pointCount(_ seconds: Double) -> Int { max(1, Int(seconds / stepSeconds + 1e-6)) }

  /// Returns the index of the point before a time, limited to the grid.
  func index(before seconds: Double) -> Int {
    min(max(0, Int((seconds / stepSeconds).rounded(.down))), totalPointCount)
  }
}

/// The sampled amplitude and frequency of a vibration on the time grid.
struct FeltTrack {
  /// The index of the vibration's event in the composition.
  let eventIndex: Int
  /// The grid index of the track's first point.
  let firstPointIndex: Int
  /// The amplitude at each point, as a fraction of full scale.
  let amplitudes: [Double]
  /// The base-2 logarithms of the frequencies in hertz, at each point.
  let log2Hertz: [Double]
  /// The maximum amplitude.
  let peakAmplitude: Double

  /// The maximum amplitude of silence, as a fraction of the vibration's peak.
  static let silenceToPeakAmplitudeRatio = 0.02

  init(
    eventIndex: Int, firstPointIndex: Int, amplitudes: [Double], log2Hertz: [Double]
  ) {
    self.eventIndex = eventIndex
    self.firstPointIndex = firstPointIndex
    self.amplitudes = amplitudes
    self.log2Hertz = log2Hertz
    peakAmplitude = amplitudes.max() ?? 0
  }

  /// Samples a vibration on a time grid.
  init(_ vibration: FeltVibration, mapping: FeltMapping, grid: FeltGrid) {
    let firstIndex = max(0, Int((vibration.startSeconds / grid.stepSeconds).rounded(.up)))
    let endIndex = min(
      grid.totalPointCount,
      max(firstIndex, Int((vibration.endSeconds / grid.stepSeconds).rounded(.up))))
    var amplitudes: [Double] = []
    var log2HertzValues: [Double] = []
    amplitudes.reserveCapacity(endIndex - firstIndex)
    log2HertzValues.reserveCapacity(endIndex - firstIndex)
    let feltPoints = vibration.points
    var nextPointIndex = 1
    for index in firstIndex..<max(firstIndex, endIndex) {
      let pointTime = grid.time(index)
      while nextPointIndex < feltPoints.count, feltPoints[nextPointIndex].time <= pointTime {
        nextPointIndex += 1
      }
      let previousPoint = feltPoints[nextPointIndex - 1]
      var intensity = previousPoint.intensity
      var pointLog2Hertz = previousPoint.log2Hertz
      if nextPointIndex < feltPoints.count, feltPoints[nextPointIndex].time > previousPoint.time {
        let segmentFraction =
          max(0, pointTime - previousPoint.time)
          / (feltPoints[nextPointIndex].time - previousPoint.time)
        intensity +=
          (feltPoints[nextPointIndex].intensity - previousPoint.intensity) * segmentFraction
        pointLog2Hertz +=
          (feltPoints[nextPointIndex].log2Hertz - previousPoint.log2Hertz) * segmentFraction
      }
      let envelopeLevel = vibration.envelope.level(at: pointTime - vibration.startSeconds)
      amplitudes.append(mapping.amplitude(atIntensity: intensity) * envelopeLevel)
      log2HertzValues.append(pointLog2Hertz)
    }
    self.init(
      eventIndex: vibration.eventIndex, firstPointIndex: firstIndex, amplitudes: amplitudes,
      log2Hertz: log2HertzValues)
  }

  /// The range of grid points that the track covers.
  var pointRange: Range<Int> { firstPointIndex..<(firstPointIndex + amplitudes.count) }

  /// Returns the amplitude at a grid point, or 0 outside of the track.
  func amplitude(atPoint index: Int) -> Double {
    pointRange.contains(index) ? amplitudes[index - firstPointIndex] : 0
  }

  /// The range of grid points in which the vibration is not silent.
  var soundingRange: Range<Int> {
    let amplitudeThreshold = Self.silenceToPeakAmplitudeRatio * peakAmplitude
    guard let firstIndex = amplitudes.firstIndex(where: { $0 > amplitudeThreshold }),
      let lastIndex = amplitudes.lastIndex(where: { $0 > amplitudeThreshold })
    else { return firstPointIndex..<firstPointIndex }
    return (firstPointIndex + firstIndex)..<(firstPointIndex + lastIndex + 1)
  }

  /// Returns the track with its amplitudes multiplied by a gain.
  func scaled(by gain: Double) -> FeltTrack {
    FeltTrack(
      eventIndex: eventIndex, firstPointIndex: firstPointIndex,
      amplitudes: amplitudes.map { $0 * gain }, log2Hertz: log2Hertz)
  }

  /// Returns the track with its frequencies shifted.
  ///
  /// - Parameter shift: The change of frequency, in octaves.
  func shifted(byOctaves shift: Double) -> FeltTrack {
    FeltTrack(
      eventIndex: eventIndex, firstPointIndex: firstPointIndex, amplitudes: amplitudes,
      log2Hertz: log2Hertz.map { $0 + shift })
  }

  /// Returns the track with its times mapped by a time warp.
  func warped(by warp: TimeWarp, grid: FeltGrid) -> FeltTrack {
    guard !amplitudes.isEmpty else { return self }
    let firstIndex = max(
      0, Int((warp.target(of: grid.time(firstPointIndex)) / grid.stepSeconds).rounded(.down)))
    let endTime = warp.target(of: grid.time(pointRange.upperBound))
    let endIndex = min(
      grid.totalPointCount, max(firstIndex, Int((endTime / grid.stepSeconds).rounded(.up))))
    var warpedAmplitudes: [Double] = []
    var warpedLog2Hertz: [Double] = []
    for index in firstIndex..<max(firstIndex, endIndex) {
      let sourcePosition =
        warp.source(of: grid.time(index)) / grid.stepSeconds - Double(firstPointIndex)
      let sourceIndex = Int(sourcePosition.rounded(.down))
      let sourceFraction = sourcePosition - Double(sourceIndex)
      let isInside = sourceIndex >= 0 && sourceIndex < amplitudes.count
      let lowerIndex = min(max(0, sourceIndex), amplitudes.count - 1)
      let upperIndex = min(max(0, sourceIndex + 1), amplitudes.count - 1)
      let nextAmplitude = sourceIndex + 1 < amplitudes.count ? amplitudes[upperIndex] : 0
      warpedAmplitudes.append(
        isInside
          ? amplitudes[lowerIndex] + (nextAmplitude - amplitudes[lowerIndex]) * sourceFraction : 0)
      warpedLog2Hertz.append(
        log2Hertz[lowerIndex] + (log2Hertz[upperIndex] - log2Hertz[lowerIndex]) * sourceFraction)
    }
    return FeltTrack(
      eventIndex: eventIndex, firstPointIndex: firstIndex, amplitudes: warpedAmplitudes,
      log2Hertz: warpedLog2Hertz)
  }
}

/// A piecewise linear mapping of times. Beyond its points, the shift is constant.
struct TimeWarp {
  private var sourceTimes: [Double]
  private var targetTimes: [Double]

  /// The extension of a line beyond its two points, in seconds.
  private static let extrapolationSeconds = 100_000.0

  /// Creates a mapping from points, sorted by time; without points, times do not change.
  ///
  /// - Parameters:
  ///   - sources: The times.
  ///   - targets: The times to which they are mapped.
  ///   - extrapolating: Pass true to continue the line of two points on both sides.
  init(sources: [Double], targets: [Double], extrapolating: Bool = false) {
    self.sourceTimes = sources
    self.targetTimes = targets
    guard extrapolating, sources.count == 2, sources[1] > sources[0] else { return }
    let timeScale = (targets[1] - targets[0]) / (sources[1] - sources[0])
    let extrapolationOffsets = [-Self.extrapolationSeconds, Self.extrapolationSeconds]
    self.sourceTimes = extrapolationOffsets.map { sources[0] + $0 }
    self.targetTimes = extrapolationOffsets.map { targets[0] + $0 * timeScale }
  }

  /// A Boolean value that indicates whether the mapping leaves all times unchanged.
  var isIdentity: Bool { sourceTimes == targetTimes }

  /// The inverse mapping.
  var inverted: TimeWarp {
    var invertedWarp = self
    invertedWarp.sourceTimes = targetTimes
    invertedWarp.targetTimes = sourceTimes
    return invertedWarp
  }

  /// Returns the target time of a source time.
  func target(of source: Double) -> Double { Self.map(source, from: sourceTimes, to: targetTimes) }

  /// Returns the source time of a target time.
  func source(of target: Double) -> Double { Self.map(target, from: targetTimes, to: sourceTimes) }

  private static func map(_ time: Double, from: [Double], to: [Double]) -> Double {
    guard let firstTime = from.first, let lastTime = from.last else { return time }
    if time <= firstTime { return time + to[0] - firstTime }
    if time >= lastTime { return time + to[to.count - 1] - lastTime }
    // The first anchor at the time or after.
    let segmentIndex = from.prefixEndIndex { $0 < time }
    let segmentSeconds = from[segmentIndex] - from[segmentIndex - 1]
    guard segmentSeconds > 0 else { return to[segmentIndex] }
    return to[segmentIndex - 1] + (to[segmentIndex] - to[segmentIndex - 1])
      * (time - from[segmentIndex - 1]) / segmentSeconds
  }
}

/// The sampled vibrations and the transients of a pattern, with sums over all vibrations.
struct SampledFeltPattern {
  private(set) var tracks: [FeltTrack]
  var transients: [FeltTransient]
  /// The sum of all tracks' amplitudes at each grid point.
  private(set) var summedAmplitudes: [Double]
  /// The amplitude-weighted sum of all tracks' logarithmic frequencies at each grid point.
  private var weightedLog2HertzSums: [Double]

  init(_ pattern: FeltPattern, grid: FeltGrid) {
    tracks = pattern.vibrations.map { FeltTrack($0, mapping: pattern.mapping, grid: grid) }
    transients = pattern.transients
    summedAmplitudes = [Double](repeating: 0, count: grid.totalPointCount)
    weightedLog2HertzSums = summedAmplitudes
    for track in tracks {
      addTrack(track, sign: 1)
    }
  }

  private mutating func addTrack(_ track: FeltTrack, sign: Double) {
    for (offset, amplitude) in track.amplitudes.enumerated() {
      let index = track.firstPointIndex + offset
      summedAmplitudes[index] = max(0, summedAmplitudes[index] + sign * amplitude)
      weightedLog2HertzSums[index] += sign * amplitude * track.log2Hertz[offset]
    }
  }

  /// Replaces the track at an index.
  mutating func replaceTrack(at index: Int, by track: FeltTrack) {
    addTrack(tracks[index], sign: -1)
    tracks[index] = track
    addTrack(track, sign: 1)
  }

  /// Returns the pattern with the times of its tracks and transients mapped.
  func warped(by warp: TimeWarp, grid: FeltGrid) -> SampledFeltPattern {
    if warp.isIdentity { return self }
    var warpedPattern = self
    for (index, track) in tracks.enumerated() {
      warpedPattern.replaceTrack(at: index, by: track.warped(by: warp, grid: grid))
    }
    for index in warpedPattern.transients.indices {
      warpedPattern.transients[index].time = warp.target(of: warpedPattern.transients[index].time)
    }
    return warpedPattern
  }

  /// Returns the integral of the squared amplitudes over a time range.
  func vibrationEnergy(in range: ClosedRange<Double>, grid: FeltGrid) -> Double {
    let startIndex = max(0, grid.index(before: range.lowerBound))
    let endIndex = min(summedAmplitudes.count, grid.index(before: range.upperBound))
    guard startIndex < endIndex else { return 0 }
    return summedAmplitudes[startIndex..<endIndex].reduce(0) { $0 + $1 * $1 } * grid.stepSeconds
  }

  /// Returns the base-2 logarithm of the mean frequency at a grid point, weighted by amplitude.
  func meanLog2Hertz(atPoint index: Int) -> Double {
    weightedLog2HertzSums[index] / max(summedAmplitudes[index], 1e-12)
  }

  /// The maximum amplitude of the summed vibrations and of the transients.
  var peakAmplitude: Double {
    max(summedAmplitudes.max() ?? 0, transients.map(\.amplitude).max() ?? 0)
  }

  /// Returns the event with at least a given fraction of the energy in a range, or nil.
  func dominantEventIndex(in range: Range<Int>, minimumFraction fraction: Double = 0.6) -> Int? {
    var totalEnergy = 0.0
    var strongestEvent: (event: Int, energy: Double)?
    for track in tracks where track.pointRange.overlaps(range) {
      let energy = track.pointRange.clamped(to: range).reduce(0.0) { sum, index in
        let amplitude = track.amplitudes[index - track.firstPointIndex]
        return sum + amplitude * amplitude
      }
      totalEnergy += energy
      if energy > strongestEvent?.energy ?? 0 {
        strongestEvent = (track.eventIndex, energy)
      }
    }
    guard let strongestEvent, strongestEvent.energy >= fraction * totalEnergy else { return nil }
    return strongestEvent.event
  }
}
