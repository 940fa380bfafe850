internal import RealtimeMemory
internal import Synchronization

/// A renderer, which mixes players into the channels of an output, block by block.
///
/// Files and devices use the same renderer. In each sub-block, it performs due commands, mixes the
/// voices of all players into the buses, mixes the buses for each distinct channel, and processes
/// each mix by an output chain. The output doesn't depend on the block size. It lags by
/// `latencyFrameCount` frames, the look-ahead of the limiter and of the protection of hardware. All
/// memory is allocated at creation.
public struct Renderer: ~Copyable {
  /// The maximum number of players.
  public static let maximumPlayerCount = 1_024

  /// The look-ahead of the limiter, in seconds. It delays the output by this time, rounded to whole
  /// frames.
  public static let lookaheadSeconds = Limiter.lookaheadSeconds

  /// The maximum magnitude of a rendered sample: −1 dBFS, minus a 16-bit step for dither.
  public static var outputCeilingMagnitude: Double { @_noLocks get { 0.891 } }

  /// The maximum sample magnitude that doesn't activate the limiter. It is just below the ceiling.
  public static let limiterThresholdMagnitude = 0.89

  /// The settings of the renderer.
  public let settings: RenderSettings
  /// The number of interleaved channels.
  public let channelCount: Int
  /// The statistics of the rendering so far.
  public private(set) var statistics = RenderStatistics()

  /// The maximum number of frames in a sub-block, into which larger blocks are divided.
  static var subBlockFrameCount: Int { @_noLocks get { 512 } }

  /// The maximum number of frames in a skipped sub-block in which no voice starts.
  private static var skippedSubBlockFrameCount: Int { @_noLocks get { 65_536 } }

  /// The state shared with the control side, owned by `port`.
  ///
  /// It is accessed by pointer to avoid reference counting.
  let sharedState: Reference<RendererPort.SharedState>
  let players: FixedBuffer<Reference<Player>>
  var playerCount = 0
  private let liveVoices: FixedBuffer<Reference<LiveVoiceState>>
  private var liveVoiceCount = 0
  var commandSchedule: CommandSchedule
  private let buses: Cell<BusSet>
  private let crossfadeBuffer: Cell<CrossfadeBuffer>
  var masterGain: GainRamp
  var hapticGain = GainRamp(1)
  var audioGain = GainRamp(1)
  private var isSkipping = false
  private let hasStereoAudio: Bool
  private(set) var outputFrame: Int64 = 0
  private var outputGate: GainRamp
  /// The number of frames to render after a skip.
  ///
  /// The frames fill the limiters and the channels' delay lines.
  private let framesToRenderAfterSkip: Int
  private let masterFrameGains = FixedBuffer<Float>(repeating: 0, count: subBlockFrameCount)
  private let hapticGains = FixedBuffer<Float>(repeating: 0, count: subBlockFrameCount)
  private let audioGains = FixedBuffer<Float>(repeating: 0, count: subBlockFrameCount)
  /// The constant gains in the haptic and audio gain buffers, or nil for changing gains.
  private var constantGains: (haptics: Float?, audio: Float?) = (nil, nil)
  private let outputMixes: FixedBuffer<OutputMix>
  private let outputChannels: FixedBuffer<OutputChannel>
  private let port: RendererPort
  /// The players that the renderer created for its plans; empty if players arrive through the port.
  private let ownedPlayers: [RenderPlayer]
  /// The start cue points of later passes of the owned players.
  ///
  /// An empty array lets passes start at the beginning.
  private var ownedLoopCues: [SharedCuePoint] = []

  /// Creates a renderer for a plan.
  ///
  /// It allocates about 250 bytes for each simultaneous voice.
  public init(plan: RenderPlan, settings: RenderSettings = RenderSettings()) {
    self.init(plans: [plan], settings: settings)
  }

