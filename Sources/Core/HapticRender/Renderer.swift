internal import RealtimeMemory
internal import Synchronization

/// Renders players in blocks, for every sink alike: what is written to a file is what is played.
///
/// Any split into blocks gives the same samples. All memory is taken when the renderer is made. The
/// output lags by `latency` frames, the look-ahead of the limiter and of the protection of
/// hardware.
public struct Renderer: ~Copyable {
  /// The most players at once.
  public static let maximumPlayerCount = 1_024

  /// Seconds by which the limiter delays everything, at any rate, but for a frame: its look-ahead.
  public static let lookahead = Limiter.lookahead

  /// The greatest magnitude of a rendered sample: −1 dBFS, less a step of 16 bits for dither.
  public static var ceiling: Double { @_noLocks get { 0.891 } }

  /// The greatest level to aim for: just below the ceiling, so that the limiter does not act.
  public static let maximumLevel = 0.89

  /// How it is rendered.
  public let settings: RenderSettings
  /// Interleaved channels.
  public let channelCount: Int
  /// What has happened so far.
  public private(set) var statistics = RenderStatistics()

  /// Frames mixed at a time; a greater block is rendered in several sub-blocks.
  static var subBlockLength: Int { @_noLocks get { 512 } }

  /// Read by pointer, so that no reference is counted on the render thread; `owner` keeps it alive.
  let link: Reference<RendererPort.Memory>
  let players: FixedBuffer<Reference<Player>>
  var playerCount = 0
  private let voices: FixedBuffer<Reference<LiveFrames>>
  private var liveVoiceCount = 0
  var schedule: CommandSchedule
  private let buses: Cell<BusSet>
  private let scratch: Cell<FadeOutBuffer>
  var strength: GainRamp
  var hapticGain = GainRamp(1)
  var audioGain = GainRamp(1)
  private var isSkipping = false
  private let isPanned: Bool
  private(set) var position: Int64 = 0
  private var gate: GainRamp
  /// Frames that fill the limiters and the delays of channels.
  private let primingLength: Int
  private let gains = FixedBuffer<Float>(repeating: 0, count: subBlockLength)
  private let hapticGains = FixedBuffer<Float>(repeating: 0, count: subBlockLength)
  private let audioGains = FixedBuffer<Float>(repeating: 0, count: subBlockLength)
  /// The gains that all frames of both hold, where they do not move.
  private var filled: (haptics: Float?, audio: Float?) = (nil, nil)
  private let strips: FixedBuffer<ChannelStrip>
  private let channels: FixedBuffer<OutputChannel>
  private let owner: RendererPort
  private let parts: [RenderPlayer]
  /// Where further passes of the parts begin; empty for their beginning.
  private var loopEntries: [SharedCuePoint] = []

  /// Takes all memory for rendering a plan: about 250 bytes for each voice that sounds at once.
  public init(plan: RenderPlan, settings: RenderSettings = RenderSettings()) {
    self.init(plans: [plan], settings: settings)
  }

  /// Takes all memory for rendering one pattern's plans in step, each on its own haptic bus.
  ///
  /// - Parameter plans: One for each haptic bus, at least one, of one pattern and rate; the first
  ///   lays the audio.
  public init(
    plans: [RenderPlan], shares: [SendAutomation] = [], settings: RenderSettings = RenderSettings()
  ) {
    precondition(!plans.isEmpty, "a plan to render")
    let parts = plans.enumerated().map { bus, plan in
      RenderPlayer(
        plan: plan, hapticBus: plan.hasHaptics ? bus : nil, rendersAudio: bus == 0 && plan.hasAudio,
        share: bus < shares.count ? shares[bus] : nil,
        voiceCapacity: plan.voiceCapacity(passCount: settings.passCount),
        keepsChanges: false)
    }
    let link = RendererPort(channelCount: settings.routing.channels.count)
    self.init(rate: plans[0].rate, settings: settings, link: link, parts: parts)
    let range = plans[0].loopRange
    if let range, range.lowerBound > 0, settings.passCount != 1 {
      loopEntries = plans.map { SharedCuePoint(of: $0, at: range.lowerBound) }
    }
    for (index, part) in parts.enumerated() {
      part.player.value.passCount = max(1, settings.passCount ?? .max)
      part.player.value.loopEnd = range?.upperBound ?? RenderPlan.commonLoopLength(of: plans)
      if !loopEntries.isEmpty {
        part.player.value.loopEntry = loopEntries[index].cue
      }
    }
    _ = link.send(parts.flatMap { [.add($0), .start($0, at: 0)] })
  }

