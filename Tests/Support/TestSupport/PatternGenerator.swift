public import HapticModel
public import HapticRender

/// Generates random patterns of about half a second with every kind of event and control.
public struct PatternGenerator {
  /// The generator of the random numbers.
  public var randomNumbers: SplitMixGenerator
  /// Values that replace about half of the random values, such as NaN; empty for none.
  public var unusualValues: [Float] = []

  /// Creates a generator, which returns the same patterns for the same seed.
  public init(seed: UInt64) { randomNumbers = SplitMixGenerator(state: seed) }

  /// Returns a random number in a range, or an unusual value.
  public mutating func value(in range: ClosedRange<Float>) -> Float {
    if let unusualValue = unusualValues.randomElement(using: &randomNumbers),
      Bool.random(using: &randomNumbers)
    {
      return unusualValue
    }
    return Float.random(in: range, using: &randomNumbers)
  }

  /// Returns the next pattern.
  public mutating func pattern() -> HapticPattern {
    var pattern = HapticPattern()
    for _ in 0..<Int.random(in: 1...8, using: &randomNumbers) {
      pattern.events.append(event())
    }
    for _ in 0..<Int.random(in: 0...6, using: &randomNumbers) {
      guard let id = DynamicParameterID.allCases.randomElement(using: &randomNumbers) else {
        continue
      }
      let time = Double.random(in: -0.1...0.5, using: &randomNumbers)
      pattern.parameters.append(DynamicParameter(id: id, value: value(in: id.range), time: time))
    }
    for _ in 0..<Int.random(in: 0...4, using: &randomNumbers) {
      guard let id = DynamicParameterID.allCases.randomElement(using: &randomNumbers) else {
        continue
      }
      let points = (0..<Int.random(in: 0...6, using: &randomNumbers)).map { _ in
        ParameterCurve.ControlPoint(
          time: Double.random(in: 0...0.4, using: &randomNumbers), value: value(in: id.range))
      }
      let time = Double.random(in: 0...0.3, using: &randomNumbers)
      pattern.curves.append(ParameterCurve(id: id, time: time, controlPoints: points))
    }
    return pattern
  }

  private mutating func event() -> HapticEvent {
    let kind = HapticEvent.Kind.allCases.randomElement(using: &randomNumbers) ?? .hapticTransient
    var event = HapticEvent(kind: kind, time: Double.random(in: 0...0.3, using: &randomNumbers))
    if kind != .hapticTransient || Bool.random(using: &randomNumbers) {
      event.duration = Double.random(in: 0...0.2, using: &randomNumbers)
    }
    for id in EventParameterID.allCases where Bool.random(using: &randomNumbers) {
      let timeParameters: Set<EventParameterID> = [.attackTime, .decayTime, .releaseTime]
      event.parameters[id] = value(in: timeParameters.contains(id) ? 0...0.5 : id.range)
    }
    if kind == .audioCustom {
      event.waveform = AudioWaveform(
        path: Bool.random(using: &randomNumbers) ? "mono" : "stereo",
        usesVolumeEnvelope: Bool.random(using: &randomNumbers),
        isLooping: Bool.random(using: &randomNumbers))
    }
    return event
  }

  /// The sounds that the patterns refer to, by path.
  public static let sounds: [String: AudioBuffer] = {
    var generator = PatternGenerator(seed: 99)
    let mono = (0..<700).map { _ in generator.value(in: -1...1) }
    let stereo = (0..<1_301).map { _ in generator.value(in: -0.5...0.5) }
    return [
      "mono": AudioBuffer(interleaved: mono, channelCount: 1),
      "stereo": AudioBuffer(interleaved: stereo, channelCount: 2),
    ]
  }()
}
