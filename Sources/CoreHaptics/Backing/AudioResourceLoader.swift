internal import Foundation
internal import HapticModel
internal import HapticRender
internal import SoundFile

/// Reads the sound files that patterns play.
enum AudioResourceLoader {
  /// Decodes a file.
  static func sound(at url: URL) throws -> Sound {
    do {
      return try Sound(contentsOf: url.path)
    } catch {
      throw CHHapticError(error)
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
    for path in content.waveformPaths where samples[path] == nil {
      let resource = try AudioResourcePath.id(of: path).map { number in
        guard let resource = resources[number] else {
          throw CHHapticError(
            .invalidAudioResource, "no audio resource is registered as \(number)")
        }
        return resource
      }
      do throws(SoundFileError) {
        let sound = try resource?.sound ?? folder(of: content).sound(at: path)
        let resampled = try sound.resampled(to: rate, path: path)
        samples[path] = AudioBuffer(
          interleaved: resampled.interleaved, channelCount: resampled.channelCount)
      } catch {
        throw CHHapticError(error)
      }
    }
    return samples
  }

  private static func folder(of content: PatternContent) -> SoundFolder {
    SoundFolder(root: (content.folder ?? Bundle.main.resourceURL ?? Bundle.main.bundleURL).path)
  }
}

extension CHHapticError {
  /// The error of a sound file.
  fileprivate init(_ error: SoundFileError) {
    self.init(
      error.kind == .missing ? .fileNotFound : .invalidAudioResource,
      "the sound file \(error.path) \(error.description)")
  }
}