  /// Takes all memory for rendering what is sent through a link.
  ///
  /// - Parameter isOpen: Whether the gate lets sound through from the first frame.
  public init(rate: Double, settings: RenderSettings, link: RendererPort, isOpen: Bool = true) {
    self.init(rate: rate, settings: settings, link: link, parts: [])
    if !isOpen {
      gate = GainRamp(0)
    }
  }

  private init(rate: Double, settings: RenderSettings, link: RendererPort, parts: [RenderPlayer]) {
    self.settings = settings
    self.parts = parts
    owner = link
    unsafe self.link = link.memory.reference
    isPanned = settings.routing.isPanned
    unsafe players = FixedBuffer(
      uninitialized: parts.isEmpty ? Self.maximumPlayerCount : parts.count)
    unsafe voices = FixedBuffer(uninitialized: LiveVoice.maximumCount)
    schedule = CommandSchedule(
      capacity: parts.isEmpty
        ? RendererPort.maximumScheduledCommandCount + RendererPort.commandCapacity : 2 * parts.count
    )
    buses = Cell(
      BusSet(hapticCount: settings.routing.hapticBusCount, capacity: Self.subBlockLength))
    scratch = Cell(FadeOutBuffer(rate: rate, subBlockLength: Self.subBlockLength))
    strength = GainRamp(settings.gain)
    gate = GainRamp(1)
    // A plan without audio sounds the same on all channels that differ in audio alone.
    let hasAudio = parts.first?.plan.hasAudio ?? true
    let routes = settings.routing.channels.map { channel in
      var channel = channel
      if !hasAudio {
        channel.audio = .none
      }
      return channel
    }
    var distinct: [OutputRouting.Channel] = []
    var places: [Int] = []
    for route in routes {
      let place = distinct.firstIndex { $0.hasSameMix(as: route) } ?? distinct.count
      if place == distinct.count {
        distinct.append(route)
      }
      places.append(place)
    }
    let temperatureRise = link.temperatureRise
    let made = FixedBuffer(count: distinct.count) { [distinct, places] index in
      // Channels of one strip are driven alike, so they are as warm.
      let rise =
        temperatureRise.dropFirst(places.firstIndex(of: index) ?? 0).first
        ?? TransducerThermalState()
      return ChannelStrip(
        distinct[index], rate: rate, temperatureRise: rise, isRaw: settings.isRaw,
        capacity: Self.subBlockLength)
    }
    let lags = (0..<made.count).map { made[$0].latency }
    let longest = lags.max() ?? 0
    latency = longest
    channelCount = routes.count
    strips = made
    primingLength = longest + (routes.map { $0.delay }.max() ?? 0) + Self.subBlockLength
    channels = FixedBuffer(count: routes.count) { index in
      OutputChannel(routes[index], strip: places[index], padding: longest - lags[places[index]])
    }
  }

  /// Frames by which the output lags behind the plan, without the delays of channels.
  public let latency: Int

  var context: MixContext {
    @_noLocks get {
      unsafe MixContext(
        position: position, buses: buses.reference, scratch: scratch.reference,
        isHeard: !isSkipping,
        isPanned: isPanned, hearsHaptics: !hapticGain.leadsToSilence,
        hearsAudio: !audioGain.leadsToSilence)
    }
  }

  /// Frames of the gate's ramps and of the fades of players.
  public var fadeLength: Int { @_noLocks get { scratch.value.fadeLength } }

  /// Renders the next frames, interleaved.
  ///
  /// Frames behind the settings' length are silent. No sample passes −1 dBFS.
  ///
  /// - Parameter block: Samples to overwrite, a whole number of frames.
  ///
  /// [render thread] Allocates nothing, waits for nothing. About 0.3 ns for each sine and frame.
  @_noLocks public mutating func render(into block: inout MutableSpan<Float>) {
    let frameCount = block.count / channelCount
    takeCommands()
    var done = 0
    while done < frameCount {
      let count = beginSubBlock(atMost: frameCount &- done)
      mix(count: count)
      interleave(count: count, to: &block, at: done)
      position &+= Int64(count)
      done &+= count
    }
    statistics.frameCount &+= Int64(frameCount)
    publish()
  }

