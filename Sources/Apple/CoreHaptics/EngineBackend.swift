internal import AVFAudio
internal import Foundation
internal import Reading
internal import Synchronization
package import HapticPlayback
package import HapticRender
#if SoundOutput
  internal import HapticOutputs
  internal import TransducerProfiles
#endif

/// A backend of engines, which provides their output and its clock.
package protocol EngineBackend: AnyObject, Sendable {
  var isOutputAvailable: Bool { get }

  func openSession(_ request: SessionRequest) throws -> any EngineSession

  /// Calls a closure once after a delay in seconds of the backend's time, on any thread.
  func schedule(after seconds: Double, _ body: @escaping @Sendable () -> Void)
}

/// The parameters of an engine's request for a session.
package struct SessionRequest: Sendable {
  package var audibleBuses: RenderSettings.AudibleBuses
  /// A handler that is called when the output device is lost or returns, on any thread.
  ///
  /// The argument is false if the device was lost or the output has ended, and true if the device
  /// has returned.
  package var devicePresenceHandler: @Sendable (Bool) -> Void
}

/// A session of an engine: an open output with the playback engine that plays to it.
package protocol EngineSession: AnyObject, Sendable {
  var playbackEngine: PlaybackEngine { get }

  /// Informs the session whether any player is active.
  ///
  /// An active player plays, is paused, or waits for its start.
  func updatePlayerActivity(_ isActive: Bool)

  /// Fades out, closes the output, and returns when it is closed.
  func close()
}

/// The selection of the backend for a new engine.
package enum EngineBackends {
  /// The virtual device of the current task's test, or of the engine whose handler is running.
  @TaskLocal package static var scopedDevice: VirtualBackend?

  private static let installedBackend = Locked<(any EngineBackend)?>(nil)
  private static let runningTestDevices = Locked<[VirtualBackend]>([])
  private static let environmentBackend: any EngineBackend = {
    let configuration = OutputConfiguration(ProcessInfo.processInfo.environment)
    guard configuration.outputName == nil else { return LiveBackend(configuration) }
    MediaClock.setVirtualTimeSource { currentVirtualDevice?.mediaClockSeconds }
    return VirtualBackend.shared
  }()

  /// The backend for an engine that is created now. The first available entry of this list is used:
  ///
  /// 1. The device of the current task.
  /// 2. The device of the work on the current thread.
  /// 3. The installed device.
  /// 4. The device of the only running test.
  /// 5. The backend of the environment if no test is running; otherwise a device that belongs to no
  /// test.
  package static var currentBackend: any EngineBackend {
    if let scopedDevice { return scopedDevice }
    if let workerDevice = WorkOwner.currentDevice { return workerDevice }
    if let installedDevice = installedBackend.withLock({ $0 }) { return installedDevice }
    let testDevices = runningTestDevices.withLock { $0 }
    switch testDevices.count {
    case 0: return environmentBackend
    case 1: return testDevices[0]
    default: return VirtualBackend.unattributed
    }
  }

  package static var hasConcurrentTests: Bool { runningTestDevices.withLock { $0.count > 1 } }

  /// Returns the backend for a new engine.
  ///
  /// If the engine could belong to any of several tests, all of them are notified.
  static func backendForNewEngine() -> any EngineBackend {
    let newEngineBackend = currentBackend
    if newEngineBackend === VirtualBackend.unattributed {
      for test in runningTestDevices.withLock({ $0 }) {
        test.recordUnattributedEngine()
      }
    }
    return newEngineBackend
  }

  /// Returns the virtual device for a call, or nil if the call plays in real time.
  ///
  /// If the call could belong to any of several tests, all of them are notified.
  package static func virtualDeviceForCall() -> VirtualBackend? {
    backendForNewEngine() as? VirtualBackend
  }

  /// The current virtual device, or nil if engines play in real time.
  package static var currentVirtualDevice: VirtualBackend? { currentBackend as? VirtualBackend }

  package static func recordUseOfNewerAPI(_ name: String, iOS major: Int, minor: Int = 0) {
    currentVirtualDevice?.appendLogEntry(
      .violation(.newerAPI(name, version: minor == 0 ? "\(major)" : "\(major).\(minor)")))
  }

  /// Sets the backend for new engines; nil selects the backend of the environment.
  package static func installBackend(_ backend: (any EngineBackend)?) {
    _ = mediaTimeSetup
    let previousBackend = installedBackend.withLock { installed in
      let previousBackend = installed
      installed = backend
      return previousBackend
    }
    if previousBackend !== backend {
      (previousBackend as? VirtualBackend)?.releaseSharedObjects()
    }
  }

  package static func beginTest(
    on backend: VirtualBackend, _ test: VirtualBackend.DeviceTest? = nil
  ) {
    _ = mediaTimeSetup
    backend.currentTest = test
    runningTestDevices.withLock { $0.append(backend) }
  }

  /// The setup that makes audio playback follow the virtual device's time.
  ///
  /// The setup runs on first use.
  private static let mediaTimeSetup: Void = MediaClock.setVirtualTimeSource {
    currentVirtualDevice?.mediaClockSeconds
  }

  /// Ends the test that runs on a device. Engines that outlive the test move to the next device.
  package static func endTest(on backend: VirtualBackend) {
    runningTestDevices.withLock { $0.removeAll { $0 === backend } }
    backend.endTest()
  }
}

