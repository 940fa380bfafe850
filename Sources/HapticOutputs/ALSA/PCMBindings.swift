internal import CALSA
internal import Glibc
internal import HapticPlayback
internal import Synchronization

/// An open PCM and the funnel to it: one function for each call of the library, results checked.
///
/// A call that a signal interrupted is made again. Nothing here waits, allocates or frees except where it says.
@safe final class PCMBindings {
  /// The states that decide what to do next.
  enum State { case prepared, running, underrun, suspended, disconnected, other }

  /// The library's PCM, for the calls in the other files of this funnel.
  let pcm: OpaquePointer
  /// The hardware parameters under negotiation.
  let parameters: OpaquePointer
  private let interception: PCMInterception?
  private let isClosed = Atomic<Bool>(false)

  /// Which way frames go.
  enum Direction { case playback, capture }

  /// `snd_pcm_open`, never waiting; nothing is converted behind our back.
  init(opening device: String, for direction: Direction = .playback, interception: PCMInterception?) throws(PCMFailure)
  {
    LibraryErrors.silence()
    if device.prefix(while: { $0 != ":" }) == "jack" { LibraryErrors.silenceJack() }
    defer { LibraryErrors.silenceLoadedJack() }
    let pcm = try unsafe Self.open(device, for: direction, interception: interception)
    var parameters: OpaquePointer?
    guard unsafe snd_pcm_hw_params_malloc(&parameters) == 0, let parameters = unsafe parameters else {
      unsafe snd_pcm_close(pcm)
      throw PCMFailure(.open, code: ENOMEM)
    }
    unsafe self.pcm = pcm
    unsafe self.parameters = parameters
    self.interception = interception
  }

  deinit { close() }

