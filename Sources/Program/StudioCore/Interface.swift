internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading
internal import RealtimeMemory
internal import SignalAnalysis

// The C interface of the studio, for its page (WebAssembly) and for C programs. Library/temblor.h
// documents it for C. Arguments are numbers and bytes in memory. An instance has all of its state,
// and must be used by one thread at a time.
//
// Most functions return a number: 1 or a count for success, and 0 for a failure, with the error as
// JSON in the output. The status of the last call tells an empty result from a failure.

/// Creates an instance of the studio, and returns its address.
@_expose(wasm, "create") @_cdecl("temblor_create")
public func temblorCreate() -> StudioHandle {
  unsafe Unmanaged.passRetained(StudioInstance()).toOpaque()
}

/// Releases an instance and everything that belongs to it.
@_expose(wasm, "release") @_cdecl("temblor_release")
public func temblorRelease(_ handle: StudioHandle?) {
  if let handle = unsafe handle {
    unsafe Unmanaged<StudioInstance>.fromOpaque(handle).release()
  }
}

/// Returns the status of the last call as the number of a `CallStatus`.
@_cdecl("temblor_status")
public func temblorStatus(_ handle: StudioHandle?) -> Int32 {
  guard let handle = unsafe handle else { return CallStatus.invalidArgument.rawValue }
  return unsafe StudioInstance.instance(of: handle).lastCallStatus.rawValue
}

// MARK: - Memory

/// Returns the memory of the instance for the input bytes of the next calls of a page. The memory
/// stays valid until the next call of this function. The module cannot access the memory of the
/// page.
@_expose(wasm, "input") @_cdecl("temblor_input")
public func temblorInput(_ handle: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<UInt8> {
  let instance = unsafe StudioInstance.instance(of: handle)
  if Int(count) > instance.inputBuffer.count {
    instance.inputBuffer = FixedBuffer(repeating: 0, count: Int(count))
  }
  return unsafe instance.inputBuffer.address
}

/// Returns the address of the last call's output. The address is valid until the next call.
@_expose(wasm, "output") @_cdecl("temblor_output")
public func temblorOutput(_ handle: StudioHandle?) -> UnsafeMutablePointer<UInt8>? {
  guard let handle = unsafe handle else { return nil }
  return unsafe StudioInstance.instance(of: handle).outputBuffer.address
}

/// Returns the length of the output of the last call, in bytes.
@_expose(wasm, "outputLength") @_cdecl("temblor_output_length")
public func temblorOutputLength(_ handle: StudioHandle?) -> Int32 {
  guard let handle = unsafe handle else { return 0 }
  return unsafe Int32(clamping: StudioInstance.instance(of: handle).outputBuffer.count)
}

/// Returns the address of the last rendering's samples, in −1…1.
@_expose(wasm, "samples") @_cdecl("temblor_samples")
public func temblorSamples(_ handle: StudioHandle?) -> UnsafeMutablePointer<Float>? {
  guard let handle = unsafe handle else { return nil }
  return unsafe StudioInstance.instance(of: handle).lastRendering.buffer.address
}

// MARK: - Patterns

/// Opens a file of any format as document 0…65,535.
/// Returns 1 if it can be read. Otherwise, the output is the error, and the previous pattern stays
/// audible.
@_expose(wasm, "open") @_cdecl("temblor_open")
public func temblorOpen(
  _ handle: StudioHandle?, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ content: BytePointer?,
  _ length: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let name = try unsafe decodeText(name, nameLength, of: "the name")
    let content = try unsafe copyBytes(content, length, of: "the content")
    return try instance.openDocument(slot, SourceFile(content, name: name))
  }
}

/// Sets the output to the report with the given name, and returns its length, or 0 for an unknown
/// report or document.
///
/// - `text` and `original` are the bytes of a document.
/// - `history`, `lines` (changed lines), `score`, `origin`, `parts` (of a file with several
///   patterns), and `check` (for a profile) are JSON about a document.
/// - `losses` (of the last conversion), `formats`, and `profiles` are JSON without a document.
@_expose(wasm, "report") @_cdecl("temblor_report")
public func temblorReport(
  _ handle: StudioHandle?, _ name: BytePointer?, _ length: Int32, _ slot: Int32, _ profile: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let name = try unsafe decodeText(name, length, of: "the name")
    guard let kind = ReportKind(rawValue: name) else {
      throw .invalidArgument(
        "unknown report \(name.quoted())", suggestion: "use \(ReportKind.commaSeparatedNames)")
    }
    let slot = kind.needsDocument ? try instance.checkedDocumentIndex(slot) : 0
    let profile = kind == .check ? try instance.checkedProfileIndex(profile) : 0
    if kind == .score, instance.studio.documents[slot].lastReadableEditor == nil {
      return try StudioInstance.readingResult(of: instance.studio.documents[slot])
    }
    return instance.setOutput(
      instance.studio.makeReport(kind, document: slot, profile: profile))
  }
}

// MARK: - Sound

/// Renders a document on one channel. Returns the number of samples.
///
/// Returns 0 if the document cannot be rendered, with the error as output. After a successful
/// rendering the output is empty, even without samples.
@_expose(wasm, "render") @_cdecl("temblor_render")
public func temblorRender(_ handle: StudioHandle?, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  unsafe runCall(handle) { instance throws(CallError) in
    instance.lastRendering.clear()
    var renderer = try instance.makeRenderer(of: slot, profile: profile, rate: rate)
    instance.lastRendering.replace(by: &renderer, rate: rate, profile: Int(profile))
    return Int32(clamping: instance.lastRendering.sampleCount)
  }
}

