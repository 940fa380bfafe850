internal import HapticFormats
package import HapticRender
package import Reading
internal import RealtimeMemory
internal import SignalAnalysis
internal import TransducerProfiles

// The interface for pages and for programs in C, whose words are in C/temblor.h: numbers, and bytes
// in memory. All state is the host's; one thread at a time may use one.

/// What a host works with, and the memory of what was made last.
@safe package final class StudioInstance: @unchecked Sendable {
  let studio = Studio()
  var liveSound: LiveSound?
  var inputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  var outputBuffer = FixedBuffer<UInt8>(repeating: 0, count: 0)
  var sampleBuffer = FixedBuffer<Float>(repeating: 0, count: 0)
  /// A plan on its way.
  var incomingPlan = FixedBuffer<UInt8>(repeating: 0, count: 0)
  /// What else belongs to a host of a program: its session.
  package var sessionOwner: AnyObject?

  package init() {}

  package static func of(_ handle: StudioHandle) -> StudioInstance {
    unsafe Unmanaged<StudioInstance>.fromOpaque(handle).takeUnretainedValue()
  }

  /// Makes bytes the output; their number.
  package func setOutput(_ bytes: [UInt8]) -> Int32 {
    outputBuffer = FixedBuffer(bytes)
    return Int32(clamping: bytes.count)
  }

  /// The same with numbers, four bytes each, the lowest first.
  func setOutput(_ numbers: [Float]) -> Int32 {
    outputBuffer = FixedBuffer(count: 4 * numbers.count) { index in
      UInt8(truncatingIfNeeded: numbers[index / 4].bitPattern >> UInt32(8 * (index % 4)))
    }
    return Int32(clamping: outputBuffer.count)
  }

  /// Makes what is wrong the output, as JSON; `result`.
  package func setError(_ error: InputError, returning result: Int32 = 0) -> Int32 {
    _ = setOutput(JSONWriter.objectText { $0.members(of: error.finding) })
    return result
  }

  /// 1 where a slot can be used, else why not.
  func status(of slot: Document) -> Int32 {
    slot.error.map { setError($0) } ?? (slot.isReadable ? 1 : 0)
  }

  /// Reads a file into a slot, which is made where there is none; its state.
  func open(_ slot: Int32, _ file: SourceFile) -> Int32 {
    studio.makeDocuments(upTo: Int(slot))
    return withDocument(slot) { slot in
      slot.open(file)
      return status(of: slot)
    }
  }

  /// Plays a plan in a slot from where the one before is; 0 where there is none, or no such slot.
  func play(_ slot: Int32, profile: Int32, _ plan: (LiveSound) -> RenderPlan?) -> Int32 {
    guard let liveSound, 0..<2 ~= slot, let plan = plan(liveSound) else { return 0 }
    liveSound.load(Int(slot), plan, profile: self.profile(profile))
    return 1
  }

  func hasDocument(_ slot: Int32) -> Bool { studio.documents.indices.contains(Int(slot)) }

  /// Compiles what sounds of a slot; nil where it has nothing that can be compiled.
  package func plan(_ slot: Int32, profile: Int32, rate: Double) -> RenderPlan? {
    studio.plan(Int(slot), profile: Int(profile), rate: rate)
  }

  /// A profile by its number; the first where none has it.
  package func profile(_ number: Int32) -> TransducerProfile { studio.profile(Int(number)) }

  /// Does something with a slot; 0 where none has the number.
  func withDocument(_ number: Int32, _ body: (inout Document) -> Int32) -> Int32 {
    hasDocument(number) ? body(&studio.documents[Int(number)]) : 0
  }
}

/// A host, as callers hold it.
public typealias StudioHandle = UnsafeMutableRawPointer
/// Bytes that a caller lends for a call, with their number beside them.
public typealias BytePointer = UnsafePointer<UInt8>

/// Bytes that a caller lent for a call.
package func bytes(_ start: BytePointer?, _ length: Int32) -> [UInt8] {
  unsafe Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(max(0, length))))
}

package func text(_ start: BytePointer?, _ length: Int32) -> String {
  unsafe String(decoding: bytes(start, length), as: UTF8.self)
}

private func floats(_ start: UnsafePointer<Float>, _ count: Int32) -> [Float] {
  unsafe Array(UnsafeBufferPointer(start: start, count: Int(max(0, count))))
}

/// Makes a host.
@_expose(wasm, "create") @_cdecl("temblor_create")
public func temblorCreate() -> StudioHandle {
  unsafe Unmanaged.passRetained(StudioInstance()).toOpaque()
}

/// Ends a host and all that belongs to it.
@_expose(wasm, "release") @_cdecl("temblor_release")
public func temblorRelease(_ host: StudioHandle) {
  unsafe Unmanaged<StudioInstance>.fromOpaque(host).release()
}

// MARK: - Memory

