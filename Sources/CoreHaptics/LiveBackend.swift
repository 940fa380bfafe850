internal import Reading
internal import Foundation
#if SoundOutput
  internal import HapticOutputs
  internal import TransducerProfiles
#endif
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
        error.kind == .notFound || error.kind == .serverUnavailable ? .notSupported : .serverInitFailed,
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

/// A sink that plays in real time.
private final class LiveEngineSession: EngineSession {
  let engine: PlaybackEngine
  private let playback: LivePlayback

  init(_ output: sending OpenedOutput, _ profile: TransducerProfile, _ strength: Float, _ request: SessionRequest) {
    let format = output.format
    engine = PlaybackEngine(
      rate: format.rate, routing: OutputRouting(channelCount: format.channelCount, buses: request.buses),
      profiles: [profile], strength: strength)
    let handler = request.eventHandler
    playback = LivePlayback(engine, sink: output.sink, wantsRealTime: true) { event in
      switch event {
      case .notice(let notice) where notice.kind == .disconnected: handler(.deviceDisconnected)
      case .notice(let notice) where notice.kind == .reconnected: handler(.deviceReconnected)
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

/// What the environment says of output: `TEMBLOR_OUTPUT`, `TEMBLOR_PROFILE`, `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  /// The word for output into memory, in a time that a test moves.
  private static let virtual = "virtual"

  /// Where sound goes; nil for output into memory.
  var output: OutputName?
  /// A profile's name or file.
  var profileName: String?
  #if SoundOutput
    /// Where profiles are looked for by name.
    private var library = ProfileLibrary(userFolder: nil)
  #endif
  var strength: Float = 1
  /// What is wrong with the environment, reported by every start.
  var problem: String?

  /// Reads the environment.
  init(_ environment: [String: String], outputs: OutputRegistry = .standard) {
    output = outputs.name("default")
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
        "TEMBLOR_OUTPUT is '\(text)'; it must be \(outputs.forms.joined(separator: ", ")) " + "or \(Self.virtual)"
    }
  }

  /// The profile that was asked for.
  func profile() throws -> TransducerProfile {
    guard let profileName else { return .phone }
    #if SoundOutput
      do {
        if let entry = library.entry(named: profileName) {
          return try ProfileFile.read(text: entry.text(), name: entry.textName)
        }
        guard let text = FileManager.default.contents(atPath: profileName) else {
          throw CHHapticError(.invalidEngineParameter, "TEMBLOR_PROFILE is '\(profileName)'; no such profile or file")
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

  /// Throws where the environment is wrong.
  func check() throws {
    guard let problem else { return }
    throw CHHapticError(.invalidEngineParameter, problem)
  }
}
