internal import Foundation
internal import Glibc
internal import HapticOutputs
internal import HapticPlayback
internal import HapticRender
internal import SoundFile
internal import Synchronization

/// Outputs in real time: an ALSA device, a sound file, or nothing.
final class LiveBackend: EngineBackend {
  /// Frames per second of outputs that have none of their own.
  private static let rate = 48_000
  /// Seconds between two looks for a device that was not there.
  private static let lookInterval = 1.0

  private let choice: OutputConfiguration
  private let found = Mutex((isAvailable: false, lastLook: -Double.infinity))
  private let fileCount = Mutex(0)

  init(_ choice: OutputConfiguration) { self.choice = choice }

  /// Whether the device can be opened; once it could, it is believed to be there.
  var isAvailable: Bool {
    guard case .alsa(let device) = choice.output else { return choice.problem == nil }
    return found.withLock { found in
      let now = ProcessInfo.processInfo.systemUptime
      if found.isAvailable || now - found.lastLook < Self.lookInterval { return found.isAvailable }
      found.lastLook = now
      found.isAvailable = (try? ALSASink(PCMRequest(device: device, rate: Self.rate))) != nil
      return found.isAvailable
    }
  }

  func open(_ request: SessionRequest) throws -> any EngineSession {
    try choice.check()
    let profile = try choice.profile()
    switch choice.output {
    case .alsa(let device):
      do {
        let sink = try ALSASink(PCMRequest(device: device, rate: Self.rate))
        let wantsRealTime = sink.isHardware
        return LiveEngineSession(
          sink, profile, choice.strength, wantsRealTime: wantsRealTime, request)
      } catch {
        throw CHHapticError(
          error.kind == .noSuchDevice || error.kind == .serverUnavailable
            ? .notSupported : .serverInitFailed,
          "\(error)")
      }
    case .file(let path):
      let (sink, descriptor) = try Self.file(numbered(path))
      return LiveEngineSession(
        sink, profile, choice.strength, wantsRealTime: false, request, descriptor: descriptor)
    case .null, .virtual:
      return LiveEngineSession(
        NullSink(Self.format), profile, choice.strength, wantsRealTime: false, request)
    }
  }

  func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: body)
  }

  private static let format = SinkFormat(
    rate: Double(rate), channelCount: 2, periodSize: 240, bufferSize: 960)

  /// Opens a sound file; the descriptor is closed after the sink has finished.
  private static func file(_ path: String) throws -> (sink: SoundFileSink, descriptor: Int32) {
    let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw CHHapticError(
        .serverInitFailed,
        "the file \(path) cannot be written; see TEMBLOR_OUTPUT")
    }
    do throws(SoundFileError) {
      let sink = try SoundFileSink(
        format, to: descriptor, path: path,
        storedAs: SoundFileFormat(container: .wav, samples: .s16))
      return (sink, descriptor)
    } catch {
      Glibc.close(descriptor)
      throw CHHapticError(
        .serverInitFailed, error.description)
    }
  }

  /// The file's name for the first session, and with a number for those that follow.
  private func numbered(_ path: String) -> String {
    let count = fileCount.withLock { count in
      count += 1
      return count
    }
    guard count > 1 else { return path }
    let url = URL(fileURLWithPath: path)
    let ending = url.pathExtension
    let stem = url.deletingPathExtension().path
    return ending.isEmpty ? "\(stem)-\(count)" : "\(stem)-\(count).\(ending)"
  }
}

/// A sink that plays in real time.
private final class LiveEngineSession: EngineSession {
  let engine: PlaybackEngine
  private let playback: LivePlayback
  private let descriptor: Mutex<Int32>

  init(
    _ sink: sending any AudioSink, _ profile: TransducerProfile, _ strength: Float,
    wantsRealTime: Bool, _ request: SessionRequest, descriptor: Int32 = -1
  ) {
    self.descriptor = Mutex(descriptor)
    engine = PlaybackEngine(
      rate: sink.format.rate,
      routing: OutputRouting(channelCount: sink.format.channelCount, buses: request.buses),
      profiles: [profile], strength: strength)
    let handler = request.eventHandler
    playback = LivePlayback(engine, sink: sink, wantsRealTime: wantsRealTime) { event in
      switch event {
      case .notice(let notice) where notice.kind == .lost: handler(.lost)
      case .notice(let notice) where notice.kind == .returned: handler(.returned)
      case .notice: break
      case .ended: handler(.ended)
      }
    }
  }

  func close() {
    playback.stop()
    descriptor.withLock { descriptor in
      if descriptor >= 0 { Glibc.close(descriptor) }
      descriptor = -1
    }
  }
}

extension SessionRequest {
  /// The buses that are heard.
  var buses: RenderSettings.Buses {
    if playsHapticsOnly == playsAudioOnly { return .all }
    return playsHapticsOnly ? .haptics : .audio
  }
}
