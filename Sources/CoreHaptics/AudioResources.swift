public import Foundation
internal import HapticModel
internal import HapticRender
internal import SoundFile

extension CHHapticPattern {
  /// The sound files at a rate, by the paths that name them. A relative path is looked up in the pattern's folder, or,
  /// where it has none, among the application's resources, and never outside.
  func samples(at rate: Double, resources: [Int: AudioResource]) throws -> [String: AudioBuffer] {
    let folder = SoundFolder(root: (content.folder ?? Bundle.main.resourceURL ?? Bundle.main.bundleURL).path)
    var samples: [String: AudioBuffer] = [:]
    for path in content.waveformPaths where samples[path] == nil {
      let resource = try AudioResourcePath.id(of: path).map { number in
        guard let resource = resources[number] else {
          throw CHHapticError(.invalidAudioResource, "no audio resource is registered as \(number)")
        }
        return resource
      }
      do throws(SoundFileError) {
        let sound = if let resource { resource.sound } else { try folder.sound(at: path) }
        let resampled = try sound.resampled(to: rate, path: path)
        samples[path] = AudioBuffer(interleaved: resampled.interleaved, channelCount: resampled.channelCount)
      } catch { throw CHHapticError(error) }
    }
    return samples
  }
}

extension CHHapticError {
  fileprivate init(_ error: SoundFileError) {
    self.init(
      error.kind == .missing ? .fileNotFound : .invalidAudioResource,
      "the sound file \(error.path) \(error.description)")
  }
}

/// The path that stands for a registered sound in a pattern: one that no file can have.
enum AudioResourcePath {
  /// File names have no NUL, and readers of AHAP refuse it, so that no text can name a resource.
  private static let prefix = "\0resource:"

  static func path(for id: CHHapticAudioResourceID) -> String { prefix + String(id) }

  static func id(of path: String) -> CHHapticAudioResourceID? {
    path.hasPrefix(prefix) ? Int(path.dropFirst(prefix.count)) : nil
  }
}

/// A sound registered with an engine; greater than 0.
public typealias CHHapticAudioResourceID = Int

/// A key of the options a sound is registered with.
public typealias CHHapticAudioResourceKey = NSString

/// Whether a registered sound is ramped in and out: a Boolean, true unless given.
public let CHHapticAudioResourceKeyUseVolumeEnvelope = "EventWaveformUseVolumeEnvelope"

/// Whether a registered sound repeats as a whole for the event's duration: a Boolean, else false.
public let CHHapticAudioResourceKeyLoopEnabled = "EventWaveformLoopEnabled"

struct AudioResource: Sendable {
  var sound: Sound
  var usesVolumeEnvelope: Bool
  var isLooping: Bool
}

extension EngineBacking {
  static let mostResources = 128

  func registerResource(_ url: URL, options: [AnyHashable: Any]) throws -> Int {
    let sound: Sound
    do { sound = try Sound(contentsOf: url.path) } catch { throw CHHapticError(error) }
    func option(_ key: String, _ usual: Bool) throws -> Bool {
      guard let value = options[AnyHashable(key)] else { return usual }
      if let value = value as? Bool { return value }
      if let value = value as? NSNumber { return value.boolValue }
      throw CHHapticError(.invalidAudioResource, "the option \(key) must be true or false")
    }
    let resource = AudioResource(
      sound: sound, usesVolumeEnvelope: try option(CHHapticAudioResourceKeyUseVolumeEnvelope, true),
      isLooping: try option(CHHapticAudioResourceKeyLoopEnabled, false))
    return try with { state in
      guard state.resources.count < Self.mostResources else {
        throw CHHapticError(
          .resourceNotAvailable, "an engine keeps \(Self.mostResources) audio resources; unregister some")
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
    throw CHHapticError(.invalidAudioResource, "no audio resource is registered as \(number)")
  }
}
