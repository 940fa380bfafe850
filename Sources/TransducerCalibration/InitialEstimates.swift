internal import CMath

/// Shapes to start a fit from: the best of a grid, by magnitude alone.
enum InitialEstimates {
  /// Steps of the resonance in an octave.
  private static let stepsPerOctave = 24.0
  /// The qualities that are tried.
  private static let qualities = (0..<13).map { 0.4 * pow(100, Double($0) / 12) }
  /// Groups of the response that are taken as one.
  private static let coarseness = 3
  /// How many starts are kept.
  private static let count = 4

  /// The starts for a sensor, best first; their delays are those that fit them best.
  static func shapes(for response: MeasuredResponse, order: Int, band: ClosedRange<Double>) -> [ResonanceShape] {
    // Wider groups are enough to find where to begin.
    let groups = stride(from: 0, to: response.groups.count, by: coarseness).map { start in
      let run = response.groups[start..<min(start + coarseness, response.groups.count)]
      let weight = run.reduce(0) { $0 + $1.weight }
      return Magnitude(
        hertz: run.reduce(0) { $0 + $1.weight * $1.hertz } / weight,
        value: run.reduce(0) { $0 + $1.weight * $1.gain.magnitude } / weight, weight: weight)
    }
    let steps = Int(stepsPerOctave * log2(band.upperBound / band.lowerBound))
    var candidates: [(cost: Double, shape: ResonanceShape)] = []
    for step in 0...max(1, steps) {
      let hertz = band.lowerBound * pow(2, Double(step) / stepsPerOctave)
      for qualityFactor in qualities {
        let shape = ResonanceShape(
          modes: [.init(resonance: hertz, qualityFactor: qualityFactor)], delay: 0, order: order)
        candidates.append((cost(of: shape, groups), shape))
      }
    }
    candidates.sort { $0.cost < $1.cost }
    var kept: [ResonanceShape] = []
    for candidate in candidates where kept.count < count {
      // Neighbours of one another lead to one end.
      let isNew = kept.allSatisfy {
        abs(log2(candidate.shape.main.resonance / $0.main.resonance)) > 1.0 / 6
          || abs(log(candidate.shape.main.qualityFactor / $0.main.qualityFactor)) > 0.8
      }
      if isNew { kept.append(candidate.shape) }
    }
    return kept.map { delayed($0, response, band: band) }
  }

  /// A shape of one resonance at the delay that fits it best.
  static func delayed(_ shape: ResonanceShape, _ response: MeasuredResponse, band: ClosedRange<Double>)
    -> ResonanceShape
  {
    var shape = shape
    shape.delay = delay(of: shape, response, reach: 0.5 / band.lowerBound)
    return shape
  }

  /// A part of the response without its phase.
  private struct Magnitude {
    var hertz: Double
    var value: Double
    var weight: Double
  }

  private static func cost(of shape: ResonanceShape, _ groups: [Magnitude]) -> Double {
    var overlap = 0.0
    var own = 0.0
    for group in groups {
      let power = shape.still(0, atHertz: group.hertz).power
      overlap += group.weight * power.squareRoot() * group.value
      own += group.weight * power
    }
    return own > 0 ? -overlap * overlap / own : 0
  }

  private static func delay(of shape: ResonanceShape, _ response: MeasuredResponse, reach: Double) -> Double {
    let terms = response.groups.map { group in
      let value = shape.still(0, atHertz: group.hertz) * shape.passed(atHertz: group.hertz)
      return (hertz: group.hertz, value: value.conjugate * group.gain * group.weight)
    }
    return DelaySearch.delay(of: terms, within: reach, ignoresSign: true)
  }
}