  /// Creates a renderer for several plans of one pattern in sync, each on its own haptic bus.
  ///
  /// - Parameters:
  ///   - plans: The plan of each haptic bus, at least one, of the same pattern and sample rate. The
  ///     first provides the audio.
  ///   - sendGains: The send gain of each bus; missing gains are 1.
  ///   - settings: The routing, the level, and the length.
  public init(
    plans: [RenderPlan], sendGains: [SendAutomation] = [],
    settings: RenderSettings = RenderSettings()
  ) {
    precondition(!plans.isEmpty, "a plan to render")
    let ownedPlayers = plans.enumerated().map { bus, plan in
      RenderPlayer(
        plan: plan, hapticBus: plan.hasHaptics ? bus : nil, rendersAudio: bus == 0 && plan.hasAudio,
        sendGain: bus < sendGains.count ? sendGains[bus] : nil,
        voiceCapacity: plan.voiceCapacity(passCount: settings.passCount),
        recordsChanges: false)
    }
    let port = RendererPort(channelCount: settings.routing.channels.count)
    self.init(rate: plans[0].rate, settings: settings, port: port, ownedPlayers: ownedPlayers)
    let loopRange = plans[0].loopRange
    if let loopRange, loopRange.lowerBound > 0, settings.passCount != 1 {
      ownedLoopCues = plans.map { SharedCuePoint(of: $0, at: loopRange.lowerBound) }
    }
    for (index, ownedPlayer) in ownedPlayers.enumerated() {
      ownedPlayer.playerCell.value.passCount = max(1, settings.passCount ?? .max)
      ownedPlayer.playerCell.value.loopEndFrame =
        loopRange?.upperBound ?? RenderPlan.commonLoopFrameCount(of: plans)
      if !ownedLoopCues.isEmpty {
        ownedPlayer.playerCell.value.loopStartCue = ownedLoopCues[index].cueReference
      }
    }
    _ = port.send(ownedPlayers.flatMap { [.add($0), .start($0, at: 0)] })
  }

  /// Creates a renderer that plays the players it receives through a port.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - settings: The routing, the level, and the length.
  ///   - port: The port through which the control side sends players and commands.
  ///   - isGateOpen: Whether the output gate is open from the first frame.
  public init(
    rate: Double, settings: RenderSettings, port: RendererPort, isGateOpen: Bool = true
  ) {
    self.init(rate: rate, settings: settings, port: port, ownedPlayers: [])
    if !isGateOpen {
      outputGate = GainRamp(0)
    }
  }

  private init(
    rate: Double, settings: RenderSettings, port: RendererPort, ownedPlayers: [RenderPlayer]
  ) {
    self.settings = settings
    self.ownedPlayers = ownedPlayers
    self.port = port
    unsafe self.sharedState = port.sharedState.reference
    hasStereoAudio = settings.routing.isStereo
    let ownedPlayerCount = ownedPlayers.count
    unsafe players = FixedBuffer(
      uninitialized: ownedPlayers.isEmpty ? Self.maximumPlayerCount : ownedPlayerCount)
    unsafe liveVoices = FixedBuffer(uninitialized: LiveVoice.maximumCountPerRenderer)
    let portCommandCapacity =
      RendererPort.maximumScheduledCommandCount + RendererPort.commandCapacity
    commandSchedule = CommandSchedule(
      capacity: ownedPlayers.isEmpty ? portCommandCapacity : 2 * ownedPlayerCount)
    buses = Cell(
      BusSet(
        hapticBusCount: settings.routing.hapticBusCount, capacityFrameCount: Self.subBlockFrameCount
      ))
    crossfadeBuffer = Cell(CrossfadeBuffer(rate: rate, subBlockLength: Self.subBlockFrameCount))
    masterGain = GainRamp(settings.masterGain)
    outputGate = GainRamp(1)
    let mixRouting = MixRouting(
      settings.routing.channels, hasAudio: ownedPlayers.first?.plan.hasAudio ?? true)
    let routedMixes = mixRouting.outputMixes(
      rate: rate, temperatureRises: port.temperatureRises, isRaw: settings.bypassesOutputProcessing)
    let mixLatencyFrameCounts = (0..<routedMixes.count).map { routedMixes[$0].latencyFrameCount }
    let maximumLatencyFrames = mixLatencyFrameCounts.max() ?? 0
    latencyFrameCount = maximumLatencyFrames
    channelCount = mixRouting.channels.count
    self.outputMixes = routedMixes
    let maximumDelayFrames = mixRouting.channels.map { $0.delayFrameCount }.max() ?? 0
    framesToRenderAfterSkip = maximumLatencyFrames + maximumDelayFrames + Self.subBlockFrameCount
    outputChannels = FixedBuffer(count: mixRouting.channels.count) { index in
      let mixIndex = mixRouting.mixIndices[index]
      return OutputChannel(
        mixRouting.channels[index], mixIndex: mixIndex,
        padding: maximumLatencyFrames - mixLatencyFrameCounts[mixIndex])
    }
  }

