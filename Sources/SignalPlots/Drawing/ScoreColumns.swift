/// The strongest event in each column of pixels or characters.
struct ScoreColumns {
  /// The strongest point of each column; intensity 0 where there is none.
  private(set) var strongest: [PatternScore.Point]

  /// Goes through all events: time grows with the columns that each lasts for.
  ///
  /// - Parameter place: The place of a second, in columns from the first.
  init(_ events: [PatternScore.Event], count: Int, place: (Double) -> Double) {
    strongest = Array(
      repeating: PatternScore.Point(time: 0, intensity: 0, sharpness: 0), count: count)
    for event in events {
      for (from, to) in zip(event.points, event.points.dropFirst()) {
        let first = column(of: place(from.time))
        let last = column(of: place(to.time))
        for column in first...max(first, last) {
          let share = last > first ? Double(column - first) / Double(last - first) : 0
          let intensity =
            last > first
            ? from.intensity + (to.intensity - from.intensity) * share
            : max(from.intensity, to.intensity)
          if intensity > strongest[column].intensity {
            strongest[column] = PatternScore.Point(
              time: from.time, intensity: intensity, sharpness: from.sharpness)
          }
        }
      }
    }
  }

  private func column(of place: Double) -> Int {
    min(max(0, Int(place)), strongest.count - 1)
  }
}
