internal import HapticFormats
import HapticModel

/// What a `.haptic` file holds: an envelope of amplitude, taps on its points, and an envelope of
/// frequency.
struct HapticClip: Equatable {
  /// A tap that stands out of the envelope.
  struct Emphasis: Equatable {
    /// 0…1, not below the envelope.
    var amplitude: Float
    /// From dull, 0, to sharp, 1.
    var frequency: Float
  }

  /// A corner of the amplitude envelope.
  struct Point: Equatable {
    /// Seconds from the start of the clip.
    var time: Double
    /// 0…1.
    var amplitude: Float
    /// The tap at the point, or nil.
    var emphasis: Emphasis?
  }

  /// A corner of the frequency envelope.
  struct FrequencyPoint: Equatable {
    /// Seconds from the start of the clip.
    var time: Double
    /// From the lowest, 0, to the highest, 1.
    var frequency: Float
  }

  /// By rising time; two at one time are a jump.
  var amplitude: [Point] = []
  /// By rising time, empty where the file has an empty list, or nil where it has none.
  var frequency: [FrequencyPoint]?

  /// The frequency of a clip without a frequency envelope.
  ///
  /// Source: facebook/meta-haptics-sdk, 41c9dcb, `renderer_c`.
  static let defaultFrequency: Float = 0.5

  /// The names of the layers a clip is read into.
  static let layerNames = (continuous: "continuous", transients: "transients")

  private static var plainSharpness: Float { Float(FrequencyLaw.sharpness(ofFrequency: Double(defaultFrequency))) }
}

// MARK: - As a composition

extension HapticClip {
  /// Whether nothing but emphases is felt, and the envelope ends with them: an envelope must be there.
  var isTapsAlone: Bool {
    guard let last = amplitude.last, let tap = amplitude.last(where: { $0.emphasis != nil }) else { return false }
    return amplitude.allSatisfy { $0.amplitude == 0 } && last.time - tap.time <= 2 * Self.tail
  }

  /// The clip as a layer of one continuous event, unless it is taps alone, and, where there are emphases, a layer of transients
  /// that no curve acts on.
  ///
  /// Control points hold the numbers of the file.
  func layers(_ law: AmplitudeLaw) -> [HapticComposition.Layer] {
    guard let first = amplitude.first, let last = amplitude.last else { return [] }
    let hasFrequency = frequency?.isEmpty == false
    var pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: first.time, duration: max(last.time - first.time, 0),
        parameters: [.hapticIntensity: 1, .hapticSharpness: hasFrequency ? 0 : Self.plainSharpness])
    ])
    pattern.curves.append(
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: amplitude.map { .init(time: $0.time, value: $0.amplitude) },
        interpolation: law == .root ? .squared : .linear))
    if let frequency {
      pattern.curves.append(
        ParameterCurve(
          id: .hapticSharpnessControl, time: 0,
          controlPoints: frequency.map { .init(time: $0.time, value: $0.frequency) }, interpolation: .squared))
    }
    var layers = [HapticComposition.Layer(pattern, name: Self.layerNames.continuous)]
    let taps = amplitude.compactMap { point in
      point.emphasis.map { emphasis in
        HapticEvent(
          kind: .hapticTransient, time: point.time,
          parameters: [
            .hapticIntensity: Float(law.intensity(ofAmplitude: Double(emphasis.amplitude))),
            .hapticSharpness: emphasis.frequency,
          ])
      }
    }
    if isTapsAlone { layers = [] }
    if !taps.isEmpty { layers.append(.init(HapticPattern(events: taps), name: Self.layerNames.transients)) }
    return layers
  }

  /// The clip that a composition was read from, number by number, or nil where it has what no clip
  /// has.
  init?(exactly composition: HapticComposition, _ law: AmplitudeLaw) {
    guard composition.loop == nil, (1...2).contains(composition.layers.count),
      composition.layers.allSatisfy({ $0.signals.isEmpty && $0.pattern.parameters.isEmpty && $0.place == nil })
    else { return nil }
    let pattern = composition.layers[0].pattern
    guard pattern.events.count == 1, let event = pattern.events.first, event.kind == .hapticContinuous,
      let level = pattern.curves.first, pattern.curves.count <= 2,
      Self.isCurve(level, of: .hapticIntensityControl, law == .root), let first = level.controlPoints.first,
      let last = level.controlPoints.last, level.controlPoints.count >= 2, event.time == first.time,
      event.duration == last.time - first.time, last.time > first.time, last.time <= FrameConversion.longest
    else { return nil }
    amplitude = level.controlPoints.map { Point(time: $0.time, amplitude: $0.value) }
    if pattern.curves.count == 2 {
      guard Self.isCurve(pattern.curves[1], of: .hapticSharpnessControl, true) else { return nil }
      frequency = pattern.curves[1].controlPoints.map { FrequencyPoint(time: $0.time, frequency: $0.value) }
    }
    let sharpness = frequency?.isEmpty == false ? 0 : Self.plainSharpness
    guard event.parameters == [.hapticIntensity: 1, .hapticSharpness: sharpness] else { return nil }
    guard composition.layers.count == 2 else { return }
    let taps = composition.layers[1].pattern
    guard taps.curves.isEmpty else { return nil }
    var index = 0
    for tap in taps.events {
      guard tap.kind == .hapticTransient, tap.duration == nil, let intensity = tap.parameters[.hapticIntensity],
        (0...1).contains(intensity), let sharpness = tap.parameters[.hapticSharpness], (0...1).contains(sharpness),
        tap.parameters.identifiers.count == 2
      else { return nil }
      while index < amplitude.count,
        amplitude[index].time < tap.time || (amplitude[index].time == tap.time && amplitude[index].emphasis != nil)
      { index += 1 }
      guard index < amplitude.count, amplitude[index].time == tap.time else { return nil }
      let floor = amplitude[index].amplitude
      var level = ShortestFloat.preimage(of: intensity, near: law) ?? intensity
      if level < floor, Float(law.intensity(ofAmplitude: Double(floor))) == intensity { level = floor }
      guard level >= floor else { return nil }
      amplitude[index].emphasis = Emphasis(amplitude: level, frequency: sharpness)
    }
  }

  private static func isCurve(_ curve: ParameterCurve, of id: DynamicParameterID, _ isSquared: Bool) -> Bool {
    guard curve.id == id, curve.time == 0, (curve.interpolation == .squared) == isSquared else { return false }
    let points = curve.controlPoints
    return points.allSatisfy { $0.time >= 0 && (0...1).contains($0.value) }
      && zip(points, points.dropFirst()).allSatisfy { $0.time <= $1.time }
  }
}

/// Amplitudes that were turned into intensities and back.
enum ShortestFloat {
  /// Of the amplitudes that a law turns into an intensity, the one with the fewest digits: most
  /// likely the one it came from.
  static func preimage(of intensity: Float, near law: AmplitudeLaw) -> Float? {
    guard law == .root else { return intensity }
    let middle = intensity * intensity
    var best: Float?
    for candidate in [middle.nextDown.nextDown, middle.nextDown, middle, middle.nextUp, middle.nextUp.nextUp]
    where candidate >= 0 && Float(Double(candidate).squareRoot()) == intensity {
      guard let shortest = best else {
        best = candidate
        continue
      }
      if candidate.description.utf8.count < shortest.description.utf8.count { best = candidate }
    }
    return best
  }
}