  /// Lets frames go by unheard, faster than rendering them: [render thread].
  ///
  /// The last of them are rendered and dropped, so that all that delays is filled with what belongs
  /// there.
  ///
  /// - Parameter takesCommands: Whether commands that were sent are for these frames.
  @_noLocks public mutating func skip(frameCount: Int, takesCommands: Bool = true) {
    if takesCommands {
      takeCommands()
    }
    let rendered = min(frameCount, primingLength)
    var left = frameCount
    while left > 0 {
      isSkipping = left > rendered
      let count = beginSubBlock(atMost: isSkipping ? left &- rendered : left)
      mix(count: count)
      if isSkipping {
        strength.advance(by: count)
        hapticGain.advance(by: count)
        audioGain.advance(by: count)
      } else {
        drop(count: count)
      }
      position &+= Int64(count)
      left &-= count
      if isSkipping, left == rendered {
        reset()
      }
    }
    isSkipping = false
    publish()
  }

  /// Moves the gain behind the limiter to 1 or 0, over the usual fade or a number of frames.
  ///
  /// Closed before a stop and opened after one, so that nothing clicks: [render thread].
  @_noLocks public mutating func moveGate(to gain: Float, over frameCount: Int? = nil) {
    gate.move(to: gain, over: frameCount ?? scratch.value.fadeLength)
  }

  /// Silences the gate at once; for a device that has stopped by itself: [render thread].
  @_noLocks public mutating func closeGate() { gate.move(to: 0, over: 0) }

  /// Does what is due and finds the length of the next sub-block: to the next command or cut.
  @_noLocks private mutating func beginSubBlock(atMost most: Int) -> Int {
    performDueCommands()
    var end = position &+ Int64(min(Self.subBlockLength, most))
    for index in 0..<playerCount {
      let player = players[index]
      var wrap = player.value.nextWrap
      while wrap <= position {
        player.value.wrap(in: context)
        wrap = player.value.nextWrap
      }
      if wrap < end {
        end = wrap
      }
      // A player is rendered apart just while its gain moves, whatever the blocks are.
      let ramp = player.value.gain.framesLeft
      if ramp > 0, position &+ Int64(ramp) < end {
        end = position &+ Int64(ramp)
      }
      let shareRamp = player.value.sendGain.framesLeft
      if shareRamp > 0, position &+ Int64(shareRamp) < end {
        end = position &+ Int64(shareRamp)
      }
    }
    if schedule.nextTime < end {
      end = schedule.nextTime
    }
    return Int(end &- position)
  }

  @_noLocks private mutating func mix(count: Int) {
    buses.value.clear(at: position, count: count)
    let context = self.context
    var voiceCount = 0
    for index in 0..<playerCount {
      let player = players[index]
      if player.value.mix(count: count, in: context) {
        countChange()
      }
      voiceCount &+= player.value.activeCount
    }
    mixVoices(count: count)
    if voiceCount > statistics.peakVoiceCount {
      statistics.peakVoiceCount = voiceCount
    }
    statistics.voiceCount = voiceCount
    guard !isSkipping else { return }
    let gains = fillGains(count: count)
    var statistics = self.statistics
    let leastGain = statistics.minimumProtectionGain
    statistics.minimumProtectionGain = 1
    for index in 0..<strips.count {
      strips[index].process(
        buses.value, hapticGains: gains.haptics, audioGains: gains.audio, count: count,
        statistics: &statistics)
    }
    link.value.lowerProtectionGain(to: statistics.minimumProtectionGain)
    if leastGain < statistics.minimumProtectionGain {
      statistics.minimumProtectionGain = leastGain
    }
    self.statistics = statistics
  }

  @_noLocks private mutating func mixVoices(count: Int) {
    var kept = 0
    for index in 0..<liveVoiceCount {
      let voice = voices[index]
      if unsafe voice.value.mix(count: count, into: buses.reference) {
        voices[kept] = voice
        kept &+= 1
      } else {
        voice.value.isReleased.store(true, ordering: .releasing)
        countChange()
      }
    }
    liveVoiceCount = kept
  }

  @_noLocks private mutating func fillGains(count: Int) -> (haptics: BusGain, audio: BusGain) {
    var haptics, audio: Float?
    if strength.isSettled, hapticGain.isSettled, audioGain.isSettled {
      haptics = strength.value * hapticGain.value
      audio = strength.value * audioGain.value
      // All frames hold these gains already when a sub-block has been filled with them.
      if haptics != filled.haptics || audio != filled.audio {
        unsafe hapticGains.address.update(repeating: haptics ?? 0, count: hapticGains.count)
        unsafe audioGains.address.update(repeating: audio ?? 0, count: audioGains.count)
      }
      filled = (haptics, audio)
    } else {
      filled = (nil, nil)
      fillMovingGains(count: count)
    }
    return unsafe (
      BusGain(frames: hapticGains.view, steady: haptics),
      BusGain(frames: audioGains.view, steady: audio)
    )
  }

