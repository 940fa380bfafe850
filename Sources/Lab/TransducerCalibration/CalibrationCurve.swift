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
    /// A Boolean value that indicates whether the response is above the noise up to the resonance.
    ///
    /// It must be above the noise at every frequency from this point to the resonance.
    public let isAboveNoise: Bool
  }

  /// The points of the curve by increasing frequency, up to 96 per octave.
  public let points: [Point]
  /// The band of frequencies around the peak in which the response is within 10 dB of the peak.
  public let bandHertz: ClosedRange<Double>
  /// The frequencies around the resonance with a response above the noise.
  ///
  /// If there are none, the value is `bandHertz`.
  public let bandAboveNoiseHertz: ClosedRange<Double>
  /// A Boolean value that indicates whether the band may start below the measured frequencies.
  public let bandMayExtendBelowMeasurement: Bool
  /// A Boolean value that indicates whether the band may end above the measured frequencies.
  public let bandMayExtendAboveMeasurement: Bool

  /// The decrease of the response from the peak to the edges of the band, in decibels.
  private static let bandEdgeLossDecibels = 10.0
  /// The number of points on each side of a point in its moving average: a twelfth of an octave.
  ///
  /// The response is averaged before the band is determined.
  private static let smoothingHalfWidthPoints = 4
  /// The minimum ratio of response power to noise power of a measured point.
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
    let transferFunction = fit.transferFunction
    // The number of derivatives from the sensor's quantity to acceleration.
    let frequencyExponent = Double(2 - transferFunction.derivativeOrder)

    /// Returns the acceleration power of a group of bins, smoothed and without the high-pass.
    ///
    /// The high-pass is that of the recorder's input.
    func correctedPower(_ response: MeasuredResponse, _ index: Int) -> Double {
      Self.smoothedPower(of: response, around: index, exponent: frequencyExponent)
        / max(
          transferFunction.highPassResponse(atHertz: response.groups[index].meanHertz).power, 1e-9)
    }

    let powersByGroup = response.groups.indices.map { correctedPower(response, $0) }
    let noisePowersByGroup = noise.groups.indices.map { correctedPower(noise, $0) }
    let isAboveNoiseByGroup = Self.contiguousRun(
      of: zip(powersByGroup, noisePowersByGroup).map { $0 > Self.minimumPowerToNoiseRatio * $1 },
      around: response.groups.lastIndex { $0.meanHertz <= transferFunction.mainMode.resonanceHertz }
        ?? 0)
    let audiblePowers = zip(powersByGroup, isAboveNoiseByGroup).map { $1 ? $0 : 0 }
    let maximumAmplitude = max(audiblePowers.max() ?? 0, 1e-300).squareRoot()
    let curvePoints = zip(response.groups, isAboveNoiseByGroup).map { group, isAboveNoise in
      let fitted = fit.modeledResponse(atHertz: group.meanHertz)
      let highPass = transferFunction.highPassResponse(atHertz: group.meanHertz).magnitude
      let factor =
        pow(group.meanHertz, frequencyExponent) / (maximumAmplitude * max(highPass, 1e-5))
      return Point(
        hertz: group.meanHertz,
        measuredDecibels: Decibels.of(amplitude: group.recordedToPlayedRatio.magnitude * factor),
        fittedDecibels: Decibels.of(amplitude: fitted.magnitude * factor),
        residualDecibels: Decibels.of(
          amplitude: (group.recordedToPlayedRatio - fitted).magnitude * factor),
        isAboveNoise: isAboveNoise)
    }
    self.points = curvePoints
    guard let peakIndex = audiblePowers.indices.max(by: { audiblePowers[$0] < audiblePowers[$1] })
    else {
      bandHertz = 1...1
      bandAboveNoiseHertz = 1...1
      bandMayExtendBelowMeasurement = true
      bandMayExtendAboveMeasurement = true
      return
    }
    let bandEdgePower = audiblePowers[peakIndex] * pow(10, -Self.bandEdgeLossDecibels / 10)
    let bandStartIndex =
      (audiblePowers[..<peakIndex].lastIndex { !($0 >= bandEdgePower) } ?? -1) + 1
    let bandEndIndex =
      (audiblePowers[peakIndex...].firstIndex { !($0 >= bandEdgePower) } ?? audiblePowers.count) - 1
    bandHertz = curvePoints[bandStartIndex].hertz...curvePoints[bandEndIndex].hertz
    let firstAudibleIndex = isAboveNoiseByGroup.firstIndex(of: true) ?? bandStartIndex
    let lastAudibleIndex = isAboveNoiseByGroup.lastIndex(of: true) ?? bandEndIndex
    bandAboveNoiseHertz =
      curvePoints[min(firstAudibleIndex, bandStartIndex)]
      .hertz...curvePoints[max(lastAudibleIndex, bandEndIndex)].hertz
    bandMayExtendBelowMeasurement = bandStartIndex == 0 || !isAboveNoiseByGroup[bandStartIndex - 1]
    bandMayExtendAboveMeasurement =
      bandEndIndex == curvePoints.count - 1 || !isAboveNoiseByGroup[bandEndIndex + 1]
  }

  /// The points of the measured response for a profile, with the maximum at 0 dB.
  ///
  /// The points are equally spaced on a logarithmic frequency axis. Points below the noise are
  /// absent.
  public var profileResponsePoints: [ResponsePoint] {
    guard let minimumHertz = points.first?.hertz, let maximumHertz = points.last?.hertz,
      minimumHertz < maximumHertz
    else {
      return []
    }
    let octavesPerPoint = log2(maximumHertz / minimumHertz) / Double(Self.maximumProfilePointCount)
    var responsePoints: [ResponsePoint] = []
    for index in 0..<Self.maximumProfilePointCount {
      let low = minimumHertz * pow(2, Double(index) * octavesPerPoint)
      let high = low * pow(2, octavesPerPoint)
      let inside = points.filter { $0.hertz >= low && $0.hertz < high }
      guard !inside.isEmpty, inside.allSatisfy(\.isAboveNoise) else { continue }
      let power = inside.reduce(0) { $0 + pow(10, $1.measuredDecibels / 10) } / Double(inside.count)
      responsePoints.append(
        ResponsePoint(
          hertz: Calibration.rounded((low * high).squareRoot(), places: 1),
          relativeAccelerationDecibels: Decibels.of(power: power)))
    }
    let maximumDecibels = responsePoints.map(\.relativeAccelerationDecibels).max() ?? 0
    return responsePoints.map {
      ResponsePoint(
        hertz: $0.hertz,
        relativeAccelerationDecibels: Calibration.rounded(
          $0.relativeAccelerationDecibels - maximumDecibels, places: 1))
    }
  }

  /// Returns values that are true only in the run of true values around an index.
  private static func contiguousRun(of values: [Bool], around index: Int) -> [Bool] {
    let runStartIndex = (values.prefix(index).lastIndex(of: false) ?? -1) + 1
    let runEndIndex = values.dropFirst(index).firstIndex(of: false) ?? values.count
    return values.indices.map { runEndIndex > index && (runStartIndex..<runEndIndex).contains($0) }
  }

  /// Returns the mean power around a group of bins, weighted by a power of the frequency.
  ///
  /// - Parameters:
  ///   - response: The measured response.
  ///   - index: The index of the group.
  ///   - exponent: The exponent of the frequency for amplitudes.
  private static func smoothedPower(
    of response: MeasuredResponse, around index: Int, exponent: Double
  ) -> Double {
    let groups = response.groups
    let firstGroupIndex = max(0, index - smoothingHalfWidthPoints)
    let lastGroupIndex = min(groups.count - 1, index + smoothingHalfWidthPoints)
    let summedPower = (firstGroupIndex...lastGroupIndex).reduce(0) {
      $0 + groups[$1].recordedToPlayedRatio.power * pow(groups[$1].meanHertz, 2 * exponent)
    }
    return summedPower / Double(lastGroupIndex - firstGroupIndex + 1)
  }
}
