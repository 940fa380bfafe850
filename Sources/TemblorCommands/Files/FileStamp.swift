internal import Glibc

/// By what a changed or replaced file is told from the old one.
struct FileStamp: Equatable {
  private let device: dev_t
  private let number: ino_t
  private let size: off_t
  private let seconds: Int
  private let nanoseconds: Int

  /// The stamp of a file, links followed, or nothing where there is none.
  init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    device = status.st_dev
    number = status.st_ino
    size = status.st_size
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