  @_noLocks private mutating func fillMovingGains(count: Int) {
    unsafe strength.fill(gains.view, count: count)
    for index in 0..<count {
      let gain = gains[index]
      hapticGains[index] = gain * hapticGain.next()
      audioGains[index] = gain * audioGain.next()
    }
  }

  @_noLocks private mutating func interleave(
    count: Int, to block: inout MutableSpan<Float>, at start: Int
  ) {
    let first = position &- Int64(latency)
    let isFading = !gate.isUnity || fade(at: first &+ Int64(count)) < 1
    if isFading {
      unsafe gate.fill(gains.view, count: count)
      for index in 0..<count {
        gains[index] = gains[index] * fade(at: first &+ Int64(index))
      }
    }
    for channel in 0..<channelCount {
      let strip = channels[channel].strip
      let output = strips[strip].output
      unsafe channels[channel].write(
        output, gains: isFading ? gains.view : nil, count: count, to: &block,
        at: start &* channelCount &+ channel,
        stride: channelCount)
    }
  }

  /// Lets the channels' delays go on without output.
  @_noLocks private mutating func drop(count: Int) {
    var nowhere = gains.mutableSpan
    for channel in 0..<channels.count {
      let strip = channels[channel].strip
      let output = strips[strip].output
      channels[channel].write(output, gains: nil, count: count, to: &nowhere, at: 0, stride: 1)
    }
  }

  /// The factor of the closing fade: 1, then a straight line to 0 at the last frame.
  @_noLocks private func fade(at frame: Int64) -> Float {
    guard let length = settings.length else { return 1 }
    let left = length &- 1 &- frame
    if left >= settings.fadeLength { return 1 }
    return left <= 0 ? 0 : Float(left) / Float(settings.fadeLength)
  }

  @_noLocks private mutating func reset() {
    buses.value.reset()
    for index in 0..<strips.count {
      strips[index].reset()
    }
    for index in 0..<channels.count {
      channels[index].reset()
    }
  }

  @_noLocks private mutating func publish() {
    link.value.position.store(position, ordering: .releasing)
    link.value.voiceCount.store(statistics.voiceCount, ordering: .relaxed)
    link.value.limitedFrameCount.store(statistics.limitedFrameCount, ordering: .relaxed)
    link.value.nonFiniteSampleCount.store(statistics.nonFiniteSampleCount, ordering: .relaxed)
    link.value.excursionLimitedFrameCount.store(
      statistics.excursionLimitedFrameCount, ordering: .relaxed)
    link.value.powerLimitedFrameCount.store(statistics.powerLimitedFrameCount, ordering: .relaxed)
    link.value.peakExcursion.store(statistics.peakExcursion.bitPattern, ordering: .relaxed)
    for index in 0..<channels.count {
      let strip = channels[index].strip
      link.value.thermalStates[index].store(strips[strip].temperatureRise.bits, ordering: .relaxed)
      link.value.raisePeak(of: index, to: channels[index].takePeak())
    }
  }

  @_noLocks mutating func takeCommands() {
    var command = RenderCommand(.nothing, at: 0)
    while schedule.hasRoom, link.value.queue.take(&command) {
      switch command.change {
      case .player(let player, .cancel), .player(let player, .remove):
        // At once, before commands that wait: they are for a player that ends here.
        schedule.drop(player)
        perform(command.change)
      case .player(_, .add), .attach, .detach:
        perform(command.change)
      case .nothing, .gain, .player:
        if command.time < position {
          command.time = position
        }
        schedule.insert(command)
      }
    }
  }

  @_noLocks mutating func performDueCommands() {
    while schedule.nextTime <= position {
      let command = schedule.takeFirst()
      perform(command.change)
    }
  }

