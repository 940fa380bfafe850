/// A person who presses a key when a buzz that has grown is felt to fall.
///
/// Seeded: what falls by a just-noticeable difference of 1.5 dB, a third more or less, is noticed;
/// the key follows after 0.25 s, with a deviation of 0.08 s.
public struct SimulatedHand {
  private var generator: SplitMixGenerator
  private var peakLevel = -Double.infinity
  private var noticeableDrop = 1.5
  private var pressTime: Double?
  private var hasPressed = false

  /// Equal seeds give equal hands.
  public init(seed: UInt64) {
    generator = SplitMixGenerator(state: seed)
    beginTone()
  }

  /// A new tone begins.
  public mutating func beginTone() {
    peakLevel = -.infinity
    pressTime = nil
    hasPressed = false
    noticeableDrop = Double.random(in: 1...2, using: &generator)
  }

  /// Feels a level in decibels; answers whether the key goes down, once a tone.
  public mutating func presses(feeling level: Double, at seconds: Double) -> Bool {
    peakLevel = max(peakLevel, level)
    if pressTime == nil, level < peakLevel - noticeableDrop {
      pressTime = seconds + max(0.05, 0.25 + 0.08 * generator.normalValue())
    }
    guard let pressTime, !hasPressed, seconds >= pressTime else { return false }
    hasPressed = true
    return true
  }
}
