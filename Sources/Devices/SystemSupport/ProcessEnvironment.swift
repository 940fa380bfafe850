internal import Glibc

/// The environment variables of this process.
package enum ProcessEnvironment {
  /// Returns the value of a variable, or nil if it is not set.
  package static func value(named name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
