public import HapticFormats
public import HapticModel
public import HapticRender
internal import PatternRules
public import Reading
internal import SoundFile
internal import SystemSupport

/// A pattern that was read without a mistake, and is ready to be compiled.
public struct LoadedPattern: Sendable {
  /// Where the pattern came from.
  public let input: PatternInput
  /// The file as it was read.
  public let file: SourceFile
  /// What the file holds, its curves made of straight lines.
  public let composition: HapticComposition
  /// What else the file says about itself.
  public let details: [(name: String, value: String)]
  private let places: SourcePlaces
  private let sounds: [Examination.SoundReference]
  private let findings: [Finding]

  /// Reads a pattern of any format, or throws its first error: an `InputError` or `FileError`.
  public init(_ input: PatternInput, reading: ReadingOptions = ReadingOptions()) throws {
    var reading = reading
    reading.wantsFindings = false
    file = try input.file()
    let examination = input.formats.examine(file, options: reading)
    var composition = try examination.get().linearized()
    if input.sounds == .none { composition.removeSoundFiles() }
    (self.input, self.composition) = (input, composition)
    (details, places, findings) = (examination.details, examination.places, examination.findings)
    sounds = input.sounds == .none ? [] : examination.sounds
  }

  /// The paths of the files that the pattern is made from.
  public var sources: [String] {
    var sources = sounds.map { FileSystem.join(input.folder ?? "", $0.path) }
    if case .file(let path) = input.origin { sources.append(path) }
    return sources
  }

  /// The sound files that the pattern plays, at a rate.
  public func samples(rate: Double) throws(InputError) -> [String: AudioBuffer] {
    try WaveformFiles.load(sounds, from: input.folder, rate: rate)
  }

  /// What of the pattern and its sound files does not play as it is written; reads the sound files once more.
  public func warnings() -> [Finding] { findings + WaveformFiles.warnings(sounds, from: input.folder) }

  /// That places of the pattern sound together, where none of the profiles is that of one place.
  public func mergedPlaces(on profiles: [TransducerProfile]) -> Finding? {
    guard profiles.allSatisfy({ $0.place == nil }) else { return nil }
    return PatternRules.mergedPlaces(of: composition, at: places.place(of: .composition))
  }

  /// Compiles the pattern, once for each profile that differs.
  public func plans(for profiles: [TransducerProfile], rate: Double, isRaw: Bool = false) throws -> [RenderPlan] {
    let samples = try samples(rate: rate)
    return try profiles.indices.reduce(into: []) { plans, index in
      if let same = profiles[..<index].firstIndex(of: profiles[index]) { return plans.append(plans[same]) }
      do throws(RenderError) {
        plans.append(
          try RenderPlan(compiling: composition, profile: profiles[index], rate: rate, samples: samples, isRaw: isRaw))
      } catch { throw InputError(error, places: places.place(of:)) }
    }
  }
}

extension HapticComposition {
  /// Leaves out the events that play sound files.
  package mutating func removeSoundFiles() {
    for index in layers.indices { layers[index].pattern.events.removeAll { $0.kind.playsFile } }
  }
}

/// Loads the sound files a pattern names, from its own folder and nowhere else.
package enum WaveformFiles {
  /// Decodes every sound file at a rate; the first that cannot be is an error with its place.
  package static func load(_ waveforms: [Examination.SoundReference], from folder: String?, rate: Double)
    throws(InputError) -> [String: AudioBuffer]
  {
    var samples: [String: AudioBuffer] = [:]
    for waveform in waveforms where samples[waveform.path] == nil {
      do throws(SoundFileError) {
        let sound = try read(waveform.path, from: folder).resampled(to: rate, path: waveform.path)
        samples[waveform.path] = AudioBuffer(interleaved: sound.interleaved, channelCount: sound.channelCount)
      } catch { throw InputError(finding(error, of: waveform, in: folder)) }
    }
    return samples
  }

  /// The real path of a sound file that a pattern names; whether it is sound is not looked at.
  package static func file(_ waveform: Examination.SoundReference, in folder: String?) throws(InputError) -> String {
    do throws(SoundFileError) { return try soundFolder(folder, waveform.path).file(at: waveform.path) } catch {
      throw InputError(finding(error, of: waveform, in: folder))
    }
  }

  private static func finding(_ error: SoundFileError, of waveform: Examination.SoundReference, in folder: String?)
    -> Finding
  {
    Finding(
      .soundMissing, place: waveform.place, "the sound file \(waveform.path.inQuotes) \(error.description)",
      suggestion: error.kind == .missing
        ? folder.flatMap { SoundFolder(root: $0).suggestion(for: waveform.path) }.map { "did you mean \($0.inQuotes)?" }
          ?? "use '--sounds FOLDER' or '--without-sounds'" : nil)
  }

  /// What is wrong with the sound files a pattern names.
  package static func findings(_ waveforms: [Examination.SoundReference], from folder: String?) -> [Finding] {
    waveforms.flatMap { waveform -> [Finding] in
      do throws(SoundFileError) {
        let sound = try read(waveform.path, from: folder)
        _ = try sound.resampled(to: 48_000, path: waveform.path)
        return damage(of: sound, waveform)
      } catch { return [finding(error, of: waveform, in: folder)] }
    }
  }

  /// What of the sound files does not play as it should; those that cannot be read are left out.
  package static func warnings(_ waveforms: [Examination.SoundReference], from folder: String?) -> [Finding] {
    var names: Set<String> = []
    return waveforms.filter { names.insert($0.path).inserted }.flatMap { waveform in
      (try? read(waveform.path, from: folder)).map { damage(of: $0, waveform) } ?? []
    }
  }

  private static func damage(of sound: Sound, _ waveform: Examination.SoundReference) -> [Finding] {
    let name = waveform.path.inQuotes
    var complaints = sound.truncation.map { ["the sound file \(name) \($0.text); only these play"] } ?? []
    let (count, badCount) = (sound.interleaved.count, sound.interleaved.count { !$0.isFinite })
    if badCount == count, count > 0 {
      complaints.append("the sound file \(name) has no finite samples; it plays as silence")
    } else if badCount > 0 {
      complaints.append("\(badCount) of \(count) samples of \(name) are NaN or infinite; they play as silence")
    }
    return complaints.map { Finding(.soundDamaged, place: waveform.place, $0) }
  }

  private static func read(_ path: String, from folder: String?) throws(SoundFileError) -> Sound {
    try soundFolder(folder, path).sound(at: path)
  }

  /// The folder of a pattern's sound files; shipped patterns have none.
  private static func soundFolder(_ folder: String?, _ path: String) throws(SoundFileError) -> SoundFolder {
    guard let folder else {
      throw SoundFileError(kind: .outside, path: path, description: "is not available to shipped patterns")
    }
    return SoundFolder(root: folder)
  }
}
