extension Range<Int> {
  /// The runs of neighbours that match.
  package func runs(where matches: (Int) -> Bool) -> [Range<Int>] {
    filter(matches).reduce(into: []) { runs, index in
      if let last = runs.last, last.upperBound == index {
        runs[runs.count - 1] = last.lowerBound..<index + 1
      } else {
        runs.append(index..<index + 1)
      }
    }
  }
}

/// Leaves out of a long line what no pixel can show.
enum LineSimplification {
  /// From how many points on a line is thinned.
  static let decimationThreshold = 4_000

  /// The line with at most its first, highest, lowest and last point in each column of pixels.
  /// - Parameter points: By rising `x`.
  static func decimated(_ points: [PlotPoint]) -> [PlotPoint] {
    guard points.count > decimationThreshold else { return points }
    var result: [PlotPoint] = []
    var start = 0
    while start < points.count {
      let column = points[start].x.rounded(.down)
      var end = start
      var high = start
      var low = start
      while end < points.count, points[end].x.rounded(.down) == column {
        if points[end].y < points[high].y {
          high = end
        }
        if points[end].y > points[low].y {
          low = end
        }
        end += 1
      }
      for index in [start, min(high, low), max(high, low), end - 1]
      where result.last != points[index] {
        result.append(points[index])
      }
      start = end
    }
    return result
  }

  /// The part of a line by rising `x` within a range, cut at its ends.
  static func clipped(_ points: [PlotPoint], to range: ClosedRange<Double>) -> [PlotPoint] {
    guard let first = points.first, let last = points.last,
      first.x < range.lowerBound || last.x > range.upperBound
    else { return points }
    var result: [PlotPoint] = []
    func add(_ from: PlotPoint, _ to: PlotPoint, at x: Double) {
      let share = (x - from.x) / (to.x - from.x)
      result.append(PlotPoint(x, from.y + (to.y - from.y) * share))
    }
    for (index, point) in points.enumerated() {
      if index > 0 {
        let before = points[index - 1]
        for edge in [range.lowerBound, range.upperBound] where before.x < edge && point.x > edge {
          add(before, point, at: edge)
        }
      }
      if range.contains(point.x) {
        result.append(point)
      }
    }
    return result
  }

  /// The line without points that lie nearly on the straight line between those that are kept.
  /// - Parameter tolerance: How far in pixels a point that is left out may lie from the line, up or
  ///   down.
  static func simplified(_ points: [PlotPoint], tolerance: Double) -> [PlotPoint] {
    guard var corner = points.first else { return [] }
    var result = [corner]
    // The steepest and flattest lines from the corner that pass all points since by the tolerance.
    var least = -Double.infinity
    var most = Double.infinity
    for (last, point) in zip(points, points.dropFirst()) {
      let run = point.x - corner.x
      let slope = run > 0 ? (point.y - corner.y) / run : .infinity
      if !(least...max(least, most)).contains(slope) {
        result.append(last)
        corner = last
        least = -Double.infinity
        most = Double.infinity
      }
      let length = point.x - corner.x
      guard length > 0 else { continue }
      least = max(least, (point.y - tolerance - corner.y) / length)
      most = min(most, (point.y + tolerance - corner.y) / length)
    }
    if let last = points.last, result.last != last {
      result.append(last)
    }
    return result
  }
}

/// The lowest, highest and effective value of the samples in each column of pixels.
struct SampleColumns {
  /// The lowest sample of each column; neighbours overlap by a sample, so that no gap shows.
  private(set) var minima: [Double] = []
  private(set) var maxima: [Double] = []
  /// The root of the mean square around each column, which counts most, over `effectiveWindow`.
  private(set) var rms: [Double] = []
  /// How far the samples of each column reach to either side of 0.
  var peaks: [Double] { zip(minima, maxima).map { max(abs($0), abs($1)) } }

  /// Seconds that an effective value is taken over: two periods of the lowest usual tone.
  static let rmsWindowSeconds = 0.025

  /// Columns to each side that a mean takes in, so that a line over many seconds does not flicker.
  private static let minimumMeanRadius = 3

