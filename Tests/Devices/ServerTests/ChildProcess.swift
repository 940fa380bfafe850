import Glibc
import PlayRig
import Synchronization
import TestSupport

/// The system did not do what a test needs, or not in time.
struct UnmetRequirement: Error, CustomStringConvertible { let description: String }

/// A program with an environment of its own that a test starts, talks to and ends.
///
/// What it prints goes to files in a folder. Gone with its last reference, whatever happened in the
/// test.
final class ChildProcess: Sendable {
  /// A process that is to end by a signal, and the time it has to do so.
  private static let terminationTimeout = Duration.seconds(3)
  /// One at a time, so that none inherits the ends of another's pipes.
  private static let spawnLock = Mutex(())

  let name: String
  let folder: FreshFolder
  private let process: pid_t
  private let inputDescriptor: Int32
  /// Readable when the process and all that came of it have ended; not where it closes what it
  /// inherits.
  private let lifetimePipe: Int32
  private let status = Mutex<Int32?>(nil)

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - name: The beginning of the names of its files in the folder.
  ///   - environment: All of it.
  init(
    _ name: String, _ program: String, _ words: [String], environment: [String: String],
    folder: FreshFolder
  ) throws {
    self.name = name
    self.folder = folder
    (process, inputDescriptor, lifetimePipe) = try Self.spawnLock.withLock { _ in
      try Self.spawn(
        [program] + words, environment.map { "\($0)=\($1)" }, files: folder.path + "/" + name)
    }
  }

  private static func spawn(_ words: [String], _ environment: [String], files: String) throws -> (
    pid_t, Int32, Int32
  ) {
    var inputEnds: [Int32] = [-1, -1]
    var lifeEnds: [Int32] = [-1, -1]
    guard unsafe pipe(&inputEnds) == 0, unsafe pipe(&lifeEnds) == 0 else {
      throw UnmetRequirement(description: "no pipe")
    }
    for end in inputEnds + lifeEnds {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    defer {
      close(inputEnds[0])
      close(lifeEnds[1])
    }
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND
    let process = try ProcessRunner.start(
      words, environment: environment,
      streams: [
        (0, .descriptor(inputEnds[0])), (1, .file(files + ".out", flags: flags)),
        (2, .file(files + ".err", flags: flags)), (60, .descriptor(lifeEnds[1])),
      ])
    return (process, inputEnds[1], lifeEnds[0])
  }

  deinit {
    stop()
    close(inputDescriptor)
    close(lifetimePipe)
  }

  /// Its threads' scheduling policies, each with the thread's name as the system knows it.
  var threadPolicies: [(name: String, policy: Int32)] {
    guard let tasks = unsafe opendir("/proc/\(process)/task") else { return [] }
    defer { unsafe closedir(tasks) }
    var policies: [(name: String, policy: Int32)] = []
    while let entry = unsafe readdir(tasks) {
      let number = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let thread = pid_t(number),
        let file = unsafe fopen("/proc/\(process)/task/\(number)/comm", "r")
      else {
        continue
      }
      defer { unsafe fclose(file) }
      var name = [CChar](repeating: 0, count: 32)
      let count = unsafe fread(&name, 1, name.count, file)
      let text = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      policies.append((String(text.prefix { $0 != "\n" }), sched_getscheduler(thread)))
    }
    return policies
  }

  /// What it has printed.
  var output: String { String(decoding: folder.bytes(name + ".out"), as: UTF8.self) }

  /// What it has printed to its standard error.
  var errors: String { String(decoding: folder.bytes(name + ".err"), as: UTF8.self) }

  /// Writes to its standard input.
  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(inputDescriptor, bytes, bytes.count)
  }

  /// Waits until it has ended: the exit status, or the negative signal.
  func waitForEnd(within limit: Duration) throws -> Int32 {
    var watched = pollfd(fd: lifetimePipe, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&watched, 1, Int32(limit / .milliseconds(1))) == 1 else {
      throw UnmetRequirement(
        description: "\(name) did not end: \(output.suffix(500))\(errors.suffix(500))")
    }
    return reap()
  }

  /// Asks it to end, and ends it where it does not.
  func stop() {
    guard status.withLock({ $0 == nil }) else { return }
    kill(process, SIGTERM)
    var watched = pollfd(fd: lifetimePipe, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&watched, 1, Int32(Self.terminationTimeout / .milliseconds(1))) != 1 {
      kill(process, SIGKILL)
    }
    _ = reap()
  }

  /// Ends it without warning.
  func crash() {
    kill(process, SIGKILL)
    _ = reap()
  }

  private func reap() -> Int32 {
    status.withLock { status in
      if let status { return status }
      let result = ProcessRunner.waitForEnd(of: process)
      status = result
      return result
    }
  }
}