  /// `snd_pcm_close`: returns when the device is closed, also where others refer to it; no call may follow.
  ///
  /// Later calls do nothing.
  func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    unsafe snd_pcm_hw_params_free(parameters)
    unsafe snd_pcm_close(pcm)
  }

  private static func open(_ device: String, for direction: Direction, interception: PCMInterception?)
    throws(PCMFailure) -> OpaquePointer
  {
    switch interception?.open(device) ?? .passed {
    case .opened(let pcm): return unsafe pcm
    case .refused(let code): throw PCMFailure(.open, code: code)
    case .passed:
      var pcm: OpaquePointer?
      let mode = SND_PCM_NONBLOCK | SND_PCM_NO_AUTO_RESAMPLE | SND_PCM_NO_AUTO_CHANNELS | SND_PCM_NO_AUTO_FORMAT
      let stream = direction == .playback ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE
      let result = unsafe snd_pcm_open(&pcm, device, stream, Int32(mode))
      guard result >= 0, let pcm = unsafe pcm else { throw PCMFailure(.open, code: result < 0 ? -result : ENODEV) }
      return unsafe pcm
    }
  }

  /// `snd_pcm_open` for capture: whether the device exists for recording.
  static func records(_ device: String) -> Bool {
    var pcm: OpaquePointer?
    let result = unsafe snd_pcm_open(&pcm, device, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
    guard result >= 0, let pcm = unsafe pcm else { return false }
    unsafe snd_pcm_close(pcm)
    return true
  }

  /// Calls, or takes the result that is forced, and throws what is below zero.
  @discardableResult func check<Number: BinaryInteger>(_ call: PCMCall, _ body: () -> Number) throws(PCMFailure) -> Int
  {
    while true {
      let result = interception?.result(call) ?? Int(body())
      if result >= 0 { return result }
      if result != Int(-EINTR) { throw PCMFailure(call, code: Int32(-result)) }
    }
  }

  /// `snd_pcm_state`.
  var state: State {
    switch unsafe snd_pcm_state(pcm) {
    case SND_PCM_STATE_PREPARED: .prepared
    case SND_PCM_STATE_RUNNING, SND_PCM_STATE_DRAINING: .running
    case SND_PCM_STATE_XRUN: .underrun
    case SND_PCM_STATE_SUSPENDED: .suspended
    case SND_PCM_STATE_DISCONNECTED: .disconnected
    default: .other
    }
  }

  /// `snd_pcm_avail`: frames that can be written, as exactly as the device knows.
  func available() throws(PCMFailure) -> Int { try check(.available) { unsafe snd_pcm_avail(pcm) } }

  /// `snd_pcm_delay`: frames until a frame written now is heard; below zero after an underrun.
  func delay() throws(PCMFailure) -> Int {
    var frames: snd_pcm_sframes_t = 0
    try check(.delay) { unsafe snd_pcm_delay(pcm, &frames) }
    return frames
  }

  /// `snd_pcm_prepare`: empties the buffer and makes the PCM ready to be filled.
  func prepare() throws(PCMFailure) { try check(.prepare) { unsafe snd_pcm_prepare(pcm) } }

  /// `snd_pcm_start`.
  func start() throws(PCMFailure) { try check(.start) { unsafe snd_pcm_start(pcm) } }

  /// `snd_pcm_resume`: goes on after a suspension with what the buffer holds.
  func resume() throws(PCMFailure) { try check(.resume) { unsafe snd_pcm_resume(pcm) } }

  /// `snd_pcm_drop`: stops at once.
  func drop() { _ = unsafe snd_pcm_drop(pcm) }

  /// `snd_pcm_writei`: frames taken, none where there is no space.
  func write(_ bytes: UnsafeRawPointer, frameCount: Int) throws(PCMFailure) -> Int {
    try checkTransfer(.write) { unsafe snd_pcm_writei(pcm, bytes, snd_pcm_uframes_t(frameCount)) }
  }

  /// `snd_pcm_mmap_begin`: where the next frames go, at most as many as asked for.
  @unsafe func mapBegin(frameCount: Int) throws(PCMFailure) -> (
    start: UnsafeMutableRawPointer, offset: Int, frameCount: Int
  )? {
    var areas: UnsafePointer<snd_pcm_channel_area_t>?
    var offset: snd_pcm_uframes_t = 0
    var count = snd_pcm_uframes_t(frameCount)
    try check(.mapBegin) { unsafe snd_pcm_mmap_begin(pcm, &areas, &offset, &count) }
    guard count > 0, let area = unsafe areas?.pointee, let start = unsafe area.addr else { return nil }
    let first = unsafe (Int(area.first) + Int(offset) * Int(area.step)) / 8
    return unsafe (start: start + first, offset: Int(offset), frameCount: Int(count))
  }

  /// `snd_pcm_mmap_commit`: frames taken.
  func mapCommit(offset: Int, frameCount: Int) throws(PCMFailure) -> Int {
    try checkTransfer(.mapCommit) {
      unsafe snd_pcm_mmap_commit(pcm, snd_pcm_uframes_t(offset), snd_pcm_uframes_t(frameCount))
    }
  }

  /// A device that has no space now has not failed.
  func checkTransfer(_ call: PCMCall, _ body: () -> Int) throws(PCMFailure) -> Int {
    do { return try check(call, body) } catch {
      if error.code == EAGAIN { return 0 }
      throw error
    }
  }

  /// `snd_pcm_poll_descriptors_count`.
  var descriptorCount: Int { max(0, Int(unsafe snd_pcm_poll_descriptors_count(pcm))) }

  /// `snd_pcm_poll_descriptors`: puts what is to be watched at the end of an array, from an index on.
  func descriptors(into watched: inout [PollDescriptor], from start: Int) throws(PCMFailure) {
    let count = UInt32(clamping: watched.count - start)
    let found = try check(.descriptors) {
      unsafe watched.withUnsafeMutableBytes { bytes -> Int32 in
        // A watched descriptor has the layout of C's pollfd.
        guard let first = unsafe bytes.assumingMemoryBound(to: pollfd.self).baseAddress else { return 0 }
        return unsafe snd_pcm_poll_descriptors(pcm, first + start, count)
      }
    }
    // poll(2) passes over a descriptor below zero.
    for index in (start + found)..<max(watched.count, start + found) { watched[index].descriptor = -1 }
  }

  /// `snd_pcm_poll_descriptors_revents`: the events the PCM makes of those its descriptors got.
  func receivedEvents(_ watched: inout [PollDescriptor], from start: Int) throws(PCMFailure) -> Int16 {
    var events: UInt16 = 0
    let count = UInt32(clamping: watched.count - start)
    try check(.receivedEvents) {
      unsafe watched.withUnsafeMutableBytes { bytes -> Int32 in
        guard let first = unsafe bytes.assumingMemoryBound(to: pollfd.self).baseAddress else { return 0 }
        return unsafe snd_pcm_poll_descriptors_revents(pcm, first + start, count, &events)
      }
    }
    return Int16(truncatingIfNeeded: events)
  }

  /// `snd_pcm_readi`: frames that were there, none where there are none yet.
  ///
  /// - Parameter bytes: Space for all the frames that are asked for.
  func read(into bytes: inout MutableSpan<UInt8>, frameCount: Int) throws(PCMFailure) -> Int {
    let frames = snd_pcm_uframes_t(frameCount)
    return try checkTransfer(.read) {
      unsafe bytes.withUnsafeMutableBytes {
        guard let start = $0.baseAddress else { return 0 }
        return unsafe snd_pcm_readi(pcm, start, frames)
      }
    }
  }
}
