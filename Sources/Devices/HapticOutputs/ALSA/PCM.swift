internal import CALSA
internal import Glibc
internal import HapticPlayback
internal import SoundFile
internal import Synchronization

/// An open ALSA PCM, with one function for each call to the library.
///
/// Every result is checked, and a call that a signal interrupted is repeated. Nothing waits,
/// allocates, or frees except where stated.
@safe final class PCM {
  enum State { case prepared, running, underrun, suspended, disconnected, other }

  let handle: OpaquePointer
  let hardwareParameters: OpaquePointer
  private let interception: PCMInterception?
  private let isClosed = Atomic<Bool>(false)

  enum Direction {
    case playback, capture

    fileprivate var stream: snd_pcm_stream_t {
      self == .playback ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE
    }
  }

  /// Calls `snd_pcm_open` in nonblocking mode and without automatic conversions.
  init(opening device: String, for direction: Direction = .playback, interception: PCMInterception?)
    throws(PCMFailure)
  {
    LibraryErrors.silenceALSA()
    if device.prefix(while: { $0 != ":" }) == "jack" {
      LibraryErrors.silenceJack()
    }
    defer { LibraryErrors.silenceLoadedJack() }
    let pcm = try unsafe Self.open(device, for: direction, interception: interception)
    var hardwareParameters: OpaquePointer?
    guard unsafe snd_pcm_hw_params_malloc(&hardwareParameters) == 0,
      let hardwareParameters = unsafe hardwareParameters
    else {
      unsafe snd_pcm_close(pcm)
      throw PCMFailure(.open, errnoCode: ENOMEM)
    }
    unsafe self.handle = pcm
    unsafe self.hardwareParameters = hardwareParameters
    self.interception = interception
  }

  /// Closes the device on a separate thread if it is still open, because a call to the device may
  /// never return, and other threads may be waiting for the thread that releases the last
  /// reference.
  deinit {
    guard !isClosed.load(ordering: .acquiring) else { return }
    nonisolated(unsafe) let handle = unsafe self.handle
    nonisolated(unsafe) let parameters = unsafe hardwareParameters
    let closeDevice: @Sendable () -> Void = { unsafe Self.close(handle, parameters) }
    if let interception {
      if interception.letsCallReturn(.close) {
        closeDevice()
      }
      return
    }
    // Without a thread, the device stays open until the process ends.
    _ = try? BackgroundThread(closeDevice)
  }

