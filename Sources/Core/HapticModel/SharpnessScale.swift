internal import CMath

/// A mapping between sharpness and frequency, for formats that store frequencies in hertz.
///
/// The mapping extends beyond sharpness 0…1, for frequencies outside the scale.
public struct SharpnessScale: Equatable, Sendable {
  /// The frequency of sharpness 0, in hertz.
  public var minimumHertz: Double
  /// The frequency of sharpness 1, in hertz.
  public var maximumHertz: Double
  /// A Boolean value that indicates whether equal steps of sharpness are equal frequency ratios.
  ///
  /// If false, they are equal frequency differences.
  public var isLogarithmic: Bool

  /// Creates a scale between two positive frequencies.
  public init(minimumHertz: Double, maximumHertz: Double, isLogarithmic: Bool) {
    self.minimumHertz = minimumHertz
    self.maximumHertz = maximumHertz
    self.isLogarithmic = isLogarithmic
  }

  /// The scale of the profile `phone`: 80–230 Hz in equal ratios. It is the default for formats
  /// that do not define a scale.
  public static let phone = SharpnessScale(minimumHertz: 80, maximumHertz: 230, isLogarithmic: true)

  /// The minimum and maximum frequencies that a pattern can state, in hertz.
  public static let supportedHertz: ClosedRange<Double> = 1...20_000

  /// Returns a frequency in hertz, clamped to the range that a pattern can state.
  public static func clampedToSupported(hertz: Double) -> Double {
    min(max(hertz, supportedHertz.lowerBound), supportedHertz.upperBound)
  }

  /// Returns the frequency of a sharpness, in hertz, without clamping.
  public func hertz(ofSharpness sharpness: Double) -> Double {
    isLogarithmic
      ? minimumHertz * pow(maximumHertz / minimumHertz, sharpness)
      : minimumHertz + (maximumHertz - minimumHertz) * sharpness
  }

  /// Returns the sharpness of a positive frequency, without clamping: values outside 0…1 are beyond
  /// the scale.
  ///
  /// If the scale has only a single frequency, the result is 0.
  public func sharpness(ofHertz hertz: Double) -> Double {
    guard maximumHertz != minimumHertz else { return 0 }
    return isLogarithmic
      ? log(hertz / minimumHertz) / log(maximumHertz / minimumHertz)
      : (hertz - minimumHertz) / (maximumHertz - minimumHertz)
  }

  /// The maximum natural logarithm of the frequency ratio between the ends of a segment.
  ///
  /// The segment approximates part of a line on the other kind of scale.
  ///
  /// A chord of a logarithm or exponential deviates by an eighth of the squared length, which is
  /// below 10⁻⁴.
  private static let maximumSegmentLogFrequencyRatio = 0.021

  /// The maximum number of segments that approximate one line on the other kind of scale.
  private static let maximumLineSegmentCount = 512

  /// Returns the number of segments that approximate a line on the other kind of scale.
  ///
  /// The segments have equal frequency ratios. Both frequencies must be positive.
  ///
  /// - Parameters:
  ///   - first: The frequency at the start, in hertz.
  ///   - second: The frequency at the end, in hertz.
  public static func lineSegmentCount(fromHertz first: Double, toHertz second: Double) -> Int {
    let unroundedLineCount = abs(log(second / first)) / maximumSegmentLogFrequencyRatio
    return FrameConversion.clampedInteger(
      unroundedLineCount.rounded(.up), in: 1...maximumLineSegmentCount)
  }

  /// Returns the fractions that divide a line on a linear scale for a logarithmic scale.
  ///
  /// Lines between the fractions approximate it on the logarithmic scale. The fractions are in
  /// ascending order, without 0 and 1.
  ///
  /// The parts have equal frequency ratios, because equal differences would be long steps at low
  /// frequencies.
  ///
  /// - Parameters:
  ///   - first: The frequency at the start, in hertz.
  ///   - second: The frequency at the end, in hertz.
  public static func lineDivisionFractions(fromHertz first: Double, toHertz second: Double)
    -> [Double]
  {
    let segmentCount = lineSegmentCount(fromHertz: first, toHertz: second)
    guard segmentCount > 1 else { return [] }
    return (1..<segmentCount).map { step in
      let hertz = first * pow(second / first, Double(step) / Double(segmentCount))
      return (hertz - first) / (second - first)
    }
  }
}

// MARK: - Layers that state hertz

extension HapticComposition {
  /// A Boolean value that indicates whether any layer states frequencies in hertz.
  public var hasStatedHertz: Bool { layers.contains { $0.sharpnessScale != nil } }

