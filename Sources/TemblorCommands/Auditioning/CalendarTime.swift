internal import Glibc

/// A moment as calendars tell it, in universal time.
struct CalendarTime: Equatable, Sendable {
  /// Seconds since the beginning of 1970.
  var seconds: Int

  /// The moment of asking.
  static var now: CalendarTime { CalendarTime(seconds: Glibc.time(nil)) }

  /// `2026-01-31T12:00:00Z`.
  var text: String {
    let parts = parts
    return "\(parts.date.joined(separator: "-"))T\(parts.time.joined(separator: ":"))Z"
  }

  /// `20260131-120000`: what the name of a file may hold.
  var fileText: String {
    let parts = parts
    return "\(parts.date.joined())-\(parts.time.joined())"
  }

  private var parts: (date: [String], time: [String]) {
    var moment = time_t(seconds)
    var fields = unsafe tm()
    _ = unsafe gmtime_r(&moment, &fields)
    return (
      [
        "\(unsafe fields.tm_year + 1_900)", Self.two(unsafe fields.tm_mon + 1),
        Self.two(unsafe fields.tm_mday),
      ],
      [
        Self.two(unsafe fields.tm_hour), Self.two(unsafe fields.tm_min),
        Self.two(unsafe fields.tm_sec),
      ]
    )
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
