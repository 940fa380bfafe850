import Glibc
import SoundFile

/// A file without a name, deleted when it is released.
final class ScratchFile {
  let descriptor: Int32

  init() {
    var template = Array("/tmp/sound-XXXXXX".utf8CString)
    descriptor = unsafe mkstemp(&template)
    precondition(descriptor >= 0, "A temporary file can be made.")
    unsafe unlink(template)
  }

  deinit { close(descriptor) }

  /// Lets no further byte be written, as on a full disk.
  func fill() {
    let full = unsafe open("/dev/full", O_RDWR | O_CLOEXEC)
    dup2(full, descriptor)
    close(full)
  }

  /// The file, decoded from its beginning.
  func sound() throws -> Sound {
    lseek(descriptor, 0, SEEK_SET)
    return try Sound(readingDescriptor: descriptor, path: "scratch")
  }
}
