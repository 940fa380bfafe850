enum CalibrationAge {
  /// Days after which a check is offered: glue, springs and mounting creep over months.
  static let limit = 180

  /// The day as ISO 8601 has it, where the user is.
  static func today() -> String { CalendarTime.now.formatted("%Y-%m-%d", isLocal: true) }

  /// Offers the quick check of a profile whose measurement is old; a date that is not of ISO 8601 is taken for recent.
  static func note(on profile: TransducerProfile, today: String = today()) -> String? {
    guard let date = profile.hardware?.measured?.date, let measured = day(date), let now = day(today),
      now - measured > limit
    else { return nil }
    return "\(profile.name.printable): measured \(date.printable), \((now - measured) / 30) months ago; \(advice)"
  }

  /// What to do where a measured resonance may have moved.
  static let advice = "'temblor calibrate --quick' checks it in 5 s"

  /// Days of a date `YYYY-MM-DD` since some fixed day, by the Gregorian calendar with years from March on.
  private static func day(_ date: String) -> Int? {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2], 0...9_999 ~= year,
      1...12 ~= month, 1...31 ~= day
    else { return nil }
    let years = month > 2 ? year : year - 1
    return 365 * years + years / 4 - years / 100 + years / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day
  }
}
