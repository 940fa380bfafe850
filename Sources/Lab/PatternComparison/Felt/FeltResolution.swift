internal import CMath
import HapticFormats
import HapticRender

/// The maximum errors due to rounding in two pattern files.
struct FeltResolution {
  private let formatResolutions: [FormatResolution]
  /// The profile's mapping of pattern values to amplitude and frequency.
  let mapping: FeltMapping
  /// The maximum time error due to rounding, in seconds.
  let maximumTimeErrorSeconds: Double
  /// The maximum frequency error due to rounding, in octaves.
  let maximumFrequencyErrorOctaves: Double
  /// The maximum level error due to rounding at each level, in decibels.
  ///
  /// The levels decrease from 0 dBFS in steps of `tableStepDecibels`.
  private let levelErrorTableDecibels: [Double]

  private static let tableStepDecibels = 0.5
  private static let minimumTableDecibels = -120.0

  /// Computes the maximum errors due to rounding in two file formats.
  ///
  /// - Parameters:
  ///   - formats: The resolutions of both files; empty if nothing is rounded.
  ///   - mapping: The mapping of the profile.
  init(_ formats: [FormatResolution], mapping: FeltMapping) {
    self.formatResolutions = formats
    self.mapping = mapping
    maximumTimeErrorSeconds = formats.reduce(0) { $0 + $1.maximumTimeErrorSeconds }
    let frequencyMapping = mapping.profile.frequency
    let octavesPerSharpness = log2(max(1, frequencyMapping.highHertz / frequencyMapping.lowHertz))
    maximumFrequencyErrorOctaves = formats.reduce(0) { sum, format in
      let hertzError = log2(1 + format.frequencyStepHertz / 2 / frequencyMapping.lowHertz)
      return sum + format.sharpnessStep / 2 * octavesPerSharpness + hertzError
    }
    let tableEntryCount = Int(-Self.minimumTableDecibels / Self.tableStepDecibels) + 1
    levelErrorTableDecibels = (0..<tableEntryCount).map { index in
      let amplitude = pow(10, -Double(index) * Self.tableStepDecibels / 20)
      let amplitudeError = Self.amplitudeError(at: amplitude, formats: formats, mapping: mapping)
      return 20 * log10(1 + amplitudeError / amplitude)
    }
  }

  /// A Boolean value that indicates whether the files state exact values.
  var isExact: Bool { formatResolutions.allSatisfy { $0 == .exact } }

  /// Returns the maximum error of an amplitude due to rounding in both files.
  func amplitudeError(at amplitude: Double) -> Double {
    Self.amplitudeError(at: amplitude, formats: formatResolutions, mapping: mapping)
  }

  private static func amplitudeError(
    at amplitude: Double, formats: [FormatResolution], mapping: FeltMapping
  ) -> Double {
    let intensity = mapping.intensity(ofAmplitude: amplitude)
    let exactAmplitude = mapping.amplitude(atIntensity: intensity)
    return formats.reduce(0) { sum, format in
      let roundedAmplitude = mapping.amplitude(atIntensity: intensity + format.intensityStep / 2)
      // A stored amplitude is read as the square of the intensity.
      let squaredIntensity = intensity * intensity + format.amplitudeStep / 2
      let readAmplitude = mapping.amplitude(atIntensity: squaredIntensity.squareRoot())
      // At full scale, rounding only lowers a value.
      return sum
        + max(
          roundedAmplitude - exactAmplitude,
          loweredAmplitudeError(intensity, by: format.intensityStep / 2, mapping))
        + max(readAmplitude - exactAmplitude, 0)
    }
  }

  private static func loweredAmplitudeError(
    _ intensity: Double, by error: Double, _ mapping: FeltMapping
  ) -> Double {
    guard intensity + error > 1 else { return 0 }
    return mapping.amplitude(atIntensity: intensity)
      - mapping.amplitude(atIntensity: max(0, intensity - error))
  }

  /// Returns the maximum level error due to rounding at a level, both in decibels.
  func maximumLevelErrorDecibels(atDecibels decibels: Double) -> Double {
    let tablePosition = min(
      max(0, -decibels / Self.tableStepDecibels), Double(levelErrorTableDecibels.count - 1))
    let tableIndex = min(Int(tablePosition), levelErrorTableDecibels.count - 2)
    let stepFraction = tablePosition - Double(tableIndex)
    return levelErrorTableDecibels[tableIndex]
      + (levelErrorTableDecibels[tableIndex + 1] - levelErrorTableDecibels[tableIndex])
      * stepFraction
  }
}
