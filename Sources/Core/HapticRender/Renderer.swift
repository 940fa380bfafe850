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
  let sharedState: Reference<RendererPort.SharedState>
  let players: FixedBuffer<Reference<Player>>
  var playerCount = 0
  private let liveVoices: FixedBuffer<Reference<LiveVoiceState>>
  private var liveVoiceCount = 0
  var schedule: CommandSchedule
  private let buses: Cell<BusSet>
  private let crossfadeBuffer: Cell<CrossfadeBuffer>
  var masterGain: GainRamp
  var hapticGain = GainRamp(1)
  var audioGain = GainRamp(1)
  private var isSkipping = false
  private let isStereo: Bool
  private(set) var position: Int64 = 0
  private var gate: GainRamp
  /// Frames that fill the limiters and the delays of channels.
  private let primingLength: Int
  private let frameGains = FixedBuffer<Float>(repeating: 0, count: subBlockLength)
  private let hapticGains = FixedBuffer<Float>(repeating: 0, count: subBlockLength)
  private let audioGains = FixedBuffer<Float>(repeating: 0, count: subBlockLength)
  /// The gains that all frames of both hold, where they do not move.
  private var constantGains: (haptics: Float?, audio: Float?) = (nil, nil)
  private let mixes: FixedBuffer<OutputMix>
  private let outputs: FixedBuffer<OutputChannel>
  private let owner: RendererPort
  private let ownedPlayers: [RenderPlayer]
  /// Where further passes of the parts begin; empty for their beginning.
  private var loopCues: [SharedCuePoint] = []

  /// Takes all memory for rendering a plan: about 250 bytes for each voice that sounds at once.
  public init(plan: RenderPlan, settings: RenderSettings = RenderSettings()) {
    self.init(plans: [plan], settings: settings)
  }

  /// Takes all memory for rendering one pattern's plans in step, each on its own haptic bus.
  ///
  /// - Parameter plans: One for each haptic bus, at least one, of one pattern and rate; the first
  ///   lays the audio.
  public init(
    plans: [RenderPlan], sendGains shares: [SendAutomation] = [],
    settings: RenderSettings = RenderSettings()
  ) {
    precondition(!plans.isEmpty, "a plan to render")
    let parts = plans.enumerated().map { bus, plan in
      RenderPlayer(
        plan: plan, hapticBus: plan.hasHaptics ? bus : nil, rendersAudio: bus == 0 && plan.hasAudio,
        sendGain: bus < shares.count ? shares[bus] : nil,
        voiceCapacity: plan.voiceCapacity(passCount: settings.passCount),
        recordsChanges: false)
    }
    let link = RendererPort(channelCount: settings.routing.channels.count)
    self.init(rate: plans[0].rate, settings: settings, port: link, ownedPlayers: parts)
    let range = plans[0].loopRange
    if let range, range.lowerBound > 0, settings.passCount != 1 {
      loopCues = plans.map { SharedCuePoint(of: $0, at: range.lowerBound) }
    }
    for (index, part) in parts.enumerated() {
      part.player.value.passCount = max(1, settings.passCount ?? .max)
      part.player.value.loopEnd = range?.upperBound ?? RenderPlan.commonLoopLength(of: plans)
      if !loopCues.isEmpty {
        part.player.value.loopCue = loopCues[index].reference
      }
    }
    _ = link.send(parts.flatMap { [.add($0), .start($0, at: 0)] })
  }

  /// Takes all memory for rendering what is sent through a link.
  ///
  /// - Parameter isOpen: Whether the gate lets sound through from the first frame.
  public init(
    rate: Double, settings: RenderSettings, port link: RendererPort, isGateOpen isOpen: Bool = true
  ) {
    self.init(rate: rate, settings: settings, port: link, ownedPlayers: [])
    if !isOpen {
      gate = GainRamp(0)
    }
  }

  private init(
    rate: Double, settings: RenderSettings, port link: RendererPort,
    ownedPlayers parts: [RenderPlayer]
  ) {
    self.settings = settings
    self.ownedPlayers = parts
    owner = link
    unsafe self.sharedState = link.sharedState.reference
    isStereo = settings.routing.isStereo
    unsafe players = FixedBuffer(
      uninitialized: parts.isEmpty ? Self.maximumPlayerCount : parts.count)
    unsafe liveVoices = FixedBuffer(uninitialized: LiveVoice.maximumCount)
    schedule = CommandSchedule(
      capacity: parts.isEmpty
        ? RendererPort.maximumScheduledCommandCount + RendererPort.commandCapacity : 2 * parts.count
    )
    buses = Cell(
      BusSet(hapticCount: settings.routing.hapticBusCount, capacity: Self.subBlockLength))
    crossfadeBuffer = Cell(CrossfadeBuffer(rate: rate, subBlockLength: Self.subBlockLength))
    masterGain = GainRamp(settings.gain)
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
    let temperatureRise = link.temperatureRises
    let made = FixedBuffer(count: distinct.count) { [distinct, places] index in
      // Channels of one strip are driven alike, so they are as warm.
      let rise =
        temperatureRise.dropFirst(places.firstIndex(of: index) ?? 0).first
        ?? TransducerThermalState()
      return OutputMix(
        distinct[index], rate: rate, temperatureRise: rise, isRaw: settings.isRaw,
        capacity: Self.subBlockLength)
    }
    let lags = (0..<made.count).map { made[$0].latency }
    let longest = lags.max() ?? 0
    latency = longest
    channelCount = routes.count
    mixes = made
    primingLength = longest + (routes.map { $0.delay }.max() ?? 0) + Self.subBlockLength
    outputs = FixedBuffer(count: routes.count) { index in
      OutputChannel(routes[index], mixIndex: places[index], padding: longest - lags[places[index]])
    }
  }

  /// Frames by which the output lags behind the plan, without the delays of channels.
  public let latency: Int

  var mixContext: MixContext {
    @_noLocks get {
      unsafe MixContext(
        position: position, buses: buses.reference, crossfadeBuffer: crossfadeBuffer.reference,
        isAudible: !isSkipping,
        isStereo: isStereo, playsHaptics: !hapticGain.endsInSilence,
        playsAudio: !audioGain.endsInSilence)
    }
  }

  /// Frames of the gate's ramps and of the fades of players.
  public var fadeLength: Int { @_noLocks get { crossfadeBuffer.value.fadeLength } }

  /// Renders the next frames, interleaved.
  ///
  /// Frames behind the settings' length are silent. No sample passes −1 dBFS.
  ///
  /// - Parameter block: Samples to overwrite, a whole number of frames.
  ///
  /// [render thread] Allocates nothing, waits for nothing. About 0.3 ns for each sine and frame.
  @_noLocks public mutating func render(into block: inout MutableSpan<Float>) {
    let frameCount = block.count / channelCount
    receiveCommands()
    var done = 0
    while done < frameCount {
      let count = beginSubBlock(maximumCount: frameCount &- done)
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
  @_noLocks public mutating func skip(frameCount: Int, receivesCommands takesCommands: Bool = true)
  {
    if takesCommands {
      receiveCommands()
    }
    let rendered = min(frameCount, primingLength)
    var left = frameCount
    while left > 0 {
      isSkipping = left > rendered
      let count = beginSubBlock(maximumCount: isSkipping ? left &- rendered : left)
      mix(count: count)
      if isSkipping {
        masterGain.advance(by: count)
        hapticGain.advance(by: count)
        audioGain.advance(by: count)
      } else {
        discard(count: count)
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
    gate.move(to: gain, over: frameCount ?? crossfadeBuffer.value.fadeLength)
  }

  /// Silences the gate at once; for a device that has stopped by itself: [render thread].
  @_noLocks public mutating func closeGate() { gate.move(to: 0, over: 0) }

  /// Does what is due and finds the length of the next sub-block: to the next command or cut.
  @_noLocks private mutating func beginSubBlock(maximumCount most: Int) -> Int {
    performDueCommands()
    var end = position &+ Int64(min(Self.subBlockLength, most))
    for index in 0..<playerCount {
      let player = players[index]
      var wrap = player.value.nextLoopJump
      while wrap <= position {
        player.value.jumpToLoopStart(in: mixContext)
        wrap = player.value.nextLoopJump
      }
      if wrap < end {
        end = wrap
      }
      // A player is rendered apart just while its gain moves, whatever the blocks are.
      let ramp = player.value.gain.remainingFrameCount
      if ramp > 0, position &+ Int64(ramp) < end {
        end = position &+ Int64(ramp)
      }
      let shareRamp = player.value.sendGain.remainingFrameCount
      if shareRamp > 0, position &+ Int64(shareRamp) < end {
        end = position &+ Int64(shareRamp)
      }
    }
    if schedule.nextFrame < end {
      end = schedule.nextFrame
    }
    return Int(end &- position)
  }

  @_noLocks private mutating func mix(count: Int) {
    buses.value.beginBlock(at: position, count: count)
    let context = self.mixContext
    var voiceCount = 0
    for index in 0..<playerCount {
      let player = players[index]
      if player.value.mix(count: count, in: context) {
        recordChange()
      }
      voiceCount &+= player.value.activeVoiceCount
    }
    mixLiveVoices(count: count)
    if voiceCount > statistics.peakVoiceCount {
      statistics.peakVoiceCount = voiceCount
    }
    statistics.voiceCount = voiceCount
    guard !isSkipping else { return }
    let gains = fillGains(count: count)
    var statistics = self.statistics
    let leastGain = statistics.minimumProtectionGain
    statistics.minimumProtectionGain = 1
    for index in 0..<mixes.count {
      mixes[index].process(
        buses.value, hapticGains: gains.haptics, audioGains: gains.audio, count: count,
        statistics: &statistics)
    }
    sharedState.value.lowerProtectionGain(to: statistics.minimumProtectionGain)
    if leastGain < statistics.minimumProtectionGain {
      statistics.minimumProtectionGain = leastGain
    }
    self.statistics = statistics
  }

  @_noLocks private mutating func mixLiveVoices(count: Int) {
    var kept = 0
    for index in 0..<liveVoiceCount {
      let voice = liveVoices[index]
      if unsafe voice.value.mix(count: count, into: buses.reference) {
        liveVoices[kept] = voice
        kept &+= 1
      } else {
        voice.value.isReleased.store(true, ordering: .releasing)
        recordChange()
      }
    }
    liveVoiceCount = kept
  }

  @_noLocks private mutating func fillGains(count: Int) -> (haptics: BusGain, audio: BusGain) {
    var haptics, audio: Float?
    if masterGain.isSettled, hapticGain.isSettled, audioGain.isSettled {
      haptics = masterGain.value * hapticGain.value
      audio = masterGain.value * audioGain.value
      // All frames hold these gains already when a sub-block has been filled with them.
      if haptics != constantGains.haptics || audio != constantGains.audio {
        unsafe hapticGains.address.update(repeating: haptics ?? 0, count: hapticGains.count)
        unsafe audioGains.address.update(repeating: audio ?? 0, count: audioGains.count)
      }
      constantGains = (haptics, audio)
    } else {
      constantGains = (nil, nil)
      fillMovingGains(count: count)
    }
    return unsafe (
      BusGain(frameGains: hapticGains.view, constant: haptics),
      BusGain(frameGains: audioGains.view, constant: audio)
    )
  }

  @_noLocks private mutating func fillMovingGains(count: Int) {
    unsafe masterGain.fill(frameGains.view, count: count)
    for index in 0..<count {
      let gain = frameGains[index]
      hapticGains[index] = gain * hapticGain.next()
      audioGains[index] = gain * audioGain.next()
    }
  }

  @_noLocks private mutating func interleave(
    count: Int, to block: inout MutableSpan<Float>, at start: Int
  ) {
    let first = position &- Int64(latency)
    let isFading = !gate.isUnity || fadeGain(at: first &+ Int64(count)) < 1
    if isFading {
      unsafe gate.fill(frameGains.view, count: count)
      for index in 0..<count {
        frameGains[index] = frameGains[index] * fadeGain(at: first &+ Int64(index))
      }
    }
    for channel in 0..<channelCount {
      let strip = outputs[channel].mixIndex
      let output = mixes[strip].output
      unsafe outputs[channel].write(
        output, gains: isFading ? frameGains.view : nil, count: count, to: &block,
        at: start &* channelCount &+ channel,
        stride: channelCount)
    }
  }

  /// Lets the channels' delays go on without output.
  @_noLocks private mutating func discard(count: Int) {
    var nowhere = frameGains.mutableSpan
    for channel in 0..<outputs.count {
      let strip = outputs[channel].mixIndex
      let output = mixes[strip].output
      outputs[channel].write(output, gains: nil, count: count, to: &nowhere, at: 0, stride: 1)
    }
  }

  /// The factor of the closing fade: 1, then a straight line to 0 at the last frame.
  @_noLocks private func fadeGain(at frame: Int64) -> Float {
    guard let length = settings.length else { return 1 }
    let left = length &- 1 &- frame
    if left >= settings.fadeLength { return 1 }
    return left <= 0 ? 0 : Float(left) / Float(settings.fadeLength)
  }

  @_noLocks private mutating func reset() {
    buses.value.reset()
    for index in 0..<mixes.count {
      mixes[index].reset()
    }
    for index in 0..<outputs.count {
      outputs[index].reset()
    }
  }

  @_noLocks private mutating func publish() {
    sharedState.value.position.store(position, ordering: .releasing)
    sharedState.value.voiceCount.store(statistics.voiceCount, ordering: .relaxed)
    sharedState.value.limitedFrameCount.store(statistics.limitedFrameCount, ordering: .relaxed)
    sharedState.value.nonFiniteSampleCount.store(
      statistics.nonFiniteSampleCount, ordering: .relaxed)
    sharedState.value.excursionLimitedFrameCount.store(
      statistics.excursionLimitedFrameCount, ordering: .relaxed)
    sharedState.value.powerLimitedFrameCount.store(
      statistics.powerLimitedFrameCount, ordering: .relaxed)
    sharedState.value.peakExcursion.store(statistics.peakExcursion.bitPattern, ordering: .relaxed)
    for index in 0..<outputs.count {
      let strip = outputs[index].mixIndex
      sharedState.value.thermalStates[index].store(
        mixes[strip].temperatureRise.bitPattern, ordering: .relaxed)
      sharedState.value.raisePeak(of: index, to: outputs[index].drainPeak())
    }
  }

  @_noLocks mutating func receiveCommands() {
    var command = RenderCommand(.noOperation, at: 0)
    while schedule.hasSpace, sharedState.value.queue.pop(&command) {
      switch command.change {
      case .player(let player, .cancel), .player(let player, .remove):
        // At once, before commands that wait: they are for a player that ends here.
        schedule.removeCommands(for: player)
        perform(command.change)
      case .player(_, .add), .attach, .detach:
        perform(command.change)
      case .noOperation, .gain, .player:
        if command.frame < position {
          command.frame = position
        }
        schedule.insert(command)
      }
    }
  }

  @_noLocks mutating func performDueCommands() {
    while schedule.nextFrame <= position {
      let command = schedule.popFirst()
      perform(command.change)
    }
  }

  @_noLocks private mutating func perform(_ change: RenderCommand.Change) {
    switch change {
    case .noOperation:
      break
    case .gain(.everything, let gain, let frameCount):
      masterGain.move(to: gain, over: frameCount)
    case .gain(.haptics, let gain, let frameCount):
      hapticGain.move(to: gain, over: frameCount)
    case .gain(.audio, let gain, let frameCount):
      audioGain.move(to: gain, over: frameCount)
    case .attach(let voice):
      if liveVoiceCount < liveVoices.count {
        liveVoices[liveVoiceCount] = voice
        liveVoiceCount &+= 1
      } else {
        voice.value.isReleased.store(true, ordering: .releasing)
      }
    case .detach(let voice):
      voice.value.isDetached = true
    case .player(let player, .remove):
      stop(player)
      remove(player)
    case .player(let player, let change):
      perform(change, on: player)
      player.value.recordCommandCompletion()
      player.value.changes.value.add(player.value, at: position, in: mixContext)
    }
    if case .gain = change {
      for index in 0..<playerCount {
        players[index].value.changes.value.add(players[index].value, at: position, in: mixContext)
      }
    }
    recordChange()
    _ = sharedState.value.completedCommandCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func perform(
    _ change: RenderCommand.PlayerAction, on reference: Reference<Player>
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
      reference.value.start(from: cue, in: mixContext)
      recordChange()
    case .pause:
      reference.value.pause(in: mixContext)
    case .resume:
      reference.value.resume(in: mixContext)
    case .seek(let cue):
      if reference.value.seek(to: cue, in: mixContext) {
        recordChange()
      }
    case .loop(let passCount, let cue, let end):
      reference.value.setLoop(passCount: passCount, end: end, cue: cue, at: position)
    case .playbackRate(let rate):
      reference.value.setPlaybackRate(rate, at: position)
    case .gain(let gain, let frameCount):
      // What does not sound needs no ramp, and is to start at its gain.
      var length = reference.value.phase.isIdle ? 0 : fadeLength
      if let frameCount {
        length = frameCount
      }
      reference.value.gain.move(to: gain, over: length)
    case .sendGain(let gain, let frameCount, let serial):
      reference.value.moveSendGain(to: gain, over: frameCount, serial: serial)
    case .envelopeTime(let id, let value, let slope):
      reference.value.setEnvelopeTime(id, value: value, slope: slope, at: position)
    case .control(let id, let value, let slope):
      reference.value.setControl(id, value: value, slope: slope, at: position)
    }
  }

  @_noLocks private mutating func stop(_ reference: Reference<Player>) {
    if reference.value.stop(in: mixContext) {
      recordChange()
    }
  }

  /// Releases a player; the others keep their order, so that sums stay the same.
  @_noLocks private mutating func remove(_ player: Reference<Player>) {
    var kept = 0
    for index in 0..<playerCount {
      if !players[index].isIdentical(to: player) {
        players[kept] = players[index]
        kept &+= 1
      }
    }
    playerCount = kept
    player.value.startCue?.release()
    player.value.loopCue?.release()
    player.value.startCue = nil
    player.value.loopCue = nil
    // The control side may free it from here on.
    player.value.status.value.isReleased.store(true, ordering: .releasing)
  }

  @_noLocks func recordChange() {
    _ = sharedState.value.changeCount.wrappingAdd(1, ordering: .releasing)
  }

  /// The frame until which no player and no live voice runs unless commands are sent; the position
  /// while one does: [render thread].
  ///
  /// What fades out, and what the output chain still holds, is not looked at.
  public var silentUntil: Int64 {
    @_noLocks get {
      guard liveVoiceCount == 0 else { return position }
      for index in 0..<playerCount {
        if players[index].value.phase.isPlaying {
          return position
        }
      }
      return schedule.nextFrame > position ? schedule.nextFrame : position
    }
  }

  /// Announces a rest, in which sent commands wake the driver, and takes what was sent before:
  /// [render thread].
  ///
  /// - Returns: `quietEnd`; at the position, there is no rest.
  @_noLocks public mutating func beginIdle() -> Int64 {
    sharedState.value.isIdle.store(true, ordering: .relaxed)
    // Either the sender sees the rest, or this thread what was sent.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    receiveCommands()
    return silentUntil
  }

  /// Ends a rest: [render thread].
  @_noLocks public func endIdle() { sharedState.value.isIdle.store(false, ordering: .relaxed) }

  /// Lets the frames of a rest go by; commands sent meanwhile are for what follows: [render
  /// thread].
  ///
  /// - Returns: `quietEnd`.
  @_noLocks public mutating func skipIdle(frameCount: Int) -> Int64 {
    skip(frameCount: frameCount, receivesCommands: false)
    receiveCommands()
    return silentUntil
  }
}

/// What a player mixes into, from one frame of the output on.
struct MixContext: BitwiseCopyable {
  let position: Int64
  let buses: Reference<BusSet>
  let crossfadeBuffer: Reference<CrossfadeBuffer>
  /// Whether samples are wanted at all.
  var isAudible: Bool
  let isStereo: Bool
  let playsHaptics, playsAudio: Bool
}

/// The gain of a bus over a sub-block: that of each frame, and that of all where it does not move.
struct BusGain: BitwiseCopyable {
  let frameGains: BufferView<Float>
  let constant: Float?
}
