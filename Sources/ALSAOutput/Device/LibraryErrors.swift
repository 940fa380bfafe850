internal import CALSA

/// What the library says on its own account.
enum LibraryErrors {
  private static let silenced: Void = temblor_alsa_be_silent()

  /// `snd_lib_error_set_handler`, once: the program's messages are the only ones.
  static func silence() { _ = silenced }
}
