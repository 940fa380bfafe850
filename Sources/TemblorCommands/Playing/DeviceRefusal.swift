import ALSAOutput

/// A device that a user named and that cannot be played on.
struct DeviceRefusal: Error, Equatable, CustomStringConvertible {
  /// Why it cannot.
  let error: ALSAError

  /// A refusal because of an error.
  init(_ error: ALSAError) { self.error = error }

  var description: String { error.message }
}
