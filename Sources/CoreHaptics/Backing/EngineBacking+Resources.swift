internal import Foundation
internal import SoundFile

/// A sound file that was registered, decoded.
struct AudioResource: Sendable {
  var sound: Sound
  var usesVolumeEnvelope: Bool
  var isLooping: Bool
}

extension EngineBacking {
  /// The most sound files an engine keeps.
  static let mostResources = 128

  /// Reads a sound file and gives it a number.
  func registerResource(_ url: URL, options: [AnyHashable: Any]) throws -> Int {
    let sound = try AudioResourceLoader.sound(at: url)
    func option(_ key: String, _ usual: Bool) throws -> Bool {
      guard let value = options[AnyHashable(key)] else { return usual }
      if let value = value as? Bool { return value }
      if let value = value as? NSNumber { return value.boolValue }
      throw CHHapticError(
        .invalidAudioResource,
        "the option \(key) must be true or false")
    }
    let resource = AudioResource(
      sound: sound,
      usesVolumeEnvelope: try option(CHHapticAudioResourceKeyUseVolumeEnvelope, true),
      isLooping: try option(CHHapticAudioResourceKeyLoopEnabled, false))
    return try with { state in
      guard state.resources.count < Self.mostResources else {
        throw CHHapticError(
          .resourceNotAvailable,
          "an engine keeps \(Self.mostResources) audio resources; unregister some")
      }
      let number = state.nextResource
      state.nextResource += 1
      state.resources[number] = resource
      return number
    }
  }

  /// Forgets a sound file; players that were made with it keep it.
  func unregisterResource(_ number: Int) throws {
    let removed = with { $0.resources.removeValue(forKey: number) }
    guard removed == nil else { return }
    throw CHHapticError(
      .invalidAudioResource,
      "no audio resource is registered as \(number)")
  }
}
