/// One event of a pattern with the values a reader is told.
struct ScoreEvent: Equatable {
  /// The second it begins.
  var time: Double
  /// Seconds it lasts; 0 for a tap.
  var duration: Double
  /// What it is: `tap`, `continuous`, `tone`, `sound file`.
  var kind: String
  /// Names and values, as `intensity` and `0.55`.
  var values: [(name: String, value: String)]

  static func == (one: ScoreEvent, other: ScoreEvent) -> Bool {
    one.time == other.time && one.duration == other.duration && one.kind == other.kind
      && one.values.elementsEqual(other.values, by: ==)
  }
}