  /// The latency of the output, in frames, not including the delays of individual channels.
  public let latencyFrameCount: Int

  /// The buses, buffers, and flags for mixing the next sub-block.
  var mixContext: MixContext {
    @_noLocks get {
      unsafe MixContext(
        outputFrame: outputFrame, buses: buses.reference,
        crossfadeBuffer: crossfadeBuffer.reference,
        isAudible: !isSkipping,
        hasStereoAudio: hasStereoAudio, playsHaptics: !hapticGain.endsInSilence,
        playsAudio: !audioGain.endsInSilence)
    }
  }

  /// The length, in frames, of the output gate's ramps and of the players' fades.
  public var fadeFrameCount: Int { @_noLocks get { crossfadeBuffer.value.fadeFrameCount } }

  /// Renders the next frames, interleaved. Only the render thread may call this method.
  ///
  /// Frames after `settings.outputFrameCount` are silent. No sample exceeds −1 dBFS.
  ///
  /// - Parameter block: The samples to overwrite, a whole number of frames.
  /// - Note: Doesn't allocate or wait. A sine takes about 0.3 ns per frame.
  @_noLocks public mutating func render(into block: inout MutableSpan<Float>) {
    let frameCount = block.count / channelCount
    receiveCommands()
    var renderedFrameCount = 0
    while renderedFrameCount < frameCount {
      let count = beginSubBlock(maximumCount: frameCount &- renderedFrameCount)
      mixPlayers(frameCount: count)
      interleave(count: count, to: &block, at: renderedFrameCount)
      outputFrame &+= Int64(count)
      renderedFrameCount &+= count
    }
    statistics.frameCount &+= Int64(frameCount)
    publishState()
  }

  /// Skips a number of frames faster than rendering them. Only the render thread may call this
  /// method.
  ///
  /// The last of these frames are rendered and discarded, so that the delay lines contain their
  /// signal.
  ///
  /// - Parameters:
  ///   - frameCount: The number of frames.
  ///   - receivesCommands: Whether commands that were sent apply to these frames.
  @_noLocks public mutating func skip(frameCount: Int, receivesCommands: Bool = true) {
    if receivesCommands {
      receiveCommands()
    }
    let mixedFrameCount = min(frameCount, framesToRenderAfterSkip)
    if frameCount > mixedFrameCount {
      isSkipping = true
      skipSubBlocks(frameCount: frameCount &- mixedFrameCount)
      isSkipping = false
      reset()
    }
    var remainingFrameCount = mixedFrameCount
    while remainingFrameCount > 0 {
      let count = beginSubBlock(maximumCount: remainingFrameCount)
      mixPlayers(frameCount: count)
      discardOutput(frameCount: count)
      outputFrame &+= Int64(count)
      remainingFrameCount &-= count
    }
    publishState()
  }

  /// Advances the players without producing any output, as an alternative to rendering. Only the
  /// render thread may call this method.
  ///
  /// Players start, loop, and end in the same frames as in a rendering. A renderer that advances
  /// must not render, and must have no live voices.
  @_noLocks package mutating func advance(frameCount: Int) {
    isSkipping = true
    receiveCommands()
    skipSubBlocks(frameCount: frameCount)
    publishState()
  }

  /// Advances the players and the gains through skipped frames.
  @_noLocks private mutating func skipSubBlocks(frameCount: Int) {
    var remainingFrameCount = frameCount
    while remainingFrameCount > 0 {
      let count = beginSubBlock(maximumCount: remainingFrameCount)
      mixPlayers(frameCount: count)
      masterGain.advance(by: count)
      hapticGain.advance(by: count)
      audioGain.advance(by: count)
      outputFrame &+= Int64(count)
      remainingFrameCount &-= count
    }
  }

  /// The earliest output frame of a possible change of state.
  ///
  /// At this frame, a player may end or start a pass, or a received command is due. The value is
  /// the maximum frame if there is no such frame. Only the render thread may read it.
  ///
  /// Voices with a received release may sound, and delay the end of their player, after this frame.
  package var nextStateChangeFrame: Int64 {
    @_noLocks get {
      var next = commandSchedule.nextCommandFrame
      for index in 0..<playerCount {
        next = min(next, players[index].value.nextPassBoundaryFrame)
      }
      return next
    }
  }

