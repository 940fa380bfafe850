internal import HapticFormats
internal import HapticRender
internal import Reading
internal import RealtimeMemory
internal import TransducerProfiles

// The interface for hosts: numbers, and bytes through memory that both sides see. Calls come from one thread; a host that
// needs several makes an instance of the module for each.

/// All state there is.
private final class Host: @unchecked Sendable {
  let studio = Studio()
  var live: LiveSound?
  var input = FixedBuffer<UInt8>(repeating: 0, count: 65_536)
  var output = FixedBuffer<UInt8>(repeating: 0, count: 0)
  var samples = FixedBuffer<Float>(repeating: 0, count: 0)
  /// A plan on its way.
  var arriving = FixedBuffer<UInt8>(repeating: 0, count: 0)

  func taken(_ count: Int32, from start: Int32 = 0) -> [UInt8] {
    let end = min(max(0, Int(start)) + max(0, Int(count)), input.count)
    return (min(max(0, Int(start)), end)..<end).map { input[$0] }
  }

  func text(_ count: Int32, from start: Int32 = 0) -> String {
    String(decoding: taken(count, from: start), as: UTF8.self)
  }

  /// Makes bytes the output; their number.
  func give(_ bytes: [UInt8]) -> Int32 {
    output = FixedBuffer(bytes)
    return Int32(clamping: bytes.count)
  }

  /// The same with numbers, four bytes each, the lowest first.
  func give(_ numbers: [Float]) -> Int32 {
    output = FixedBuffer(count: 4 * numbers.count) { index in
      UInt8(truncatingIfNeeded: numbers[index / 4].bitPattern >> UInt32(8 * (index % 4)))
    }
    return Int32(clamping: output.count)
  }

  func give(_ result: Bool) -> Int32 { result ? 1 : 0 }
}

private let host = Host()

extension Host {
  /// Does something with a slot; nothing where none has the number.
  func at(_ number: Int32, _ body: (inout Slot) -> Int32) -> Int32 {
    studio.slots.indices.contains(Int(number)) ? body(&studio.slots[Int(number)]) : 0
  }

  func give(_ number: Int32, _ body: (Int) -> [UInt8]) -> Int32 {
    studio.slots.indices.contains(Int(number)) ? give(body(Int(number))) : give([UInt8]())
  }
}

// MARK: - Memory

/// Memory for the bytes of the next call; they stay until it is asked for again.
@_expose(wasm, "input") @_cdecl("studio_input")
func hostInput(_ count: Int32) -> UnsafeMutablePointer<UInt8> {
  if Int(count) > host.input.count { host.input = FixedBuffer(repeating: 0, count: Int(count)) }
  return unsafe host.input.address
}

/// The bytes that the last call has made, until the next.
@_expose(wasm, "output") @_cdecl("studio_output")
func hostOutput() -> UnsafeMutablePointer<UInt8> { unsafe host.output.address }

@_expose(wasm, "outputLength") @_cdecl("studio_output_length")
func hostOutputLength() -> Int32 { Int32(clamping: host.output.count) }

/// The samples of the last rendering.
@_expose(wasm, "samples") @_cdecl("studio_samples")
func hostSamples() -> UnsafeMutablePointer<Float> { unsafe host.samples.address }

// MARK: - Patterns

/// Reads a file into a slot: the bytes of its name, then its own; 1 where it can be used.
@_expose(wasm, "open") @_cdecl("studio_open")
func hostOpen(_ slot: Int32, _ nameLength: Int32, _ length: Int32) -> Int32 {
  let file = SourceFile(host.taken(length, from: nameLength), name: host.text(nameLength))
  return host.at(slot) { slot in
    slot.open(file)
    return host.give(slot.isReadable)
  }
}

/// Puts a text in the place of another; 1 where it can be used.
@_expose(wasm, "replace") @_cdecl("studio_replace")
func hostReplace(_ slot: Int32, _ length: Int32) -> Int32 {
  host.at(slot) { slot in
    slot.replace(host.taken(length))
    return host.give(slot.isReadable)
  }
}

