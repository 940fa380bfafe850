import Glibc

/// What the system has installed.
enum Programs {
  /// Where a program is.
  static func path(_ name: String) -> String { "/usr/bin/" + name }

  /// Whether somebody asked for tests that need the machine for themselves.
  private static let areServersWanted = unsafe getenv("TEMBLOR_TEST_SERVERS") != nil

  /// Whether PulseAudio, its tools and ALSA's way to it are there and wanted.
  static let hasPulse = areServersWanted && areInstalled(["pulseaudio", "parec"], plugIn: "pulse")
  /// Whether PipeWire, its session manager, its tools and ALSA's way to it are there and wanted.
  static let hasPipeWire =
    areServersWanted
    && areInstalled(
      ["pipewire", "wireplumber", "wpctl", "pw-record", "dbus-run-session", "chrt"],
      plugIn: "pipewire")
  /// Whether JACK, its tools and ALSA's way to it are there and wanted.
  static let hasJack =
    areServersWanted
    && areInstalled(["jackd", "jack_wait", "jack_lsp", "jack_rec"], plugIn: "jack")

  /// The probe, which is built beside the tests.
  static let probe: String = {
    guard let real = unsafe realpath("/proc/self/exe", nil) else { return "" }
    defer { unsafe free(real) }
    let own = unsafe String(cString: real)
    return own.prefix(upTo: own.lastIndex(of: "/") ?? own.endIndex) + "/play-probe"
  }()

  private static func areInstalled(_ programs: [String], plugIn: String) -> Bool {
    programs.allSatisfy { unsafe access(path($0), X_OK) == 0 }
      && libraries.contains {
        unsafe access("\($0)/alsa-lib/libasound_module_pcm_\(plugIn).so", R_OK) == 0
      }
  }

  /// Folders with libraries: that of the machine's architecture among them.
  private static var libraries: [String] {
    ["/usr/lib", "/usr/lib64"]
      + ["x86_64", "aarch64", "arm", "riscv64"].flatMap {
        ["/usr/lib/\($0)-linux-gnu", "/usr/lib/\($0)-linux-gnueabihf"]
      }
  }
}
