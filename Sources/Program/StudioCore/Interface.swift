internal import HapticFormats
package import HapticRender
package import Reading
internal import RealtimeMemory
internal import SignalAnalysis
internal import TransducerProfiles

// The C interface of the studio, for its page (WebAssembly) and for C programs. C/temblor.h
// documents it for C. Arguments are numbers and bytes in memory. An instance has all of its state,
// and must be used by one thread at a time.
//
// Most functions return a number: 1 or a count for success, and 0 for a failure, with the error as
// JSON in the output.

/// An instance of the studio, with the memory of its last results.
@safe package final class StudioInstance: @unchecked Sendable {
  let studio = Studio()
  var liveSound: LiveSound?
  var inputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  var outputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  var sampleBuffer = FixedBuffer<Float>(repeating: 0, count: 0)
  /// The memory of a plan that is being copied.
  var incomingPlan = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// An object that lives as long as the instance: the session of a C program.
  package var sessionOwner: AnyObject?

  package init() {}

  package static func of(_ handle: StudioHandle) -> StudioInstance {
    unsafe Unmanaged<StudioInstance>.fromOpaque(handle).takeUnretainedValue()
  }

  /// Sets the output, and returns its length in bytes.
  package func setOutput(_ bytes: [UInt8]) -> Int32 {
    outputBuffer = FixedBuffer(bytes)
    return Int32(clamping: bytes.count)
  }

  /// Sets the output to numbers of four bytes each in little-endian order, and returns its length
  /// in bytes.
  func setOutput(_ numbers: [Float]) -> Int32 {
    outputBuffer = FixedBuffer(count: 4 * numbers.count) { index in
      UInt8(truncatingIfNeeded: numbers[index / 4].bitPattern >> UInt32(8 * (index % 4)))
    }
    return Int32(clamping: outputBuffer.count)
  }

  /// Sets the output to an error as JSON, and returns `result`.
  package func setError(_ error: InputError, returning result: Int32 = 0) -> Int32 {
    _ = setOutput(JSONWriter.objectText { $0.members(of: error.finding) })
    return result
  }

  /// Returns 1 for a readable document, or sets the output to its error.
  func status(of slot: Document) -> Int32 {
    slot.error.map { setError($0) } ?? (slot.isReadable ? 1 : 0)
  }

  /// Opens a file in a document, which is created if necessary. Returns its status.
  func open(_ slot: Int32, _ file: SourceFile) -> Int32 {
    studio.makeDocuments(upTo: Int(slot))
    return withDocument(slot) { slot in
      slot.open(file)
      return status(of: slot)
    }
  }

  /// Plays a plan from the position of the previous one. Returns 0 without a plan, or for an
  /// invalid slot.
  func play(_ slot: Int32, profile: Int32, _ plan: (LiveSound) -> RenderPlan?) -> Int32 {
    guard let liveSound, 0..<2 ~= slot, let plan = plan(liveSound) else { return 0 }
    liveSound.load(Int(slot), plan, profile: self.profile(profile))
    return 1
  }

  func hasDocument(_ slot: Int32) -> Bool { studio.documents.indices.contains(Int(slot)) }

  /// Compiles the audible pattern of a document; nil if it cannot be compiled.
  package func plan(_ slot: Int32, profile: Int32, rate: Double) -> RenderPlan? {
    studio.plan(Int(slot), profile: Int(profile), rate: rate)
  }

  /// Returns the profile with an index, or the first one for an invalid index.
  package func profile(_ number: Int32) -> TransducerProfile { studio.profile(Int(number)) }

  /// Calls a function with a document. Returns 0 for an invalid index.
  func withDocument(_ number: Int32, _ body: (inout Document) -> Int32) -> Int32 {
    hasDocument(number) ? body(&studio.documents[Int(number)]) : 0
  }
}

/// The address of an instance, as callers hold it.
public typealias StudioHandle = UnsafeMutableRawPointer
/// The address of bytes that a caller lends for a call. Their number is the next argument.
public typealias BytePointer = UnsafePointer<UInt8>

/// Copies the bytes that a caller lent for a call.
package func bytes(_ start: BytePointer?, _ length: Int32) -> [UInt8] {
  unsafe Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(max(0, length))))
}