/// Makes a list of changes at once; 0 with a message where one is refused.
@_expose(wasm, "change") @_cdecl("studio_change")
func hostChange(_ slot: Int32, _ length: Int32) -> Int32 {
  host.at(slot) { slot in
    do throws(InputError) {
      try slot.change([PatternChange](json: host.taken(length)))
      return 1
    } catch {
      let (path, hint) = (error.place.path, error.finding.suggestion)
      let message = (path.isEmpty ? "" : "\(path): ") + error.finding.message + (hint.map { "; \($0)" } ?? "")
      _ = host.give(Array(message.utf8))
      return 0
    }
  }
}

/// Names the step that follows.
@_expose(wasm, "begin") @_cdecl("studio_begin")
func hostBegin(_ slot: Int32, _ length: Int32) {
  _ = host.at(slot) { slot in
    slot.begin(host.text(length))
    return 1
  }
}

@_expose(wasm, "undo") @_cdecl("studio_undo")
func hostUndo(_ slot: Int32) -> Int32 { host.at(slot) { host.give($0.undo()) } }

@_expose(wasm, "redo") @_cdecl("studio_redo")
func hostRedo(_ slot: Int32) -> Int32 { host.at(slot) { host.give($0.redo()) } }

@_expose(wasm, "history") @_cdecl("studio_history")
func hostHistory(_ slot: Int32) -> Int32 { host.give(slot) { host.studio.history($0) } }

@_expose(wasm, "text") @_cdecl("studio_text")
func hostText(_ slot: Int32) -> Int32 { host.give(slot) { host.studio.slots[$0].text } }

/// The text as it was opened.
@_expose(wasm, "original") @_cdecl("studio_original")
func hostOriginal(_ slot: Int32) -> Int32 { host.give(slot) { host.studio.slots[$0].original } }

/// The bytes of the part that a path leads to; none where it leads to none.
@_expose(wasm, "part") @_cdecl("studio_part")
func hostPart(_ slot: Int32, _ length: Int32) -> Int32 {
  let path = host.text(length)
  return host.give(slot) { (try? host.studio.slots[$0].editor?.bytes(of: path)) ?? [] }
}

/// The numbers of the lines that were changed.
@_expose(wasm, "lines") @_cdecl("studio_lines")
func hostLines(_ slot: Int32) -> Int32 { host.give(slot) { host.studio.changedLines($0) } }

@_expose(wasm, "score") @_cdecl("studio_score")
func hostScore(_ slot: Int32) -> Int32 { host.give(slot) { host.studio.score($0) } }

@_expose(wasm, "check") @_cdecl("studio_check")
func hostCheck(_ slot: Int32, _ profile: Int32) -> Int32 {
  host.give(slot) { host.studio.check($0, profile: Int(profile)) }
}

/// The format that a slot was opened from, and what was lost.
@_expose(wasm, "origin") @_cdecl("studio_origin")
func hostOrigin(_ slot: Int32) -> Int32 { host.give(slot) { host.studio.origin($0) } }

@_expose(wasm, "formats") @_cdecl("studio_formats")
func hostFormats() -> Int32 { host.give(host.studio.listFormats()) }

/// The text in another format, by its name; no bytes where that cannot be.
@_expose(wasm, "save") @_cdecl("studio_save")
func hostSave(_ slot: Int32, _ length: Int32) -> Int32 {
  let format = host.text(length)
  return host.give(slot) { host.studio.save($0, as: format) ?? [] }
}

/// What the last conversion could not keep.
@_expose(wasm, "losses") @_cdecl("studio_losses")
func hostLosses() -> Int32 { host.give(host.studio.listLosses()) }

// MARK: - Sound

@_expose(wasm, "profiles") @_cdecl("studio_profiles")
func hostProfiles() -> Int32 { host.give(host.studio.listProfiles()) }

@_expose(wasm, "hertz") @_cdecl("studio_hertz")
func hostHertz(_ profile: Int32, _ sharpness: Double) -> Double {
  host.studio.hertz(profile: Int(profile), sharpness: sharpness)
}

