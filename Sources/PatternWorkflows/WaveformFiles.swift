internal import Glibc
package import AHAP
package import Diagnostics
package import HapticRender
internal import JSONText
internal import SoundFile
internal import SystemSupport

/// Loads the sound files a pattern names, from its own folder and nowhere else.
package enum WaveformFiles {
  /// Decodes every sound file at a rate; the first that cannot be is an error with its place.
  package static func load(
    _ waveforms: [AHAPExamination.Waveform], from folder: String?, rate: Double
  ) throws(InputError) -> [String: AudioBuffer] {
    var samples: [String: AudioBuffer] = [:]
    for waveform in waveforms where samples[waveform.path] == nil {
      do {
        let sound = try read(waveform.path, from: folder)
          .resampled(to: rate, path: waveform.path)
        samples[waveform.path] = AudioBuffer(
          interleaved: sound.interleaved, channelCount: sound.channelCount)
      } catch let error as FileError {
        throw refusal(of: waveform, error.reason)
      } catch let error as SoundFileError {
        throw refusal(of: waveform, error.description)
      } catch {
        throw refusal(of: waveform, "\(error)")
      }
    }
    return samples
  }

  /// What is wrong with the sound files a pattern names.
  package static func findings(_ waveforms: [AHAPExamination.Waveform], from folder: String?)
    -> [Finding]
  {
    waveforms.compactMap { waveform -> Finding? in
      do throws(InputError) {
        _ = try load([waveform], from: folder, rate: 48_000)
        return nil
      } catch {
        return error.finding
      }
    }
  }

  private static func refusal(of waveform: AHAPExamination.Waveform, _ reason: String) -> InputError
  {
    InputError(
      Finding(
        .waveformPath, place: waveform.place, "the sound file \(waveform.path.inQuotes) \(reason)"))
  }

  private static func read(_ path: String, from folder: String?) throws -> Sound {
    guard let folder else { throw FileError(path, "is not available to shipped patterns") }
    guard !path.isEmpty, !path.hasPrefix("/"), let root = FileSystem.realPath(folder) else {
      throw FileError(path, "is not inside the folder of the pattern")
    }
    guard let real = FileSystem.realPath(FileSystem.join(root, path)) else {
      throw FileError(path, "not found in the folder of the pattern")
    }
    // Links may lead anywhere, so the real path decides.
    guard real.hasPrefix(root.hasSuffix("/") ? root : root + "/") else {
      throw FileError(path, "is outside the folder of the pattern")
    }
    guard FileSystem.entry(at: real) == .file else {
      throw FileError(path, "is not a regular file")
    }
    let descriptor = unsafe open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw FileError.system(path, "cannot be opened") }
    defer { close(descriptor) }
    return try Sound(readingDescriptor: descriptor, path: path)
  }
}