package func text(_ start: BytePointer?, _ length: Int32) -> String {
  unsafe String(decoding: bytes(start, length), as: UTF8.self)
}

private func floats(_ start: UnsafePointer<Float>, _ count: Int32) -> [Float] {
  unsafe Array(UnsafeBufferPointer(start: start, count: Int(max(0, count))))
}

/// Creates an instance.
@_expose(wasm, "create") @_cdecl("temblor_create")
public func temblorCreate() -> StudioHandle {
  unsafe Unmanaged.passRetained(StudioInstance()).toOpaque()
}

/// Releases an instance and everything that belongs to it.
@_expose(wasm, "release") @_cdecl("temblor_release")
public func temblorRelease(_ host: StudioHandle) {
  unsafe Unmanaged<StudioInstance>.fromOpaque(host).release()
}

// MARK: - Memory

/// Returns memory of the instance for the bytes of the next calls, because the module cannot access
/// the memory of a page. It stays valid until the next call of this function.
@_expose(wasm, "input") @_cdecl("temblor_input")
public func temblorInput(_ host: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<UInt8> {
  let host = unsafe StudioInstance.of(host)
  if Int(count) > host.inputBuffer.count {
    host.inputBuffer = FixedBuffer(repeating: 0, count: Int(count))
  }
  return unsafe host.inputBuffer.address
}

/// Returns the output of the last call, valid until the next.
@_expose(wasm, "output") @_cdecl("temblor_output")
public func temblorOutput(_ host: StudioHandle) -> UnsafeMutablePointer<UInt8> {
  unsafe StudioInstance.of(host).outputBuffer.address
}

/// Returns the length of the output, in bytes.
@_expose(wasm, "outputLength") @_cdecl("temblor_output_length")
public func temblorOutputLength(_ host: StudioHandle) -> Int32 {
  unsafe Int32(clamping: StudioInstance.of(host).outputBuffer.count)
}

/// Returns the samples of the last rendering, in −1…1.
@_expose(wasm, "samples") @_cdecl("temblor_samples")
public func temblorSamples(_ host: StudioHandle) -> UnsafeMutablePointer<Float> {
  unsafe StudioInstance.of(host).sampleBuffer.address
}

// MARK: - Patterns

/// Opens a file of any format as document 0…65,535. Returns 1 if it can be read. Otherwise, the
/// output is the error, and the previous pattern stays audible.
@_expose(wasm, "open") @_cdecl("temblor_open")
public func temblorOpen(
  _ host: StudioHandle, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ content: BytePointer?,
  _ length: Int32
) -> Int32 {
  unsafe StudioInstance.of(host).open(
    slot, SourceFile(bytes(content, length), name: text(name, nameLength)))
}

/// Replaces the text of a document. Returns 1 if it can be read; otherwise, the output is the
/// error.
@_expose(wasm, "replace") @_cdecl("temblor_replace")
public func temblorReplace(
  _ host: StudioHandle, _ slot: Int32, _ content: BytePointer?, _ length: Int32
)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  return host.withDocument(slot) { slot in
    unsafe slot.replace(bytes(content, length))
    return host.status(of: slot)
  }
}

/// Applies a list of changes, given as JSON. If one is invalid, none is applied, the output is the
/// error, and the result is 0.
@_expose(wasm, "change") @_cdecl("temblor_change")
public func temblorChange(
  _ host: StudioHandle, _ slot: Int32, _ changes: BytePointer?, _ length: Int32
)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  return host.withDocument(slot) { slot in
    do throws(InputError) {
      try slot.change(unsafe [PatternChange](json: bytes(changes, length)))
      return 1
    } catch {
      return host.setError(error)
    }
  }
}

/// Begins an undo step with a name.
@_expose(wasm, "begin") @_cdecl("temblor_begin")
public func temblorBegin(
  _ host: StudioHandle, _ slot: Int32, _ label: BytePointer?, _ length: Int32
) {
  _ = unsafe StudioInstance.of(host).withDocument(slot) { slot in
    unsafe slot.beginStep(text(label, length))
    return 1
  }
}

