internal import Glibc

/// How much a body feels of a vibration at each frequency, on the scale of acceleration.
///
/// A weighting is a factor on acceleration. It says something about a signal only in so far as the
/// transducer's acceleration is proportional to the samples over the band in question.
public struct VibrotactileWeighting: Equatable, Sendable {
  /// What it is called.
  public let name: String
  /// What part of the body it is about.
  public let bodyPart: String
  private let law: Law

  /// A point of a threshold curve: hertz, and dB of acceleration.
  struct Threshold: Equatable, Sendable {
    var hertz: Double
    var decibels: Double
  }

  private enum Law: Equatable {
    case thresholds([Threshold])
    case filter(WeightingFilter)
  }

  init(name: String, bodyPart: String, thresholds: [Threshold]) {
    self.name = name
    self.bodyPart = bodyPart
    law = .thresholds(thresholds)
  }

  init(name: String, bodyPart: String, filter: WeightingFilter) {
    self.name = name
    self.bodyPart = bodyPart
    law = .filter(filter)
  }

  /// The factor at a frequency.
  public func gain(atHertz hertz: Double) -> Double {
    switch law {
    case .thresholds(let points): Self.gain(points, hertz)
    case .filter(let filter): filter.gain(atHertz: hertz)
    }
  }

  /// The inverse of the threshold at 100 Hz over that at a frequency, on lines over log frequency.
  private static func gain(_ points: [Threshold], _ hertz: Double) -> Double {
    guard let first = points.first, let last = points.last, hertz >= first.hertz,
      hertz <= last.hertz
    else { return 0 }
    return pow(10, (threshold(points, 100) - threshold(points, hertz)) / 20)
  }

  private static func threshold(_ points: [Threshold], _ hertz: Double) -> Double {
    guard let next = points.firstIndex(where: { $0.hertz >= hertz }) else { return 0 }
    guard next > 0 else { return points[0].decibels }
    let (low, high) = (points[next - 1], points[next])
    let share = log(hertz / low.hertz) / log(high.hertz / low.hertz)
    return low.decibels + share * (high.decibels - low.decibels)
  }
}
