package import HapticFormats
package import HapticRender
internal import PatternRules
package import Reading
internal import SoundFile
internal import SystemSupport

/// Loads the sound files that a pattern refers to, and only from the folder of the pattern.
package enum WaveformFiles {
  /// Decodes the sound files of a pattern at the given sample rate, in hertz.
  ///
  /// - Throws: The error of the first file that cannot be decoded, with its location.
  package static func loadSamples(
    _ waveforms: [ReadResult.SoundReference], from folder: String?, rate: Double
  ) throws(InputError) -> [String: AudioBuffer] {
    var samplesByPath: [String: AudioBuffer] = [:]
    for waveform in waveforms where samplesByPath[waveform.path] == nil {
      do throws(SoundFileError) {
        let sound = try readSound(waveform.path, from: folder).resampled(
          to: rate, path: waveform.path)
        samplesByPath[waveform.path] = AudioBuffer(
          interleaved: sound.interleaved, channelCount: sound.channelCount)
      } catch {
        throw InputError(readingFinding(error, of: waveform, in: folder))
      }
    }
    return samplesByPath
  }

  /// Returns the real path of a sound file, without checking its content.
  package static func soundFilePath(of waveform: ReadResult.SoundReference, in folder: String?)
    throws(InputError) -> String
  {
    do throws(SoundFileError) {
      return try soundFolder(folder, waveform.path).resolvedPath(of: waveform.path)
    } catch {
      throw InputError(readingFinding(error, of: waveform, in: folder))
    }
  }

  /// Returns the real path of a sound file after decoding it.
  ///
  /// Some kinds of sound files begin with text, so that a script could be decoded as one.
  /// Therefore, the file must also begin with the signature of a common kind.
  package static func verifiedSoundFilePath(
    of waveform: ReadResult.SoundReference, in folder: String?
  )
    throws(InputError) -> String
  {
    do throws(SoundFileError) {
      let soundFolder = try soundFolder(folder, waveform.path)
      let path = try soundFolder.resolvedPath(of: waveform.path)
      _ = try soundFolder.decodeSound(at: waveform.path)
      guard TakeInput.isSoundFile(path) else {
        throw SoundFileError(
          kind: .notSound, path: waveform.path, description: "is not in a supported sound format")
      }
      return path
    } catch {
      throw InputError(readingFinding(error, of: waveform, in: folder))
    }
  }

  /// Returns a finding about a sound file that cannot be read.
  private static func readingFinding(
    _ error: SoundFileError, of waveform: ReadResult.SoundReference, in folder: String?
  ) -> Finding {
    var pathSuggestion: String?
    if error.kind == .missing {
      let similarName = folder.flatMap {
        SoundFolder(rootPath: $0).suggestedPath(for: waveform.path)
      }
      pathSuggestion =
        similarName.map { "did you mean \($0.inQuotes)?" }
        ?? "use '--sounds FOLDER' or '--without-sounds'"
    }
    return Finding(
      .missingSound, location: waveform.location,
      "the sound file \(waveform.path.inQuotes) \(error.description)", suggestion: pathSuggestion)
  }

  /// Returns the errors and warnings about the sound files of a pattern.
  package static func fileFindings(_ waveforms: [ReadResult.SoundReference], from folder: String?)
    -> [Finding]
  {
    waveforms.flatMap { waveform -> [Finding] in
      do throws(SoundFileError) {
        let sound = try readSound(waveform.path, from: folder)
        _ = try sound.resampled(to: 48_000, path: waveform.path)
        return damageFindings(of: sound, waveform: waveform)
      } catch {
        return [readingFinding(error, of: waveform, in: folder)]
      }
    }
  }

  /// Returns the warnings about damaged sound files. Files that cannot be read are skipped.
  package static func damageWarnings(_ waveforms: [ReadResult.SoundReference], from folder: String?)
    -> [Finding]
  {
    var visitedPaths: Set<String> = []
    return waveforms.filter { visitedPaths.insert($0.path).inserted }.flatMap { waveform in
      (try? readSound(waveform.path, from: folder)).map {
        damageFindings(of: $0, waveform: waveform)
      }
        ?? []
    }
  }

  /// Returns the warnings about a truncated sound file and non-finite samples.
  private static func damageFindings(of sound: Sound, waveform: ReadResult.SoundReference)
    -> [Finding]
  {
    let quotedPath = waveform.path.inQuotes
    var damageMessages =
      sound.truncation.map {
        ["the sound file \(quotedPath) \($0.messageText); only this part plays"]
      }
      ?? []
    let sampleCount = sound.interleaved.count
    let nonfiniteSampleCount = sound.interleaved.count { !$0.isFinite }
    if nonfiniteSampleCount == sampleCount, sampleCount > 0 {
      damageMessages.append(
        "the sound file \(quotedPath) has no finite samples; it plays as silence")
    } else if nonfiniteSampleCount > 0 {
      damageMessages.append(
        "\(nonfiniteSampleCount) of \(sampleCount) samples of \(quotedPath) "
          + "are NaN or infinite; they play as silence"
      )
    }
    return damageMessages.map { Finding(.damagedSound, location: waveform.location, $0) }
  }

  private static func readSound(_ path: String, from folder: String?) throws(SoundFileError)
    -> Sound
  {
    try soundFolder(folder, path).decodeSound(at: path)
  }

  /// Returns the folder of a pattern's sound files. Shipped patterns have no such folder.
  private static func soundFolder(_ folder: String?, _ path: String) throws(SoundFileError)
    -> SoundFolder
  {
    guard let folder else {
      throw SoundFileError(
        kind: .outside, path: path, description: "is not available for shipped patterns")
    }
    return SoundFolder(rootPath: folder)
  }
}
