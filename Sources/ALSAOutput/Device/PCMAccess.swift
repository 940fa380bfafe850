/// How frames get into a device's buffer.
public enum PCMAccess: String, CaseIterable, Sendable {
  /// Laid into the buffer itself.
  case memoryMapped
  /// Handed over by a call that copies them.
  case readWrite
}
