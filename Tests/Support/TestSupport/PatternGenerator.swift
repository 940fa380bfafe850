public import HapticModel
public import HapticRender

/// Numbers that look random and are the same each time.
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// The numbers of a seed.
  public init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }

  /// The next number.
  public mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_f491_4f6c_dd1d
  }
}

/// Patterns of every kind of event and control within half a second.
public struct PatternGenerator {
  /// The source of chance.
  public var randomNumbers: SeededGenerator
  /// Numbers given now and then instead of sensible ones.
  public var unusualValues: [Float] = []

  /// The patterns of a seed.
  public init(seed: UInt64) { randomNumbers = SeededGenerator(seed: seed) }

  /// A number in a range, or an oddity.
  public mutating func value(in range: ClosedRange<Float>) -> Float {
    if let oddity = unusualValues.randomElement(using: &randomNumbers),
      Bool.random(using: &randomNumbers)
    {
      return oddity
    }
    return Float.random(in: range, using: &randomNumbers)
  }

  /// The next pattern.
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
      let time: Set<EventParameterID> = [.attackTime, .decayTime, .releaseTime]
      event.parameters[id] = value(in: time.contains(id) ? 0...0.5 : id.range)
    }
    if kind == .audioCustom {
      event.waveform = AudioWaveform(
        path: Bool.random(using: &randomNumbers) ? "mono" : "stereo",
        usesVolumeEnvelope: Bool.random(using: &randomNumbers),
        isLooping: Bool.random(using: &randomNumbers))
    }
    return event
  }

  /// The sounds the patterns name.
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