  @_noLocks private mutating func perform(_ change: RenderCommand.Change) {
    switch change {
    case .nothing:
      break
    case .gain(.everything, let gain, let frameCount):
      strength.move(to: gain, over: frameCount)
    case .gain(.haptics, let gain, let frameCount):
      hapticGain.move(to: gain, over: frameCount)
    case .gain(.audio, let gain, let frameCount):
      audioGain.move(to: gain, over: frameCount)
    case .attach(let voice):
      if liveVoiceCount < voices.count {
        voices[liveVoiceCount] = voice
        liveVoiceCount &+= 1
      } else {
        voice.value.isReleased.store(true, ordering: .releasing)
      }
    case .detach(let voice):
      voice.value.isLeaving = true
    case .player(let player, .remove):
      stop(player)
      remove(player)
    case .player(let player, let change):
      perform(change, on: player)
      player.value.noteCommandDone()
      player.value.changes.value.add(player.value, at: position, in: context)
    }
    if case .gain = change {
      for index in 0..<playerCount {
        players[index].value.changes.value.add(players[index].value, at: position, in: context)
      }
    }
    countChange()
    _ = link.value.doneCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func perform(
    _ change: RenderCommand.PlayerChange, on reference: Reference<Player>
  ) {
    switch change {
    case .add:
      // One that finds no space is never heard.
      guard playerCount < players.count else { return }
      players[playerCount] = reference
      playerCount &+= 1
    case .cancel, .stop, .remove:
      stop(reference)
    case .start(let cue):
      reference.value.start(from: cue, in: context)
      countChange()
    case .pause:
      reference.value.pause(in: context)
    case .resume:
      reference.value.resume(in: context)
    case .seek(let cue):
      if reference.value.seek(to: cue, in: context) {
        countChange()
      }
    case .loop(let passCount, let cue, let end):
      reference.value.setLoop(passCount: passCount, end: end, entry: cue, at: position)
    case .playbackRate(let rate):
      reference.value.setPlaybackRate(rate, at: position)
    case .gain(let gain, let frameCount):
      // What does not sound needs no ramp, and is to start at its gain.
      var length = reference.value.phase.isIdle ? 0 : fadeLength
      if let frameCount {
        length = frameCount
      }
      reference.value.gain.move(to: gain, over: length)
    case .busSend(let gain, let frameCount, let serial):
      reference.value.moveSendGain(to: gain, over: frameCount, serial: serial)
    case .envelopeTime(let id, let value, let slope):
      reference.value.setTime(id, value: value, slope: slope, at: position)
    case .control(let id, let value, let slope):
      reference.value.setControl(id, value: value, slope: slope, at: position)
    }
  }

  @_noLocks private mutating func stop(_ reference: Reference<Player>) {
    if reference.value.stop(in: context) {
      countChange()
    }
  }

  /// Releases a player; the others keep their order, so that sums stay the same.
  @_noLocks private mutating func remove(_ player: Reference<Player>) {
    var kept = 0
    for index in 0..<playerCount {
      if !players[index].isSame(as: player) {
        players[kept] = players[index]
        kept &+= 1
      }
    }
    playerCount = kept
    player.value.entry?.release()
    player.value.loopEntry?.release()
    player.value.entry = nil
    player.value.loopEntry = nil
    // The control side may free it from here on.
    player.value.status.value.isReleased.store(true, ordering: .releasing)
  }

  @_noLocks func countChange() { _ = link.value.changeCount.wrappingAdd(1, ordering: .releasing) }

  /// The frame until which no player and no live voice runs unless commands are sent; the position
  /// while one does: [render thread].
  ///
  /// What fades out, and what the output chain still holds, is not looked at.
  public var quietEnd: Int64 {
    @_noLocks get {
      guard liveVoiceCount == 0 else { return position }
      for index in 0..<playerCount {
        if players[index].value.phase.isPlaying {
          return position
        }
      }
      return schedule.nextTime > position ? schedule.nextTime : position
    }
  }

  /// Announces a rest, in which sent commands wake the driver, and takes what was sent before:
  /// [render thread].
  ///
  /// - Returns: `quietEnd`; at the position, there is no rest.
  @_noLocks public mutating func beginIdle() -> Int64 {
    link.value.isIdle.store(true, ordering: .relaxed)
    // Either the sender sees the rest, or this thread what was sent.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    takeCommands()
    return quietEnd
  }

  /// Ends a rest: [render thread].
  @_noLocks public func endIdle() { link.value.isIdle.store(false, ordering: .relaxed) }

  /// Lets the frames of a rest go by; commands sent meanwhile are for what follows: [render
  /// thread].
  ///
  /// - Returns: `quietEnd`.
  @_noLocks public mutating func skipIdle(frameCount: Int) -> Int64 {
    skip(frameCount: frameCount, takesCommands: false)
    takeCommands()
    return quietEnd
  }
}

/// What a player mixes into, from one frame of the output on.
struct MixContext: BitwiseCopyable {
  let position: Int64
  let buses: Reference<BusSet>
  let scratch: Reference<FadeOutBuffer>
  /// Whether samples are wanted at all.
  var isHeard: Bool
  let isPanned: Bool
  let hearsHaptics, hearsAudio: Bool
}

/// The gain of a bus over a sub-block: that of each frame, and that of all where it does not move.
struct BusGain: BitwiseCopyable {
  let frames: BufferView<Float>
  let steady: Float?
}