  /// Calls `snd_pcm_close`, and returns when the device is closed, even if other references exist.
  /// Later calls have no effect.
  func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    unsafe Self.close(handle, hardwareParameters)
  }

  /// Leaves the device open until the process ends, because no thread can wait until it is closed.
  func abandon() { isClosed.store(true, ordering: .releasing) }

  private static func close(_ handle: OpaquePointer, _ hardwareParameters: OpaquePointer) {
    unsafe snd_pcm_hw_params_free(hardwareParameters)
    unsafe snd_pcm_close(handle)
  }

  private static func open(
    _ device: String, for direction: Direction, interception: PCMInterception?
  )
    throws(PCMFailure) -> OpaquePointer
  {
    switch interception?.open(device) ?? .notIntercepted {
    case .opened(let pcm):
      return unsafe pcm
    case .refused(let errorCode):
      throw PCMFailure(.open, errnoCode: errorCode)
    case .notIntercepted:
      var pcm: OpaquePointer?
      let mode =
        SND_PCM_NONBLOCK | SND_PCM_NO_AUTO_RESAMPLE | SND_PCM_NO_AUTO_CHANNELS
        | SND_PCM_NO_AUTO_FORMAT
      let result = unsafe snd_pcm_open(&pcm, device, direction.stream, Int32(mode))
      guard result >= 0, let pcm = unsafe pcm else {
        throw PCMFailure(.open, errnoCode: result < 0 ? -result : ENODEV)
      }
      return unsafe pcm
    }
  }

  /// Calls `snd_pcm_open` for a direction, closes the device, and returns whether it was opened.
  static func canOpen(_ device: String, for direction: Direction) -> Bool {
    var pcm: OpaquePointer?
    let errorCode = unsafe snd_pcm_open(
      &pcm, device, direction.stream, Int32(SND_PCM_NONBLOCK))
    guard errorCode >= 0, let pcm = unsafe pcm else { return false }
    unsafe snd_pcm_close(pcm)
    return true
  }

  /// Performs a library call, or uses the result that a test forces, and throws an error for a
  /// negative result.
  @discardableResult func check<Number: BinaryInteger>(_ call: PCMCall, _ body: () -> Number)
    throws(PCMFailure) -> Int
  {
    while true {
      let result = interception?.forcedResult(call) ?? Int(body())
      if result >= 0 { return result }
      if result != Int(-EINTR) { throw PCMFailure(call, errnoCode: Int32(-result)) }
    }
  }

  var state: State {
    switch unsafe snd_pcm_state(handle) {
    case SND_PCM_STATE_PREPARED: .prepared
    case SND_PCM_STATE_RUNNING, SND_PCM_STATE_DRAINING: .running
    case SND_PCM_STATE_XRUN: .underrun
    case SND_PCM_STATE_SUSPENDED: .suspended
    case SND_PCM_STATE_DISCONNECTED: .disconnected
    default: .other
    }
  }

  /// Calls `snd_pcm_avail`, and returns the free space in frames, as accurately as the device can
  /// measure it.
  func available() throws(PCMFailure) -> Int {
    try check(.available) { unsafe snd_pcm_avail(handle) }
  }

  /// Calls `snd_pcm_delay`, and returns the number of frames that are played before a frame written
  /// now is heard; negative after an underrun.
  func delay() throws(PCMFailure) -> Int {
    var delayFrameCount: snd_pcm_sframes_t = 0
    try check(.delay) { unsafe snd_pcm_delay(handle, &delayFrameCount) }
    return delayFrameCount
  }

  /// Calls `snd_pcm_prepare`, which empties the buffer so that it can be filled.
  func prepare() throws(PCMFailure) { try check(.prepare) { unsafe snd_pcm_prepare(handle) } }

  func start() throws(PCMFailure) { try check(.start) { unsafe snd_pcm_start(handle) } }

  /// Calls `snd_pcm_resume`, which continues after a suspension with the contents of the buffer.
  func resume() throws(PCMFailure) { try check(.resume) { unsafe snd_pcm_resume(handle) } }

  func drop() { _ = unsafe snd_pcm_drop(handle) }

  /// Calls `snd_pcm_drop` and `snd_pcm_hw_free`, so that the device can be configured again.
  func endConfiguration() throws(PCMFailure) {
    drop()
    try check(.hardwareFree) { unsafe snd_pcm_hw_free(handle) }
  }

  /// Calls `snd_pcm_writei`, and returns the number of accepted frames; 0 without space.
  func write(_ bytes: UnsafeRawPointer, frameCount: Int) throws(PCMFailure) -> Int {
    try checkTransfer(.write) {
      unsafe snd_pcm_writei(handle, bytes, snd_pcm_uframes_t(frameCount))
    }
  }

  /// Calls `snd_pcm_mmap_begin`, and returns the location for the next frames, at most
  /// `frameCount`; nil without space.
  @unsafe func mapBegin(frameCount: Int) throws(PCMFailure) -> (
    start: UnsafeMutableRawPointer, offset: Int, frameCount: Int
  )? {
    var channelAreas: UnsafePointer<snd_pcm_channel_area_t>?
    var frameOffset: snd_pcm_uframes_t = 0
    var mappedFrameCount = snd_pcm_uframes_t(frameCount)
    try check(.mapBegin) {
      unsafe snd_pcm_mmap_begin(handle, &channelAreas, &frameOffset, &mappedFrameCount)
    }
    guard mappedFrameCount > 0, let area = unsafe channelAreas?.pointee,
      let start = unsafe area.addr
    else {
      return nil
    }
    let firstByteOffset = unsafe (Int(area.first) + Int(frameOffset) * Int(area.step)) / 8
    return unsafe (
      start: start + firstByteOffset, offset: Int(frameOffset), frameCount: Int(mappedFrameCount)
    )
  }

  func mapCommit(offset: Int, frameCount: Int) throws(PCMFailure) -> Int {
    try checkTransfer(.mapCommit) {
      unsafe snd_pcm_mmap_commit(handle, snd_pcm_uframes_t(offset), snd_pcm_uframes_t(frameCount))
    }
  }

  /// Performs a transfer of frames, and returns 0 instead of an error if the device is not ready
  /// for frames.
  func checkTransfer(_ call: PCMCall, _ body: () -> Int) throws(PCMFailure) -> Int {
    do {
      return try check(call, body)
    } catch {
      if error.errnoCode == EAGAIN { return 0 }
      throw error
    }
  }

  var descriptorCount: Int { max(0, Int(unsafe snd_pcm_poll_descriptors_count(handle))) }

  /// Calls `snd_pcm_poll_descriptors`, which stores the device's descriptors in an array, starting
  /// at the given index.
  func pollDescriptors(into entries: inout [PollDescriptor], from start: Int) throws(PCMFailure) {
    let descriptorCapacity = UInt32(clamping: entries.count - start)
    let descriptorCount = try check(.descriptors) {
      unsafe entries.withUnsafeMutableBytes { bytes -> Int32 in
        // A `PollDescriptor` has the layout of C's `pollfd`.
        guard let first = unsafe bytes.assumingMemoryBound(to: pollfd.self).baseAddress else {
          return 0
        }
        return unsafe snd_pcm_poll_descriptors(handle, first + start, descriptorCapacity)
      }
    }
    // poll(2) ignores negative descriptors.
    for index in (start + descriptorCount)..<max(entries.count, start + descriptorCount) {
      entries[index].descriptor = -1
    }
  }

  /// Calls `snd_pcm_poll_descriptors_revents`, which translates the events of the descriptors to
  /// those of the PCM.
  func receivedEvents(_ watched: inout [PollDescriptor], from start: Int) throws(PCMFailure)
    -> Int16
  {
    var eventMask: UInt16 = 0
    let descriptorCount = UInt32(clamping: watched.count - start)
    try check(.receivedEvents) {
      unsafe watched.withUnsafeMutableBytes { bytes -> Int32 in
        guard let first = unsafe bytes.assumingMemoryBound(to: pollfd.self).baseAddress else {
          return 0
        }
        return unsafe snd_pcm_poll_descriptors_revents(
          handle, first + start, descriptorCount, &eventMask)
      }
    }
    return Int16(truncatingIfNeeded: eventMask)
  }

  /// Calls `snd_pcm_readi`, and returns the number of frames; 0 if there are none yet. There must
  /// be space for `frameCount` frames.
  func read(into bytes: inout MutableSpan<UInt8>, frameCount: Int) throws(PCMFailure) -> Int {
    let requestedFrameCount = snd_pcm_uframes_t(frameCount)
    return try checkTransfer(.read) {
      unsafe bytes.withUnsafeMutableBytes {
        guard let start = $0.baseAddress else { return 0 }
        return unsafe snd_pcm_readi(handle, start, requestedFrameCount)
      }
    }
  }

  /// Calls `snd_pcm_hw_params_any` and `…_set_rate_resample`, so that the parameters cover the
  /// device's own capabilities.
  func startNegotiation() throws(PCMFailure) {
    try check(.hardwareParametersAny) { unsafe snd_pcm_hw_params_any(handle, hardwareParameters) }
    try check(.setResampling) {
      unsafe snd_pcm_hw_params_set_rate_resample(handle, hardwareParameters, 0)
    }
  }

  func supports(_ access: PCMAccess) -> Bool {
    unsafe snd_pcm_hw_params_test_access(handle, hardwareParameters, access.alsaAccessCode) == 0
  }

  func supports(_ encoding: SampleEncoding) -> Bool {
    unsafe snd_pcm_hw_params_test_format(handle, hardwareParameters, encoding.alsaFormatCode) == 0
  }

  func supports(rate: Int) -> Bool {
    unsafe snd_pcm_hw_params_test_rate(handle, hardwareParameters, UInt32(clamping: rate), 0) == 0
  }

  func supports(channelCount: Int) -> Bool {
    unsafe snd_pcm_hw_params_test_channels(
      handle, hardwareParameters, UInt32(clamping: channelCount)) == 0
  }

  func set(_ access: PCMAccess) throws(PCMFailure) {
    try check(.setAccess) {
      unsafe snd_pcm_hw_params_set_access(handle, hardwareParameters, access.alsaAccessCode)
    }
  }

  func set(_ encoding: SampleEncoding) throws(PCMFailure) {
    try check(.setFormat) {
      unsafe snd_pcm_hw_params_set_format(handle, hardwareParameters, encoding.alsaFormatCode)
    }
  }

  func set(channelCount: Int) throws(PCMFailure) {
    try check(.setChannels) {
      unsafe snd_pcm_hw_params_set_channels(
        handle, hardwareParameters, UInt32(clamping: channelCount))
    }
  }

  func set(rate: Int) throws(PCMFailure) {
    try check(.setRate) {
      unsafe snd_pcm_hw_params_set_rate(handle, hardwareParameters, UInt32(clamping: rate), 0)
    }
  }

  func set(rateNear rate: Int) throws(PCMFailure) -> Int {
    var grantedRate = UInt32(clamping: rate)
    try check(.setRate) {
      unsafe snd_pcm_hw_params_set_rate_near(handle, hardwareParameters, &grantedRate, nil)
    }
    return Int(grantedRate)
  }

  func set(periodSizeNear size: Int) throws(PCMFailure) {
    var periodSize = snd_pcm_uframes_t(clamping: size)
    try check(.setPeriodSize) {
      unsafe snd_pcm_hw_params_set_period_size_near(handle, hardwareParameters, &periodSize, nil)
    }
  }

  func set(bufferSizeNear size: Int) throws(PCMFailure) {
    var bufferSize = snd_pcm_uframes_t(clamping: size)
    try check(.setBufferSize) {
      unsafe snd_pcm_hw_params_set_buffer_size_near(handle, hardwareParameters, &bufferSize)
    }
  }

  func preferWholePeriods() {
    _ = unsafe snd_pcm_hw_params_set_periods_integer(handle, hardwareParameters)
  }

  func channelCounts() throws(PCMFailure) -> ClosedRange<Int> {
    var minimumChannelCount: UInt32 = 0
    var maximumChannelCount: UInt32 = 0
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_channels_min(hardwareParameters, &minimumChannelCount)
    }
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_channels_max(hardwareParameters, &maximumChannelCount)
    }
    return Int(minimumChannelCount)...max(Int(minimumChannelCount), Int(maximumChannelCount))
  }

  func rates() throws(PCMFailure) -> ClosedRange<Int> {
    var minimumRate: UInt32 = 0
    var maximumRate: UInt32 = 0
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_rate_min(hardwareParameters, &minimumRate, nil)
    }
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_rate_max(hardwareParameters, &maximumRate, nil)
    }
    return Int(minimumRate)...max(Int(minimumRate), Int(maximumRate))
  }

  func periodSizes() throws(PCMFailure) -> ClosedRange<Int> {
    var minimumPeriodSize: snd_pcm_uframes_t = 0
    var maximumPeriodSize: snd_pcm_uframes_t = 0
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_period_size_min(hardwareParameters, &minimumPeriodSize, nil)
    }
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_period_size_max(hardwareParameters, &maximumPeriodSize, nil)
    }
    let minimumSize = Int(clamping: minimumPeriodSize)
    return minimumSize...max(minimumSize, Int(clamping: maximumPeriodSize))
  }

  /// Calls `snd_pcm_hw_params`, which configures and prepares the device.
  func finishNegotiation() throws(PCMFailure) -> (periodSize: Int, bufferSize: Int) {
    try check(.hardwareParameters) { unsafe snd_pcm_hw_params(handle, hardwareParameters) }
    var periodSize: snd_pcm_uframes_t = 0
    var bufferSize: snd_pcm_uframes_t = 0
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_period_size(hardwareParameters, &periodSize, nil)
    }
    try check(.getParameter) {
      unsafe snd_pcm_hw_params_get_buffer_size(hardwareParameters, &bufferSize)
    }
    return (Int(clamping: periodSize), Int(clamping: bufferSize))
  }

  /// Calls `snd_pcm_sw_params`: wake-up after each period, explicit start, stop on underrun, and
  /// silence after the last frame.
  func setSoftwareParameters(periodSize: Int, bufferSize: Int) throws(PCMFailure) {
    var softwareParameters: OpaquePointer?
    try check(.softwareParameters) { unsafe snd_pcm_sw_params_malloc(&softwareParameters) }
    defer { unsafe snd_pcm_sw_params_free(softwareParameters) }
    guard let softwareParameters = unsafe softwareParameters else { return }
    let periodFrameCount = snd_pcm_uframes_t(periodSize)
    let bufferFrameCount = snd_pcm_uframes_t(bufferSize)
    var pointerBoundary: snd_pcm_uframes_t = 0
    try check(.softwareParameters) { unsafe snd_pcm_sw_params_current(handle, softwareParameters) }
    try check(.softwareParameters) {
      unsafe snd_pcm_sw_params_get_boundary(softwareParameters, &pointerBoundary)
    }
    try check(.softwareParameters) {
      unsafe snd_pcm_sw_params_set_start_threshold(handle, softwareParameters, pointerBoundary)
    }
    try check(.softwareParameters) {
      unsafe snd_pcm_sw_params_set_stop_threshold(handle, softwareParameters, bufferFrameCount)
    }
    try check(.softwareParameters) {
      unsafe snd_pcm_sw_params_set_avail_min(handle, softwareParameters, periodFrameCount)
    }
    // The device overwrites played frames with silence, so that a late writer causes no echo. A
    // plug-in may not support this.
    _ = unsafe snd_pcm_sw_params_set_silence_threshold(handle, softwareParameters, 0)
    _ = unsafe snd_pcm_sw_params_set_silence_size(handle, softwareParameters, pointerBoundary)
    do {
      try check(.softwareParameters) { unsafe snd_pcm_sw_params(handle, softwareParameters) }
    } catch {
      _ = unsafe snd_pcm_sw_params_set_silence_size(handle, softwareParameters, 0)
      try check(.softwareParameters) { unsafe snd_pcm_sw_params(handle, softwareParameters) }
    }
  }

  /// A Boolean value that indicates whether the PCM is a sound card itself, according to
  /// `snd_pcm_type`.
  var isSoundCard: Bool { unsafe snd_pcm_type(handle) == SND_PCM_TYPE_HW }

  /// A Boolean value that indicates whether the PCM is an external plug-in, according to
  /// `snd_pcm_type`.
  var isExternalPlugin: Bool { unsafe snd_pcm_type(handle) == SND_PCM_TYPE_IOPLUG }

  /// Calls `snd_pcm_dump`, and returns the library's description of the PCM and its slaves. It
  /// allocates memory.
  func dumpText() -> String {
    if unsafe snd_pcm_type(handle) == SND_PCM_TYPE_NULL { return "Null PCM" }
    var outputBuffer: OpaquePointer?
    guard unsafe snd_output_buffer_open(&outputBuffer) == 0, let outputBuffer = unsafe outputBuffer
    else { return "" }
    defer { unsafe snd_output_close(outputBuffer) }
    unsafe snd_pcm_dump(handle, outputBuffer)
    var textPointer: UnsafeMutablePointer<CChar>?
    let textByteCount = unsafe snd_output_buffer_string(outputBuffer, &textPointer)
    guard let textPointer = unsafe textPointer else { return "" }
    // The library does not terminate this text.
    let textBytes = unsafe UnsafeBufferPointer(start: textPointer, count: Int(textByteCount))
    return unsafe String(decoding: UnsafeRawBufferPointer(textBytes), as: UTF8.self)
  }
}

