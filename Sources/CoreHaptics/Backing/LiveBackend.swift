internal import Foundation
internal import HapticOutputs
internal import HapticPlayback
internal import HapticRender
internal import Synchronization

/// Outputs in real time.
final class LiveBackend: EngineBackend {
  /// Frames per second of outputs that have none of their own.
  private static let rate = 48_000
  /// Seconds between two looks for a device that was not there.
  private static let lookInterval = 1.0

  private let choice: OutputConfiguration
  private let outputs: OutputRegistry
  private let found = Mutex((isAvailable: false, lastLook: -Double.infinity))

  init(_ choice: OutputConfiguration, outputs: OutputRegistry = .standard) {
    self.choice = choice
    self.outputs = outputs
  }

  /// Whether the output can be opened; once it could, it is believed to be there.
  var isAvailable: Bool {
    guard choice.problem == nil, let output = choice.output else { return choice.problem == nil }
    return found.withLock { found in
      let now = ProcessInfo.processInfo.systemUptime
      if found.isAvailable || now - found.lastLook < Self.lookInterval { return found.isAvailable }
      found.lastLook = now
      found.isAvailable = outputs.isAvailable(output)
      return found.isAvailable
    }
  }

  func open(_ request: SessionRequest) throws -> any EngineSession {
    try choice.check()
    let profile = try choice.profile()
    do throws(OutputError) {
      let output = try outputs.open(
        choice.output ?? OutputName(scheme: NullOutput().scheme), OutputRequest(rate: Self.rate))
      return LiveEngineSession(output, profile, choice.strength, request)
    } catch {
      throw CHHapticError(
        error.kind == .notFound || error.kind == .serverUnavailable
          ? .notSupported : .serverInitFailed,
        "\(error.output): \(error.description)")
    }
  }

  func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: body)
  }
}

/// A sink that plays in real time.
private final class LiveEngineSession: EngineSession {
  let engine: PlaybackEngine
  private let playback: LivePlayback

  init(
    _ output: sending OpenedOutput, _ profile: TransducerProfile, _ strength: Float,
    _ request: SessionRequest
  ) {
    let (format, wantsRealTime) = (output.format, output.isHardware)
    engine = PlaybackEngine(
      rate: format.rate,
      routing: OutputRouting(channelCount: format.channelCount, buses: request.buses),
      profiles: [profile], strength: strength)
    let handler = request.eventHandler
    playback = LivePlayback(engine, sink: output.sink, wantsRealTime: wantsRealTime) { event in
      switch event {
      case .notice(let notice) where notice.kind == .lost: handler(.lost)
      case .notice(let notice) where notice.kind == .returned: handler(.returned)
      case .notice: break
      case .ended: handler(.ended)
      }
    }
  }

  func close() { playback.stop() }
}

extension SessionRequest {
  /// The buses that are heard.
  var buses: RenderSettings.Buses {
    if playsHapticsOnly == playsAudioOnly { return .all }
    return playsHapticsOnly ? .haptics : .audio
  }
}
