internal import HapticModel
internal import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// Live sound for A/B comparison: two synchronized slots, one of them audible, whose patterns,
/// profile, and controls can change during playback.
///
/// A single thread calls all functions between the blocks of an audio worklet. Loading a plan
/// allocates memory for its voices and visits the events that may sound at its start.
final class LiveSound {
  static let blockLength = 4_096

  let rate: Double
  private var stage: LiveStage
  /// The stage of the previous profile, for the block in which it fades out.
  private var fadingStage: LiveStage?
  private var audibleSlot = 0
  private var isPlaying = false
  private var isLooping = true
  /// The frames of a pass. An end of 0 stands for the end of the longest pattern.
  private var loopRange: (start: Int64, end: Int64) = (0, 0)
  private var controls: [(id: DynamicParameterID, value: Double)] = [
    (.hapticIntensityControl, 1), (.hapticSharpnessControl, 0),
  ]
  private let block = FixedBuffer<Float>(repeating: 0, count: blockLength)
  private let fadeBlock = FixedBuffer<Float>(repeating: 0, count: blockLength)

  init(rate: Double) {
    self.rate = rate
    stage = LiveStage(profile: .phone, rate: rate)
  }

  /// The next frame of the audible pattern.
  var position: Int64 { stage.position(of: audibleSlot) }

  /// A Boolean value that indicates whether the audible pattern is playing.
  var isRunning: Bool { stage.players[audibleSlot]?.withStatus { $0.phase == .playing } ?? false }

  /// Loads a plan and plays it from the position of the previous one, with a crossfade.
  func load(_ slot: Int, _ plan: RenderPlan, profile: TransducerProfile) {
    let place = stage.players[slot] == nil ? position : stage.position(of: slot)
    if profile != stage.profile {
      let old = stage
      stage = LiveStage(profile: profile, rate: rate)
      for other in old.players.indices where other != slot {
        guard let plan = old.players[other]?.plan else { continue }
        stage.setPlan(plan, slot: other)
        if isPlaying {
          start(other, from: old.position(of: other))
        }
      }
      if isPlaying {
        fadingStage = old
      }
    }
    let replaces = stage.players[slot] != nil
    stage.setPlan(plan, slot: slot)
    guard isPlaying else { return }
    start(slot, from: place, fadesIn: replaces)
    // The end of the pass depends on the longest of all patterns.
    send { $0 == slot ? nil : loopCommand(of: $1) }
  }

  /// Plays both patterns from a frame, or stops them.
  func play(_ isPlaying: Bool, from frame: Int64) {
    self.isPlaying = isPlaying
    if !isPlaying { return send { .stop($1, at: 0) } }
    for slot in stage.players.indices {
      start(slot, from: frame)
    }
  }

  /// Sets the loop.
  ///
  /// - Parameters:
  ///   - isLooping: True to repeat, false to play to the end once.
  ///   - start: The first frame of a pass.
  ///   - end: The frame after the pass, or 0 for the end of the longest pattern.
  func setLoop(_ isLooping: Bool, from start: Int64, to end: Int64) {
    self.isLooping = isLooping
    loopRange = (max(0, start), max(0, end))
    send { loopCommand(of: $1) }
  }

  func setAudibleSlot(_ slot: Int) {
    audibleSlot = slot
    send { .gain($1, $0 == slot ? 1 : 0, at: 0) }
  }

  /// Sets a live control: 0 is intensity, 1 is sharpness.
  func setControl(_ index: Int, _ value: Double) {
    controls[index].value = value
    send { .control($1, controls[index].id, value: value, at: 0) }
  }

  private func loopCommand(of player: RenderPlayer) -> RenderCommand {
    let plans = stage.players.compactMap { $0?.plan }
    let end = loopRange.end > 0 ? loopRange.end : RenderPlan.commonLoopLength(of: plans)
    let entry = loopRange.start > 0 ? stage.makeCue(player, at: loopRange.start) : nil
    return .loop(player, passCount: isLooping ? nil : 1, from: entry, end: end, at: 0)
  }

  /// Sends a command to the player of each slot that has one.
  private func send(_ command: (Int, RenderPlayer) -> RenderCommand?) {
    for (slot, player) in stage.players.enumerated() {
      if let player, let command = command(slot, player) {
        stage.send([command])
      }
    }
  }

  /// Starts the player of a slot.
  ///
  /// - Parameters:
  ///   - slot: The slot.
  ///   - frame: The first frame.
  ///   - fadesIn: True to fade in, while the previous player fades out.
  private func start(_ slot: Int, from frame: Int64, fadesIn: Bool = false) {
    guard let player = stage.players[slot] else { return }
    var commands = [loopCommand(of: player)]
    for control in controls where control.value != Double(control.id.neutralValue) {
      commands.append(.control(player, control.id, value: control.value, at: 0))
    }
    let gain: Double = slot == audibleSlot ? 1 : 0
    commands.append(.gain(player, fadesIn ? 0 : gain, over: 0, at: 0))
    commands.append(.start(player, at: 0, from: frame > 0 ? stage.makeCue(player, at: frame) : nil))
    if fadesIn {
      commands.append(.gain(player, gain, over: stage.fadeLength, at: 0))
    }
    stage.send(commands)
  }

  /// Renders the next frames, at most `blockLength`, and returns their address.
  func render(_ count: Int) -> UnsafeMutablePointer<Float> {
    let count = min(max(0, count), Self.blockLength)
    stage.render(into: block, count)
    if let fadingStage {
      fadingStage.render(into: fadeBlock, count)
      for frame in 0..<count {
        let share = Float(frame + 1) / Float(count)
        block[frame] = fadeBlock[frame] + (block[frame] - fadeBlock[frame]) * share
      }
      self.fadingStage = nil
    }
    return unsafe block.address
  }
}

/// A renderer for the hardware of one profile, with a player for each slot.
private final class LiveStage {
  let profile: TransducerProfile
  private(set) var players: [RenderPlayer?] = [nil, nil]
  private let port = RendererPort(channelCount: 1)
  private var renderer: Renderer
  /// The players that the renderer may still read.
  private var retired: [RenderPlayer] = []
  private var cues: [SharedCuePoint] = []

  init(profile: TransducerProfile, rate: Double) {
    self.profile = profile
    let routing = OutputRouting().fitted(to: [profile])
    renderer = Renderer(
      rate: rate, settings: RenderSettings(routing: routing, passCount: nil), port: port)
  }

  func position(of slot: Int) -> Int64 {
    players[slot]?.withStatus { $0.position.load(ordering: .relaxed) } ?? 0
  }

  /// Sets the plan of a slot. The previous player fades out.
  func setPlan(_ plan: RenderPlan, slot: Int) {
    let player = RenderPlayer(plan: plan)
    retired.removeAll { $0.isReleased }
    send([.add(player)])
    if let old = players[slot] {
      send([.remove(old)])
      retired.append(old)
    }
    players[slot] = player
  }

  /// The number of frames in which a removed player fades out.
  var fadeLength: Int { renderer.fadeLength }

  func send(_ commands: [RenderCommand]) { _ = port.send(commands) }

  func makeCue(_ player: RenderPlayer, at frame: Int64) -> SharedCuePoint {
    cues.removeAll { $0.isReleased }
    let cue = SharedCuePoint(of: player.plan, at: frame)
    cues.append(cue)
    return cue
  }

  func render(into block: borrowing FixedBuffer<Float>, _ count: Int) {
    var frames = unsafe block.view.slice(from: 0, count: count).mutableSpan
    renderer.render(into: &frames)
  }
}
