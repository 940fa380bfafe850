import Glibc
import Synchronization
import TestSupport

/// An error for a requirement of a test that the system did not meet, or not in time.
struct UnmetRequirement: Error, CustomStringConvertible { let description: String }

/// A program with its own environment that a test starts, communicates with, and ends.
///
/// Its output is written to files in a folder. The program ends when the last reference to it is
/// released, even if the test fails.
final class ChildProcess: Sendable {
  /// The time in which a process must end after a termination signal.
  private static let terminationTimeout = Duration.seconds(3)
  /// A lock for starting one program at a time, so that no program inherits the pipes of another
  /// one.
  private static let spawnLock = Mutex(())

  let name: String
  let folder: TemporaryFolder
  private let process: pid_t
  private let inputDescriptor: Int32
  /// A pipe that becomes readable when the process and its child processes have ended, unless they
  /// close inherited descriptors.
  private let lifetimePipe: Int32
  private let status = Mutex<Int32?>(nil)

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - name: The prefix of the names of its files in the folder.
  ///   - environment: The entire environment.
  init(
    _ name: String, _ program: String, _ arguments: [String], environment: [String: String],
    folder: TemporaryFolder
  ) throws {
    self.name = name
    self.folder = folder
    (process, inputDescriptor, lifetimePipe) = try Self.spawnLock.withLock { _ in
      try Self.spawn(
        [program] + arguments, environment.map { "\($0)=\($1)" },
        filePrefix: folder.path + "/" + name)
    }
  }

  private static func spawn(_ arguments: [String], _ environment: [String], filePrefix: String)
    throws -> (
      pid_t, Int32, Int32
    )
  {
    var inputPipeEnds: [Int32] = [-1, -1]
    var lifetimePipeEnds: [Int32] = [-1, -1]
    guard unsafe pipe(&inputPipeEnds) == 0, unsafe pipe(&lifetimePipeEnds) == 0 else {
      throw UnmetRequirement(description: "no pipe")
    }
    for descriptor in inputPipeEnds + lifetimePipeEnds {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    defer {
      close(inputPipeEnds[0])
      close(lifetimePipeEnds[1])
    }
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND
    let process = try ProcessRunner.start(
      arguments, environment: environment,
      streams: [
        (0, .descriptor(inputPipeEnds[0])), (1, .file(filePrefix + ".out", flags: flags)),
        (2, .file(filePrefix + ".err", flags: flags)), (60, .descriptor(lifetimePipeEnds[1])),
      ])
    return (process, inputPipeEnds[1], lifetimePipeEnds[0])
  }

  deinit {
    stop()
    close(inputDescriptor)
    close(lifetimePipe)
  }

  /// The names of the threads and their scheduling policies.
  var threadPolicies: [(name: String, policy: Int32)] {
    guard let tasks = unsafe opendir("/proc/\(process)/task") else { return [] }
    defer { unsafe closedir(tasks) }
    var policies: [(name: String, policy: Int32)] = []
    while let entry = unsafe readdir(tasks) {
      let directoryName = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let threadID = pid_t(directoryName),
        let nameFile = unsafe fopen("/proc/\(process)/task/\(directoryName)/comm", "r")
      else {
        continue
      }
      defer { unsafe fclose(nameFile) }
      var nameBytes = [CChar](repeating: 0, count: 32)
      let count = unsafe fread(&nameBytes, 1, nameBytes.count, nameFile)
      let nameText = String(
        decoding: nameBytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      policies.append((String(nameText.prefix { $0 != "\n" }), sched_getscheduler(threadID)))
    }
    return policies
  }

  /// The standard output so far.
  var output: String { String(decoding: folder.bytes(name + ".out") ?? [], as: UTF8.self) }

  /// The standard error so far.
  var errors: String { String(decoding: folder.bytes(name + ".err") ?? [], as: UTF8.self) }

  /// Writes a text to the standard input.
  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(inputDescriptor, bytes, bytes.count)
  }

  /// Waits until the process has ended, and returns its exit status, or its signal as a negative
  /// number.
  func waitForEnd(within timeout: Duration) throws -> Int32 {
    var pollDescriptor = pollfd(fd: lifetimePipe, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&pollDescriptor, 1, Int32(timeout / .milliseconds(1))) == 1 else {
      throw UnmetRequirement(
        description: "\(name) did not end: \(output.suffix(500))\(errors.suffix(500))")
    }
    return reap()
  }

  /// Requests the process to end, and kills it if it does not end in time.
  func stop() {
    guard status.withLock({ $0 == nil }) else { return }
    kill(process, SIGTERM)
    var pollDescriptor = pollfd(fd: lifetimePipe, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&pollDescriptor, 1, Int32(Self.terminationTimeout / .milliseconds(1))) != 1 {
      kill(process, SIGKILL)
    }
    _ = reap()
  }

  /// Kills the process.
  func crash() {
    kill(process, SIGKILL)
    _ = reap()
  }

  private func reap() -> Int32 {
    status.withLock { status in
      if let status { return status }
      let exitStatus = ProcessRunner.waitForEnd(of: process)
      status = exitStatus
      return exitStatus
    }
  }
}
