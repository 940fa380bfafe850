extension Duration {
  /// The duration in seconds.
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }

  /// Returns the duration of a number of seconds, rounded to nanoseconds.
  package static func roundedToNanoseconds(seconds: Double) -> Duration {
    .nanoseconds(Int64(seconds * 1e9))
  }
}
