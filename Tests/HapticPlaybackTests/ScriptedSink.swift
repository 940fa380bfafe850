import HapticPlayback

/// A sink that answers as a script says, and then with room; keeps what it is given.
final class ScriptedSink: AudioSink {
  let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 64, bufferSize: 256)
  var script: [SinkReadiness]
  var notices: [SinkEvent] = []
  /// What was heard: silence where time was missed.
  private(set) var samples: [Float] = []
  private(set) var isFinished = false

  init(_ script: [SinkReadiness] = []) { self.script = script }

  var delay: Int { 64 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = script.isEmpty ? .room(frameCount: 64) : script.removeFirst()
    if case .missed(let frameCount) = readiness {
      samples += Array(repeating: 0, count: frameCount)
    }
    return readiness
  }

  func write(_ frames: Span<Float>) {
    for index in frames.indices { samples.append(frames[index]) }
  }

  func finish(draining: Bool) { isFinished = true }

  func takeEvents() -> [SinkEvent] {
    let taken = notices
    notices.removeAll()
    return taken
  }
}
