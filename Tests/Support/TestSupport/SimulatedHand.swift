/// A person who presses a key when a buzz that has grown is felt to fall.
///
/// Seeded: what falls by a just-noticeable difference of 1.5 dB, a third more or less, is noticed;
/// the key follows after 0.25 s, with a deviation of 0.08 s.
public struct SimulatedHand {
  private var chance: Chance
  private var most = -Double.infinity
  private var difference = 1.5
  private var due: Double?
  private var hasPressed = false

  /// Equal seeds give equal hands.
  public init(seed: UInt64) {
    chance = Chance(state: seed)
    begin()
  }

  /// A new tone begins.
  public mutating func begin() {
    most = -.infinity
    due = nil
    hasPressed = false
    difference = Double.random(in: 1...2, using: &chance)
  }

  /// Feels a level in decibels; answers whether the key goes down, once a tone.
  public mutating func presses(feeling level: Double, at seconds: Double) -> Bool {
    most = max(most, level)
    if due == nil, level < most - difference {
      due = seconds + max(0.05, 0.25 + 0.08 * chance.normal())
    }
    guard let due, !hasPressed, seconds >= due else { return false }
    hasPressed = true
    return true
  }
}
