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

/// The environment of engines: their output and its clock.
package protocol EngineBackend: AnyObject, Sendable {
  var isAvailable: Bool { get }

  func open(_ request: SessionRequest) throws -> any EngineSession

  /// Calls a closure once after a delay in seconds of the backend's time, on any thread.
  func schedule(after seconds: Double, _ body: @escaping @Sendable () -> Void)
}

/// The parameters of a session.
package struct SessionRequest: Sendable {
  package var buses: RenderSettings.AudibleBuses
  /// A handler that is called on any thread, with false if the device was lost or the output has
  /// ended, and with true if the device has returned.
  package var presenceHandler: @Sendable (Bool) -> Void
}

/// An open output with its playback engine.
package protocol EngineSession: AnyObject, Sendable {
  var engine: PlaybackEngine { get }

  /// Updates whether a player plays, is paused, or waits for its start.
  func updateActivity(_ isActive: Bool)

  /// Fades out, closes the output, and returns when it is closed.
  func close()
}

/// The choice of the backend for an engine.
package enum EngineBackends {
  /// The device of the test that the current task belongs to, or of the engine whose handler is
  /// running.
  @TaskLocal package static var scoped: VirtualBackend?

  private static let installedBackend = Locked<(any EngineBackend)?>(nil)
  private static let runningTests = Locked<[VirtualBackend]>([])
  private static let environment: any EngineBackend = {
    let configuration = OutputConfiguration(ProcessInfo.processInfo.environment)
    guard configuration.output == nil else { return LiveBackend(configuration) }
    MediaTime.setVirtualTime { virtual?.mediaTime }
    return VirtualBackend.shared
  }()

  /// The backend of an engine that is created now.
  ///
  /// 1. The device of the current task.
  /// 2. The device of the work on the current thread.
  /// 3. The installed device.
  /// 4. The device of the only running test.
  /// 5. The backend of the environment if no test is running; otherwise a device that belongs to no
  ///    test.
  package static var current: any EngineBackend {
    if let scoped { return scoped }
    if let worker = WorkOwner.currentDevice { return worker }
    if let installed = installedBackend.withLock({ $0 }) { return installed }
    let tests = runningTests.withLock { $0 }
    switch tests.count {
    case 0: return environment
    case 1: return tests[0]
    default: return VirtualBackend.unattributed
    }
  }

  package static var hasConcurrentTests: Bool { runningTests.withLock { $0.count > 1 } }

  /// Returns the backend of a new engine. If it could belong to any of several tests, all of them
  /// are notified.
  static func currentForNewEngine() -> any EngineBackend {
    let current = current
    if current === VirtualBackend.unattributed {
      for test in runningTests.withLock({ $0 }) {
        test.recordUnattributedEngine()
      }
    }
    return current
  }

  /// Returns the virtual device for a call that plays now, with the same notification as for a new
  /// engine; nil in real time.
  package static func virtualForCall() -> VirtualBackend? {
    currentForNewEngine() as? VirtualBackend
  }

  /// The current virtual device, or nil if engines play in real time.
  package static var virtual: VirtualBackend? { current as? VirtualBackend }

  package static func recordNewerAPI(_ name: String, iOS major: Int, minor: Int = 0) {
    virtual?.append(
      .violation(.newerAPI(name, version: minor == 0 ? "\(major)" : "\(major).\(minor)")))
  }

  /// Sets the backend of engines that are created from now on; nil restores that of the
  /// environment.
  package static func use(_ backend: (any EngineBackend)?) {
    _ = mediaTimeSetup
    let previous = installedBackend.withLock { installed in
      let previous = installed
      installed = backend
      return previous
    }
    if previous !== backend {
      (previous as? VirtualBackend)?.releaseSharedObjects()
    }
  }

  package static func begin(_ backend: VirtualBackend, of test: VirtualBackend.Test? = nil) {
    _ = mediaTimeSetup
    backend.test = test
    runningTests.withLock { $0.append(backend) }
  }

  /// Makes audio that accompanies haptics follow the virtual device's time.
  private static let mediaTimeSetup: Void = MediaTime.setVirtualTime { virtual?.mediaTime }

  /// Ends the device of a test. Engines that outlive the test move to the next device.
  package static func end(_ backend: VirtualBackend) {
    runningTests.withLock { $0.removeAll { $0 === backend } }
    backend.end()
  }
}

