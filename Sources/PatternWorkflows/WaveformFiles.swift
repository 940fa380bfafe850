package import Diagnostics
package import HapticFormats
package import HapticRender
internal import PatternRules
internal import SoundFile
internal import SystemSupport

/// Loads the sound files a pattern names, from its own folder and nowhere else.
package enum WaveformFiles {
  /// Decodes every sound file at a rate; the first that cannot be is an error with its place.
  package static func load(
    _ waveforms: [Examination.SoundReference], from folder: String?, rate: Double
  ) throws(InputError) -> [String: AudioBuffer] {
    var samples: [String: AudioBuffer] = [:]
    for waveform in waveforms where samples[waveform.path] == nil {
      do throws(SoundFileError) {
        let sound = try read(waveform.path, from: folder)
          .resampled(to: rate, path: waveform.path)
        samples[waveform.path] = AudioBuffer(
          interleaved: sound.interleaved, channelCount: sound.channelCount)
      } catch {
        throw InputError(finding(error, of: waveform, in: folder))
      }
    }
    return samples
  }

  /// The real path of a sound file that a pattern names; whether it is sound is not looked at.
  package static func file(
    _ waveform: Examination.SoundReference, in folder: String?
  ) throws(InputError) -> String {
    do throws(SoundFileError) {
      return try soundFolder(folder, waveform.path).file(at: waveform.path)
    } catch {
      throw InputError(finding(error, of: waveform, in: folder))
    }
  }

  private static func finding(
    _ error: SoundFileError, of waveform: Examination.SoundReference, in folder: String?
  ) -> Finding {
    Finding(
      .soundMissing, place: waveform.place,
      "the sound file \(waveform.path.inQuotes) \(error.description)",
      suggestion: error.kind == .missing ? advice(waveform.path, in: folder) : nil)
  }

  /// What is wrong with the sound files a pattern names.
  package static func findings(_ waveforms: [Examination.SoundReference], from folder: String?)
    -> [Finding]
  {
    waveforms.compactMap { waveform -> Finding? in
      do throws(InputError) {
        _ = try load([waveform], from: folder, rate: 48_000)
        let samples = (try? read(waveform.path, from: folder))?.interleaved ?? []
        let badCount = samples.count { !$0.isFinite }
        guard badCount > 0 else { return nil }
        return Finding(
          .soundDamaged, place: waveform.place,
          "\(badCount) of \(samples.count) samples of \(waveform.path.inQuotes) are NaN or infinite; they play as silence"
        )
      } catch {
        return error.finding
      }
    }
  }

  /// What can be done about a file that is missing.
  private static func advice(_ path: String, in folder: String?) -> String {
    if let found = folder.flatMap({ SoundFolder(root: $0).suggestion(for: path) }) {
      return "did you mean \(found.inQuotes)?"
    }
    return "use '--sounds FOLDER' or '--without-sounds'"
  }

  private static func read(
    _ path: String, from folder: String?
  ) throws(SoundFileError) -> Sound {
    try soundFolder(folder, path).sound(at: path)
  }

  /// The folder of a pattern's sound files; shipped patterns have none.
  private static func soundFolder(
    _ folder: String?, _ path: String
  ) throws(SoundFileError) -> SoundFolder {
    guard let folder else {
      throw SoundFileError(
        kind: .outside, path: path, description: "is not available to shipped patterns")
    }
    return SoundFolder(root: folder)
  }
}
