extension HapticManager {
  /// A small earthquake: rolling, violent, dying away; 2.2 s.
  public func playEarthquakeSplash() { play("earthquake-splash") }

  /// A rumble with three aftershocks, played once on entering a scenario; 4 s.
  public func playEarthquakeSimulation() { play("earthquake-simulation") }

  /// Two bright rising taps.
  public func playCorrectAnswer() { play("correct-answer") }

  /// Three quick falling taps.
  public func playWrongAnswer() { play("wrong-answer") }

  /// A run of taps, a swell, one closing tap.
  public func playPerfectScore() { play("perfect-score") }

  /// A soft pat on the shoulder.
  public func playEncouragement() { play("encouragement") }
}
