/// Takes the bytes of a picture as they are written; it must outlive the surface that writes to it.
final class ByteSink {
  /// What has been written.
  var bytes: [UInt8] = []

  /// The sink as C passes it on.
  var closure: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }
}