  /// Opens or closes the output gate, which follows the limiter, with a ramp. Only the render
  /// thread may call this method.
  ///
  /// A gate that is closed before a stop and opened after a start prevents clicks.
  ///
  /// - Parameters:
  ///   - gain: The gain at the end of the ramp: 0 to close the gate, or 1 to open it.
  ///   - frameCount: The length of the ramp, or nil for the length of a fade.
  @_noLocks public mutating func moveGate(to gain: Float, over frameCount: Int? = nil) {
    outputGate.move(to: gain, over: frameCount ?? crossfadeBuffer.value.fadeFrameCount)
  }

  /// Closes the output gate immediately, because the device has already stopped. Only the render
  /// thread may call this method.
  @_noLocks public mutating func closeGate() { outputGate.move(to: 0, over: 0) }

  /// Performs due commands and returns the length of the next sub-block.
  ///
  /// A sub-block ends at the next command, at a loop jump, and at the end of a gain ramp, so that
  /// the output doesn't depend on the block size.
  @_noLocks private mutating func beginSubBlock(maximumCount: Int) -> Int {
    performDueCommands()
    let allowsLongSubBlock = isSkipping && liveVoiceCount == 0
    let maximumSubBlockFrames =
      allowsLongSubBlock ? Self.skippedSubBlockFrameCount : Self.subBlockFrameCount
    var subBlockEndFrame = outputFrame &+ Int64(min(maximumSubBlockFrames, maximumCount))
    for index in 0..<playerCount {
      let player = players[index]
      var loopJump = player.value.nextLoopJumpFrame
      while loopJump <= outputFrame {
        player.value.jumpToLoopStart(in: mixContext)
        loopJump = player.value.nextLoopJumpFrame
      }
      if loopJump < subBlockEndFrame {
        subBlockEndFrame = loopJump
      }
      if allowsLongSubBlock {
        // All voices of a sub-block start before any of them ends, and the memory for voices
        // suffices for a short sub-block.
        let shortEnd = outputFrame &+ Int64(Self.subBlockFrameCount)
        subBlockEndFrame = min(subBlockEndFrame, max(player.value.nextVoiceStartFrame, shortEnd))
      }
      // A player uses the crossfade buffer exactly while its gain changes.
      shortenSubBlock(&subBlockEndFrame, toRampOf: player.value.playerGain)
      shortenSubBlock(&subBlockEndFrame, toRampOf: player.value.sendGain)
    }
    if commandSchedule.nextCommandFrame < subBlockEndFrame {
      subBlockEndFrame = commandSchedule.nextCommandFrame
    }
    return Int(subBlockEndFrame &- outputFrame)
  }

  @_noLocks @inline(__always) private func shortenSubBlock(
    _ end: inout Int64, toRampOf gain: GainRamp
  ) {
    let rampFrameCount = gain.remainingFrameCount
    if rampFrameCount > 0, outputFrame &+ Int64(rampFrameCount) < end {
      end = outputFrame &+ Int64(rampFrameCount)
    }
  }

  /// Mixes a sub-block of all players into the buses, and processes each distinct output mix.
  @_noLocks private mutating func mixPlayers(frameCount count: Int) {
    // Skipped sub-blocks may be longer than the buses.
    if !isSkipping || liveVoiceCount > 0 {
      buses.value.beginBlock(at: outputFrame, count: count)
    }
    let context = self.mixContext
    var voiceCount = 0
    for index in 0..<playerCount {
      let player = players[index]
      if player.value.mix(frameCount: count, in: context) {
        countPlayerChange()
      }
      voiceCount &+= player.value.activeVoiceCount
    }
    mixLiveVoices(frameCount: count)
    if voiceCount > statistics.peakVoiceCount {
      statistics.peakVoiceCount = voiceCount
    }
    statistics.latestVoiceCount = voiceCount
    guard !isSkipping else { return }
    let busGains = fillBusGains(frameCount: count)
    var updatedStatistics = self.statistics
    let previousMinimumGain = updatedStatistics.minimumProtectionGain
    updatedStatistics.minimumProtectionGain = 1
    for index in 0..<outputMixes.count {
      outputMixes[index].process(
        buses.value, hapticGains: busGains.haptics, audioGains: busGains.audio, count: count,
        statistics: &updatedStatistics)
    }
    sharedState.value.lowerProtectionGain(to: updatedStatistics.minimumProtectionGain)
    if previousMinimumGain < updatedStatistics.minimumProtectionGain {
      updatedStatistics.minimumProtectionGain = previousMinimumGain
    }
    self.statistics = updatedStatistics
  }

