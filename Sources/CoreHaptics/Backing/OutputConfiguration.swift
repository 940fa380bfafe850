internal import Diagnostics
internal import Foundation
internal import HapticOutputs
internal import HapticPlayback
internal import HapticRender
internal import TransducerProfiles

/// What the environment says of output: `TEMBLOR_OUTPUT`, `TEMBLOR_PROFILE`, `TEMBLOR_STRENGTH`.
struct OutputConfiguration: Sendable {
  /// The word for output into memory, in a time that a test moves.
  private static let virtual = "virtual"

  /// Where sound goes; nil for output into memory.
  var output: OutputName?
  /// A profile's name or file.
  var profileName: String?
  /// Where profiles are looked for by name.
  private var library = ProfileLibrary(userFolder: nil)
  var strength: Float = 1
  /// What is wrong with the environment, told by every start.
  var problem: String?

  /// Reads the environment.
  init(_ environment: [String: String], outputs: OutputRegistry = .standard) {
    output = outputs.name("default")
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
