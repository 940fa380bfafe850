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

/// Where engines play: an output, and the time that goes by there.
package protocol EngineBackend: AnyObject, Sendable {
  var isAvailable: Bool { get }

  func open(_ request: SessionRequest) throws -> any EngineSession

  /// Calls a closure once after some seconds of its time, on any thread.
  func schedule(after seconds: Double, _ body: @escaping @Sendable () -> Void)
}

package struct SessionRequest: Sendable {
  package var buses: RenderSettings.Buses
  /// Called, on any thread, with false where the device went away or the output has ended, with
  /// true where it is back.
  package var presenceHandler: @Sendable (Bool) -> Void
}

package protocol EngineSession: AnyObject, Sendable {
  var engine: PlaybackEngine { get }

  /// Notes whether a player plays, is paused or waits for its start.
  func updateActivity(_ isActive: Bool)

  /// Fades out and closes the output; returns when that is done.
  func close()
}

package enum EngineBackends {
  /// The device of the test whose task this is, or of the engine whose handler runs.
  @TaskLocal package static var scoped: VirtualBackend?

  private static let installedBackend = Locked<(any EngineBackend)?>(nil)
  private static let runningTests = Locked<[VirtualBackend]>([])
  private static let environment: any EngineBackend = {
    let asked = OutputConfiguration(ProcessInfo.processInfo.environment)
    guard asked.output == nil else { return LiveBackend(asked) }
    MediaTime.setVirtualTime { virtual?.now }
    return VirtualBackend.shared
  }()

  /// The task's device, else that of the thread's work, else the one that was installed, else that
  /// of the only test that runs, else what the environment names. Where several tests run and none
  /// can be named, a device that belongs to no test.
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

  /// The backend of a new engine; running tests are notified where it could be any of theirs.
  static func currentForNewEngine() -> any EngineBackend {
    let current = current
    if current === VirtualBackend.unattributed {
      for test in runningTests.withLock({ $0 }) {
        test.recordUnattributedEngine()
      }
    }
    return current
  }

  /// The virtual device that a call of now plays on, reported like a new engine's; nil in real
  /// time.
  package static func virtualForCall() -> VirtualBackend? {
    currentForNewEngine() as? VirtualBackend
  }

  /// The virtual device of here and now, or nil where engines play in real time.
  package static var virtual: VirtualBackend? { current as? VirtualBackend }

  package static func recordNewerAPI(_ name: String, iOS major: Int, minor: Int = 0) {
    virtual?.append(
      .violation(.newerAPI(name, version: minor == 0 ? "\(major)" : "\(major).\(minor)")))
  }

  /// Sets the backend of engines made from now on; nil returns to the environment's.
  package static func use(_ backend: (any EngineBackend)?) {
    _ = mediaTimeSetup
    let old = installedBackend.withLock { installed in
      let old = installed
      installed = backend
      return old
    }
    if old !== backend {
      (old as? VirtualBackend)?.releaseSharedObjects()
    }
  }

  package static func begin(_ backend: VirtualBackend, of test: VirtualBackend.Test? = nil) {
    _ = mediaTimeSetup
    backend.test = test
    runningTests.withLock { $0.append(backend) }
  }

  /// Lets what plays beside haptics keep the virtual device's time.
  private static let mediaTimeSetup: Void = MediaTime.setVirtualTime { virtual?.now }

  /// Ends the device of a test: engines that outlive it move to the next one.
  package static func end(_ backend: VirtualBackend) {
    runningTests.withLock { $0.removeAll { $0 === backend } }
    backend.end()
  }
}

final class LiveBackend: EngineBackend {
  /// Frames per second of outputs that have none of their own.
  private static let defaultRate = 48_000
  /// Seconds between two looks for a device that was not there.
  private static let pollInterval = 1.0

  private let configuration: OutputConfiguration
  private let outputs: OutputRegistry
  private let availability = Mutex((isAvailable: false, lastLook: -Double.infinity))

  init(_ choice: OutputConfiguration, outputs: OutputRegistry = .standard) {
    self.configuration = choice
    self.outputs = outputs
  }

  /// Whether the output can be opened; once it could, it is believed to be there.
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
    /// Nothing: outputs in real time are built with the package trait SoundOutput.
    fileprivate static let standard = OutputRegistry([NullOutput()], defaultScheme: "null")
  }
#endif

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

/// What the environment says of output: `TEMBLOR_OUTPUT`, or `TEMBLOR_DEVICE`, `TEMBLOR_PROFILE`,
/// `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  private static let virtualName = "virtual"

  /// Where sound goes; nil for output into memory.
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
            .invalidEngineParameter, "TEMBLOR_PROFILE is '\(profileName)'; no such profile or file")
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
        "TEMBLOR_PROFILE is '\(profileName)'; profiles are read with the package trait SoundOutput")
    #endif
  }
}
