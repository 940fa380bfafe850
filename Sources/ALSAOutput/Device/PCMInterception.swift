/// Stands between a sink and the library, so that tests can force what a device seldom does.
package struct PCMInterception: Sendable {
  /// What became of opening a device.
  @safe
  package enum Opening {
    /// The library shall open it.
    case passed
    /// A PCM that was made elsewhere and is closed by who asked for it.
    case opened(OpaquePointer)
    /// Refused, with the reason as errno has it.
    case refused(Int32)
  }

  /// Opens a device by its name.
  package var open: @Sendable (_ device: String) -> Opening
  /// The result of a call instead of calling, as the library gives it: an error below zero.
  package var result: @Sendable (PCMCall) -> Int?

  /// An interception that passes everything it is not told of.
  package init(
    open: @escaping @Sendable (String) -> Opening = { _ in .passed },
    result: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }
  ) {
    self.open = open
    self.result = result
  }
}