/// The library calls that can fail, with the names from its documentation.
package enum PCMCall: String, CaseIterable, Sendable {
  case open = "snd_pcm_open"
  case close = "snd_pcm_close"
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
  case hardwareFree = "snd_pcm_hw_free"
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

package struct PCMFailure: Error, Equatable, Sendable {
  package var call: PCMCall
  /// The reason for the failure, as a positive `errno` value.
  package var errnoCode: Int32

  package init(_ call: PCMCall, errnoCode: Int32) {
    self.call = call
    self.errnoCode = errnoCode
  }
}

/// Closures that intercept library calls, so that tests can force rare results.
package struct PCMInterception: Sendable {
  /// The result of intercepting the opening of a device.
  @safe package enum OpeningResult {
    case notIntercepted
    /// A PCM that was opened elsewhere and is closed by its owner.
    case opened(OpaquePointer)
    /// Opening fails with the given `errno` value.
    case refused(Int32)
  }

  package var open: @Sendable (_ device: String) -> OpeningResult
  /// A closure that returns the result to use instead of calling the library, negative for an
  /// error, or nil to call the library.
  package var forcedResult: @Sendable (PCMCall) -> Int?
  /// A closure that returns false to let a call that reopens or closes a device on a separate
  /// thread hang forever.
  package var letsCallReturn: @Sendable (PCMCall) -> Bool = { _ in true }

  package init(
    open: @escaping @Sendable (String) -> OpeningResult = { _ in .notIntercepted },
    result: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }
  ) {
    self.open = open
    self.forcedResult = result
  }
}