  /// Returns the composition with stated frequencies converted to sharpness.
  ///
  /// The sharpness is on the scale of a device, so that the device determines the frequencies.
  ///
  /// - Parameter scale: The scale of the device. A frequency beyond it becomes the nearest end.
  public func convertingStatedHertz(to scale: SharpnessScale) -> HapticComposition {
    guard hasStatedHertz else { return self }
    var convertedComposition = self
    convertedComposition.layers = layers.map { $0.convertingStatedHertz(to: scale) }
    return convertedComposition
  }

  /// The range of stated frequencies that the haptic events reach, in hertz.
  ///
  /// The range is nil if no layer states frequencies.
  public var statedHertzRange: ClosedRange<Double>? {
    let layerRanges = layers.compactMap { $0.statedHertzRange }
    guard let minimumHertz = layerRanges.map({ $0.lowerBound }).min(),
      let maximumHertz = layerRanges.map({ $0.upperBound }).max()
    else { return nil }
    return minimumHertz...maximumHertz
  }
}

extension HapticComposition.Layer {
  /// Returns the layer with stated frequencies converted to sharpness, clamped to 0…1.
  ///
  /// The sharpness is on the scale of a device.
  ///
  /// A layer that states no frequencies is returned unchanged. A line stays a line if both scales
  /// have equal steps; otherwise, it becomes several.
  public func convertingStatedHertz(to target: SharpnessScale) -> HapticComposition.Layer {
    guard let sourceScale = sharpnessScale else { return self }
    let sharpnessConversion = SharpnessConversion(from: sourceScale, to: target)
    let eventSharpness = EventSharpnessTimeline(pattern)
    var convertedLayer = self
    convertedLayer.sharpnessScale = nil
    for index in pattern.events.indices where pattern.events[index].kind.isHaptic {
      let sharpness = sharpnessConversion.clampedSharpness(pattern.events[index].unclampedSharpness)
      convertedLayer.pattern.events[index].parameters[.hapticSharpness] = Float(sharpness)
    }
    for index in pattern.parameters.indices
    where pattern.parameters[index].id == .hapticSharpnessControl {
      let parameter = pattern.parameters[index]
      let base = eventSharpness.sharpness(at: parameter.time)
      let value =
        sharpnessConversion.clampedSharpness(base + Double(parameter.value))
        - sharpnessConversion.clampedSharpness(base)
      convertedLayer.pattern.parameters[index].value = Float(value)
    }
    for index in pattern.curves.indices where pattern.curves[index].id == .hapticSharpnessControl {
      let curve = pattern.curves[index]
      convertedLayer.pattern.curves[index].controlPoints = sharpnessConversion.controlPoints(
        of: curve, base: eventSharpness.sharpness(at: curve.time))
    }
    return convertedLayer
  }

  /// The range of frequencies that the haptic events reach, in hertz.
  ///
  /// The range includes the changes by their control.
  ///
  /// The result is nil if the layer doesn't state frequencies. Points of a control between which no
  /// event plays also count.
  public var statedHertzRange: ClosedRange<Double>? {
    guard let sharpnessScale else { return nil }
    let eventSharpness = EventSharpnessTimeline(pattern)
    var sharpnessValues: [Double] = []
    for parameter in pattern.parameters where parameter.id == .hapticSharpnessControl {
      sharpnessValues.append(eventSharpness.sharpness(at: parameter.time) + Double(parameter.value))
    }
    var controlledTimes: Set<Double> = []
    for curve in pattern.curves where curve.id == .hapticSharpnessControl {
      let base = eventSharpness.sharpness(at: curve.time)
      sharpnessValues += curve.controlPoints.map { base + Double($0.value) }
      controlledTimes.insert(curve.time)
    }
    // A curve that starts with an event replaces the sharpness of the event.
    for (time, value) in zip(eventSharpness.onsetSeconds, eventSharpness.sharpnessValues)
    where !controlledTimes.contains(time) {
      sharpnessValues.append(value)
    }
    let reachedFrequenciesHertz = sharpnessValues.filter { $0.isFinite }.map {
      sharpnessScale.hertz(ofSharpness: $0)
    }
    guard let minimumHertz = reachedFrequenciesHertz.min(),
      let maximumHertz = reachedFrequenciesHertz.max()
    else { return nil }
    return minimumHertz...maximumHertz
  }
}

extension HapticEvent {
  /// The unclamped sharpness of the event, or the default if the sharpness is absent or NaN.
  public var unclampedSharpness: Double {
    let statedSharpness = parameters[.hapticSharpness] ?? .nan
    return Double(
      statedSharpness.isNaN
        ? EventParameterID.hapticSharpness.defaultValue(for: kind) : statedSharpness)
  }
}

