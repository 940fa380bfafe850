import TransducerCalibration

/// A recording that cannot tell.
struct CalibrationRefusal: Error, Equatable, CustomStringConvertible {
  /// What the user knows the recording by.
  let name: String
  /// Why it cannot.
  let error: CalibrationError

  var description: String { "\(name): \(error.description)" }
}
