/// A simulated person who presses a key when the level of a tone falls noticeably below its
/// maximum.
///
/// The just-noticeable difference is drawn for each tone, from 1 to 2 dB. The reaction time has a
/// mean of 0.25 s and a standard deviation of 0.08 s.
public struct SimulatedHand {
  private var generator: SplitMixGenerator
  private var peakLevel = -Double.infinity
  private var noticeableDrop = 1.5
  private var pressTime: Double?
  private var hasPressed = false

  /// Creates a person, who reacts in the same way for the same seed.
  public init(seed: UInt64) {
    generator = SplitMixGenerator(state: seed)
    beginTone()
  }

  /// Begins a new tone.
  public mutating func beginTone() {
    peakLevel = -.infinity
    pressTime = nil
    hasPressed = false
    noticeableDrop = Double.random(in: 1...2, using: &generator)
  }

  /// Returns whether the person presses the key now, which happens at most once in each tone.
  ///
  /// - Parameters:
  ///   - level: The current level, in decibels.
  ///   - seconds: The current time.
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
