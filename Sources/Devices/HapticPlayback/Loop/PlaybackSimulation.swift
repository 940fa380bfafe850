internal import HapticRender

/// A simulation that replaces a render loop, and advances the players of an engine without
/// rendering.
///
/// Players start, loop, and end in the same frames as in a render loop. The engine must have no
/// other driver and no live voices. A simulation is not thread-safe.
package final class PlaybackSimulation {
  private let engine: PlaybackEngine
  private var renderer: Renderer
  private var reportedPlayerChangeCount = 0

  /// Creates a simulation that starts at frame 0.
  package init(_ engine: PlaybackEngine) {
    self.engine = engine
    renderer = engine.makeRenderer(isGateOpen: true)
  }

  deinit { engine.markDriverEnded() }

  /// Advances the position of the engine, and updates the engine if players have changed.
  package func advance(frameCount: Int) {
    renderer.advance(frameCount: frameCount)
    let changeCount = engine.port.playerChangeCount
    if changeCount != reportedPlayerChangeCount {
      reportedPlayerChangeCount = changeCount
      engine.update()
    }
  }

  /// The earliest frame at which a player may end or begin a pass, or at which a command is due;
  /// nil if no change is expected. A frame in the past means that a change is due immediately.
  package var nextStateChangeFrame: Int64? {
    // Pending commands are received first.
    renderer.advance(frameCount: 0)
    let nextFrame = renderer.nextStateChangeFrame
    return nextFrame == .max ? nil : nextFrame
  }
}
