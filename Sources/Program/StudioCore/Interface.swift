internal import HapticFormats
internal import HapticRender
internal import Reading
internal import RealtimeMemory
internal import SignalAnalysis
internal import TransducerProfiles

// The C interface of the studio, for its page (WebAssembly) and for C programs. C/temblor.h
// documents it for C. Arguments are numbers and bytes in memory. An instance has all of its state,
// and must be used by one thread at a time.
//
// Most functions return a number: 1 or a count for success, and 0 for a failure, with the error as
// JSON in the output.

/// Creates an instance.
@_expose(wasm, "create") @_cdecl("temblor_create")
public func temblorCreate() -> StudioHandle {
  unsafe Unmanaged.passRetained(StudioInstance()).toOpaque()
}

/// Releases an instance and everything that belongs to it.
@_expose(wasm, "release") @_cdecl("temblor_release")
public func temblorRelease(_ handle: StudioHandle) {
  unsafe Unmanaged<StudioInstance>.fromOpaque(handle).release()
}

// MARK: - Memory

/// Returns memory of the instance for the bytes of the next calls, because the module cannot access
/// the memory of a page. It stays valid until the next call of this function.
@_expose(wasm, "input") @_cdecl("temblor_input")
public func temblorInput(_ handle: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<UInt8> {
  let instance = unsafe StudioInstance.instance(of: handle)
  if Int(count) > instance.inputBuffer.count {
    instance.inputBuffer = FixedBuffer(repeating: 0, count: Int(count))
  }
  return unsafe instance.inputBuffer.address
}

/// Returns the output of the last call, valid until the next.
@_expose(wasm, "output") @_cdecl("temblor_output")
public func temblorOutput(_ handle: StudioHandle) -> UnsafeMutablePointer<UInt8> {
  unsafe StudioInstance.instance(of: handle).outputBuffer.address
}

/// Returns the length of the output, in bytes.
@_expose(wasm, "outputLength") @_cdecl("temblor_output_length")
public func temblorOutputLength(_ handle: StudioHandle) -> Int32 {
  unsafe Int32(clamping: StudioInstance.instance(of: handle).outputBuffer.count)
}

/// Returns the samples of the last rendering, in −1…1.
@_expose(wasm, "samples") @_cdecl("temblor_samples")
public func temblorSamples(_ handle: StudioHandle) -> UnsafeMutablePointer<Float> {
  unsafe StudioInstance.instance(of: handle).sampleBuffer.address
}

// MARK: - Patterns

/// Opens a file of any format as document 0…65,535. Returns 1 if it can be read. Otherwise, the
/// output is the error, and the previous pattern stays audible.
@_expose(wasm, "open") @_cdecl("temblor_open")
public func temblorOpen(
  _ handle: StudioHandle, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ content: BytePointer?,
  _ length: Int32
) -> Int32 {
  unsafe StudioInstance.instance(of: handle).open(
    slot, SourceFile(bytes(content, length), name: text(name, nameLength)))
}

/// Replaces the text of a document. Returns 1 if it can be read; otherwise, the output is the
/// error.
@_expose(wasm, "replace") @_cdecl("temblor_replace")
public func temblorReplace(
  _ handle: StudioHandle, _ slot: Int32, _ content: BytePointer?, _ length: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  return instance.withDocument(slot) { document in
    unsafe document.replace(bytes(content, length))
    return instance.status(of: document)
  }
}

/// Applies a list of changes, given as JSON. If one is invalid, none is applied, the output is the
/// error, and the result is 0.
@_expose(wasm, "change") @_cdecl("temblor_change")
public func temblorChange(
  _ handle: StudioHandle, _ slot: Int32, _ changes: BytePointer?, _ length: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  return instance.withDocument(slot) { document in
    do throws(InputError) {
      try document.applyChanges(unsafe [PatternChange](json: bytes(changes, length)))
      return 1
    } catch {
      return instance.setError(error)
    }
  }
}

/// Begins an undo step with a name.
@_expose(wasm, "begin") @_cdecl("temblor_begin")
public func temblorBegin(
  _ handle: StudioHandle, _ slot: Int32, _ label: BytePointer?, _ length: Int32
) {
  _ = unsafe StudioInstance.instance(of: handle).withDocument(slot) { document in
    unsafe document.beginStep(text(label, length))
    return 1
  }
}

/// Undoes the last step, or redoes it if `forward` is not 0. Returns 0 if there is none.
@_expose(wasm, "step") @_cdecl("temblor_step")
public func temblorStep(_ handle: StudioHandle, _ slot: Int32, _ forward: Int32) -> Int32 {
  unsafe StudioInstance.instance(of: handle).withDocument(slot) {
    $0.moveInHistory(forward: forward != 0) ? 1 : 0
  }
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
  _ handle: StudioHandle, _ name: BytePointer?, _ length: Int32, _ slot: Int32, _ profile: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  let name = unsafe text(name, length)
  guard let kind = ReportKind(rawValue: name) else { return instance.setOutput([UInt8]()) }
  return instance.setOutput(
    instance.studio.report(kind, document: Int(slot), profile: Int(profile)))
}

/// Sets the output to the bytes of a part, by its path; none for an invalid path.
@_expose(wasm, "part") @_cdecl("temblor_part")
public func temblorPart(
  _ handle: StudioHandle, _ slot: Int32, _ path: BytePointer?, _ length: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  let path = unsafe text(path, length)
  return instance.withDocument(slot) { instance.setOutput((try? $0.editor?.bytes(of: path)) ?? []) }
}

/// Sets the output to the pattern in a format, by its id; no bytes if it cannot be written.
@_expose(wasm, "save") @_cdecl("temblor_save")
public func temblorSave(
  _ handle: StudioHandle, _ slot: Int32, _ format: BytePointer?, _ length: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  let format = unsafe text(format, length)
  return instance.setOutput(
    instance.hasDocument(slot) ? instance.studio.save(Int(slot), as: format) ?? [] : [])
}

// MARK: - Sound

/// Returns the frequency in hertz at which a profile plays a sharpness.
@_expose(wasm, "hertz") @_cdecl("temblor_hertz")
public func temblorHertz(_ handle: StudioHandle, _ profile: Int32, _ sharpness: Double) -> Double {
  unsafe StudioInstance.instance(of: handle).studio.hertz(
    profile: Int(profile), sharpness: sharpness)
}

/// Adds a decoded sound file under its path in patterns.
///
/// - Parameters:
///   - handle: The instance.
///   - name: The path in patterns, in UTF-8.
///   - nameLength: The number of bytes of the path.
///   - samples: The interleaved samples.
///   - count: The number of samples.
///   - channels: The number of channels.
///   - rate: The sample rate, in hertz.
/// - Returns: 1, or 0 for invalid arguments.
@_expose(wasm, "sound") @_cdecl("temblor_sound")
public func temblorSound(
  _ handle: StudioHandle, _ name: BytePointer?, _ nameLength: Int32,
  _ samples: UnsafePointer<Float>?,
  _ count: Int32,
  _ channels: Int32, _ rate: Double
) -> Int32 {
  guard channels > 0, rate >= 1, rate.isFinite, let samples = unsafe samples else { return 0 }
  unsafe StudioInstance.instance(of: handle).studio.sounds[text(name, nameLength)] = DecodedSound(
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
  _ handle: StudioHandle, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ samples: UnsafePointer<Float>?, _ count: Int32,
  _ channels: Int32, _ rate: Double, _ profile: Int32
) -> Int32 {
  guard channels > 0, rate > 0, rate.isFinite, let samples = unsafe samples else { return 0 }
  let instance = unsafe StudioInstance.instance(of: handle)
  let sound = unsafe Signal(
    interleaved: floats(samples, count), channelCount: Int(channels), rate: rate)
  do throws(InputError) {
    return instance.open(
      slot,
      try DocumentConversion.trace(
        sound, named: unsafe text(name, nameLength), instance.profile(profile))
    )
  } catch {
    return instance.setError(error)
  }
}

/// Adds a user's profile from its JSON text. Returns its index, or −1 with the error as output.
@_expose(wasm, "addProfile") @_cdecl("temblor_add_profile")
public func temblorAddProfile(_ handle: StudioHandle, _ content: BytePointer?, _ length: Int32)
  -> Int32
{
  let instance = unsafe StudioInstance.instance(of: handle)
  do throws(InputError) {
    instance.studio.profiles.append(
      try unsafe ProfileFile.read(text: bytes(content, length), name: "profile"))
    return Int32(clamping: instance.studio.profiles.count - 1)
  } catch {
    return instance.setError(error, returning: -1)
  }
}

/// Renders a document on one channel. Returns the number of samples.
///
/// Returns 0 if the document cannot be rendered, with the error as output. After a successful
/// rendering the output is empty, even without samples.
@_expose(wasm, "render") @_cdecl("temblor_render")
public func temblorRender(_ handle: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let instance = unsafe StudioInstance.instance(of: handle)
  instance.studio.lastRendering = ([], rate, Int(profile))
  instance.sampleBuffer = FixedBuffer(repeating: 0, count: 0)
  do throws(InputError) {
    let samples = try instance.studio.samples(of: Int(slot), profile: Int(profile), rate: rate)
    instance.studio.lastRendering.samples = samples
    instance.sampleBuffer = FixedBuffer(samples)
    _ = instance.setOutput([UInt8]())
    return Int32(clamping: samples.count)
  } catch {
    return instance.setError(error)
  }
}

/// Sets the output to the rendering of a document as a WAV file with 32-bit floating-point samples.
@_expose(wasm, "wav") @_cdecl("temblor_wav")
public func temblorWav(_ handle: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let instance = unsafe StudioInstance.instance(of: handle)
  return instance.setOutput(
    WaveFile.fileBytes(
      of: instance.studio.render(Int(slot), profile: Int(profile), rate: rate), rate: rate)
  )
}

/// Sets the output to a spectrogram of the last rendering between two times: decibels, column by
/// column. The rows range from 0 Hz to 500 Hz, or to 1.5 times the maximum frequency of the
/// profile.
@_expose(wasm, "spectrogram") @_cdecl("temblor_spectrogram")
public func temblorSpectrogram(
  _ handle: StudioHandle, _ columns: Int32, _ rows: Int32, _ start: Double, _ end: Double
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  let (samples, rate, profile) = instance.studio.lastRendering
  let part = Studio.excerpt(of: samples, rate: rate, from: start, to: end)
  let top = max(500, 1.5 * instance.studio.hertz(profile: profile, sharpness: 1))
  return instance.setOutput(
    Spectrogram.decibels(
      of: part, rate: rate, columns: Int(columns), rows: Int(rows), upTo: min(top, rate / 2)))
}

/// Sets the output to the minimum and maximum acceleration of the profile's transducer in each
/// column; empty if the model is unknown.
@_expose(wasm, "felt") @_cdecl("temblor_felt")
public func temblorFelt(_ handle: StudioHandle, _ slot: Int32, _ profile: Int32, _ columns: Int32)
  -> Int32
{
  let instance = unsafe StudioInstance.instance(of: handle)
  let motion = instance.studio.acceleration(
    Int(slot), profile: Int(profile), rate: Studio.defaultRate)
  return instance.setOutput(Studio.columnExtremes(of: motion, columns: Int(columns)))
}

// MARK: - Plans

/// Sets the output to the compiled plan of a document, for an instance with live sound.
@_expose(wasm, "plan") @_cdecl("temblor_plan")
public func temblorPlan(_ handle: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let instance = unsafe StudioInstance.instance(of: handle)
  guard let plan = instance.plan(slot, profile: profile, rate: rate) else {
    return instance.setOutput([UInt8]())
  }
  instance.outputBuffer = plan.serialized()
  return Int32(clamping: instance.outputBuffer.count)
}

/// Returns memory for the bytes of a plan. No other call uses it, so that the bytes can be copied
/// in pieces over several audio blocks.
@_expose(wasm, "livePlanInput") @_cdecl("temblor_live_plan_input")
public func temblorLivePlanInput(_ handle: StudioHandle, _ length: Int32) -> UnsafeMutablePointer<
  UInt8
> {
  let instance = unsafe StudioInstance.instance(of: handle)
  instance.incomingPlan = unsafe FixedBuffer(uninitialized: max(0, Int(length)))
  return unsafe instance.incomingPlan.address
}

/// Plays the copied plan from the position of the previous one. Returns 0 for a plan of another
/// build.
@_expose(wasm, "livePlan") @_cdecl("temblor_live_plan")
public func temblorLivePlan(
  _ handle: StudioHandle, _ slot: Int32, _ length: Int32, _ profile: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  return instance.play(slot, profile: profile) { live in
    var bytes = FixedBuffer<UInt8>(repeating: 0, count: 0)
    swap(&bytes, &instance.incomingPlan)
    return RenderPlan.deserialized(from: bytes, count: Int(length)).flatMap {
      $0.rate == live.rate ? $0 : nil
    }
  }
}

// MARK: - Live sound

/// Starts live sound of documents 0 and 1 at a sample rate.
@_expose(wasm, "liveStart") @_cdecl("temblor_live_start")
public func temblorLiveStart(_ handle: StudioHandle, _ rate: Double) {
  unsafe StudioInstance.instance(of: handle).liveSound = LiveSound(rate: rate)
}

/// Opens an AHAP text in a document and plays it from the position of the previous pattern. Returns
/// 0 if it cannot be compiled.
@_expose(wasm, "liveLoad") @_cdecl("temblor_live_load")
public func temblorLiveLoad(
  _ handle: StudioHandle, _ slot: Int32, _ content: BytePointer?, _ length: Int32, _ profile: Int32
) -> Int32 {
  let instance = unsafe StudioInstance.instance(of: handle)
  return instance.play(slot, profile: profile) { live in
    instance.studio.documents[Int(slot)].open(
      unsafe SourceFile(bytes(content, length), name: "live.ahap"))
    return instance.studio.documents[Int(slot)].isReadable
      ? instance.plan(slot, profile: profile, rate: live.rate) : nil
  }
}

/// Plays both slots from a frame, or stops them.
@_expose(wasm, "livePlay") @_cdecl("temblor_live_play")
public func temblorLivePlay(_ handle: StudioHandle, _ isPlaying: Int32, _ frame: Int32) {
  unsafe StudioInstance.instance(of: handle).liveSound?.play(isPlaying != 0, from: Int64(frame))
}

/// Repeats a range of frames, or the whole patterns if the end is 0.
@_expose(wasm, "liveLoop") @_cdecl("temblor_live_loop")
public func temblorLiveLoop(
  _ handle: StudioHandle, _ isLooping: Int32, _ start: Int32, _ end: Int32
) {
  unsafe StudioInstance.instance(of: handle).liveSound?.setLoop(
    isLooping != 0, from: Int64(start), to: Int64(end))
}

/// Selects the audible slot.
@_expose(wasm, "liveHear") @_cdecl("temblor_live_hear")
public func temblorLiveHear(_ handle: StudioHandle, _ slot: Int32) {
  if 0..<2 ~= slot {
    unsafe StudioInstance.instance(of: handle).liveSound?.setAudibleSlot(Int(slot))
  }
}

/// Sets a live control: 0 is intensity, 1 is sharpness.
@_expose(wasm, "liveControl") @_cdecl("temblor_live_control")
public func temblorLiveControl(_ handle: StudioHandle, _ control: Int32, _ value: Double) {
  if 0..<2 ~= control {
    unsafe StudioInstance.instance(of: handle).liveSound?.setControlValue(Int(control), value)
  }
}

/// Renders the next frames, at most 4,096, and returns their address.
@_expose(wasm, "liveRender") @_cdecl("temblor_live_render")
public func temblorLiveRender(_ handle: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<
  Float
>? {
  unsafe StudioInstance.instance(of: handle).liveSound?.render(Int(count))
}

/// Returns the next frame of the audible pattern.
@_expose(wasm, "livePosition") @_cdecl("temblor_live_position")
public func temblorLivePosition(_ handle: StudioHandle) -> Int32 {
  unsafe Int32(clamping: StudioInstance.instance(of: handle).liveSound?.position ?? 0)
}

/// Returns 1 while the audible pattern is playing.
@_expose(wasm, "livePhase") @_cdecl("temblor_live_phase")
public func temblorLivePhase(_ handle: StudioHandle) -> Int32 {
  unsafe StudioInstance.instance(of: handle).liveSound?.isRunning == true ? 1 : 0
}
