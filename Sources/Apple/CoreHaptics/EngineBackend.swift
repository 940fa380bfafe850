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
  func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void)
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
  func noteActivity(_ isActive: Bool)

  /// Fades out and closes the output; returns when that is done.
  func close()
}

package enum EngineBackends {
  /// The device of the test whose task this is, or of the engine whose handler runs.
  @TaskLocal package static var scoped: VirtualBackend?

  private static let installed = Locked<(any EngineBackend)?>(nil)
  private static let running = Locked<[VirtualBackend]>([])
  private static let environment: any EngineBackend = {
    let asked = OutputConfiguration(ProcessInfo.processInfo.environment)
    guard asked.output == nil else { return LiveBackend(asked) }
    MediaTime.follow { virtual?.now }
    return VirtualBackend.shared
  }()

  /// The task's device, else that of the thread's work, else the one that was installed, else that
  /// of the only test that runs, else what the environment names. Where several tests run and none
  /// can be named, a device that belongs to no test.
  package static var current: any EngineBackend {
    if let scoped { return scoped }
    if let worker = WorkMark.worker { return worker }
    if let installed = installed.withLock({ $0 }) { return installed }
    let tests = running.withLock { $0 }
    switch tests.count {
    case 0: return environment
    case 1: return tests[0]
    default: return VirtualBackend.stray
    }
  }

  package static var isShared: Bool { running.withLock { $0.count > 1 } }

  /// The backend of a new engine; running tests are notified where it could be any of theirs.
  static func takeCurrent() -> any EngineBackend {
    let current = current
    if current === VirtualBackend.stray {
      for test in running.withLock({ $0 }) {
        test.noteStrayEngine()
      }
    }
    return current
  }

  /// The virtual device that a call of now plays on, reported like a new engine's; nil in real
  /// time.
  package static func takeVirtual() -> VirtualBackend? { takeCurrent() as? VirtualBackend }

  /// The virtual device of here and now, or nil where engines play in real time.
  package static var virtual: VirtualBackend? { current as? VirtualBackend }

  package static func noteNewAPI(_ name: String, iOS major: Int, _ minor: Int = 0) {
    virtual?.note(.breach(.newerAPI(name, version: minor == 0 ? "\(major)" : "\(major).\(minor)")))
  }

  /// Sets the backend of engines made from now on; nil returns to the environment's.
  package static func use(_ backend: (any EngineBackend)?) {
    _ = followsTime
    let old = installed.withLock { installed in
      let old = installed
      installed = backend
      return old
    }
    if old !== backend {
      (old as? VirtualBackend)?.releaseSlots()
    }
  }

  package static func begin(_ backend: VirtualBackend, of test: VirtualBackend.Test? = nil) {
    _ = followsTime
    backend.test = test
    running.withLock { $0.append(backend) }
  }

  /// Lets what plays beside haptics keep the virtual device's time.
  private static let followsTime: Void = MediaTime.follow { virtual?.now }

  /// Ends the device of a test: engines that outlive it move to the next one.
  package static func end(_ backend: VirtualBackend) {
    running.withLock { $0.removeAll { $0 === backend } }
    backend.end()
  }
}

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
      if found.isAvailable || now - found.lastLook < Self.lookInterval {
        return found.isAvailable
      }
      found.lastLook = now
      found.isAvailable = outputs.isAvailable(output)
      return found.isAvailable
    }
  }

  func open(_ request: SessionRequest) throws -> any EngineSession {
    if let problem = choice.problem {
      throw CHHapticError(.invalidEngineParameter, problem)
    }
    let profile = try choice.profile()
    do {
      let output = try outputs.open(
        choice.output ?? OutputName(scheme: NullOutput().scheme), OutputRequest(rate: Self.rate))
      return try LiveEngineSession(output, profile, choice.strength, request)
    } catch let error as PlaybackError {
      throw CHHapticError(.resourceNotAvailable, error.description)
    } catch let error as OutputError {
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

#if !SoundOutput
  extension OutputRegistry {
    /// Nothing: outputs in real time are built with the package trait SoundOutput.
    fileprivate static let standard = OutputRegistry([NullOutput()], defaultScheme: "null")
  }
#endif

private final class LiveEngineSession: EngineSession {
  let engine: PlaybackEngine
  private let playback: LivePlayback

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
    playback = try LivePlayback(engine, sink: output.sink, wantsRealTime: true) { event in
      switch event {
      case .notice(let notice) where notice.kind == .reconnected: handler(true)
      case .notice(let notice) where notice.kind != .disconnected: break
      case .notice, .ended: handler(false)
      }
    }
  }

  func noteActivity(_ isActive: Bool) {}

  func close() { playback.stop() }
}

/// What the environment says of output: `TEMBLOR_OUTPUT`, or `TEMBLOR_DEVICE`, `TEMBLOR_PROFILE`,
/// `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  private static let virtual = "virtual"

  /// Where sound goes; nil for output into memory.
  var output: OutputName?
  var profileName: String?
  #if SoundOutput
    private var library = ProfileLibrary(userFolder: nil)
  #endif
  var strength: Float = 1
  var problem: String?

  init(_ environment: [String: String], outputs: OutputRegistry = .standard) {
    output = outputs.name(
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
    if text == Self.virtual {
      output = nil
    } else if let name = outputs.qualifiedName(text) {
      output = name
    } else {
      problem =
        "TEMBLOR_OUTPUT is '\(text)'; it must be \(outputs.forms.joined(separator: ", ")) "
        + "or \(Self.virtual)"
    }
  }

  func profile() throws -> TransducerProfile {
    guard let profileName else { return .phone }
    #if SoundOutput
      do {
        if let entry = library.entry(named: profileName) {
          return try ProfileFile.read(text: entry.text(), name: entry.textName)
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
