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
    /// The frequency of the point, in hertz.
    public let hertz: Double
    /// The measured acceleration response at the frequency, in decibels.
    public let measuredDecibels: Double
    /// The response of the fitted resonances, in decibels.
    public let fittedDecibels: Double
    /// The magnitude of the complex difference of measured and fitted response, in decibels.
    public let residualDecibels: Double
    /// A Boolean value that indicates whether the response is above the noise at every frequency
    /// from this point to the resonance.
    public let isAboveNoise: Bool
  }

  /// The points of the curve by increasing frequency, up to 96 per octave.
  public let points: [Point]
  /// The band of frequencies around the peak in which the response is within 10 dB of the peak.
  public let bandHertz: ClosedRange<Double>
  /// The frequencies around the resonance at which the response is above the noise, or `bandHertz`
  /// if there are none.
  public let bandAboveNoiseHertz: ClosedRange<Double>
  /// A Boolean value that indicates whether the band may extend below the measured frequencies.
  public let mayExtendBelow: Bool
  /// A Boolean value that indicates whether the band may extend above the measured frequencies.
  public let mayExtendAbove: Bool

  /// The decrease of the response from the peak to the edges of the band, in decibels.
  private static let bandEdgeLossDecibels = 10.0
  /// The number of points on each side over which the response is averaged before the band is
  /// determined: a twelfth of an octave.
  private static let smoothingHalfWidthPoints = 4
  /// The minimum ratio of response power to noise power at a point that counts as measured.
  private static let minimumPowerToNoiseRatio = 4.0
  /// The maximum number of points of the response that a profile contains.
  private static let maximumProfilePointCount = 24

  /// Creates the curve of a measured response and its fit.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - noise: The noise in the response, in the same groups.
  ///   - fit: The fitted resonances.
  init(_ response: MeasuredResponse, noise: MeasuredResponse, fit: ResonanceFit) {
    let model = fit.transferFunction
    // The number of derivatives from the sensor's quantity to acceleration.
    let frequencyExponent = Double(2 - model.derivativeOrder)

    /// Returns the smoothed acceleration power of a group of bins, without the effect of the
    /// recorder's high-pass.
    func power(_ response: MeasuredResponse, _ index: Int) -> Double {
      Self.smoothedPower(of: response, around: index, exponent: frequencyExponent)
        / max(model.highPassValue(atHertz: response.groups[index].meanHertz).power, 1e-9)
    }

    let powersByGroup = response.groups.indices.map { power(response, $0) }
    let noisePowersByGroup = noise.groups.indices.map { power(noise, $0) }
    let areAboveNoise = Self.contiguousRun(
      of: zip(powersByGroup, noisePowersByGroup).map { $0 > Self.minimumPowerToNoiseRatio * $1 },
      around: response.groups.lastIndex { $0.meanHertz <= model.mainMode.resonanceHertz } ?? 0)
    let audiblePowers = zip(powersByGroup, areAboveNoise).map { $1 ? $0 : 0 }
    let maximumAmplitude = max(audiblePowers.max() ?? 0, 1e-300).squareRoot()
    let points = zip(response.groups, areAboveNoise).map { group, isAboveNoise in
      let fitted = fit.value(atHertz: group.meanHertz)
      let highPass = model.highPassValue(atHertz: group.meanHertz).magnitude
      let factor =
        pow(group.meanHertz, frequencyExponent) / (maximumAmplitude * max(highPass, 1e-5))
      return Point(
        hertz: group.meanHertz,
        measuredDecibels: Decibels.of(amplitude: group.spectrumRatio.magnitude * factor),
        fittedDecibels: Decibels.of(amplitude: fitted.magnitude * factor),
        residualDecibels: Decibels.of(amplitude: (group.spectrumRatio - fitted).magnitude * factor),
        isAboveNoise: isAboveNoise)
    }
    self.points = points
    guard let peak = audiblePowers.indices.max(by: { audiblePowers[$0] < audiblePowers[$1] })
    else {
      bandHertz = 1...1
      bandAboveNoiseHertz = 1...1
      mayExtendBelow = true
      mayExtendAbove = true
      return
    }
    let bandEdgePower = audiblePowers[peak] * pow(10, -Self.bandEdgeLossDecibels / 10)
    let lowestBandIndex = (audiblePowers[..<peak].lastIndex { !($0 >= bandEdgePower) } ?? -1) + 1
    let highestBandIndex =
      (audiblePowers[peak...].firstIndex { !($0 >= bandEdgePower) } ?? audiblePowers.count) - 1
    bandHertz = points[lowestBandIndex].hertz...points[highestBandIndex].hertz
    let first = areAboveNoise.firstIndex(of: true) ?? lowestBandIndex
    let last = areAboveNoise.lastIndex(of: true) ?? highestBandIndex
    bandAboveNoiseHertz =
      points[min(first, lowestBandIndex)].hertz...points[max(last, highestBandIndex)].hertz
    mayExtendBelow = lowestBandIndex == 0 || !areAboveNoise[lowestBandIndex - 1]
    mayExtendAbove = highestBandIndex == points.count - 1 || !areAboveNoise[highestBandIndex + 1]
  }

  /// The measured response as points for a profile, equally spaced on a logarithmic axis, with the
  /// maximum at 0 dB. Points below the noise are absent.
  public var profileResponsePoints: [ResponsePoint] {
    guard let first = points.first?.hertz, let last = points.last?.hertz, first < last else {
      return []
    }
    let octavesPerPoint = log2(last / first) / Double(Self.maximumProfilePointCount)
    var response: [ResponsePoint] = []
    for index in 0..<Self.maximumProfilePointCount {
      let low = first * pow(2, Double(index) * octavesPerPoint)
      let high = low * pow(2, octavesPerPoint)
      let inside = points.filter { $0.hertz >= low && $0.hertz < high }
      guard !inside.isEmpty, inside.allSatisfy(\.isAboveNoise) else { continue }
      let power = inside.reduce(0) { $0 + pow(10, $1.measuredDecibels / 10) } / Double(inside.count)
      response.append(
        ResponsePoint(
          hertz: Calibration.rounded((low * high).squareRoot(), places: 1),
          accelerationDecibels: Decibels.of(power: power)))
    }
    let maximum = response.map(\.accelerationDecibels).max() ?? 0
    return response.map {
      ResponsePoint(
        hertz: $0.hertz,
        accelerationDecibels: Calibration.rounded($0.accelerationDecibels - maximum, places: 1))
    }
  }

  /// Returns the values with all elements false except the contiguous run of true values that
  /// contains an index.
  private static func contiguousRun(of values: [Bool], around index: Int) -> [Bool] {
    let first = (values.prefix(index).lastIndex(of: false) ?? -1) + 1
    let end = values.dropFirst(index).firstIndex(of: false) ?? values.count
    return values.indices.map { end > index && (first..<end).contains($0) }
  }

  /// Returns the mean power of the response around a group of bins, with each power multiplied by a
  /// power of the frequency.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - index: The index of the group.
  ///   - exponent: The exponent of the frequency for amplitudes.
  private static func smoothedPower(
    of response: MeasuredResponse, around index: Int, exponent: Double
  ) -> Double {
    let groups = response.groups
    let firstGroup = max(0, index - smoothingHalfWidthPoints)
    let lastGroup = min(groups.count - 1, index + smoothingHalfWidthPoints)
    let power = (firstGroup...lastGroup).reduce(0) {
      $0 + groups[$1].spectrumRatio.power * pow(groups[$1].meanHertz, 2 * exponent)
    }
    return power / Double(lastGroup - firstGroup + 1)
  }
}