/// Undoes the last step, or redoes it if `forward` is not 0. Returns 0 if there is none.
@_expose(wasm, "step") @_cdecl("temblor_step")
public func temblorStep(_ host: StudioHandle, _ slot: Int32, _ forward: Int32) -> Int32 {
  unsafe StudioInstance.of(host).withDocument(slot) { $0.step(forward: forward != 0) ? 1 : 0 }
}

/// Sets the output to a report, by its name, and returns its length; 0 for an unknown report or
/// document.
///
/// - `text` and `original` are the bytes of a document.
/// - `history`, `lines` (changed ones), `score`, `origin`, and `check` (for a profile) are JSON
///   about a document.
/// - `losses` (of the last conversion), `formats`, and `profiles` are JSON without a document.
@_expose(wasm, "report") @_cdecl("temblor_report")
public func temblorReport(
  _ host: StudioHandle, _ name: BytePointer?, _ length: Int32, _ slot: Int32, _ profile: Int32
) -> Int32 {
  let (host, name) = unsafe (StudioInstance.of(host), text(name, length))
  return host.setOutput(host.studio.report(name, slot: Int(slot), profile: Int(profile)))
}

/// Sets the output to the bytes of a part, by its path; none for an invalid path.
@_expose(wasm, "part") @_cdecl("temblor_part")
public func temblorPart(_ host: StudioHandle, _ slot: Int32, _ path: BytePointer?, _ length: Int32)
  -> Int32
{
  let (host, path) = unsafe (StudioInstance.of(host), text(path, length))
  return host.withDocument(slot) { host.setOutput((try? $0.editor?.bytes(of: path)) ?? []) }
}

/// Sets the output to the pattern in a format, by its id; no bytes if it cannot be written.
@_expose(wasm, "save") @_cdecl("temblor_save")
public func temblorSave(
  _ host: StudioHandle, _ slot: Int32, _ format: BytePointer?, _ length: Int32
) -> Int32 {
  let (host, format) = unsafe (StudioInstance.of(host), text(format, length))
  return host.setOutput(host.hasDocument(slot) ? host.studio.save(Int(slot), as: format) ?? [] : [])
}

// MARK: - Sound

/// Returns the frequency in hertz at which a profile plays a sharpness.
@_expose(wasm, "hertz") @_cdecl("temblor_hertz")
public func temblorHertz(_ host: StudioHandle, _ profile: Int32, _ sharpness: Double) -> Double {
  unsafe StudioInstance.of(host).studio.hertz(profile: Int(profile), sharpness: sharpness)
}

/// Adds a decoded sound file under its path in patterns.
///
/// - Parameters:
///   - host: The instance.
///   - name: The path in patterns, in UTF-8.
///   - nameLength: The number of bytes of the path.
///   - samples: The interleaved samples.
///   - count: The number of samples.
///   - channels: The number of channels.
///   - rate: The sample rate, in hertz.
/// - Returns: 1, or 0 for invalid arguments.
@_expose(wasm, "sound") @_cdecl("temblor_sound")
public func temblorSound(
  _ host: StudioHandle, _ name: BytePointer?, _ nameLength: Int32, _ samples: UnsafePointer<Float>?,
  _ count: Int32,
  _ channels: Int32, _ rate: Double
) -> Int32 {
  guard channels > 0, rate >= 1, rate.isFinite, let samples = unsafe samples else { return 0 }
  unsafe StudioInstance.of(host).studio.sounds[text(name, nameLength)] = DecodedSound(
    interleaved: floats(samples, count), channelCount: Int(channels), rate: rate)
  return 1
}

/// Traces a sound of at most an hour to a pattern, and opens it as an AHAP document 0…65,535.
/// Returns 1, or 0 with the error as output.
///
/// The profile is the one that a recording of vibration was made with, or that the pattern is meant
/// for.
@_expose(wasm, "trace") @_cdecl("temblor_trace")
public func temblorTrace(
  _ host: StudioHandle, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ samples: UnsafePointer<Float>?, _ count: Int32,
  _ channels: Int32, _ rate: Double, _ profile: Int32
) -> Int32 {
  guard channels > 0, rate > 0, rate.isFinite, let samples = unsafe samples else { return 0 }
  let host = unsafe StudioInstance.of(host)
  let sound = unsafe Signal(
    interleaved: floats(samples, count), channelCount: Int(channels), rate: rate)
  do throws(InputError) {
    return host.open(
      slot,
      try DocumentConversion.trace(
        sound, named: unsafe text(name, nameLength), host.profile(profile))
    )
  } catch {
    return host.setError(error)
  }
}