/// Memory for the bytes of the next calls, for pages, whose own it cannot see; it stays until it is
/// asked for again.
@_expose(wasm, "input") @_cdecl("temblor_input")
public func temblorInput(_ host: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<UInt8> {
  let host = unsafe StudioInstance.of(host)
  if Int(count) > host.inputBuffer.count {
    host.inputBuffer = FixedBuffer(repeating: 0, count: Int(count))
  }
  return unsafe host.inputBuffer.address
}

/// The bytes that the last call has made, until the next.
@_expose(wasm, "output") @_cdecl("temblor_output")
public func temblorOutput(_ host: StudioHandle) -> UnsafeMutablePointer<UInt8> {
  unsafe StudioInstance.of(host).outputBuffer.address
}

/// How many bytes they are.
@_expose(wasm, "outputLength") @_cdecl("temblor_output_length")
public func temblorOutputLength(_ host: StudioHandle) -> Int32 {
  unsafe Int32(clamping: StudioInstance.of(host).outputBuffer.count)
}

/// The samples of the last rendering, in −1…1.
@_expose(wasm, "samples") @_cdecl("temblor_samples")
public func temblorSamples(_ host: StudioHandle) -> UnsafeMutablePointer<Float> {
  unsafe StudioInstance.of(host).sampleBuffer.address
}

// MARK: - Patterns

/// Reads a file of any format into a slot, 0…65,535; 1 where it can be used. Where it cannot, the
/// output is why, and the pattern before it stays the one that sounds.
@_expose(wasm, "open") @_cdecl("temblor_open")
public func temblorOpen(
  _ host: StudioHandle, _ slot: Int32, _ name: BytePointer?, _ nameLength: Int32,
  _ content: BytePointer?,
  _ length: Int32
) -> Int32 {
  unsafe StudioInstance.of(host).open(
    slot, SourceFile(bytes(content, length), name: text(name, nameLength)))
}

/// Puts a text in the place of another; 1 where it can be used, else the output is why.
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

/// Makes a list of changes at once, in JSON; 0 where one is refused, and the output is why.
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

/// Names the step that follows.
@_expose(wasm, "begin") @_cdecl("temblor_begin")
public func temblorBegin(
  _ host: StudioHandle, _ slot: Int32, _ label: BytePointer?, _ length: Int32
) {
  _ = unsafe StudioInstance.of(host).withDocument(slot) { slot in
    unsafe slot.beginStep(text(label, length))
    return 1
  }
}

/// Takes the last step back, or makes it again where `forward` is not 0; 0 where there is none.
@_expose(wasm, "step") @_cdecl("temblor_step")
public func temblorStep(_ host: StudioHandle, _ slot: Int32, _ forward: Int32) -> Int32 {
  unsafe StudioInstance.of(host).withDocument(slot) { $0.step(forward: forward != 0) ? 1 : 0 }
}

/// Makes a report the output, by its name; its bytes, none where it has no such report or slot.
///
/// `text` and `original` are bytes of a slot; its `history`, changed `lines`, `score`, `origin`
/// and, with a profile,
/// `check` are JSON, as are the `losses` of the last conversion, all `formats` and `profiles`.
@_expose(wasm, "report") @_cdecl("temblor_report")
public func temblorReport(
  _ host: StudioHandle, _ name: BytePointer?, _ length: Int32, _ slot: Int32, _ profile: Int32
) -> Int32 {
  let (host, name) = unsafe (StudioInstance.of(host), text(name, length))
  return host.setOutput(host.studio.report(name, slot: Int(slot), profile: Int(profile)))
}

/// The bytes of the part of a text that a path leads to; none where it leads to none.
@_expose(wasm, "part") @_cdecl("temblor_part")
public func temblorPart(_ host: StudioHandle, _ slot: Int32, _ path: BytePointer?, _ length: Int32)
  -> Int32
{
  let (host, path) = unsafe (StudioInstance.of(host), text(path, length))
  return host.withDocument(slot) { host.setOutput((try? $0.editor?.bytes(of: path)) ?? []) }
}

/// The pattern in another format, by its name; no bytes where that cannot be.
@_expose(wasm, "save") @_cdecl("temblor_save")
public func temblorSave(
  _ host: StudioHandle, _ slot: Int32, _ format: BytePointer?, _ length: Int32
) -> Int32 {
  let (host, format) = unsafe (StudioInstance.of(host), text(format, length))
  return host.setOutput(host.hasDocument(slot) ? host.studio.save(Int(slot), as: format) ?? [] : [])
}

// MARK: - Sound

/// The frequency in hertz that a profile, by its number in the report, plays a sharpness with.
@_expose(wasm, "hertz") @_cdecl("temblor_hertz")
public func temblorHertz(_ host: StudioHandle, _ profile: Int32, _ sharpness: Double) -> Double {
  unsafe StudioInstance.of(host).studio.hertz(profile: Int(profile), sharpness: sharpness)
}

/// Hands a sound file over by the name that patterns have for it: interleaved samples.
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

/// Makes a pattern of a sound, interleaved samples of at most an hour, and opens it in a slot,
/// 0…65,535, as AHAP of a name; 1, or 0 where it cannot, and the output is why.
///
/// The profile is the one that a recording of vibration was made with, or that the pattern is made
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

/// Adds a profile of a user by its JSON text; its number, or −1, and the output is why.
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

/// Renders a slot; the number of samples, of one channel.
///
/// Returns 0 if the slot cannot be rendered, and the output is the reason. After a rendering the
/// output is empty, also after one without samples.
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

/// The bytes of a sound file of 32-bit floats.
@_expose(wasm, "wav") @_cdecl("temblor_wav")
public func temblorWav(_ host: StudioHandle, _ slot: Int32, _ profile: Int32, _ rate: Double)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  return host.setOutput(
    WaveFile.bytes(of: host.studio.render(Int(slot), profile: Int(profile), rate: rate), rate: rate)
  )
}

