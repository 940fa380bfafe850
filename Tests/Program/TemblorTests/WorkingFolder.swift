import Glibc
import SoundFile
import TestSupport

/// A temporary folder for one test, in which the built program runs.
///
/// The folder is removed when the value is released. A suite that stores it keeps it for an entire
/// test.
final class WorkingFolder: Sendable {
  /// The exit status and the output of a program.
  struct Result: Equatable {
    /// The exit status, or the negative number of the signal that ended it.
    var status: Int32
    var output: String
    var error: String

    init(_ status: Int32, output: String = "", error: String = "") {
      self.status = status
      self.output = output
      self.error = error
    }
  }

  /// The path of the program, which is built in the folder of the tests.
  static let program = resolvedPath("/proc/self/exe").parentFolder + "/temblor"

  private let contents: TemporaryFolder

  var path: String { contents.path }

  init() {
    do {
      contents = try TemporaryFolder()
    } catch {
      preconditionFailure("A temporary folder cannot be created: \(error)")
    }
  }

  /// Runs the program with a text on its standard input, or with empty input.
  func temblor(_ arguments: String..., input: String? = nil) throws -> Result {
    try temblor(arguments, input: input)
  }

  func temblor(_ arguments: [String], input: String? = nil) throws -> Result {
    try finish(try start(arguments, input: input))
  }

  /// Starts the program. If the value is released before the program ends, the program is killed.
  func start(_ arguments: [String], input: String? = nil) throws -> RunningProgram {
    try RunningProgram(Self.program, arguments, in: path, input: input)
  }

  /// Runs a line of bash in which `$TEMBLOR` is the program.
  func bash(_ line: String) throws -> Result {
    try finish(RunningProgram("/bin/bash", ["-c", line], in: path))
  }

  func finish(
    _ running: RunningProgram, within limit: Duration = HangLimit.duration
  ) throws -> Result {
    let (status, output, error) = running.wait(within: limit)
    return Result(status, output: output, error: error)
  }

  /// Writes a file, and creates its folders.
  func write(_ text: String, to name: String) throws { try contents.write(text, to: name) }

  func write(_ bytes: [UInt8], to name: String) throws { try contents.write(bytes, to: name) }

  func makeFolder(_ name: String) throws { try contents.makeFolder(name) }

  func link(_ name: String, to target: String) throws { try contents.link(name, to: target) }

  /// Returns the bytes of a file, or nil if it does not exist.
  func bytes(_ name: String) -> [UInt8]? { contents.bytes(name) }

  func text(_ name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

  /// Returns the sorted paths of all files and folders below a folder, including hidden files. The
  /// paths of folders end with a slash.
  func fileNames(below folder: String = "") -> [String] {
    let folderPath = folder.isEmpty ? path : path + "/" + folder
    guard let handle = unsafe opendir(folderPath) else { return [] }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      let relativePath = folder.isEmpty ? name : folder + "/" + name
      if unsafe entry.pointee.d_type == UInt8(DT_DIR) {
        names += [relativePath + "/"] + self.fileNames(below: relativePath)
      } else {
        names.append(relativePath)
      }
    }
    return names.sorted()
  }

  /// Returns the permissions of a file.
  func permissions(_ name: String) -> mode_t {
    var status = stat()
    _ = unsafe stat(path + "/" + name, &status)
    return status.st_mode & 0o777
  }

  /// Performs an action, and waits until a file in the folder is created or written, at most
  /// until the hang limit. The file may be unnamed.
  func fileAppears(after action: () throws -> Void) throws -> Bool {
    let watch = inotify_init1(Int32(O_CLOEXEC))
    defer { close(watch) }
    _ = unsafe inotify_add_watch(watch, path, UInt32(IN_CREATE | IN_MODIFY))
    try action()
    return HangLimit.waitForEvents(POLLIN, of: watch)
  }

  /// Waits until a program has created a file in the folder, at most until the hang limit of its
  /// clock.
  func fileAppears(_ name: String, from running: RunningProgram) -> Bool {
    var clock = ProgramClock(of: running.process)
    while !fileNames().contains(name) {
      guard clock.elapsed() < HangLimit.duration else { return false }
      poll(nil, 0, 5)
    }
    return true
  }
}

/// An error for a system call that failed.
struct SystemCallFailure: Error {}

extension String {
  /// The part before the last slash.
  var parentFolder: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "" }
}

extension StringProtocol where SubSequence == Substring {
  /// Returns the number without a sign that follows the first occurrence of a text.
  func number(after text: String) -> Double? {
    firstRange(of: text).flatMap { range in
      Double(self[range.upperBound...].prefix { $0.isNumber || $0 == "." })
    }
  }
}

extension Sound {
  /// Reads a sound file of a working folder.
  init(reading folder: WorkingFolder, _ name: String) throws {
    let descriptor = unsafe open(folder.path + "/" + name, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    try self.init(readingDescriptor: descriptor, path: name)
  }
}

/// Returns the path without symbolic links.
private func resolvedPath(_ link: String) -> String {
  guard let real = unsafe realpath(link, nil) else { return "" }
  defer { unsafe free(real) }
  return unsafe String(cString: real)
}
