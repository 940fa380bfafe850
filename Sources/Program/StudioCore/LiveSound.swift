internal import HapticModel
internal import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// Live sound for an A/B comparison of two synchronized slots.
/// One slot is audible. Patterns, the profile, and controls can change during playback.
///
/// A single thread calls all functions between the blocks of an audio worklet. Loading a plan
/// allocates memory for its voices and visits the events that may sound at its start.
final class LiveSound {
  /// The maximum number of frames in a block.
  static let maximumBlockFrameCount = 4_096

  let sampleRateHertz: Double
  /// The renderer for the current profile, with its players.
  private var currentRenderer: LiveProfileRenderer
  /// The renderer for the previous profile, in the block in which it fades out; otherwise nil.
  private var fadingRenderer: LiveProfileRenderer?
  private var audibleSlot = 0
  private var isPlaying = false
  private var isLooping = true
  /// The range of frames of a loop pass. An end of 0 stands for the end of the longest pattern.
  private var loopFrameRange: (start: Int64, end: Int64) = (0, 0)
  private var controlValues: [(id: DynamicParameterID, value: Double)] = [
    (.hapticIntensityControl, 1), (.hapticSharpnessControl, 0),
  ]
  private let blockSamples = FixedBuffer<Float>(repeating: 0, count: maximumBlockFrameCount)
  private let fadeBlockSamples = FixedBuffer<Float>(repeating: 0, count: maximumBlockFrameCount)

  init(sampleRateHertz: Double) {
    self.sampleRateHertz = sampleRateHertz
    currentRenderer = LiveProfileRenderer(profile: .phone, rate: sampleRateHertz)
  }

  /// The next frame of the audible pattern.
  var positionFrame: Int64 { currentRenderer.positionFrame(of: audibleSlot) }

  /// A Boolean value that indicates whether the audible pattern is playing.
  var isAudiblePatternPlaying: Bool {
    currentRenderer.playersBySlot[audibleSlot]?.withStatus { $0.phase == .playing } ?? false
  }

  /// Loads a compiled plan and plays it from the current position of the previous plan, with a
  /// crossfade.
  func loadPlan(_ slot: Int, _ plan: RenderPlan, profile: TransducerProfile) {
    let startPosition =
      currentRenderer.playersBySlot[slot] == nil
      ? positionFrame : currentRenderer.positionFrame(of: slot)
    if profile != currentRenderer.profile {
      replaceRenderer(profile: profile, keepingPlansExcept: slot)
    }
    let replacesPlan = currentRenderer.playersBySlot[slot] != nil
    currentRenderer.setPlan(plan, slot: slot)
    guard isPlaying else { return }
    startPlayer(slot, fromFrame: startPosition, fadesIn: replacesPlan)
    // The end of the pass depends on the longest of all patterns.
    sendToPlayers { $0 == slot ? nil : loopCommand(of: $1) }
  }

  /// Creates a renderer for another profile, while the previous renderer fades out.
  private func replaceRenderer(profile: TransducerProfile, keepingPlansExcept replacedSlot: Int) {
    let oldRenderer = currentRenderer
    currentRenderer = LiveProfileRenderer(profile: profile, rate: sampleRateHertz)
    for slot in oldRenderer.playersBySlot.indices where slot != replacedSlot {
      guard let plan = oldRenderer.playersBySlot[slot]?.plan else { continue }
      currentRenderer.setPlan(plan, slot: slot)
      if isPlaying {
        startPlayer(slot, fromFrame: oldRenderer.positionFrame(of: slot))
      }
    }
    if isPlaying {
      fadingRenderer = oldRenderer
    }
  }

  /// Plays both patterns from a frame, or stops them.
  func setPlaying(_ isPlaying: Bool, fromFrame frame: Int64) {
    self.isPlaying = isPlaying
    guard isPlaying else {
      sendToPlayers { .stop($1, at: 0) }
      return
    }
    for slot in currentRenderer.playersBySlot.indices {
      startPlayer(slot, fromFrame: frame)
    }
  }