/// Hands a sound file over: the bytes of its name, then interleaved samples of four bytes, the lowest first.
@_expose(wasm, "sound") @_cdecl("studio_sound")
func hostSound(_ nameLength: Int32, _ channels: Int32, _ rate: Double, _ length: Int32) -> Int32 {
  guard channels > 0, rate >= 1, rate.isFinite else { return 0 }
  let bytes = host.taken(length, from: nameLength)
  let samples = (0..<bytes.count / 4).map { index in
    Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[4 * index + $1]) << UInt32(8 * $1) })
  }
  host.studio.sounds[host.text(nameLength)] = HostSound(
    interleaved: samples, channelCount: Int(channels), rate: rate)
  return 1
}

/// Adds a profile of a user by its JSON text; its number, or −1 with a message.
@_expose(wasm, "addProfile") @_cdecl("studio_add_profile")
func hostAddProfile(_ length: Int32) -> Int32 {
  do throws(InputError) {
    host.studio.profiles.append(try ProfileFile.read(text: host.taken(length), name: "profile"))
    return Int32(clamping: host.studio.profiles.count - 1)
  } catch {
    _ = host.give(Array(error.description.utf8))
    return -1
  }
}

/// Renders a slot; the number of samples.
@_expose(wasm, "render") @_cdecl("studio_render")
func hostRender(_ slot: Int32, _ profile: Int32, _ rate: Double) -> Int32 {
  guard host.studio.slots.indices.contains(Int(slot)) else { return 0 }
  let samples = host.studio.render(Int(slot), profile: Int(profile), rate: rate)
  host.studio.rendered = (samples, rate, Int(profile))
  host.samples = FixedBuffer(samples)
  return Int32(clamping: samples.count)
}

/// The bytes of a sound file of 32-bit floats.
@_expose(wasm, "wav") @_cdecl("studio_wav")
func hostWav(_ slot: Int32, _ profile: Int32, _ rate: Double) -> Int32 {
  host.give(slot) { WaveFile.bytes(of: host.studio.render($0, profile: Int(profile), rate: rate), rate: rate) }
}

/// The extremes of each column of the last rendering.
@_expose(wasm, "envelope") @_cdecl("studio_envelope")
func hostEnvelope(_ columns: Int32) -> Int32 {
  host.give(Studio.envelope(of: host.studio.rendered.samples, columns: Int(columns)))
}

/// Decibels of the last rendering between two times, column by column, the rows from 0 Hz to 500 Hz or to 1.5 times the
/// highest frequency of its profile.
@_expose(wasm, "spectrogram") @_cdecl("studio_spectrogram")
func hostSpectrogram(_ columns: Int32, _ rows: Int32, _ start: Double, _ end: Double) -> Int32 {
  let (samples, rate, profile) = host.studio.rendered
  let part = Studio.part(of: samples, rate: rate, from: start, to: end)
  let top = max(500, 1.5 * host.studio.hertz(profile: profile, sharpness: 1))
  return host.give(
    Spectrogram.decibels(of: part, rate: rate, columns: Int(columns), rows: Int(rows), upTo: min(top, rate / 2)))
}

/// The extremes of each column of what the profile's hardware does; nothing where that is not known.
@_expose(wasm, "felt") @_cdecl("studio_felt")
func hostFelt(_ slot: Int32, _ profile: Int32, _ columns: Int32) -> Int32 {
  guard host.studio.slots.indices.contains(Int(slot)) else { return 0 }
  let motion = host.studio.acceleration(Int(slot), profile: Int(profile), rate: Studio.usualRate)
  return host.give(Studio.envelope(of: motion, columns: Int(columns)))
}

// MARK: - Plans

