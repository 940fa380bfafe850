internal import CLateLibrary
internal import CommandLineKit
internal import HapticPlayback
internal import PatternWorkflows
public import StudioCore
internal import TemblorCommands

// The part of the C interface that is not in the studio's module: the version, the program, and
// sound on devices. See Library/temblor.h.

/// The version of the library as a C string, which is valid as long as the process runs.
private nonisolated(unsafe) let versionText: UnsafePointer<CChar> = {
  let bytes = temblorVersion.utf8CString
  let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
  for (offset, byte) in bytes.enumerated() {
    unsafe (text + offset).initialize(to: byte)
  }
  return unsafe UnsafePointer(text)
}()

/// Returns the version of the library, such as `0.4.0`.
@_cdecl("temblor_version")
public func temblorVersionText() -> UnsafePointer<CChar> { unsafe versionText }

/// Runs the program on the streams of this process, like its `main`, and returns the exit status.
@_cdecl("temblor_program")
public func temblorProgram(_ count: Int32, _ arguments: UnsafePointer<UnsafePointer<CChar>?>?)
  -> Int32
{
  let arguments = (0..<Int(max(0, count))).compactMap {
    unsafe arguments?[$0].map { unsafe String(cString: $0) }
  }
  return TemblorProgram.run(Array(arguments.dropFirst()))
}

/// Runs a command that ends by itself, such as `render`, `compare`, `convert`, or `info`.
///
/// The output is the standard output, a zero byte, and the standard error. The settings saved by
/// `temblor setup`, the variables `TEMBLOR_DEVICE` and `TEMBLOR_PROFILE`, and the keyboard are not
/// used.
///
/// - Parameters:
///   - host: The instance that receives the output.
///   - words: The arguments, each followed by a zero byte.
///   - length: The number of bytes of `words`.
/// - Returns: The exit status; 64 if the last word has no zero byte.
@_cdecl("temblor_run")
public func temblorRun(_ host: StudioHandle?, _ words: BytePointer?, _ length: Int32) -> Int32 {
  unsafe runCall(host, failureResult: usageErrorStatus) { host throws(CallError) in
    let words = try unsafe copyBytes(words, length, of: "the words")
    guard words.isEmpty || words.last == 0 else {
      throw .invalidArgument(
        "the last word does not end", suggestion: "put a zero byte after each word")
    }
    let arguments = words.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
    return runCommand(arguments, for: host)
  }
}

/// The exit status of a command that is called with invalid arguments.
private let usageErrorStatus: Int32 = 64

/// Runs a command of the program, and stores its output in an instance. The output of the instance
/// is then the standard output, a zero byte, and the standard error.
private func runCommand(_ arguments: [String], for host: StudioInstance) -> Int32 {
  // A call to a missing library would end the process.
  if let missing = missingLibraryMessage(for: arguments.first ?? "") {
    _ = host.setOutput(Array("\0temblor: \(missing)\n".utf8))
    return 1
  }
  let printed = Locked<[UInt8]>([])
  let reported = Locked<[UInt8]>([])
  let terminal = Terminal(
    output: collectingOutput(to: printed), errorOutput: collectingOutput(to: reported)
  ) {
    SystemTimeSource().now
  }
  let status = TemblorProgram.run(arguments, on: terminal)
  _ = host.setOutput(printed.withLock { $0 } + [0] + reported.withLock { $0 })
  return status
}

/// Returns a message about the first missing library that a command can call, or nil if all
/// libraries are present.
private func missingLibraryMessage(for command: String) -> String? {
  guard !["patterns", "profiles", "formats", "render", "convert", "--version"].contains(command)
  else {
    return nil
  }
  let libraries = [
    ("libsndfile.so.1", "libsndfile1"), ("libsamplerate.so.0", "libsamplerate0"),
    ("libebur128.so.1", "libebur128-1"),
    ("libkissfft-float.so.131", "libkissfft-float131"),
  ]
  let missing = libraries.first { file, _ in unsafe !temblor_has_library(file) }
  return missing.map { "\($0.0) not found; install the package \($0.1)" }
}

/// Returns an output stream that collects the written bytes in memory.
private func collectingOutput(to gathered: Locked<[UInt8]>) -> Output {
  Output(isTerminal: false, allowsColor: false) { bytes throws(StreamError) in
    gathered.withLock { gathered in
      for index in bytes.indices {
        gathered.append(bytes[index])
      }
    }
  }
}
