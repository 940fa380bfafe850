internal import Diagnostics
internal import Foundation
internal import HapticRender
internal import TransducerProfiles

/// What the environment says of output: `TEMBLOR_OUTPUT`, `TEMBLOR_PROFILE`, `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  /// Where sound goes.
  enum Output: Equatable, Sendable {
    /// An ALSA device.
    case alsa(String)
    /// A sound file, in real time.
    case file(String)
    /// Nowhere, in real time.
    case null
    /// Into memory, in a time that a test moves.
    case virtual
  }

  var output = Output.alsa("default")
  /// A profile's name or file.
  var profileName: String?
  /// Where profiles are looked for by name.
  private var library = ProfileLibrary(userFolder: nil)
  var strength: Float = 1
  /// What is wrong with the environment, told by every start.
  var problem: String?

  /// Reads the environment.
  init(_ environment: [String: String]) {
    profileName = environment["TEMBLOR_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
    library = ProfileLibrary { environment[$0] }
    if let text = environment["TEMBLOR_STRENGTH"], !text.isEmpty {
      if let value = Float(text), (0...1).contains(value) {
        strength = value
      } else {
        problem = "TEMBLOR_STRENGTH is '\(text)'; it must be a number from 0 to 1"
      }
    }
    guard let text = environment["TEMBLOR_OUTPUT"], !text.isEmpty else { return }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count > 1 ? String(parts[1]) : ""
    switch (String(parts[0]), rest.isEmpty) {
    case ("alsa", false): output = .alsa(rest)
    case ("wav", false): output = .file(rest)
    case ("null", true): output = .null
    case ("virtual", true): output = .virtual
    default:
      problem =
        "TEMBLOR_OUTPUT is '\(text)'; it must be alsa:DEVICE, wav:FILE, null or virtual"
    }
  }

  /// The profile that was asked for.
  func profile() throws -> TransducerProfile {
    guard let profileName else { return .phone }
    do {
      if let entry = library.entry(named: profileName) {
        return try ProfileFile.read(text: entry.text(), name: entry.textName)
      }
      guard let text = FileManager.default.contents(atPath: profileName) else {
        throw CHHapticError(
          .invalidEngineParameter,
          "TEMBLOR_PROFILE is '\(profileName)'; no such profile or file")
      }
      return try ProfileFile.read(text: Array(text), name: profileName)
    } catch let error as InputError {
      throw CHHapticError(.invalidEngineParameter, error.description)
    } catch let error as ProfileFileError {
      throw CHHapticError(.invalidEngineParameter, error.description)
    }
  }

  /// Throws where the environment is wrong.
  func check() throws {
    guard let problem else { return }
    throw CHHapticError(
      .invalidEngineParameter, problem)
  }
}