/// Adds a user's profile from its JSON text. Returns its index, or −1 with the error as output.
@_expose(wasm, "addProfile") @_cdecl("temblor_add_profile")
public func temblorAddProfile(_ host: StudioHandle, _ content: BytePointer?, _ length: Int32)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  do throws(InputError) {
    host.studio.profiles.append(
      try unsafe ProfileFile.read(text: bytes(content, length), name: "profile"))
    return Int32(clamping: host.studio.profiles.count - 1)
  } catch {
    return host.setError(error, returning: -1)
  }
}

/// Renders a document on one channel. Returns the number of samples.
///
/// Returns 0 if the document cannot be rendered, with the error as output. After a successful
/// rendering the output is empty, even without samples.
@_expose(wasm, "render") @_cdecl("temblor_render")
public func temblorRender(_ host: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  host.studio.lastRendering = ([], rate, Int(profile))
  host.sampleBuffer = FixedBuffer(repeating: 0, count: 0)
  do throws(InputError) {
    let samples = try host.studio.samples(of: Int(slot), profile: Int(profile), rate: rate)
    host.studio.lastRendering.samples = samples
    host.sampleBuffer = FixedBuffer(samples)
    _ = host.setOutput([UInt8]())
    return Int32(clamping: samples.count)
  } catch {
    return host.setError(error)
  }
}

/// Sets the output to the rendering of a document as a WAV file with 32-bit floating-point samples.
@_expose(wasm, "wav") @_cdecl("temblor_wav")
public func temblorWav(_ host: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  return host.setOutput(
    WaveFile.bytes(of: host.studio.render(Int(slot), profile: Int(profile), rate: rate), rate: rate)
  )
}

/// Sets the output to a spectrogram of the last rendering between two times: decibels, column by
/// column. The rows range from 0 Hz to 500 Hz, or to 1.5 times the maximum frequency of the
/// profile.
@_expose(wasm, "spectrogram") @_cdecl("temblor_spectrogram")
public func temblorSpectrogram(
  _ host: StudioHandle, _ columns: Int32, _ rows: Int32, _ start: Double, _ end: Double
) -> Int32 {
  let host = unsafe StudioInstance.of(host)
  let (samples, rate, profile) = host.studio.lastRendering
  let part = Studio.excerpt(of: samples, rate: rate, from: start, to: end)
  let top = max(500, 1.5 * host.studio.hertz(profile: profile, sharpness: 1))
  return host.setOutput(
    Spectrogram.decibels(
      of: part, rate: rate, columns: Int(columns), rows: Int(rows), upTo: min(top, rate / 2)))
}

/// Sets the output to the minimum and maximum acceleration of the profile's transducer in each
/// column; empty if the model is unknown.
@_expose(wasm, "felt") @_cdecl("temblor_felt")
public func temblorFelt(_ host: StudioHandle, _ slot: Int32, _ profile: Int32, _ columns: Int32)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  let motion = host.studio.acceleration(Int(slot), profile: Int(profile), rate: Studio.defaultRate)
  return host.setOutput(Studio.columnExtremes(of: motion, columns: Int(columns)))
}

// MARK: - Plans

/// Sets the output to the compiled plan of a document, for an instance with live sound.
@_expose(wasm, "plan") @_cdecl("temblor_plan")
public func temblorPlan(_ host: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  guard let plan = host.plan(slot, profile: profile, rate: rate) else {
    return host.setOutput([UInt8]())
  }
  host.outputBuffer = plan.serialized()
  return Int32(clamping: host.outputBuffer.count)
}

/// Returns memory for the bytes of a plan. No other call uses it, so that the bytes can be copied
/// in pieces over several audio blocks.
@_expose(wasm, "livePlanInput") @_cdecl("temblor_live_plan_input")
public func temblorLivePlanInput(_ host: StudioHandle, _ length: Int32) -> UnsafeMutablePointer<
  UInt8