/// Compiles a slot to bytes that an instance with live sound places as they are.
@_expose(wasm, "plan") @_cdecl("studio_plan")
func hostPlan(_ slot: Int32, _ profile: Int32, _ rate: Double) -> Int32 {
  guard host.studio.slots.indices.contains(Int(slot)),
    let plan = host.studio.plan(Int(slot), profile: Int(profile), rate: rate)
  else { return host.give([UInt8]()) }
  host.output = plan.bytes()
  return Int32(clamping: host.output.count)
}

/// Memory for a plan's bytes, which no other call uses: they may be copied piece by piece, over several blocks of sound.
@_expose(wasm, "livePlanInput") @_cdecl("studio_live_plan_input")
func hostLivePlanInput(_ length: Int32) -> UnsafeMutablePointer<UInt8> {
  host.arriving = unsafe FixedBuffer(uninitialized: max(0, Int(length)))
  return unsafe host.arriving.address
}

/// Plays the plan whose bytes were copied from where the one before is; 0 where they are not a plan of this build.
@_expose(wasm, "livePlan") @_cdecl("studio_live_plan")
func hostLivePlan(_ slot: Int32, _ length: Int32, _ profile: Int32) -> Int32 {
  guard let live = host.live, 0..<2 ~= slot else { return 0 }
  var bytes = FixedBuffer<UInt8>(repeating: 0, count: 0)
  swap(&bytes, &host.arriving)
  guard let plan = RenderPlan.placed(in: bytes, count: Int(length)), plan.rate == live.rate else { return 0 }
  live.load(Int(slot), plan, profile: host.studio.profile(Int(profile)))
  return 1
}

// MARK: - Live sound

@_expose(wasm, "liveStart") @_cdecl("studio_live_start")
func hostLiveStart(_ rate: Double) { host.live = LiveSound(rate: rate) }

/// Reads a text into a slot and plays it from where the one before is; 0 where it cannot be used.
@_expose(wasm, "liveLoad") @_cdecl("studio_live_load")
func hostLiveLoad(_ slot: Int32, _ length: Int32, _ profile: Int32) -> Int32 {
  guard let live = host.live, 0..<2 ~= slot else { return 0 }
  host.studio.slots[Int(slot)].open(SourceFile(host.taken(length), name: "live.ahap"))
  guard host.studio.slots[Int(slot)].isReadable,
    let plan = host.studio.plan(Int(slot), profile: Int(profile), rate: live.rate)
  else { return 0 }
  live.load(Int(slot), plan, profile: host.studio.profile(Int(profile)))
  return 1
}

@_expose(wasm, "livePlay") @_cdecl("studio_live_play")
func hostLivePlay(_ isPlaying: Int32, _ frame: Int32) { host.live?.play(isPlaying != 0, from: Int64(frame)) }

/// Repeats from one frame to another, or all where the end is 0.
@_expose(wasm, "liveLoop") @_cdecl("studio_live_loop")
func hostLiveLoop(_ isLooping: Int32, _ start: Int32, _ end: Int32) {
  host.live?.setLoop(isLooping != 0, from: Int64(start), to: Int64(end))
}

@_expose(wasm, "liveHear") @_cdecl("studio_live_hear")
func hostLiveHear(_ slot: Int32) { if 0..<2 ~= slot { host.live?.hear(Int(slot)) } }

/// Sets a live control: 0 intensity, 1 sharpness.
@_expose(wasm, "liveControl") @_cdecl("studio_live_control")
func hostLiveControl(_ control: Int32, _ value: Double) {
  if 0..<2 ~= control { host.live?.setControl(Int(control), value) }
}

/// Renders the next frames; where they are.
@_expose(wasm, "liveRender") @_cdecl("studio_live_render")
func hostLiveRender(_ count: Int32) -> UnsafeMutablePointer<Float>? { unsafe host.live?.render(Int(count)) }

@_expose(wasm, "livePosition") @_cdecl("studio_live_position")
func hostLivePosition() -> Int32 { Int32(clamping: host.live?.position ?? 0) }

/// 1 while the pattern that is heard runs.
@_expose(wasm, "livePhase") @_cdecl("studio_live_phase")
func hostLivePhase() -> Int32 { host.live?.isRunning == true ? 1 : 0 }