  /// - Parameter step: Samples of a column, at least 1.
  init(_ samples: [Float], rate: Double, samplesPerColumn step: Double) {
    let count = Int((Double(samples.count) / step).rounded(.up))
    var powers: [Double] = [0]
    minima.reserveCapacity(count)
    maxima.reserveCapacity(count)
    powers.reserveCapacity(count + 1)
    unsafe samples.withUnsafeBufferPointer { buffer in
      for column in 0..<count {
        let start = min(Int(Double(column) * step), buffer.count - 1)
        let end = max(start + 1, min(Int(Double(column + 1) * step), buffer.count))
        var least = Float.infinity
        var most = -Float.infinity
        var power = 0.0
        for index in start..<end {
          let sample = unsafe buffer[index].isFinite ? buffer[index] : 0
          least = min(least, sample)
          most = max(most, sample)
          power += Double(sample * sample)
        }
        if end < buffer.count, unsafe buffer[end].isFinite {
          least = unsafe min(least, buffer[end])
          most = unsafe max(most, buffer[end])
        }
        minima.append(Double(least))
        maxima.append(Double(most))
        powers.append(powers[column] + power)
      }
    }
    // Twice the mean over half the window is a mean in which the middle counts most.
    let reach = max(
      Self.minimumMeanRadius, Int((Self.rmsWindowSeconds * rate / step / 4).rounded(.down)))
    let frames = Double(samples.count) / Double(max(1, count))
    let once = Self.centeredMeans(prefixSums: powers.map { $0 / max(1, frames) }, radius: reach)
    let sums = once.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
    rms = Self.centeredMeans(prefixSums: sums, radius: reach).map { max(0, $0).squareRoot() }
  }

  /// The means of ranges around each value, from the sums of all values before each.
  private static func centeredMeans(prefixSums sums: [Double], radius reach: Int) -> [Double] {
    let count = sums.count - 1
    return (0..<max(0, count)).map { place in
      let from = max(0, place - reach)
      let to = min(count, place + reach + 1)
      return (sums[to] - sums[from]) / Double(to - from)
    }
  }
}

enum SlidingMaximum {
  /// For each value the greatest of those up to so many places away; time grows with the count
  /// alone.
  static func of(_ values: [Double], radius reach: Int) -> [Double] {
    guard reach > 0 else { return values }
    // Places of falling values, of which the first is the greatest in reach.
    var queue = [Int]()
    var head = 0
    var result: [Double] = []
    for place in 0..<(values.count + reach) {
      if place < values.count {
        while queue.count > head, values[queue[queue.count - 1]] <= values[place] {
          queue.removeLast()
        }
        queue.append(place)
      }
      let middle = place - reach
      guard middle >= 0 else { continue }
      while queue[head] < middle - reach {
        head += 1
      }
      result.append(values[queue[head]])
    }
    return result
  }
}

/// The strongest event in each column of pixels or characters.
enum EventColumns {
  /// The strongest point of each column; intensity 0 where there is none.
  ///
  /// - Parameter place: The place of a second, in columns from the first.
  static func strongestPoints(
    of events: [EventPlot.Event], count: Int, position place: (Double) -> Double
  )
    -> [EventPlot.Point]
  {
    var strongest = [EventPlot.Point](
      repeating: .init(time: 0, intensity: 0, sharpness: 0), count: count)
    for (from, to) in events.lazy.flatMap({ zip($0.points, $0.points.dropFirst()) }) {
      let start = place(from.time)
      let end = place(to.time)
      guard end >= 0, start < Double(count) else { continue }
      let first = Int(max(0, start))
      for column in first...max(first, Int(min(Double(count - 1), end))) {
        // What ends inside a column is as strong there as at its strongest.
        let share = end > start ? min(max((Double(column) + 0.5 - start) / (end - start), 0), 1) : 0
        let intensity =
          end - start >= 1
          ? from.intensity + (to.intensity - from.intensity) * share
          : max(from.intensity, to.intensity)
        guard intensity > strongest[column].intensity else { continue }
        let sharpness = from.sharpness + (to.sharpness - from.sharpness) * share
        strongest[column] = .init(time: from.time, intensity: intensity, sharpness: sharpness)
      }
    }
    return strongest
  }
}