/// Decibels of the last rendering between two times, column by column, the rows from 0 Hz to 500 Hz
/// or to 1.5 times the highest frequency of its profile.
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

/// The extremes of each column of what the profile's hardware does; nothing where that is not
/// known.
@_expose(wasm, "felt") @_cdecl("temblor_felt")
public func temblorFelt(_ host: StudioHandle, _ slot: Int32, _ profile: Int32, _ columns: Int32)
  -> Int32
{
  let host = unsafe StudioInstance.of(host)
  let motion = host.studio.acceleration(Int(slot), profile: Int(profile), rate: Studio.defaultRate)
  return host.setOutput(Studio.columnExtremes(of: motion, columns: Int(columns)))
}

// MARK: - Plans

/// Compiles a slot to bytes that an instance with live sound places as they are.
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

/// Memory for a plan's bytes, which no other call uses: they may be copied piece by piece, over
/// several blocks of sound.
@_expose(wasm, "livePlanInput") @_cdecl("temblor_live_plan_input")
public func temblorLivePlanInput(_ host: StudioHandle, _ length: Int32) -> UnsafeMutablePointer<
  UInt8
> {
  let host = unsafe StudioInstance.of(host)
  host.incomingPlan = unsafe FixedBuffer(uninitialized: max(0, Int(length)))
  return unsafe host.incomingPlan.address
}

/// Plays the plan whose bytes were copied from where the one before is; 0 where they are not a plan
/// of this build.
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

/// Makes live sound of the slots 0 and 1 at a rate, block by block.
@_expose(wasm, "liveStart") @_cdecl("temblor_live_start")
public func temblorLiveStart(_ host: StudioHandle, _ rate: Double) {
  unsafe StudioInstance.of(host).liveSound = LiveSound(rate: rate)
}

/// Reads an AHAP text into a slot and plays it from where the one before is; 0 where it cannot be
/// used.
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

/// Repeats from one frame to another, or all where the end is 0.
@_expose(wasm, "liveLoop") @_cdecl("temblor_live_loop")
public func temblorLiveLoop(_ host: StudioHandle, _ isLooping: Int32, _ start: Int32, _ end: Int32)
{
  unsafe StudioInstance.of(host).liveSound?.setLoop(
    isLooping != 0, from: Int64(start), to: Int64(end))
}

/// Chooses the slot that is heard.
@_expose(wasm, "liveHear") @_cdecl("temblor_live_hear")
public func temblorLiveHear(_ host: StudioHandle, _ slot: Int32) {
  if 0..<2 ~= slot {
    unsafe StudioInstance.of(host).liveSound?.setAudibleSlot(Int(slot))
  }
}

/// Sets a live control: 0 intensity, 1 sharpness.
@_expose(wasm, "liveControl") @_cdecl("temblor_live_control")
public func temblorLiveControl(_ host: StudioHandle, _ control: Int32, _ value: Double) {
  if 0..<2 ~= control {
    unsafe StudioInstance.of(host).liveSound?.setControl(Int(control), value)
  }
}

/// Renders the next frames, at most 4,096; where they are.
@_expose(wasm, "liveRender") @_cdecl("temblor_live_render")
public func temblorLiveRender(_ host: StudioHandle, _ count: Int32) -> UnsafeMutablePointer<Float>?
{
  unsafe StudioInstance.of(host).liveSound?.render(Int(count))
}

/// The frame of the pattern that comes next.
@_expose(wasm, "livePosition") @_cdecl("temblor_live_position")
public func temblorLivePosition(_ host: StudioHandle) -> Int32 {
  unsafe Int32(clamping: StudioInstance.of(host).liveSound?.position ?? 0)
}

/// 1 while the pattern that is heard runs.
@_expose(wasm, "livePhase") @_cdecl("temblor_live_phase")
public func temblorLivePhase(_ host: StudioHandle) -> Int32 {
  unsafe StudioInstance.of(host).liveSound?.isRunning == true ? 1 : 0
}
