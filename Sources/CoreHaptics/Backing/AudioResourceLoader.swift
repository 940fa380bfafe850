internal import Foundation
internal import Glibc
internal import HapticModel
internal import HapticRender
internal import SoundFile

/// Reads the sound files that patterns play.
enum AudioResourceLoader {
  /// Decodes a file.
  static func sound(at url: URL) throws -> Sound {
    let path = url.path
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw failure(
        FileManager.default.fileExists(atPath: path) ? .invalidAudioResource : .fileNotFound,
        "the sound file \(path) cannot be opened")
    }
    defer { close(descriptor) }
    do {
      return try Sound(readingDescriptor: descriptor, path: path)
    } catch {
      throw failure(.invalidAudioResource, "the sound file \(path) \(error.description)")
    }
  }

  /// The samples of a pattern at a rate, by the path it names.
  ///
  /// A relative path is looked up in the pattern's folder, or, where it has none, among the
  /// application's resources, and never outside.
  static func samples(
    of content: PatternContent, resources: [Int: AudioResource], rate: Double
  ) throws -> [String: AudioBuffer] {
    var samples: [String: AudioBuffer] = [:]
    for event in content.pattern.events {
      guard let path = event.waveform?.path, samples[path] == nil else { continue }
      let sound: Sound
      if let number = AudioResourcePath.id(of: path) {
        guard let resource = resources[number] else {
          throw failure(.invalidAudioResource, "no audio resource is registered as \(number)")
        }
        sound = resource.sound
      } else {
        sound = try self.sound(at: url(of: path, in: content.folder))
      }
      do {
        let resampled = try sound.resampled(to: rate, path: path)
        samples[path] = AudioBuffer(
          interleaved: resampled.interleaved, channelCount: resampled.channelCount)
      } catch {
        throw failure(.invalidAudioResource, "the sound file \(path) \(error.description)")
      }
    }
    return samples
  }

  private static func url(of path: String, in folder: URL?) throws -> URL {
    let root = (folder ?? Bundle.main.resourceURL ?? Bundle.main.bundleURL)
      .resolvingSymlinksInPath().standardizedFileURL
    let url = root.appendingPathComponent(path).resolvingSymlinksInPath().standardizedFileURL
    guard url.path.hasPrefix(root.path.hasSuffix("/") ? root.path : root.path + "/") else {
      throw failure(
        .invalidAudioResource, "the sound file \(path) is outside the folder of the pattern")
    }
    return url
  }

  private static func failure(_ code: CHHapticError.Code, _ text: String) -> CHHapticError {
    CHHapticError(code, text)
  }
}