/// A backend that plays in real time.
final class LiveBackend: EngineBackend {
  /// The sample rate of outputs without a rate of their own, in hertz.
  private static let defaultRate = 48_000
  /// The minimum interval between two checks for an unavailable device, in seconds.
  private static let pollInterval = 1.0

  private let configuration: OutputConfiguration
  private let outputs: OutputRegistry
  private let availability = Mutex((isAvailable: false, lastLook: -Double.infinity))

  init(_ choice: OutputConfiguration, outputs: OutputRegistry = .standard) {
    self.configuration = choice
    self.outputs = outputs
  }

  /// A Boolean value that indicates whether the output can be opened. After the first success, it
  /// remains true.
  var isAvailable: Bool {
    guard configuration.problem == nil, let output = configuration.output else {
      return configuration.problem == nil
    }
    return availability.withLock { found in
      let now = ProcessInfo.processInfo.systemUptime
      if found.isAvailable || now - found.lastLook < Self.pollInterval {
        return found.isAvailable
      }
      found.lastLook = now
      found.isAvailable = outputs.isAvailable(output)
      return found.isAvailable
    }
  }

  func open(_ request: SessionRequest) throws -> any EngineSession {
    if let problem = configuration.problem {
      throw CHHapticError(.invalidEngineParameter, problem)
    }
    let profile = try configuration.profile()
    do {
      let output = try outputs.open(
        configuration.output ?? OutputName(scheme: NullOutput().scheme),
        OutputRequest(rate: Self.defaultRate))
      return try LiveEngineSession(output, profile, configuration.strength, request)
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
    /// An empty registry: real-time outputs require the package trait SoundOutput.
    fileprivate static let standard = OutputRegistry([NullOutput()], defaultScheme: "null")
  }
#endif

/// A session in real time.
private final class LiveEngineSession: EngineSession {
  let engine: PlaybackEngine
  private let livePlayback: LivePlayback

  init(
    _ output: sending OpenedOutput, _ profile: TransducerProfile, _ strength: Float,
    _ request: SessionRequest
  )
    throws(PlaybackError)
  {
    let format = output.format
    engine = PlaybackEngine(
      rate: format.rate,
      routing: OutputRouting(channelCount: format.channelCount, buses: request.buses),
      profiles: [profile], strength: strength)
    let handler = request.presenceHandler
    livePlayback = try LivePlayback(engine, sink: output.sink, wantsRealTime: true) { event in
      switch event {
      case .sinkEvent(let notice) where notice.kind == .reconnected: handler(true)
      case .sinkEvent(let notice) where notice.kind != .disconnected: break
      case .sinkEvent, .ended: handler(false)
      }
    }
  }

  func updateActivity(_ isActive: Bool) {}

  func close() { livePlayback.stop() }
}

/// The output settings of the environment variables `TEMBLOR_OUTPUT` or `TEMBLOR_DEVICE`,
/// `TEMBLOR_PROFILE`, and `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  private static let virtualName = "virtual"

  /// The output, or nil for output into memory.
  var output: OutputName?
  var profileName: String?
  #if SoundOutput
    private var library = ProfileLibrary(userFolder: nil)
  #endif
  var strength: Float = 1
  var problem: String?

  init(_ environment: [String: String], outputs: OutputRegistry = .standard) {
    output = outputs.parseName(
      environment["TEMBLOR_DEVICE"].flatMap { $0.isEmpty ? nil : $0 } ?? "default")
    profileName = environment["TEMBLOR_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
    #if SoundOutput
      library = ProfileLibrary { environment[$0] }
    #endif
    if let text = environment["TEMBLOR_STRENGTH"], !text.isEmpty {
      if let value = Float(text), (0...1).contains(value) {
        strength = value
      } else {
        problem = "TEMBLOR_STRENGTH is '\(text)'; it must be a number from 0 to 1"
      }
    }
    guard let text = environment["TEMBLOR_OUTPUT"], !text.isEmpty else { return }
    if text == Self.virtualName {
      output = nil
    } else if let name = outputs.parseQualifiedName(text) {
      output = name
    } else {
      problem =
        "TEMBLOR_OUTPUT is '\(text)'; it must be \(outputs.nameForms.joined(separator: ", ")) "
        + "or \(Self.virtualName)"
    }
  }

  func profile() throws -> TransducerProfile {
    guard let profileName else { return .phone }
    #if SoundOutput
      do {
        if let entry = library.entry(named: profileName) {
          return try ProfileFile.read(text: entry.text(), name: entry.sourceName)
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
