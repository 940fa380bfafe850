import Glibc
import TestSupport

/// A playback device of ALSA with one fault, as a plug-in that the program loads.
///
/// The plug-in is built once for all tests, by the compiler that builds the package.
final class FaultPlugIn: Sendable {
  /// The plug-in, or nil if no compiler or no header is found.
  static let shared = FaultPlugIn()

  private let folder = WorkingFolder()

  private init?() {
    let source = #filePath.parentFolder + "/FaultPlugIn/pcm_fault.c"
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
    let build = try? folder.bash(
      """
      PATH='\(path)'; $(command -v clang || command -v cc) -shared -fPIC -DPIC -O1 '\(source)' \
      -lasound
      """
        + " -o fault.so")
    guard build?.status == 0 else { return nil }
    let configuration = """
      pcm.fault { type fault }
      pcm.!default { type fault }
      pcm_type.fault { lib "\(folder.path)/fault.so" }
      """
    guard (try? folder.write(configuration, to: "asound.conf")) != nil else { return nil }
  }

  /// Returns the environment in which the device `fault`, which is also the default, has a fault.
  ///
  /// - Parameters:
  ///   - sign: A file that is created when the fault first occurs.
  ///   - start: The start of the fault, in milliseconds after the first start of the device.
  ///   - length: The duration of the fault in milliseconds, or nil for a permanent fault.
  ///   - then: A hang that begins with the fault.
  func environment(
    _ fault: String, sign: String? = nil, start: Int = 300, length: Int? = nil,
    then: String? = nil
  ) -> [String] {
    [
      "ALSA_CONFIG_PATH=\(folder.path)/asound.conf", "FAULT=\(fault)", "FAULT_AT=\(start)",
      "FAULT_FOR=\(length ?? -1)",
    ]
      + (sign.map { ["FAULT_SIGN=\($0)"] } ?? []) + (then.map { ["FAULT_THEN=\($0)"] } ?? [])
  }
}