// MARK: - Live sound

/// Starts live sound of documents 0 and 1 at a sample rate.
/// Returns 1, or 0 for an invalid rate, which ends live sound.
@_expose(wasm, "liveStart") @_cdecl("temblor_live_start")
public func temblorLiveStart(_ handle: StudioHandle?, _ rate: Double) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    instance.liveSound = nil
    try checkSampleRate(rate)
    instance.liveSound = LiveSound(sampleRateHertz: rate)
    return 1
  }
}

/// Opens an AHAP text in a document and plays it from the position of the previous pattern.
/// Returns 0 if it cannot be compiled.
@_expose(wasm, "liveLoad") @_cdecl("temblor_live_load")
public func temblorLiveLoad(
  _ handle: StudioHandle?, _ slot: Int32, _ content: BytePointer?, _ length: Int32, _ profile: Int32
) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    let content = try unsafe copyBytes(content, length, of: "the text")
    return try instance.play(slot, profile: profile) { live throws(CallError) in
      _ = try instance.openDocument(slot, SourceFile(content, name: "live.ahap"))
      return try instance.compilePlan(slot, profile: profile, rate: live.sampleRateHertz)
    }
  }
}

/// Plays both documents from a frame, or stops them. Returns 1, or 0 for a negative frame.
@_expose(wasm, "livePlay") @_cdecl("temblor_live_play")
public func temblorLivePlay(_ handle: StudioHandle?, _ isPlaying: Int32, _ frame: Int32) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    let liveSound = try instance.startedLiveSound()
    try checkInteger(frame, 0...Int32.max, "the frame")
    liveSound.setPlaying(isPlaying != 0, fromFrame: Int64(frame))
    return 1
  }
}

/// Repeats a range of frames, or the whole patterns if the end is 0. Returns 1, or 0 for an empty
/// range.
@_expose(wasm, "liveLoop") @_cdecl("temblor_live_loop")
public func temblorLiveLoop(
  _ handle: StudioHandle?, _ isLooping: Int32, _ start: Int32, _ end: Int32
) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    let liveSound = try instance.startedLiveSound()
    try checkInteger(start, 0...Int32.max, "the start")
    guard end == 0 || end > start else {
      throw .invalidArgument(
        "the end \(end) is not after the start \(start)", suggestion: "use 0 for the whole pattern")
    }
    liveSound.setLoop(isLooping != 0, fromFrame: Int64(start), toFrame: Int64(end))
    return 1
  }
}

/// Selects the audible document. Returns 1, or 0 for an invalid document.
@_expose(wasm, "liveHear") @_cdecl("temblor_live_hear")
public func temblorLiveHear(_ handle: StudioHandle?, _ slot: Int32) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    let liveSound = try instance.startedLiveSound()
    try checkInteger(slot, 0...1, "the slot")
    liveSound.setAudibleSlot(Int(slot))
    return 1
  }
}

/// Sets a live control: control 0 for intensity, or control 1 for sharpness. Returns 1, or 0 for an
/// unknown control or a value that is not finite.
@_expose(wasm, "liveControl") @_cdecl("temblor_live_control")
public func temblorLiveControl(_ handle: StudioHandle?, _ control: Int32, _ value: Double) -> Int32
{
  unsafe runLiveCall(handle) { instance throws(CallError) in
    let liveSound = try instance.startedLiveSound()
    try checkInteger(control, 0...1, "the control")
    guard value.isFinite else { throw .invalidArgument("the value is \(value)") }
    liveSound.setControlValue(Int(control), min(max(value, control == 0 ? 0 : -1), 1))
    return 1
  }
}

/// Renders the next frames of live sound, at most 4,096, and returns their address.
/// Returns silence if live sound has not started, and for an invalid count.
@_expose(wasm, "liveRender") @_cdecl("temblor_live_render")
public func temblorLiveRender(_ handle: StudioHandle?, _ count: Int32) -> UnsafeMutablePointer<
  Float
>? {
  guard let handle = unsafe handle else { return nil }
  var block = unsafe StudioInstance.instance(of: handle).silentBlock.address
  _ = unsafe runLiveCall(handle) { instance throws(CallError) in
    let liveSound = try instance.startedLiveSound()
    try checkInteger(count, 0...Int32(LiveSound.maximumBlockFrameCount), "the number of frames")
    unsafe block = liveSound.renderFrames(Int(count))
    return 1
  }
  return unsafe block
}

/// Returns the next frame of the audible pattern, or 0 if live sound has not started.
@_expose(wasm, "livePosition") @_cdecl("temblor_live_position")
public func temblorLivePosition(_ handle: StudioHandle?) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    Int32(clamping: try instance.startedLiveSound().positionFrame)
  }
}

/// Returns 1 while the audible pattern is playing, or 0 if live sound has not started.
@_expose(wasm, "livePhase") @_cdecl("temblor_live_phase")
public func temblorLivePhase(_ handle: StudioHandle?) -> Int32 {
  unsafe runLiveCall(handle) { instance throws(CallError) in
    try instance.startedLiveSound().isAudiblePatternPlaying ? 1 : 0
  }
}