/// A timeline of the sharpness of the event on which a control acts.
private struct EventSharpnessTimeline {
  /// The onsets of the haptic events, in ascending order.
  let onsetSeconds: [Double]
  /// The sharpness of each event.
  let sharpnessValues: [Double]

  init(_ pattern: HapticPattern) {
    let hapticEvents = pattern.events.filter { $0.kind.isHaptic }
    let onsetOrder = hapticEvents.indices.sorted {
      (hapticEvents[$0].time, $0) < (hapticEvents[$1].time, $1)
    }
    onsetSeconds = onsetOrder.map { hapticEvents[$0].time }
    sharpnessValues = onsetOrder.map { hapticEvents[$0].unclampedSharpness }
  }

  /// Returns the sharpness of the last event that starts at or before a time.
  ///
  /// If no such event exists, returns the sharpness of the first event.
  func sharpness(at time: Double) -> Double {
    guard !sharpnessValues.isEmpty else { return 0 }
    let laterIndex = onsetSeconds.prefixEndIndex { $0 <= time }
    return sharpnessValues[max(laterIndex - 1, 0)]
  }
}

/// A conversion of sharpness from one frequency scale to another.
///
/// The result is clamped to 0…1.
private struct SharpnessConversion {
  let sourceScale: SharpnessScale
  let targetScale: SharpnessScale

  init(from source: SharpnessScale, to target: SharpnessScale) {
    self.sourceScale = source
    self.targetScale = target
  }

  /// Returns the sharpness on the target scale, without clamping.
  private func unclampedSharpness(_ sharpness: Double) -> Double {
    if sourceScale == targetScale { return sharpness }
    let hertz = sourceScale.hertz(ofSharpness: sharpness)
    return targetScale.sharpness(ofHertz: SharpnessScale.clampedToSupported(hertz: hertz))
  }

  /// Returns the sharpness on the target scale, clamped to 0…1.
  func clampedSharpness(_ sharpness: Double) -> Double {
    min(max(unclampedSharpness(sharpness), 0), 1)
  }

  /// Returns the control points of a curve, converted to the target scale.
  ///
  /// The values are relative to the converted base sharpness.
  ///
  /// - Parameters:
  ///   - curve: The curve, whose values are added to a sharpness.
  ///   - base: The sharpness on the source scale.
  func controlPoints(of curve: ParameterCurve, base: Double) -> [ParameterCurve.ControlPoint] {
    let validPoints = curve.controlPoints.filter { !$0.time.isNaN && !$0.value.isNaN }
    let clampedBase = clampedSharpness(base)
    var convertedPoints: [ParameterCurve.ControlPoint] = []
    func appendConvertedPoint(_ time: Double, _ sharpness: Double) {
      convertedPoints.append(
        .init(time: time, value: Float(clampedSharpness(sharpness) - clampedBase)))
    }
    for (index, point) in validPoints.enumerated() {
      let end = base + Double(point.value)
      if index > 0 {
        let start = base + Double(validPoints[index - 1].value)
        let startTime = validPoints[index - 1].time
        for fraction in lineBendFractions(from: start, to: end) where point.time > startTime {
          appendConvertedPoint(
            startTime + (point.time - startTime) * fraction, start + (end - start) * fraction)
        }
      }
      appendConvertedPoint(point.time, end)
    }
    return convertedPoints
  }

  /// Returns the fractions of a source line where the converted line bends, in ascending order.
  private func lineBendFractions(from start: Double, to end: Double) -> [Double] {
    guard start != end else { return [] }
    var divisionFractions: [Double] = []
    for hertz in [targetScale.minimumHertz, targetScale.maximumHertz] {
      divisionFractions.append((sourceScale.sharpness(ofHertz: hertz) - start) / (end - start))
    }
    if sourceScale.isLogarithmic != targetScale.isLogarithmic {
      let startHertz = SharpnessScale.clampedToSupported(
        hertz: sourceScale.hertz(ofSharpness: start))
      let endHertz = SharpnessScale.clampedToSupported(hertz: sourceScale.hertz(ofSharpness: end))
      if sourceScale.isLogarithmic {
        let count = SharpnessScale.lineSegmentCount(fromHertz: startHertz, toHertz: endHertz)
        divisionFractions += (1..<max(count, 1)).map { Double($0) / Double(count) }
      } else {
        divisionFractions += SharpnessScale.lineDivisionFractions(
          fromHertz: startHertz, toHertz: endHertz)
      }
    }
    return divisionFractions.filter { $0 > 0 && $0 < 1 }.sorted()
  }
}