/// A backend that plays in real time.
final class LiveBackend: EngineBackend {
  /// The sample rate of outputs that do not specify a rate, in hertz.
  private static let defaultSampleRateHertz = 48_000
  /// The minimum interval between checks for an unavailable device, in seconds.
  private static let availabilityPollIntervalSeconds = 1.0

  private let configuration: OutputConfiguration
  private let outputRegistry: OutputRegistry
  private let availabilityState = Mutex((isAvailable: false, lastPollSeconds: -Double.infinity))

  init(_ choice: OutputConfiguration, outputRegistry: OutputRegistry = .standard) {
    self.configuration = choice
    self.outputRegistry = outputRegistry
  }

  /// A Boolean value that indicates whether the output can be opened.
  ///
  /// It remains true after the first success.
  var isOutputAvailable: Bool {
    guard configuration.problemMessage == nil, let configuredOutputName = configuration.outputName
    else {
      return configuration.problemMessage == nil
    }
    return availabilityState.withLock { found in
      let now = ProcessInfo.processInfo.systemUptime
      if found.isAvailable || now - found.lastPollSeconds < Self.availabilityPollIntervalSeconds {
        return found.isAvailable
      }
      found.lastPollSeconds = now
      found.isAvailable = outputRegistry.isAvailable(configuredOutputName)
      return found.isAvailable
    }
  }

  func openSession(_ request: SessionRequest) throws -> any EngineSession {
    if let problemMessage = configuration.problemMessage {
      throw CHHapticError(.invalidEngineParameter, problemMessage)
    }
    let profile = try configuration.loadProfile()
    do {
      let output = try outputRegistry.open(
        configuration.outputName ?? OutputName(scheme: NullOutput().scheme),
        OutputRequest(rate: Self.defaultSampleRateHertz))
      return try LiveEngineSession(output, profile, configuration.outputStrengthFactor, request)
    } catch let error as PlaybackError {
      throw CHHapticError(.resourceNotAvailable, error.description)
    } catch let error as OutputError {
      throw CHHapticError(
        error.kind == .notFound || error.kind == .serverUnavailable
          ? .notSupported : .serverInitFailed,
        "\(error.output): \(error.description)")
    }
  }

  func schedule(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: body)
  }
}

#if !SoundOutput
  extension OutputRegistry {
    /// A registry without real-time outputs.
    ///
    /// Real-time outputs require the package trait SoundOutput.
    fileprivate static let standard = OutputRegistry([NullOutput()], defaultScheme: "null")
  }