  /// Mixes the live voices and releases those that have faded out.
  @_noLocks private mutating func mixLiveVoices(frameCount count: Int) {
    var keptVoiceCount = 0
    for index in 0..<liveVoiceCount {
      let voice = liveVoices[index]
      if unsafe voice.value.mix(count: count, into: buses.reference) {
        liveVoices[keptVoiceCount] = voice
        keptVoiceCount &+= 1
      } else {
        voice.value.isReleased.store(true, ordering: .releasing)
        countPlayerChange()
      }
    }
    liveVoiceCount = keptVoiceCount
  }

  /// Fills the buffers of haptic and audio gains for a sub-block.
  @_noLocks private mutating func fillBusGains(frameCount count: Int) -> (
    haptics: BusGain, audio: BusGain
  ) {
    var constantHapticGain: Float?
    var constantAudioGain: Float?
    if masterGain.isSettled, hapticGain.isSettled, audioGain.isSettled {
      constantHapticGain = masterGain.currentGain * hapticGain.currentGain
      constantAudioGain = masterGain.currentGain * audioGain.currentGain
      // The buffers already contain these gains if a sub-block was filled with them.
      if constantHapticGain != constantGains.haptics || constantAudioGain != constantGains.audio {
        unsafe hapticGains.address.update(
          repeating: constantHapticGain ?? 0, count: hapticGains.count)
        unsafe audioGains.address.update(repeating: constantAudioGain ?? 0, count: audioGains.count)
      }
      constantGains = (constantHapticGain, constantAudioGain)
    } else {
      constantGains = (nil, nil)
      fillMovingBusGains(frameCount: count)
    }
    return unsafe (
      BusGain(frameGains: hapticGains.view, constantGain: constantHapticGain),
      BusGain(frameGains: audioGains.view, constantGain: constantAudioGain)
    )
  }

  @_noLocks private mutating func fillMovingBusGains(frameCount count: Int) {
    unsafe masterGain.write(to: masterFrameGains.view, frameCount: count)
    for index in 0..<count {
      let gain = masterFrameGains[index]
      hapticGains[index] = gain * hapticGain.advanceOneFrame()
      audioGains[index] = gain * audioGain.advanceOneFrame()
    }
  }

  /// Writes the output mixes to the channels of a block.
  ///
  /// Applies the output gate and the final fade-out.
  @_noLocks private mutating func interleave(
    count: Int, to block: inout MutableSpan<Float>, at start: Int
  ) {
    let firstOutputFrame = outputFrame &- Int64(latencyFrameCount)
    let isFading = !outputGate.isUnity || fadeGain(at: firstOutputFrame &+ Int64(count)) < 1
    if isFading {
      unsafe outputGate.write(to: masterFrameGains.view, frameCount: count)
      for index in 0..<count {
        masterFrameGains[index] =
          masterFrameGains[index] * fadeGain(at: firstOutputFrame &+ Int64(index))
      }
    }
    for channel in 0..<channelCount {
      let mixIndex = outputChannels[channel].mixIndex
      let output = outputMixes[mixIndex].outputSamples
      unsafe outputChannels[channel].write(
        output, gains: isFading ? masterFrameGains.view : nil, count: count, to: &block,
        at: start &* channelCount &+ channel, stride: channelCount)
    }
  }

  /// Advances the channels' delay lines without writing any output.
  @_noLocks private mutating func discardOutput(frameCount count: Int) {
    var unusedBlock = masterFrameGains.mutableSpan
    for channel in 0..<outputChannels.count {
      let mixIndex = outputChannels[channel].mixIndex
      let output = outputMixes[mixIndex].outputSamples
      outputChannels[channel].write(
        output, gains: nil, count: count, to: &unusedBlock, at: 0, stride: 1)
    }
  }

