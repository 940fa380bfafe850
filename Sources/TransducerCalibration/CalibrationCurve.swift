public import HapticRender
internal import CMath
internal import SignalAnalysis

/// A measured acceleration response with the fitted one, by frequency.
///
/// What a sensor of velocity or displacement gave is brought to acceleration; the greatest of what was
/// measured and stands out of the noise is 0 dB.
public struct CalibrationCurve: Equatable, Sendable {
  /// A place on the curve.
  public struct Point: Equatable, Sendable {
    /// Frequency in hertz.
    public let hertz: Double
    /// What was measured, in decibels.
    public let measured: Double
    /// What the resonances give, in decibels.
    public let fitted: Double
    /// What is left of the measured when the fitted is taken from it, phase and all, in decibels.
    public let residual: Double
    /// Whether what was measured stands out of the noise, from here to the resonance.
    public let isAboveNoise: Bool
  }

  /// The points by rising frequency, up to 96 in an octave.
  public let points: [Point]
  /// The frequencies around the peak at which no more than 10 dB are lost.
  public let band: ClosedRange<Double>
  /// The frequencies around the resonance that stand out of the noise; the band where none do.
  public let heard: ClosedRange<Double>
  /// Whether the band may go on below or above what the sweep went through.
  public let isOpenBelow, isOpenAbove: Bool

  /// Decibels that are lost at the ends of the band.
  private static let bandLoss = 10.0
  /// Points to both sides that the band is judged by: a twelfth of an octave in all.
  private static let reach = 4
  /// How many times the power of noise is heard.
  private static let prominence = 4.0
  /// Points of a response in a profile.
  private static let responseCount = 24

  /// - Parameter noise: What noise adds to the response, in the same groups.
  init(_ response: MeasuredResponse, noise: MeasuredResponse, fit: ResonanceFit) {
    let order = Double(2 - fit.shape.order)
    func power(_ response: MeasuredResponse, _ index: Int) -> Double {
      Self.power(response, around: index, order: order)
        / max(fit.shape.highPassValue(atHertz: response.groups[index].hertz).power, 1e-9)
    }
    let levels = response.groups.indices.map { power(response, $0) }
    let noises = noise.groups.indices.map { power(noise, $0) }
    let heard = Self.run(
      of: zip(levels, noises).map { $0 > Self.prominence * $1 },
      around: response.groups.lastIndex { $0.hertz <= fit.shape.main.resonance } ?? 0)
    let greatest = max(zip(levels, heard).map { $1 ? $0 : 0 }.max() ?? 0, 1e-300).squareRoot()
    let points = zip(response.groups, heard).map { group, isAboveNoise in
      let fitted = fit.value(atHertz: group.hertz)
      let passed = fit.shape.highPassValue(atHertz: group.hertz).magnitude
      let factor = pow(group.hertz, order) / (greatest * max(passed, 1e-5))
      return Point(
        hertz: group.hertz, measured: Decibels.of(amplitude: group.gain.magnitude * factor),
        fitted: Decibels.of(amplitude: fitted.magnitude * factor),
        residual: Decibels.of(amplitude: (group.gain - fitted).magnitude * factor), isAboveNoise: isAboveNoise)
    }
    self.points = points
    let reached = levels.indices.map { heard[$0] ? levels[$0] : 0 }
    guard let peak = reached.indices.max(by: { reached[$0] < reached[$1] }) else {
      band = 1...1
      self.heard = 1...1
      (isOpenBelow, isOpenAbove) = (true, true)
      return
    }
    let least = reached[peak] * pow(10, -Self.bandLoss / 10)
    var low = peak
    var high = peak
    while low > 0, reached[low - 1] >= least { low -= 1 }
    while high < reached.count - 1, reached[high + 1] >= least { high += 1 }
    band = points[low].hertz...points[high].hertz
    let first = heard.firstIndex(of: true) ?? low
    let last = heard.lastIndex(of: true) ?? high
    self.heard = points[min(first, low)].hertz...points[max(last, high)].hertz
    isOpenBelow = low == 0 || !heard[low - 1]
    isOpenAbove = high == points.count - 1 || !heard[high + 1]
  }

  /// The measured response in few points for a profile: equally far apart, the greatest at 0 dB.
  ///
  /// What noise hides is left out.
  public var response: [ResponsePoint] {
    guard let first = points.first?.hertz, let last = points.last?.hertz, first < last else { return [] }
    let width = log2(last / first) / Double(Self.responseCount)
    var found: [ResponsePoint] = []
    for index in 0..<Self.responseCount {
      let low = first * pow(2, Double(index) * width)
      let high = low * pow(2, width)
      let inside = points.filter { $0.hertz >= low && $0.hertz < high }
      guard !inside.isEmpty, inside.allSatisfy(\.isAboveNoise) else { continue }
      let power = inside.reduce(0) { $0 + pow(10, $1.measured / 10) } / Double(inside.count)
      found.append(ResponsePoint(hertz: Self.rounded((low * high).squareRoot()), decibels: Decibels.of(power: power)))
    }
    let most = found.map(\.decibels).max() ?? 0
    return found.map { ResponsePoint(hertz: $0.hertz, decibels: Self.rounded($0.decibels - most)) }
  }

  /// What holds without a break around a place.
  private static func run(of matches: [Bool], around place: Int) -> [Bool] {
    var run = [Bool](repeating: false, count: matches.count)
    for index in matches.indices.dropFirst(place) {
      guard matches[index] else { break }
      run[index] = true
    }
    for index in matches.indices.prefix(place).reversed() {
      guard matches[index], run[index + 1] else { break }
      run[index] = true
    }
    return run
  }

  /// The mean power around a group, brought to acceleration.
  private static func power(_ response: MeasuredResponse, around index: Int, order: Double) -> Double {
    let groups = response.groups
    let range = max(0, index - reach)...min(groups.count - 1, index + reach)
    let power = range.reduce(0) { $0 + groups[$1].gain.power * pow(groups[$1].hertz, 2 * order) }
    return power / Double(range.count)
  }

  private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