#endif

/// A session of an engine that plays in real time.
private final class LiveEngineSession: EngineSession {
  let playbackEngine: PlaybackEngine
  private let livePlayback: LivePlayback

  init(
    _ output: sending OpenedOutput, _ profile: TransducerProfile, _ strength: Float,
    _ request: SessionRequest
  )
    throws(PlaybackError)
  {
    let outputFormat = output.format
    playbackEngine = PlaybackEngine(
      rate: outputFormat.rate,
      routing: OutputRouting(channelCount: outputFormat.channelCount, buses: request.audibleBuses),
      profiles: [profile], strength: strength)
    let presenceHandler = request.devicePresenceHandler
    livePlayback = try LivePlayback(playbackEngine, sink: output.sink, wantsRealTime: true) {
      event in
      switch event {
      case .sinkEvent(let notice) where notice.kind == .reconnected: presenceHandler(true)
      case .sinkEvent(let notice) where notice.kind != .disconnected: break
      case .sinkEvent, .ended: presenceHandler(false)
      }
    }
  }

  func updatePlayerActivity(_ isActive: Bool) {}

  func close() { livePlayback.stopPlayback() }
}

/// The output settings in the environment variables of the process.
///
/// The variables are `TEMBLOR_OUTPUT` or `TEMBLOR_DEVICE`, `TEMBLOR_PROFILE`, and
/// `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  private static let virtualOutputName = "virtual"

  /// The name of the output, or nil for output into memory.
  var outputName: OutputName?
  var profileName: String?
  #if SoundOutput
    private var profileLibrary = ProfileLibrary(userFolder: nil)
  #endif
  var outputStrengthFactor: Float = 1
  var problemMessage: String?

  init(_ environment: [String: String], outputs: OutputRegistry = .standard) {
    outputName = outputs.parseName(
      environment["TEMBLOR_DEVICE"].flatMap { $0.isEmpty ? nil : $0 } ?? "default")
    profileName = environment["TEMBLOR_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
    #if SoundOutput
      profileLibrary = ProfileLibrary { environment[$0] }
    #endif
    if let strengthText = environment["TEMBLOR_STRENGTH"], !strengthText.isEmpty {
      if let value = Float(strengthText), (0...1).contains(value) {
        outputStrengthFactor = value
      } else {
        problemMessage = "TEMBLOR_STRENGTH is '\(strengthText)'; it must be a number from 0 to 1"
      }
    }
    guard let outputText = environment["TEMBLOR_OUTPUT"], !outputText.isEmpty else { return }
    if outputText == Self.virtualOutputName {
      outputName = nil
    } else if let qualifiedName = outputs.parseQualifiedName(outputText) {
      outputName = qualifiedName
    } else {
      problemMessage =
        "TEMBLOR_OUTPUT is '\(outputText)'; it must be "
        + "\(outputs.nameForms.joined(separator: ", ")) or \(Self.virtualOutputName)"
    }
  }

  func loadProfile() throws -> TransducerProfile {
    guard let profileName else { return .phone }
    #if SoundOutput
      do {
        if let entry = profileLibrary.entry(named: profileName) {
          return try ProfileFile.read(text: entry.readText(), name: entry.sourceName)
        }
        guard let text = FileManager.default.contents(atPath: profileName) else {
          throw CHHapticError(
            .invalidEngineParameter, "TEMBLOR_PROFILE is '\(profileName)': no such profile or file")
        }
        return try ProfileFile.read(text: Array(text), name: profileName)
      } catch let error as InputError {
        throw CHHapticError(.invalidEngineParameter, error.description)
      } catch let error as ProfileFileError {
        throw CHHapticError(.invalidEngineParameter, error.description)
      }
    #else
      throw CHHapticError(
        .invalidEngineParameter,
        "TEMBLOR_PROFILE is '\(profileName)', but profiles require the package trait SoundOutput")
    #endif
  }
}
