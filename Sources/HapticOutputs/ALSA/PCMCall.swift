internal import CALSA
internal import Glibc
internal import Synchronization

/// The calls of the library that can fail, by the names its documentation has.
package enum PCMCall: String, CaseIterable, Sendable {
  case open = "snd_pcm_open"
  case hardwareParametersAny = "snd_pcm_hw_params_any"
  case setResampling = "snd_pcm_hw_params_set_rate_resample"
  case setAccess = "snd_pcm_hw_params_set_access"
  case setFormat = "snd_pcm_hw_params_set_format"
  case setChannels = "snd_pcm_hw_params_set_channels"
  case setRate = "snd_pcm_hw_params_set_rate"
  case setPeriodSize = "snd_pcm_hw_params_set_period_size_near"
  case setBufferSize = "snd_pcm_hw_params_set_buffer_size_near"
  case getParameter = "snd_pcm_hw_params_get"
  case hardwareParameters = "snd_pcm_hw_params"
  case softwareParameters = "snd_pcm_sw_params"
  case descriptors = "snd_pcm_poll_descriptors"
  case receivedEvents = "snd_pcm_poll_descriptors_revents"
  case available = "snd_pcm_avail"
  case delay = "snd_pcm_delay"
  case prepare = "snd_pcm_prepare"
  case start = "snd_pcm_start"
  case resume = "snd_pcm_resume"
  case write = "snd_pcm_writei"
  case read = "snd_pcm_readi"
  case mapBegin = "snd_pcm_mmap_begin"
  case mapCommit = "snd_pcm_mmap_commit"
}

/// A call that failed, and the number the system has for the reason.
package struct PCMFailure: Error, Equatable, Sendable {
  /// The call.
  package var call: PCMCall
  /// The reason, positive, as errno has it.
  package var code: Int32

  /// Makes a failure.
  package init(_ call: PCMCall, code: Int32) {
    self.call = call
    self.code = code
  }
}

/// Stands between a sink and the library, so that tests can force what a device seldom does.
package struct PCMInterception: Sendable {
  /// What became of opening a device.
  @safe package enum Opening {
    /// The library shall open it.
    case passed
    /// A PCM that was made elsewhere and is closed by who asked for it.
    case opened(OpaquePointer)
    /// Refused, with the reason as errno has it.
    case refused(Int32)
  }

  /// Opens a device by its name.
  package var open: @Sendable (_ device: String) -> Opening
  /// The result of a call instead of calling, as the library gives it: an error below zero.
  package var result: @Sendable (PCMCall) -> Int?

  /// An interception that passes everything it is not told of.
  package init(
    open: @escaping @Sendable (String) -> Opening = { _ in .passed },
    result: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }
  ) {
    self.open = open
    self.result = result
  }
}

/// What libraries say on their own account: the program's messages are the only ones.
enum LibraryErrors {
  private static let silenced: Void = temblor_alsa_be_silent()
  private static let silencedJack: Void = { _ = silenceJack(RTLD_NOW) }()
  private static let isJackSilenced = Atomic<Bool>(false)

  /// `snd_lib_error_set_handler`, once.
  static func silence() { _ = silenced }

  /// `jack_set_error_function` and `jack_set_info_function`, once, where the plug-in's library is there.
  static func silenceJack() { _ = silencedJack }

  /// The same where the library has been loaded, for a device of any name.
  static func silenceLoadedJack() {
    guard !isJackSilenced.load(ordering: .relaxed) else { return }
    isJackSilenced.store(silenceJack(RTLD_NOW | RTLD_NOLOAD), ordering: .relaxed)
  }

  /// Returns whether the library is there; it stays loaded then, so that it stays silent.
  private static func silenceJack(_ mode: Int32) -> Bool {
    typealias Handler = @convention(c) (UnsafePointer<CChar>?) -> Void
    typealias Setter = @convention(c) (Handler?) -> Void
    let silent: Handler = { _ in }
    guard let library = unsafe dlopen("libjack.so.0", mode) else { return false }
    for name in ["jack_set_error_function", "jack_set_info_function"] {
      guard let symbol = unsafe dlsym(library, name) else { continue }
      unsafe unsafeBitCast(symbol, to: Setter.self)(silent)
    }
    return true
  }
}
