import HapticOutputs
import SystemSupport

/// A device that cannot be played on.
struct DeviceRefusal: Error, Equatable, CustomStringConvertible {
  /// Why it cannot.
  let error: ALSAError

  /// A refusal because of an error.
  init(_ error: ALSAError) { self.error = error }

  var description: String {
    // The list of devices is this program's own to tell of.
    let text =
      error.kind == .noSuchDevice
      ? "no such device; run 'temblor devices' to list devices" : error.description
    return "\(error.device.printable): \(text)"
  }
}
