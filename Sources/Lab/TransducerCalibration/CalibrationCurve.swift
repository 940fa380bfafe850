public import HapticRender
internal import CMath
internal import SignalAnalysis

/// The measured and the fitted acceleration response, by frequency.
///
/// Responses of velocity and displacement are converted to acceleration. The maximum of the
/// measured response above the noise is 0 dB.
public struct CalibrationCurve: Equatable, Sendable {
  /// A point of the calibration curve.
  public struct Point: Equatable, Sendable {
    /// The frequency, in hertz.
    public let hertz: Double
    /// The measured response, in decibels.
    public let measuredDecibels: Double
    /// The response of the fitted resonances, in decibels.
    public let fittedDecibels: Double
    /// The magnitude of the complex difference of measured and fitted response, in decibels.
    public let residualDecibels: Double
    /// A Boolean value that indicates whether the response is above the noise, from this point to
    /// the resonance.
    public let isAboveNoise: Bool
  }

  /// The points by increasing frequency, up to 96 in an octave.
  public let points: [Point]
  /// The frequencies around the peak within 10 dB of it.
  public let band: ClosedRange<Double>
  /// The frequencies around the resonance at which the response is above the noise, or the band if
  /// there are none.
  public let bandAboveNoise: ClosedRange<Double>
  /// A Boolean value that indicates whether the band may extend below the measured frequencies.
  public let mayExtendBelow: Bool
  /// A Boolean value that indicates whether the band may extend above the measured frequencies.
  public let mayExtendAbove: Bool

  /// The loss at the edges of the band, in decibels.
  private static let bandEdgeLoss = 10.0
  /// The number of points to each side that are averaged for the band: a twelfth of an octave.
  private static let smoothingHalfWidth = 4
  /// The minimum ratio of the response's power to the noise's.
  private static let minimumPowerOverNoise = 4.0
  /// The maximum number of points of a response in a profile.
  private static let responsePointCount = 24

  /// Creates a curve.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - noise: The noise in the response, in the same groups.
  ///   - fit: The fitted resonances.
  init(_ response: MeasuredResponse, noise: MeasuredResponse, fit: ResonanceFit) {
    let model = fit.transferFunction
    // The number of derivatives from the sensor's quantity to acceleration.
    let order = Double(2 - model.derivativeOrder)

    /// Returns the smoothed acceleration power of a group, without the recorder's high-pass.
    func power(_ response: MeasuredResponse, _ index: Int) -> Double {
      Self.smoothedPower(of: response, around: index, exponent: order)
        / max(model.highPassValue(atHertz: response.groups[index].hertz).power, 1e-9)
    }

    let levels = response.groups.indices.map { power(response, $0) }
    let noiseLevels = noise.groups.indices.map { power(noise, $0) }
    let areAboveNoise = Self.contiguousRun(
      of: zip(levels, noiseLevels).map { $0 > Self.minimumPowerOverNoise * $1 },
      around: response.groups.lastIndex { $0.hertz <= model.mainMode.resonance } ?? 0)
    let audibleLevels = zip(levels, areAboveNoise).map { $1 ? $0 : 0 }
    let maximum = max(audibleLevels.max() ?? 0, 1e-300).squareRoot()
    let points = zip(response.groups, areAboveNoise).map { group, isAboveNoise in
      let fitted = fit.value(atHertz: group.hertz)
      let highPass = model.highPassValue(atHertz: group.hertz).magnitude
      let factor = pow(group.hertz, order) / (maximum * max(highPass, 1e-5))
      return Point(
        hertz: group.hertz, measuredDecibels: Decibels.of(amplitude: group.gain.magnitude * factor),
        fittedDecibels: Decibels.of(amplitude: fitted.magnitude * factor),
        residualDecibels: Decibels.of(amplitude: (group.gain - fitted).magnitude * factor),
        isAboveNoise: isAboveNoise)
    }
    self.points = points
    guard let peak = audibleLevels.indices.max(by: { audibleLevels[$0] < audibleLevels[$1] })
    else {
      band = 1...1
      bandAboveNoise = 1...1
      mayExtendBelow = true
      mayExtendAbove = true
      return
    }
    let threshold = audibleLevels[peak] * pow(10, -Self.bandEdgeLoss / 10)
    let low = (audibleLevels[..<peak].lastIndex { !($0 >= threshold) } ?? -1) + 1
    let high =
      (audibleLevels[peak...].firstIndex { !($0 >= threshold) } ?? audibleLevels.count) - 1
    band = points[low].hertz...points[high].hertz
    let first = areAboveNoise.firstIndex(of: true) ?? low
    let last = areAboveNoise.lastIndex(of: true) ?? high
    bandAboveNoise = points[min(first, low)].hertz...points[max(last, high)].hertz
    mayExtendBelow = low == 0 || !areAboveNoise[low - 1]
    mayExtendAbove = high == points.count - 1 || !areAboveNoise[high + 1]
  }

  /// The measured response as points for a profile, equally spaced on a logarithmic axis, with the
  /// maximum at 0 dB. Points below the noise are absent.
  public var response: [ResponsePoint] {
    guard let first = points.first?.hertz, let last = points.last?.hertz, first < last else {
      return []
    }
    let octaves = log2(last / first) / Double(Self.responsePointCount)
    var response: [ResponsePoint] = []
    for index in 0..<Self.responsePointCount {
      let low = first * pow(2, Double(index) * octaves)
      let high = low * pow(2, octaves)
      let inside = points.filter { $0.hertz >= low && $0.hertz < high }
      guard !inside.isEmpty, inside.allSatisfy(\.isAboveNoise) else { continue }
      let power = inside.reduce(0) { $0 + pow(10, $1.measuredDecibels / 10) } / Double(inside.count)
      response.append(
        ResponsePoint(
          hertz: Calibration.rounded((low * high).squareRoot(), places: 1),
          decibels: Decibels.of(power: power)))
    }
    let maximum = response.map(\.decibels).max() ?? 0
    return response.map {
      ResponsePoint(
        hertz: $0.hertz, decibels: Calibration.rounded($0.decibels - maximum, places: 1))
    }
  }

  /// Returns only the contiguous run of true values that contains an index.
  private static func contiguousRun(of values: [Bool], around index: Int) -> [Bool] {
    let first = (values.prefix(index).lastIndex(of: false) ?? -1) + 1
    let end = values.dropFirst(index).firstIndex(of: false) ?? values.count
    return values.indices.map { end > index && (first..<end).contains($0) }
  }

  /// Returns the mean power around a group, multiplied by a power of the frequency.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - index: The index of the group.
  ///   - exponent: The exponent of the frequency for amplitudes.
  private static func smoothedPower(
    of response: MeasuredResponse, around index: Int, exponent: Double
  ) -> Double {
    let groups = response.groups
    let first = max(0, index - smoothingHalfWidth)
    let last = min(groups.count - 1, index + smoothingHalfWidth)
    let power = (first...last).reduce(0) {
      $0 + groups[$1].gain.power * pow(groups[$1].hertz, 2 * exponent)
    }
    return power / Double(last - first + 1)
  }
}