/// Silences the messages that libraries print themselves, so that only the program's messages
/// appear.
enum LibraryErrors {
  private static let alsaSilencing: Void = temblor_alsa_be_silent()
  private static let jackSilencing: Void = { _ = silenceJack(RTLD_NOW) }()
  private static let isJackSilenced = Atomic<Bool>(false)

  /// Calls `snd_lib_error_set_handler` once.
  static func silenceALSA() { _ = alsaSilencing }

  /// Calls `jack_set_error_function` and `jack_set_info_function` once, if the library exists.
  static func silenceJack() { _ = jackSilencing }

  /// Silences libjack if any device has loaded it.
  static func silenceLoadedJack() {
    guard !isJackSilenced.load(ordering: .relaxed) else { return }
    isJackSilenced.store(silenceJack(RTLD_NOW | RTLD_NOLOAD), ordering: .relaxed)
  }

  /// Silences libjack, which stays loaded afterward. Returns whether it exists.
  private static func silenceJack(_ mode: Int32) -> Bool {
    typealias ErrorMessageHandler = @convention(c) (UnsafePointer<CChar>?) -> Void
    typealias Setter = @convention(c) (ErrorMessageHandler?) -> Void
    let ignoreMessage: ErrorMessageHandler = { _ in }
    guard let jackLibrary = unsafe dlopen("libjack.so.0", mode) else { return false }
    for name in ["jack_set_error_function", "jack_set_info_function"] {
      guard let symbol = unsafe dlsym(jackLibrary, name) else { continue }
      unsafe unsafeBitCast(symbol, to: Setter.self)(ignoreMessage)
    }
    return true
  }
}

extension PCMAccess {
  fileprivate var alsaAccessCode: snd_pcm_access_t {
    self == .memoryMapped ? SND_PCM_ACCESS_MMAP_INTERLEAVED : SND_PCM_ACCESS_RW_INTERLEAVED
  }
}

extension SampleEncoding {
  fileprivate var alsaFormatCode: snd_pcm_format_t {
    switch self {
    case .float: SND_PCM_FORMAT_FLOAT
    case .s32: SND_PCM_FORMAT_S32
    case .s24: SND_PCM_FORMAT_S24
    case .s24Packed: 1.littleEndian == 1 ? SND_PCM_FORMAT_S24_3LE : SND_PCM_FORMAT_S24_3BE
    case .s16: SND_PCM_FORMAT_S16
    }
  }
}
