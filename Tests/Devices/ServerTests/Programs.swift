import Glibc

/// The installed programs that the tests need.
enum Programs {
  /// Returns the path of a program.
  static func path(_ name: String) -> String { "/usr/bin/" + name }

  /// A Boolean value that indicates whether the environment enables tests that need an otherwise
  /// idle machine.
  private static let areServerTestsEnabled = unsafe getenv("TEMBLOR_TEST_SERVERS") != nil

  /// A Boolean value that indicates whether tests with PulseAudio are enabled, and PulseAudio, its
  /// tools, and its ALSA plug-in are installed.
  static let hasPulse =
    areServerTestsEnabled && areInstalled(["pulseaudio", "parec"], plugIn: "pulse")
  /// A Boolean value that indicates whether tests with PipeWire are enabled, and PipeWire, its
  /// session manager, its tools, and its ALSA plug-in are installed.
  static let hasPipeWire =
    areServerTestsEnabled
    && areInstalled(
      ["pipewire", "wireplumber", "wpctl", "pw-record", "dbus-run-session", "chrt"],
      plugIn: "pipewire")
  /// A Boolean value that indicates whether tests with JACK are enabled, and JACK, its tools, and
  /// its ALSA plug-in are installed.
  static let hasJack =
    areServerTestsEnabled
    && areInstalled(["jackd", "jack_wait", "jack_lsp", "jack_rec"], plugIn: "jack")

  /// The path of the probe, which is in the same folder as the test program.
  static let probe: String = {
    guard let resolvedPath = unsafe realpath("/proc/self/exe", nil) else { return "" }
    defer { unsafe free(resolvedPath) }
    let testProgram = unsafe String(cString: resolvedPath)
    return testProgram.prefix(upTo: testProgram.lastIndex(of: "/") ?? testProgram.endIndex)
      + "/play-probe"
  }()

  private static func areInstalled(_ programs: [String], plugIn: String) -> Bool {
    programs.allSatisfy { unsafe access(path($0), X_OK) == 0 }
      && libraryFolders.contains {
        unsafe access("\($0)/alsa-lib/libasound_module_pcm_\(plugIn).so", R_OK) == 0
      }
  }

  /// The folders with libraries, including that of the machine's architecture.
  private static var libraryFolders: [String] {
    ["/usr/lib", "/usr/lib64"]
      + ["x86_64", "aarch64", "arm", "riscv64"].flatMap {
        ["/usr/lib/\($0)-linux-gnu", "/usr/lib/\($0)-linux-gnueabihf"]
      }
  }
}