  /// Returns the gain of the final fade-out at a frame: 1 before the fade, then linear to 0 at the
  /// last frame.
  @_noLocks private func fadeGain(at frame: Int64) -> Float {
    guard let outputLength = settings.outputFrameCount else { return 1 }
    let remainingFrameCount = outputLength &- 1 &- frame
    if remainingFrameCount >= settings.fadeOutFrameCount { return 1 }
    return remainingFrameCount <= 0
      ? 0 : Float(remainingFrameCount) / Float(settings.fadeOutFrameCount)
  }

  @_noLocks private mutating func reset() {
    buses.value.reset()
    for index in 0..<outputMixes.count {
      outputMixes[index].reset()
    }
    for index in 0..<outputChannels.count {
      outputChannels[index].reset()
    }
  }

  /// Publishes the position, the statistics, and the peaks to the control side.
  @_noLocks private mutating func publishState() {
    sharedState.value.renderedFrameCount.store(outputFrame, ordering: .releasing)
    sharedState.value.voiceCount.store(statistics.latestVoiceCount, ordering: .relaxed)
    sharedState.value.limitedFrameCount.store(statistics.limitedFrameCount, ordering: .relaxed)
    sharedState.value.nonFiniteSampleCount.store(
      statistics.nonFiniteSampleCount, ordering: .relaxed)
    sharedState.value.excursionLimitedFrameCount.store(
      statistics.excursionLimitedFrameCount, ordering: .relaxed)
    sharedState.value.powerLimitedFrameCount.store(
      statistics.powerLimitedFrameCount, ordering: .relaxed)
    sharedState.value.peakExcursionBits.store(
      statistics.peakExcursionFraction.bitPattern, ordering: .relaxed)
    for index in 0..<outputChannels.count {
      let mixIndex = outputChannels[index].mixIndex
      sharedState.value.thermalStates[index].store(
        outputMixes[mixIndex].temperatureRise.bitPattern, ordering: .relaxed)
      sharedState.value.raisePeak(of: index, to: outputChannels[index].drainPeak())
    }
  }

  /// Receives the sent commands, and performs those without a later scheduled frame.
  @_noLocks mutating func receiveCommands() {
    var command = RenderCommand(.noOperation, at: 0)
    while commandSchedule.hasFreeCapacity, sharedState.value.commandQueue.pop(&command) {
      switch command.change {
      case .player(let player, .cancel), .player(let player, .remove):
        // These commands precede waiting commands, because the player ends here.
        commandSchedule.removeCommands(for: player)
        performChange(command.change)
      case .player(_, .add), .attach, .detach:
        performChange(command.change)
      case .noOperation, .gain, .player:
        if command.outputFrame < outputFrame {
          command.outputFrame = outputFrame
        }
        commandSchedule.insert(command)
      }
    }
  }

  /// Performs the commands that are due at the current frame.
  @_noLocks mutating func performDueCommands() {
    while commandSchedule.nextCommandFrame <= outputFrame {
      let command = commandSchedule.popFirst()
      performChange(command.change)
    }
  }

  @_noLocks private mutating func performChange(_ change: RenderCommand.Change) {
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
      performPlayerAction(change, on: player)
      player.value.recordCommandCompletion()
      player.value.changes.value.recordChange(of: player.value, at: outputFrame, in: mixContext)
    }
    if case .gain = change {
      for index in 0..<playerCount {
        players[index].value.changes.value.recordChange(
          of: players[index].value, at: outputFrame, in: mixContext)
      }
    }
    countPlayerChange()
    _ = sharedState.value.completedCommandCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func performPlayerAction(
    _ change: RenderCommand.PlayerAction, on reference: Reference<Player>
  ) {
    switch change {
    case .add:
      // A player that exceeds the maximum is never audible.
      guard playerCount < players.count else { return }
      players[playerCount] = reference
      playerCount &+= 1
    case .cancel, .stop, .remove:
      stop(reference)
    case .start(let cue):
      reference.value.start(from: cue, in: mixContext)
      countPlayerChange()
    case .pause:
      reference.value.pause(in: mixContext)
    case .resume:
      reference.value.resume(in: mixContext)
    case .seek(let cue):
      if reference.value.seek(to: cue, in: mixContext) {
        countPlayerChange()
      }
    case .loop(let passCount, let cue, let loopEndFrame):
      reference.value.setLoop(passCount: passCount, end: loopEndFrame, cue: cue, at: outputFrame)
    case .playbackRate(let rate):
      reference.value.setPlaybackRate(rate, at: outputFrame)
    case .gain(let gain, let frameCount):
      // A silent player needs no ramp, and starts at its gain.
      var length = reference.value.phase.isIdle ? 0 : fadeFrameCount
      if let frameCount {
        length = frameCount
      }
      reference.value.playerGain.move(to: gain, over: length)
    case .sendGain(let gain, let frameCount, let serial):
      reference.value.moveSendGain(to: gain, over: frameCount, requestSerialNumber: serial)
    case .envelopeTime(let id, let value, let slope):
      reference.value.setEnvelopeTime(id, value: value, slope: slope, at: outputFrame)
    case .control(let id, let value, let slope):
      reference.value.setControl(id, value: value, slope: slope, at: outputFrame)
    }
  }