  /// Sets the loop range of both patterns, or turns looping off.
  ///
  /// - Parameters:
  ///   - isLooping: True to repeat, false to play to the end once.
  ///   - start: The first frame of a pass.
  ///   - end: The frame after the pass, or 0 for the end of the longest pattern.
  func setLoop(_ isLooping: Bool, fromFrame start: Int64, toFrame end: Int64) {
    self.isLooping = isLooping
    loopFrameRange = (max(0, start), max(0, end))
    sendToPlayers { loopCommand(of: $1) }
  }

  /// Selects the audible slot, with a crossfade.
  func setAudibleSlot(_ slot: Int) {
    audibleSlot = slot
    sendToPlayers { .gain($1, $0 == slot ? 1 : 0, at: 0) }
  }

  /// Sets a live control: control 0 for intensity, or control 1 for sharpness.
  func setControlValue(_ index: Int, _ value: Double) {
    controlValues[index].value = value
    sendToPlayers { .control($1, controlValues[index].id, value: value, at: 0) }
  }

  /// Returns the command that sets the loop range of a player.
  private func loopCommand(of player: RenderPlayer) -> RenderCommand {
    let loadedPlans = currentRenderer.playersBySlot.compactMap { $0?.plan }
    let loopEndFrame =
      loopFrameRange.end > 0 ? loopFrameRange.end : RenderPlan.commonLoopFrameCount(of: loadedPlans)
    let loopStartCue =
      loopFrameRange.start > 0
      ? currentRenderer.makeCuePoint(player, atFrame: loopFrameRange.start) : nil
    return .loop(
      player, passCount: isLooping ? nil : 1, from: loopStartCue, end: loopEndFrame, at: 0)
  }

  /// Sends the command that a closure returns to the player of each slot. The closure may return
  /// nil to send no command.
  private func sendToPlayers(_ command: (Int, RenderPlayer) -> RenderCommand?) {
    for (slot, player) in currentRenderer.playersBySlot.enumerated() {
      if let player, let command = command(slot, player) {
        currentRenderer.sendCommands([command])
      }
    }
  }

  /// Starts the player of a document slot.
  ///
  /// - Parameters:
  ///   - slot: The slot.
  ///   - frame: The first frame.
  ///   - fadesIn: True to fade in, while the previous player fades out.
  private func startPlayer(_ slot: Int, fromFrame frame: Int64, fadesIn: Bool = false) {
    guard let player = currentRenderer.playersBySlot[slot] else { return }
    var playerCommands = [loopCommand(of: player)]
    for control in controlValues where control.value != Double(control.id.neutralValue) {
      playerCommands.append(.control(player, control.id, value: control.value, at: 0))
    }
    let startGain: Double = slot == audibleSlot ? 1 : 0
    playerCommands.append(.gain(player, fadesIn ? 0 : startGain, over: 0, at: 0))
    let startCue = frame > 0 ? currentRenderer.makeCuePoint(player, atFrame: frame) : nil
    playerCommands.append(.start(player, at: 0, from: startCue))
    if fadesIn {
      playerCommands.append(.gain(player, startGain, over: currentRenderer.fadeFrameCount, at: 0))
    }
    currentRenderer.sendCommands(playerCommands)
  }

  /// Renders the next frames, at most `maximumBlockFrameCount`, and returns their address.
  func renderFrames(_ count: Int) -> UnsafeMutablePointer<Float> {
    let count = min(max(0, count), Self.maximumBlockFrameCount)
    currentRenderer.render(into: blockSamples, count)
    if let fadingRenderer {
      fadingRenderer.render(into: fadeBlockSamples, count)
      for frame in 0..<count {
        let weight = Float(frame + 1) / Float(count)
        blockSamples[frame] =
          fadeBlockSamples[frame] + (blockSamples[frame] - fadeBlockSamples[frame]) * weight
      }
      self.fadingRenderer = nil
    }
    return unsafe blockSamples.address
  }
}