> {
  let host = unsafe StudioInstance.of(host)
  host.incomingPlan = unsafe FixedBuffer(uninitialized: max(0, Int(length)))
  return unsafe host.incomingPlan.address
}

/// Plays the copied plan from the position of the previous one. Returns 0 for a plan of another
/// build.
@_expose(wasm, "livePlan") @_cdecl("temblor_live_plan")
public func temblorLivePlan(_ host: StudioHandle, _ slot: Int32, _ length: Int32, _ profile: Int32)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  return host.play(slot, profile: profile) { live in
    var bytes = FixedBuffer<UInt8>(repeating: 0, count: 0)
    swap(&bytes, &host.incomingPlan)
    return RenderPlan.deserialized(from: bytes, count: Int(length)).flatMap {
      $0.rate == live.rate ? $0 : nil
    }
  }
}

// MARK: - Live sound

/// Starts live sound of documents 0 and 1 at a sample rate.
@_expose(wasm, "liveStart") @_cdecl("temblor_live_start")
public func temblorLiveStart(_ host: StudioHandle, _ rate: Double) {
  unsafe StudioInstance.of(host).liveSound = LiveSound(rate: rate)
}

/// Opens an AHAP text in a document and plays it from the position of the previous pattern. Returns
/// 0 if it cannot be compiled.
@_expose(wasm, "liveLoad") @_cdecl("temblor_live_load")
public func temblorLiveLoad(
  _ host: StudioHandle, _ slot: Int32, _ content: BytePointer?, _ length: Int32, _ profile: Int32
) -> Int32 {
  let host = unsafe StudioInstance.of(host)
  return host.play(slot, profile: profile) { live in
    host.studio.documents[Int(slot)].open(
      unsafe SourceFile(bytes(content, length), name: "live.ahap"))
    return host.studio.documents[Int(slot)].isReadable
      ? host.plan(slot, profile: profile, rate: live.rate) : nil
  }
}

/// Plays both slots from a frame, or stops them.
@_expose(wasm, "livePlay") @_cdecl("temblor_live_play")
public func temblorLivePlay(_ host: StudioHandle, _ isPlaying: Int32, _ frame: Int32) {
  unsafe StudioInstance.of(host).liveSound?.play(isPlaying != 0, from: Int64(frame))
}

/// Repeats a range of frames, or the whole patterns if the end is 0.
@_expose(wasm, "liveLoop") @_cdecl("temblor_live_loop")
public func temblorLiveLoop(_ host: StudioHandle, _ isLooping: Int32, _ start: Int32, _ end: Int32)
{
  unsafe StudioInstance.of(host).liveSound?.setLoop(
    isLooping != 0, from: Int64(start), to: Int64(end))
}

/// Selects the audible slot.
@_expose(wasm, "liveHear") @_cdecl("temblor_live_hear")
public func temblorLiveHear(_ host: StudioHandle, _ slot: Int32) {
  if 0..<2 ~= slot {
    unsafe StudioInstance.of(host).liveSound?.setAudibleSlot(Int(slot))
  }
}

/// Sets a live control: 0 is intensity, 1 is sharpness.
@_expose(wasm, "liveControl") @_cdecl("temblor_live_control")
public func temblorLiveControl(_ host: StudioHandle, _ control: Int32, _ value: Double) {
  if 0..<2 ~= control {
    unsafe StudioInstance.of(host).liveSound?.setControl(Int(control), value)
  }
}

/// Renders the next frames, at most 4,096, and returns their address.
@_expose(wasm, "liveRender") @_cdecl("temblor_live_render")
public func temblorLiveRender(_ host: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<Float>?
{
  unsafe StudioInstance.of(host).liveSound?.render(Int(count))
}

/// Returns the next frame of the audible pattern.
@_expose(wasm, "livePosition") @_cdecl("temblor_live_position")
public func temblorLivePosition(_ host: StudioHandle) -> Int32 {
  unsafe Int32(clamping: StudioInstance.of(host).liveSound?.position ?? 0)
}

/// Returns 1 while the audible pattern is playing.
@_expose(wasm, "livePhase") @_cdecl("temblor_live_phase")
public func temblorLivePhase(_ host: StudioHandle) -> Int32 {
  unsafe StudioInstance.of(host).liveSound?.isRunning == true ? 1 : 0
}