  @_noLocks private mutating func stop(_ reference: Reference<Player>) {
    if reference.value.stop(in: mixContext) {
      countPlayerChange()
    }
  }

  /// Releases a player. The other players keep their order, so that the rounding of their sum
  /// doesn't change.
  @_noLocks private mutating func remove(_ player: Reference<Player>) {
    var keptPlayerCount = 0
    for index in 0..<playerCount {
      if !players[index].isIdentical(to: player) {
        players[keptPlayerCount] = players[index]
        keptPlayerCount &+= 1
      }
    }
    playerCount = keptPlayerCount
    player.value.startCue?.release()
    player.value.loopStartCue?.release()
    player.value.startCue = nil
    player.value.loopStartCue = nil
    // The control side may free the player from here on.
    player.value.sharedStatus.value.isReleased.store(true, ordering: .releasing)
  }

  /// Notifies the control side that the state of a player has changed.
  @_noLocks func countPlayerChange() {
    _ = sharedState.value.playerChangeCount.wrappingAdd(1, ordering: .releasing)
  }

  /// The end of the current silence, as an output frame.
  ///
  /// Nothing plays until this frame unless commands are sent. The value is the current frame if a
  /// player or live voice is playing. Only the render thread may read it.
  ///
  /// Fades and the content of the output chains are ignored.
  public var silenceEndFrame: Int64 {
    @_noLocks get {
      guard liveVoiceCount == 0 else { return outputFrame }
      for index in 0..<playerCount {
        if players[index].value.phase.isPlaying {
          return outputFrame
        }
      }
      return commandSchedule.nextCommandFrame > outputFrame
        ? commandSchedule.nextCommandFrame : outputFrame
    }
  }

  /// Begins an idle interval, and receives the commands sent before it.
  ///
  /// During the interval, sent commands wake the driver. Only the render thread may call this
  /// method.
  ///
  /// - Returns: `silenceEndFrame`; if it is the current position, the renderer isn't idle.
  @_noLocks public mutating func beginIdle() -> Int64 {
    sharedState.value.isIdle.store(true, ordering: .relaxed)
    // Either the sender sees the idle state, or this thread sees the commands.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    receiveCommands()
    return silenceEndFrame
  }

  /// Ends an idle interval. Only the render thread may call this method.
  @_noLocks public func endIdle() { sharedState.value.isIdle.store(false, ordering: .relaxed) }

  /// Skips the frames of an idle interval. Commands sent meanwhile apply afterward. Only the render
  /// thread may call this method.
  ///
  /// - Returns: `silenceEndFrame`.
  @_noLocks public mutating func skipIdle(frameCount: Int) -> Int64 {
    skip(frameCount: frameCount, receivesCommands: false)
    receiveCommands()
    return silenceEndFrame
  }
}

/// The buses, buffers, and flags for mixing players from an output frame on.
struct MixContext: BitwiseCopyable {
  let outputFrame: Int64
  let buses: Reference<BusSet>
  let crossfadeBuffer: Reference<CrossfadeBuffer>
  /// A Boolean value that indicates whether the output is rendered rather than skipped.
  var isAudible: Bool
  let hasStereoAudio: Bool
  /// A Boolean value that indicates whether haptics are audible, that is, not muted.
  let playsHaptics: Bool
  /// A Boolean value that indicates whether audio is audible, that is, not muted.
  let playsAudio: Bool
}

/// The gain of a bus at every frame of a sub-block.
struct BusGain: BitwiseCopyable {
  /// The gain of the bus at each frame of the sub-block.
  let frameGains: BufferView<Float>
  /// The gain of all frames of the sub-block, or nil if the gain changes within it.
  let constantGain: Float?
}
