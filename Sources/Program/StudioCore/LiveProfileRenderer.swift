internal import HapticModel
internal import HapticRender
internal import RealtimeMemory
internal import Synchronization

/// A renderer for the hardware of a profile, with a player for each slot.
final class LiveProfileRenderer {
  let profile: TransducerProfile
  private(set) var playersBySlot: [RenderPlayer?] = [nil, nil]
  private let rendererPort = RendererPort(channelCount: 1)
  private var renderer: Renderer
  /// The replaced players that the renderer may still read.
  private var replacedPlayers: [RenderPlayer] = []
  /// The cue points that the renderer may still read.
  private var retainedCuePoints: [SharedCuePoint] = []

  init(profile: TransducerProfile, rate: Double) {
    self.profile = profile
    let routing = OutputRouting().assigningTransducers(of: [profile])
    renderer = Renderer(
      rate: rate, settings: RenderSettings(routing: routing, passCount: nil), port: rendererPort)
  }

  /// Returns the next frame of the pattern that the player of a slot will render.
  func positionFrame(of slot: Int) -> Int64 {
    playersBySlot[slot]?.withStatus { $0.patternFrame.load(ordering: .relaxed) } ?? 0
  }

  /// Sets the plan that a slot plays. The previous player of the slot fades out.
  func setPlan(_ plan: RenderPlan, slot: Int) {
    let player = RenderPlayer(plan: plan)
    replacedPlayers.removeAll { $0.isReleased }
    sendCommands([.add(player)])
    if let previousPlayer = playersBySlot[slot] {
      sendCommands([.remove(previousPlayer)])
      replacedPlayers.append(previousPlayer)
    }
    playersBySlot[slot] = player
  }

  /// The number of frames in which a removed player fades out.
  var fadeFrameCount: Int { renderer.fadeFrameCount }

  /// Sends commands to the renderer.
  func sendCommands(_ commands: [RenderCommand]) { _ = rendererPort.send(commands) }

  /// Creates a cue point for a player, and retains it while the renderer may use it.
  func makeCuePoint(_ player: RenderPlayer, atFrame frame: Int64) -> SharedCuePoint {
    retainedCuePoints.removeAll { $0.isReleased }
    let cuePoint = SharedCuePoint(of: player.plan, at: frame)
    retainedCuePoints.append(cuePoint)
    return cuePoint
  }

  /// Renders the first frames of a block.
  func render(into block: borrowing FixedBuffer<Float>, _ count: Int) {
    var frames = unsafe block.view.slice(from: 0, count: count).mutableSpan
    renderer.render(into: &frames)
  }
}
